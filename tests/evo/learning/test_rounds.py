"""Rounds of a learning on disk: any damage is noticed and played again, and what cannot be read is left alone."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evo.config.files import read_config_as
from evo.learning.config import LearnConfig
from evo.learning.folder import LearningError, LearningFolder, open_learning, read_learning
from evo.learning.methods import Samples
from evo.storage import history
from ilp_agent.features import N_FEATURES
from tests.conftest import cases
from tests.faults.mutate import fit_checksums

FEWER, CONFIG = (
    read_config_as(LearnConfig, "learn", ["decks=thesis-paladin,random-minions", f"rounds={rounds}"])
    for rounds in (1, 3)
)


def commit(folder: LearningFolder) -> None:
    """A round, as a function of its number."""
    number = len(folder.rounds)
    if not number:
        folder.commit({"round": 0, "tests": []})
        return
    pick = np.random.default_rng(number)
    features = pick.integers(-3, 4, size=(20, N_FEATURES)).astype(float)
    value = {"weights": pick.random(N_FEATURES).tolist(), "scale": [1.0] * N_FEATURES, "intercept": 0.5}
    counts = dict.fromkeys(("games", "samples", "told"), 20)
    content = {"round": number, "tests": [], "loss": 0.5, "calibration": [], **value, **counts}
    folder.commit(content, Samples(features, pick.random(20), np.arange(20)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rounds") / "whole"
    with open_learning(path, CONFIG) as folder:
        for _ in range(4):
            commit(folder)
    return path


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def bytes_of(path: Path) -> dict[str, bytes]:
    files = [path / "checksums.txt", *sorted((path / "rounds").iterdir())]
    return {file.name: file.read_bytes() for file in files}


FILES = ["rounds/0000.json", "rounds/0002.json", "rounds/0002.parquet", "rounds/0003.parquet"]


def damaged_copies(content: bytes) -> list[bytes]:
    """Bytes with a flipped bit in some of them, the first and last among them, and bytes that are cut."""
    pick = np.random.default_rng(len(content))
    places = np.unique([0, len(content) - 1, *pick.integers(len(content), size=cases(30, 300))])
    found = [content[: len(content) // 2], b""]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(pick.integers(8))
        found.append(bytes(flipped))
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_bit_is_noticed(copy: Path, name: str) -> None:
    file, number = copy / name, int(name.partition("/")[2][:4])
    for content in damaged_copies(file.read_bytes()):
        file.write_bytes(content)
        with pytest.raises(LearningError, match=f"{name} is damaged"):
            read_learning(copy)
    with open_learning(copy, CONFIG) as folder:
        assert len(folder.rounds) == number
        assert folder.problems[0].startswith(f"{name} is damaged")


@pytest.mark.parametrize("name", [*FILES, "checksums.txt", "learning.toml"])
@pytest.mark.parametrize("damage", ["cut", "flip", "gone"])
def test_damage_is_named_set_aside_and_played_again(copy: Path, whole: Path, name: str, damage: str) -> None:
    file = copy / name
    content = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(content[:-7] if damage == "cut" else content[:50] + b"~" + content[51:])
    with open_learning(copy, CONFIG) as folder:
        told = " ".join(folder.problems)
        while len(folder.rounds) < 4:
            commit(folder)
    is_config = name == "learning.toml" and damage == "gone"
    assert (name in told) != is_config
    assert bytes_of(copy) == bytes_of(whole)
    assert read_learning(copy).config.digest == CONFIG.digest


def test_what_cannot_be_read_is_left_as_it_is(
    copy: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = history.read_bytes

    def refusing(path: Path, *most: int) -> bytes:
        if path.name == "0002.json":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, *most)

    monkeypatch.setattr(history, "read_bytes", refusing)
    for use in (lambda: read_learning(copy), lambda: open_learning(copy, CONFIG).__enter__()):
        with pytest.raises(LearningError, match=r"0002.json: Permission denied"):
            use()
    assert bytes_of(copy) == bytes_of(whole)
    assert not (copy / "aside").exists()


def test_a_round_too_large_to_be_read_again_is_refused(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copy / "checksums.txt").write_text((copy / "checksums.txt").read_text().split("0003 ")[0])
    with open_learning(copy, CONFIG) as folder:
        before = bytes_of(copy)
        for limit in ("MAX_SAMPLES_PER_ROUND", "MAX_FILE_BYTES"):
            with monkeypatch.context() as limited:
                limited.setattr(f"evo.learning.folder.{limit}", 19)
                with pytest.raises(LearningError, match="20 samples; the most that can be read again"):
                    commit(folder)
        assert bytes_of(copy) == before
        commit(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tests", [{"opponent": "eva", "games": 4, "score": 0.5, "low": 10**40, "high": 1.0}]),
        ("tests", [{"opponent": "eva", "games": 4, "score": "0.5", "low": 0.1, "high": 1.0}]),
        ("weights", [10**400] * N_FEATURES),
        ("scale", [None] * N_FEATURES),
        ("calibration", [[0.5, 0.5, 0]]),
        ("calibration", [[0.5, 7.0, 1]]),
        ("samples", 2**64),
        ("loss", "low"),
        ("round", 3),
    ],
)
def test_a_round_of_a_stranger_is_no_round(copy: Path, key: str, value: object) -> None:
    """With a checksum that fits, as the maker of a folder can."""
    file = copy / "rounds/0002.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    fit_checksums(copy)
    with open_learning(copy, CONFIG) as folder:
        assert len(folder.rounds) == 2
        assert folder.problems[0].startswith("rounds/0002.json is no round of manaforge learn: ")


def test_another_configuration_changes_nothing(copy: Path) -> None:
    other = read_config_as(
        LearnConfig, "learn", ["decks=thesis-paladin,random-minions", "rounds=3", "seed=9"]
    )
    for damaged in ("rounds/0000.json", "rounds/0002.parquet", "checksums.txt"):
        (copy / damaged).write_bytes(b"{")
        before = bytes_of(copy)
        with pytest.raises(LearningError, match="was begun with another configuration"):
            open_learning(copy, other).__enter__()
        assert bytes_of(copy) == before


def test_rounds_from_before_there_were_checksums_count(copy: Path, whole: Path) -> None:
    def older(path: Path) -> None:
        (path / "checksums.txt").unlink()
        for file in (path / "rounds").glob("*.json"):
            file.write_text(json.dumps(json.loads(file.read_text()) | {"schema": 1}))

    older(copy)
    assert len(read_learning(copy).rounds) == 4
    less = Path(shutil.copytree(copy, copy.with_name("less")))
    with open_learning(less, FEWER) as folder:
        assert len(folder.rounds) == 4, "fewer are asked for than there are"
    assert not (less / "aside").exists()
    (copy / "rounds/0003.json").unlink()
    with open_learning(copy, CONFIG) as folder:
        assert len(folder.rounds) == 3
        commit(folder)
    assert len(read_learning(copy).rounds) == 4
    for name in ("0003.json", "0003.parquet"):
        assert (copy / "rounds" / name).read_bytes() == (whole / "rounds" / name).read_bytes()
    older(copy)
    shutil.copy(copy / "rounds/0001.parquet", copy / "rounds/0002.parquet")
    with pytest.raises(LearningError, match=r"rounds/0002.json: its sample file is not the one"):
        read_learning(copy)
    with open_learning(copy, CONFIG) as folder:
        assert len(folder.rounds) == 2
        assert "rounds/0002.json: its sample file is not the one" in folder.problems[0]


def test_rounds_are_not_continued_with_another_blas(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = json.loads((copy / "manifest.json").read_text())["blas"]
    assert own.startswith("openblas ")
    monkeypatch.setattr("evo.learning.folder.blas_kernel", lambda: "openblas Other")
    with open_learning(copy, CONFIG) as folder:
        assert len(folder.rounds) == 4, "no round is to be fitted any more"
    with (copy / "checksums.txt").open("r+") as sums:
        sums.truncate(sums.read().index("0003 "))
    (copy / "rounds/0002.json").write_text("{")
    left = bytes_of(copy)
    with pytest.raises(LearningError, match=f"were fitted with {own}, .*OPENBLAS_CORETYPE="):
        open_learning(copy, CONFIG).__enter__()
    assert json.loads((copy / "manifest.json").read_text())["blas"] == own
    assert bytes_of(copy) == left, "nothing is set aside for that"
    for place, other in enumerate(("", "  ", 3, None)):
        unknown = Path(shutil.copytree(copy, copy.with_name(f"{place}")))
        (unknown / "manifest.json").write_text(json.dumps({"blas": other}))
        with open_learning(unknown, CONFIG) as folder:
            assert len(folder.rounds) == 2
    with (copy / "checksums.txt").open("r+") as sums:
        sums.truncate(sums.read().index("0001 "))
    with open_learning(copy, CONFIG) as folder:
        assert len(folder.rounds) == 1
    assert json.loads((copy / "manifest.json").read_text())["blas"] == "openblas Other"


SUMS = """
import hashlib
import numpy as np
from evo.learning.methods import METHODS, Samples, blas_kernel, log_loss
from evo.learning.run import calibration
from ilp_agent.features import N_FEATURES
from tests.faults.mutate import fit_checksums
pick = np.random.default_rng(1)
features = pick.normal(size=(5_000, N_FEATURES))
samples = Samples(features, pick.integers(3, size=5_000) / 2, np.repeat(np.arange(100), 50))
value = METHODS["td"].learn(None, [samples], {"rate": 0.1, "round": 1, "lambda": 0.7})
found = [value.weights.tobytes(), value.intercept, log_loss(value, samples, True)]
found += [calibration(value, samples, False)]
print(blas_kernel().split()[-1], hashlib.sha256(repr(found).encode()).hexdigest())
"""


def test_what_adds_in_an_order_of_its_own_is_the_same_with_any_kernel() -> None:
    """With the kernel for this processor, and with one that every processor of its kind can run."""
    if platform.machine() != "x86_64":
        pytest.skip("kernels of x86")
    found = [
        subprocess.run(
            [sys.executable, "-c", SUMS],
            env={**os.environ, **kernel},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for kernel in ({}, {"OPENBLAS_CORETYPE": "Nehalem"})
    ]
    if found[0][0] == found[1][0]:
        pytest.skip("this processor has one kernel")
    assert found[0][1] == found[1][1]


def test_a_round_that_is_being_written_is_no_damage(copy: Path) -> None:
    sums = copy / "checksums.txt"
    sums.write_text(sums.read_text()[:-10])
    assert len(read_learning(copy).rounds) == 3
