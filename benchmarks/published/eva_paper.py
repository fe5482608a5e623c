"""What EVA's paper says: facts and figures that ours stand beside.

Source: García-Sánchez, Tonda, Fernández-Leiva and Cotta, "Optimizing Hearthstone agents using an evolutionary
algorithm", Tables 1 to 5 and sections 5.1 to 5.5.
"""

BATTLEFIELD = {
    "hero_health": "HHR",
    "hero_attack": "HAR",
    "minion_health": "BMHR",
    "minion_attack": "BMAR",
    "minion_appeared": "BMA",
    "minion_killed": "BMK",
    "secret": "BSR",
    "mana": "BMR",
}
"""Weights of Table 1 and Fig. 6: our names, and the paper's."""

VALUE = {
    "health": "MH",
    "attack": "MA",
    "charge": "MHC",
    "deathrattle": "MHD",
    "divine_shield": "MHDS",
    "inspire": "MHI",
    "lifesteal": "MHLS",
    "stealth": "MHS",
    "taunt": "MHT",
    "windfury": "MHW",
    "poisonous": "MHP",
    "rarity": "MR",
    "cost": "MM",
}
"""Weights of Table 2 and Fig. 7."""

ACRONYMS = BATTLEFIELD | VALUE

WORDS = {
    "mana": ("least varied", "nearest 0"),
    "minion_health": ("little varied", "low"),
    "hero_attack": ("high",),
    "minion_killed": ("high",),
    "hero_health": ("varied", "not near 1"),
    "secret": ("varied",),
    "health": ("most important",),
    "attack": ("most important",),
    "rarity": ("nearest 0",),
    "inspire": ("varied",),
    "windfury": ("varied",),
    "poisonous": ("varied",),
    "charge": ("rather low",),
    "deathrattle": ("rather low",),
    "stealth": ("rather low",),
}
"""What section 5.2 says of weights; "over all of [0, 1]" is taken as varied."""

DECKS = {"pirate-warrior": "Warrior", "reno-mage": "Mage", "jade-shaman": "Shaman"}
"""Our names of the decks, and the paper's in the order of its tables."""

TABLE_4 = {
    ("Warrior", "Warrior"): 0.5772,
    ("Warrior", "Mage"): 0.7315,
    ("Warrior", "Shaman"): 0.4164,
    ("Mage", "Warrior"): 0.5241,
    ("Mage", "Mage"): 0.6528,
    ("Mage", "Shaman"): 0.5812,
    ("Shaman", "Warrior"): 0.5808,
    ("Shaman", "Mage"): 0.6183,
    ("Shaman", "Shaman"): 0.4895,
}
"""Score of the row's deck against the column's."""

TABLE_5 = {
    "Frick and Akkaya": 0.760,
    "EVA (optimised greedy)": 0.742,
    "Bornemann (tree search)": 0.725,
    "Wulfmeyer (alpha-beta)": 0.683,
    "Prymak and Malysheva": 0.680,
}
"""Win rates of the competition's best five of 33."""

GROUPS = 4
