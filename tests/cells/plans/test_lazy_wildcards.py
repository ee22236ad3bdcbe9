"""Missing keys as wildcards in a plan, against every pair of records compared."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
from hypothesis import assume, given, strategies as st

import brute
from draw import ALPHAS, files
from plans import FEW, collected, on_engines, opened, polars_plan
from sdckit.cells.plans import lazy_wildcards
from sdckit.cells.plans.lazy_tabulate import PATTERN, KeyPlan
from sdckit.cells.plans.lazy_wildcards import Filled, match_wildcards, type_name
from sdckit.errors import DataError


def keyed(frame, names, rules):
    """The keys of a plan with what is known of their missing values, and the plan extended by them."""
    schema = frame.collect_schema()
    rows = collected(frame)
    gone = [rows[name].null_count() > 0 for name in names]
    keys = tuple(
        Filled.of(name, j, schema[name]).with_missing(gone[j], wild=rules[j] == "wildcard" and gone[j])
        for j, name in enumerate(names)
    )
    return keys, KeyPlan(keys).extend(frame)


def matched(frame, names, rules, *, alpha=1.0, weight="w"):
    keys, extended = keyed(frame, names, rules)
    return collected(
        match_wildcards(
            extended,
            keys,
            PATTERN,
            weight=weight,
            alpha=alpha,
            frequency="count",
            strict="strict",
            population="people",
        )
    )


@on_engines
@FEW
@given(file=files(min_keys=2, max_rows=16), alpha=st.sampled_from(ALPHAS))
def test_every_pair_compared(plan, file, alpha):
    assume(
        any(
            None in column
            for column, free in zip(zip(*file.rows, strict=True), file.wild, strict=True)
            if free
        )
    )
    found = matched(opened(plan, file.frame()), file.keys, file.rules, alpha=alpha)
    f, big_f = brute.frequencies(file.rows, file.weights, file.wild, alpha)
    assert found["row"].to_list() == list(range(len(file.rows)))
    assert found["count"].to_list() == pytest.approx(f, rel=1e-12)
    assert found["people"].to_list() == pytest.approx(big_f, rel=1e-12)
    assert found["strict"].to_list() == brute.frequencies(file.rows, file.weights, file.wild, 0)[0]
    assert found["count"].dtype == (pl.Int64 if alpha == 1 else pl.Float64)


MIXED = {
    "t": ["", None, "", "x", None, "x"],
    "n": [0, 0, None, None, 1, 1],
    "b": [False, False, False, None, True, None],
    "w": [1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
}


@on_engines
@pytest.mark.parametrize(
    "rules",
    [("wildcard",) * 3, ("wildcard", "category", "wildcard"), ("category", "wildcard", "category")],
)
@pytest.mark.parametrize("alpha", [1.0, 0.25])
def test_the_value_that_fills_a_gap_is_a_value_of_its_own(plan, rules, alpha):
    frame = opened(plan, MIXED)
    rows = list(zip(MIXED["t"], MIXED["n"], MIXED["b"], strict=True))
    wild = [rule == "wildcard" for rule in rules]
    f, big_f = brute.frequencies(rows, MIXED["w"], wild, alpha)
    found = matched(frame, ["t", "n", "b"], rules, alpha=alpha)
    assert found["count"].to_list() == pytest.approx(f, rel=1e-12)
    assert found["people"].to_list() == pytest.approx(big_f, rel=1e-12)


@on_engines
def test_without_weights_there_is_no_population(plan):
    found = matched(opened(plan, MIXED), ["t", "n"], ("wildcard",) * 2, weight=None)
    rows = list(zip(MIXED["t"], MIXED["n"], strict=True))
    assert found["count"].to_list() == brute.frequencies(rows, [1] * 6, (True, True), 1.0)[0]
    assert "people" not in found.columns
    assert not [name for name in found.columns if name.startswith("sdckit__c")]


@on_engines
def test_more_patterns_than_a_plan_takes(plan, monkeypatch):
    frame = opened(plan, {**MIXED, "t": ["x", None, "x", None, "x", None]})
    keys = ["t", "n"]  # four patterns
    monkeypatch.setattr(lazy_wildcards, "MAX_PATTERNS", 4)
    matched(frame, keys, ("wildcard",) * 2)
    monkeypatch.setattr(lazy_wildcards, "MAX_PATTERNS", 3)
    with pytest.raises(DataError, match="4 different patterns of missing values, and a plan takes 3"):
        matched(frame, keys, ("wildcard",) * 2)
    matched(frame, keys, ("wildcard", "category"))  # patterns of categories do not count


def facts(plan, values, dtype):
    frame = opened(plan, pl.DataFrame({"k": pl.Series(values, dtype=dtype)}))
    key = Filled.of("k", 3, frame.collect_schema()["k"])
    shown = collected(
        frame.with_columns(key.filled.alias(key.column), key.absent.alias("gone"), key.present.alias("known"))
    )
    return key, shown


@on_engines
@pytest.mark.parametrize(
    ("values", "dtype", "filled"),
    [
        ([1, None, 0], pl.Int32, [1, 0, 0]),
        ([1.5, None, float("nan")], pl.Float64, [1.5, 0.0, 0.0]),
        ([True, None, False], pl.Boolean, [True, False, False]),
        (["x", None, ""], pl.String, ["x", "", ""]),
        (
            [dt.date(2020, 2, 29), None, dt.date(1970, 1, 1)],
            pl.Date,
            [dt.date(2020, 2, 29)] + [dt.date(1970, 1, 1)] * 2,
        ),
    ],
)
def test_a_key_filled(plan, values, dtype, filled):
    key, shown = facts(plan, values, dtype)
    assert shown["sdckit__key3"].to_list() == filled
    missing = [value is None or str(value) == "nan" for value in values]
    assert shown["gone"].to_list() == missing
    assert shown["known"].is_null().to_list() == missing
    assert key.numeric == (dtype in {pl.Int32, pl.Float64})
    assert key.is_float == (dtype == pl.Float64)
    assert not key.as_text


@on_engines
def test_a_complete_key_is_left_as_it_is(plan):
    frame = opened(plan, {"k": ["x", "", "y"]})
    key = Filled.of("k", 0, frame.collect_schema()["k"]).with_missing(False, wild=False)
    assert (key.has_missing, key.wild) == (False, False)
    assert collected(frame.with_columns(key.filled.alias("out")))["out"].to_list() == ["x", "", "y"]


@on_engines
def test_lists_and_structures_are_no_keys(plan):
    for values in ([[1], [2]], [{"q": 1}, {"q": 2}]):
        schema = opened(plan, {"k": values}).collect_schema()
        with pytest.raises(
            DataError, match=r"column 'k' holds (List|Struct): a variable needs one plain value"
        ):
            Filled.of("k", 0, schema["k"])


def test_the_name_of_a_type_tells_no_value_of_it():
    kind = pl.Enum(["secret", "other"])
    schema = opened(polars_plan, pl.DataFrame({"e": pl.Series(["secret"], dtype=kind)})).collect_schema()
    assert "secret" in str(schema["e"])
    assert type_name(schema["e"]) == "Enum"
    with pytest.raises(DataError, match="holds Struct:"):
        Filled.of("s", 0, opened(polars_plan, pl.DataFrame({"s": [{"q": 1}]})).collect_schema()["s"])
