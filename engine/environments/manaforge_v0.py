"""The game as a PettingZoo environment, whose agents take turns (AEC); the optional extra `pettingzoo`.

As in PettingZoo's own environments, `env` is wrapped, `raw_env` is not, and `parallel_env` is for algorithms
that act for all agents at once.
"""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from engine.codes import Outcome
from engine.deck_files import find_deck
from engine.decks import Deck
from engine.effects.chance import Chance
from engine.environments.spaces import CARDS, SIZE, cards_of_view, numbers_of, numbers_of_view
from engine.errors import DeckError, IllegalActionError
from engine.lazy import loaded
from engine.match import deal
from engine.position import Position
from engine.ruleset import Ruleset
from engine.streams import stream_key
from engine.view import PlayerView

DECKS = ("thesis-paladin", "thesis-warrior")

Observation = dict[str, np.ndarray]


def env(**options: Any) -> AECEnv:
    """The environment in PettingZoo's usual wrappers: an illegal action loses, the order is enforced.

    Args:
        **options: of `ManaforgeEnv`.
    """
    found = wrappers.TerminateIllegalWrapper(ManaforgeEnv(**options), illegal_reward=-1)
    found = wrappers.AssertOutOfBoundsWrapper(found)
    return wrappers.OrderEnforcingWrapper(found)


def parallel_env(**options: Any) -> ParallelEnv:
    """The environment for algorithms that act for all agents; who is not to move is not heard.

    Args:
        **options: of `ManaforgeEnv`.
    """
    return turn_based_aec_to_parallel(env(**options))


class ManaforgeEnv(AECEnv):  # type: ignore[misc]
    """A game of two players, `player_0` (who goes first) and `player_1`.

    An action is a number (`engine.environments.spaces`). An observation has `observation`, the numbers of
    what its player sees (`engine.environments.spaces`), `cards`, the numbers of the cards on these
    places, and `action_mask`, 1 for legal actions and all 0 for who is not to move. The winner's reward is 1
    and the loser's -1, at the end; a draw gives 0.

    Args:
        decks: of who goes first, and of the other; decks or names as `engine.find_deck` takes them.
        ruleset: a name or a `Ruleset`.
        render_mode: "ansi" or "human" (`render`); None: nothing is shown.

    Raises:
        UnknownNameError, DeckError: there is no such deck or ruleset.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "manaforge_v0",
        "render_modes": ["ansi", "human"],
        "is_parallelizable": True,
        "render_fps": 1,
    }

    def __init__(
        self,
        decks: tuple[Deck | str, Deck | str] = DECKS,
        ruleset: str | Ruleset = "standard",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if len(decks) != 2:
            raise DeckError(f"a game has two decks, got {len(decks)}")
        first, second = (deck if isinstance(deck, Deck) else find_deck(deck) for deck in decks)
        self.decks, self.ruleset, self.render_mode = (first, second), ruleset, render_mode
        self.possible_agents = ["player_0", "player_1"]
        self.numbers = numbers_of(first.effects or second.effects)
        self._seed, self._game = 0, -1
        cards = len(deal(self.decks, 0, ruleset=ruleset).table.cards)
        spaces = gymnasium.spaces
        self._observed = spaces.Dict(
            {
                "observation": spaces.Box(-np.inf, np.inf, (SIZE,), np.float32),
                "cards": spaces.Box(0, cards, (CARDS,), np.int16),
                "action_mask": spaces.Box(0, 1, (len(self.numbers),), np.int8),
            }
        )
        self._actions = {agent: spaces.Discrete(len(self.numbers)) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:  # noqa: ARG002 - the same for both
        """What `observe` returns."""
        return self._observed

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """Numbers of actions, legal or not."""
        return self._actions[agent]

    @property
    def position(self) -> Position:
        """The true position, with all that is hidden."""
        return self._position

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Deal a game: after a seed that seed's first, and then the next ones.

        Args:
            seed: in [0, 2**64); None: of the last call, 0 at first.
            options: none are known.
        """
        if seed is not None:
            self._seed, self._game = seed, -1
        self._game += 1
        self._position = deal(self.decks, self._seed, (self._game,), self.ruleset)
        self._chance = Chance.drawn(stream_key(self._seed, self._game), self._position.states)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self._position.active]

    def observe(self, agent: str) -> Observation:
        """What an agent sees."""
        seat = self.possible_agents.index(agent)
        view = PlayerView(self._position, seat).position
        mask = np.zeros(len(self.numbers), np.int8)
        if agent == self.agent_selection and not any(self.terminations.values()):
            mask = self.numbers.mask(self._position)
        return {
            "observation": numbers_of_view(view, seat),
            "cards": cards_of_view(view, seat),
            "action_mask": mask,
        }

    def step(self, action: int | None) -> None:
        """Play an action of `agent_selection`; None once the game is over.

        Raises:
            IllegalActionError: it is not legal; `env` makes that a lost game.
        """
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        known = isinstance(action, int | np.integer) and 0 <= action < len(self.numbers)
        if action is None or not known:
            raise IllegalActionError(f"an action is a number below {len(self.numbers)}, got {action!r}")
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._position.play(self.numbers.actions[int(action)], self._chance)
        outcome = self._position.outcome
        if outcome == Outcome.ONGOING:
            self.agent_selection = self.possible_agents[self._position.active]
        else:
            won = {Outcome.FIRST_WINS: 1.0, Outcome.SECOND_WINS: -1.0}.get(outcome, 0.0)
            self.rewards = dict(zip(self.possible_agents, (won, -won), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            self._accumulate_rewards()
            self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """The position with all that is hidden, drawn as text: returned ("ansi") or printed ("human")."""
        if self.render_mode:
            drawn: str = loaded("evo.terminal.drawing:position_as_text")(self._position)
            if self.render_mode == "ansi":
                return drawn
            print(drawn, end="")
            return None
        gymnasium.logger.warn("render() shows nothing without a render_mode")
        return None

    def close(self) -> None:
        """Nothing is kept open."""


raw_env = ManaforgeEnv
