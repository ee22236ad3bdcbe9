"""Release and tables in one coding."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit import DataError, PublishedTable
from sdckit.attacks.published import audit_files
from sdckit.attacks.published.audit_files import finest_levels, open_audit
from sdckit.attacks.published.counted_tables import MISSING, Column, count_table
from sdckit.attacks.recovery.recovery_files import recovery_files
from sdckit.data.frames import open_frame
from sdckit.data.hierarchy import as_hierarchy
from sdckit.data.scenarios.roles import Roles

WHOLE = pl.DataFrame({"age": [31, 35, 42, 90], "sex": ["f", "m", "f", None]})
ROLES = Roles((), None, None, None, None, (), (), 1.0, None)


def opened(safe, *tables, whole=WHOLE):
    (file,), _ = recovery_files(safe, whole, roles=ROLES, columns=None, log=None, id=None, aligned=True, named={})
    original = None if whole is None else open_frame(whole)
    return open_audit(file, [count_table(one, original) for one in tables], {})


def test_what_is_hidden_and_what_it_was():
    safe = WHOLE.with_columns(sex=pl.Series(["f", None, "f", None]))
    found = opened(safe, PublishedTable(variables=["age", "sex"]))
    assert found.names == ("age", "sex")
    assert found.asked.tolist() == [[False, False], [False, True], [False, False], [False, False]]
    assert found.truth is not None
    assert [found.levels[1].finest[code] for code in found.truth[:, 1]] == ["f", "m", "f", MISSING]


def test_a_number_that_stands_for_all_above_it_is_read_off_the_original():
    safe = WHOLE.with_columns(age=pl.col("age").clip(upper_bound=40))
    found = opened(safe, PublishedTable(variables=["age"]))
    labels, allowed = found.labels[0], found.patterns.allowed[0]
    held = {
        label: [one for one, inside in zip(found.levels[0].finest, row, strict=True) if inside]
        for label, row in zip(labels, allowed, strict=True)
    }
    assert set(held["40"]) >= {"42", "90"}
    assert "31" not in held["40"]
    assert held["31"] == ["31"]


def test_a_variable_with_changed_values_is_left_out_and_its_table_summed():
    safe = WHOLE.with_columns(age=pl.Series([35, 31, 42, 90]), sex=pl.Series([None, "m", "f", None]))
    found = opened(safe.with_columns(age=pl.Series([35, 35, 31, 90])), PublishedTable(variables=["age", "sex"]))
    assert (found.names, found.left_out) == (("sex",), ("age",))
    ((axes, lower, _),) = found.tables
    assert (axes, lower.sum()) == ((0,), 4)


def test_a_table_with_too_many_cells_is_refused(monkeypatch):
    monkeypatch.setattr(audit_files, "MOST_CELLS", 3)
    with pytest.raises(DataError, match="more than 3 possible cells"):
        opened(WHOLE, PublishedTable(variables=["age", "sex"]))


def test_a_table_with_a_range_and_a_number_in_it_is_refused():
    counts = pl.DataFrame({"age": ["30-39", "31", "42", "90"], "n": [1, 1, 1, 1]})
    with pytest.raises(DataError, match="hold each other"):
        opened(WHOLE, PublishedTable(counts=counts))


# Which levels the labels of release and tables stand for.


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
    tree = as_hierarchy({"Graz": ["Styria", "Austria"], "Linz": ["Upper", "Austria"], "Wels": ["Upper", "Austria"]})
    found = finest_levels("x", [column("Upper", "Styria"), column("Graz", "Linz", "Wels"), column("Austria")], tree)
    assert set(found.finest) == {"Graz", "Linz", "Wels"}
    assert held(found, "Upper") == ["Linz", "Wels"]
    assert held(found, "Austria") == list(found.finest)


def test_no_label_is_no_row():
    found = finest_levels("age", [column("31", "35")])
    assert found.of([]).shape == (0, 2)
    assert found.of([]).dtype == bool
