"""Columns that were made of an identifier which a release leaves out, or are written like one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.frames import open_frame
from sdckit.data.scenarios import telling_columns
from sdckit.data.scenarios.column_roles import look_at_columns
from sdckit.data.scenarios.telling_columns import SAYS

N = 1_800
PEOPLE = pl.DataFrame({"sex": np.random.default_rng(5).choice(["f", "m"], N)})
DISTRICT = np.random.default_rng(6).integers(0, 24, N)
MIXED = np.random.default_rng(7).permutation(N)


def not_judged(before: pl.DataFrame, after: pl.DataFrame, **entries: Any) -> dict[str, tuple[str, ...]]:
    """What is said of a release beside its original, with the columns named."""
    scenario = sdc.Scenario(keys=["sex"], **entries)
    return dict(look_at_columns(scenario, [open_frame(after)], original=open_frame(before)).not_judged)


NO = np.random.default_rng(11).permutation(np.arange(1_000_000, 1_000_000 + 7 * N, 7))
NAMES = [
    f"{['Ann', 'Bea', 'Cid', 'Dov', 'Eve'][at % 5]} {['Kol', 'Lun', 'Mir', 'Nas'][at % 4]}{at % 997:03}"
    for at in range(N)
]
MADE_OF: dict[str, tuple[Any, Any, bool]] = {
    "the last digits": (NO, [f"{own:07}"[-4:] for own in NO], True),
    "a number and one digit more": (NO, NO * 10 + 3, True),
    "turned": (NO, [str(own)[::-1] for own in NO], True),
    "numbers with a point": ([None, *NO[1:].astype(float)], [str(own)[1:6] for own in NO], True),
    "a name without vowels": (NAMES, [re.sub("[aeiou]", "", own) for own in NAMES], True),
    "an e-mail address": (NAMES, [f"{own.lower().replace(' ', '.')}@example.org" for own in NAMES], True),
    "a mean for a school": (DISTRICT, np.random.default_rng(12).permutation(24)[DISTRICT] / 7, True),
    "initials": (NAMES, [own[0] + own.split()[1][0] for own in NAMES], False),
    "a group of schools": (DISTRICT, DISTRICT // 3, False),
    "other numbers": (NO, np.random.default_rng(13).permutation(NO), False),
    "of two values": (NAMES, [own[0] in "AE" for own in NAMES], False),
}


@pytest.mark.parametrize("how", MADE_OF)
def test_what_was_made_of_an_identifier_that_is_left_out_leaves_the_roles_open(how: str) -> None:
    """Whoever tries names or numbers has them from these; named one by one, too, nothing was said of them."""
    own, shown, told = MADE_OF[how]
    before = PEOPLE.with_columns(own=pl.Series(own), v9=pl.Series(shown))[MIXED]
    said = {"identifiers": ["own"], "insensitive": ["v9"]}
    looked = not_judged(before, before.drop("own"), **said)
    assert (("v9",) in (looked.get(SAYS["made_of"]), looked.get(SAYS["left_out"]))) is told
    assert SAYS["made_of"] not in not_judged(before, before, **said)  # which goes out itself
    numbered = before.with_columns(v9=pl.int_range(90_000, 90_000 + pl.len()))
    assert SAYS["made_of"] not in not_judged(before, numbered.drop("own"), **said)


def test_of_what_is_named_insensitive_and_written_like_an_identifier_it_is_said() -> None:
    given = {"v1": NAMES, "v2": NO * 1000, "v3": NO * 1000.5, "v4": [f"group {at % 7}" for at in range(N)]}
    file = open_frame(PEOPLE.with_columns(**{name: pl.Series(own) for name, own in given.items()})[MIXED])
    looked = look_at_columns(sdc.Scenario(keys=["sex"], insensitive=[*given]), [file])
    assert dict(looked.not_judged)[SAYS["written"]] == ("v1", "v2")
    assert SAYS["written"] in telling_columns.SAID
