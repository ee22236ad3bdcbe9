"""Points of original and releases: who is who, and what is refused."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import Scenario, known_points, new_ids
from sdckit.errors import ColumnError, DataError, ScenarioError

PANEL = pl.DataFrame({"who": [1, 1, 2, 2], "t": [1, 2, 1, 2], "a": ["x", "y", "x", "x"], "sex": ["f", "f", "m", "m"]})
CALL = {"person": "who", "time": "t", "keys": ["a"]}


def gap(name, row=1):
    return PANEL.with_columns(pl.when(pl.int_range(4) != row).then(pl.col(name)).alias(name))


@pytest.mark.parametrize(
    ("frame", "given", "error", "message"),
    [
        (gap("who"), {}, DataError, r"person 'who' is missing in 1 record \(row 2\)"),
        (gap("t"), {}, DataError, "time 't' is missing in 1 record "),
        (gap("a"), {"missing": "error"}, DataError, "'a' has missing values, and missing='error'"),
        (gap("t"), {"tolerance": {"t": 1}}, DataError, "value 't' is missing in 1 record "),
        (PANEL, {"tolerance": {"sex": 1}}, ColumnError, "tolerance: no column 'sex' in the keys and the time"),
        (PANEL, {"tolerance": {"t": -1}}, DataError, "tolerance is a distance"),
        (PANEL, {"also_known": ["a"], "keys": ["sex"]}, DataError, "also_known 'a' varies within a person"),
        (PANEL, {"keys": ["a", "t"]}, ColumnError, "time: 't' is a key, too"),
        (PANEL, {"person": "a"}, ColumnError, "person: 'a' is a key, too"),
        (PANEL, {"person": "id"}, ColumnError, "person: no column 'id'"),
        (PANEL, {"person": None}, ScenarioError, "say whose row each is: person="),
        (PANEL, {"points": 0}, DataError, "points are how many rows are known"),
        (PANEL, {"children": [PANEL, PANEL]}, DataError, "children= holds 2 files for 1"),
        (PANEL.with_columns(a=pl.lit(None, pl.String)), {}, DataError, "'a' has no value in any record"),
    ],
)  # fmt: skip
def test_refused(frame, given, error, message):
    with pytest.raises(error, match=message):
        known_points(frame, **{**CALL, **given})


def test_roles_of_a_scenario():
    scenario = Scenario(keys=["a", "sex"], person="who")
    result = known_points(PANEL, time="t", scenario=scenario)
    assert repr(result.curve) == repr(known_points(PANEL, **{**CALL, "keys": ["a", "sex"]}).curve)


def test_who_is_who_by_rows_by_ids_and_not_at_all():
    whole = known_points(PANEL, PANEL, **CALL, points=2)
    assert (whole.alone_right, whole.success, whole.lost) == (1, 1, 0)
    renamed = new_ids(PANEL, column="who").data
    assert known_points(PANEL, renamed, **CALL, points=2).alone_right == 1
    assert known_points(PANEL, PANEL[[2, 3]], **CALL, points=2).lost == 0.5


def test_ids_that_are_new_in_every_block_find_nobody_across_blocks():
    blocks = PANEL.with_columns(who=pl.col("who") * 10 + pl.col("t"))
    one, two = known_points(PANEL.drop("sex"), blocks.drop("sex"), **CALL, points=(1, 2)).curve
    assert (one.lost, two.lost, two.alone) == (0, 1, 0)
    assert (one.alone_right, one.success) == (0.5, 0.75)
    _, followed = known_points(PANEL, blocks, **CALL, points=(1, 2)).curve  # by their sex
    assert (followed.lost, followed.alone) == (0, 1)


def test_rows_by_an_id():
    numbered = PANEL.with_row_index("row")
    shuffled = numbered[[3, 0, 2, 1]].with_columns(who=pl.col("who") + 7)
    assert known_points(numbered, shuffled, **CALL, points=2, id="row").alone_right == 1
    unlinked = known_points(numbered, shuffled[:3], **CALL, points=1)
    assert "is not known" in unlinked.notes["alone_right"]
    assert unlinked.success != unlinked.success  # undefined


def test_of_several_releases_all_must_be_linked():
    unknown = PANEL[:3].with_columns(who=pl.col("who") + 7)
    both = known_points(PANEL, [PANEL, unknown], **CALL, points=1, by="sex")
    assert both.success != both.success  # undefined
    assert both.by_group.columns == ["sex", "n", "alone", "expected", "below_k"]
