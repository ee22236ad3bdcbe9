"""Exact numbers beside a brute force over records, the values that never count, and what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, strategies as st

from draw import quiet
from sdckit import Protected, Recipe, Scenario, check, exact_numbers, recode
from sdckit.attribute.disclosure.exact_numbers import any_released_near, dominating, released_near
from sdckit.data.hierarchy import read_band
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.workflow.verdicts import Verdict

FIRMS = pl.DataFrame(
    {"region": ["n"] * 4 + ["s"] * 4 + ["w"] * 3, "turnover": [900.0, 60, 20, 9, 35, 34, 36, 20, 100, 95, 91]}
)
GIVEN = {"magnitudes": "turnover", "number_groups": "region"}


def near(value: float, to: float) -> bool:
    return abs(value - to) <= 0.1 * abs(to) * (1 + 1e-12)


def brute(values: list[float], groups: list[int], k: int) -> list[bool]:
    """The definition, record by record."""
    counts = []
    for value, own in zip(values, groups, strict=True):
        group = [abs(other) for other, of in zip(values, groups, strict=True) if of == own and math.isfinite(other)]
        if not math.isfinite(value) or value == 0:
            counts.append(False)
            continue
        size, ordered = abs(value), sorted(group, reverse=True)
        largest = size == ordered[0]
        half = size > sum(group) / 2
        rest = sum(ordered[2:])
        second = len(ordered) > 1 and size >= ordered[1] and rest < 0.1 * ordered[0]
        alike = [other for other, of in zip(values, groups, strict=True) if of == own and near(other, value)]
        counts.append((largest or half or second) and len(alike) < k)  # a loss hides no profit
    return counts


VALUES = st.one_of(
    st.sampled_from([0.0, math.nan, math.inf, -5.0, 5.0, 100.0, 95.0, 9.0, 1000.0]), st.integers(-40, 400).map(float)
)


@given(st.lists(st.tuples(VALUES, st.integers(0, 3)), min_size=1, max_size=30), st.integers(1, 4))
@example([(100.0, 0), (-95.0, 0)], 2)
def test_the_definition_record_by_record(drawn: list[tuple[float, int]], k: int) -> None:
    values, groups = [value for value, _ in drawn], [group for _, group in drawn]
    assert dominating(np.array(values), np.array(groups), 4, k).tolist() == brute(values, groups, k)


@pytest.mark.parametrize("role", ["household", "person"])
def test_nobody_is_hidden_by_their_own_rows(role: str) -> None:
    """A family of three with nearly all of the income of its region hid itself, and the limit held."""
    rows = pl.DataFrame({"of": [1, 1, 1, 2, 3, None], "g": ["n"] * 6, "income": [9_000, 9_100, 9_000, 30, 31, 29]})
    scenario = Scenario(keys=["g"], magnitudes=["income"], **{role: "of"})
    for files in ((rows,), (rows.lazy(),), (rows, rows.drop("of"))):
        assert exact_numbers(*files, scenario=scenario).n_exact == 1
    apart = rows.with_columns(of=pl.int_range(6))
    assert exact_numbers(apart, scenario=scenario).n_exact == 0
    assert exact_numbers(rows.with_columns(of=None), scenario=scenario).n_exact == 0  # each by itself


@given(st.lists(st.tuples(VALUES, VALUES, st.integers(0, 2)), min_size=1, max_size=25), st.data())
def test_rows_that_do_not_belong_together_are_looked_for_in_the_group(drawn, data) -> None:
    values = np.array([value if math.isfinite(value) else 1.0 for value, _, _ in drawn])
    groups = np.array([group for _, _, group in drawn])
    n = data.draw(st.integers(1, 25))
    low = np.array(data.draw(st.lists(VALUES, min_size=n, max_size=n)))
    wide = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 50.0, math.inf]), min_size=n, max_size=n)))
    of_row = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    high = np.where(np.isnan(low), np.nan, low + wide)
    expected = [
        any(near(low[i], value) and near(high[i], value) for i in range(n) if of_row[i] == group)
        for value, group in zip(values, groups, strict=True)
    ]
    assert any_released_near(values, groups, (low, high), of_row).tolist() == expected


def test_a_band_is_near_where_both_of_its_ends_are() -> None:
    low, high = np.array([95.0, 95, -np.inf, 89]), np.array([105.0, 111, 100, 100])
    assert released_near(np.full(4, 100.0), (low, high)).tolist() == [True, False, False, False]


def test_figures_and_records() -> None:
    result = exact_numbers(FIRMS, **GIVEN)
    assert result.records["turnover_exact"].to_list() == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    (column,) = result.columns[0]
    assert (column.column, column.dominating, column.exact, column.share) == ("turnover", 2, 2, 2 / 11)
    assert (result.n, result.n_exact, result.share, result.worst, result.k) == (11, 2, 2 / 11, "turnover", 3)
    assert result.notes == {"groups": "groups by region"}
    # the 95 and 91 hide the 100: of fewer than four, three are near it
    assert exact_numbers(FIRMS, **GIVEN, k=4).records["turnover_exact"].to_list()[4:] == [0, 0, 1, 0, 1, 0, 0]


def test_what_goes_out_decides() -> None:
    at_ten = FIRMS.with_columns(turnover=pl.col("turnover") * 1.1)
    beyond = FIRMS.with_columns(turnover=pl.col("turnover") * 1.11)
    gone = FIRMS.with_columns(turnover=pl.lit(None, pl.Float64))
    left_out = FIRMS.drop("turnover")
    found = [exact_numbers(FIRMS, file, **GIVEN).n_exact for file in (at_ten, beyond, gone, left_out)]
    assert found == [2, 0, 0, 0]
    several = exact_numbers(FIRMS, [FIRMS, beyond], **GIVEN)
    assert [figures["n_exact"] for figures in several.per_release] == [2, 0]
    assert (several.n_exact, several.records["turnover_exact"].to_list()[:3]) == (1, [0.5, 0.5, 0])


def test_the_groups_are_those_released() -> None:
    one_region = FIRMS.with_columns(region=pl.lit("all"))
    # 900 is still the largest; 60 is neither, nor is anybody of the other regions
    assert exact_numbers(FIRMS, one_region, **GIVEN).records["turnover_exact"].sum() == 1
    without = FIRMS.drop("region")
    assert exact_numbers(FIRMS, without, **GIVEN).notes == {"groups": "the file is one group"}
    hidden = FIRMS.with_columns(region=pl.when(pl.int_range(11) < 4).then("region"))
    assert exact_numbers(FIRMS, hidden, **GIVEN, k=4).records["turnover_exact"].to_list()[4:] == [0] * 4 + [1, 0, 0]


def test_a_column_is_not_in_its_own_groups() -> None:
    both = exact_numbers(FIRMS, magnitudes="turnover", number_groups=["region", "turnover"])
    assert both.n_exact == exact_numbers(FIRMS, **GIVEN).n_exact == 2


def test_rows_without_an_order() -> None:
    mixed = FIRMS.sample(fraction=1, shuffle=True, seed=1)
    result = exact_numbers(FIRMS, mixed, **GIVEN, aligned=False)
    assert (result.n_exact, "rows" in result.notes) == (2, True)
    moved = mixed.with_columns(turnover=pl.when(pl.col("turnover") > 800).then(300).otherwise("turnover"))
    assert exact_numbers(FIRMS, moved, **GIVEN, aligned=False).n_exact == 1
    numbered, shuffled = (file.with_row_index("firm") for file in (FIRMS, FIRMS))
    again = exact_numbers(numbered, shuffled[::-1], **GIVEN, id="firm")
    assert again.records["turnover_exact"].to_list() == [1, 1] + [0] * 9


def test_bands_hide_and_a_file_in_bands_is_taken_at_their_middle() -> None:
    bands = FIRMS.with_columns(turnover=pl.Series(["500+", "50-99", "10-49", "0-9"] + ["10-49"] * 4 + ["50-150"] * 3))
    assert exact_numbers(FIRMS, bands, **GIVEN).n_exact == 0
    narrow = FIRMS.with_columns(turnover=pl.Series(["890-910", *bands["turnover"][1:]]))
    assert exact_numbers(FIRMS, narrow, **GIVEN).n_exact == 1
    assert exact_numbers(narrow, **GIVEN).n_exact == 1
    assert exact_numbers(bands, **GIVEN).n_exact == 0
    words = FIRMS.with_columns(turnover=pl.lit("much"))
    with pytest.raises(DataError, match="the release: 'turnover' holds neither numbers nor ranges of numbers"):
        exact_numbers(FIRMS, words, **GIVEN)


def test_a_scenario_says_columns_groups_and_k() -> None:
    file = FIRMS.with_columns(hours=pl.Series([80.0, 40, 40, 40, 40, 40, 40, 40, 39, 39, 39]), age=pl.Series(range(11)))
    scenario = Scenario(keys=["region", "age"], numeric=["age", "hours"], magnitudes=["turnover"], thresholds={"k": 5})
    result = exact_numbers(file, scenario=scenario)
    assert [column.column for column in result.columns[0]] == ["turnover", "hours"]
    assert (result.groups, result.k) == (("region", "age"), 5)
    grouped = exact_numbers(file, scenario=scenario.changed(number_groups=("region",)))
    assert (grouped.groups, [column.exact for column in grouped.columns[0]]) == (("region",), [4, 8])
    without = exact_numbers(file, scenario=Scenario(keys=["age"], numeric=["age"], magnitudes=[]))
    assert (without.columns, without.share, without.worst) == (((),), 0.0, "")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ScenarioError, r"say which columns are magnitudes: magnitudes=\[...\]"),
        ({"scenario": Scenario(keys=["region"])}, ScenarioError, r"write magnitudes = \[...\] with those that are"),
        ({"magnitudes": ["region"]}, DataError, "'region' holds neither numbers nor ranges"),
        ({"magnitudes": ["turnvoer"]}, ColumnError, "turnover"),
        ({**GIVEN, "k": 0}, DataError, "k is how many near values hide one"),
        ({**GIVEN, "aligned": "no"}, DataError, "aligned is True or False"),
        ({**GIVEN, "released": FIRMS[:3]}, DataError, "the release has 3 rows, the original 11"),
    ],
)
def test_refuses(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        exact_numbers(FIRMS, **arguments)


def test_every_engine_and_a_pickle() -> None:
    expected = [1.0, 1.0] + [0.0] * 9
    for file in (FIRMS.to_pandas(), FIRMS.to_pandas().astype(object), FIRMS.to_arrow()):
        records = exact_numbers(file, **GIVEN).records
        assert [float(value) for value in np.asarray(records["turnover_exact"])] == expected
    lazy = exact_numbers(FIRMS.with_row_index("firm").lazy(), **GIVEN, id="firm", prefix="large_")
    assert lazy.records.column_names == ["firm", "large_turnover_exact"]
    assert exact_numbers(pd.DataFrame({"turnover": [5, 1]}), magnitudes=["turnover"]).n_exact == 2
    again = pickle.loads(pickle.dumps(exact_numbers(FIRMS, **GIVEN)))
    assert (again.share, again.worst) == (2 / 11, "turnover")
    with pytest.raises(DataError):
        _ = again.records


def test_rows_that_nothing_brings_together_are_not_compared_one_by_one():
    firms = FIRMS.with_columns(name=pl.int_range(FIRMS.height))
    mixed = firms.reverse()
    assert exact_numbers(firms, firms, **GIVEN).notes.keys() == {"groups"}
    unsaid = exact_numbers(firms, mixed, **GIVEN)
    assert "rows" in unsaid.notes
    assert unsaid.n_exact == exact_numbers(firms, mixed, aligned=False, **GIVEN).n_exact > 0
    assert exact_numbers(firms, mixed, aligned=True, **GIVEN).n_exact == 0  # each beside somebody else's
    declared = Scenario(magnitudes=["turnover"], keys=["region"], aligned=True)
    assert exact_numbers(firms, mixed, scenario=declared).notes.keys() == {"groups"}
    assert "rows" in exact_numbers(firms.lazy(), mixed.lazy(), **GIVEN).notes


WAGES = pl.DataFrame({"sex": ["f"] * 50 + ["m"] * 50, "pay": [*(1000.5 + 10 * at for at in range(99)), 774177.25]})
OF_WAGES = Scenario(keys=["sex"], magnitudes=["pay"], thresholds={"exact_numbers": 0.0})


def in_bands(bands: object, **how: str) -> tuple[Protected, Recipe]:
    recipe = Recipe(steps=[{"method": "recode", "column": "pay", "bands": bands, **how}])
    return recode(WAGES, column="pay", bands=bands, **how), recipe  # type: ignore[arg-type]


def judged(released: pl.DataFrame, recipe: Recipe) -> Verdict:
    with quiet():
        result = check(WAGES, released, scenario=OF_WAGES, recipe=recipe)
    return next(verdict for verdict in result.verdicts if verdict.name == "exact_numbers")


@pytest.mark.parametrize("how", ["equal_width", "log"])
@pytest.mark.parametrize("rows", ["in order", "mixed"])
def test_equal_steps_tell_the_largest_number(how: str, rows: str) -> None:
    """Whoever has the edges, as in the report or the public log, reckons the end of the last band."""
    made, recipe = in_bands(5, how=how)
    edges = [float(band.low) for label in made.change.parameters["bands"][1:] if (band := read_band(label))]
    assert len(edges) == 4
    end = edges[-1] ** 2 / edges[-2] if how == "log" else 2 * edges[-1] - edges[-2]
    reckoned = end / math.e if how == "log" else end - 1  # there is a unit of room at either end
    assert near(reckoned, 774177.25)
    released = made.data if rows == "in order" else made.data.sample(fraction=1, shuffle=True, seed=1)
    verdict = judged(released, recipe)
    assert (verdict.holds, verdict.variable, verdict.value) == (False, "pay", 0.01)


@pytest.mark.parametrize("how", ["equal_width", "log"])
@pytest.mark.parametrize("digits", [0, 2], ids=["whole", "decimal"])
@pytest.mark.parametrize("seed", range(4))
def test_labels_by_themselves_show_equal_steps(seed: int, digits: int, how: str) -> None:
    """Neither recipe nor log are there; of quantiles, and of chosen edges, nothing follows."""
    rng = np.random.default_rng(seed)
    pay = np.append(np.round(rng.lognormal(8, 1, 300), digits), 91234.0)
    survey = pl.DataFrame({"pay": pay})
    for bands in (3, 5, 8):
        released = recode(survey, column="pay", bands=bands, how=how).data  # type: ignore[arg-type]
        result = exact_numbers(survey, released, magnitudes="pay", number_groups=[])
        assert result.n_exact == 1
        assert result.notes["edges"].endswith("the largest number of pay")
        assert result.records["pay_exact"].arg_max() == 300
        quantiles = recode(survey, column="pay", bands=bands, how="equal_frequency").data
        assert exact_numbers(survey, quantiles, magnitudes="pay", number_groups=[]).n_exact == 0
    for edges in ([0, 2500, 5000, 7500, None], [0, 1234, 5000, 20000, None], [0, 30411, 60822, 100000]):
        chosen = recode(survey, column="pay", bands=edges).data
        assert exact_numbers(survey, chosen, magnitudes="pay", number_groups=[]).n_exact == 0


def test_ranges_of_the_largest_and_smallest_numbers_there_are_end_in_an_answer() -> None:
    survey = pl.DataFrame({"pay": [1e-308, 2.0, 1.7e308]})
    large, largest, tiny = 10**300, 17 * 10**307, f"0.{'0' * 300}1"
    for labels, n in (
        ([f"under {tiny}", f"[{tiny}, {large})", f"{large} and over"], 0),
        ([str(-largest), "[2, 3)", str(largest)], 1),  # the number itself
    ):
        released = survey.with_columns(pay=pl.Series(labels))
        assert exact_numbers(survey, released, magnitudes="pay", number_groups=[]).n_exact == n


@pytest.mark.parametrize(
    ("bands", "how"),
    [(2, {}), (5, {"how": "equal_frequency"}), ([0, 1200, 2000, None], {}), ([0, 155000, 310000, 465000, None], {})],
)
def test_edges_that_do_not_tell_it_hide_it(bands: object, how: dict[str, str]) -> None:
    """One edge, quantiles, and edges that somebody chose."""
    made, recipe = in_bands(bands, **how)
    assert judged(made.data, recipe).holds
