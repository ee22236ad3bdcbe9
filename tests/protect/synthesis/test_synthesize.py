"""E8: files made of draws: types, order, seeds, flags, rules, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

from homes import people, shared
from protect.synthesis_survey import AGE, ALL, PARAMETRIC, RNG, SURVEY, N, made
from sdckit import synthesize
from sdckit.errors import ColumnError, DataError
from sdckit.numerics import threads


@pytest.mark.parametrize("models", [None, PARAMETRIC, "sample", {"marital": RandomForestClassifier(3)}])
@pytest.mark.parametrize("proper", [False, True])
def test_types_order_and_the_other_columns_stay(models, proper):
    data, change = made(models=models, proper=proper)
    assert data.schema == SURVEY.schema
    assert data.select("person", "land").equals(SURVEY.select("person", "land"))
    for name in ALL:
        assert change.changed[name] == (data[name].ne_missing(SURVEY[name])).sum() > 0
        if name not in {"age", "income"}:
            assert set(data[name]) <= set(SURVEY[name])
    assert (change.method, change.n, change.parameters["m"]) == ("synthesize", N, 1)


def test_relations_are_kept():
    data, _ = made(columns=["marital", "income"], predictors=["sex", "age"])
    young = data.filter(pl.col("age") < 14)
    assert set(young["marital"]) == {"single"}
    assert young["income"].null_count() > 0.9 * young.height
    assert data.filter(pl.col("age") > 20)["income"].null_count() == 0


def test_m_files_differ_and_come_again_by_the_seed(monkeypatch):
    for options in ({}, {"models": PARAMETRIC}, {"proper": True}):
        three, change = made(m=3, **options)
        assert len({str(one["income"].to_list()) for one in three}) == 3
        assert change.n == 3 * N
        assert made(**options).data.equals(three[0])
        monkeypatch.setattr(threads, "n_threads", lambda: 1)
        assert all(one.equals(other) for one, other in zip(three, made(m=3, **options).data, strict=True))
        monkeypatch.undo()
    assert not made(seed=2).data.equals(made().data)
    secret = made(seed=None).change.secret["seed"]
    assert made(seed=secret).data.equals(made(seed=secret).data)
    assert made(seed=np.random.default_rng(3)).data.equals(made(seed=np.random.default_rng(3)).data)


def test_all_columns_that_vary():
    frame = SURVEY.drop("person").with_columns(none=pl.lit(None, pl.Int64))
    data, change = synthesize(frame, seed=1)
    assert list(change.changed) == ALL
    assert change.notes["left"] == "land, none hold one value or none, and stay"
    assert data["land"].equals(frame["land"])
    again = synthesize(frame, seed=1, order=["income", "sex"]).change
    assert again.parameters["order"] == ["income", "sex", "age", "marital", "born", "member"]


@pytest.mark.parametrize("fit_to", ["rows", "all"])
def test_only_flagged_records(fit_to):
    flag = AGE > 50
    for rows in (flag, flag.tolist(), pl.Series(flag)):
        data, change = made(columns=["income", "sex"], rows=rows, fit_to=fit_to)
        assert data.filter(~flag).equals(SURVEY.filter(~flag))
        assert 0 < change.changed["income"] <= flag.sum()
    named = SURVEY.with_columns(flag=pl.Series(flag))
    data, _ = made(named, columns=["income", "sex"], rows="flag", fit_to=fit_to)
    assert data["flag"].equals(named["flag"])
    assert data.filter(~flag).equals(named.filter(~flag))
    if fit_to == "rows":
        assert set(data.filter(flag)["income"]) <= set(SURVEY.filter(flag)["income"])


def test_nobody_flagged():
    data, change = made(columns=["sex"], rows=[False] * N, m=2)
    assert all(one.equals(SURVEY) for one in data)
    assert change.notes["changed"] == "no record is flagged"


def test_rules():
    income = [
        {"when": {"sex": "f"}, "value": 7.5},
        {"when": {"sex": "m", "member": True}, "value": None},
    ]
    rules = {"marital": {"when": {"age": {"below": 16}}, "value": "single"}, "income": income}
    data, change = made(
        order=["member", "sex", "age", "marital", "income", "born"], rules=rules, models="sample"
    )
    assert set(data.filter(pl.col("age") < 16)["marital"]) == {"single"}
    assert set(data.filter(pl.col("sex") == "f")["income"]) == {7.5}
    assert data.filter((pl.col("sex") == "m") & pl.col("member"))["income"].null_count() > 0
    assert change.parameters["rules"] == {"marital": 1, "income": 2}
    outside = SURVEY.filter(pl.col("age") >= 16)["marital"]
    drawn = data.filter(pl.col("age") >= 16)["marital"]
    assert (drawn == "married").mean() == pytest.approx((outside == "married").mean(), abs=0.15)


def test_numbers_are_written_like_the_originals():
    data, _ = made(models={"age": "normal", "income": "normal"})
    assert data.schema["age"] == pl.Int16
    income = data["income"].drop_nulls().to_numpy()
    assert np.allclose(income, income.round(2))
    smooth = made(smoothing={"income": 1.0}).data["income"]
    assert not set(smooth.drop_nulls()) <= set(SURVEY["income"])
    tight = pl.DataFrame({"x": pl.Series([0, 255] * 20, dtype=pl.UInt8)})
    assert synthesize(tight, models="normal", seed=1).data.schema == tight.schema


def test_copies_are_counted():
    _, change = made(columns=["income"], models="sample")
    assert change.notes["copies"] == f"{N} of {N} records equal one of the original in income"
    notes = made(columns=["sex", "income"], models={"income": "normal"}, m=2).change.notes
    assert "of 240 records equal one of the original in income" in notes["numeric copies"]


def test_draws_are_kept_in_the_secret_part():
    change = made(models=PARAMETRIC, posterior_draws=5).change
    assert list(change.secret["draws"]) == list(PARAMETRIC)
    assert "draws" not in str(change.to_dict())
    several = made(columns=["income"], models="normal", posterior_draws=1, proper=True, m=3).change
    assert len(several.secret["draws"]["income"]["scale"]) == 3


def test_pandas_and_pyarrow_get_the_same():
    expected = made().data
    frame = SURVEY.to_pandas().set_index(pd.Index(range(100, 100 + N)))
    data, _ = made(frame)
    assert data.index.tolist() == list(range(100, 100 + N))
    assert data.dtypes.equals(frame.dtypes)
    assert data["age"].tolist() == expected["age"].to_list()
    assert data["marital"].tolist() == expected["marital"].to_list()
    assert made(SURVEY.to_arrow()).data["income"].to_pylist() == expected["income"].to_list()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": ["incme"]}, ColumnError, "did you mean 'income'"),
        ({"columns": "income"}, ColumnError, r"write columns=\['income'\]"),
        ({"columns": ["land"]}, DataError, "'land' is constant"),
        ({"columns": ["person"]}, DataError, "240 different texts in 240 records"),
        ({"columns": None}, DataError, "'person' has 240 different texts"),
        ({"columns": None, "order": ["nobody"]}, ColumnError, "order: no column 'nobody'"),
        ({"order": ["sex"]}, ColumnError, "exactly the columns"),
        ({"models": {"sex": "normal"}}, DataError, "'normal' does not fit column 'sex'"),
        ({"models": {"land": "cart"}}, ColumnError, "'land' is not among"),
        ({"predictors": ["nobody"]}, ColumnError, "predictors: no column 'nobody'"),
        ({"predictors": ["sex"]}, ColumnError, "'sex' is synthesised"),
        ({"predictors": ["person"]}, DataError, "a list of names"),
        ({"rows": [True]}, DataError, "has 1 flags, the data 240 records"),
        ({"rows": [1] * N}, DataError, "true or false for each record"),
        ({"rows": "age"}, DataError, "does not hold true or false"),
        ({"rows": "flag"}, ColumnError, "rows: no column 'flag'"),
        ({"rows": [True] + [False] * (N - 1)}, DataError, "too few to fit models to"),
        ({"m": 0}, DataError, "m counts releases; give a whole number of 1"),
        ({"min_leaf": True}, DataError, "min_leaf counts .* a whole"),
        ({"fit_to": "some"}, DataError, "fit_to 'some' is unknown; there are: rows, all"),
        ({"proper": 1}, DataError, "proper is"),
        ({"smoothing": -1}, DataError, "smoothing is"),
        ({"smoothing": {"land": 1}}, ColumnError, "smoothing: 'land'"),
        ({"rules": {"land": {}}}, ColumnError, "'land' is not among"),
        ({"seed": -1}, DataError, "seed="),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        made(**options)


def test_bad_data():
    with pytest.raises(DataError, match="'x' has no value at all"):
        synthesize(pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Int64)}), columns=["x"])
    with pytest.raises(DataError, match="no column varies"):
        synthesize(pl.DataFrame({"x": [1, 1]}))
    with pytest.raises(DataError, match="the data has no records"):
        synthesize(SURVEY.clear().lazy())


def test_odd_names_and_one_column():
    frame = SURVEY.select(pl.col("age").alias("Alter der Müller-Kinder. select"))
    assert synthesize(frame, seed=1).data.schema == frame.schema


@pytest.mark.parametrize("proper", [False, True])
def test_household_variables_are_drawn_once_per_household(proper):
    data = people()
    files, change = synthesize(
        data, household="home", m=2, proper=proper, models={"tenure": "logistic"}, seed=1
    )
    for one in files:
        assert all(shared(one, name) for name in ("region", "tenure", "income", "w"))
        assert not shared(one, "age")
        assert one["home"].equals(data["home"])
        assert one["size"].equals(data["size"])
        assert not one["region"].equals(data["region"])
    assert change.parameters["order"][:4] == ["region", "tenure", "income", "w"]
    assert "size" in change.notes["household size"]
    assert "once per household" in change.notes["household_variables"]


def test_a_flag_reaches_the_household_where_its_variables_are_drawn():
    data = people()
    rows = np.arange(len(data)) % 20 == 0
    hit = data["home"].is_in(data.filter(rows)["home"].unique().implode()).to_numpy()
    found, change = synthesize(
        data, household="home", columns=["region", "age"], rows=rows, fit_to="all", seed=1
    )
    moved = (found["region"] != data["region"]).to_numpy() | (found["age"] != data["age"]).to_numpy()
    assert shared(found, "region")
    assert not moved[~hit].any()
    assert moved[hit & ~rows].any()
    assert "whole household" in change.notes["rows"]
    alone = synthesize(data, household="home", columns=["age"], rows=rows, fit_to="all", seed=1).data
    assert not (alone["age"] != data["age"]).to_numpy()[~rows].any()


def test_a_model_of_a_household_variable_counts_every_household_once():
    size = [1] * 40 + [9] * 10
    home = np.repeat(np.arange(50), size)
    data = pl.DataFrame(
        {
            "home": home,
            "tenure": np.where(home < 40, "owner", "tenant"),
            "sex": RNG.choice(["f", "m"], len(home)),
        }
    )
    drawn = synthesize(data, household="home", columns=["tenure"], models="sample", m=40, seed=3).data
    share = np.mean([one.unique("home").get_column("tenure").eq("owner").mean() for one in drawn])
    assert abs(share - 0.8) < 0.05  # of the persons 40 of 130 are owners
