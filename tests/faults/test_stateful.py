"""Runs stepped, killed, loaded, extended and exported in any order agree with a model in memory."""

import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from evo.analysis.export import ExportError, best_profiles
from evo.config.run_config import RunConfig
from evo.evolution.run import evolve
from evo.evolution.session import begin_session, extend_run, new_manifest
from evo.play.pool import LocalPool
from evo.storage.run_folder import RunError, create_run, open_run, open_run_read_only
from tests.conftest import cases
from tests.evo.runs import TINY, Quiet, bytes_of
from tests.faults import marks

pytestmark = marks

POOL = LocalPool(1)
LONGEST = 5
CONFIG: RunConfig = TINY.changed(generations=1, final={"games": 20, "benchmark_games": 0})


class KilledError(Exception):
    """Stands for SIGKILL: nothing after it runs except what the system does."""


class Dying(Quiet):
    """Dies after a number of chunks."""

    def advance(self, games: int) -> None:
        if self.stop_after == 0:
            raise KilledError
        self.stop_after -= 1


def expected_bytes() -> dict[int, dict[str, str]]:
    """The model: the bytes of an undisturbed run of each length."""
    found = {}
    for generations in range(1, LONGEST + 1):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run"
            config = CONFIG.changed(generations=generations)
            with create_run(path, config, new_manifest(config)) as run:
                begin_session(run, POOL)
                evolve(run, POOL, Quiet())
            found[generations] = bytes_of(path)
    return found


class RunMachine(RuleBasedStateMachine):
    model: ClassVar[dict[int, dict[str, str]]] = {}

    @initialize()
    def begin(self) -> None:
        type(self).model = type(self).model or expected_bytes()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "run"
        self.generations = 1
        self.finished = False
        create_run(self.path, CONFIG, new_manifest(CONFIG)).close()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    @rule(parts=st.integers(0, 6))
    def step_until_killed(self, parts: int) -> None:
        with open_run(self.path) as folder:
            begin_session(folder, POOL)
            try:
                evolve(folder, POOL, Dying(parts))
            except KilledError:
                return
        self.finished = True

    @rule()
    def run_to_the_end(self) -> None:
        with open_run(self.path) as folder:
            begin_session(folder, POOL)
            evolve(folder, POOL, Quiet())
        self.finished = True

    @rule(more=st.integers(0, 2))
    def make_longer(self, more: int) -> None:
        wanted = min(self.generations + more, LONGEST)
        with open_run(self.path) as folder:
            extend_run(folder, wanted)
        self.finished = self.finished and wanted == self.generations
        self.generations = wanted

    @rule(less=st.integers(1, 3))
    def shorter_than_played_is_refused(self, less: int) -> None:
        with open_run(self.path) as folder:
            wanted = folder.committed - 1 - less
            if wanted < 0:
                return
            try:
                extend_run(folder, wanted)
            except RunError:
                return
            raise AssertionError("a run was made shorter than what it holds")

    @precondition(lambda self: hasattr(self, "finished"))
    @rule()
    def export(self) -> None:
        try:
            profile = best_profiles(self.path)[0]
        except ExportError:
            assert not self.finished
            return
        assert self.finished
        assert profile.provenance["generation"] == self.generations

    @invariant()
    def history_is_that_of_the_model(self) -> None:
        if not hasattr(self, "path"):
            return
        own, model = bytes_of(self.path), self.model[LONGEST]
        history = {name: value for name, value in own.items() if name != "champion.toml"}
        assert all(model.get(name) == value for name, value in history.items())
        assert open_run_read_only(self.path).committed * 2 == len(history)
        if self.finished:
            assert own == self.model[self.generations]


RunMachine.TestCase.settings = settings(max_examples=cases(8, 40), stateful_step_count=12, deadline=None)


class TestRuns(RunMachine.TestCase):
    pytestmark = marks
