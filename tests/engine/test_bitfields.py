"""Packed numbers: every field is wide enough, and no field spills into the next."""

import itertools

import numpy as np
import pytest

from engine.bitfields import (
    KEYWORD_BITS,
    PLACE_BITS,
    STAT_BITS,
    append_field,
    pack_action,
    unpack_action,
)
from engine.codes import BOARD_SIZE, HAND_SIZE, HERO, KEYWORD_LETTERS, MAX_STAT, ActionKind, Keyword
from engine.formatting import format_keywords
from engine.rules import decode, encode

PLACES = range(max(BOARD_SIZE, HAND_SIZE, HERO + 1))


def test_widths_hold_what_they_are_for() -> None:
    assert MAX_STAT < 1 << STAT_BITS
    assert max(PLACES) < 1 << PLACE_BITS
    assert sum(Keyword) < 1 << KEYWORD_BITS


def test_actions_pack_and_unpack() -> None:
    actions = list(itertools.product(ActionKind, PLACES, PLACES))
    codes = [pack_action(*action) for action in actions]
    assert len(set(codes)) == len(actions)
    for action, code in zip(actions, codes, strict=True):
        assert unpack_action(code) == action
        assert encode(*action) == code
        assert decode(code) == action


@pytest.mark.parametrize("bits", [1, STAT_BITS, KEYWORD_BITS])
def test_a_field_keeps_to_its_width(bits: int) -> None:
    most = (1 << bits) - 1
    assert int(append_field(np.uint64(5), most, bits)) == (5 << bits) + most
    assert int(append_field(np.uint64(5), 0, bits)) == 5 << bits


def test_every_keyword_has_a_letter_of_its_own() -> None:
    assert KEYWORD_LETTERS == "CRTWDLPS"
    assert [format_keywords(keyword) for keyword in Keyword] == list(KEYWORD_LETTERS)
