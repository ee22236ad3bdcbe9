"""Which levels the labels of release and tables stand for."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit import DataError
from sdckit.attacks.published.audit_levels import finest_levels
from sdckit.attacks.published.counted_tables import Column
from sdckit.data.hierarchy import as_hierarchy


def column(*labels):
    return Column("x", labels, np.zeros(0, np.int64))


def held(levels, label):
    return [one for one, inside in zip(levels.finest, levels.holds[label], strict=True) if inside]


def test_a_range_holds_the_numbers_within_it():
    found = finest_levels("x", [column("30-39", "40+"), column("31", "39", "40", "55")])
    assert found.finest == ("31", "39", "40", "55")
    assert held(found, "30-39") == ["31", "39"]
    assert held(found, "40+") == ["40", "55"]
    assert [found.number(label) for label in found.finest] == [31, 39, 40, 55]


def test_a_range_that_holds_nothing_is_a_level_and_two_spellings_are_one():
    found = finest_levels("x", [column("30-39", "n"), column("[30, 40)", "n")])
    assert found.finest == ("30-39", "n")
    assert held(found, "[30, 40)") == ["30-39"]
    assert np.isnan(found.number("n"))


def test_ranges_that_overlap_are_refused_without_their_values():
    with pytest.raises(DataError, match="overlap") as error:
        finest_levels("x", [column("30-39"), column("35-44")])
    assert "35" not in str(error.value)


def test_a_hierarchy_says_what_belongs_together():
    tree = as_hierarchy(
        {"Graz": ["Styria", "Austria"], "Linz": ["Upper", "Austria"], "Wels": ["Upper", "Austria"]}
    )
    found = finest_levels(
        "x", [column("Upper", "Styria"), column("Graz", "Linz", "Wels"), column("Austria")], tree
    )
    assert set(found.finest) == {"Graz", "Linz", "Wels"}
    assert held(found, "Upper") == ["Linz", "Wels"]
    assert held(found, "Austria") == list(found.finest)


def test_no_label_is_no_row():
    found = finest_levels("age", [column("31", "35")])
    assert found.of([]).shape == (0, 2)
    assert found.of([]).dtype == bool
