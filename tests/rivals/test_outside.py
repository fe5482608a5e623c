"""Agents from outside: they play as they would inside, and harm nothing but their own game."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import Action, Outcome, PlayerView, find_deck, find_ruleset, parse_position, play
from engine.effect_codes import EFFECTS_VERSION
from engine.game_session import Reason
from evo.play.cluster import is_running
from evo.play.entrants import find_entrant
from evo.play.games import FAULT_TEXTS, Fault, Roster, Schedule, play_schedule
from evo.play.pool import LocalPool
from rivals import find_kind
from rivals.outside.agent import NotStartedError, OutsideAgent, processes
from rivals.outside.host import load_agent
from rivals.outside.messages import view_to_json
from rivals.outside.permissions import OutsideAgentError, command_of
from rivals.outside.process import OutsideProcess, kill_all
from rivals.outside.supervisor import descendants_of
from tests.conftest import heavy
from tests.rivals.hanging import some_hangs
from tests.waiting import HANG, wait_until

DOCUMENT = Path("docs/agents-outside.md").resolve()
PATIENCE = 3600
"""Seconds for a decision where a test does not mean to be late."""
FAULTY = Path("tests/data/bots/faulty.py").resolve()
DECKS = (
    ("thesis-paladin", "thesis-warrior"),
    ("basic-mage", "basic-hunter"),
    ("basic-priest", "basic-rogue"),
)


@pytest.fixture(autouse=True)
def _ends_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a process takes to end, its exit code is known."""
    monkeypatch.setattr("rivals.outside.process.SECONDS_TO_END", HANG)


@pytest.fixture(autouse=True)
def _no_process_is_left(_ends_are_awaited: None) -> Iterator[None]:
    before = descendants_of({os.getpid()})
    yield
    processes.close()
    left = descendants_of({os.getpid()}) - before
    for process in left:  # else whoever waits for them would, for an hour
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    assert left == set()


def written(language: str) -> str:
    """The bot of the document in a language."""
    match = re.search(rf"```{language}\n(.*?)```", DOCUMENT.read_text(), re.S)
    assert match
    return match[1]


def inside() -> object:
    """The document's Python bot as an object of this process."""
    names: dict[str, type] = {}
    exec(written("python"), names)
    return names["Bot"]()


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with both bots of the document, the current one."""
    (tmp_path / "mybot.py").write_text(written("python"))
    (tmp_path / "bot.js").write_text(written("javascript"))
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("bots")
@pytest.mark.parametrize("name", ["python:mybot:Bot", "process:node bot.js"])
def test_the_documents_bots_play_the_same_games_outside_as_inside(name: str) -> None:
    if "node" in name and not shutil.which("node"):
        pytest.skip("SKIPPED: there is no node")
    outside = OutsideAgent(name, PATIENCE)
    for decks in DECKS:
        for seed in range(3):
            bot = inside()
            plain, other = play(bot, bot, decks, seed), play(outside, bot, decks, seed)
            assert other.error == ""
            assert other.record == plain.record
            assert len(plain.actions) > 10


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("hangs", Reason.TOO_LATE),
        *heavy(("late", Reason.TOO_LATE), ("deaf", Reason.TOO_LATE)),
        ("ends", Reason.PROCESS_ENDED),
        ("raises", Reason.PROCESS_ENDED),
        ("lies", Reason.ILLEGAL_ACTION),
        ("beyond", Reason.ILLEGAL_ACTION),
        ("nothing", Reason.NOT_UNDERSTOOD),
        ("text", Reason.NOT_UNDERSTOOD),
        ("list", Reason.NOT_UNDERSTOOD),
        ("bytes", Reason.NOT_UNDERSTOOD),
        ("deep", Reason.NOT_UNDERSTOOD),
        ("long", Reason.NOT_UNDERSTOOD),
        ("floods", Reason.NOT_UNDERSTOOD),
        ("unasked", Reason.NOT_UNDERSTOOD),
        ("last", Reason.PROCESS_ENDED),
        ("children", None),
        ("leaves", None),
        ("chats", None),
        ("errors", None),
        ("well", None),
    ],
)
def test_what_an_agent_does_loses_its_own_game_at_most(
    how: str, reason: Reason | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, other = OutsideAgent(f"process:{sys.executable} {FAULTY} {how}", PATIENCE), inside()
    if reason == Reason.TOO_LATE:
        one_second_for_the_third_decision(monkeypatch)
    for seed in range(2):
        result = play(agent, other, ("thesis-paladin", "thesis-warrior"), seed)
        if reason is None:
            assert result.error == ""
        else:
            assert (result.winner, result.reason) == (1, reason)
            assert how in result.error
            assert len(result.actions) >= 2
        if how == "chats":  # a word that comes only in the next game is taken for its first answer
            (waiting,) = processes._free[agent.name]
            wait_until(lambda waiting=waiting: not waiting.is_ready(), "it says a word")  # type: ignore[misc]


def one_second_for_the_third_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """So much has a process when it misbehaves: a slow machine has all the time for the others."""
    asked: dict[OutsideProcess, int] = {}
    ask = OutsideProcess.ask

    def ask_for(self: OutsideProcess, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        asked[self] = asked.get(self, 0) + (message["type"] == "decide")
        return ask(self, message, 1.0 if asked[self] == 3 else seconds)

    monkeypatch.setattr(OutsideProcess, "ask", ask_for)


@pytest.mark.parametrize("when", ["first", "later", "game", "result"])
def test_an_error_at_any_time_loses_a_game_and_is_told(when: str) -> None:
    agent, other = OutsideAgent(f"process:{sys.executable} {FAULTY} ends:{when}", PATIENCE), inside()
    results = [play(agent, other, ("thesis-paladin", "thesis-warrior"), seed) for seed in range(4)]
    lost = {"first": [0, 1, 2, 3]}.get(when, [1, 3])
    assert [number for number, result in enumerate(results) if result.error] == lost
    for number in lost:
        assert results[number].reason == Reason.PROCESS_ENDED
        assert "exit code 3" in results[number].error


RAISING = """
class Bot:
    def {method}(self, *_):
        return {answer}
    {more}
"""


@pytest.mark.usefixtures("bots")
@pytest.mark.parametrize("method", ["act", "new_game", "game_over"])
def test_an_exception_of_a_python_agent_is_told_with_its_line(method: str) -> None:
    more = "" if method == "act" else "act = lambda self, view, rng: view.legal_actions[-1]"
    Path("raising.py").write_text(RAISING.format(method=method, answer="self.bord", more=more))
    agent = OutsideAgent("python:raising:Bot", PATIENCE)
    results = [play(agent, inside(), ("thesis-paladin", "thesis-warrior"), seed) for seed in range(2)]
    assert {result.reason for result in results if result.error} == {Reason.PROCESS_ENDED}
    told = (
        f"its {method} raised AttributeError: 'Bot' object has no attribute 'bord' (raising.py:4 in {method})"
    )
    assert results[1].error.splitlines()[0] == f"python:raising:Bot: {told}"


@pytest.mark.usefixtures("bots")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class Bot:\n    pass", "raising.Bot() is a Bot without a method act(view, rng)"),
        (
            "class Bot:\n    def __init__(self):\n        1 / 0",
            "ZeroDivisionError: division by zero (raising.py:3 in",
        ),
        (
            "import os\nos.nothing",
            "its import raised AttributeError: module 'os' has no attribute 'nothing' (raising.py",
        ),
    ],
)
def test_a_class_that_cannot_be_made_is_told_with_its_line(text: str, told: str) -> None:
    Path("raising.py").write_text(text)
    with pytest.raises(NotStartedError, match=re.escape(told)):
        find_entrant("python:raising:Bot")


@pytest.mark.usefixtures("bots")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("None", "act returned nothing (None)"),
        ("'play 99'", "it answered the action 'play 99', which is not legal"),
    ],
)
def test_an_illegal_action_is_told_with_legal_ones_and_the_position(answer: str, told: str) -> None:
    Path("raising.py").write_text(RAISING.format(method="act", answer=answer, more=""))
    result = play(OutsideAgent("python:raising:Bot", PATIENCE), inside(), ("thesis-paladin",) * 2, 1)
    message, where = result.error.splitlines()
    legal = [str(action) for action in result.position.legal_actions()]
    assert message.startswith(f"python:raising:Bot: {told}; legal are {', '.join(legal[:4])}")
    assert where.startswith("in turn 1 first")
    assert parse_position(where.removeprefix("in ")).legal_actions() == result.position.legal_actions()


@pytest.mark.parametrize("when", ["first", "later"])
def test_games_that_are_stopped_end_at_once_whatever_an_agent_waits_for(when: str) -> None:
    agent, results = OutsideAgent(f"process:{sys.executable} {FAULTY} hangs:{when}", PATIENCE), []

    def go_on() -> None:
        for seed in range(3):
            results.append(play(agent, inside(), ("thesis-paladin", "thesis-warrior"), seed))

    games = threading.Thread(target=go_on, daemon=True)
    games.start()
    wait_until(some_hangs, "an agent hangs")
    with processes.stopped():
        games.join(HANG)
    assert not games.is_alive()
    assert all(result.error for result in results[1:])


def test_faults_are_results_of_games_and_the_next_game_has_a_new_process() -> None:
    faulty, well = (
        find_entrant(f"process:{sys.executable} {FAULTY} {how}@seconds={PATIENCE}").player
        for how in ("ends", "well")
    )
    decks = (find_deck("thesis-paladin"),)
    roster = Roster((faulty, well), decks, find_ruleset("thesis"))
    games = Schedule(
        np.array([[0, 1], [1, 0], [1, 1]], np.int16),
        np.zeros((3, 2), np.int16),
        np.arange(3, dtype=np.uint64),
    )
    played = play_schedule(roster, games)
    assert played["fault"].tolist() == [Fault.PROCESS_ENDED, Fault.PROCESS_ENDED, Fault.NONE]
    assert played["outcome"][0] != played["outcome"][1]
    assert FAULT_TEXTS[Fault.PROCESS_ENDED] == "process ended"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("process:no-such-program", "cannot start no-such-program"),
        (f"process:{sys.executable} {FAULTY} another", "protocol 1"),
        ("process:cat", "and a name"),
        ("process:true", "the process ended with exit code 0"),
        ("python:no_such_module:Bot", "No module named 'no_such_module'"),
        ("python:tests.contracts.dice:Nobody", "no attribute 'Nobody'"),
    ],
)
def test_who_cannot_start_is_refused_before_the_first_game(name: str, told: str) -> None:
    with pytest.raises(NotStartedError, match=re.escape(told)):
        find_entrant(name)


@pytest.mark.parametrize(
    "name", ["process:", "process:  ", "process:'a", "python:module", "python::A", "python:a:"]
)
def test_texts_that_name_no_agent_are_refused(name: str) -> None:
    with pytest.raises(OutsideAgentError, match=r"python:MODULE:CLASS|quotation"):
        find_entrant(name)


def test_what_follows_the_last_at_is_an_option_only_if_it_says_so() -> None:
    with pytest.raises(NotStartedError, match="no-program"):
        find_entrant("process:no-program me@home")
    assert find_kind("process:a@b").name == "process:a@b"
    assert command_of("process:a 'b c'@d") == ["a", "b c@d"]


def test_the_opponents_cards_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    agent = OutsideAgent(f"process:{sys.executable} {FAULTY} well", PATIENCE)
    act = OutsideAgent.act

    def listen(self: OutsideAgent, view: PlayerView, rng: np.random.Generator) -> Action:
        from rivals.outside.messages import decide_message

        message = decide_message(view)
        assert message["state"]["opponent"]["hand"] == [None] * view.enemy.hand_size
        heard.append(message["position"])
        return act(self, view, rng)

    monkeypatch.setattr(OutsideAgent, "act", listen)
    result = play(agent, inside(), ("basic-mage", "basic-hunter"), 1)
    assert result.error == ""
    assert len(heard) > 5
    for text in heard:
        _, own, enemy = text.split(" | ")
        assert re.search(r"hand \[(\d+ )?\?\]|hand \[\]", enemy) or "hand" not in enemy
        assert "?" not in own


def test_a_manaforge_that_is_killed_leaves_no_process() -> None:
    script = (
        "from rivals.outside.agent import OutsideAgent; import time; import numpy as np\n"
        f"agent = OutsideAgent('process:{sys.executable} {FAULTY} children', 10)\n"
        "agent.new_game(0, np.random.default_rng(1)); print('ready', flush=True); time.sleep(1000)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        wait_until(lambda: len(descendants_of({driver.pid})) == 3, "keeper, agent, and what it began", 0.05)
        below = descendants_of({driver.pid})
        driver.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(Path(f"/proc/{process}").exists() for process in below), "all end", 0.05)


def test_an_agent_whose_keeper_is_killed_dies_too() -> None:
    agent = OutsideAgent(f"process:{sys.executable} {FAULTY} well", PATIENCE)
    agent.new_game(0, np.random.default_rng(1))
    assert agent._playing is not None
    keeper = agent._playing._supervisor
    (bot,) = descendants_of({keeper.pid})
    keeper.kill()
    wait_until(lambda: not Path(f"/proc/{bot}").exists(), "the agent ends", 0.05)
    agent.new_game(0, np.random.default_rng(1))  # ends what is left of it
    agent.game_over(Outcome.DRAW, Reason.TURN_CAP)


def with_orphans() -> tuple[OutsideAgent, subprocess.Popen[bytes], set[int], set[int]]:
    """An agent in a game, its keeper, itself and what it began, and which of these has no environment."""
    agent = OutsideAgent(f"process:{sys.executable} {FAULTY} orphans", PATIENCE)
    agent.new_game(0, np.random.default_rng(1))
    assert agent._playing is not None
    keeper = agent._playing._supervisor
    return agent, keeper, *orphans_below(keeper.pid)


def orphans_below(keeper: int) -> tuple[set[int], set[int]]:
    """The agent and the two that left its session, and the one of them whose environment was emptied."""
    below: set[int] = set()

    def bare() -> set[int]:
        below.update(descendants_of({keeper}))
        return {process for process in below if not variables_of(process)}

    wait_until(bare, "an environment is emptied")
    assert (len(below), len(bare())) == (3, 1)
    return below, bare()


def variables_of(process: int) -> bytes:
    """The environment of a process; empty where it has none or is gone."""
    with suppress(OSError):
        return Path(f"/proc/{process}/environ").read_bytes()
    return b""


def command_line_of(process: int) -> bytes:
    """The words that a process was started with; empty if it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def ended(processes: set[int]) -> bool:
    """Whether none of them is there any more, but for those that nobody has waited for."""
    return not any(is_running(process) for process in processes)


def test_what_an_agent_began_ends_though_its_keeper_was_killed() -> None:
    agent, keeper, below, bare = with_orphans()
    keeper.kill()
    agent.new_game(0, np.random.default_rng(1))
    assert ended(below - bare)
    agent.game_over(Outcome.DRAW, Reason.TURN_CAP)
    for process in bare:  # the limit that is told
        os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize("wakes", [True, False])
def test_what_an_agent_began_ends_though_its_keeper_is_stopped(
    wakes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, keeper, below, _ = with_orphans()
    keeper.send_signal(signal.SIGSTOP)
    if not wakes:  # as if it was stopped again and again
        monkeypatch.setattr("rivals.outside.process.SECONDS_TO_END", 0.1)
        monkeypatch.setattr(OutsideProcess, "stop", lambda _: None)
    agent.new_game(0, np.random.default_rng(1))
    assert ended(below)
    agent.game_over(Outcome.DRAW, Reason.TURN_CAP)


def test_what_an_agent_began_ends_with_manaforge_though_its_keeper_was_killed() -> None:
    script = (
        "from rivals.outside.agent import OutsideAgent, processes; import os, signal; import numpy as np\n"
        f"agent = OutsideAgent('process:{sys.executable} {FAULTY} orphans', 10)\n"
        "agent.new_game(0, np.random.default_rng(1)); input('ready')\n"
        "os.kill(agent._playing._supervisor.pid, signal.SIGKILL); agent._playing._supervisor.wait()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], **pipes) as driver:  # type: ignore[call-overload]
        driver.stdout.read(len("ready"))
        (keeper,) = {one for one in descendants_of({driver.pid}) if b"supervisor.py" in command_line_of(one)}
        below, bare = orphans_below(keeper)
        driver.communicate(b"\n")
    assert ended(below - bare)
    for process in bare:
        os.kill(process, signal.SIGKILL)


def test_a_process_that_has_the_number_of_another_by_now_is_not_killed() -> None:
    with subprocess.Popen(["sleep", "7777"]) as other:
        try:
            found = iter([{other.pid}, set(), set()])
            kill_all(lambda: next(found))
            assert other.poll() is None
            kill_all(lambda: {other.pid})
            assert ended({other.pid})
        finally:
            other.kill()


def test_a_pool_that_is_closed_does_not_wait_for_an_agent() -> None:
    hanging = find_entrant(f"process:{sys.executable} {FAULTY} hangs@seconds={PATIENCE}").player
    roster = Roster((hanging,), (find_deck("thesis-paladin"),), find_ruleset("thesis"))
    games = Schedule(np.zeros((8, 2), np.int16), np.zeros((8, 2), np.int16), np.arange(8, dtype=np.uint64))
    stopped: list[KeyboardInterrupt] = []

    def stop(_: int) -> None:
        if some_hangs():
            raise KeyboardInterrupt

    def go_on() -> None:
        with pytest.raises(KeyboardInterrupt) as told, closing(LocalPool(1)) as pool:
            pool.play(roster, games, stop)
        stopped.append(told.value)

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    thread.join(HANG)
    assert stopped


def test_every_card_in_hand_says_the_same_things() -> None:
    hand = "The Coin; Chillwind Yeti 4:4/5 held 1/2/3"
    position = parse_position(f"turn 5 first effects {EFFECTS_VERSION} | hero 30 hand [{hand}] | hero 30")
    cards = view_to_json(PlayerView(position, 0))["me"]["hand"]
    assert all({"id", "name", "kind", "cost", "keywords"} <= card.keys() for card in cards)
    assert (cards[1]["attack"], cards[1]["health"], cards[1]["cost"]) == (6, 8, 5)


def test_a_failed_import_is_located_in_the_agents_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib_of_it.py").write_text("def f():\n    raise RuntimeError('x')\n")
    (tmp_path / "its_bot.py").write_text("import lib_of_it\n\nlib_of_it.f()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SystemExit, match=r"\(its_bot.py:3 in <module>\)"):
        load_agent("its_bot", "Bot")
