"""Folders of experiments: begun again after a stop at any moment, and refused with words."""

from pathlib import Path

import pytest

from evo.experiments.folder import ExperimentOptionError, open_experiment


def test_a_folder_that_was_only_begun_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "new"
    path.mkdir()
    (path / "lock").touch()
    (path / "experiment.json.tmp").write_text("{")
    with open_experiment(path, "ablate", {"games": 2}) as folder:
        assert folder.read("experiment.json")["games"] == 2
    with open_experiment(path, "ablate", {"games": 2}):
        pass


@pytest.mark.parametrize("content", ['{"kind": NaN}', "{", "[]", '{"kind": "ablate"}'])
def test_another_experiment_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "experiment.json").write_text(content)
    with pytest.raises(ExperimentOptionError, match="choose another --out"):
        open_experiment(tmp_path, "ablate", {"games": 2})


def test_another_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(ExperimentOptionError, match="not empty"):
        open_experiment(tmp_path, "ablate", {"games": 2})
