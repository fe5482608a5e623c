"""The game for OpenSpiel's algorithms, with explicit chance nodes; the optional extra `openspiel`.

Importing this registers `python_manaforge`:

    pyspiel.load_game("python_manaforge", {"first": "DECK", "second": "DECK", "ruleset": "tiny"})

A game begins with chance nodes that set the order of both decks, card by card from the top; equal cards are
one outcome. What is random in an action follows it, as chance nodes of equally likely outcomes. Actions are
the numbers of `engine.environments.spaces`. Observations are what a player sees; an information state is all
that a player has seen so far, so that every player remembers everything.
"""

from collections import Counter
from typing import Any

import numpy as np
import pyspiel

from engine.cards import Card
from engine.codes import BOARD_SIZE, DECK_SIZE, HAND_SIZE, Outcome
from engine.deck_files import find_deck
from engine.decks import Deck
from engine.effects.chance import Chance
from engine.environments.spaces import CARDS, SIZE, cards_of_view, numbers_of, numbers_of_view
from engine.errors import ChanceError, DeckError, RulesetError, unknown_name
from engine.match import deal
from engine.position import Position
from engine.ruleset import Ruleset, find_ruleset
from engine.view import PlayerView

MOST_OUTCOMES = 2**15
"""Of a chance event."""

MOST_IN_TURN = 4 * HAND_SIZE + 4 * BOARD_SIZE
"""Actions of a turn, far more than there can be with the mana and the attacks of one."""

GAME_TYPE = pyspiel.GameType(
    short_name="python_manaforge",
    long_name="Manaforge",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"first": "thesis-paladin", "second": "thesis-paladin", "ruleset": "thesis"},
)


class ManaforgeGame(pyspiel.Game):  # type: ignore[misc]
    """A game of two decks under a ruleset.

    Args:
        params: "first" and "second", the decks of who goes first and of the other, as `engine.find_deck`
            takes them, and "ruleset", one without a mulligan.

    Raises:
        UnknownNameError: there is no such deck or ruleset.
        DeckError: a deck cannot be read, or has varied cards.
        RulesetError: the ruleset has a mulligan.
    """

    def __init__(self, params: dict[str, str] | None = None) -> None:
        known = GAME_TYPE.parameter_specification
        for name in params or {}:
            if name not in known:
                raise unknown_name("parameter", name, known)
        said = known | (params or {})
        self.decks: tuple[Deck, Deck] = (find_deck(said["first"]), find_deck(said["second"]))
        self.ruleset: Ruleset = find_ruleset(said["ruleset"])
        for deck in self.decks:
            if deck.varied:
                raise DeckError(f"deck {deck.name} is varied by chance, which this game does not have")
        if self.ruleset.mulligan_above >= 0:
            raise RulesetError(f"ruleset {self.ruleset.name} has a mulligan, which this game does not have")
        self.numbers = numbers_of(self.decks[0].effects or self.decks[1].effects)
        turns = 2 * self.ruleset.turn_cap
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.numbers),
            max_chance_outcomes=MOST_OUTCOMES if any(deck.effects for deck in self.decks) else DECK_SIZE,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=turns * MOST_IN_TURN,
        )
        super().__init__(GAME_TYPE, info, params or {})

    def new_initial_state(self) -> "ManaforgeState":
        """A game before anything is dealt."""
        return ManaforgeState(self)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> "ManaforgeObserver":
        """What shows the game to one player."""
        return ManaforgeObserver(iig_obs_type, params)


class ManaforgeState(pyspiel.State):  # type: ignore[misc]
    """A game between two actions."""

    def __init__(self, game: ManaforgeGame) -> None:
        super().__init__(game)
        self._game = _Shared(game)
        self._orders: tuple[list[int], list[int]] = ([], [])
        self._position: Position | None = None
        self._action = -1  # the number of an action that waits for outcomes
        self._outcomes: list[int] = []
        self._waiting = 0  # how many outcomes the event has
        self._seen: _Seen | None = None
        self._deal_forced()

    @property
    def position(self) -> Position | None:
        """The true position, with all that is hidden; None while decks are shuffled."""
        return self._position

    def current_player(self) -> int:
        """Who is to act: a seat, chance, or nobody."""
        if self._position is None or self._waiting:
            return int(pyspiel.PlayerId.CHANCE)
        if self._position.outcome != Outcome.ONGOING:
            return int(pyspiel.PlayerId.TERMINAL)
        return self._position.active

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return bool(self.current_player() == pyspiel.PlayerId.TERMINAL)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What may fall out, with probabilities: places in the deck's different cards, or numbers from 0."""
        if self._waiting:
            return [(number, 1 / self._waiting) for number in range(self._waiting)]
        _, left = self._next_card()
        total = sum(left.values())
        return [(place, n / total) for place, n in sorted(left.items())]

    def returns(self) -> list[float]:
        """1 for who has won, -1 for who has lost."""
        outcome = self._position.outcome if self._position is not None else Outcome.ONGOING
        won = {Outcome.FIRST_WINS: 1.0, Outcome.SECOND_WINS: -1.0}.get(outcome, 0.0)
        return [won, -won]

    def __str__(self) -> str:
        if self._position is None:
            return f"order {self._orders}"
        waiting = f" waits for one of {self._waiting} after {self._action} {self._outcomes}"
        return str(self._position) + (waiting if self._waiting else "")

    def seen(self, player: int, everything: bool) -> list[str]:
        """What a player sees: the position, or every one since the beginning; [] while decks are shuffled."""
        if self._seen is None:
            return []
        return self._seen.all_of(player) if everything else [self._seen.by(player)]

    def _legal_actions(self, player: int) -> list[int]:  # noqa: ARG002 - whose turn it is
        assert self._position is not None
        numbers = self._game.own.numbers
        return sorted(numbers.number(action) for action in self._position.legal_actions())

    def _action_to_string(self, player: int, action: int) -> str:
        if player != pyspiel.PlayerId.CHANCE:
            game = self._game.own
            chosen = game.numbers.actions[action]
            return self._position.describe(chosen) if self._position is not None else str(chosen)
        if self._waiting:
            return f"outcome {action} of {self._waiting}"
        seat, _ = self._next_card()
        return f"player {seat}: {self._game.different[seat][action].name}"

    def _apply_action(self, action: int) -> None:
        if self._position is None:
            seat, _ = self._next_card()
            self._orders[seat].append(action)
            self._deal_forced()
            return
        if self._waiting:
            self._outcomes.append(action)
        else:
            self._action, self._outcomes = action, []
        chance = Chance.given(self._outcomes)
        try:
            self._position.play(self._game.own.numbers.actions[self._action], chance)
        except ChanceError:
            self._waiting = chance.waiting
            return
        self._waiting = 0
        self._look()

    def _next_card(self) -> tuple[int, Counter[int]]:
        """Whose next card is to be drawn, and how often each of the deck's different cards is left."""
        sizes = [deck.size for deck in self._game.own.decks]
        seat = 0 if len(self._orders[0]) < sizes[0] else 1
        deck, different = self._game.own.decks[seat], self._game.different[seat]
        if deck.random:
            return seat, Counter(range(len(different)))
        listed = Counter(different.index(card) for card in deck.cards)
        return seat, listed - Counter(self._orders[seat])

    def _deal_forced(self) -> None:
        """Add cards that are certain; deal once both orders are complete."""
        decks = self._game.own.decks
        while any(len(order) < deck.size for order, deck in zip(self._orders, decks, strict=True)):
            seat, left = self._next_card()
            if len(left) > 1:
                return
            self._orders[seat].extend(left)
        self._position = self._dealt()
        self._look()

    def _dealt(self) -> Position:
        """The first position with these orders."""
        game = self._game.own
        position = deal(game.decks, 0, ruleset=game.ruleset)
        for seat, side in enumerate(position.state["sides"]):
            different = self._game.different[seat]
            order = [position.table.number[different[place].key] for place in self._orders[seat]]
            in_hand = len(order) - side["n_deck"]
            side["hand"][:in_hand] = order[:in_hand]
            side["deck"][: len(order) - in_hand] = order[in_hand:][::-1]
        return position

    def _look(self) -> None:
        """Both players see the position."""
        assert self._position is not None
        self._seen = _Seen(self._seen, self._position.copy())


class _Shared:
    """What all states of a game share, copies of states too."""

    def __init__(self, game: ManaforgeGame) -> None:
        self.own = game
        self.different: list[list[Card]] = [list(dict.fromkeys(deck.cards)) for deck in game.decks]

    def __deepcopy__(self, memo: object) -> "_Shared":
        return self


class _Seen:
    """A position that both players saw, and those before it; written as text when it is asked for."""

    def __init__(self, before: "_Seen | None", position: Position) -> None:
        self._before, self._position = before, position
        self._texts = ["", ""]

    def by(self, player: int) -> str:
        """The position as a player sees it."""
        self._texts[player] = self._texts[player] or str(PlayerView(self._position, player).position)
        return self._texts[player]

    def all_of(self, player: int) -> list[str]:
        """All positions as a player saw them, the oldest first."""
        found: list[str] = []
        one: _Seen | None = self
        while one is not None:
            found.append(one.by(player))
            one = one._before
        return found[::-1]

    def __deepcopy__(self, memo: object) -> "_Seen":
        return self


class ManaforgeObserver:
    """What one player sees, as numbers and text; with perfect recall, as text, all that was seen so far.

    Attributes:
        tensor: float32, shape (numbers + cards,): `engine.environments.spaces`, a position's numbers and
            then the numbers of the cards on its places.
        dict: the two parts by name, "observation" and "cards".

    Raises:
        ValueError: another kind of observation is asked for.
    """

    def __init__(self, iig_obs_type: Any, params: dict[str, Any] | None) -> None:
        if params:
            raise ValueError(f"an observation takes no parameters, got {params}")
        asked = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not asked.public_info or asked.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError("a player is shown what is public and what is the player's own, together")
        self._recall = asked.perfect_recall
        self.tensor = np.zeros(0 if self._recall else SIZE + CARDS, np.float32)
        parts = {} if self._recall else {"observation": self.tensor[:SIZE], "cards": self.tensor[SIZE:]}
        self.dict: dict[str, np.ndarray] = parts

    def set_from(self, state: ManaforgeState, player: int) -> None:
        """Fill `tensor` with what a player sees; with zeros while decks are shuffled."""
        self.tensor.fill(0)
        if not self._recall and state.position is not None:
            view = PlayerView(state.position, player).position
            self.dict["observation"][:] = numbers_of_view(view, player)
            self.dict["cards"][:] = cards_of_view(view, player)

    def string_from(self, state: ManaforgeState, player: int) -> str:
        """What a player sees, or with perfect recall has seen, as text."""
        return "\n".join([f"player {player}", *state.seen(player, everything=self._recall)])


pyspiel.register_game(GAME_TYPE, ManaforgeGame)
