"""l-diversity of a plan against the definition, class by class."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import files, quiet
from plans import FEW, collected, on_engines, opened
from sdckit.cells.plans.lazy_diversity import diversity_columns
from sdckit.cells.plans.lazy_tabulate import plan_keys
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.errors import DataError

KINDS = ("distinct", "entropy", "recursive")


def diverse(frame, keys, name="s", kinds=KINDS, c=2.0):
    """The columns that are added, with the number of homogeneous cells."""
    with quiet():
        plan = plan_keys(frame, resolve_roles(keys=keys, missing="category"))[0]
    found, homogeneous = diversity_columns(plan.extend(frame), plan, name, kinds, c)
    return collected(found), homogeneous


def expected_of(rows, values, c):
    groups = brute.classes(rows, values, (False,) * len(rows[0]))
    homogeneous = {
        row for row, group in zip(rows, groups, strict=True) if len(group) > 1 and len(set(group)) == 1
    }
    return [brute.diversity(group, c) for group in groups], len(homogeneous)


@on_engines
@FEW
@given(file=files(wide=False, max_keys=2), c=st.sampled_from([0.5, 1.0, 1.5, 3.0]), data=st.data())
def test_the_definition(plan, file, c, data):
    n = len(file.rows)
    rest = data.draw(st.lists(st.sampled_from(["u", "v", "w", "", None]), min_size=n - 1, max_size=n - 1))
    values = ["u", *rest]
    found, homogeneous = diverse(opened(plan, file.frame(s=values)), file.keys, c=c)
    expected, cells = expected_of(file.rows, values, c)
    assert homogeneous == cells
    for kind, column in zip(KINDS, zip(*expected, strict=True), strict=True):
        assert found[f"sdckit__{kind}_s"].to_list() == pytest.approx(column, rel=1e-12), kind


CLASSES = {
    "k": ["a"] * 6 + ["b"] * 3 + ["c"] * 2 + [None] * 2,
    "s": [1, 1, 1, 2, 2, 3, 4, 4, 4, None, None, 5, None],
}


@on_engines
@pytest.mark.parametrize(("c", "recursive"), [(1.0, (1, 0)), (1.1, (2, 1)), (2.0, (2, 1)), (3.1, (3, 1))])
def test_by_hand(plan, c, recursive):
    # counts 3, 2, 1: c = 1 holds for l = 1 (3 < 6), not 2 (3 < 3); 3.1 holds for 3 (3 < 3.1). One value: 3 < 3 c
    found, homogeneous = diverse(opened(plan, CLASSES), ["k"], c=c)
    assert found["sdckit__distinct_s"].to_list() == [3] * 6 + [1] * 3 + [1] * 2 + [2] * 2
    assert found["sdckit__recursive_s"].to_list()[:9] == [recursive[0]] * 6 + [recursive[1]] * 3
    assert found["sdckit__recursive_s"].to_list()[9:11] == [1, 1]  # missing ones only
    effective = math.exp(-(1 / 2 * math.log(1 / 2) + 1 / 3 * math.log(1 / 3) + 1 / 6 * math.log(1 / 6)))
    assert found["sdckit__entropy_s"].to_list() == pytest.approx([effective] * 6 + [1.0] * 5 + [2.0] * 2)
    assert homogeneous == 2
    assert found["sdckit__distinct_s"].dtype == found["sdckit__recursive_s"].dtype == pl.Int64


@on_engines
def test_only_the_kinds_asked_for_and_nothing_left_over(plan):
    frame = opened(plan, CLASSES)
    before = diverse(frame, ["k"], kinds=("distinct",))[0].columns
    assert before == ["k", "s", "row", "sdckit__key0", "sdckit__pattern", "sdckit__distinct_s"]
    both = diverse(frame, ["k"], kinds=("recursive", "entropy"))[0].columns
    assert set(both) == {*before, "sdckit__entropy_s", "sdckit__recursive_s"}


@on_engines
def test_a_value_that_is_missing_or_not_a_number_is_one_more_value(plan):
    values = pl.Series([0.0, None, float("nan"), 0.0])
    found, homogeneous = diverse(opened(plan, pl.DataFrame({"k": ["a"] * 4, "s": values})), ["k"])
    assert found["sdckit__distinct_s"].to_list() == [2] * 4
    assert homogeneous == 0


@on_engines
def test_a_single_record_tells_of_itself_only(plan):
    assert diverse(opened(plan, {"k": ["a", "b", "b"], "s": [1, 1, 2]}), ["k"])[1] == 0


@on_engines
def test_a_sensitive_variable_without_any_value(plan):
    columns = pl.DataFrame({"k": ["a", "b"], "s": pl.Series([None, None], dtype=pl.String)})
    with pytest.raises(DataError, match="sensitive variable 's' has no value in any record; leave it out"):
        diverse(opened(plan, columns), ["k"])
    with pytest.raises(DataError, match="column 's' holds List"):
        diverse(opened(plan, {"k": ["a", "b"], "s": [[1], [2]]}), ["k"])
