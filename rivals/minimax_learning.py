"""Learn the weights of the minimax agent by temporal differences.

`python -m rivals.minimax_learning --help` lists the options.

Source: Dash, Handali and Jia, "Do Androids Dream Of Explosive Sheep?", sections 4.2 and 5.2. After each own
turn, TD(0) moves the value of the previous end of turn towards its successor:

    w <- w - eta (V(s; w) - (r + gamma V(s'; w))) phi(s)

where s and s' are the ends of two consecutive own turns, r is 100 for a win and -100 for a loss, and the
value of a finished game is 0. With probability epsilon a turn is random. The paper learns against the
aggressive agent with gamma 0.9, eta 0.001 and epsilon 0.75, the defaults here; initial weights are 0 (the
paper gives none). It reports that the win rate rises with the number of games and then plummets; so weights
are scored at intervals, and the best are the result. Results: docs/agents.md.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from engine import ManaforgeError, Outcome, find_deck, find_ruleset
from engine.batches import begin_logs, deal_games, game_results
from engine.codes import ActionKind
from engine.decks import cached_card_table
from engine.effects.chance import draw_from_stream
from engine.jit import njit
from engine.rules import apply, decode, encode, legal_actions, outcome
from engine.state import EVENTS, STATE
from engine.streams import agent_keys, below, derive, stream_key
from ilp_agent import Profile
from rivals.batch import TURNS
from rivals.kinds import OptionError
from rivals.minimax import MinimaxWeights, play_batch, thread_memory
from rivals.minimax_search import FEATURES, N_FEATURES, MinimaxMemory, play_chains, read_features
from rivals.registry import find_agent_profile, find_kind

REWARD = 100.0
"""Reward of a win; a loss has its negative."""

DIVERGENCE_LIMIT = 1e6
"""Weights beyond this count as diverged."""

_EXPLORE, _ACTIONS = range(2)
"""Streams of a turn: whether to explore, and the random actions."""

_LEARN, _TEST = range(2)
"""Streams of a run: games for learning, and games for scoring weights."""


@dataclass(frozen=True)
class Learning:
    """Settings of learning the minimax agent's weights.

    Attributes:
        games: games to learn from.
        epsilon: probability of a random turn, 0 to 1.
        gamma: discount from one own turn to the next, 0 to 1.
        eta: learning rate, > 0.
        opponent: agent kind of the opponent, with its default profile; `minimax-td` is self-play.
        decks: names; every pairing is played.
        ruleset: name of the ruleset.
        depth: of the minimax agent, 1 or 2.
        chains: of the minimax agent.
        every: games between scores.
        tests: games per score; even.
        against: agent kind of the opponent in scores.
        seed: of all games.
        features: features to learn; other weights stay 0.
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
        """Mask of the weights to learn: 1 for each feature to learn, else 0; shape (`N_FEATURES`,)."""
        return np.array([float(name in self.features) for name in FEATURES])


@dataclass(frozen=True)
class ScoredWeights:
    """Scored weights: games so far, float64 weights of shape (`N_FEATURES`,), score from 0 to 1."""

    games: int
    weights: np.ndarray
    score: float


def td_step(weights: np.ndarray, features: np.ndarray, target: float, eta: float) -> np.ndarray:
    """Weights after one TD(0) step: V(s; w) moved towards `target`.

    Args:
        weights: shape (`N_FEATURES`,).
        features: of s, the same shape.
        target: r + gamma V(s'; w).
        eta: the learning rate.
    """
    moved: np.ndarray = weights - eta * (weights @ features - target) * features
    return moved


def learn(settings: Learning) -> Iterator[ScoredWeights]:
    """Learn, and yield scored weights at intervals; stop early if the weights diverge.

    Raises:
        UnknownNameError: unknown agent, deck or ruleset.
        OptionError: an opponent is not compiled or takes a backend, or unknown feature.
    """
    if unknown := set(settings.features) - set(FEATURES):
        raise OptionError(f"unknown feature {', '.join(sorted(unknown))}; known: {', '.join(FEATURES)}")
    for name in (settings.opponent, settings.against):
        if find_kind(name).takes_backend or not find_kind(name).compiled():
            raise OptionError(
                f"{name} cannot be an opponent here: only compiled agents without a backend can, "
                "such as aggro"
            )
    arena = _Arena(settings)
    weights = np.zeros(N_FEATURES)
    for game in range(1, settings.games + 1):
        weights = arena.learn_from(game, weights)
        if not np.abs(weights).max() < DIVERGENCE_LIMIT:
            return
        if game % settings.every == 0:
            yield ScoredWeights(game, weights, arena.score(weights))


class _Arena:
    """Deals and plays the games of a learning run."""

    def __init__(self, settings: Learning) -> None:
        self._settings = settings
        self._decks = tuple(map(find_deck, settings.decks))
        self._table, self._records = cached_card_table(self._decks)
        self._rules = find_ruleset(settings.ruleset).array
        self._played = np.zeros(1, EVENTS)
        self._mask = settings.mask

    def learn_from(self, game: int, weights: np.ndarray) -> np.ndarray:
        """Weights after learning from one more game."""
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
                thread_memory(),
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
        """Mean points per game, 1 for a win and 1/2 for a draw; every deal is played from both seats."""
        n = self._settings.tests
        states, keys, chances = self._deal(_TEST, 0, n // 2)
        states, keys, chances = (np.repeat(part, 2, axis=0) for part in (states, keys, chances))
        agents = np.where(np.arange(2) == np.arange(len(states))[:, None] % 2, 0, -1)
        outcomes, _ = game_results(states)
        while (outcomes == Outcome.ONGOING).any():
            self._play("minimax-td", weights, agents, states, keys, chances)
            self._play(self._settings.against, weights, -1 - agents, states, keys, chances)
            outcomes, _ = game_results(states)
        return float(np.mean([(1 + _points(end, game % 2)) / 2 for game, end in enumerate(outcomes)]))

    def _deal(self, purpose: int, first: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Deal games numbered from `first`: states, the agents' streams, the games' chance streams."""
        chances = np.array(
            [stream_key(self._settings.seed, purpose, first + game) for game in range(n)], np.uint64
        )
        keys, states = np.empty((n, 2), np.uint64), np.zeros(n, STATE)
        agent_keys(chances, keys)
        numbers = first + np.arange(n)
        pairs = np.stack([numbers % len(self._decks), numbers // len(self._decks) % len(self._decks)], axis=1)
        deal_games(self._table.array, self._records, self._rules, pairs, chances, states)
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
        """Play games on while an agent of this kind is to move; `minimax-td` plays by `weights`."""
        row = self._row(weights) if kind == MinimaxWeights.AGENT else _row_of(kind)
        play = play_batch if kind == MinimaxWeights.AGENT else find_kind(kind).play_batch()
        assert play is not None, "checked where the kind is named"
        play(
            self._table.array,
            row[None],
            agents,
            states,
            keys,
            begin_logs(chances),
            np.zeros(len(states), TURNS),
        )

    def _row(self, weights: np.ndarray) -> np.ndarray:
        return np.array([*weights, self._settings.depth, self._settings.chains])


def _row_of(name: str) -> np.ndarray:
    """Weights of an agent kind's default profile and default options, as a row for compiled games."""
    kind = find_kind(name)
    weights = find_agent_profile(name, kind.default_profile).weights.full_array if kind.weighted else ()
    return np.array([*weights, *kind.settings()], np.float64)


def _points(end: int, seat: int) -> int:
    """1 for a win of the player at `seat`, -1 for a loss, 0 for a draw."""
    if end == Outcome.DRAW:
        return 0
    return 1 if (end == Outcome.FIRST_WINS) == (seat == 0) else -1


def _outcome_of(states: np.ndarray) -> int:
    """Outcome of the only game of an array of shape (1,)."""
    return int(game_results(states)[0][0])


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
    """Play a whole turn of the only state of an array of shape (1,). Modifies `states`.

    Args:
        states: dtype `STATE`, not over.
        cards: the card table.
        row: weights and options.
        explores: whether to play uniformly random actions until one ends the turn.
        key: stream of the random actions.
        chance: chance stream of the game.
        played: dtype `EVENTS`, shape (1,). Modified in place.
        memory: working memory. Modified in place.
        features: shape (`N_FEATURES`,). Modified in place: features before the end of the turn.

    Returns:
        Whether the game is not over.
    """
    state = states[0]
    seat = state["active"]
    draw_from_stream(played[0], state, chance)
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
    """Command line: learn, print the scores, and write the best weights as a profile."""
    parser = argparse.ArgumentParser(
        prog="python -m rivals.minimax_learning", description=__doc__.split("\n")[0]
    )
    usual = asdict(Learning())
    for name, value in usual.items():
        if not isinstance(value, tuple):
            parser.add_argument(f"--{name}", type=type(value), default=value)
        else:
            parser.add_argument(f"--{name}", default=",".join(value), help="comma-separated names")
    parser.add_argument("--out", type=Path, help="profile file to write")
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
        say("weights diverged before the first score; try a smaller --eta")
        return
    named = dict(zip(MinimaxWeights.names(), best.weights.tolist(), strict=True))
    say(f"best after {best.games} games: {best.score:.1%}")
    for name, weight in named.items():
        say(f"  {name:<14} {weight:9.4f}")
    if out:
        out.write_text(profile_of(out.stem, settings, best).to_toml(), encoding="utf-8")


def profile_of(name: str, settings: Learning, found: ScoredWeights) -> Profile[MinimaxWeights]:
    """Learned weights as a profile, to four decimals, with settings and score as provenance."""
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
