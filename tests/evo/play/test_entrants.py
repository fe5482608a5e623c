"""The entrants that texts name."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine import ManaforgeError, PassAgent
from evo.play.entrants import (
    Entrant,
    EntrantError,
    equal_entrants,
    find_entrant,
    find_entrants,
    resolve_in_folder,
)
from evo.play.games import Player
from ilp_agent import Profile, Weights, find_profile, shipped_profiles
from ilp_agent.backends import DEFAULT_BACKEND
from ilp_agent.weights import N_WEIGHTS
from rivals import AGENTS, AgentKind
from tests.conftest import BOUNDSCHECK, UNCOMPILED

PROFILES = Path(__file__).parents[3] / "configs" / "profiles"


def write(path: Path, name: str, *weights: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(Profile(name, Weights(*(weights or (1,) * N_WEIGHTS))).to_toml())
    return path


def texts_of(*texts: str) -> list[str]:
    return [entrant.text for entrant in find_entrants(texts)[0]]


def test_names_files_and_backends(tmp_path: Path) -> None:
    weights = tuple(find_profile("keep-alive").weights.array)
    for text in ("ilp:keep-alive", f"ilp:{PROFILES}/keep-alive.toml", "ilp:keep-alive@exact"):
        entrant = find_entrant(text)
        assert entrant.text == text
        assert entrant.player.weights == weights
        assert entrant.player.compiled
    assert not find_entrant("ilp:keep-alive@highs").player.compiled
    assert find_entrant("random").player.agent().name == "random"


def test_any_kind_may_take_a_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a default profile and with no weights at all."""
    for kind in (replace(AGENTS["greedy-ilp"], name="one"), AgentKind("two", PassAgent, "plays by a solver")):
        monkeypatch.setitem(AGENTS, kind.name, replace(kind, takes_backend=True))
    for text in ("one@highs", "one:keep-alive@highs", "two@highs"):
        assert find_entrant(text).player.backend == "highs", text
        assert find_entrant(text.removesuffix("@highs")).player.backend == DEFAULT_BACKEND
    with pytest.raises(ManaforgeError, match=r"unknown entrant 'two:keep-alive'"):
        find_entrant("two:keep-alive")


def test_globs_expand_to_names() -> None:
    names = [f"ilp:{path.stem}" for path in sorted(PROFILES.glob("*.toml"))]
    assert texts_of(f"ilp:{PROFILES}/*.toml") == names
    assert texts_of(f"ilp:{PROFILES}/a*.toml@highs") == [f"{name}@highs" for name in names[:3]]
    assert texts_of(f"ilp:{PROFILES}/*.toml", "ilp:keep-alive") == names
    assert find_entrants([f"ilp:{PROFILES}/*.toml"])[1] == set()


def test_twice_typed_is_a_self_match_and_no_second_entrant() -> None:
    entrants, twice = find_entrants(["random", "pass", "random"])
    assert [entrant.text for entrant in entrants] == ["random", "pass"]
    assert twice == {"random"}


def test_what_a_glob_finds_is_named_as_it_is_typed_alone(tmp_path: Path) -> None:
    write(tmp_path / "a" / "one.toml", "same", *range(1, 9))
    write(tmp_path / "b" / "two.toml", "same", *range(8, 0, -1))
    write(tmp_path / "c" / "three.toml", "keep-alive")
    texts = texts_of(f"ilp:{tmp_path}/*/*.toml", f"ilp:{PROFILES}/keep*.toml")
    assert texts == [
        *(f"ilp:{tmp_path}/{name}.toml" for name in ("a/one", "b/two", "c/three")),
        "ilp:keep-alive",
    ]
    assert texts_of(*texts) == texts


def test_like_champions_stay_two_and_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for run in ("one", "two"):  # one configuration and seed: the same champion by the same name
        write(Path(f"runs/{run}/champion.toml"), "champion-1", *range(1, 9))
    write(Path("double.toml"), "double", *range(2, 18, 2))
    write(Path("other.toml"), "other", *range(8, 0, -1))
    entrants, _ = find_entrants(
        ["ilp:runs/*", "ilp:double.toml", "ilp:other.toml", "random", "ilp:one@highs"]
    )
    assert [entrant.text for entrant in entrants][:2] == ["ilp:runs/one", "ilp:runs/two"]
    assert equal_entrants(entrants) == [["ilp:runs/one", "ilp:runs/two", "ilp:double.toml"]]
    zero = Entrant("ilp:zero", Player((0.0,) * N_WEIGHTS))
    assert equal_entrants([zero, replace(zero, text="ilp:nothing"), entrants[0]]) == [
        ["ilp:zero", "ilp:nothing"]
    ]


def test_typed_texts_go_before_what_globs_expand_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("dir/file.toml"), "mine", *range(1, 9))
    write(Path("runs/mine/champion.toml"), "champion-1")
    for texts in (["ilp:dir/*.toml", "ilp:mine"], ["ilp:mine", "ilp:dir/*.toml"]):
        entrants, twice = find_entrants(texts)
        assert {entrant.text for entrant in entrants} == {"ilp:mine", "ilp:dir/file.toml"}
        assert twice == set()
    for texts in (["ilp:keep-alive", f"ilp:{PROFILES}/keep*"], [f"ilp:{PROFILES}/keep*", "ilp:keep-alive"]):
        assert find_entrants(texts)[1] == set()


def test_shipped_profiles_by_a_glob_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("zebra.toml"), "zebra")  # no file of the folder is meant
    assert texts_of("ilp:*") == [f"ilp:{name}" for name in shipped_profiles()]
    assert texts_of("ilp:*@highs") == [f"ilp:{name}@highs" for name in shipped_profiles()]
    assert texts_of("ilp:k*") == ["ilp:keep-alive"]
    assert texts_of("hearthsim:*") == [f"hearthsim:{name}" for name in shipped_profiles("hearthsim")]
    assert texts_of("ilp:z*.toml") == ["ilp:zebra.toml"]
    assert resolve_in_folder("ilp:*", tmp_path) == "ilp:*"
    assert find_entrants(["ilp:keep-alive", "ilp:*"])[1] == set()


def test_odd_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("keep-alive").mkdir()
    assert find_entrant("ilp:keep-alive").player.weights == tuple(find_profile("keep-alive").weights.array)
    write(Path("a@b/x.toml"), "x")
    assert find_entrant("ilp:a@b/x.toml").player.weights == (1.0,) * N_WEIGHTS
    with pytest.raises(EntrantError, match="is not UTF-8 text"):
        find_entrant("ilp:\udcff.toml")


def test_runs_by_folder_and_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("runs/mine/champion.toml"), "champion-1")
    Path("runs/README.md").write_text("")
    Path("runs/young").mkdir()
    Path("runs/young/config.toml").write_text("")
    for text in ("ilp:runs/mine", "ilp:mine", "ilp:runs/mine/champion.toml"):
        assert find_entrant(text).player.weights == (1.0,) * N_WEIGHTS
    assert texts_of("ilp:runs/*") == ["ilp:runs/mine"]
    for text, message in (
        ("ilp:runs/young", "run runs/young has no champion yet; to finish it: manaforge resume runs/young"),
        ("mine", "unknown entrant 'mine'; nearest: ilp:mine"),
        ("ilp:mime", "unknown profile 'mime'; nearest: mine"),
        ("ilp:evaeva", "unknown profile 'evaeva'; nearest: eva"),
        ("ilp:competitive", "unknown profile 'competitive'; nearest: eva:competition"),
        ("eva:mime", "unknown profile of eva 'mime'; nearest: ilp:mine"),
        ("ilp:runs/yong", "runs/yong is not a run folder: there is no such folder; nearest: runs/young"),
        ("ilp:zzz", "unknown profile 'zzz'; known: aggro-face"),
        ("ilp:runs", "runs is a folder of runs, not a run: name one of its runs, runs/young"),
        ("ilp:runs/nobody*", "matches no shipped profile, no profile file and no run with a champion"),
    ):
        with pytest.raises(ManaforgeError, match=message):
            find_entrants([text])
    Path("alone").mkdir()
    text = Path("runs/mine/champion.toml").read_text()
    Path("alone/champion.toml").write_text(text.replace('agent = "ilp"', 'agent = "elp"'))
    with pytest.raises(ManaforgeError, match="alone/champion.toml: unknown agent 'elp'") as told:
        find_entrant("ilp:./alone")
    assert told.value.exit_code == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("radnom", "unknown entrant 'radnom'; nearest: random; an entrant is ilp:PROFILE"),
        ("ilp:", "unknown entrant 'ilp:'"),
        ("keep-alive", "nearest: ilp:keep-alive"),
        ("ilp:keepalive", "unknown profile 'keepalive'; nearest: keep-alive"),
        ("ilp:keep-alive@gorubi", "unknown backend 'gorubi'; nearest: gurobi"),
        ("ilp:keep-alive@search,", "an option is missing after the comma of 'search,'"),
        ("ilp:keep-alive@highs,secrets=mean", "'highs' does not support the option secrets"),
        ("ilp:none.toml", "cannot read profile none.toml"),
    ],
)
def test_what_names_nobody(text: str, message: str) -> None:
    with pytest.raises(ManaforgeError, match=message):
        find_entrant(text)


def test_a_broken_profile_in_a_glob_is_named(tmp_path: Path) -> None:
    write(tmp_path / "good.toml", "good")
    (tmp_path / "bad.toml").write_text("schema = 1")
    with pytest.raises(ManaforgeError, match="bad.toml: name must be one line of text"):
        find_entrants([f"ilp:{tmp_path}/*.toml"])
    assert not issubclass(EntrantError, LookupError)


@pytest.mark.skipif(UNCOMPILED or BOUNDSCHECK, reason="too slow without the compiler")
def test_export_and_back(tmp_path: Path) -> None:
    from evo.analysis.export import ExportError, best_profiles, write_profiles
    from evo.storage.run_folder import RunError
    from ilp_agent import read_profile
    from tests.evo.runs import TINY, run_new

    run_new(tmp_path / "run", TINY)
    champion, *others = best_profiles(tmp_path / "run", 3)
    original = read_profile(tmp_path / "run" / "champion.toml")
    assert champion.weights == original.weights
    assert dict(champion.provenance) == {"run": "run", **original.provenance}
    assert [one.provenance["final"]["rank"] for one in (champion, *others)] == [1, 2, 3]
    rates = [one.provenance["final"]["win_rate"] for one in (champion, *others)]
    assert rates == sorted(rates, reverse=True)
    written = write_profiles([champion, *others], tmp_path / "out")
    assert [read_profile(one.path) for one in written] == [champion, *others]
    assert not list((tmp_path / "out").glob(".*"))
    write_profiles([champion], tmp_path / "out")  # writing the same again is allowed
    written[0].path.write_text("else")
    for action, message in (
        (lambda: write_profiles([champion], tmp_path / "out"), "exists and differs"),
        (lambda: write_profiles([champion], written[0].path), "is a file"),
        (lambda: best_profiles(tmp_path / "run", 99), "the final of run .* had"),
        (lambda: best_profiles(tmp_path / "none"), "is not a run folder"),
    ):
        with pytest.raises((ExportError, RunError), match=message):
            action()
    evil = Profile("./../evil", champion.weights)
    with pytest.raises(ExportError, match="cannot be a file name"):
        write_profiles([evil], tmp_path / "out")
    final = tmp_path / "run" / "final.parquet"
    content = final.read_bytes()
    final.write_bytes(content[:100])
    with pytest.raises(
        ExportError, match=r"final.parquet does not agree with manifest.json; .* manaforge resume"
    ):
        best_profiles(tmp_path / "run")
    final.write_bytes(content)
    generation = tmp_path / "run" / "generations" / "0002.parquet"
    generation.write_bytes(generation.read_bytes()[:100])
    with pytest.raises(ExportError, match="cannot be read: .* manaforge resume"):
        best_profiles(tmp_path / "run", 2)
    (tmp_path / "run" / "champion.toml").unlink()
    with pytest.raises(ExportError, match="has no champion yet. To finish it: manaforge resume"):
        best_profiles(tmp_path / "run")
