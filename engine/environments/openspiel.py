"""OpenSpiel game with explicit chance nodes; needs the optional extra `openspiel`.

Importing this registers `python_manaforge`:

    pyspiel.load_game("python_manaforge", {"first": "DECK", "second": "DECK", "ruleset": "tiny"})

A game begins with chance nodes that set the order of both decks, card by card from the top; equal cards are
one outcome. Random effects of an action follow it as chance nodes of equally likely outcomes. Actions are
numbered as in `engine.environments.spaces`. An observation is the player's view of the position; an
information state has all of the player's observations so far (perfect recall).
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
from engine.environments.spaces import (
    N_CARD_PLACES,
    OBSERVATION_SIZE,
    action_numbers,
    encode_cards,
    encode_view,
)
from engine.errors import ChanceError, DeckError, RulesetError, unknown_name
from engine.match import deal
from engine.position import Position
from engine.ruleset import Ruleset, find_ruleset
from engine.view import PlayerView

MAX_OUTCOMES_OF_EVENT = 2**15
"""Largest number of outcomes of a chance event."""

MAX_ACTIONS_IN_TURN = 4 * HAND_SIZE + 4 * BOARD_SIZE
"""Upper bound on the actions of a turn, far above what mana and attacks allow."""

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
    """OpenSpiel game of two decks under a ruleset.

    Args:
        params: "first" and "second", the players' decks for `engine.find_deck`, and "ruleset", one without a
            mulligan.

    Raises:
        UnknownNameError: there is no such deck or ruleset.
        DeckError: a deck cannot be read, or is a deck variant.
        RulesetError: the ruleset has a mulligan.
    """

    def __init__(self, params: dict[str, str] | None = None) -> None:
        known = GAME_TYPE.parameter_specification
        for name in params or {}:
            if name not in known:
                raise unknown_name("parameter", name, known)
        chosen = known | (params or {})
        self.decks: tuple[Deck, Deck] = (find_deck(chosen["first"]), find_deck(chosen["second"]))
        self.ruleset: Ruleset = find_ruleset(chosen["ruleset"])
        for deck in self.decks:
            if deck.varied:
                raise DeckError(f"deck {deck.name} is a deck variant; the OpenSpiel game supports none")
        if self.ruleset.mulligan_above >= 0:
            raise RulesetError(
                f"ruleset {self.ruleset.name} has a mulligan; the OpenSpiel game supports none"
            )
        self.numbers = action_numbers(self.decks[0].effects or self.decks[1].effects)
        turns = 2 * self.ruleset.turn_cap
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.numbers),
            max_chance_outcomes=MAX_OUTCOMES_OF_EVENT
            if any(deck.effects for deck in self.decks)
            else DECK_SIZE,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=turns * MAX_ACTIONS_IN_TURN,
        )
        super().__init__(GAME_TYPE, info, params or {})

    def new_initial_state(self) -> "ManaforgeState":
        """The initial state, before the decks are shuffled."""
        return ManaforgeState(self)

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> "ManaforgeObserver":
        """Create an observer of the game."""
        return ManaforgeObserver(iig_obs_type, params)


class ManaforgeState(pyspiel.State):  # type: ignore[misc]
    """OpenSpiel state of a game: the deck orders, the position and pending chance events."""

    def __init__(self, game: ManaforgeGame) -> None:
        super().__init__(game)
        self._game = _SharedData(game)
        self._orders: tuple[list[int], list[int]] = ([], [])
        self._position: Position | None = None
        self._action = -1  # number of the action with pending chance events
        self._outcomes: list[int] = []
        self._waiting = 0  # number of outcomes of the pending chance event; 0: none is pending
        self._observations: _Observations | None = None
        self._append_certain()

    @property
    def position(self) -> Position | None:
        """The true position, including hidden information; None while decks are shuffled."""
        return self._position

    def current_player(self) -> int:
        """The seat to move, or OpenSpiel's code for chance or a terminal state."""
        if self._position is None or self._waiting:
            return int(pyspiel.PlayerId.CHANCE)
        if self._position.outcome != Outcome.ONGOING:
            return int(pyspiel.PlayerId.TERMINAL)
        return self._position.active

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return bool(self.current_player() == pyspiel.PlayerId.TERMINAL)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Chance outcomes with probabilities: indices of distinct cards of the deck, or numbers from 0."""
        if self._waiting:
            return [(number, 1 / self._waiting) for number in range(self._waiting)]
        _, left = self._next_card()
        total = sum(left.values())
        return [(place, n / total) for place, n in sorted(left.items())]

    def returns(self) -> list[float]:
        """Returns by seat: 1 for the winner, -1 for the loser, 0 otherwise."""
        outcome = self._position.outcome if self._position is not None else Outcome.ONGOING
        won = {Outcome.FIRST_WINS: 1.0, Outcome.SECOND_WINS: -1.0}.get(outcome, 0.0)
        return [won, -won]

    def __str__(self) -> str:
        if self._position is None:
            return f"order {self._orders}"
        waiting = f" waits for one of {self._waiting} after {self._action} {self._outcomes}"
        return str(self._position) + (waiting if self._waiting else "")

    def seen(self, player: int, everything: bool) -> list[str]:
        """A player's last observation, or all since the start (`everything`); [] while decks are shuffled."""
        if self._observations is None:
            return []
        return self._observations.all_of(player) if everything else [self._observations.last_of(player)]

    def _legal_actions(self, player: int) -> list[int]:  # noqa: ARG002 - the active player
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
            self._append_certain()
            return
        if self._waiting:
            self._outcomes.append(action)
        else:
            self._action, self._outcomes = action, []
        chance = Chance.given(self._outcomes)
        try:
            self._position.play(self._game.own.numbers.actions[self._action], chance)
        except ChanceError:
            self._waiting = chance.n_pending_outcomes
            return
        self._waiting = 0
        self._record_observation()

    def _next_card(self) -> tuple[int, Counter[int]]:
        """Seat of the next card to shuffle, and the remaining count of each distinct card of its deck."""
        sizes = [deck.size for deck in self._game.own.decks]
        seat = 0 if len(self._orders[0]) < sizes[0] else 1
        deck, different = self._game.own.decks[seat], self._game.different[seat]
        if deck.random:
            return seat, Counter(range(len(different)))
        listed = Counter(different.index(card) for card in deck.cards)
        return seat, listed - Counter(self._orders[seat])

    def _append_certain(self) -> None:
        """Append the cards without an alternative to the deck orders; deal once both orders are complete."""
        decks = self._game.own.decks
        while any(len(order) < deck.size for order, deck in zip(self._orders, decks, strict=True)):
            seat, left = self._next_card()
            if len(left) > 1:
                return
            self._orders[seat].extend(left)
        self._position = self._first_position()
        self._record_observation()

    def _first_position(self) -> Position:
        """The first position for the chosen deck orders."""
        game = self._game.own
        position = deal(game.decks, 0, ruleset=game.ruleset)
        for seat, side in enumerate(position.state["sides"]):
            different = self._game.different[seat]
            order = [position.table.number[different[place].key] for place in self._orders[seat]]
            in_hand = len(order) - side["n_deck"]
            side["hand"][:in_hand] = order[:in_hand]
            side["deck"][: len(order) - in_hand] = order[in_hand:][::-1]
        return position

    def _record_observation(self) -> None:
        """Record the position as observed by both players."""
        assert self._position is not None
        self._observations = _Observations(self._observations, self._position.copy())


class _SharedData:
    """Data shared by all states of a game and their copies."""

    def __init__(self, game: ManaforgeGame) -> None:
        self.own = game
        self.different: list[list[Card]] = [list(dict.fromkeys(deck.cards)) for deck in game.decks]

    def __deepcopy__(self, memo: object) -> "_SharedData":
        return self


class _Observations:
    """Linked list of observed positions; their texts are made on demand."""

    def __init__(self, before: "_Observations | None", position: Position) -> None:
        self._before, self._position = before, position
        self._texts = ["", ""]

    def last_of(self, player: int) -> str:
        """A player's view of the last position, in notation."""
        self._texts[player] = self._texts[player] or str(PlayerView(self._position, player).position)
        return self._texts[player]

    def all_of(self, player: int) -> list[str]:
        """A player's views of all positions, oldest first."""
        found: list[str] = []
        node: _Observations | None = self
        while node is not None:
            found.append(node.last_of(player))
            node = node._before
        return found[::-1]

    def __deepcopy__(self, memo: object) -> "_Observations":
        return self


class ManaforgeObserver:
    """OpenSpiel observer: a player's view as tensor and text; with perfect recall, all views so far as text.

    Attributes:
        tensor: float32, shape (`OBSERVATION_SIZE` + `N_CARD_PLACES`,): observation and card numbers as in
            `engine.environments.spaces`.
        dict: the two parts by name, "observation" and "cards".

    Raises:
        ValueError: another kind of observation is requested.
    """

    def __init__(self, iig_obs_type: Any, params: dict[str, Any] | None) -> None:
        if params:
            raise ValueError(f"an observation takes no parameters, got {params}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError(
                "an observation must have the public and the observing player's private information"
            )
        self._recall = kind.perfect_recall
        self.tensor = np.zeros(0 if self._recall else OBSERVATION_SIZE + N_CARD_PLACES, np.float32)
        parts = (
            {}
            if self._recall
            else {"observation": self.tensor[:OBSERVATION_SIZE], "cards": self.tensor[OBSERVATION_SIZE:]}
        )
        self.dict: dict[str, np.ndarray] = parts

    def set_from(self, state: ManaforgeState, player: int) -> None:
        """Write a player's view to `tensor`; zeros while decks are shuffled."""
        self.tensor.fill(0)
        if not self._recall and state.position is not None:
            view = PlayerView(state.position, player).position
            self.dict["observation"][:] = encode_view(view, player)
            self.dict["cards"][:] = encode_cards(view, player)

    def string_from(self, state: ManaforgeState, player: int) -> str:
        """A player's view as text; with perfect recall, all views so far."""
        return "\n".join([f"player {player}", *state.seen(player, everything=self._recall)])


pyspiel.register_game(GAME_TYPE, ManaforgeGame)
