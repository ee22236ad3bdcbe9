"""E9: who is replaced, by whom, and what is said of it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

from homes import people, shared
from sdckit import matching_risk, replace_high_risk
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.replace_high_risk import draw_donors

RELEASE = pl.DataFrame(
    {
        "sex": ["f", "f", "m", "m", "f"],
        "job": ["a", "b", "a", "b", "a"],
        "age": [30, 31, 50, 52, 90],
        "income": [10.0, 20.0, 30.0, None, 50.0],
        "code": [1, 2, 3, 4, 5],
    }
)
HIGH = [0.1, 0.9, 0.2, 0.9, 0.3]
OPTIONS = {"risk": HIGH, "threshold": 0.5, "match": ["sex", "age"], "numeric": ["age"], "replace": ["income", "code"]}


def replaced(frame=RELEASE, **options):
    return replace_high_risk(frame, **{**OPTIONS, **options})


def test_only_records_above_the_threshold_take_the_values_of_the_nearest():
    data, change = replaced()
    assert data["income"].to_list() == [10.0, 10.0, 30.0, 30.0, 50.0]
    assert data["code"].to_list() == [1, 1, 3, 3, 5]
    assert data.select("sex", "job", "age").equals(RELEASE.select("sex", "job", "age"))
    assert data.schema == RELEASE.schema
    assert (change.method, change.n, change.changed) == ("replace_high_risk", 5, {"income": 2, "code": 2})
    assert replaced(risk=[0.5] * 5).data.equals(RELEASE)
    assert replaced(risk=[0.5] * 5).change.notes == {"changed": "no record has a risk above the threshold"}


def test_the_most_agreeing_categories_come_first():
    data, _ = replaced(match=["sex", "job", "age"], risk=[0, 0, 0, 0, 1.0])
    assert data["code"].to_list()[-1] == 1  # the same sex and job, though sixty years younger


def test_donors_lend_what_they_had_before():
    pair = pl.DataFrame({"x": [1, 2], "y": ["a", "b"]})
    data, _ = replace_high_risk(pair, risk=[1, 1], threshold=0, match=["x"], numeric=["x"], replace=["y"])
    assert data["y"].to_list() == ["b", "a"]


def test_records_of_high_risk_as_donors_or_not():
    risk = [0.9, 0.9, 0.2, 0.2, 0.2]
    assert replaced(risk=risk).data["code"].to_list() == [2, 1, 3, 4, 5]
    assert replaced(risk=risk, exclude_high_risk=True).data["code"].to_list() == [5, 5, 3, 4, 5]
    with pytest.raises(DataError, match="all records are of high risk"):
        replaced(risk=[1] * 5, exclude_high_risk=True)


def test_a_random_part_of_them():
    risk = np.ones(5)
    for seed in range(5):
        once, again = (replaced(risk=risk, n_replace=2, seed=seed) for _ in range(2))
        assert once.data.equals(again.data)
        assert (once.data["code"] != RELEASE["code"]).sum() == 2
        assert once.change.secret == {"seed": seed, "high_risk": 5, "replaced": 2}
        assert "seed" not in str(once.change.to_dict())
    bare = replaced(risk=risk, n_replace=2)
    kept = bare.change.secret["seed"]
    assert replaced(risk=risk, n_replace=2, seed=kept).data.equals(bare.data)
    drawn = {tuple(replaced(risk=risk, n_replace=2, seed=seed).data["code"].to_list()) for seed in range(20)}
    assert len(drawn) > 5


def test_one_of_the_k_nearest():
    codes = {replaced(k=2, risk=[0, 1.0, 0, 0, 0], seed=seed).data["code"].to_list()[1] for seed in range(30)}
    assert codes == {1, 5}


def test_several_releases():
    other = RELEASE.with_columns(code=pl.Series([6, 7, 8, 9, 0]))
    data, change = replaced([RELEASE, other], risk=[HIGH, [0.9, 0, 0, 0, 0]])
    assert [one["code"].to_list() for one in data] == [[1, 1, 3, 3, 5], [7, 7, 8, 9, 0]]
    assert (change.n, change.changed["code"], change.parameters["releases"]) == (10, 3, 2)
    both, _ = replaced([RELEASE, other])
    assert [one["code"].to_list() for one in both] == [[1, 1, 3, 3, 5], [6, 6, 8, 8, 0]]
    (single,), _ = replaced([RELEASE])
    assert single.equals(replaced().data)


def test_a_result_gives_each_release_its_own_risks():
    original = RELEASE.with_columns(income=pl.Series([10.0, 21.0, 99.0, 1.0, 50.0]))
    other = RELEASE.with_columns(income=pl.Series([0.0, 0.0, 99.0, 0.0, 0.0]))
    result = matching_risk(original, [RELEASE, other], synthetic=["income"], numeric=["income"])
    data, change = replaced([RELEASE, other], risk=result, threshold=0.9)
    assert [(one["code"] != RELEASE["code"]).to_list() for one in data] == [
        [True, True, False, False, True],
        [False, False, True, False, False],
    ]
    assert change.secret["replaced"] == 4
    alone = matching_risk(original, RELEASE, synthetic=["income"], numeric=["income"])
    series = (alone, alone.records["match_risk"], alone.records["match_risk"].to_list())
    assert len({str(replaced(risk=risk).data["code"].to_list()) for risk in series}) == 1


def test_pandas_keeps_its_types_and_index():
    frame = RELEASE.to_pandas().set_index(pd.Index(list("vwxyz")))
    before = frame.copy()
    data, _ = replaced(frame)
    assert data.index.tolist() == list("vwxyz")
    assert data.dtypes.equals(frame.dtypes)
    assert data["code"].tolist() == [1, 1, 3, 3, 5]
    pd.testing.assert_frame_equal(frame, before)


def test_pyarrow():
    assert replaced(RELEASE.to_arrow()).data["code"].to_pylist() == [1, 1, 3, 3, 5]


@pytest.mark.parametrize(
    ("frame", "options", "error", "message"),
    [
        (RELEASE, {"risk": [0.1] * 4}, DataError, "risk has 4 numbers for 5 records"),
        (RELEASE, {"risk": ["low"] * 5}, DataError, "takes a number per record"),
        (RELEASE, {"risk": [None, 1, 1, 1, 1]}, DataError, "missing or not finite for 1 record$"),
        (RELEASE, {"risk": [HIGH, HIGH]}, DataError, "risk has values for 2 releases; there are 1"),
        (RELEASE, {"match": []}, ColumnError, "name some of each"),
        (RELEASE, {"replace": "code"}, ColumnError, r"write replace=\['code'\]"),
        (RELEASE, {"replace": ["cod"]}, ColumnError, "replace: no column 'cod'"),
        (RELEASE, {"numeric": ["income"]}, ColumnError, "'income' is not in match"),
        (RELEASE, {"match": ["sex"], "numeric": ["sex"]}, DataError, "numeric 'sex' is .* not numbers"),
        (RELEASE, {"threshold": None}, DataError, "threshold is the risk"),
        (RELEASE, {"k": 0}, DataError, "k counts records"),
        (RELEASE, {"n_replace": 0}, DataError, "n_replace counts records"),
        (RELEASE[:1], {"risk": [1.0]}, DataError, "nobody is left to be a donor"),
        ([], {}, DataError, "empty list"),
        (RELEASE.lazy(), {}, DataError, "a plan cannot be changed"),
    ],
)
def test_bad_input(frame, options, error, message):
    with pytest.raises(error, match=message):
        replaced(frame, **options)


def rule(i, categories, numbers, lends, k):
    """Chance of each record to be the donor of record i."""
    others = [j for j in range(len(lends)) if j != i and lends[j]]
    if not others:
        return {}
    agree = {j: sum(column[j] == column[i] for column in categories) for j in others}
    best = [j for j in others if agree[j] == max(agree.values())]

    def far(j):
        total = 0.0
        for column in numbers:
            a, b = column[i], column[j]
            if np.isnan(a) != np.isnan(b):
                return np.inf
            total += 0.0 if np.isnan(a) else (a - b) ** 2
        return total

    distances = sorted(map(far, best))[:k]
    ties = Counter(map(far, best))
    chance = {j: distances.count(far(j)) / ties[far(j)] / len(distances) for j in best}
    return {j: share for j, share in chance.items() if share}


@given(st.data())
def test_a_donor_is_one_the_rule_allows(data):
    n = data.draw(st.integers(1, 9))

    def columns(values, most):
        return [
            np.array(data.draw(st.lists(values, min_size=n, max_size=n)))
            for _ in range(data.draw(st.integers(0, most)))
        ]

    categories = columns(st.integers(0, 2), 3)
    numbers = columns(st.sampled_from([0.0, 1.0, 2.0, 5.0, np.nan]), 2)
    lends = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    k = data.draw(st.integers(1, 4))
    found = draw_donors(
        np.arange(n), categories, numbers, lends, k=k, rng=np.random.default_rng(data.draw(st.integers(0, 99)))
    )
    for i, j in enumerate(found.tolist()):
        allowed = rule(i, categories, numbers, lends, k)
        assert j in allowed if allowed else j == -1


def test_each_of_the_nearest_is_as_likely_and_ties_share_the_last_place():
    age = np.array([30.0, 31, 33, 33, 34, 30])
    alike = [np.array([0, 0, 0, 0, 0, 1])]
    asked = np.zeros(40_000, np.int64)
    found = draw_donors(asked, alike, [age], np.ones(6, bool), k=2, rng=np.random.default_rng(20_09))
    shares = np.bincount(found, minlength=6) / len(asked)
    assert rule(0, alike, [age], np.ones(6, bool), 2) == {1: 0.5, 2: 0.25, 3: 0.25}
    assert shares[[0, 4, 5]].tolist() == [0, 0, 0]
    assert shares[1:4] == pytest.approx([0.5, 0.25, 0.25], abs=0.01)


def test_the_same_seed_draws_the_same_whatever_the_number_of_threads(monkeypatch):
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 3, 500) for _ in range(2)], [rng.normal(size=500)]
    draws = [
        draw_donors(np.arange(500), *columns, np.ones(500, bool), k=3, rng=np.random.default_rng(5)) for _ in range(2)
    ]
    monkeypatch.setattr("sdckit.protect.synthesis.replace_high_risk.chunks", lambda n, minimum: [(0, 7), (7, n)])
    draws.append(draw_donors(np.arange(500), *columns, np.ones(500, bool), k=3, rng=np.random.default_rng(5)))
    assert draws[0].tolist() == draws[1].tolist() == draws[2].tolist()


@pytest.mark.parametrize("exclude", [False, True])
def test_a_household_gets_its_variables_from_one_donor_of_another(exclude):
    data = people().with_columns(mark=pl.col("home"))
    risk = (np.arange(len(data)) % 11 == 0) * 1.0
    found = replace_high_risk(
        data, risk=risk, threshold=0.5, match=["sex", "size"], replace=["mark", "age"], household="home",
        exclude_high_risk=exclude, seed=1,
    )  # fmt: skip
    hit = data["home"].is_in(data.filter(risk > 0.5)["home"].unique().implode())
    assert shared(found.data, "mark")
    assert not shared(found.data, "age")
    assert (found.data["mark"] != data["mark"]).equals(hit)  # never from a mate
    assert found.change.changed["mark"] == int(hit.sum())
    if exclude:
        lenders = set(data.filter(risk < 0.5)["home"])
        assert set(found.data.filter(hit)["mark"]) <= lenders
    assert found.data["age"].equals(
        replace_high_risk(
            data, risk=risk, threshold=0.5, match=["sex", "size"], replace=["age"], exclude_high_risk=exclude, seed=1
        ).data["age"]
    )  # fmt: skip
