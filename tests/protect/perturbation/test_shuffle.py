"""E7: values in other hands, with the same margins and about the same rank correlations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import rankdata, spearmanr

from sdckit import shuffle
from sdckit.errors import ColumnError, DataError
from sdckit.protect.perturbation.shuffle import _correlation

N = 4000
RNG = np.random.default_rng(5)
BASE = RNG.normal(size=(N, 2))
SURVEY = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(N)],
        "age": (40 + 10 * BASE[:, 0]).astype(int),
        "income": np.exp(8 + 0.8 * BASE[:, 0] + 0.6 * BASE[:, 1]),
        "rent": np.exp(6 + 0.5 * BASE[:, 1] + 0.5 * RNG.normal(size=N)),
    }
)


def rank_correlations(frame, names=("age", "income", "rent")):
    return spearmanr(frame.select(names).to_numpy()).statistic


def test_margins_exactly_and_rank_correlations_about():
    data, change = shuffle(SURVEY, columns=["income", "rent"], given=["age"], seed=1)
    assert data.schema == SURVEY.schema
    assert data.select("name", "age").equals(SURVEY.select("name", "age"))
    for name in ("income", "rent"):
        assert data[name].sort().equals(SURVEY[name].sort())
        assert change.changed[name] == (data[name] != SURVEY[name]).sum() > 0.98 * N
    assert rank_correlations(data) == pytest.approx(rank_correlations(SURVEY), abs=0.03)
    assert change.parameters == {"columns": ["income", "rent"], "given": ["age"]}
    assert change.secret == {"seed": 1}


def test_given_the_others_the_new_values_say_nothing_of_the_old():
    data, _ = shuffle(SURVEY, columns=["income"], given=["age"], seed=1)
    scores = pd.DataFrame({"new": data["income"].rank(), "old": SURVEY["income"].rank(), "age": SURVEY["age"].rank()})
    rests = [
        scores[name] - np.polyval(np.polyfit(scores["age"], scores[name], 1), scores["age"]) for name in ("new", "old")
    ]
    assert abs(np.corrcoef(*rests)[0, 1]) < 0.05


def test_nothing_given():
    data, _ = shuffle(SURVEY, columns=["income", "rent"], seed=2)
    found, before = rank_correlations(data), rank_correlations(SURVEY)
    assert found[1, 2] == pytest.approx(before[1, 2], abs=0.03)
    assert abs(found[0, 1]) < 0.04
    alone, _ = shuffle(SURVEY, columns=["rent"], seed=2)
    assert alone["rent"].sort().equals(SURVEY["rent"].sort())


def test_missing_values():
    gaps = SURVEY.with_columns(
        age=pl.Series(SURVEY["age"]).set(pl.Series(np.arange(N) % 7 == 0), None),
        income=pl.Series(SURVEY["income"]).set(pl.Series(np.arange(N) % 5 == 0), None),
    )
    data, _ = shuffle(gaps, columns=["income"], given=["age", "rent"], seed=1)
    assert (data["income"].is_null() == gaps["income"].is_null()).all()
    assert data["income"].sort().equals(gaps["income"].sort())
    assert data["age"].equals(gaps["age"])
    known = ~(gaps["age"].is_null() | gaps["income"].is_null())
    assert rank_correlations(data.filter(known)) == pytest.approx(rank_correlations(gaps.filter(known)), abs=0.04)


def test_variables_that_determine_each_other():
    frame = SURVEY.with_columns(twice=2 * pl.col("age"), pay=pl.col("income") * 3)
    data, _ = shuffle(frame, columns=["income", "pay"], given=["age", "twice"], seed=1)
    assert rank_correlations(data, ("income", "pay")) == pytest.approx(1.0)
    assert rank_correlations(data) == pytest.approx(rank_correlations(frame), abs=0.7)


def test_correlations_that_no_distribution_has():
    """Ranks may ask for normal scores that contradict each other: the nearest that do not are taken."""
    x = np.arange(12.0)
    frame = pl.DataFrame({"a": x, "b": np.roll(x, 5), "c": np.roll(x, 2), "d": np.roll(-x, 7)})
    data, _ = shuffle(frame, columns=["a", "b"], given=["c", "d"], seed=1)
    assert data["a"].sort().to_list() == x.tolist()


def test_the_same_draw_on_every_engine():
    frame = SURVEY.to_pandas().set_index(pd.RangeIndex(N)[::-1])
    before = frame.copy()
    expected, change = shuffle(SURVEY, columns=["rent"], given=["age"], seed=9)
    data, found = shuffle(frame, columns=["rent"], given=["age"], seed=9)
    assert data.index.equals(frame.index)
    assert data["rent"].tolist() == expected["rent"].to_list()
    assert found == change
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": ["name"]}, DataError, "not numbers"),
        ({"given": ["name"]}, DataError, "not numbers"),
        ({"given": ["income"]}, ColumnError, "'income' is in columns and in given"),
        ({"columns": ["one"]}, DataError, "'one' is constant, so there is nothing to shuffle"),
        ({"given": ["one"]}, DataError, "'one' is constant, so nothing depends on it"),
        ({"given": ["old"]}, ColumnError, "given: no column 'old'"),
        ({"given": ["odd"]}, DataError, "2 records are complete in the 2 variables"),
        ({"given": ["few"]}, DataError, "constant among the records complete"),
    ],
)
def test_bad_input(options, error, message):
    i = pl.int_range(N)
    frame = SURVEY.with_columns(
        one=pl.lit(1),
        odd=pl.when(i < 2).then(i),
        few=pl.when(i > 5).then(3),
        income=pl.when(i > 0).then("income") if "few" in str(options) else pl.col("income"),
    ).with_columns(few=pl.when(i == 0).then(9).otherwise("few"))
    with pytest.raises(error, match=message):
        shuffle(frame, **{"columns": ["income"], **options})


def test_the_nearest_correlations_are_those_of_a_distribution():
    """Ranks that are related by -1/2 each ask for one negative root: one is enough to be mended."""
    columns = [np.tile(one, 5).astype(float) for one in ([1, 2, 3], [2, 3, 1], [3, 1, 2])]
    asked = 2 * np.sin(np.pi / 6 * np.corrcoef([rankdata(column) for column in columns]))
    assert (np.linalg.eigvalsh(asked) < 0).tolist() == [True, False, False]
    found = _correlation(columns)
    assert np.linalg.eigvalsh(found)[0] >= -1e-12
    assert np.diagonal(found) == pytest.approx(1.0)
