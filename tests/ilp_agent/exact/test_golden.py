"""Plans under the thesis's eight weights, byte for byte as they were before further weights came."""

import hashlib

import numpy as np
import pytest

from ilp_agent.exact.kernel import solve_exact_turn
from ilp_agent.exact.plan_record import PLAN
from ilp_agent.exact.work import new_layers, new_work
from ilp_agent.turn import TURN, read_turn
from ilp_agent.weights import N_EXTENDED
from tests.conftest import UNCOMPILED, heavy
from tests.ilp_agent.positions import random_position, random_weights

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="too slow without the compiler")

BLOCK = 1_000

GOLDEN: dict[tuple[float, int, tuple[int, int, int]], str] = {
    (0.0, 5, (7, 9, 7)): "25350882d0daf80c76b6f4d1664fc4924c00c3d06c93487819aaaf79588ab521",
    (0.15, 8, (7, 9, 7)): "915cd4671cff73f8b60724d46b1586962d82310c9201f172c2d2aa0b754be6e1",
    (0.2, 5, (6, 6, 6)): "10eb42dc72d81d3a85db6f7910ec28c53e3b7ad20381e7954467c721abf582b0",
    (0.35, 5, (4, 3, 4)): "edda6ae4d8c0d4085883b299341deadee4919b9f90811d249907be1c414dc15c",
    (0.35, 5, (5, 4, 5)): "c7644221da30efb4fd1fa4219334c87a35b99ed82aef3e6a70d3f24ec3446782",
    (0.6, 5, (3, 3, 4)): "efac29e21645cebdb55558f321695642341a3e089396f97a8a7a41754f120665",
}
"""By chance of each keyword, strength, and most friends, cards and enemies: SHA-256 of the plans' bytes."""


def hash_of_plans(chance: float, strength: int, sizes: tuple[int, int, int]) -> str:
    """Solve `BLOCK` random turns and hash the PLAN records, steps and predictions, with sixteen terms."""
    work, layers = new_work(), new_layers()
    fields = {name: (PLAN[name].base, PLAN[name].shape) for name in PLAN.names or ()}
    fields["terms"] = (fields["terms"][0], (N_EXTENDED,))
    sixteen = np.zeros(1, np.dtype([(name, *kind) for name, kind in fields.items()]))[0]
    digest = hashlib.sha256()
    for number in range(BLOCK):
        pick = np.random.default_rng([23, number, *sizes])
        drawn = [int(pick.integers(0, most + 1)) for most in sizes]
        position = random_position(pick, *drawn, chance, strength, int(pick.choice([8, 30])))
        turn, plan = np.zeros(1, TURN)[0], np.zeros(1, PLAN)[0]
        read_turn(position.state, position.table.array, turn)
        solve_exact_turn(turn, random_weights(pick), work, layers, plan)
        for name in fields:
            sixteen[name] = plan[name][:N_EXTENDED] if name == "terms" else plan[name]
        digest.update(sixteen.tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("drawn", [*list(GOLDEN)[:3], *heavy(*((drawn,) for drawn in list(GOLDEN)[3:]))])
def test_plans_are_those_of_old(drawn: tuple[float, int, tuple[int, int, int]]) -> None:
    assert hash_of_plans(*drawn) == GOLDEN[drawn]
