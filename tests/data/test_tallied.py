"""Functions of frames do the same with the distinct rows of a file as with its records."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit.data.frames import open_frame
from sdckit.data.tallied import Records, Tallied, open_records
from sdckit.data.telling import told_by
from sdckit.errors import DataError

CALLS: list[tuple[Any, dict[str, Any]]] = [
    (sdc.recode, {"column": "x", "bands": [0, 5, 10, None]}),
    (sdc.recode, {"column": "x", "bands": [0, 5, 10], "outside": "missing"}),
    (sdc.recode, {"column": "x", "bands": 3}),
    (sdc.recode, {"column": "x", "bands": 3, "how": "equal_frequency"}),
    (sdc.recode, {"column": "g", "groups": {"ab": ["a", "b"]}, "outside": "keep"}),
    (sdc.recode, {"column": "g", "groups": {"ab": ["a", "b", None]}, "outside": "missing"}),
    (sdc.recode, {"column": "g", "hierarchy": {"a": ["v"], "b": ["v"], "c": ["w"]}}),
    (sdc.round_to, {"column": "x", "base": 4}),
    (sdc.top_bottom_code, {"column": "x", "top": 9, "bottom": 2}),
    (sdc.top_bottom_code, {"column": "x", "top": 6, "to": "mean"}),
    (sdc.top_bottom_code, {"column": "x", "top": {"a": 3, "b": 9, "c": None, None: 5}, "by": "g"}),
    (sdc.new_ids, {"column": "x", "key": bytes(16)}),
    (sdc.new_ids, {"column": "x", "household": "g", "key": bytes(16)}),
]


@st.composite
def rows(draw: st.DrawFn) -> tuple[pl.DataFrame, np.ndarray]:
    """Distinct rows, missing values among them, and how many records have each."""
    pairs = draw(
        st.lists(
            st.tuples(st.sampled_from([None, *range(15)]), st.sampled_from([None, "a", "b", "c"])),
            min_size=2, max_size=20, unique=True,
        )
    )  # fmt: skip
    pairs += [pair for pair in [(0, "a"), (14, "b")] if pair not in pairs]
    counts = draw(st.lists(st.integers(1, 6), min_size=len(pairs), max_size=len(pairs)))
    frame = pl.DataFrame(pairs, schema={"x": pl.Int64, "g": pl.String}, orient="row")
    return frame, np.array(counts, np.int64)


def told(function: Any, data: Any, call: dict[str, Any]) -> tuple[Any, ...]:
    """What was changed, and the values; or the error."""
    try:
        made, change = function(data, **call)
    except sdc.SdcError as error:
        return type(error), str(error)
    values = {name: [None if v is None else str(v) for v in made[name].to_list()] for name in made.columns}
    return change.n, change.changed, change.parameters, change.secret, change.notes, values


@pytest.mark.parametrize(("function", "call"), CALLS)
@given(found=rows())
def test_rows_that_stand_for_records(function: Any, call: dict[str, Any], found: Any) -> None:
    frame, counts = found
    every = np.repeat(np.arange(len(counts)), counts)
    here, there = told(function, frame[every], call), told(function, Tallied(frame, counts), call)
    if len(here) == 2:
        assert there == here
        return
    *_, values = there
    assert here[:5] == there[:5]
    assert here[5] == {name: [one[i] for i in every] for name, one in values.items()}


@given(found=rows())
def test_what_a_column_tells_is_counted_in_records(found: Any) -> None:
    frame, counts = found
    every = np.repeat(np.arange(len(counts)), counts)
    expected = told_by(open_frame(frame[every]), "x", ["g"])
    assert told_by(Tallied(frame, counts), "x", ["g"]) == pytest.approx(expected, rel=1e-12)


@given(found=rows(), at=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_quantiles_are_those_of_the_records(found: Any, at: list[float]) -> None:
    frame, counts = found
    values = frame["x"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    every, known = np.repeat(values, counts), np.array(at)
    expected = np.quantile(every[~np.isnan(every)], known)
    assert Records(len(values), counts).quantiles(values, known) == pytest.approx(expected, rel=1e-12)


def test_records_are_counted() -> None:
    plain, tallied = Records(3, None), Records(3, np.array([5, 1, 7]))
    group, some = np.array([0, 1, 0]), np.array([True, True, False])
    assert (plain.n, tallied.n) == (3, 13)
    assert plain.by(group, 2, some).tolist() == [1, 1]
    assert tallied.by(group, 2, some).tolist() == [5, 1]
    assert tallied.times(np.array([2.0, 3.0]), some).tolist() == [10.0, 3.0]


def test_methods_that_look_at_every_record_take_no_such_rows() -> None:
    tallied = Tallied(pl.DataFrame({"x": [1, 2], "g": ["a", "b"]}), np.array([3, 4]))
    with pytest.raises(DataError, match="Tallied is not a data frame"):
        sdc.pram(tallied, columns=["g"])
    for more in ({"hide_implied": True}, {"household": "x"}, {"together": [["g", "x"]]}):
        with pytest.raises(DataError, match="stand for several records"):
            sdc.local_suppression(tallied, keys=["g"], k=2, **more)
    assert open_records(tallied, {"column": ["x"]})[1].n == 7
    with pytest.raises(sdc.ColumnError, match="no column 'y'"):
        open_records(tallied, {"column": ["y"]})
