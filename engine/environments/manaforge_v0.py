"""PettingZoo environment of the game, for agents in turn (AEC); needs the optional extra `pettingzoo`.

As in PettingZoo's own environments, `env` is wrapped, `raw_env` is not, and `parallel_env` is for algorithms
in which all agents act at once.
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
from engine.environments.spaces import (
    N_CARD_PLACES,
    OBSERVATION_SIZE,
    action_numbers,
    encode_cards,
    encode_view,
)
from engine.errors import DeckError, IllegalActionError
from engine.lazy import lazy_import
from engine.match import deal
from engine.position import Position
from engine.ruleset import Ruleset
from engine.streams import stream_key
from engine.view import PlayerView

DECKS = ("thesis-paladin", "thesis-warrior")

Observation = dict[str, np.ndarray]


def env(**options: Any) -> AECEnv:
    """Create the environment in PettingZoo's usual wrappers: illegal actions lose, calls before `reset` fail.

    Args:
        **options: options of `ManaforgeEnv`.
    """
    wrapped = wrappers.TerminateIllegalWrapper(ManaforgeEnv(**options), illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


def parallel_env(**options: Any) -> ParallelEnv:
    """Create the environment with PettingZoo's parallel interface; only the active agent's action counts.

    Args:
        **options: options of `ManaforgeEnv`.
    """
    return turn_based_aec_to_parallel(env(**options))


class ManaforgeEnv(AECEnv):  # type: ignore[misc]
    """AEC environment of a game between `player_0` (who goes first) and `player_1`.

    Actions are numbered (`engine.environments.spaces`). An observation has `observation`, the player's view
    as an array, `cards`, the card numbers by place, and `action_mask`, 1 for legal actions and all 0 for the
    player not to move. At the end the winner's reward is 1 and the loser's -1; a draw gives 0.

    Args:
        decks: first and second player's decks; decks or names for `engine.find_deck`.
        ruleset: a name or a `Ruleset`.
        render_mode: "ansi" or "human" (`render`); None: no rendering.

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
        self.numbers = action_numbers(first.effects or second.effects)
        self._seed, self._game = 0, -1
        cards = len(deal(self.decks, 0, ruleset=ruleset).table.cards)
        spaces = gymnasium.spaces
        self._observed = spaces.Dict(
            {
                "observation": spaces.Box(-np.inf, np.inf, (OBSERVATION_SIZE,), np.float32),
                "cards": spaces.Box(0, cards, (N_CARD_PLACES,), np.int16),
                "action_mask": spaces.Box(0, 1, (len(self.numbers),), np.int8),
            }
        )
        self._actions = {agent: spaces.Discrete(len(self.numbers)) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:  # noqa: ARG002 - the same for both
        """Space of the observations."""
        return self._observed

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """Space of all actions, legal or not."""
        return self._actions[agent]

    @property
    def position(self) -> Position:
        """The true position, including hidden information."""
        return self._position

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Deal the first game of a seed, or the next game of the current seed.

        Args:
            seed: in [0, 2**64); None: the next game of the current seed, initially 0.
            options: ignored.
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
        """The observation of an agent."""
        seat = self.possible_agents.index(agent)
        view = PlayerView(self._position, seat).position
        mask = np.zeros(len(self.numbers), np.int8)
        if agent == self.agent_selection and not any(self.terminations.values()):
            mask = self.numbers.mask(self._position)
        return {
            "observation": encode_view(view, seat),
            "cards": encode_cards(view, seat),
            "action_mask": mask,
        }

    def step(self, action: int | None) -> None:
        """Play an action of `agent_selection`; None once the game is over.

        Raises:
            IllegalActionError: the action is illegal; `env` makes that a loss.
        """
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        known = isinstance(action, int | np.integer) and 0 <= action < len(self.numbers)
        if action is None or not known:
            raise IllegalActionError(
                f"an action must be an integer from 0 to {len(self.numbers) - 1}, got {action!r}"
            )
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
        """Draw the true position as text: returned ("ansi") or printed ("human")."""
        if self.render_mode:
            drawn: str = lazy_import("evo.terminal.drawing:position_as_text")(self._position)
            if self.render_mode == "ansi":
                return drawn
            print(drawn, end="")
            return None
        gymnasium.logger.warn("render() shows nothing without a render_mode")
        return None

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


raw_env = ManaforgeEnv
