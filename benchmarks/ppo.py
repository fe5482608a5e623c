"""MaskablePPO of sb3-contrib learns the game against `random`, and enters the arena as an agent from outside.

    make bench-ppo
    python -m benchmarks.ppo --steps 150000

It learns on PettingZoo's environment, on a deck of ten random minions, from both seats. Its score against
`random` is taken on games it has not learned on; then it plays a tournament, where no torch is needed: the
weights are written as arrays (`benchmarks.ppo_policy`).
"""

import argparse
import os
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.ppo_policy import POLICY
from engine.environments.manaforge_v0 import ManaforgeEnv
from evo.api import play_tournament
from evo.stats.ratings import Rate, exact_rate

DECK = """schema = 1
name = "ten-minions"
description = "ten random minions with attack 1 to 4 and health 1 to 3"
size = 10

[random]
attack = [1, 4]
health = [1, 3]
"""

RULESET = "hearthsim"
UNSEEN = 1_000_000
"""Where seeds of the games begin on which a policy is judged."""


class AgainstRandom(gymnasium.Env[np.ndarray, int]):
    """The environment for one learner, which sits at both seats in turn; `random` plays the other."""

    def __init__(self, deck: str, seed: int) -> None:
        self._game = ManaforgeEnv((deck, deck), RULESET)
        space: Any = self._game.observation_space("player_0")
        self.observation_space = space["observation"]
        self.action_space = gymnasium.spaces.Discrete(len(self._game.numbers))
        self._seed, self._games = seed, 0
        self._own, self._mask = "player_0", np.zeros(0, np.int8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:  # noqa: ARG002
        """Begin the next game."""
        self._own = self._game.possible_agents[self._games % 2]
        self._games += 1
        self._game.reset(seed=self._seed + self._games)
        self._random = np.random.default_rng([self._seed, self._games])
        return self._seen(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play an action, and the opponent's until it is the learner's turn again."""
        self._game.step(int(action))
        seen = self._seen()
        over = any(self._game.terminations.values())
        return seen, self._game.rewards[self._own] if over else 0.0, over, False, {}

    def action_masks(self) -> np.ndarray:
        """Which actions are legal."""
        return self._mask

    def _seen(self) -> np.ndarray:
        """What the learner sees when it is to move, or the game is over."""
        while not any(self._game.terminations.values()) and self._game.agent_selection != self._own:
            legal = np.flatnonzero(self._game.numbers.mask(self._game.position))
            self._game.step(int(self._random.choice(legal)))
        found = self._game.observe(self._own)
        self._mask = found["action_mask"].astype(bool)
        return found["observation"]


def score(model: MaskablePPO, deck: str, games: int) -> Rate:
    """The policy's score against `random`, playing what it holds most likely."""
    judged, rewards = AgainstRandom(deck, UNSEEN), []
    for _ in range(games):
        seen, _ = judged.reset()
        over = False
        while not over:
            action, _ = model.predict(seen, action_masks=judged.action_masks(), deterministic=True)
            seen, reward, over, _, _ = judged.step(int(action))
        rewards.append(reward)
    return exact_rate(rewards.count(1.0), rewards.count(0.0), games)


class Curve(BaseCallback):
    """Prints the score against `random` while a policy learns."""

    def __init__(self, deck: str, every: int, games: int) -> None:
        super().__init__()
        self._deck, self._every, self._games, self._next = deck, every, games, 0
        self._began = time.perf_counter()

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next += self._every
            passed = time.perf_counter() - self._began
            found = score(self.model, self._deck, self._games)
            told = f"{found.value:6.1%} ({found.low:.1%} to {found.high:.1%}) against random"
            print(f"{self.num_timesteps:9,} steps {passed:6.0f} s  {told}", flush=True)
        return True


def write(policy: MaskableActorCriticPolicy, file: Path) -> None:
    """Write the layers that choose actions as arrays."""
    layers = [*policy.mlp_extractor.policy_net, policy.action_net]
    linear = [layer for layer in layers if hasattr(layer, "weight")]
    arrays = {}
    for number, layer in enumerate(linear):
        arrays[f"weight_{number}"] = layer.weight.detach().numpy()
        arrays[f"bias_{number}"] = layer.bias.detach().numpy()
    np.savez(file, **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=150_000)
    parser.add_argument("--every", type=int, default=50_000, help="steps between two scores")
    parser.add_argument("--games", type=int, default=400, help="games of a score")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=POLICY.parent)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    deck = chosen.out / "ten-minions.toml"
    deck.write_text(DECK)
    made = DummyVecEnv([lambda n=n: AgainstRandom(str(deck), 1000 * n) for n in range(8)])  # type: ignore[misc]
    model = MaskablePPO("MlpPolicy", made, n_steps=256, batch_size=512, seed=chosen.seed, device="cpu")
    model.learn(chosen.steps, callback=Curve(str(deck), chosen.every, chosen.games))
    file = (chosen.out / POLICY.name).resolve()
    write(model.policy, file)
    os.environ["MANAFORGE_PPO_POLICY"] = str(file)  # which its process reads
    played = play_tournament(
        "python:benchmarks.ppo_policy:Policy", "random", "aggro", "ilp:true-balanced",
        decks=[str(deck)], games=400, ruleset=RULESET, quiet=True,
    )  # fmt: skip
    print(played.ratings[["entrant", "rating", "low", "high", "games", "score"]].to_string(index=False))


if __name__ == "__main__":
    main()
