"""What kinds of things a card's text asks for, by its words: what is said of cards that are not exact.

The generator (`engine.cards.editions`) reads texts and writes these names to `editions/kinds.csv`. They are
read only of cards that are not played exactly: an exact card may well ask for something of such a name.
"""

import re

from engine.cards.texts import normalised

KINDS: dict[str, tuple[str, ...]] = {
    "secret": (r"^Secret:", r"\benemy Secrets?\b"),
    "quest": (r"^Quest:",),
    "discover": (r"\bDiscover\b", r"Look at (?:the top )?3 cards"),
    "adapt": (r"\bAdapt\b",),
    "choose one": (r"\bChoose (?:One|Twice|a Deathrattle|a basic)\b",),
    "combo": (r"\bCombo:",),
    "inspire": (r"\bInspire:",),
    "echo": (r"\bEcho\b(?! card)",),
    "recruit": (r"\bRecruit (?:an?|\d) ",),
    "Jade Golem": (r"Jade Golem",),
    "C'Thun": (r"your C'Thun",),
    "start of the game": (r"^Start of Game:",),
    "what the deck holds": (r"\b[Ii]f your deck has",),
    "what the hand holds": (r"holding (?:a|any) ", r"hand is empty", r"in hand, gain", r"While they hold"),
    "aura": (
        r"(?<![Ii]f )\b[Yy]our (?!deck|C'Thun|opponent has)(?:(?!that|into|in )[\w']+ ){1,4}"
        r"(?:have|has|triggers?|costs?|can target)\b",
        r"Adjacent minions (?:have|can't)",
        r"[Mm]inions (?:with Battlecry cost|in your hand have|have a 50%|cost)",
        r"\b[Ss]pells cost|Both players have|effects combined|deal damage instead",
        r"[Dd]ouble (?:all|the) damage|is always equal|this has \+|it has Taunt",
        r"Has (?:\+|Charge while|Attack equal)|while (?:damaged|this)\b(?! is in)",
        r"[Yy]our hero (?:is Immune|can only take|can't be)|Hero Powers are disabled|All targets are",
    ),
    "listener": (
        r"\b[Ww]henever\b",
        r"\b[Aa]fter (?:an?|you|your|this|it)\b",
        r"[Ee]ach time|When you (?:draw|play)|When drawn|when it dies|If you discard this",
        r"At the end of each (?:turn|player)",
    ),
    "start of turn": (r"\b[Aa]t the start of\b", r"On each player's turn", r"Each turn this is in your hand"),
    "end of turn": (r"\b[Aa]t the end of (?:your|the) turn\b", r"until end of turn"),
    "neighbours": (r"\b[Aa]djacent\b", r"\bnext to\b", r"\bneighbors\b", r"left and right-most"),
    "attacks": (
        r"attack the wrong enemy|Immune while attacking|Also damages the minions|Attacking a minion costs",
        r"Unlimited attacks|Can only attack|Can't attack (?:unless|while|\.)|hits the enemy hero",
        r"attack (?:a random|it\b)",
    ),
    "cost": (r"\b[Cc]osts? (?:\(|Health)", r"\bCosts? (?:of|by|equal|to)\b", r"\b(?:their|its) Cost\b"),
    "hero power": (r"\bHero Power\b",),
    "replaced hero": (r"[Rr]eplace (?:your hero|it with)",),
    "random cards": (
        r"\b(?:[Aa]dd|[Ss]ummon|[Ee]quip|cast) (?:an?|one|two|three|\d) random\b",
        r"random (?:weapon|spell|card|minion with|\d+-Cost|(?:ones?|minions?) that)",
        r"into (?:a )?(?:random|Legendary)|summon an? \d-Cost|create a custom",
        r"AWESOME|Power Chord|Dream Card",
    ),
    "cards in deck": (
        r"(?:from|in|into|of) (?:your|their|your opponent's|each|the enemy) decks?\b",
        r"\b(?:hands? and|swap) decks?|[Dd]raws? (?:cards )?until|in your opponent's deck",
        r"that (?:didn't start|started) in|shuffle it",
    ),
    "cards in hand": (
        r"(?:in|from|of|fill) (?:your|their|each player's|both) hands?\b",
        r"Replace your hand",
    ),
    "copy": (r"\b[Cc]op(?:y|ies)\b",),
    "returned from death": (r"\bdied (?:this|also)", r"\b[Rr]e(?:summon|surrect)", r"\bto life\b"),
    "upgrade": (r"to upgrade\.\)", r"Gains a bonus"),
    "condition": (r"\b[Ii]f (?!you discard this|your deck has)", r"\bRepeat(?:able)?\b"),
    "count": (r"\b[Ff]or each\b", r"\bequal to\b", r"[Tt]hat (?:many|much|damage)", r"\b(?:by|deal) its\b"),
}
"""Each kind with the words that tell it in a text without markup; a text may ask for several."""

OTHER = "other"
"""The kind of a text that fits none."""

_PATTERNS = {kind: re.compile("|".join(words)) for kind, words in KINDS.items()}


def kinds_of(text: str) -> tuple[str, ...]:
    """The kinds of things a text asks for, in the order of `KINDS`; `OTHER` where none is known."""
    told = normalised(text)
    found = tuple(kind for kind, pattern in _PATTERNS.items() if pattern.search(told))
    return found or (OTHER,)
