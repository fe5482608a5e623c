"""Learn the weights of the minimax player by temporal differences.

`python -m rivals.minimax_learning --help` lists the options.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", sections 4.2 and 5.2. After each of
its turns the value of the last position is moved towards what followed:

    w <- w - eta (V(s; w) - (r + gamma V(s'; w))) phi(s)

where s and s' are the ends of two turns of the player in a row, r is 100 for a win and -100 for a loss, and
the value of a game that is over is 0. With probability epsilon a turn is random, else it is the player's
own. The paper plays the aggressive agent with gamma 0.9, eta 0.001 and epsilon 0.75, which are the
defaults, from weights of 0 (it does not say from which). It reports that the win rate rises with the number
of games and then plummets; so the weights are scored on the way, and the best are the result.
docs/agents.md has what came out.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from engine import ManaforgeError, Outcome, find_deck, find_ruleset
from engine.batches import deal_games, endings
from engine.codes import ActionKind
from engine.decks import tables_of
from engine.effects.chance import draw_for
from engine.jit import njit
from engine.rules import apply, decode, encode, legal_actions, outcome
from engine.state import EVENTS, STATE
from engine.streams import agent_keys, below, derive, stream_key
from ilp_agent import Profile
from rivals.batch import TURNS
from rivals.kinds import OptionError
from rivals.minimax import MinimaxWeights, memory_of_thread, play_batch
from rivals.minimax_search import FEATURES, N_FEATURES, MinimaxMemory, play_chains, read_features
from rivals.profiles import find_agent_profile
from rivals.registry import find_kind

REWARD = 100.0
"""Of a win; less than 0 as much of a loss."""

MOST_WEIGHT = 1e6
"""Weights beyond this have grown without bounds."""

_EXPLORE, _ACTIONS = range(2)
"""Streams of a turn: whether it is random, and its random actions."""

_LEARN, _TEST = range(2)
"""Streams of a run: games to learn from, and games to score weights in."""


@dataclass(frozen=True)
class Learning:
    """How weights are learned.

    Attributes:
        games: games to learn from.
        epsilon: probability of a random turn, 0 to 1.
        gamma: discount from one own turn to the next, 0 to 1.
        eta: learning rate, > 0.
        opponent: agent kind that is played against, with its default profile; `minimax-td` plays by the
            weights that are being learned.
        decks: of both players, in every pairing.
        ruleset: name of the ruleset.
        depth: of the player, 1 or 2.
        chains: that it follows.
        every: games after which weights are scored.
        tests: games of a score; even.
        against: agent kind of the scores.
        seed: of all games.
        features: those that are learned; the others keep the weight 0.
    """

    games: int = 2_000
    epsilon: float = 0.75
    gamma: float = 0.9
    eta: float = 0.001
    opponent: str = "aggro"
    decks: tuple[str, ...] = ("thesis-paladin", "thesis-warrior")
    ruleset: str = "standard"
    depth: int = 2
    chains: int = 3
    every: int = 100
    tests: int = 200
    against: str = "aggro"
    seed: int = 1
    features: tuple[str, ...] = FEATURES

    @property
    def mask(self) -> np.ndarray:
        """1 for each feature that is learned, else 0; shape (`N_FEATURES`,)."""
        return np.array([float(name in self.features) for name in FEATURES])


@dataclass(frozen=True)
class Scored:
    """Weights on the way: games learned from, float64 weights of shape (`N_FEATURES`,), score from 0 to 1."""

    games: int
    weights: np.ndarray
    score: float


def td_step(weights: np.ndarray, features: np.ndarray, target: float, eta: float) -> np.ndarray:
    """The weights after one step: V(s; w) moved towards `target`.

    Args:
        weights: shape (`N_FEATURES`,).
        features: of s, the same shape.
        target: r + gamma V(s'; w).
        eta: the learning rate.
    """
    moved: np.ndarray = weights - eta * (weights @ features - target) * features
    return moved


def learn(settings: Learning) -> Iterator[Scored]:
    """Learn, and score the weights after every so many games; ends early where weights grow without bounds.

    Raises:
        UnknownNameError: there is no agent, deck or ruleset of a name.
        OptionError: an opponent is not played compiled without a backend, or there is no such feature.
    """
    if unknown := set(settings.features) - set(FEATURES):
        raise OptionError(f"no feature {', '.join(sorted(unknown))}; there are {', '.join(FEATURES)}")
    for name in (settings.opponent, settings.against):
        if find_kind(name).takes_backend or not find_kind(name).compiled():
            raise OptionError(
                f"{name} is no opponent to learn from: it has to be compiled, and take no backend"
            )
    arena = _Arena(settings)
    weights = np.zeros(N_FEATURES)
    for game in range(1, settings.games + 1):
        weights = arena.learn_from(game, weights)
        if not np.abs(weights).max() < MOST_WEIGHT:
            return
        if game % settings.every == 0:
            yield Scored(game, weights, arena.score(weights))


class _Arena:
    """Deals and plays the games of a run."""

    def __init__(self, settings: Learning) -> None:
        self._settings = settings
        self._decks = tuple(map(find_deck, settings.decks))
        self._table, self._records = tables_of(self._decks)
        self._rules = find_ruleset(settings.ruleset).array
        self._played = np.zeros(1, EVENTS)
        self._mask = settings.mask

    def learn_from(self, game: int, weights: np.ndarray) -> np.ndarray:
        """The weights after one more game."""
        settings, seat = self._settings, game % 2
        states, keys, chances = self._deal(_LEARN, game // 2, 1)
        others = np.where(np.arange(2) == seat, -1, 0)[None]
        features, before = np.zeros(N_FEATURES), None
        while _outcome_of(states) == Outcome.ONGOING:
            if states["active"][0] != seat:
                self._play(settings.opponent, weights, others, states, keys, chances)
                continue
            stream = np.uint64(derive(keys[0, seat], int(states["turn"][0])))
            explores = below(np.uint64(derive(stream, _EXPLORE)), 0, 1_000_000) < settings.epsilon * 1_000_000
            goes_on = take_turn(
                states,
                self._table.array,
                self._row(weights),
                bool(explores),
                np.uint64(derive(stream, _ACTIONS)),
                chances[0],
                self._played,
                memory_of_thread(),
                features,
            )
            if goes_on:
                features *= self._mask
                if before is not None:
                    weights = td_step(
                        weights, before, settings.gamma * float(weights @ features), settings.eta
                    )
                before = features.copy()
        reward = REWARD * _points(_outcome_of(states), seat)
        return weights if before is None else td_step(weights, before, reward, settings.eta)

    def score(self, weights: np.ndarray) -> float:
        """Points of a game in the mean, 1 a win and 1/2 a draw; every deal is played from both seats."""
        n = self._settings.tests
        states, keys, chances = self._deal(_TEST, 0, n // 2)
        states, keys, chances = (np.repeat(part, 2, axis=0) for part in (states, keys, chances))
        own = np.where(np.arange(2) == np.arange(len(states))[:, None] % 2, 0, -1)
        outcomes, _ = endings(states)
        while (outcomes == Outcome.ONGOING).any():
            self._play("minimax-td", weights, own, states, keys, chances)
            self._play(self._settings.against, weights, -1 - own, states, keys, chances)
            outcomes, _ = endings(states)
        return float(np.mean([(1 + _points(end, game % 2)) / 2 for game, end in enumerate(outcomes)]))

    def _deal(self, purpose: int, first: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Deal games with numbers from `first` on: states, the agents' streams, the games' own."""
        chances = np.array(
            [stream_key(self._settings.seed, purpose, first + game) for game in range(n)], np.uint64
        )
        keys, states = np.empty((n, 2), np.uint64), np.zeros(n, STATE)
        agent_keys(chances, keys)
        numbers = first + np.arange(n)
        held = np.stack([numbers % len(self._decks), numbers // len(self._decks) % len(self._decks)], axis=1)
        deal_games(self._table.array, self._records, self._rules, held, chances, states)
        return states, keys, chances

    def _play(
        self,
        kind: str,
        weights: np.ndarray,
        agents: np.ndarray,
        states: np.ndarray,
        keys: np.ndarray,
        chances: np.ndarray,
    ) -> None:
        """Play on while an agent of a kind is to move; `minimax-td` by these weights."""
        row = self._row(weights) if kind == MinimaxWeights.AGENT else _row_of(kind)
        play = play_batch if kind == MinimaxWeights.AGENT else find_kind(kind).play_batch()
        assert play is not None, "checked where the kind is named"
        play(self._table.array, row[None], agents, states, keys, chances, np.zeros(len(states), TURNS))

    def _row(self, weights: np.ndarray) -> np.ndarray:
        return np.array([*weights, self._settings.depth, self._settings.chains])


def _row_of(name: str) -> np.ndarray:
    """Weights of a kind's default profile and its options, as compiled games take them."""
    kind = find_kind(name)
    weights = find_agent_profile(name, kind.default_profile).weights.everything if kind.weighted else ()
    return np.array([*weights, *kind.settings()], np.float64)


def _points(end: int, seat: int) -> int:
    """1 for a win of the player at `seat`, -1 for a loss, 0 for a draw."""
    if end == Outcome.DRAW:
        return 0
    return 1 if (end == Outcome.FIRST_WINS) == (seat == 0) else -1


def _outcome_of(states: np.ndarray) -> int:
    """How the only game of an array of shape (1,) stands."""
    return int(endings(states)[0][0])


@njit
def take_turn(
    states: np.ndarray,
    cards: np.ndarray,
    row: np.ndarray,
    explores: bool,
    key: np.uint64,
    chance: np.uint64,
    played: np.ndarray,
    memory: MinimaxMemory,
    features: np.ndarray,
) -> bool:
    """Play a turn in the only state of an array of shape (1,), which is modified in place.

    Args:
        states: dtype `STATE`, not over.
        cards: the card table.
        row: weights and options.
        explores: whether the turn is uniformly random actions, until one is its end.
        key: stream of these actions.
        chance: stream of the game.
        played: dtype `EVENTS`, shape (1,). Modified in place.
        memory: of this thread. Modified in place.
        features: shape (`N_FEATURES`,). Modified in place: those before the end of the turn.

    Returns:
        Whether the game went on up to the end of the turn.
    """
    state = states[0]
    seat = state["active"]
    draw_for(played[0], state, chance)
    if explores:
        actions, number = memory.own.actions, 0
        while outcome(state) == Outcome.ONGOING:
            action = actions[below(key, number, legal_actions(state, cards, actions))]
            number += 1
            if decode(action)[0] == ActionKind.END_TURN:
                break
            apply(state, cards, action, played[0])
    else:
        play_chains(state, cards, row, memory, played[0])
    if outcome(state) != Outcome.ONGOING:
        return False
    read_features(state, seat, features)
    apply(state, cards, encode(ActionKind.END_TURN, 0, 0), played[0])
    return True


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = print) -> None:
    """Learn as the options say, tell the scores, and write the best weights as a profile."""
    parser = argparse.ArgumentParser(
        prog="python -m rivals.minimax_learning", description=__doc__.split("\n")[0]
    )
    usual = asdict(Learning())
    for name, value in usual.items():
        if not isinstance(value, tuple):
            parser.add_argument(f"--{name}", type=type(value), default=value)
        else:
            parser.add_argument(f"--{name}", default=",".join(value), help="names with commas between")
    parser.add_argument("--out", type=Path, help="profile to write")
    given = vars(parser.parse_args(arguments))
    out = given.pop("out")
    settings = Learning(**given | {name: tuple(given[name].split(",")) for name in ("decks", "features")})
    best = None
    try:
        for found in learn(settings):
            say(f"{found.games:>6} games  {found.score:6.1%}")
            if best is None or found.score > best.score:
                best = found
    except ManaforgeError as error:
        parser.error(str(error))
    if best is None:
        say("weights grew without bounds before the first score")
        return
    named = dict(zip(MinimaxWeights.names(), best.weights.tolist(), strict=True))
    say(f"best after {best.games} games: {best.score:.1%}")
    for name, weight in named.items():
        say(f"  {name:<14} {weight:9.4f}")
    if out:
        out.write_text(profile_of(out.stem, settings, best).to_toml(), encoding="utf-8")


def profile_of(name: str, settings: Learning, found: Scored) -> Profile[MinimaxWeights]:
    """Learned weights as a profile, to four places, with how they were learned and what they scored."""
    provenance = {
        "source": "learned by rivals.minimax_learning, after Dash, Handali and Jia, "
        "Do Androids Dream Of Explosive Sheep?",
        "learned_from": found.games,
        "score": round(found.score, 4),
        "learning": asdict(settings) | {"decks": list(settings.decks), "features": list(settings.features)},
    }
    return Profile(name, MinimaxWeights.from_array(found.weights.round(4)), provenance)


if __name__ == "__main__":
    main()
