"""Copied records: counted by hand, beside what chance makes, and not taken for copies where other people are alike."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest

import every_measure
import sdckit as sdc
from draw import quiet
from sdckit import Scenario, copied_records
from sdckit.attacks.copied_records import EqualRecords, beyond_control, beyond_good_turing, decimals_shown
from sdckit.errors import ColumnError, DataError, SdcWarning
from sdckit.numerics.intervals import wilson

COLUMNS = ["age", "sex", "region", "job", "pay"]


def people(n: int, seed: int) -> pl.DataFrame:
    """Records of a population in which a few combinations are frequent and many are rare."""
    rng = np.random.default_rng(seed)
    job = rng.geometric(0.2, n)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["n", "s", "w", None], n, p=[0.5, 0.3, 0.15, 0.05]),
            "job": [f"job {one}" for one in job],
            "pay": (job * 100 + rng.geometric(0.5, n) * 10.0).tolist(),
        }
    )


def by_hand(original: pl.DataFrame, other: pl.DataFrame, columns: list[str]) -> tuple[float, float]:
    """Share of other records equal to a unique of the original, and 2 f2 / n."""
    times = Counter(original.select(columns).rows())
    copies = sum(times[row] == 1 for row in other.select(columns).rows())
    return copies / other.height, 2 * sum(count == 2 for count in times.values()) / original.height


@pytest.mark.parametrize("seed", range(5))
def test_it_counts_what_is_counted_by_hand(seed):
    original, release = people(300, seed), pl.concat([people(200, seed + 50), people(300, seed)[:40]])
    result = copied_records(original, release)
    assert result.variables == tuple(COLUMNS)
    assert (result.copies, result.copies_by_chance) == pytest.approx(by_hand(original, release, COLUMNS))
    (left,) = result.left_out
    rest = [name for name in COLUMNS if name != left]
    assert (result.near_copies, result.near_copies_by_chance) == pytest.approx(by_hand(original, release, rest))
    assert result.copies_beyond == pytest.approx(result.copies - result.copies_by_chance)
    assert result.chance == "Good-Turing"


def test_the_column_left_out_is_the_one_whose_bound_is_largest():
    original, release = people(300, 1), people(300, 1).with_columns(region=pl.lit("n"))
    result = copied_records(original, release)
    assert result.left_out == ("region",)
    level = 1 - 0.05 / (len(COLUMNS) + 1 + 5)  # a pair of numbers, and four distances of all, too
    bounds = []
    for left in COLUMNS:
        times = Counter(original.drop(left).rows())
        copies = sum(times[row] == 1 for row in release.drop(left).rows())
        once, twice, thrice = (sum(count == size for count in times.values()) for size in (1, 2, 3))
        bounds.append(beyond_good_turing(EqualRecords(copies, 0, once, twice, thrice), 300, 300, level).low)
    assert max(bounds) == pytest.approx(result.lower_bound)


def test_beside_people_who_were_kept_aside():
    original, release, aside = people(400, 1), people(300, 2), people(350, 3)
    result = copied_records(original, release, control=aside)
    assert result.chance == "control"
    assert result.copies_by_chance == pytest.approx(by_hand(original, aside, COLUMNS)[0])
    assert result.copies == pytest.approx(by_hand(original, release, COLUMNS)[0])
    assert result.copied_records == 0


def test_people_of_the_original_in_the_control_file_do_not_hide_copies():
    original = people(400, 1)
    release = pl.concat([original[:150], people(250, 2)])
    result = copied_records(original, release, control=pl.concat([original[100:300], people(150, 3)]))
    assert (result.chance, "more records of the control file" in result.notes["control"]) == ("Good-Turing", True)
    assert result.copied_records > 0.2
    lacking = copied_records(original, release, control=people(100, 4).drop("pay"))
    assert lacking.notes["control"].startswith("the control file lacks pay: ")
    assert lacking.chance == "Good-Turing"


# --- chance ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", [False, True])
def test_other_people_are_not_copies(control):
    """Twenty splits each: the bound is above 0 in 10 % of them at most."""
    above = 0
    for seed in range(20):
        whole = people(1800, seed)
        original, release, aside = whole[:600], whole[600:1200], whole[1200:] if control else None
        result = copied_records(original, release, control=aside)
        assert result.copies > 0
        above += result.lower_bound > 0
    assert above <= 2


def test_other_people_with_several_rows_are_not_copies():
    above = 0
    for seed in range(20):
        one = people(300, seed).with_row_index("person")
        rows = pl.concat([one] * 6).with_columns(sex=pl.lit("f"), age=pl.col("age") // 20)
        first = pl.col("person") < 150
        scenario = Scenario(keys=["age"], person="person", missing="category")
        result = copied_records(rows.filter(first), rows.filter(~first), scenario=scenario)
        above += result.lower_bound > 0
    assert above <= 2


def test_the_variance_of_the_estimate_is_that_of_many_files():
    """Poisson numbers of each combination: 2 f2 / n minus the share of those seen once has mean 0 and this variance."""
    rng = np.random.default_rng(1)
    share = rng.gamma(0.5, size=400)
    share /= share.sum()
    n, errors, variances = 300, [], []
    for _ in range(3000):
        times = rng.poisson(n * share)
        once, twice, thrice = (times == 1, times == 2, times == 3)
        errors.append(2 * twice.sum() / n - share[once].sum())
        variances.append((4 * twice.sum() + 6 * thrice.sum()) / n**2)
    assert np.mean(errors) == pytest.approx(0, abs=4 * np.std(errors) / math.sqrt(3000))
    assert np.mean(variances) == pytest.approx(np.var(errors), rel=0.1)


def test_the_bounds_are_those_of_newcombe():
    """Newcombe (1998), table II: 56 of 70 against 48 of 80, method 10: 0.0524 to 0.3339."""
    assert beyond_control(EqualRecords(56, 48, 0, 0, 0), 70, 80, 0.975).low == pytest.approx(0.0524, abs=5e-5)
    nothing = beyond_good_turing(EqualRecords(0, 0, 50, 0, 0), 50, 50, 0.95)
    assert (nothing.share, nothing.chance) == (0, 0)
    z2 = 1.6448536**2
    assert nothing.low == pytest.approx(-2 * z2 / 50)
    some = beyond_good_turing(EqualRecords(25, 0, 50, 0, 0), 50, 50, 0.95)
    assert some.low == pytest.approx(0.5 - math.hypot(0.5 - wilson(25, 50, 0.9).low, 2 * z2 / 50))


# --- copies ----------------------------------------------------------------------------------------------


def test_copies_are_found_among_made_up_records():
    original = people(1000, 1)
    release = pl.concat([original[:468], people(532, 2)]).sample(fraction=1, shuffle=True, seed=1)
    result = copied_records(original, release)
    assert result.copied_records > 0.25
    assert result.copied_records < result.copies_beyond < 0.468


def test_copies_with_one_column_changed_are_found():
    original = people(500, 1)
    changed = original.with_columns(pay=pl.col("pay") + 1.5)
    result = copied_records(original, changed)
    assert result.notes["variables"].endswith(": pay")  # no released value of it is in the original
    assert result.copies == copied_records(original, original, variables=COLUMNS[:-1]).copies > 0.5
    assert copied_records(original, original.with_columns(sex=pl.lit("f"))).left_out == ("sex",)


def homes(seed: int) -> pl.DataFrame:
    """Members of households, whose numbers are all but their own."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(500), rng.integers(2, 6, 500))
    income, wage = rng.lognormal(10, 0.5, 500).round(-1)[home], rng.lognormal(7, 0.6, len(home)).round()
    ages = {name: rng.integers(0, most, len(home)) for name, most in (("age", 90), ("sex", 2), ("job", 20))}
    return pl.DataFrame({"home": home, "income": income, **ages, "wage": wage})


@pytest.mark.parametrize(("n", "changed", "holds"), [(0, 0, True), (5, 0, None), (5, 1, True), (30, 1, None)])
def test_a_few_copies_are_left_open_though_no_bound_is_sure_of_them(n, changed, holds):
    """Members of households count as one: five of 1,700 are nothing to a bound, nor 30 with one number changed."""
    original = homes(1)
    places = pl.int_range(n) % 3
    copies = original[: n * 41 : 41].with_columns(
        pl.when(places == i).then(pl.col(name) + changed).otherwise(name).cast(original[name].dtype).alias(name)
        for i, name in enumerate(("age", "wage", "income"))
    )
    release = pl.concat([homes(2), copies.with_columns(home=9_000 + pl.int_range(n))])
    scenario = Scenario(keys=["age", "sex"], household="home", thresholds={"copied_records": 0.0})
    found = copied_records(original, release, scenario=scenario)
    assert found.copied_records == 0
    assert round(found.copies * release.height) == n * (not changed)
    assert [share for share, _ in found.doubtful] == ([] if holds else [pytest.approx(n / release.height, rel=0.1)])
    assert copied_records(original.lazy(), release.lazy(), scenario=scenario).doubtful == found.doubtful
    for limit, expected in ((0.0, holds), (0.05, True)):
        scenario = Scenario(keys=["age", "sex"], household="home", thresholds={"copied_records": limit})
        with quiet():
            (verdict,) = (
                v for v in sdc.assess(original, release, scenario=scenario).verdicts if v.name == "copied_records"
            )
        assert verdict.holds is expected
        assert verdict.holds or "equal a single original record" in verdict.reason


def test_numbers_are_compared_at_the_decimals_of_the_release():
    exact = pl.DataFrame({"x": [1.234, 2.345, 3.456, None], "y": ["a", "b", "c", "d"]})
    rounded = exact.with_columns(pl.col("x").round(1))
    assert copied_records(exact, rounded).copies == 1
    assert copied_records(rounded, exact).copies == 0.25
    assert decimals_shown(np.array([np.nan, np.inf])) == 0
    assert decimals_shown(np.array([0.25, 1e307])) == 2
    signed = pl.DataFrame({"x": [0.0, 1.5], "y": ["a", "b"]})
    assert copied_records(signed, signed.with_columns(x=pl.Series([-0.0, 1.5]))).copies == 1
    whole = pl.DataFrame({"x": [0, 1], "y": ["a", "b"]})
    assert copied_records(whole, whole.with_columns(pl.col("x").cast(pl.Float64))).copies == 1


def test_ids_and_weights_are_not_compared():
    original = people(200, 1).with_columns(w=pl.int_range(200), no=pl.int_range(200), home=pl.int_range(200) // 2)
    release = original.with_columns(w=pl.lit(1), no=pl.lit(0), home=pl.lit(0))
    scenario = Scenario(keys=["age"], weight="w", identifiers=["no"], household="home")
    assert copied_records(original, release, scenario=scenario).variables == tuple(COLUMNS)
    assert copied_records(original, release, id="no", variables=["age", "sex"]).variables == ("age", "sex")
    anew = people(200, 1).with_columns(key=pl.int_range(200) + 1000)
    found = copied_records(people(200, 1).with_columns(key=pl.int_range(200)), anew)
    assert (
        found.notes["variables"] == "no released value of them is in the original, so they are left out like ids: key"
    )
    assert found.copies == copied_records(people(200, 1), people(200, 1)).copies


def test_several_releases_each_have_their_figures():
    original = people(300, 1)
    result = copied_records(original, [people(200, 2), original])
    first, second = result.per_release
    assert first["copied_records"] == 0 < second["copied_records"]
    assert result.copies == pytest.approx((first["copies"] + second["copies"]) / 2)
    assert second["copies"] == copied_records(original, original).copies


def test_rows_matched_by_an_id_give_the_same():
    original = people(200, 1).with_row_index("no").with_columns(pl.col("no").cast(pl.Int64))
    release = original.sample(fraction=1, shuffle=True, seed=1)
    pair = sdc.cells.pair.open_pair(original, release, categories={"keys": ["age"]}, aligned=True, id="no")
    assert copied_records(pair).to_dict() == copied_records(original, release, id="no").to_dict()


def test_one_column_only():
    result = copied_records(pl.DataFrame({"x": [1, 2, 3]}), pl.DataFrame({"x": [1, 1, 4]}))
    assert (result.copies, result.left_out) == (pytest.approx(2 / 3), (None,))
    assert math.isnan(result.near_copies)
    assert result.notes["near_copies"] == "there is one column only"


def test_plans_give_the_same():
    original, release, aside = people(200, 1), people(150, 2), people(150, 3)
    eager = copied_records(original, release, control=aside)
    for made in (pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow):
        assert eager.to_dict() == copied_records(made(original), made(release), control=made(aside)).to_dict()


def test_plans_that_were_recoded_are_counted_as_they_are():
    original = people(400, 1)
    released = sdc.recode(original, column="age", bands=[0, 30, 40, 50, 100]).data
    scenario = Scenario(keys=["age", "sex"], thresholds={"copied_records": 0.0})
    with quiet():
        eager = sdc.assess(original, released, scenario=scenario)["default"]["copied_records"]
        lazy = sdc.assess(original.lazy(), released.lazy(), scenario=scenario)["default"]["copied_records"]
    assert eager.variables == tuple(COLUMNS)
    assert eager.copies == pytest.approx(by_hand(released, released, COLUMNS)[0])
    assert lazy.to_dict() == eager.to_dict()


def test_what_it_refuses():
    one = pl.DataFrame({"x": [1, 2]})
    with pytest.raises(ColumnError, match="no column in common that is compared"):
        copied_records(one, pl.DataFrame({"y": [1]}))
    with pytest.raises(ColumnError, match="holds numbers in the original and text in the release"):
        copied_records(one, pl.DataFrame({"x": ["1"]}))
    with pytest.raises(DataError, match="no records"):
        copied_records(one, one.clear())
    for level in (0.4, 1.0):
        with pytest.raises(DataError, match="level is the confidence of a lower bound"):
            copied_records(one, one, level=level)
    with pytest.raises(ColumnError, match="the release has no column 'z'"):
        copied_records(one, one, variables=["z"])


PEOPLE_ON_ENGINE = every_measure.people(1).with_columns(home=pl.when(pl.col("row") % 7 != 0).then("home"))


def test_files_that_an_engine_counts():
    """With a control file in memory, households and missing homes, a column shown with decimals, and equal records."""
    people = pl.concat([PEOPLE_ON_ENGINE[:60]] * 2 + [PEOPLE_ON_ENGINE[60:]])
    release = pl.concat([people[10:90], people[70:100]]).with_columns(pl.col("income").round(0))
    how = {"control": every_measure.people(2), "scenario": Scenario(keys=["sex"], household="home")}
    variables = ["sex", "region", "size", "income", "ill"]
    for given in (how, {"scenario": how["scenario"]}, {"scenario": Scenario(keys=["sex"])}):
        expected = copied_records(people, release, variables=variables, **given)
        counted = copied_records(people.lazy(), release.lazy(), variables=variables, **given)
        assert counted.pair.times is not None
        assert (counted.to_dict(), counted.doubtful) == (expected.to_dict(), expected.doubtful)
        assert copied_records(people, release.lazy(), variables=variables, **given).to_dict() == expected.to_dict()
    control = how["control"].lazy()
    brought = copied_records(people.lazy(), release.lazy(), control=control, variables=variables)
    assert brought.to_dict() == copied_records(people, release, control=how["control"], variables=variables).to_dict()


def test_a_number_of_people_is_named_where_nobody_chose_the_columns():
    """Other numbers make every record differ: less than 1 % instead of all are copies."""
    original = people(300, 1).unique(COLUMNS, maintain_order=True).drop_nulls().head(200)
    original = original.with_columns(pid=pl.int_range(pl.len()))
    release = original.with_columns(pid=(pl.int_range(pl.len()) * 7 + 3) % pl.len())
    with pytest.warns(SdcWarning, match="^pid: says whose a row is"):
        assert copied_records(original, release).copies < 0.01
    assert copied_records(original, release, variables=COLUMNS).copies == 1
    assert copied_records(original, release, scenario=Scenario(keys=["age"], person="pid")).copies == 1
    plans = original.lazy(), release.lazy()
    with pytest.warns(SdcWarning, match="^pid: says whose a row is"):
        assert copied_records(*plans).copies < 0.01
