"""The figures and records of B1; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import Scenario, matching_risk
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError

SURVEY = pl.DataFrame({"id": [11, 12, 13, 14], "sex": ["f", "f", "m", "m"], "income": [100.0, 104.0, 300.0, -50.0]})
FIRST = SURVEY.with_columns(income=pl.Series([104.0, 96.0, 310.0, -52.0]))
SECOND = SURVEY.with_columns(income=pl.Series([200.0, 205.0, 900.0, 1.0]))
DICE = np.random.default_rng(3)
NUMBERS = pl.DataFrame({"sex": DICE.choice(["f", "m"], 60), "x": DICE.normal(0, 1, 60), "y": DICE.normal(10, 4, 60)})
MOVED = NUMBERS.with_columns(
    x=pl.col("x") + pl.Series(DICE.normal(0, 0.4, 60)), y=pl.col("y") + pl.Series(DICE.normal(0, 1, 60))
)
ROLES = {"known": ["sex"], "synthetic": ["income"], "numeric": ["income"]}


def test_one_release():
    result = matching_risk(SURVEY, FIRST, **ROLES)
    assert result.records.to_dict(as_series=False) == {
        "match_risk": [0.5, 0.5, 1.0, 1.0],
        "match_count": [2.0, 2.0, 1.0, 1.0],
        "unique_true_match_rate": [0.0, 0.0, 1.0, 1.0],
        "n_high_risk": [0, 0, 1, 1],
        "n_true_matches": [0, 0, 1, 1],
    }
    assert (result.n, result.m, result.expected_match_risk, result.mean_match_risk) == (4, 1, 3.0, 0.75)
    assert (result.true_match_rate, result.false_match_rate, result.unique_matches) == (0.5, 0.0, 2.0)
    assert result.notes == {}
    assert "a missing value matches a missing value only" in repr(result)


def test_several_releases_are_averaged():
    result = matching_risk(SURVEY, [FIRST, SECOND], **ROLES)
    assert result.records["match_risk"].to_list() == [0.25, 0.25, 0.5, 0.5]
    assert result.expected_match_risk == 1.5
    assert result.by_release["expected_match_risk"].to_list() == [3.0, 0.0]
    assert result.by_release["release"].to_list() == [1, 2]
    assert result.false_match_rate == 0.0
    assert result.notes["false_match_rate"] == "mean over the 1 of 2 releases where it is defined"
    assert result.spread["unique_matches"] == (0.0, 2.0)
    long = result.records_by_release
    assert long.columns == [
        "row", "release", "match_count", "true_match", "unique_true_match", "unique_false_match", "match_risk",
    ]  # fmt: skip
    assert long["row"].to_list() == [1, 2, 3, 4] * 2
    assert long["match_count"].to_list() == [2, 2, 1, 1, 0, 0, 0, 0]


def test_no_single_match_is_undefined():
    result = matching_risk(SURVEY, SECOND, **ROLES)
    assert math.isnan(result.false_match_rate)
    assert result.notes["false_match_rate"] == "no record has exactly one match"
    assert result.to_dict()["figures"]["false_match_rate"] is None


def test_high_risk_and_summary():
    result = matching_risk(SURVEY, FIRST, **ROLES, id="id")
    high = result.high_risk(0.5)
    assert high.columns == [
        "id", "row", "match_risk", "match_count", "unique_true_match_rate", "n_high_risk", "n_true_matches",
    ]  # fmt: skip
    assert (high["id"].to_list(), high["row"].to_list()) == ([13, 14], [3, 4])
    plain, more = result.details(), result.details(threshold=0.2)
    assert more["figure"].to_list() == [*plain["figure"].to_list(), "high_risk"]
    assert more["value"].to_list()[-1] == 4
    for threshold in (-0.1, 1.1, None, True):
        with pytest.raises(DataError, match="threshold is a match risk"):
            result.high_risk(threshold)


def test_some_targets():
    result = matching_risk(SURVEY, FIRST, **ROLES, rows=[4, 1], id="id", prefix="r_")
    assert result.records["id"].to_list() == [14, 11]
    assert result.records["r_match_count"].to_list() == [1.0, 2.0]
    assert (result.n, result.expected_match_risk) == (2, 1.5)
    assert result.high_risk(0.6)["r_row"].to_list() == [4]


def test_rows_are_found_by_their_id():
    mixed = FIRST[[2, 0, 3, 1]]
    by_id, in_order = (matching_risk(SURVEY, one, **ROLES, id="id") for one in (mixed, FIRST))
    assert by_id.records.equals(in_order.records)
    assert not matching_risk(SURVEY, mixed, **ROLES).records.equals(in_order.records.drop("id"))


def test_pandas_keeps_its_index():
    original, released = (one.to_pandas().set_index(pd.Index(list("abcd"))) for one in (SURVEY, FIRST))
    result = matching_risk(original, released, **ROLES, rows=[2, 3])
    assert isinstance(result.records, pd.DataFrame)
    assert result.records.index.tolist() == ["b", "c"]


def test_a_pair_opened_before():
    pair = open_pair(SURVEY, FIRST, categories={"known": ["sex"]})
    assert matching_risk(pair, **ROLES).expected_match_risk == 3.0


def test_a_plan():
    result = matching_risk(SURVEY.lazy(), FIRST.lazy(), **ROLES, id="id")
    assert result.records["match_risk"].to_pylist() == [0.5, 0.5, 1.0, 1.0]


def test_a_scenario_gives_the_variables():
    scenario = Scenario(keys=["sex", "income"], numeric=["income"])
    assert matching_risk(SURVEY, FIRST, scenario=scenario).expected_match_risk == 3.0


def test_a_release_that_is_the_original():
    result = matching_risk(SURVEY, [FIRST, SURVEY], **ROLES)
    assert result.notes["released"].startswith("1 of 2 releases have the original's values")
    assert "the release has the original's values" in matching_risk(SURVEY, SURVEY, **ROLES).notes["released"]
    changed = SURVEY.with_columns(sex=pl.lit("f"))
    assert "released" not in matching_risk(SURVEY, changed, **ROLES).notes


def test_around_the_released_value():
    original, released = pl.DataFrame({"x": [100.0]}), pl.DataFrame({"x": [110.5]})
    counts = [
        matching_risk(original, released, synthetic=["x"], numeric=["x"], around=around).records["match_count"][0]
        for around in ("original", "released")
    ]
    assert counts == [0, 1]


def test_zero_matches_zero_with_closed_bounds_only():
    zeros = pl.DataFrame({"x": [0.0, 0.0]})
    for bounds, count in (("closed", 2), ("open", 0)):
        result = matching_risk(zeros, zeros, synthetic=["x"], numeric=["x"], bounds=bounds)
        assert result.records["match_count"].to_list() == [count] * 2


def test_pickling_lets_the_records_go():
    result = pickle.loads(pickle.dumps(matching_risk(SURVEY, FIRST, **ROLES)))
    assert result.expected_match_risk == 3.0
    with pytest.raises(DataError, match="let go of the data"):
        _ = result.records
    with pytest.raises(DataError, match="let go of the data"):
        result.high_risk(0.5)


@pytest.mark.parametrize(
    ("released", "options", "error", "message"),
    [
        (FIRST[:2], {}, DataError, "the release has 2 rows, the original 4"),
        ([], {}, DataError, "released= is an empty list"),
        (FIRST.drop("income"), {}, ColumnError, "income"),
        (FIRST.with_columns(pl.col("income").cast(pl.String)), {}, DataError, "the release: numeric 'income' is"),
        (FIRST.with_columns(income=pl.lit(None, pl.Float64)), {}, DataError, "the release: .*no value at all"),
        (FIRST.with_columns(sex=pl.lit(1)), {}, ColumnError, "'sex' holds text in the original and numbers"),
        (FIRST, {"tol": -1}, DataError, "tol is the slack"),
        (FIRST, {"tol": np.nan}, DataError, "tol is the slack"),
        (FIRST, {"bounds": "half"}, DataError, "bounds 'half' is unknown; there are: closed, open"),
        (FIRST, {"around": "both"}, DataError, "around 'both' is unknown"),
        (FIRST, {"rows": [5]}, DataError, "counts from 1 to 4"),
    ],
)
def test_bad_input(released, options, error, message):
    with pytest.raises(error, match=message):
        matching_risk(SURVEY, released, **{**ROLES, **options})


@pytest.mark.parametrize("name", ["sex", "income"])
def test_missing_values_are_refused_on_request(name):
    gap = FIRST.with_columns(pl.when(pl.int_range(4) > 0).then(pl.col(name)).alias(name))
    with pytest.raises(DataError, match=f"the release: '{name}' is missing in 1 record, and missing='error'"):
        matching_risk(SURVEY, gap, **ROLES, missing="error")
    assert matching_risk(SURVEY, FIRST, **ROLES, missing="error").n == 4


def test_a_width_counts_for_what_is_stored_as_a_number():
    """It was ignored unless the variable was declared: nobody seemed to be found."""
    bare = {name: ROLES[name] for name in ("known", "synthetic")}
    result = matching_risk(SURVEY, FIRST, **bare, width=0.1)
    assert result.expected_match_risk == matching_risk(SURVEY, FIRST, **ROLES).expected_match_risk == 3.0
    assert [(one.name, one.matched) for one in result.variables] == [
        ("sex", "exactly"),
        ("income", "within ± 10 % of the value"),
    ]
    assert matching_risk(SURVEY, FIRST, **bare, numeric=[]).expected_match_risk == 0.0


def test_chance_and_high_risk():
    result = matching_risk(SURVEY, [FIRST, SECOND], **ROLES, high_risk=0.4)
    # two released rows of either sex: each is the right one with chance 1/2, where any row matches at all
    assert result.by_release["expected_by_chance"].to_list() == [2.0, 0.0]
    assert (result.expected_by_chance, result.baseline) == (1.0, 0.25)
    assert result.by_release["n_high_risk"].to_list() == [4.0, 0.0]
    assert (result.n_high_risk, result.n_high_risk_of_mean) == (2.0, 2)
    assert result.high_risk_counts(0.4) == (4, 0)
    assert result.high_risk_counts(0.5) == (2, 0)
    rows = dict(result.details(threshold=0.4).iter_rows())
    assert (rows["high_risk"], rows["high_risk_1"], rows["high_risk_2"]) == (2, 4, 0)
    assert "high_risk_1" not in dict(matching_risk(SURVEY, FIRST, **ROLES).details(threshold=0.4).iter_rows())
    with pytest.raises(DataError, match="high_risk is a match risk"):
        matching_risk(SURVEY, FIRST, **ROLES, high_risk=2)


def test_a_scenario_says_how_rows_are_matched():
    said = {"known": ["sex"], "width": {"income": 20}, "relative": False, "high_risk": 0.9, "tol": 0}
    scenario = Scenario(keys=["sex", "income"], matching=said)
    result = matching_risk(SURVEY, FIRST, scenario=scenario)
    assert result.variables[1].matched == "within ± 20 of the value"
    assert (result.expected_match_risk, result.high_risk_limit, result.n_high_risk) == (3.0, 0.9, 2.0)
    told = result.to_dict()
    assert [one["matched"] for one in told["variables"]] == ["exactly", "within ± 20 of the value"]
    assert told["high_risk_limit"] == 0.9
    pickle.loads(pickle.dumps(result))


# --- lists of widths, a radius, and what is shown of those at risk ----------------------------------------


def test_widths_in_the_order_of_the_variables():
    listed = matching_risk(NUMBERS, MOVED, synthetic=["x", "y"], width=[1.0, 3.0], relative=[False, False])
    named = matching_risk(
        NUMBERS, MOVED, synthetic=["x", "y"], width={"x": 1.0, "y": 3.0}, relative={"x": False, "y": False}
    )
    assert listed.records.equals(named.records)
    assert [one.width for one in listed.variables] == [1.0, 3.0]
    swapped = matching_risk(NUMBERS, MOVED, synthetic=["y", "x"], width=np.array([3.0, 1.0]), relative=False)
    assert swapped.records.equals(named.records)


@pytest.mark.parametrize(("argument", "given"), [("width", [1.0]), ("relative", [True, False, True])])
def test_a_list_of_another_length_is_refused(argument, given):
    with pytest.raises(DataError, match=f"{argument} lists {len(given)} for 2 numbers .x, y.") as caught:
        matching_risk(NUMBERS, MOVED, synthetic=["x", "y"], **{argument: given})
    assert caught.value.argument == argument


@pytest.mark.parametrize("bounds", ["closed", "open"])
@pytest.mark.parametrize("known", [[], ["sex"]])
def test_a_radius_is_that_of_all_numbers_together(bounds, known):
    found = matching_risk(
        NUMBERS, MOVED, known=known, synthetic=["x", "y"], width=0.5, distance="euclidean", bounds=bounds
    )
    units = NUMBERS.select(pl.col("x", "y").std()).row(0)
    one, other = (frame.select("x", "y").to_numpy() / units for frame in (NUMBERS, MOVED))
    near = np.sqrt(((one[:, None] - other[None]) ** 2).sum(axis=2)) <= 0.5
    if known:
        near &= NUMBERS["sex"].to_numpy()[:, None] == MOVED["sex"].to_numpy()[None]
    count, true = near.sum(axis=1), near.diagonal()
    assert found.records["match_count"].to_list() == count.tolist()
    assert found.expected_match_risk == pytest.approx((true / np.maximum(count, 1)).sum())
    assert "0.5 standard deviations off" in found.variables[-1].matched
    # A ball lies in its box: nobody has more matches than there.
    box = matching_risk(NUMBERS, MOVED, known=known, synthetic=["x", "y"],
                        width=[0.5 * unit for unit in units], relative=False, bounds=bounds)  # fmt: skip
    assert (found.records["match_count"] <= box.records["match_count"]).all()


def test_missing_numbers_match_missing_ones_within_a_radius():
    gaps = NUMBERS.with_columns(x=pl.when(pl.int_range(pl.len()) < 5).then(None).otherwise("x"))
    found = matching_risk(gaps, gaps, synthetic=["x", "y"], width=0.0, distance="euclidean")
    assert found.records["match_count"].to_list() == [1.0] * gaps.height
    assert found.true_match_rate == 1


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"width": {"x": 1.0, "y": 1.0}}, "width"),
        ({"width": 1.0, "relative": True}, "relative"),
        ({"width": 1.0, "missing": "wildcard"}, "missing"),
        ({"distance": "manhattan"}, "distance"),
    ],
)
def test_what_has_no_meaning_with_a_radius_is_refused(options, argument):
    with pytest.raises(DataError) as caught:
        matching_risk(NUMBERS, MOVED, synthetic=["x", "y"], **{"distance": "euclidean", **options})
    assert caught.value.argument == argument


def test_who_is_at_high_risk_in_how_many_files_and_what_they_hold():
    result = matching_risk(SURVEY, [FIRST, SECOND], **ROLES, id="id")
    assert result.records["n_high_risk"].to_list() == [0, 0, 1, 1]
    assert result.records["n_true_matches"].to_list() == [0, 0, 1, 1]
    shown = result.high_risk(0.4, values=True)
    assert shown.columns[:1] == ["id"]
    matched = [one.name for one in result.variables]
    assert shown.select(matched).equals(SURVEY[2:].select(matched))
    cases = result.details(threshold=0.4, show_cases=True)
    assert cases.filter(figure="high_risk_row")["value"].to_list() == [3.0, 4.0]
    assert "high_risk_row" not in result.details(threshold=0.4)["figure"]
    with pytest.raises(DataError, match="give threshold="):
        result.details(show_cases=True)


def test_the_riskiest_targets_are_shown_in_their_order():
    result = matching_risk(SURVEY, [FIRST, SECOND], **ROLES, id="id")
    risk = result.records["match_risk"].to_list()
    order = sorted(range(len(risk)), key=lambda at: -risk[at])  # stable
    for n in (1, 3, 99):
        shown = result.details(show_cases=n)
        assert shown.filter(figure="riskiest_row")["value"].to_list() == [at + 1.0 for at in order[:n]]
        assert shown.filter(figure="riskiest_match_risk")["value"].to_list() == [risk[at] for at in order[:n]]
    above = result.details(threshold=0.4, show_cases=3)
    assert above.filter(figure="riskiest_row")["value"].to_list() == [at + 1.0 for at in order if risk[at] > 0.4]
    assert above.filter(figure="high_risk")["value"].to_list() == [2.0]
    for wrong in (0, -1, 1.5, "all"):
        with pytest.raises(DataError, match="counts the riskiest targets"):
            result.details(show_cases=wrong)


def test_targets_by_their_risk_sum_up_and_are_drawn_beside_an_earlier_release():
    risky = matching_risk(NUMBERS, NUMBERS, synthetic=["x", "y"], width=0.01)
    safer = matching_risk(NUMBERS, MOVED, synthetic=["x", "y"], width=0.5)
    assert risky.risk_counts() == (0, 0, 0, 0, NUMBERS.height)
    counts = safer.risk_counts()
    assert sum(counts) == NUMBERS.height
    assert counts[-1] == round(safer.true_match_rate * NUMBERS.height)
    drawn = safer.plot(internal=True, before=risky).to_dict()
    labels = [row["label"] for rows in drawn["datasets"].values() for row in rows]
    assert "1: one match, the right one, before" in labels
    assert "1: one match, the right one, after" in labels
    with pytest.raises(DataError, match="the same 60 targets"):
        safer.plot(before=matching_risk(SURVEY, FIRST, **ROLES))


# --- two readings of the same whole numbers -------------------------------------------------------------------

CODED = pl.DataFrame({"sex": ["f", "m", "m", "f"] * 20, "trade": [1 + i * 7 % 16 for i in range(80)]})
CODED_AGAIN = CODED.with_columns(trade=pl.when(pl.int_range(80) % 9 == 0).then(99).otherwise("trade"))
TRADE = {"known": ["sex"], "synthetic": ["trade"]}


def test_who_knows_a_number_exactly_finds_it_where_values_were_only_taken_out():
    pay = [1000 + 3.7 * i for i in range(60)]
    original = pl.DataFrame({"sex": ["f", "m"] * 30, "pay": pay})
    released = original.with_columns(pay=pl.when(pl.int_range(60) > 5).then("pay"))
    plan = Scenario(keys=["sex", "pay"])
    for declared in (plan, plan.changed(numeric=["pay"])):
        result = matching_risk(original, released, scenario=declared)
        assert result.mean_match_risk < 0.1  # within ± 10 % of a pay are those of many others
        assert result.mean_match_risk_otherwise == pytest.approx(54 / 60)
        assert [(one.name, one.matched) for one in result.read_otherwise] == [("pay", "exactly")]
    for settled in ({"width": 0.1}, {"numeric": ["pay"]}):
        assert matching_risk(original, released, scenario=plan, **settled).read_otherwise == ()
    noisy = original.with_columns(pl.col("pay") + 0.5)  # no value is kept: the interval is the riskier reading
    assert matching_risk(original, noisy, scenario=plan).read_otherwise == ()


@pytest.mark.parametrize("bounds", ["closed", "open"])
@pytest.mark.parametrize("around", ["original", "released"])
def test_both_readings_are_those_that_a_declaration_gives(bounds, around):
    options = {**TRADE, "bounds": bounds, "around": around}
    files = (CODED, [CODED_AGAIN, CODED])
    result = matching_risk(*files, **options)
    number, category = (matching_risk(*files, **options, numeric=some) for some in (["trade"], []))
    assert result.expected_match_risk == number.expected_match_risk
    assert result.expected_match_risk_otherwise == category.expected_match_risk > number.expected_match_risk
    assert result.mean_match_risk_otherwise == pytest.approx(category.mean_match_risk)
    assert result.by_release["expected_match_risk_otherwise"].to_list() == pytest.approx(
        category.by_release["expected_match_risk"].to_list()
    )
    assert [(one.name, one.kind, one.matched) for one in result.read_otherwise] == [("trade", "category", "exactly")]
    for declared in (number, category):
        assert declared.read_otherwise == ()
        assert math.isnan(declared.expected_match_risk_otherwise)
        assert "expected_match_risk_otherwise" not in declared.details()["figure"].to_list()


def test_both_readings_are_printed():
    result = matching_risk(CODED, CODED_AGAIN, **TRADE)
    printed = dict(result.summary().iter_rows())
    assert printed["expected_match_risk_otherwise"] == result.expected_match_risk_otherwise
    assert result.details().equals(result.summary())
    assert "expected_match_risk_otherwise=" in repr(result)
    stated = result.to_dict()["otherwise"]
    assert stated["mean_match_risk"] == result.mean_match_risk_otherwise
    assert [variable["name"] for variable in stated["variables"]] == ["trade"]
    assert pickle.loads(pickle.dumps(result)).read_otherwise == result.read_otherwise


def test_codes_that_are_matched_alike_in_both_readings_have_one():
    few = CODED.with_columns(trade=pl.col("trade") % 4 + 1)
    assert matching_risk(few, few.reverse(), **TRADE).read_otherwise == ()
    assert matching_risk(few, few.reverse(), **TRADE, bounds="open").read_otherwise == ()
    zero = few.with_columns(trade=pl.col("trade") - 1)  # an open relative interval around 0 is empty
    assert matching_risk(zero, zero[:79].vstack(zero[:1]), **TRADE, bounds="open").read_otherwise


def test_many_whole_numbers_are_read_as_categories_where_that_is_riskier():
    ages = pl.DataFrame({"age": range(20, 60)})
    release = ages.with_columns(age=pl.when(pl.int_range(40) < 4).then(pl.col("age").reverse()).otherwise("age"))
    result = matching_risk(ages, release, synthetic=["age"])
    exact = matching_risk(ages, release, synthetic=["age"], numeric=[])
    assert result.expected_match_risk_otherwise == exact.expected_match_risk > result.expected_match_risk
    moved = ages.with_columns(age=pl.col("age") + 1)
    assert matching_risk(ages, moved, synthetic=["age"]).read_otherwise == ()


def test_a_radius_leaves_known_numbers_exact():
    result = matching_risk(NUMBERS, MOVED, known=["y"], synthetic=["x"], width=0.5, distance="euclidean")
    assert [one.width for one in result.variables] == [None, 0.5]
    assert "values are numbers: y;" in result.notes["exact"]


def test_numbers_whose_squares_are_infinite_are_as_near_as_others():
    large = [frame.with_columns(pl.col("x", "y") * 2.0**532) for frame in (NUMBERS, MOVED)]
    options = {"known": ["sex"], "synthetic": ["x", "y"], "width": 0.5, "distance": "euclidean"}
    plain = matching_risk(NUMBERS, MOVED, **options)
    assert matching_risk(*large, **options).to_dict()["figures"] == plain.to_dict()["figures"]
    assert plain.true_match_rate > 0
