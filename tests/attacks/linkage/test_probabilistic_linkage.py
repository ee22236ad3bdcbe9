"""Probabilistic linkage of files with typing errors, on every engine's frames, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pytest

from attacks.plain_linkage import plain_links
from engines import conftest as on_engines
from sdckit import Scenario, probabilistic_linkage
from sdckit.attacks.linkage import probabilistic_linkage as home
from sdckit.attacks.linkage.linkage_scores import Links
from sdckit.errors import ColumnError, DataError, ScenarioError

spark = on_engines.spark
RNG = np.random.default_rng(6)
N = 60
NAMES = ["".join(RNG.choice(list("abcdefgh"), 7)) for _ in range(40)]
ORIGINAL = pl.DataFrame(
    {
        "id": range(N),
        "sur name": RNG.choice(NAMES, N),
        "age": RNG.integers(20, 80, N),
        "region": RNG.choice(["n", "s", None], N, p=[0.5, 0.4, 0.1]).tolist(),
    }
)
TYPED = ORIGINAL.with_columns(
    pl.when(pl.col("id") % 4 == 0)
    .then(pl.col("sur name").str.slice(0, 6) + "x")
    .otherwise(pl.col("sur name"))
    .alias("sur name"),
    age=pl.col("age") + (pl.col("id") % 5 == 1).cast(pl.Int64),
)
VARIABLES = ["sur name", "age", "region"]


def test_slips_do_not_save_anybody():
    result = probabilistic_linkage(ORIGINAL, TYPED, variables=VARIABLES, id="id", seed=1)
    assert result.rate > 0.9
    assert result.baseline == 1 / N
    assert result.rate_low < result.rate <= result.rate_high
    assert (result.n, result.n_pairs) == (N, N * N)
    exact = probabilistic_linkage(ORIGINAL, TYPED, variables=VARIABLES, id="id", seed=1, exact=["sur name"], near=0)
    assert exact.rate < result.rate
    scores = result.scores
    assert scores["recall"].is_sorted()
    assert scores["right"].max() <= N
    last = scores.filter(pl.col("weight") == 0).to_dicts()[0]
    assert last["precision"] == pytest.approx(result.precision)
    assert last["recall"] == pytest.approx(result.recall)
    assert set(result.levels["variable"]) == set(VARIABLES)
    assert result.records.columns == ["id", "weight", "correct"]
    assert result.records["correct"].mean() == pytest.approx(result.rate)


def test_unrelated_files_are_linked_by_chance_only():
    other = TYPED.with_columns(pl.col(VARIABLES).shuffle(seed=3))
    result = probabilistic_linkage(ORIGINAL, other, variables=VARIABLES, seed=1)
    assert result.rate < 0.1


def test_releases_engines_and_pickles():
    files = [TYPED, ORIGINAL]
    given = {"variables": VARIABLES, "id": "id", "seed": 2}
    result = probabilistic_linkage(ORIGINAL, files, **given)
    assert result.m == 2
    assert result.notes["released"].startswith("1 of 2 releases have the original's values")
    same = probabilistic_linkage(ORIGINAL.to_pandas(), [one[::-1].to_arrow() for one in files], **given)
    assert same.rate == pytest.approx(result.rate)
    assert isinstance(same.records, pd.DataFrame)
    kept = pickle.loads(pickle.dumps(result))
    assert kept.to_dict() == result.to_dict()
    for name in ("records", "scores", "levels"):
        with pytest.raises(DataError, match="let go of the data"):
            getattr(kept, name)


def test_blocking_and_the_scenario():
    scenario = Scenario(keys=VARIABLES, numeric=["age"])
    result = probabilistic_linkage(ORIGINAL, TYPED, scenario=scenario, blocking=[["sur name"], ["age"]])
    assert result.n_pairs < N * N / 2
    assert result.rate > 0.7


def test_equal_weights_share():
    doubled = pl.DataFrame({"a": ["x", "x", "y", "z", "w"], "b": [1, 1, 2, 3, 4]})
    result = probabilistic_linkage(doubled, doubled, variables=["a", "b"], seed=1)
    assert result.records["correct"].to_list() == [0.5, 0.5, 1.0, 1.0, 1.0]


REFUSED = [
    ({"variables": None}, ScenarioError, "which variables the intruder knows"),
    ({"variables": ["age"]}, DataError, "two variables or more"),
    ({"near": -1}, DataError, "near is a share"),
    ({"threshold": 1}, DataError, "threshold is the probability"),
    ({"exact": ["id"]}, ColumnError, "exact: 'id' is none of the variables"),
    ({"numeric": ["id"]}, ColumnError, "numeric: 'id' is none of the variables"),
    ({"blocking": [["id"], ["age"]]}, ColumnError, "blocking: 'id' is none"),
    ({"blocking": [["age"]]}, DataError, "two rules or more"),
    ({"blocking": [["age"], ["age", "region"]]}, DataError, "no variable in all of them"),
    ({"variables": ["age", "wage"]}, ColumnError, "no column 'wage'"),
]


@pytest.mark.parametrize(("given", "error", "words"), REFUSED)
def test_bad_input(given, error, words):
    with pytest.raises(error, match=words):
        probabilistic_linkage(ORIGINAL, TYPED, **{"variables": VARIABLES, **given})


def test_too_many_pairs(monkeypatch):
    monkeypatch.setattr(home, "ALL_PAIRS", 100)
    with pytest.raises(DataError, match="60 records make 3,600 pairs"):
        probabilistic_linkage(ORIGINAL, TYPED, variables=VARIABLES)


def test_score_rows_where_no_weight_is_large():
    links = Links(np.array([-20.5]), np.zeros(1), ((-21, 4, 1),), 0, 0, (), 0.5)
    assert home._score_rows(1, links, 2) == []
    links = Links(np.array([2.0]), np.ones(1), ((2, 1, 1), (0, 3, 0), (-15, 5, 1)), 1, 1, (), 0.5)
    rows = home._score_rows(1, links, 2)
    assert rows[:3] == [(1, 2.0, 1, 1, 1.0, 0.5), (1, 1.0, 1, 1, 1.0, 0.5), (1, 0.0, 4, 1, 0.25, 0.5)]
    assert rows[-1] == (1, -10.0, 4, 1, 0.25, 0.5)


def test_names_and_types_that_sql_might_take_otherwise():
    given = {
        'a "quoted" `name`': pl.col("sur name"), "select": pl.col("region") == "n", "l.v0; drop": pl.col("age"),
        "born": pl.date(2000, 1, 1) + pl.duration(days=pl.col("id") % 9),
    }  # fmt: skip
    files = [frame.select(**given) for frame in (ORIGINAL, TYPED)]
    result = probabilistic_linkage(*files, variables=list(given), seed=1)
    assert result.rate > 0.9
    assert set(result.levels["variable"]) == set(given)


SAME = {"all pairs": {}, "blocking": {"blocking": [["sur name"], ["age", "region"]], "threshold": 0.9}}


@pytest.mark.filterwarnings("ignore::FutureWarning")  # PySpark's about pandas 3
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("options", SAME.values(), ids=SAME)
def test_spark_gives_the_same_figures(spark, options):
    odd = TYPED.with_columns(pl.col("sur name").str.replace("a", "é"))
    files = [TYPED, odd.sample(fraction=1, shuffle=True, seed=1)]
    given = {"variables": VARIABLES, "id": "id", "seed": 2, **options}
    here = probabilistic_linkage(ORIGINAL, files, **given)
    if "blocking" in options:
        there = probabilistic_linkage(ORIGINAL, files, session=spark, **given)
    else:
        frames = [spark.createDataFrame(one.to_arrow()) for one in (ORIGINAL, *files)]
        there = probabilistic_linkage(frames[0], frames[1:], **given)
    assert there.m == 2
    for one, other in zip(here.per_release, there.per_release, strict=True):
        assert other == pytest.approx(one, abs=1e-6, nan_ok=True)
    for table in ("scores", "levels", "records"):
        expected, found = (pl.DataFrame(getattr(result, table)) for result in (here, there))
        if table == "records":  # a plan is brought in any order
            expected, found = expected.sort("id"), found.sort("id")
        pl.testing.assert_frame_equal(found, expected, abs_tol=1e-6)


def test_a_session_that_is_none():
    with pytest.raises(DataError, match="session is a str; give a SparkSession"):
        probabilistic_linkage(ORIGINAL, TYPED, variables=VARIABLES, session="local")


TEXTS = ["anna", "Anna", "anne", "hannah", "Zoë", "Zoé", "straße", "strasse", "martha", "marhta", "a", "ab", "ba"]


@pytest.mark.parametrize("blocked", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_model_of_plain_loops(seed, blocked):
    """The weights and the right links of an implementation that shares no line with this one."""
    rng, kinds, n = np.random.default_rng(seed), ["text", "number", "exact", "text"], 24
    pools = [TEXTS, [-0.0, 0.0, 1.5, 7.0, *rng.normal(0, 9, 20)], ["x", "y", "z", "é"], TEXTS[:5]]

    def drawn(pool):
        return [None if rng.random() < 0.1 else pool[rng.integers(len(pool))] for _ in range(n)]

    original = [drawn(pool) for pool in pools]
    released = [
        [a if rng.random() < 0.6 else b for a, b in zip(column, drawn(pool), strict=True)]
        for column, pool in zip(original, pools, strict=True)
    ]
    rules = [[0], [2, 3]] if blocked else []
    expected = plain_links(original, released, kinds, 0.02, rules)
    names = ["first", "amount", "code", "second"]
    found = probabilistic_linkage(
        *(pl.DataFrame(dict(zip(names, columns, strict=True))) for columns in (original, released)), variables=names,
        exact=["code"], blocking=[[names[v] for v in rule] for rule in rules] or None, seed=1,
    )  # fmt: skip
    (links,) = found.links
    np.testing.assert_allclose(links.weight, expected[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(links.correct, expected[1])
    assert found.rate == pytest.approx(np.mean(expected[1]))
