"""A policy learned by `benchmarks.ppo`, as an agent from outside: `python:benchmarks.ppo_policy:Policy`."""

import os
from pathlib import Path

import numpy as np

from engine import Action, PlayerView
from engine.environments.spaces import action_numbers, encode_view

POLICY = Path(os.environ.get("MANAFORGE_PPO_POLICY", "build/ppo-policy/policy.npz"))
"""The policy's file."""


class Policy:
    """Plays the legal action that the network holds most likely."""

    name = "ppo"

    def __init__(self) -> None:
        with np.load(POLICY) as arrays:
            self._layers = [
                (arrays[f"weight_{n}"].T, arrays[f"bias_{n}"]) for n in range(len(arrays.files) // 2)
            ]
        self._numbers = action_numbers(False)

    def act(self, view: PlayerView, rng: np.random.Generator) -> Action:  # noqa: ARG002 - draws nothing
        """Choose one of the legal actions."""
        values = encode_view(view.position, view.seat)
        for weight, bias in self._layers[:-1]:
            values = np.tanh(values @ weight + bias)
        weight, bias = self._layers[-1]
        legal = self._numbers.mask(view.position) == 1
        return self._numbers.actions[int(np.argmax(np.where(legal, values @ weight + bias, -np.inf)))]
