"""What HearthSim's posts print: cells that ours stand beside, and runs of the authors' own program.

Source: HearthSim, "The Power of The Coin", "Tuning the AI", "Direct damage spells" and "To Taunt or not to
Taunt". Win rates of the first player.
"""

from typing import NamedTuple

COIN = {"with The Coin": (0.4107, 20_000), "without": (0.6142, 40_000)}
"""Printed share, and games: those won and lost together."""

AGGRESSIVENESS = {
    0.0: (0.1501, 10_000),
    0.1: (0.2447, 10_000),
    0.2: (0.3114, 10_000),
    0.3: (0.3538, 10_000),
    0.4: (0.4016, 20_000),
    0.6: (0.4674, 40_000),
    0.8: (0.4822, 40_000),
    0.9: (0.4968, 40_000),
    1.0: (0.4107, 20_000),
    1.2: (0.3660, 40_000),
    1.5: (0.2934, 20_000),
    2.0: (0.1568, 30_000),
}

TAUNT = {
    copies: (share, 40_000)
    for copies, share in {
        0: 0.48,
        2: 0.5154,
        4: 0.5488,
        8: 0.5926,
        12: 0.6203,
        16: 0.6351,
        20: 0.6277,
        24: 0.5930,
        28: 0.5378,
        30: 0.5005,
    }.items()
}

SMITE_COPIES = (0, 1, 2, 4, 6, 8, 12, 16, 20, 24, 28)
SMITE = {
    weight: {copies: (share / 100, 40_000) for copies, share in zip(SMITE_COPIES, shares, strict=True)}
    for weight, shares in {
        "0.5": (42.5, 41.1, 39.9, 36.8, 32.0, 27.1, 16.7, 7.8, 2.5, 0.4, 0.0),
        "1": (42.5, 44.6, 46.5, 48.7, 49.0, 47.2, 40.2, 28.2, 13.8, 2.9, 0.1),
        "2": (42.5, 42.0, 40.6, 36.6, 28.5, 19.9, 6.1, 1.3, 0.19, 0.0, 0.0),
    }.items()
}

SAID_SHIELD, SAID_RAGER = 0.648, 0.571
"""Shares that "Divine Shield Modeling" names in its text: at w_ds = 0, and where both hold Magma Rager."""

PROGRAM = "8b1d5695 of github.com/oyachai/HearthSim (1 July 2014)"
"""Commit of the authors' program that the posts name as the one behind their results."""


class Cell(NamedTuple):
    """A setting of the authors' program, run by itself.

    Attributes:
        setting: in words.
        file: its settings file, beside the program's defaults.
        games: played.
        wins: of the first player.
        curve: ours with the same setting.
        value: of that curve.
    """

    setting: str
    file: str
    games: int
    wins: int
    curve: str
    value: float


AUTHORS = (
    Cell(
        "aggressiveness 1 for both",
        '{"num_simulations": 400, "p0_w_a": 1, "p0_w_h": 1, "p1_w_a": 1, "p1_w_h": 1}',
        400,
        170,
        "aggressiveness",
        1.0,
    ),
    Cell(
        "aggressiveness 0 against 1",
        '{"num_simulations": 600, "p0_w_a": 0, "p0_w_h": 0, "p1_w_a": 1, "p1_w_h": 1}',
        600,
        113,
        "aggressiveness",
        0.0,
    ),
    Cell(
        "4 copies of Holy Smite, w_dds 0.5",
        '{"num_simulations": 600, "num_holy_smite": 4, "p0_w_sd_mult": 0.5}',
        600,
        289,
        "smite 0.5",
        4.0,
    ),
)
"""Made with `javac -d out $(find src -name '*.java')` and `java -cp out com.hearthsim.HearthSimMain FILE`."""
