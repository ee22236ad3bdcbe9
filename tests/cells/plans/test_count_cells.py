"""From a plan to its cells: what is refused, warned of, and counted."""

from __future__ import annotations

import datetime as dt
import math
import warnings

import mpmath
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

from draw import quiet
from plans import collected, on_engines, opened, polars_plan
from sdckit import operating_system
from sdckit.cells.as_cells import tabulate_lazy
from sdckit.cells.plans import count_cells as counting
from sdckit.cells.plans.count_cells import (
    MAX_KEYS,
    PERSONS,
    SIZE,
    WEIGHT,
    KeyColumn,
    aggregate,
    count,
    count_by,
    expm1_negative,
    group_keys,
    most_cells,
    type_name,
)
from sdckit.cells.tabulate import MANY_LEVELS
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.errors import ColumnError, DataError, SdcWarning

GOOD = {"a": [1, 1, 2, 2], "b": ["x", "y", "x", "x"]}


def planned(plan, more=None, **options):
    roles = resolve_roles(**{"keys": ["a", "b"], **options})
    return tabulate_lazy(opened(plan, pl.DataFrame({**GOOD, **(more or {})})), roles)


def rows(frame, *names):
    found = pl.from_arrow(frame.to_arrow()).select(*names)
    return sorted(found.rows(), key=str)


# --- what is counted --------------------------------------------------------------------------------


@on_engines
def test_nothing_odd_warns_of_nothing(plan):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = planned(plan)
    assert (found.n, found.n_missing, found.n_cells) == (4, (0, 0), 3)


@on_engines
def test_missing_values_are_counted_and_are_no_level(plan):
    gaps = {"a": [1.5, None, float("nan"), 1.5], "b": ["x", None, "", "x"]}
    with quiet():
        found = planned(plan, gaps, missing={"b": "category"})
    assert (found.n, found.n_missing, found.n_cells) == (4, (2, 1), 3)
    assert found.wild == [True, False]
    assert found.level_counts("a")[1] == 1


@on_engines
@pytest.mark.parametrize("weight", [None, "w"])
def test_a_missing_value_is_a_value_of_its_own(plan, weight):
    """None is filled with 0 or "": those are values, too."""
    columns = {"a": [0, None, 0, None, 0], "b": ["", "", None, "", ""], "w": [1.0, 2.0, 4.0, 8.0, 16.0]}
    found = group_keys(opened(plan, columns), resolve_roles(keys=["a", "b"], weight=weight)).bring()
    whole = [(0, "", 2, 17.0), (None, "", 2, 10.0), (0, None, 1, 4.0)]
    names = ["a", "b", SIZE, WEIGHT][: 4 if weight else 3]
    assert set(found.frame.columns) == {*names}
    assert rows(found.frame, *names) == sorted((row[: len(names)] for row in whole), key=str)
    assert (found.n, [key.name for key in found.keys]) == (5, ["a", "b"])


@on_engines
def test_persons_and_their_weights_count_once(plan):
    columns = {"a": ["x", "x", "x", "y"], "p": [1, 1, 2, 1], "w": [3.0, 3.0, 5.0, 3.0]}
    found = group_keys(opened(plan, columns), resolve_roles(keys=["a"], person="p", weight="w")).bring()
    assert rows(found.frame, "a", SIZE, PERSONS, WEIGHT) == [("x", 3, 2, 8.0), ("y", 1, 1, 3.0)]


@on_engines
def test_by_other_columns(plan):
    columns = {"a": ["x", "x", None, "y"], "b": [1.0, float("nan"), None, 1.0]}
    found = count_by(opened(plan, columns), ["a", "b"], 4)
    assert rows(found, "a", "b", SIZE) == sorted(
        [("x", 1.0, 1), ("x", None, 1), (None, None, 1), ("y", 1.0, 1)], key=str
    )


@on_engines
def test_more_cells_than_fit_here(plan, monkeypatch):
    frame = opened(plan, pl.DataFrame(GOOD))
    grouped = group_keys(frame, resolve_roles(keys=["a", "b"]))
    assert len(grouped.bring().frame) == len(grouped.bring_if_few().frame) == 3
    monkeypatch.setattr(counting, "most_cells", lambda n_keys, *_: 3)
    assert (len(grouped.bring_if_few().frame), len(count_by(frame, ["a", "b"], 4))) == (3, 3)
    monkeypatch.setattr(counting, "most_cells", lambda n_keys, *_: 2)
    assert grouped.bring_if_few() is None
    with pytest.raises(DataError, match=r"these 2 columns have 3 different combinations, .* takes 2; take fewer"):
        count_by(frame, ["a", "b"], 4)


@on_engines
@pytest.mark.parametrize(("most", "grouped"), [(3, 0), (200, 1)])
def test_records_are_not_grouped_where_some_of_them_are_too_many(plan, monkeypatch, most, grouped):
    """Of 1,000 records with 300 combinations the first six have more than three; four hundred may have too few."""
    asked = []
    monkeypatch.setattr(counting, "most_cells", lambda n_keys, *_: most)
    monkeypatch.setattr(counting, "_fetched_if_few", lambda *given: asked.append(given))
    frame = opened(plan, {"a": [row % 300 if row > 500 else row % 5 for row in range(1000)]})
    with pytest.raises(DataError, match="have 300 different combinations"):
        count_by(frame, ["a"], 1000)
    assert len(asked) == grouped


def test_the_limit_goes_by_the_memory_and_the_keys(monkeypatch, tmp_path):
    assert 0 < most_cells(20) <= most_cells(2) <= 100_000_000
    told = tmp_path / "meminfo"
    told.write_text("MemTotal: 24000000 kB\nMemFree: 100 kB\nMemAvailable:    4000000 kB\n")
    monkeypatch.setattr(operating_system, "MEMORY", told)
    assert most_cells(7) == 4_000_000 * 1024 // 4 // (24 * 9)
    monkeypatch.setattr(operating_system, "MEMORY", tmp_path / "nowhere")  # as on other systems
    pages = {"SC_AVPHYS_PAGES": 1_000_000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(operating_system.os, "sysconf", pages.__getitem__)
    assert most_cells(7) == 1_000_000 * 4096 // 4 // (24 * 9)

    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(operating_system.os, "sysconf", unknown)
    assert most_cells(7) == 4 * 10**9 // 4 // (24 * 9)


# --- what is refused --------------------------------------------------------------------------------


@on_engines
def test_no_records(plan):
    frame = opened(plan, pl.DataFrame({"a": pl.Series([], dtype=pl.String)}))
    with pytest.raises(DataError, match="the data has no records"):
        group_keys(frame, resolve_roles(keys=["a"]))


@on_engines
@pytest.mark.parametrize("values", [[None] * 4, [float("nan")] * 4])
def test_a_key_without_any_value(plan, values):
    with pytest.raises(DataError, match="key 'c' has no value in any record; leave it out"):
        planned(plan, {"c": pl.Series(values, dtype=pl.Float64)}, keys=["a", "c"])


@on_engines
def test_missing_values_that_are_errors(plan):
    gaps = {"b": ["x", None, "y", None]}
    for rule in ("error", {"b": "error"}):
        with pytest.raises(DataError, match="key 'b' is missing in 2 records, and missing='error'"):
            planned(plan, gaps, missing=rule)
    assert planned(plan, gaps, missing={"a": "error"}).n_missing == (0, 2)


@on_engines
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1.0, None, float("nan"), 2.0], "weight 'w': 2 missing; every record"),
        ([0.0, -1.0, 1.0, 2.0], "weight 'w': 2 zero or negative; every record"),
        ([1.0, 1.0, 1.0, float("inf")], "weight 'w': 1 infinite; every record"),
        ([None, -1.0, float("inf"), 1.0], "weight 'w': 1 missing, 1 zero or negative, 1 infinite"),
        (["1", "2", "3", "4"], "weight 'w' is String, not numbers; convert it first"),
    ],
)
def test_weights_that_cannot_be(plan, weight, words):
    with pytest.raises(DataError, match=words):
        planned(plan, {"w": weight}, weight="w")


def test_the_levels_of_a_weight_that_is_none_are_not_told():
    kind = pl.Enum(["secret", "other"])
    with pytest.raises(DataError, match="weight 'w' is Enum, not numbers") as caught:
        planned(polars_plan, {"w": pl.Series(["other"] * 4, dtype=kind)}, weight="w")
    assert "secret" not in str(caught.value)


@on_engines
def test_persons_that_cannot_be(plan):
    for who in ([None, 1, None, 2], [float("nan"), 1.0, None, 2.0]):
        with pytest.raises(DataError, match="person 'p' is missing in 2 records; give every record"):
            planned(plan, {"p": who}, person="p")
    with pytest.raises(DataError, match="the weight is not constant within a person in 2 records"):
        planned(plan, {"p": [1, 1, 2, 2], "w": [5.0, 6.0, 7.0, 7.0]}, person="p", weight="w")
    gaps = {"p": [1, 1, 2, 2], "b": ["x", None, "x", "y"]}
    with pytest.raises(DataError, match=r"key 'b' has missing values: with person= .* missing='category'"):
        planned(plan, gaps, person="p")
    assert planned(plan, gaps, person="p", missing="category").n_missing == (0, 1)


@on_engines
def test_names_that_are_kept_for_the_plan(plan):
    for name in ("sdckit__size", "SDCKIT__own"):
        with pytest.raises(ColumnError, match=f"column '{name}' begins with 'sdckit__'.*rename it"):
            planned(plan, {name: [1, 2, 3, 4]})
    with pytest.raises(ColumnError, match="keys: no column 'aa' in the data"):
        planned(plan, keys=["aa", "b"])


def test_too_many_keys():
    columns = {f"k{j}": [0, 0, 1, None] for j in range(MAX_KEYS + 1)}
    with pytest.raises(DataError, match=f"a plan takes at most {MAX_KEYS} keys; collect the data first"):
        planned(polars_plan, columns, keys=list(columns))
    most = list(columns)[:MAX_KEYS]
    with quiet():
        assert planned(polars_plan, columns, keys=most, missing="category").n_cells == 3


# --- what is warned of ------------------------------------------------------------------------------


@on_engines
@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([7, 7, 7, 7], "key 'c' has the same value in every record"),
        ([4, 3, 2, 1], "key 'c' is different for every record: is it an identifier"),
        (["d", "c", "b", "a"], "key 'c' is different for every record"),
    ],
)
def test_keys_that_say_little(plan, column, words):
    with pytest.warns(SdcWarning, match=words):
        planned(plan, {"c": column}, keys=["a", "c"])


@on_engines
@pytest.mark.parametrize("column", [[7, 7, 7, None], [4, 3, 2, None]])
def test_keys_that_only_seem_to(plan, column):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        planned(plan, {"c": column}, keys=["a", "c"])


def test_one_record_is_neither_constant_nor_unique():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tabulate_lazy(opened(polars_plan, {"a": [1]}), resolve_roles(keys=["a"])).n == 1


@on_engines
def test_a_key_with_thousands_of_values(plan):
    numbers = list(range(MANY_LEVELS)) * 2
    for values in (numbers, [f"t{number}" for number in numbers]):
        with pytest.warns(SdcWarning, match=f"key 'a' has {MANY_LEVELS} different values: recode it"):
            tabulate_lazy(opened(plan, {"a": values}), resolve_roles(keys=["a"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tabulate_lazy(opened(plan, {"a": [max(number, 1) for number in numbers]}), resolve_roles(keys=["a"]))


# How the keys of a plan are grouped, brought here and matched.


def facts(plan, values, dtype):
    frame = opened(plan, pl.DataFrame({"k": pl.Series(values, dtype=dtype)}))
    key = KeyColumn.of("k", 3, frame.collect_schema()["k"])
    shown = collected(
        frame.with_columns(key.value.alias(key.column), key.absent.alias("gone"), key.present.alias("known"))
    )
    return key, shown


@on_engines
@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, None, 0], pl.Int32),
        ([1.5, None, float("nan")], pl.Float64),
        ([True, None, False], pl.Boolean),
        (["x", None, ""], pl.String),
        ([dt.date(2020, 2, 29), None, dt.date(1970, 1, 1)], pl.Date),
    ],
)
def test_a_value_and_what_is_missing(plan, values, dtype):
    key, shown = facts(plan, values, dtype)
    assert shown["sdckit__key3"].to_list() == [None if str(value) == "nan" else value for value in values]
    missing = [value is None or str(value) == "nan" for value in values]
    assert shown["gone"].to_list() == missing
    assert shown["known"].is_null().to_list() == missing
    assert key.is_float == (dtype == pl.Float64)
    assert not key.as_text


def test_categories_are_grouped_as_they_are_and_brought_as_text():
    key, shown = facts(polars_plan, ["x", None, "y"], pl.Categorical)
    assert key.as_text
    assert shown["sdckit__key3"].dtype == pl.Categorical
    assert (shown["known"].dtype, shown["known"].to_list()) == (pl.String, ["x", None, "y"])


@on_engines
def test_lists_and_structures_are_no_keys(plan):
    for values in ([[1], [2]], [{"q": 1}, {"q": 2}]):
        schema = opened(plan, {"k": values}).collect_schema()
        with pytest.raises(DataError, match=r"column 'k' holds (List|Struct): a variable needs one plain value"):
            KeyColumn.of("k", 0, schema["k"])


def test_the_name_of_a_type_tells_no_value_of_it():
    kind = pl.Enum(["secret", "other"])
    schema = opened(polars_plan, pl.DataFrame({"e": pl.Series(["secret"], dtype=kind)})).collect_schema()
    assert "secret" in str(schema["e"])
    assert type_name(schema["e"]) == "Enum"
    with pytest.raises(DataError, match="holds Struct:"):
        KeyColumn.of("s", 0, opened(polars_plan, pl.DataFrame({"s": [{"q": 1}]})).collect_schema()["s"])


# Aggregates in one pass, and an exponential to the last digits against 50 digits.


@on_engines
def test_one_pass_of_aggregates(plan):
    nothing = pl.Series([None] * 3, dtype=pl.Float64)
    frame = opened(plan, pl.DataFrame({"v": [1.0, None, 3.0], "none": nothing}))
    total, few, empty = aggregate(frame, nw.col("v").sum(), count(nw.col("v").is_null()), nw.col("none").max())
    assert (total, few) == (4.0, 1.0)
    assert math.isnan(empty)


def compared(plan, inputs, expression, definition):
    """The largest relative error of an expression of the engine, in units of one."""
    frame = opened(plan, {"x": inputs}).with_columns(expression(nw.col("x")).alias("y"))
    found = collected(frame)["y"].to_list()
    with mpmath.workdps(50):
        exact = [definition(mpmath.mpf(x)) for x in inputs]
        return max(float(abs((y - e) / e)) for y, e in zip(found, exact, strict=True))


LOGS = -np.unique(np.concatenate([np.geomspace(1e-12, 700, 400), np.linspace(0.45, 0.55, 41)]))


@on_engines
def test_one_minus_exp(plan):
    assert (LOGS.min(), LOGS.max()) == pytest.approx((-700, -1e-12))
    assert compared(plan, LOGS, expm1_negative, lambda s: 1 - mpmath.exp(s)) < 1e-14


@on_engines
def test_at_the_ends(plan):
    frame = opened(plan, pl.DataFrame({"s": [0.0, -5000.0, -math.inf]}))
    assert collected(frame.with_columns(expm1_negative(nw.col("s")).alias("exp")))["exp"].to_list() == [0, 1, 1]
