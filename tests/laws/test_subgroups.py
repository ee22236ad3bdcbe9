"""Figures of subgroups are those of their own records, and all groups together are the file."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars as pl
import pytest

import sdckit
from sdckit.data.frames import rows_of
from sdckit.errors import ColumnError, DataError

N = 160
RNG = np.random.default_rng(5)
AREA = np.array(["a", "b", "c", None], dtype=object)[np.minimum(RNG.integers(0, 7, N) // 2, 3)]
FILE = pl.DataFrame(
    {
        "row": range(N), "home": [i // 3 for i in range(N)], "area": pl.Series(AREA.tolist(), dtype=pl.String),
        "all": ["x"] * N, "sex": RNG.choice(["f", "m"], N), "age": RNG.integers(20, 32, N),
        "ill": RNG.choice(["no", "yes", "maybe"], N, p=[0.6, 0.2, 0.2]), "pay": RNG.normal(100, 20, N).round(),
        "debt": RNG.normal(0, 1, N),
    }
)  # fmt: skip


def released(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return FILE.with_columns(
        pl.Series("age", np.where(rng.random(N) < 0.3, rng.integers(20, 32, N), FILE["age"].to_numpy())),
        pl.Series("ill", np.where(rng.random(N) < 0.3, "no", FILE["ill"].to_numpy())),
        pl.Series("pay", FILE["pay"].to_numpy() + rng.normal(0, 3, N)),
        pl.Series("debt", FILE["debt"].to_numpy() + rng.normal(0, 0.01, N)),
    ).drop("home", "area", "all")


RELEASES = [released(1), released(2)]
GAPS = FILE.with_columns(pay=pl.when(pl.col("row") % 9 == 0).then(None).otherwise(pl.col("pay")))
KEYS = ["sex", "age"]
ONE = {"data": FILE, "keys": KEYS}
LEARN = {**ONE, "sensitive": ["ill"]}
PAIR = {"original": FILE, "released": RELEASES}
DRAWS = {"probability": RNG.dirichlet(np.ones(3), 40)}
MEASURES = {
    "key_frequencies": ONE,
    "k_anonymity": ONE,
    "individual_risk": {**ONE, "sampling_fraction": 0.1, "household": "home", "threshold": 0.05},
    "household_structure": {"data": FILE, "household": "home", "keys": ["sex"]},
    "suda": ONE,
    "population_risk": {**ONE, "sampling_fraction": 0.2},
    "risky_cells": ONE,
    "key_separation": ONE,
    "k_map": {**ONE, "population": pl.concat([FILE, FILE, FILE[:50]])},
    "k_map by a model": {**ONE, "sampling_fraction": 0.2},
    "delta_presence": {**ONE, "population": pl.concat([FILE, FILE[:50]]), "limits": (0.0, 0.6)},
    "l_diversity": LEARN,
    "t_closeness": LEARN,
    "beta_likeness": LEARN,
    "delta_disclosure": LEARN,
    "alpha_k": {**LEARN, "k": 3},
    "matching_risk": {**PAIR, "known": ["sex"], "synthetic": ["age", "pay"], "numeric": ["pay"]},
    "identity_disclosure": {**PAIR, "keys": ["sex", "age", "ill"]},
    "few_matches": {**PAIR, "keys": ["sex", "age", "ill"]},
    "replicated_uniques": {**PAIR, "keys": ["sex", "age", "ill"]},
    "record_linkage": {**PAIR, "variables": ["sex", "age", "pay"]},
    "interval_risk": {"original": GAPS, "released": RELEASES, "numeric": ["pay", "debt"]},
    "robust_interval_risk": {"original": GAPS, "released": RELEASES, "numeric": ["pay", "debt"], "seed": 1},
    "correct_attribution_probability": {**PAIR, "keys": KEYS, "target": "ill", "tau": 0.5},
    "correct_attribution_probability of a number": {**PAIR, "keys": KEYS, "target": "pay", "width": 0.1},
    "attribute_disclosure": {**PAIR, "keys": KEYS, "target": "ill", "exclude_levels": ["maybe"]},
    "prediction_risk": {**PAIR, "keys": KEYS, "target": "ill", "seed": 1},
    "prediction_risk of a number": {
        "original": GAPS, "released": RELEASES, "keys": KEYS, "target": "pay", "seed": 1
    },
    "bayesian_attribute_risk": {**PAIR, "target": "ill", "draws": DRAWS},
}  # fmt: skip
NO_INTERVAL = {"population_risk"}  # has one of its own
PLANS = [name for name, call in MEASURES.items() if "data" in call and name != "household_structure"]


def run(name, **more):
    return getattr(sdckit, name.split()[0])(**MEASURES[name], **more)


def figures_of(result):
    return dict(result._flat())


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.filterwarnings("ignore")
def test_one_group_of_all_has_the_figures_of_the_file(name):
    result = run(name, by="all")
    (row,) = rows_of(result.by_group)
    told = figures_of(result)
    assert row.pop("all") == "x"
    assert row["n"] == result.n
    for figure, value in row.items():
        assert same(float(value), float(told[figure])), figure
    assert len(row) > 2


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.filterwarnings("ignore")
def test_the_groups_together_are_the_file(name):
    result = run(name, by=["area"])
    rows, told = rows_of(result.by_group), figures_of(result)
    assert sum(row["n"] for row in rows) == result.n
    assert len({row["area"] for row in rows}) == 4
    for one in result.file_figures():
        if not one.column:
            assert one.name not in rows[0]
            continue
        found = [(row["n"], row[one.name]) for row in rows]
        if one.how == "sum":
            assert same(sum(value for _, value in found), float(told[one.name])), one.name
        elif one.how in ("min", "max"):
            best = (min if one.how == "min" else max)(value for _, value in found)
            assert same(best, float(told[one.name])), one.name
        elif one.of == "records" and not one.among:
            mean = sum(n * value for n, value in found) / result.n
            assert same(mean, float(told[one.name])), one.name


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.filterwarnings("ignore")
def test_every_rate_says_what_it_is_a_rate_of(name):
    found = run(name).to_dict()
    told = figures_of(run(name))
    assert found["rates"]
    for figure, rate in found["rates"].items():
        assert figure in told
        assert rate["of"]
        assert rate["n"] is None or rate["n"] > 0
        assert rate["direction"] in {"higher is riskier", "higher is safer", "to compare others with"}


@pytest.mark.parametrize("name", [name for name in MEASURES if name not in NO_INTERVAL])
@pytest.mark.filterwarnings("ignore")
def test_an_interval_holds_the_figure_and_a_seed_gives_it_again(name):
    seeded = {} if "seed" in MEASURES[name] else {"seed": 3}
    one, again = run(name, interval="bootstrap", **seeded), run(name, interval="bootstrap", **seeded)
    told = figures_of(one)
    assert one.intervals
    assert one.intervals == again.intervals
    for figure, (low, high) in one.intervals.items():
        value = float(told[figure])
        assert low <= value + 1e-9, figure
        assert value - 1e-9 <= high, figure
        assert told[f"{figure}_low"] == low
    assert one.to_dict()["intervals"].keys() == one.intervals.keys()


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.filterwarnings("ignore")
def test_a_pickle_tells_no_subgroup(name):
    result = run(name, by="area")
    back = pickle.loads(pickle.dumps(result))
    with pytest.raises(DataError, match="let go of the data"):
        _ = back.by_group
    assert back.by == ("area",)
    assert "by_group" not in back.to_dict()


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.filterwarnings("ignore")
def test_columns_of_groups_are_checked_before_any_work(name):
    with pytest.raises(ColumnError, match="by: no column 'aera' in the data; did you mean 'area'"):
        run(name, by="aera")
    with pytest.raises(DataError, match="no subgroups were asked for"):
        _ = run(name).by_group
    call = MEASURES[name]
    where = "data" if "data" in call else "original"
    renamed = {**call, where: call[where].rename({"area": "n"})}
    with pytest.raises(ColumnError, match="'n' is the name of a result column"):
        getattr(sdckit, name.split()[0])(**renamed, by="n")


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.filterwarnings("ignore")
def test_plans_and_other_frames_give_the_same(name):
    def rows(data):
        result = getattr(sdckit, name.split()[0])(**{**MEASURES[name], "data": data}, by=["area", "sex"])
        found = rows_of(result.by_group)
        keyed = {}
        for row in found:
            area = row["area"] if isinstance(row["area"], str) else None
            keyed[area, row["sex"]] = {figure: row[figure] for figure in row if figure not in ("area", "sex")}
        return keyed

    expected = rows(FILE)
    assert len(expected) == 8
    for data in (FILE.to_pandas(), FILE.to_arrow(), FILE.lazy()):
        found = rows(data)
        assert found.keys() == expected.keys()
        for group, figures in expected.items():
            for figure, value in figures.items():
                assert same(float(found[group][figure]), float(value)), (group, figure)


@pytest.mark.parametrize("name", ["key_frequencies", "k_anonymity", "individual_risk"])
def test_duckdb_makes_the_groups_itself(name):
    import duckdb

    table = duckdb.connect().from_arrow(FILE.to_arrow())
    given = {"keys": KEYS, "by": "area"}
    found = getattr(sdckit, name)(table, **given).by_group.to_pylist()
    expected = rows_of(getattr(sdckit, name)(FILE, **given).by_group)
    by_area = {row["area"]: row for row in found}
    assert len(found) == 4
    for row in expected:
        for figure, value in row.items():
            assert by_area[row["area"]][figure] == (value if figure == "area" else pytest.approx(value))


def test_groups_by_hand():
    result = sdckit.individual_risk(FILE, keys=KEYS, by="area")
    risk = result.records["risk"].to_numpy()
    frame = pl.DataFrame({"area": FILE["area"], "risk": risk}).to_pandas()
    expected = frame.groupby("area", dropna=False)["risk"].agg(["size", "mean", "max"])
    for row in rows_of(result.by_group):
        at = expected.loc[[row["area"]]] if row["area"] is not None else expected[expected.index.isna()]
        assert row["n"] == at["size"].item()
        assert row["global_risk"] == pytest.approx(at["mean"].item())
        assert row["max_risk"] == at["max"].item()
    risks = result.by_group["global_risk"].to_list()
    assert risks == sorted(risks, reverse=True)


def test_households_are_drawn_as_a_whole():
    """Ten copies of each person in one household: as few units as there are persons."""
    few = FILE[:20].select(*KEYS)
    many = pl.concat([few.with_columns(home=pl.Series(range(20)))] * 10).with_columns(
        risky=pl.Series(([True] * 5 + [False] * 15) * 10)
    )
    alone = sdckit.k_anonymity(many, keys=["home"], k=11, interval="bootstrap", seed=1)
    assert alone.intervals["violation_rates[11]"] == (1.0, 1.0)
    scenario = sdckit.Scenario(keys=["risky"], household="home")
    single = sdckit.Scenario(keys=["risky"])
    wide = sdckit.k_anonymity(many, scenario=scenario, k=60, interval="bootstrap", seed=1)
    narrow = sdckit.k_anonymity(many, scenario=single, k=60, interval="bootstrap", seed=1)
    width = [high - low for low, high in (one.intervals["violation_rates[60]"] for one in (wide, narrow))]
    assert width[0] > 2 * width[1]


def test_a_plan_has_no_bootstrap_on_its_engine():
    with pytest.raises(DataError, match="collect the plan") as caught:
        sdckit.individual_risk(FILE.lazy(), keys=KEYS, interval="bootstrap", seed=1)
    assert caught.value.argument == "interval"


def test_cells_give_groups_where_their_records_are():
    cells = sdckit.as_cells(FILE, keys=KEYS)
    found = sdckit.k_anonymity(cells, by="area").by_group
    assert found.equals(sdckit.k_anonymity(FILE, keys=KEYS, by="area").by_group)
    counted = sdckit.as_cells(FILE.lazy(), keys=KEYS).in_memory()
    with pytest.raises(DataError, match="their records are not here"):
        sdckit.k_anonymity(counted, by="area")


def test_guessing_is_one_over_the_released_rows():
    result = run("matching_risk")
    assert result.guess_rate == pytest.approx(1 / N)
    assert result.expected_by_guessing == pytest.approx(1.0)
    assert result.mean_match_risk > result.baseline > result.guess_rate
