"""From a plan to keys that are safe to group by: what is refused, warned of, and the frequencies."""

from __future__ import annotations

import warnings

import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import ALPHAS, files, quiet
from plans import FEW, collected, on_engines, opened, polars_plan
from sdckit.cells.plans.lazy_tabulate import MAX_KEYS, PATTERN, plan_keys, with_frequencies
from sdckit.cells.tabulate import MANY_LEVELS
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.errors import ColumnError, DataError, SdcWarning

GOOD = {"a": [1, 1, 2, 2], "b": ["x", "y", "x", "x"]}


def planned(plan, more=None, **options):
    roles = resolve_roles(**{"keys": ["a", "b"], **options})
    return plan_keys(opened(plan, pl.DataFrame({**GOOD, **(more or {})})), roles)


def frequencies(frame, **options):
    """The figures by name, record by record."""
    roles = resolve_roles(**options)
    with quiet():
        plan = plan_keys(frame, roles)[0]
    extended, columns = with_frequencies(plan.extend(frame), plan, roles)
    found = collected(extended)
    return {name: found[place].to_list() for name, place in columns.items()}, found.columns


# --- what is in the columns -------------------------------------------------------------------------


@on_engines
def test_nothing_odd_warns_of_nothing(plan):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, n, n_missing, n_levels = planned(plan)
    assert (n, n_missing, n_levels) == (4, (0, 0), (2, 2))
    assert [key.has_missing or key.wild for key in found.keys] == [False, False]
    assert found.group == ["sdckit__key0", "sdckit__key1", PATTERN]


@on_engines
def test_missing_values_are_counted_and_are_no_level(plan):
    gaps = {"a": [1.5, None, float("nan"), 1.5], "b": ["x", None, "", "x"]}
    found, n, n_missing, n_levels = planned(plan, gaps, missing={"b": "category"})
    assert (n, n_missing, n_levels) == (4, (2, 1), (1, 2))
    assert [(key.has_missing, key.wild) for key in found.keys] == [(True, True), (True, False)]
    assert [key.wild for key in found.as_categories().keys] == [False, False]


@on_engines
def test_the_pattern_numbers_what_is_missing(plan):
    columns = pl.DataFrame(
        {"a": [0, None, 0, None], "b": ["", "", None, None], "c": [True, True, False, True]}
    )
    frame = opened(plan, columns)
    found = plan_keys(frame, resolve_roles(keys=["a", "c", "b"]))[0]
    shown = collected(found.extend(frame))
    assert shown[PATTERN].to_list() == [0, 1, 4, 5]
    assert shown.select(found.group[:3]).null_count().row(0) == (0, 0, 0)


@on_engines
@pytest.mark.parametrize("weight", [None, "w"])
def test_cells_have_their_missing_values_back(plan, weight):
    columns = {"a": [0, None, 0, None, 0], "b": ["", "", None, "", ""], "w": [1.0, 2.0, 4.0, 8.0, 16.0]}
    frame = opened(plan, columns)
    found = plan_keys(frame, resolve_roles(keys=["a", "b"], weight=weight))[0]
    cells = collected(found.cells(found.extend(frame), weight))
    whole = {(0, "", 2, 17.0), (None, "", 2, 10.0), (0, None, 1, 4.0)}
    assert set(cells.rows()) == (whole if weight else {row[:3] for row in whole})
    names = ["a", "b", "sdckit__size", "sdckit__weight"]
    assert cells.columns == (names if weight else names[:3])


# --- what is refused --------------------------------------------------------------------------------


@on_engines
def test_no_records(plan):
    frame = opened(plan, pl.DataFrame({"a": pl.Series([], dtype=pl.String)}))
    with pytest.raises(DataError, match="the data has no records"):
        plan_keys(frame, resolve_roles(keys=["a"]))


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
    assert planned(plan, gaps, missing={"a": "error"})[2] == (0, 2)


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
    assert planned(plan, gaps, person="p", missing="category")[2] == (0, 1)


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
    frame = opened(polars_plan, columns)
    plan = plan_keys(frame, resolve_roles(keys=most, missing="category"))[0]
    assert collected(plan.extend(frame))[PATTERN].to_list() == [0, 0, 0, 2**MAX_KEYS - 1]


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
        assert plan_keys(opened(polars_plan, {"a": [1]}), resolve_roles(keys=["a"]))[1] == 1


@on_engines
def test_a_key_with_thousands_of_values(plan):
    numbers = list(range(MANY_LEVELS)) * 2
    for values in (numbers, [f"t{number}" for number in numbers]):
        with pytest.warns(SdcWarning, match=f"key 'a' has {MANY_LEVELS} different values: recode it"):
            plan_keys(opened(plan, {"a": values}), resolve_roles(keys=["a"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan_keys(opened(plan, {"a": [max(number, 1) for number in numbers]}), resolve_roles(keys=["a"]))


# --- frequencies ------------------------------------------------------------------------------------


@on_engines
@FEW
@given(file=files(max_rows=14), alpha=st.sampled_from(ALPHAS))
def test_frequencies_against_every_pair(plan, file, alpha):
    found, _ = frequencies(
        opened(plan, file.frame()), keys=file.keys, missing=file.missing, alpha=alpha, weight="w"
    )
    f, big_f = brute.frequencies(file.rows, file.weights, file.wild, alpha)
    assert found["sample_frequency"] == pytest.approx(f, rel=1e-12)
    assert found["population_frequency"] == pytest.approx(big_f, rel=1e-12)
    assert found["cell_size"] == [file.rows.count(row) for row in file.rows]


@on_engines
@FEW
@given(file=files(missing=False, max_rows=14, max_keys=2, wide=False), data=st.data())
def test_persons_count_once(plan, file, data):
    n = len(file.rows)
    who = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    weight_of = {p: 1.0 + 2.5 * p for p in who}
    frame = opened(plan, file.frame(p=who, v=[weight_of[p] for p in who]))
    found, _ = frequencies(frame, keys=file.keys, person="p", weight="v")
    f, big_f = brute.persons(file.rows, who, weight_of)
    assert found["sample_frequency"] == f
    assert found["population_frequency"] == pytest.approx(big_f, rel=1e-12)
    without, columns = frequencies(frame, keys=file.keys, person="p")
    assert without["sample_frequency"] == f
    assert "population_frequency" not in without
    assert "sdckit__times" not in columns


@on_engines
def test_a_sampling_fraction(plan):
    gaps = {"a": [1, 1, 2, None], "w": [1.0, 2.0, 3.0, 4.0]}
    found, _ = frequencies(opened(plan, gaps), keys=["a"], sampling_fraction=0.25)
    assert found["sample_frequency"] == [3, 3, 2, 4]
    assert found["population_frequency"] == [12, 12, 8, 16]
    found, _ = frequencies(opened(plan, gaps), keys=["a"], sampling_fraction=0.25, missing="category")
    assert found["population_frequency"] == [8, 8, 4, 4]


@on_engines
def test_without_wildcards_size_and_frequency_are_one_column(plan):
    frame = opened(plan, {"a": [1, 1, None], "w": [1.0, 2.0, 4.0]})
    roles = resolve_roles(keys=["a"], missing="category")
    found = plan_keys(frame, roles)[0]
    assert with_frequencies(found.extend(frame), found, roles)[1] == {
        "cell_size": "sdckit__cell_size",
        "sample_frequency": "sdckit__cell_size",
    }
