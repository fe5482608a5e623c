"""The part `[mulligan]` of profiles: written and read back, refused by key, and what it makes a player do."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine import ManaforgeError
from ilp_agent import find_profile
from ilp_agent.mulligan import DeckMulligan, KeepValue, SeatValues, mulligan_from_values
from ilp_agent.profiles import ProfileError
from rivals import find_agent_profile, read_agent_profile

VALUES = (
    SeatValues("a deck", 1, {"X": KeepValue(0.0, 0.5)}),
    SeatValues("thesis-paladin", 0, {"CS2_1": KeepValue(-0.25, 0.125), "Name here": KeepValue(1e-6, 0.0)}),
    SeatValues("thesis-paladin", 1, {}),
)


@pytest.mark.parametrize("agent", ["ilp", "hearthsim", "eva", "minimax-td", "lookahead"])
def test_a_profile_keeps_its_mulligan(agent: str, tmp_path: Path) -> None:
    name = {"ilp": "keep-alive", "hearthsim": "standard", "eva": "competition", "minimax-td": "seed"}
    plain = find_agent_profile(agent, name.get(agent, "hearthsim"))
    profile = replace(plain, mulligan=VALUES)
    path = tmp_path / "p.toml"
    path.write_text(profile.to_toml())
    again = read_agent_profile(path)
    assert again == profile
    assert again.to_toml() == profile.to_toml()
    assert replace(again, mulligan=()).to_toml() == plain.to_toml()
    assert "mulligan" not in plain.to_toml()


def test_cards_of_value_zero_or_more_are_kept() -> None:
    assert mulligan_from_values(VALUES[0]) == DeckMulligan("a deck", 1, ("X",), ())
    assert mulligan_from_values(VALUES[1]) == DeckMulligan("thesis-paladin", 0, ("Name here",), ("CS2_1",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mulligan = 3", "mulligan must be a table"),
        ("[mulligan]\nd = 3", "mulligan.d must be a table"),
        ("[mulligan.d.frist]", "mulligan.d.frist: unknown seat 'frist'.*first"),
        ("[mulligan.d.first]", "mulligan.d.first.values is missing"),
        ("[mulligan.d.first.values]\nX = 0.1", "mulligan.d.first.half_widths is missing"),
        ("[mulligan.d.first]\nvalue = 3", "mulligan.d.first.value: unknown key"),
        (
            "[mulligan.d.first.values]\nX = 0.1\n[mulligan.d.first.half_widths]",
            r"mulligan.d.first.half_widths.X is missing",
        ),
        (
            "[mulligan.d.first.values]\n[mulligan.d.first.half_widths]\nX = 0.1",
            r"mulligan.d.first.values.X is missing",
        ),
        *(
            (
                f"[mulligan.d.second.values]\nX = {value}\n[mulligan.d.second.half_widths]\nX = {half}",
                f"mulligan.d.second.{key}.X must be a number from {least} to 1",
            )
            for value, half, key, least in (
                ("nan", "0", "values", "-1"),
                ("1.5", "0", "values", "-1"),
                ("true", "0", "values", "-1"),
                ("'a'", "0", "values", "-1"),
                ("0", "-0.1", "half_widths", "0"),
            )
        ),
        ('[mulligan."".first]', "name of a deck must be one line"),
    ],
)
def test_what_is_no_mulligan_is_refused_by_its_key(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    content = find_profile("keep-alive").to_toml()
    before, provenance = content.split("[weights]")
    top = text if text.startswith("mulligan =") else ""
    path.write_text(f"{before}{top}\n[weights]{provenance}\n{'' if top else text}\n")
    with pytest.raises(ProfileError, match=message) as raised:
        read_agent_profile(path)
    assert isinstance(raised.value, ManaforgeError)
    assert str(raised.value).startswith(f"{path}: mulligan")
