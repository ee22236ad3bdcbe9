"""Two files that stay on an engine are counted there, and give the figures of memory."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sdckit as sdc
from engines.comparing import quiet
from engines.conftest import plan  # noqa: F401 (a fixture)
from every_measure import KEYS, assert_close, changed, figures, options, people
from sdckit.catalogue import CATALOGUE, Measure
from sdckit.cells import pair as pair_room
from sdckit.cells.pair import count_pair, open_files
from sdckit.cells.plans import count_cells, lazy
from sdckit.cells.plans.pair_cells import count_differing
from sdckit.data.frames import open_frame
from sdckit.errors import DataError, SdcError

COUNTED = [row for row in CATALOGUE if row.files == "release" and row.of_plan == "cells"]
ID = {"row": "pid"}  # `row` is a column of some results
MATCHED: tuple[dict[str, Any], ...] = (
    {"known": ["sex"], "synthetic": ["region", "size"], "numeric": []},
    {"known": ["sex"], "synthetic": ["region", "size"], "numeric": ["size"], "width": 0.5},
    {"known": ["sex"], "synthetic": ["region"], "numeric": [], "missing": "wildcard"},
    {"scenario": sdc.Scenario(keys=KEYS)},
)


def test_what_is_counted() -> None:
    assert {row.name for row in COUNTED} == {
        "matching_risk", "few_matches", "identity_disclosure", "replicated_uniques",
        "correct_attribution_probability", "attribute_disclosure", "attribute_disclosure_table", "copied_records",
    }  # fmt: skip


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: row.name)
def test_figures_are_those_of_memory(row: Measure, plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    files, given = (people(1), changed()), options(row)
    measure = getattr(sdc, row.name)
    expected = quiet(measure, *files, **given)
    with monkeypatch.context() as patched:
        patched.setattr(lazy, "COLLECT_LIMIT", 0)  # no record comes here
        result = quiet(measure, *map(plan, files), **given)
        mixed = quiet(measure, files[0], plan(files[1]), **given) if "id" not in given else result
    assert result.pair.times is not None
    for found in (result, mixed):
        assert_close(figures(expected), figures(found), row.name)


@pytest.mark.parametrize("how", MATCHED, ids=["equal", "within", "wildcard", "scenario"])
def test_rows_that_belong_together(how: dict[str, Any], plan: Any) -> None:  # noqa: F811
    files = [frame.rename(ID) for frame in (people(1), changed().sample(fraction=1.0, shuffle=True, seed=1))]
    expected = quiet(sdc.matching_risk, *files, id="pid", **how)
    result = quiet(sdc.matching_risk, *map(plan, files), id="pid", **how)
    assert result.pair.times is not None
    assert_close(figures(expected), figures(result), "matching_risk")
    assert result.risk_counts() == expected.risk_counts()
    assert result.high_risk_counts(0.3) == expected.high_risk_counts(0.3)
    records = pl.DataFrame(pl.from_arrow(result.records))
    assert records.sort("pid").equals(expected.records.sort("pid"))
    assert len(result.high_risk(0.2)) == len(expected.high_risk(0.2))
    assert len(result.records_by_release) == len(expected.records_by_release)


def test_records_and_rows_are_brought_when_they_are_asked_for(plan: Any) -> None:  # noqa: F811
    files = [frame.rename(ID) for frame in (people(1), changed())]
    expected = sdc.replicated_uniques(*files, keys=KEYS, id="pid")
    result = sdc.replicated_uniques(*map(plan, files), keys=KEYS, id="pid")
    assert pl.DataFrame(pl.from_arrow(result.records)).sort("pid").equals(expected.records.sort("pid"))
    assert len(result.released_rows()) == len(expected.released_rows())
    caps = [
        quiet(sdc.correct_attribution_probability, *some, keys=KEYS, target="ill")
        for some in (files, [plan(frame) for frame in files])
    ]
    assert [counts.tolist() for counts in caps[0].cap_histogram([0, 0.4, 1])] == [
        counts.tolist() for counts in caps[1].cap_histogram([0, 0.4, 1])
    ]


@pytest.mark.parametrize("joined", [False, True], ids=["each by itself", "rows that belong together"])
def test_cells_of_fewer_columns_are_added_up_from_those_of_more(
    plan: Any,  # noqa: F811
    joined: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = [frame.rename(ID) for frame in (people(1), changed())]
    here, there = open_files(*files, id="pid"), open_files(*map(plan, files), id="pid")
    assert count_pair(there, {"keys": KEYS, "sensitive": ["ill", "home"]}, aligned=joined) is not None
    monkeypatch.setattr(pair_room, "count_file", None)  # nothing is counted again
    calls: list[tuple[Any, dict[str, Any]]] = [
        (sdc.identity_disclosure, {}),
        (sdc.correct_attribution_probability, {"target": "ill"}),
        (sdc.attribute_disclosure, {"target": "ill"}),
        (sdc.attribute_disclosure, {"target": "ill", "exclude_levels": ["no"]}),
        (sdc.attribute_disclosure, {"target": "ill", "numeric": ["size"]}),
        (sdc.attribute_disclosure_table, {"targets": ["ill", "home"]}),
        (sdc.attribute_disclosure_table, {"targets": ["ill"], "max_cell": 2}),
        (sdc.replicated_uniques, {}),
    ]
    for measure, given in calls:
        results = [quiet(measure, pair, keys=KEYS, **given) for pair in (here, there)]
        assert_close(*map(figures, results), f"{measure.__name__} {given}")
    flags = [pl.DataFrame(result.records)["replicated"].sort() for result in results]
    assert flags[0].equals(flags[1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (pl.when(pl.col("row") > 2).then(pl.col("row")), "the release: id 'row' is missing in 3 rows"),
        (pl.col("row").clip(0, 80), "the release: 9 rows repeat a value of id 'row'"),
        (pl.col("row") + 5, "the original: 5 values of id 'row' that another file has not"),
    ],
)
def test_an_id_names_each_row_once(change: pl.Expr, words: str, plan: Any) -> None:  # noqa: F811
    with pytest.raises(DataError, match=words):
        quiet(
            sdc.matching_risk, plan(people(1)), plan(changed().with_columns(row=change)), id="row", known=["sex"],
            synthetic=["region"],
        )  # fmt: skip


def test_rows_that_differ_are_counted_by_the_engine(plan: Any) -> None:  # noqa: F811
    before = pl.DataFrame({"pid": [1, 2, 3, 4], "x": [1, 2, None, 4], "y": [0.5, float("nan"), 1.0, 2.0]})
    after = pl.DataFrame({"pid": [4, 3, 2, 1], "x": [4, 3, 9, None], "y": [2.0, 7.0, 1.0, 0.5]})
    files = [open_frame(plan(frame)) for frame in (before, after)]
    assert count_differing(files, ["x", "y"], "pid", ("a", "b"), (4, 4)) == [1, 1]
    fewer = open_frame(plan(after.head(3)))
    with pytest.raises(DataError, match="a: 1 value of id 'pid' that another file has not"):
        count_differing([files[0], fewer], ["x"], "pid", ("a", "b"), (4, 3))


def test_large_integers_beside_floating_numbers_are_compared_exactly(plan: Any) -> None:  # noqa: F811
    large = 2**53
    before = pl.DataFrame({"pid": [1, 2, 3, 4], "x": [large + 1, large, -large - 1, None], "y": [2**24 + 1, 2, 3, 4]})
    after = pl.DataFrame({"pid": [1, 2, 3, 4], "x": [float(large), float(large), -float(large), 4.0]})
    after = after.with_columns(pl.Series("y", [2**24, 2, 3, 4], dtype=pl.Float32))
    for two in ([before, after], [after, before]):
        files = [open_frame(plan(frame)) for frame in two]
        assert count_differing(files, ["x", "y"], "pid", ("a", "b"), (4, 4)) == [2, 1]


@pytest.mark.parametrize(
    ("kind", "whole"),
    [
        (pl.Int64, [2**63 - 1, -(2**63), 2**53, 7, 3, None]),
        (pl.UInt64, [2**64 - 1, 2**63, 2**63 + 1, 7, 3, None]),
    ],
)  # fmt: skip
def test_integers_at_the_end_of_their_type_are_compared_exactly(kind: Any, whole: list[Any], plan: Any) -> None:  # noqa: F811
    near = [float(value) if value is not None else 1.0 for value in whole[:4]] + [None, 1.0]
    before, after = pl.DataFrame({"x": pl.Series(whole, dtype=kind)}), pl.DataFrame({"x": near})
    differ = sum(a is not None and b is not None and a != b for a, b in zip(whole, near, strict=True))
    for two in ([before, after], [after, before]):
        files = [open_frame(plan(frame.with_row_index("pid"))) for frame in two]
        assert count_differing(files, ["x"], "pid", ("a", "b"), (6, 6)) == [differ]


def test_more_cells_than_fit_are_brought_as_records(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(count_cells, "most_cells", lambda *_: 3)
    files = people(1), changed()
    result = sdc.identity_disclosure(*map(plan, files), keys=KEYS)
    assert result.pair.times is None
    assert_close(figures(sdc.identity_disclosure(*files, keys=KEYS)), figures(result), "identity_disclosure")
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    parts = sdc.identity_disclosure(*map(plan, files), keys=KEYS)
    assert_close(figures(result), figures(parts), "identity_disclosure")
    by_sex = [sdc.identity_disclosure(*some, keys=KEYS, by="sex") for some in (files, map(plan, files))]
    here, there = (pl.DataFrame(result.by_group).sort("sex") for result in by_sex)
    assert_frame_equal(here, there, check_dtypes=False)
    with pytest.raises(DataError, match="too much from a plan"):
        sdc.identity_disclosure(*map(plan, files), keys=KEYS, interval="bootstrap", seed=1)


def test_a_pair_counted_before_has_the_control_file_given(plan: Any) -> None:  # noqa: F811
    files, control = (people(1), changed()), people(2)
    pairs = open_files(*files), open_files(*map(plan, files))
    for known in ({}, {"control": control}, {"control": control.head(50)}, {}):
        here, there = (figures(quiet(sdc.copied_records, pair, variables=KEYS, **known)) for pair in pairs)
        assert_close(here, there, "copied_records")


def test_ids_of_other_types_are_refused_as_in_memory(plan: Any) -> None:  # noqa: F811
    files = pl.DataFrame({"pid": [1, 2], "sex": ["f", "m"]}), pl.DataFrame({"pid": ["1", "02"], "sex": ["f", "f"]})
    errors = []
    for several in (files, map(plan, files)):
        with pytest.raises(SdcError) as caught:
            sdc.matching_risk(*several, known=["sex"], id="pid")
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]
    narrow = files[0].with_columns(pl.col("pid").cast(pl.Int16))
    assert sdc.matching_risk(plan(files[0]), plan(narrow), known=["sex"], id="pid").pair.times is not None


def test_an_original_in_memory_keeps_the_columns_counted(plan: Any) -> None:  # noqa: F811
    pair = open_files(people(1), plan(changed()))
    for targets in (["ill"], ["home"]):
        here = quiet(sdc.attribute_disclosure_table, people(1), changed(), keys=KEYS, targets=targets)
        there = quiet(sdc.attribute_disclosure_table, pair, keys=KEYS, targets=targets)
        assert_close(figures(here), figures(there), str(targets))


def test_a_release_without_records_is_refused(plan: Any) -> None:  # noqa: F811
    with pytest.raises(DataError, match="the release: the data has no records"):
        sdc.matching_risk(plan(people(1)), plan(changed().head(0)), known=["sex"], id="row")
