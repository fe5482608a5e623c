"""Web pages for playing against an agent: setup form, game page, and the finished game."""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from engine import find_deck, shipped_decks
from engine.errors import DeckNameError, ManaforgeError, WrongValueError
from engine.shipped import BALANCED_RULESET, shipped_rulesets
from evo.play.entrants import Entrant, champion_entrant, find_entrant
from evo.play.notation import entrant_text
from evo.puzzles import GRADES, read_puzzles, shipped_puzzles_file
from evo.serving.pages import Pages, game_download, url_part
from evo.serving.playing import AnyGame, GameRegistry, PlayError, PlaySetup, PuzzleInPlay
from ilp_agent.shipped import shipped_profiles
from rivals import AGENTS, DEFAULT_AGENT

PLAY_ADDRESS = "/play"
"""Base address of games in play; POST requests are allowed below it only."""

SEAT_NUMBERS = {"first": 0, "second": 1}
ANY_SEAT = "either"
"""Seat chosen at random (by the seed)."""

DEFAULT_DECKS = ("basic-mage", "basic-hunter")
"""Default decks of the form."""


class PlayPages:
    """Request handlers of games in play.

    Args:
        pages: page renderer.
        opponents: entrants to play against, beside shipped ones and the folder's champions.
        decks: decks to play, beside the shipped ones: files or deck codes.
        puzzles: file of puzzles; None for the shipped ones.

    Raises:
        DeckError: two decks have the same name, or one cannot be read.
        WrongValueError: the puzzles cannot be read.
    """

    def __init__(
        self, pages: Pages, opponents: Sequence[str], decks: Sequence[str] = (), puzzles: Path | None = None
    ) -> None:
        self._pages, self._games = pages, GameRegistry()
        self._puzzles = read_puzzles(puzzles or shipped_puzzles_file())
        self._solved: set[int] = set()  # numbers of the puzzles solved since the server began
        self._decks = _decks_by_name(decks)  # own decks first; read again for each game
        self._default_deck = next(iter(self._decks)) if decks else DEFAULT_DECKS[0]
        self._named = list(opponents)
        self._champions: dict[str, tuple[str, Path]] = {}  # champions offered so far: agent and folder
        self._offered: set[str] = set()  # all opponents offered so far
        self._opponents()

    def choose(self, request: Request) -> Response:  # noqa: ARG002 - every page is called with it
        """The setup form."""
        return self._form({}, "")

    def begin(self, request: Request, fields: dict[str, str]) -> Response:  # noqa: ARG002
        """Begin a game from the setup form, and redirect to the game's page."""
        try:
            name = self._games.begin(self._setup(fields))
        except ManaforgeError as error:
            return self._form(fields, str(error))
        return RedirectResponse(f"{PLAY_ADDRESS}/{name}", 303)

    def table(self, request: Request) -> Response:
        """The page on which a game is played; it polls the state."""
        name = request.path_params["game"]
        game = self._games.find(name)
        if game is None:
            return self._pages.missing("game at this address")
        if isinstance(game, PuzzleInPlay):
            return self._puzzle_table(name, game)
        return self._pages.render("table.html", title="Play", name=name, info=game.info)

    def _puzzle_table(self, name: str, game: PuzzleInPlay) -> Response:
        """The page on which a puzzle is solved: that of a game, with other words."""
        return self._pages.render(
            "puzzle.html",
            title=f"Puzzle {game.number}",
            name=name,
            number=game.number,
            puzzle=game.puzzle,
            following=self._next_puzzle(game.number),
        )

    def _next_puzzle(self, number: int) -> int:
        """The puzzle after this one in the order of the list, which is by grade; the first after the last."""
        order = [one for _, numbers in self._puzzles_by_grade() for one in numbers]
        return order[(order.index(number) + 1) % len(order)]

    def _puzzles_by_grade(self) -> list[tuple[int, list[int]]]:
        """Numbers of the puzzles of every grade, from 1."""
        numbers = range(1, len(self._puzzles) + 1)
        by_grade = [
            (grade, [number for number in numbers if self._puzzles[number - 1].grade == grade])
            for grade in GRADES
        ]
        return [(grade, found) for grade, found in by_grade if found]

    def puzzles(self, request: Request) -> Response:  # noqa: ARG002 - every page is called with it
        """The list of puzzles by grade."""
        return self._pages.render(
            "puzzles.html",
            title="Puzzles",
            grades=[(grade, GRADES[grade], numbers) for grade, numbers in self._puzzles_by_grade()],
            puzzles=self._puzzles,
            solved=self._solved,
        )

    def begin_puzzle(self, request: Request, fields: dict[str, str]) -> Response:  # noqa: ARG002
        """Begin a puzzle by its number, and redirect to its page."""
        text = fields.get("number", "")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
        if not 1 <= number <= len(self._puzzles):
            return self._pages.missing("puzzle with this number")
        try:
            game = PuzzleInPlay(self._puzzles[number - 1], number, self._solved.add)
        except ManaforgeError as error:
            return self._pages.problem("This puzzle cannot be played", str(error))
        return RedirectResponse(f"{PLAY_ADDRESS}/{self._games.add(game)}", 303)

    def state(self, request: Request) -> Response:
        """The current state of a game, as JSON."""
        return self._json(request, lambda game: game.state())

    def advice(self, request: Request) -> Response:
        """Advice: the action that the opponent's agent would choose in the person's place, as JSON."""
        return self._json(request, lambda game: game.advice())

    def act(self, request: Request, fields: dict[str, str]) -> Response:
        """Play an action of the person; returns the game's new state as JSON."""

        def acted(game: AnyGame) -> dict[str, Any]:
            number = fields.get("number", "")
            if not (number.isascii() and number.isdigit() and len(number) < 9):
                raise PlayError(f"number must be the number of actions so far, got {number[:40]!r}")
            game.act(int(number), fields.get("action", ""))
            return game.state()

        return self._json(request, acted)

    def concede(self, request: Request, fields: dict[str, str]) -> Response:  # noqa: ARG002
        """Concede the game; returns the game's new state as JSON."""

        def conceded(game: AnyGame) -> dict[str, Any]:
            game.concede()
            return game.state()

        return self._json(request, conceded)

    def record(self, request: Request) -> Response:
        """Response to download the game's record (JSON)."""
        headers = {"content-disposition": 'attachment; filename="game.json"'}
        return self._finished(
            request, lambda game: Response(game.record(), headers=headers, media_type="application/json")
        )

    def story(self, request: Request) -> Response:
        """The finished game, step by step."""
        name = quote(request.path_params["game"])

        def told(game: AnyGame) -> Response:
            told_story = game.story()
            title = " against ".join(told_story["players"])
            return self._pages.game(
                title, told_story, f"{PLAY_ADDRESS}/{name}/download", record=f"{PLAY_ADDRESS}/{name}/record"
            )

        return self._finished(request, told)

    def download(self, request: Request) -> Response:
        """Response to download the finished game as a self-contained HTML file."""
        return self._finished(request, lambda game: game_download(game.story(), "game"))

    def _form(self, fields: dict[str, str], problem: str) -> Response:
        """Render the setup form with the values chosen so far."""
        opponents = self._opponents()
        chosen = {
            "opponent": opponents[0],
            "ruleset": BALANCED_RULESET,
            "seat": ANY_SEAT,
            "deck": self._default_deck,
            "other_deck": DEFAULT_DECKS[1],
            "seed": "",
        }
        return self._pages.render(
            "play.html",
            400 if problem else 200,
            title="Play",
            opponents=opponents,
            decks=list(self._decks),
            rulesets=shipped_rulesets(),
            seats=[ANY_SEAT, *SEAT_NUMBERS],
            chosen=chosen | fields,
            problem=problem,
        )

    def _setup(self, fields: dict[str, str]) -> PlaySetup:
        """Make the game setup from a submitted form.

        Raises:
            ManaforgeError: a value is not offered, or the values do not fit together.
        """
        offered = {
            "deck": list(self._decks),
            "other_deck": list(self._decks),
            "ruleset": shipped_rulesets(),
            "seat": [ANY_SEAT, *SEAT_NUMBERS],
        }
        opponent = fields.get("opponent", "")
        if opponent not in self._offered:
            raise WrongValueError(f"opponent must be one of those offered, got {opponent!r}")
        for name, values in offered.items():
            if fields.get(name) not in values:
                raise WrongValueError(
                    f"{name.replace('_', ' ')} must be one of those offered, got {fields.get(name)!r}"
                )
        text = fields.get("seed", "").strip()
        if text and not (text.isascii() and text.isdigit() and int(text[:20]) < 2**63 and len(text) < 20):
            raise WrongValueError(f"seed must be a whole number from 0, below 2^63, got {text!r}")
        seed = int(text) if text else secrets.randbits(32)
        return PlaySetup(
            self._entrant(opponent),
            (find_deck(self._decks[fields["deck"]]), find_deck(self._decks[fields["other_deck"]])),
            fields["ruleset"],
            SEAT_NUMBERS.get(fields["seat"], seed % 2),
            seed,
        )

    def _entrant(self, opponent: str) -> Entrant:
        """Find the entrant of an opponent; refuse opponents that are not offered.

        Raises:
            ManaforgeError: it no longer exists.
        """
        if opponent not in self._champions:
            return find_entrant(opponent)
        try:
            return champion_entrant(*self._champions[opponent], opponent)
        except ManaforgeError as error:
            raise WrongValueError(self._pages.catalogue.relative(error)) from None

    def _opponents(self) -> list[str]:
        """Entrant texts offered as opponents: those named, the folder's champions, and shipped profiles."""
        root = self._pages.catalogue.root
        champions = {
            entrant_text(row["agent"], f"{root.name}/{row['run']}"): (row["agent"], root / row["run"])
            for row in self._pages.catalogue.listing().runs
            if row["state"] == "finished" and row.get("agent") in AGENTS and url_part(row["run"])
        }
        kinds = [kind.name for kind in AGENTS.values() if kind.default_profile or not kind.weighted]
        shipped = [f"{DEFAULT_AGENT}:{profile}" for profile in shipped_profiles(DEFAULT_AGENT)]
        found = list(dict.fromkeys([*self._named, *champions, *kinds, *shipped]))
        self._champions |= {text: champion for text, champion in champions.items() if text not in self._named}
        self._offered |= set(found)
        return found

    def _json(self, request: Request, content: Callable[[AnyGame], dict[str, Any]]) -> Response:
        """Answer with JSON about the game that a request names, or with a problem."""
        game = self._games.find(request.path_params["game"])
        if game is None:
            return JSONResponse({"problem": "this game no longer exists on the server"}, 404)
        try:
            return JSONResponse(content(game))
        except ManaforgeError as error:
            return JSONResponse({"problem": str(error)}, 409)

    def _finished(self, request: Request, page: Callable[[AnyGame], Response]) -> Response:
        """A page of a finished game, or the reason why there is none."""
        game = self._games.find(request.path_params["game"])
        if game is None:
            return self._pages.missing("game at this address")
        try:
            return page(game)
        except PlayError as error:
            return self._pages.problem("Not yet", str(error), 409)
        except ManaforgeError as error:
            return self._pages.problem("This game cannot be shown", str(error))


def _decks_by_name(given: Sequence[str]) -> dict[str, str]:
    """Files, codes or names of the decks offered, by deck name: the given decks, then the shipped ones.

    Raises:
        DeckError: two given decks have the same name, or one cannot be read.
    """
    own: dict[str, str] = {}
    for text in given:
        name = find_deck(text).name
        if name in own:
            raise DeckNameError(f"two decks are called {name}: {own[name]} and {text}; rename one")
        own[name] = text
    return own | {name: name for name in shipped_decks() if name not in own}
