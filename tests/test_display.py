from __future__ import annotations

import sys
import unicodedata
import warnings
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

import sdckit
from sdckit.display import displayed, printable

HOSTILE = (
    "bell\x07", "nul\x00", "esc\x1b[2J", "csi\x9b31m", "del\x7f", "turn\u202eround", "isolate\u2066x\u2069",
    "line\nend", "return\rhere", "tab\tstop", "next\x85line", "line\u2028end", "no\u200bwidth", "mark\ufeff",
    "half\ud800",
    "half\udfff", "no\uffff", "soft\xadhyphen", "tag\U000e0041", "private\ue000",
)  # fmt: skip


def test_nothing_that_is_not_seen_stays() -> None:
    for name in HOSTILE:
        shown = displayed(name)
        assert shown.isprintable()
        assert shown.encode()  # no half of a character
        assert shown != name
        assert displayed(shown.replace("\\", "/")) == shown.replace("\\", "/")
        assert printable(name) == shown == printable(shown)


@pytest.mark.parametrize("name", ["age", "Größe", "年齢", "a b", "a\xa0b", "C:\\new", "\\xyz", "😀", ""])
def test_what_is_seen_stays(name: str) -> None:
    assert displayed(name) == printable(name) == name


@given(
    st.lists(st.text(st.sampled_from("ax1b0u20e\\\x1b\u202e\u0120"), max_size=7), min_size=2, max_size=6, unique=True)
)
def test_different_names_stay_different(names: list[str]) -> None:
    assert len({displayed(name) for name in names}) == len(names)


def test_a_name_that_looks_like_another_escaped() -> None:
    names = ["a\x1bb", r"a\x1bb", r"a\x5cx1bb", "a\u202eb", r"a\u202eb", "a\nb", r"a\x0ab"]
    assert all(displayed(one) != displayed(other) for one, other in combinations(names, 2))
    assert displayed(f"column {names[0]!r}") == "column 'a\\x1bb'"  # as Python has written it


def test_every_control_character_of_unicode() -> None:
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    assert {unicodedata.category(one) for one in set(printable(text))}.isdisjoint(
        {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    )
    assert "\n" in printable("a\nb\x00", lines=True)


def test_errors_and_warnings_are_clean() -> None:
    for name in HOSTILE:
        assert str(sdckit.DataError(f"no column {name}")).isprintable()
        assert str(sdckit.SdcWarning(f"column {name}")).isprintable()
        with pytest.warns(sdckit.SdcWarning) as told:
            warnings.warn(f"column {name}", sdckit.SdcWarning, stacklevel=1)
        assert str(told[0].message).isprintable()
