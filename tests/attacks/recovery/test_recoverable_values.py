"""Recoverable values: what gives values back, what does not, and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from attacks.recovery.made import KEYS, blanked, released, survey, told_by_absence
from sdckit import Scenario, recoverable_values
from sdckit.attacks.recovery import touched_cells
from sdckit.attacks.recovery.reconstruction_rules import Source
from sdckit.attacks.recovery.recoverable_values import ColumnRecovery, advice, class_sizes, optional_roles, shown_size
from sdckit.cells.pair import open_files
from sdckit.errors import ColumnError, DataError, ScenarioError

ORIGINAL = survey()
RELEASED = released(ORIGINAL)
ROLES = {"weight": "weight", "household": "home", "keys": KEYS}


@cache
def of_survey(guess=True):
    """What the release of the survey gives back; worked out once, since several tests read it."""
    return recoverable_values(RELEASED, ORIGINAL, guess=guess, **ROLES)


NUMBERED = [one.with_columns(id=pl.int_range(one.height)) for one in (RELEASED, ORIGINAL)]


@cache
def of_numbered():
    """The same of rows that an id brings together, without guesses."""
    return recoverable_values(*NUMBERED, id="id", guess=False, **ROLES)


def only(found, column):
    return next(one for one in found.columns[0] if one.column == column)


def test_threads_give_what_one_after_another_gives(monkeypatch):
    monkeypatch.setattr(touched_cells, "FEWEST_APART", 0)
    on_threads = recoverable_values(RELEASED, ORIGINAL, guess=False, **ROLES)
    alone = of_survey(guess=False)
    assert on_threads.to_dict() == alone.to_dict()
    assert on_threads.columns == alone.columns
    assert on_threads.records.equals(alone.records)
    assert on_threads.undone().equals(alone.undone())


def test_who_ends_a_search_on_threads_ends_it(monkeypatch):
    monkeypatch.setattr(touched_cells, "FEWEST_APART", 0)

    def stop(words):
        if words.startswith("reading pairs of columns, 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recoverable_values(RELEASED, ORIGINAL, guess=False, step=stop, **ROLES)


def test_a_survey_of_households_gives_its_values_back():
    found = of_survey()
    for column in ("region", "size", "total"):
        one = only(found, column)
        assert one.touched == one.restored == one.right > 0, column
        assert one.share == 1
    for column in ("sex", "edu"):
        assert only(found, column).restored == 0
    age = only(found, "age")
    assert age.right == age.restored
    assert age.restored + age.narrowed == ORIGINAL.height
    assert age.remaining == 2
    assert found.recoverable == 1
    assert found.right == found.restored
    told = {source.words for source in only(found, "region").sources}
    assert {"weight", "home (mates share it)"} <= told
    assert only(found, "size").sources[0].words == "the rows of a household counted (home)"
    assert only(found, "total").sources[0].columns == ("wage", "capital")
    words = " ".join(found.advice)
    for remedy in ("coarsen_weights", "household_variables", "limit_households", "wage and capital"):
        assert remedy in words


def test_the_file_put_back_holds_the_true_values():
    undone = of_survey().undone()
    assert undone["region"].to_list() == ORIGINAL["region"].to_list()
    assert undone["size"].to_list() == ORIGINAL["size"].cast(pl.String).to_list()
    assert undone["total"].to_list() == ORIGINAL["total"].to_list()
    assert undone["sex"].equals(RELEASED["sex"])
    assert undone.columns == RELEASED.columns


def test_who_is_recognised_in_the_file_put_back_is_counted():
    found = recoverable_values(RELEASED, ORIGINAL, keys=KEYS, household="home", weight="weight", k=[2, 3, 4])
    truth = ORIGINAL.with_columns(sex=RELEASED["sex"], edu=RELEASED["edu"]).drop_nulls(["sex", "edu"])
    sizes = truth.group_by(KEYS).len()["len"]
    assert found.below_k[0][2] <= sizes.filter(sizes < 2).sum()  # suppressed ones match others, too
    assert found.undone_uniques == found.below_k[0][2]
    assert found.below_k[0][2] <= found.below_k[0][3] <= found.below_k[0][4]
    census = recoverable_values(RELEASED, ORIGINAL, keys=KEYS, household="home", risk=0.5)
    assert census.undone_expected > found.undone_expected
    assert census.above_risk[0] == census.below_k[0][2]


def test_nothing_changed_gives_nothing_back():
    found = recoverable_values(ORIGINAL, ORIGINAL, **ROLES)
    assert (found.touched, found.restored, found.right, found.recoverable) == (0, 0, 0, 0)
    assert found.notes["touched"] == "no value of the release was changed"
    assert found.records.height == 0


@pytest.mark.parametrize("copy", ["same", "labels", "scaled", "negative", "text of numbers"])
def test_a_copied_column_gives_everything_back(copy):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 40, 300)
    if copy == "labels":
        values = np.array([f"v{one}" for one in rng.integers(0, 4, 300)])
    other = {
        "same": lambda: values, "labels": lambda: [f"w{one}" for one in values], "scaled": lambda: values * 2.54 + 7,
        "negative": lambda: -3 * values, "text of numbers": lambda: [str(one) for one in values],
    }[copy]()  # fmt: skip
    whole = pl.DataFrame({"x": values, "copy": other})
    found = recoverable_values(blanked(whole, ["x"], 0.1), whole)
    assert only(found, "x").share == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(2, 200), st.booleans())
def test_unrelated_columns_give_nothing_back(seed, levels, distinct, skewed):
    rng = np.random.default_rng(seed)
    n = 400
    shares = np.array([0.9, *[0.1 / (levels - 1)] * (levels - 1)]) if skewed else None
    whole = pl.DataFrame(
        {
            "x": rng.choice([f"v{one}" for one in range(levels)], n, p=shares),
            "y": rng.integers(0, distinct, n), "z": rng.integers(0, 10, n), "w": rng.random(n),
        }
    )  # fmt: skip
    found = recoverable_values(blanked(whole, ["x"], 0.1, seed), whole, weight="w", guess=False)
    assert only(found, "x").restored == 0


def test_guessing_an_unrelated_column_is_no_better_than_its_margin():
    rng = np.random.default_rng(4)
    whole = pl.DataFrame({"x": rng.choice(["a", "b", "c"], 4000), "y": rng.integers(0, 9, 4000)})
    found = recoverable_values(blanked(whole, ["x"], 0.2), whole, seed=1)
    assert found.guess_low < 0 < found.guess_high
    related = whole.with_columns(x=pl.when(pl.Series(rng.random(4000) < 0.7)).then(pl.col("y") % 3).otherwise(1))
    found = recoverable_values(blanked(related, ["x"], 0.2), related, seed=1)
    assert found.guess_low > 0
    assert found.guess_rate - found.guess_baseline == pytest.approx(found.guess_beyond)


def test_two_columns_together_tell():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 8, 3000), rng.integers(0, 9, 3000)
    whole = pl.DataFrame({"a": a, "b": b, "x": rng.permutation(72)[a * 9 + b] % 5})
    hidden = blanked(whole, ["x"])
    found = recoverable_values(hidden, whole)
    assert only(found, "x").share == 1
    assert only(found, "x").sources[0].words == "a with b"
    assert recoverable_values(hidden, whole, pairs=False).restored == 0


def test_mates_are_numbered_and_have_one_head():
    rng = np.random.default_rng(6)
    size = rng.integers(1, 6, 400)
    home = np.repeat(np.arange(400), size)
    number = np.concatenate([rng.permutation(one) + 1 for one in size])
    whole = pl.DataFrame({"home": home, "number": number, "head": np.where(number == 1, "yes", "no")})
    one = recoverable_values(blanked(whole.drop("head"), ["number"]), whole.drop("head"), household="home")
    assert only(one, "number").right == only(one, "number").restored > 0.5 * only(one, "number").touched
    two = recoverable_values(blanked(whole.drop("number"), ["head"]), whole.drop("number"), household="home")
    assert only(two, "head").right == only(two, "head").restored > 0
    for found, column in ((one, "number"), (two, "head")):
        assert (
            f"suppress home together with {column} (together), or leave it out: the mates tell {column}" in found.advice
        )


def test_children_are_counted_from_the_ages_of_mates():
    data = survey(1500, seed=7).select("home", "age")
    children = data.with_columns(kids=(pl.col("age") < 15).sum().over("home"))
    found = recoverable_values(blanked(children, ["kids"], 0.2), children, household="home")
    assert only(found, "kids").share == 1
    alone = children.with_columns(home=pl.int_range(pl.len()))
    assert recoverable_values(blanked(alone, ["kids"], 0.2), alone, household="home", guess=False).restored == 0


def test_a_total_of_the_household_less_the_mates():
    data = survey(1200, seed=8).select("home", "wage")
    whole = data.with_columns(income=pl.col("wage").sum().over("home"))
    found = recoverable_values(blanked(whole, ["wage"], 0.02), whole, household="home", guess=False)
    one = only(found, "wage")
    assert one.right == one.restored
    assert one.share > 0.9


def test_the_order_of_the_rows_tells():
    data = survey(800, seed=9).select("region", "edu").sort("region")
    found = recoverable_values(blanked(data, ["region"]), data, guess=False)
    assert only(found, "region").share > 0.9
    assert only(found, "region").sources[0].words == "the order of the rows"
    shuffled = data.sample(fraction=1, shuffle=True, seed=1)
    assert recoverable_values(blanked(shuffled, ["region"]), shuffled, guess=False).restored == 0


def test_the_first_digits_of_an_id_tell():
    rng = np.random.default_rng(10)
    region = rng.integers(1, 10, 900)
    whole = pl.DataFrame({"number": region * 10_000 + rng.permutation(900), "region": [f"r{one}" for one in region]})
    found = recoverable_values(blanked(whole, ["region"]), whole, guess=False)
    assert only(found, "region").share == 1
    assert any(source.words == "the first digits of number" for source in only(found, "region").sources)


def test_a_product_gives_its_parts_back():
    rng = np.random.default_rng(11)
    hours, pay = rng.integers(10, 60, 500), rng.uniform(8, 90, 500)
    whole = pl.DataFrame({"hours": hours, "pay": pay, "income": hours * pay})
    found = recoverable_values(blanked(whole, ["pay"]), whole, guess=False)
    assert only(found, "pay").share == 1
    assert "product" in only(found, "pay").sources[0].words


def test_restored_values_restore_others():
    """The weight tells the region of one mate, who tells it of the other."""
    rng = np.random.default_rng(12)
    region = np.repeat(rng.integers(0, 6, 500), 2)
    weight = np.where(np.arange(1000) % 2 == 0, region * 10.0 + 5, 1000.0)
    whole = pl.DataFrame({"home": np.repeat(np.arange(500), 2), "region": [f"r{one}" for one in region], "w": weight})
    gone = np.repeat(rng.random(500) < 0.1, 2)
    hidden = whole.with_columns(region=pl.when(pl.Series(gone)).then(None).otherwise("region"))
    order = rng.permutation(1000)
    found = recoverable_values(hidden[order], whole[order], household="home", weight="w", guess=False)
    assert only(found, "region").share == 1


def test_pram_is_voted_down_by_a_copy():
    rng = np.random.default_rng(13)
    x = rng.integers(0, 6, 2000)
    changed = np.where(rng.random(2000) < 0.1, rng.integers(0, 6, 2000), x)
    whole = pl.DataFrame({"x": [f"v{one}" for one in x], "copy": x})
    pram = whole.with_columns(x=pl.Series([f"v{one}" for one in changed]))
    found = recoverable_values(pram, whole, guess=False)
    assert only(found, "x").kinds == ("perturbed",)
    assert only(found, "x").share == 1
    assert recoverable_values(pram.drop("copy"), whole, guess=False).restored == 0


def test_a_wrong_rule_is_counted_as_wrong():
    """Everybody of group 3 is single but those whose value was suppressed: the rule errs about them alone."""
    rng = np.random.default_rng(14)
    group = rng.integers(0, 4, 2000)
    status = np.where(group == 3, "single", rng.choice(["single", "married", "widowed"], 2000))
    odd = np.flatnonzero(group == 3)[:7]
    status[odd] = "married"
    whole = pl.DataFrame({"group": group, "status": status})
    gone = np.isin(np.arange(2000), odd)
    hidden = whole.with_columns(status=pl.when(pl.Series(gone)).then(None).otherwise("status"))
    found = recoverable_values(hidden, whole, keys=["group", "status"])
    assert (found.restored, found.right, found.recoverable) == (7, 0, 0)
    assert recoverable_values(hidden, keys=["group", "status"]).recoverable == 1


def test_without_the_original_what_is_seen_counts():
    found = recoverable_values(RELEASED, **ROLES)
    assert np.isnan(found.right)
    assert only(found, "region").restored == only(found, "region").touched == RELEASED["region"].null_count()
    assert only(found, "size").share == 1
    assert only(found, "sex").guess == pytest.approx(0.5, abs=0.08)
    heaped = ORIGINAL.select("home", size=pl.col("size").clip(upper_bound=4))
    assert "top- or bottom-coded" in only(recoverable_values(heaped, household="home"), "size").kinds


def test_a_log_says_what_was_changed():
    step = SimpleNamespace(method="local_suppression", changed={"region": 3, "sex": 0}, parameters={})
    log = SimpleNamespace(n=RELEASED.height, steps=(step,))
    found = recoverable_values(RELEASED, log=log, **ROLES)
    assert [one.column for one in found.columns[0]] == ["region"]
    coded = SimpleNamespace(method="top_bottom_code", changed={"size": 9}, parameters={"top": 4, "bottom": None})
    four = ORIGINAL.with_columns(pl.col("size").clip(upper_bound=4))
    found = recoverable_values(four, log=SimpleNamespace(n=four.height, steps=(coded,)), **ROLES)
    assert only(found, "size").touched == (four["size"] == 4).sum()
    assert only(found, "size").share == 1


def test_several_releases_are_judged_each():
    found = recoverable_values([RELEASED, ORIGINAL], ORIGINAL, **ROLES)
    assert found.m == 2
    assert [one["recoverable"] for one in found.per_release] == [1, 0]
    assert found.by_release["touched"].to_list()[1] == 0
    assert set(found.records["release"].to_list()) == {1}


def test_an_id_brings_the_rows_together():
    numbered = ORIGINAL.with_columns(id=pl.int_range(ORIGINAL.height))
    order = np.random.default_rng(15).permutation(ORIGINAL.height)
    moved = RELEASED.with_columns(id=pl.int_range(ORIGINAL.height))[order]
    one = recoverable_values(moved, numbered, id="id", guess=False, **ROLES)
    two = of_survey(guess=False)
    assert only(one, "region").right == only(two, "region").right
    assert only(one, "size").right == only(two, "size").right


@pytest.mark.parametrize("engine", ["pandas", "pyarrow", "lazy", "duckdb"])
def test_on_other_engines(engine):
    make = {
        "pandas": lambda data: data.to_pandas(), "pyarrow": lambda data: data.to_arrow(),
        "lazy": lambda data: data.lazy(), "duckdb": lambda data: duckdb.from_arrow(data.to_arrow()),
    }[engine]  # fmt: skip
    found = recoverable_values(*(make(one) for one in NUMBERED), id="id", guess=False, **ROLES)
    assert found.per_release == of_numbered().per_release
    kind = pd.DataFrame if engine == "pandas" else object
    assert isinstance(found.records, kind)
    assert isinstance(found.undone(), kind)


def test_a_row_per_changed_value():
    found = of_survey()
    records = found.records
    assert records.height == found.touched
    states = dict(records.group_by("state").len().iter_rows())
    assert states["certain"] == found.restored
    assert states["narrowed"] == found.narrowed
    certain = records.filter(pl.col("state") == "certain")
    assert certain["remaining"].unique().to_list() == [1]
    assert (certain["by"] != "").all()


def test_the_same_seed_gives_the_same_guesses_and_a_pickle_keeps_the_figures():
    one, two = (recoverable_values(RELEASED, ORIGINAL, seed=4, **ROLES) for _ in range(2))
    assert one.per_release == two.per_release
    kept = pickle.loads(pickle.dumps(one))
    assert kept.to_dict() == one.to_dict()
    with pytest.raises(DataError, match="let go"):
        _ = kept.records.height


def test_one_column_on_request():
    found = recoverable_values(RELEASED, ORIGINAL, columns="total", **ROLES)
    assert [one.column for one in found.columns[0]] == ["total"]


@pytest.mark.parametrize(
    ("kind", "words", "change"),
    [
        (ColumnError, "household: no column 'house'", {"household": "house"}),
        (ColumnError, "columns: no column 'regoin'", {"columns": ["regoin"]}),
        (DataError, "pairs", {"pairs": 1}),
        (DataError, "k is the size of a class", {"k": 1}),
        (DataError, "risk", {"risk": 2}),
        (DataError, "the log", {"log": SimpleNamespace(n=3, steps=())}),
        (DataError, "rows must belong together", {"original": ORIGINAL.head(20)}),
        (ScenarioError, "scenario", {"scenario": 3}),
    ],
)
def test_bad_input_is_told_before_any_work(kind, words, change):
    given = {"original": None, **ROLES, **change}
    if "log" in change:
        words = "log"
    if "scenario" in change:
        given = {"original": None, "scenario": 3}
    if "household" in change:
        given["household"] = change["household"]
    with pytest.raises(kind, match=words):
        recoverable_values(RELEASED, step=lambda _: pytest.fail("work was started"), **given)


def test_a_scenario_gives_the_roles():
    scenario = Scenario(keys=KEYS, weight="weight", household="home", thresholds={"k": 4})
    found = recoverable_values(RELEASED, ORIGINAL, scenario=scenario, k=[2, 4], guess=False)
    assert found.shown_k == 4
    assert found.keys == tuple(KEYS)
    assert found.undone_uniques == of_survey(guess=False).undone_uniques
    with pytest.raises(DataError, match="from 1 to 1"):
        found.undone(2)


# What one column gives back, in figures and in advice.


PLAIN = ColumnRecovery(
    "region", ("suppressed",), 20, 10, None, 4, 2.0, 20, 0.5, 0.25, np.nan, np.nan, np.nan,
    (Source(("weight",), "weight", 10),), ("leave the weight out",),
)  # fmt: skip


def test_what_is_right_counts_where_it_is_known():
    assert (PLAIN.counted, PLAIN.share, PLAIN.told_by) == (10, 0.5, "weight")
    known = replace(PLAIN, right=5)
    assert (known.counted, known.share) == (5, 0.25)
    wrong = replace(PLAIN, right=0)
    assert (wrong.share, wrong.told_by) == (0, "")
    assert replace(PLAIN, touched=0, restored=0).share == 0


def test_three_sources_are_named():
    many = tuple(Source((name,), name, 9) for name in "abcd")
    assert replace(PLAIN, sources=many).told_by == "a; b; c"


def test_the_most_telling_comes_first():
    other = replace(PLAIN, column="sex", restored=15, remedies=("order the rows",))
    none = replace(PLAIN, column="edu", restored=0, remedies=("never said",))
    assert advice([PLAIN, other, none]) == ("order the rows", "leave the weight out")
    assert advice([]) == ()


def test_the_figures_of_a_column_belong_together():
    original = survey(500)
    found = recoverable_values(released(original), original, keys=KEYS, weight="weight", household="home", seed=1)
    for one in found.columns[0]:
        states = found.records.filter(column=one.column)["state"].to_list()
        assert len(states) == one.touched
        assert (states.count("certain"), states.count("narrowed")) == (one.restored, one.narrowed)
        assert one.counted == one.right <= one.restored <= one.touched
        told = [source.told for source in one.sources]
        assert told == sorted(told, reverse=True)
        if one.n_guessed:
            assert one.guess_beyond == pytest.approx(one.guess - one.guess_baseline)
            assert one.guess_low <= one.guess_beyond <= one.guess_high


# Keys may be left out; sizes of classes are one or several; the one shown is the limit declared.


def test_with_keys_or_a_scenario_the_roles_are_those_of_every_measure() -> None:
    scenario = sdc.Scenario(keys=["age", "sex"], weight="w")
    given = {"missing": None, "alpha": None, "id": None}
    assert optional_roles(keys=None, scenario=scenario, **given).weight == "w"
    assert optional_roles(keys=["age"], scenario=None, **given).keys == ("age",)


@pytest.mark.parametrize("role", ["id", "weight", "household"])
def test_without_keys_the_other_roles_are_looked_at(role: str) -> None:
    given = {"keys": None, "scenario": None, "missing": None, "alpha": None, "id": None}
    assert getattr(optional_roles(**{**given, role: "column"}), role) == "column"
    with pytest.raises(sdc.SdcError):
        optional_roles(**{**given, role: 7})


def test_sizes_of_classes() -> None:
    assert class_sizes(4) == (4,)
    with pytest.raises(sdc.SdcError, match="k"):
        class_sizes([1, 3])
    declared = sdc.Scenario(keys=["age"], thresholds={"k": 5})
    assert shown_size([2, 3, 5], declared) == 5
    assert shown_size([2, 3], declared) == 3
    assert shown_size([4, 7], None) == 4


def test_no_class_size_is_refused():
    data = pl.DataFrame({"a": [1, 2, 3] * 30})
    with pytest.raises(DataError, match="give one at least"):
        sdc.recoverable_values(data, data, keys=["a"], k=())


@pytest.mark.parametrize("with_original", [False, True], ids=["alone", "beside the original"])
@pytest.mark.parametrize("labels", [None, ["young", "middle", "old"]], ids=["ranges", "names"])
def test_a_suppressed_band_is_given_back_whatever_bands_are_called(
    labels: list[str] | None, with_original: bool
) -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(0, 90, 1_000)
    school = np.where(age < 30, 1, rng.integers(2, 4, 1_000))  # tells the young, and of the others nothing
    whole = pl.DataFrame({"sex": rng.integers(1, 3, 1_000), "age": age, "school": school})
    banded = sdc.recode(whole, column="age", bands=[0, 30, 60, 90], labels=labels).data
    blank = rng.random(1_000) < 0.08
    release = banded.with_columns(age=pl.when(pl.Series(blank)).then(None).otherwise(pl.col("age").cast(pl.String)))
    found = sdc.recoverable_values(release, whole if with_original else None, keys=["sex", "age"], guess=False)
    (column,) = found.columns[0]
    young = int((blank & (age < 30)).sum())
    assert (column.touched, column.alone, column.told_by) == (int(blank.sum()), young, "school")
    assert column.known == (young if with_original else None)
    put_back = found.undone()["age"].to_list()
    told = "0-29" if labels is None else "young"
    assert [put_back[i] for i in np.flatnonzero(blank & (age < 30))] == [told] * young


def test_numbers_that_a_range_gives_back_count_before_the_range() -> None:
    age = np.random.default_rng(2).integers(0, 90, 600)
    whole = pl.DataFrame({"age": age, "born": 2020 - age})
    banded = sdc.recode(whole, column="age", bands=[0, 30, 60, 90]).data
    release = banded.with_columns(
        age=pl.when(pl.int_range(600) < 40).then(None).otherwise(pl.col("age").cast(pl.String))
    )
    (column,) = sdc.recoverable_values(release, whole, keys=["age"], guess=False).columns[0]
    assert (column.touched, column.known) == (600, 600)


def test_rows_that_nothing_brings_together_are_not_compared():
    mixed = RELEASED.sample(fraction=1, shuffle=True, seed=3)
    found, alone = (recoverable_values(mixed, of, guess=False, **ROLES) for of in (ORIGINAL, None))
    assert found.notes["right"].startswith("values are not compared: nothing says which rows of the release")
    assert found.columns == alone.columns  # nothing is taken for changed that only stands beside another row
    assert found.advice == alone.advice
    by_hand = recoverable_values(RELEASED, ORIGINAL, guess=False, aligned=True, **ROLES)
    assert by_hand.columns == of_survey(guess=False).columns
    declared = Scenario(keys=KEYS, weight="weight", household="home", aligned=True)
    assert "right" not in recoverable_values(mixed, ORIGINAL, scenario=declared, guess=False).notes


@pytest.mark.parametrize("huge", [1.7e308, -1e200, np.inf])
def test_a_number_too_large_for_arithmetic_hides_nothing_of_the_others(huge: float) -> None:
    rng = np.random.default_rng(3)
    pay, bonus = rng.normal(100, 20, 400).round(1), rng.normal(50, 9, 400).round(1)
    pay[3] = huge
    whole = pl.DataFrame({"pay": pay, "bonus": bonus, "total": pay + bonus, "age": rng.integers(20, 60, 400)})
    blank = np.arange(400) % 5 == 0
    release = whole.with_columns(pay=pl.when(pl.Series(blank)).then(None).otherwise("pay"))
    (column,) = recoverable_values(release, whole, keys=["age"]).columns[0]
    assert (column.touched, column.known) == (80, 80)
    noisy = whole.with_columns(pay=pl.col("pay") * pl.Series(rng.uniform(0.9, 1.1, 400)).clip(0, 1))
    (column,) = recoverable_values(noisy, whole, keys=["age"], aligned=True).columns[0]  # and where it is guessed
    assert column.touched > 150
    assert column.known >= column.touched - 1


def test_numbers_that_tell_a_range_of_the_original_tell_it_rightly():
    """An age group was taken out, and the age goes out: the number lies in the range that the original holds."""
    age = np.random.default_rng(1).integers(0, 100, 300)
    bands = [f"{low}-{low + 19}" for low in (age // 20 * 20).tolist()]
    whole = pl.DataFrame({"sex": ["f", "m"] * 150, "age": age, "band": bands})
    blank = whole.with_columns(band=pl.when(pl.int_range(300) % 5 == 0).then(None).otherwise("band"))
    found = recoverable_values(blank, whole, keys=["sex", "band"], aligned=True, guess=False)
    assert (found.touched, found.restored, found.right, found.recoverable) == (60, 60, 60, 1)
    assert found.undone()["band"].to_list() == bands  # in the file's own ranges, not a group for each age
    scenario = Scenario(keys=["sex", "band"], insensitive=["age"], thresholds={"recoverable": 0.0}, aligned=True)
    assert [verdict.holds for verdict in sdc.check(whole, blank, scenario=scenario).verdicts] == [False]
    elsewhere = whole.with_columns(band=pl.when(pl.int_range(300) % 5 == 0).then(pl.lit("80-99")).otherwise("band"))
    wrong = recoverable_values(blank, elsewhere, aligned=True, guess=False)
    assert 0 < wrong.right < wrong.restored  # a number outside the range of the original is not right


def guesses_by_what_is_shown(hidden: pl.DataFrame, whole: pl.DataFrame) -> tuple[int, int]:
    """Suppressed values for which one value is left that no record shows beside what the record shows; right ones."""
    rows, guesses = hidden.rows(), []
    listed = [{*hidden[name].drop_nulls()} for name in hidden.columns]
    for row, truth in zip(rows, whole.rows(), strict=True):
        own = [i for i, value in enumerate(row) if value is not None]
        alike = [other for other in rows if own and all(other[i] == row[i] for i in own)]
        for i in {*range(len(row))} - {*own}:
            left = listed[i] - {other[i] for other in alike}
            guesses += [left == {truth[i]}] if len(left) == 1 else []
    return len(guesses), sum(guesses)


@pytest.mark.parametrize(
    ("seed", "hide", "by_chance", "known"),
    [
        (21, False, False, 7), (8, False, False, 5), (18, False, False, 10), (10, False, False, 0),
        (21, True, False, 0), (8, True, False, 0), (21, False, True, 0),
    ],
)  # fmt: skip
def test_the_only_value_that_no_record_shows_beside_the_other_keys_is_what_is_missing(seed, hide, by_chance, known):
    """Where nine tenths of all such guesses are right; nobody of seed 8 lost a sex, which is known of everybody."""
    whole = told_by_absence(seed)
    keys = whole.columns
    hidden = sdc.local_suppression(whole, keys=keys, k=3, hide_implied=hide, seed=1).data
    if by_chance:
        hidden = blanked(whole, keys, 0.02)
    asked, right = guesses_by_what_is_shown(hidden, whole)
    result = recoverable_values(hidden, whole, keys=keys, aligned=True, guess=False)
    columns = result.columns[0]
    sources = [source for column in columns for source in column.known_sources]
    assert result.known == sum(source.told for source in sources) == known == (right if right > 0.9 * asked else 0)
    assert {source.kind for source in sources} == ({"beside"} if known else set())
    remedies = [words for column in columns for words in column.known_remedies]
    assert all("(local_suppression with hide_implied), or put categories of" in words for words in remedies)
    assert bool(remedies) == bool(known)
    without = recoverable_values(hidden, keys=keys, guess=False)  # by the release alone nobody knows who is right
    assert (result.undone_k < without.undone_k) == bool(known)


def test_files_that_are_open_are_asked_again_with_other_roles():
    """What is kept of them is that of the same roles: what to do names the weight."""
    whole = pl.DataFrame({"region": ["n", "s", "e", "w"] * 25, "weight": [10, 20, 30, 40] * 25})
    blank = whole.with_columns(region=pl.when(pl.int_range(100) < 9).then(None).otherwise("region"))
    pair = replace(open_files(whole, blank), aligned=True)
    for weight in (None, "weight", None):
        asked = {"weight": weight, "aligned": True}
        assert recoverable_values(pair, **asked).advice == recoverable_values(blank, whole, **asked).advice


@pytest.mark.parametrize("made", range(3))
def test_two_amounts_that_are_missing_together_tell_a_key(made):
    """Children have neither pay nor rent; some others lack either, and none of them both."""
    rng, n = np.random.default_rng(made), 2000
    child = rng.random(n) < (0.07, 0.06, 0.09)[made]
    no_pay = child | (rng.random(n) < 0.08)
    no_rent = child | (~no_pay & (rng.random(n) < 0.09))
    kind = np.where(child, "child", rng.choice(["single", "couple", "other"], n, p=[0.5, 0.3, 0.2]))
    amounts = {"pay": rng.lognormal(8, 0.5, n), "rent": rng.lognormal(6, 0.4, n)}
    if made == 1:  # of one amount many have the same
        amounts["rent"] = rng.integers(100, 900, n).astype(float)
    whole = pl.DataFrame({"kind": kind, "sex": rng.integers(0, 2, n), **amounts}).with_columns(
        pay=pl.when(~pl.Series(no_pay)).then("pay"), rent=pl.when(~pl.Series(no_rent)).then("rent")
    )
    hidden = (child & (rng.random(n) < 0.3)) | (rng.random(n) < 0.01)
    blank = whole.with_columns(kind=pl.when(~pl.Series(hidden)).then("kind"))
    found = recoverable_values(blank, whole, keys=["kind"], aligned=True, guess=False)
    assert found.right == found.restored == np.count_nonzero(hidden & child) > 20
    assert found.told_by == "whether pay is missing with whether rent is missing"
    assert found.advice == (
        "coarsen or leave out one of pay and rent, or suppress it together with kind: together they tell kind",
    )
    assert recoverable_values(blank, whole, keys=["kind"], aligned=True, guess=False, pairs=False).restored == 0
    either = pl.Series(rng.permutation(no_rent))  # missing at random: nobody is told by it
    mixed = [frame.with_columns(rent=pl.when(~either).then(pl.Series(amounts["rent"]))) for frame in (blank, whole)]
    assert recoverable_values(*mixed, keys=["kind"], aligned=True, guess=False).restored == 0
