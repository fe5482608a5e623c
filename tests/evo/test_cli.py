"""The command `manaforge`."""

import subprocess
import sys


def manaforge(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = "from evo.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )


def test_play_shows_a_game_and_the_seed_repeats_it() -> None:
    games = [manaforge("play", "random", "random", "--seed", "4", "--ruleset", "standard") for _ in range(2)]
    assert games[0].returncode == 0
    assert games[0].stdout == games[1].stdout
    assert "turn  1 first" in games[0].stdout
    assert " wins in turn " in games[0].stdout


def test_wrong_input_is_one_line() -> None:
    for arguments, message in (
        (("play", "randm", "random"), "unknown agent 'randm'; nearest: random"),
        (("play", "random", "random", "--decks", "x", "y"), "unknown deck 'x'"),
        (("play", "random", "random", "--ruleset", "y"), "unknown ruleset 'y'"),
    ):
        done = manaforge(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_version() -> None:
    assert manaforge("--version").stdout.startswith("manaforge ")
