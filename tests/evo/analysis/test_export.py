"""Profiles out of runs and studies."""

import shutil
from pathlib import Path

import pytest

from evo.analysis.export import cluster_profiles, study_profiles, write_profiles
from evo.play.entrants import find_entrant
from evo.storage.run_folder import RunError
from rivals import read_agent_profile
from tests.evo.runs import manaforge

RUN = Path("tests/data/run")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    for name in ("00", "0 é"):
        shutil.copytree(RUN, tmp_path / "study" / name)
    return tmp_path / "study"


def test_profiles_of_a_study_have_the_run_in_their_names(study: Path, tmp_path: Path) -> None:
    """Runs of one configuration and seed would else overwrite each other's files."""
    done = manaforge("export", "study", "--top", 2, "--out", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].split()[1] == "run"
    files = sorted(file.name for file in (tmp_path / "out").iterdir())
    ends = ["champion-8baa01e7-4.toml", "place-2-8baa01e7-4.toml"]
    assert files == [f"{run}-{end}" for run in ("0--", "00") for end in ends]
    assert read_agent_profile(tmp_path / "out" / files[-1]).provenance["run"] == "00"


def test_profiles_of_a_run_have_names_as_before(study: Path) -> None:
    (profile,) = study_profiles(study / "00")
    assert profile.name == "champion-8baa01e7-4"
    with pytest.raises(RunError):
        study_profiles(study / "none")


def test_a_single_individual_is_not_exported_as_a_cluster(tmp_path: Path) -> None:
    done = manaforge("export", RUN.resolve(), "--clusters", "--out", "out", cwd=tmp_path)
    assert "itself, a single individual of 8" in done.stdout
    assert "7 of 8, 1 run " in done.stdout
    cluster, single = cluster_profiles([RUN])
    assert cluster.name.startswith("cluster-1-")
    assert single.name.startswith("single-2-")
    assert cluster.provenance["cluster"]["size"] == 7


def test_profiles_from_before_which_say_group_are_read(tmp_path: Path) -> None:
    (written, _) = write_profiles(cluster_profiles([RUN]), tmp_path)
    old = tmp_path / "group-1.toml"
    old.write_text(written.path.read_text().replace("[provenance.cluster]", "[provenance.group]"))
    assert read_agent_profile(old).provenance["group"]["number"] == 1
    assert find_entrant(f"ilp:{old}").player == find_entrant(f"ilp:{written.path}").player
