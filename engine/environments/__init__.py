"""Reinforcement learning environments: PettingZoo and OpenSpiel (optional extras)."""
