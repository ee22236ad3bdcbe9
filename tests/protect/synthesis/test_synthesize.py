"""E8: files made of draws: types, order, seeds, flags, rules, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import lognorm
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

import sdckit as sdc
from homes import people, shared
from plans import on_engines, polars_plan
from protect.synthesis_survey import AGE, ALL, PARAMETRIC, RNG, SURVEY, N, made
from sdckit import synthesize
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.numerics import threads
from sdckit.protect import change as on_plans
from sdckit.protect.synthesis.synthesis_models import Settings, read_models
from sdckit.protect.synthesis.synthesis_variables import NEW, Values, read_variable
from sdckit.protect.synthesis.synthesize import Plan, changed_values, copied_rows, draw_releases, fit_all


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
    income = [{"when": {"sex": "f"}, "value": 7.5}, {"when": {"sex": "m", "member": True}, "value": None}]
    rules = {"marital": {"when": {"age": {"below": 16}}, "value": "single"}, "income": income}
    data, change = made(order=["member", "sex", "age", "marital", "income", "born"], rules=rules, models="sample")
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


def test_numbers_at_the_end_of_their_type_are_counted_as_they_are_written():
    frame = pl.DataFrame({"x": pl.Series([0, 255, 250, 3] * 30, dtype=pl.UInt8)})
    file, change = synthesize(frame, models="normal", seed=1)
    values, before = file["x"].to_list(), frame["x"].to_list()
    copies = sum(value in {0, 3, 250, 255} for value in values)
    assert copies > 20
    assert change.changed == {"x": sum(one != other for one, other in zip(values, before, strict=True))}
    assert change.notes["copies"] == f"{copies} of 120 records equal one of the original in x"


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
    files, change = synthesize(data, household="home", m=2, proper=proper, models={"tenure": "logistic"}, seed=1)
    for file in files:
        assert all(shared(file, name) for name in ("region", "tenure", "income", "w"))
        assert not shared(file, "age")
        assert file["home"].equals(data["home"])
        assert file["size"].equals(data["size"])
        assert not file["region"].equals(data["region"])
    assert change.parameters["order"][:4] == ["region", "tenure", "income", "w"]
    assert "size" in change.notes["household size"]
    assert "once per household" in change.notes["household_variables"]


def test_a_flag_reaches_the_household_where_its_variables_are_drawn():
    data = people()
    rows = np.arange(len(data)) % 20 == 0
    hit = data["home"].is_in(data.filter(rows)["home"].unique().implode()).to_numpy()
    found, change = synthesize(data, household="home", columns=["region", "age"], rows=rows, fit_to="all", seed=1)
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
        {"home": home, "tenure": np.where(home < 40, "owner", "tenant"), "sex": RNG.choice(["f", "m"], len(home))}
    )
    drawn = synthesize(data, household="home", columns=["tenure"], models="sample", m=40, seed=3).data
    share = np.mean([one.unique("home").get_column("tenure").eq("owner").mean() for one in drawn])
    assert abs(share - 0.8) < 0.05  # of the persons 40 of 130 are owners


# The sequence: what is shared between releases, and what is counted of them.


FRAME = pl.DataFrame({"sex": ["f", "m"] * 20, "age": [20, 60] * 20, "x": [1.0, 2.0, 3.0, 4.0] * 10})
V = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}


def plan(models="cart", proper=False, rows=tuple(range(40))):
    order = ("age", "x")
    return Plan(
        variables=V, order=order, predictors={"age": ("sex",), "x": ("sex", "age")},
        chosen=read_models(models, [V[name] for name in order], dict.fromkeys(order, 0.0)), rules={},
        rows=np.array(rows), fit_rows=np.arange(40), settings=Settings(5, 3, proper),
    )  # fmt: skip


def test_fits_are_shared_unless_releases_differ_in_parameters():
    assert set(fit_all(plan(), 3, np.random.default_rng(0))) == {("age", 0), ("x", 0)}
    assert len(fit_all(plan(proper=True), 3, np.random.default_rng(0))) == 6
    assert len(fit_all(plan({"x": "normal"}, proper=True), 3, np.random.default_rng(0))) == 4


def test_only_the_records_asked_for_are_drawn():
    some = plan(rows=np.array([0, 3]))
    (made,) = draw_releases(some, fit_all(some, 1, np.random.default_rng(0)), 1, np.random.default_rng(1))
    assert made["age"].number.tolist() == [20, 60]
    assert changed_values(some, made)["age"] == 0


def test_counts():
    some = plan(rows=np.array([0, 1, 2]))
    made = {
        "age": V["age"].of_levels(np.array([0, 1, 1])),
        "x": Values(np.array([0, 0, NEW]), np.array([1.0, 1.0, 1.5])),
    }
    assert changed_values(some, made) == {"age": 1, "x": 2}
    assert copied_rows(some, made, ("age", "x")) == 1  # an age of 60 never goes with an x of 1
    assert copied_rows(some, made, ("age",)) == 3


# Synthesis of a plan gives what it gives in memory, as a plan of the same engine.


rng = np.random.default_rng(5)
PLANS_N = 120
FILE = pl.DataFrame(
    {
        "name": [f"n{i}" for i in range(PLANS_N)],
        "home": rng.integers(0, 40, PLANS_N),
        "town": rng.choice(["Wels", "Graz", "Ä"], PLANS_N),
        "size": pl.Series(rng.choice(["S", "M", "L"], PLANS_N), dtype=pl.Enum(["S", "M", "L", "XL"])),
        "age": rng.integers(15, 80, PLANS_N).astype(np.int32),
        "income": np.round(rng.lognormal(7, 1, PLANS_N), 2),
        "born": rng.integers(0, 9000, PLANS_N).astype("datetime64[D]"),
        "flag": rng.choice([True, False], PLANS_N),
    }
).with_columns(pl.when(pl.col("age") > 20).then("income"), tenure=pl.col("home") % 3)
VARIABLES = ["town", "size", "age", "income", "born", "flag"]


def rows(plan: Any) -> pl.DataFrame:
    """The records of a plan."""
    found: pl.DataFrame = plan.collect() if isinstance(plan, pl.LazyFrame) else plan.pl()
    return found


@on_engines
@pytest.mark.parametrize(
    "how",
    [
        {"columns": VARIABLES},
        {"columns": ["income", "age"], "order": ["age", "income"], "models": "normal"},
        {"columns": ["income"], "predictors": ["size", "town"], "smoothing": 1.0},
        {"columns": ["income"], "predictors": {"income": "~ age * size"}, "models": "normal", "proper": True},
        {"columns": ["town"], "rows": "flag", "fit_to": "all"},
        {"columns": ["town"], "rows": np.arange(PLANS_N) % 3 == 0, "predictors": ["age"]},
        {"columns": ["tenure", "age"], "household": "home"},
        {"columns": ["age", "tenure"], "predictors": [], "household": "home", "household_variables": ["tenure"]},
        {"columns": ["size", "born"], "m": 3},
    ],
    ids=lambda one: "-".join(map(str, one)),
)
def test_the_values_are_those_of_memory(plan: Any, how: dict[str, Any]) -> None:
    here, there = sdc.synthesize(FILE, seed=3, **how), sdc.synthesize(plan(FILE), seed=3, **how)
    alike(here, there)
    assert sum(here.change.changed.values()) > 0


@on_engines
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("n", [7, PLANS_N, 500])
def test_files_of_another_size(plan: Any, n: int, m: int) -> None:
    survey = FILE.drop("name").with_columns(land=pl.lit("here"))
    here, there = (sdc.synthesize(one, n=n, m=m, seed=3) for one in (survey, plan(survey)))
    alike(here, there)
    assert "copies" in there.change.notes


def alike(here: Any, there: Any) -> None:
    """The same records, in plans, and the same log."""
    several = isinstance(here.data, list)
    assert isinstance(there.data, list) is several
    for one, other in zip(*((x.data if several else [x.data]) for x in (here, there)), strict=True):
        assert not isinstance(other, pl.DataFrame)
        expected = one.with_columns(pl.col(pl.Enum).cast(pl.String))
        assert rows(other).schema == expected.schema
        assert rows(other).equals(expected)
    assert there.change.to_dict() == here.change.to_dict()
    assert there.change.secret["seed"] == here.change.secret["seed"]


@on_engines
def test_what_does_not_fit_is_told(plan: Any) -> None:
    survey = plan(FILE)
    for how, kind, says in [
        ({"columns": ["twon"]}, ColumnError, "no column 'twon' in the data; .*town"),
        ({"columns": ["town"], "predictors": ["aeg"]}, ColumnError, "no column 'aeg' in the data; .*age"),
        ({"columns": ["town"], "household": "hoem"}, ColumnError, "no column 'hoem' in the data; .*home"),
        ({"columns": ["name"]}, DataError, "would hand real ones out"),
        ({"columns": ["town"], "n": 5}, DataError, "n= makes 5 records, and 'name' is not drawn"),
        ({"columns": ["town"], "rows": [True] * 3}, DataError, "or the name of the column|3 flags"),
    ]:
        with pytest.raises(kind, match=says):
            sdc.synthesize(survey, **how)
    with pytest.raises(DataError, match="no records"):
        sdc.synthesize(plan(FILE.head(0)))
    lists = pl.LazyFrame({"many": [[1], [2]], "b": ["x", "y"]})
    with pytest.raises(DataError, match="column 'many' holds List"):
        sdc.synthesize(lists, columns=["b"])


def test_more_than_a_plan_takes_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdckit.cells.plans.changed_plan import Changing

    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("columns were brought")

    monkeypatch.setattr(Changing, "brought", work)
    monkeypatch.setattr(on_plans, "COLLECT_LIMIT", 5 * PLANS_N)
    for how, says in [
        ({}, "brings 9 columns of 120 records here"),
        ({"columns": ["town"], "predictors": ["age"], "m": 6}, "makes 1 columns of 120 records for each of 6 files"),
    ]:
        with pytest.raises(DataError, match=says):
            sdc.synthesize(polars_plan(FILE), **how)
    with pytest.raises(AssertionError, match="were brought"):
        sdc.synthesize(polars_plan(FILE), columns=["town"], predictors=["age"], m=5)


@on_engines
def test_the_engine_writes_it(plan: Any, tmp_path: Any) -> None:
    made = sdc.synthesize(plan(FILE), columns=VARIABLES, seed=1)
    file = sdc.write_file(made.data, tmp_path / "made.parquet")
    expected = sdc.synthesize(FILE, columns=VARIABLES, seed=1).data.with_columns(pl.col(pl.Enum).cast(pl.String))
    assert pl.read_parquet(file).equals(expected)
    assert [one.name for one in tmp_path.iterdir()] == ["made.parquet"]


def wages(n: int = 2_000) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    educ = rng.integers(8, 18, n)
    wage = np.exp(1.0 + 0.15 * educ + rng.normal(0, 0.4, n)).round(2)
    return pl.DataFrame({"educ": educ, "wage": wage})


def test_the_normal_model_of_logarithms_is_that_of_a_logged_column():
    data = wages()
    made = synthesize(data, columns=["wage"], models="normal", transform={"wage": "log"}, seed=1)
    logged = synthesize(data.with_columns(pl.col("wage").log()), columns=["wage"], models="normal", seed=1)
    assert made.data["wage"].to_numpy() == pytest.approx(np.exp(logged.data["wage"].to_numpy()), abs=0.0051)
    assert made.data["wage"].equals(made.data["wage"].round(2))
    assert made.data["wage"].min() > 0 > synthesize(data, columns=["wage"], models="normal", seed=1).data["wage"].min()
    assert made.change.parameters["transform"] == {"wage": "log"}
    residual = np.log(made.data["wage"].to_numpy()) - 1.0 - 0.15 * data["educ"].to_numpy()
    assert residual.std() == pytest.approx(0.4, abs=0.03)


def test_draws_of_a_model_on_the_log_scale_give_the_density_of_the_values():
    data = wages(200).with_columns(wage=pl.when(pl.int_range(200) % 7 == 0).then(None).otherwise("wage"))
    draws = synthesize(data, columns=["wage"], models="normal", transform={"wage": "log"}, seed=1).change.secret[
        "draws"
    ]
    own = draws["wage"]
    asked = pl.DataFrame({"educ": [12, 12, 12], "wage": [10.0, 0.0, None]})
    term = own["terms"][0]
    of_term = np.array([1.0, (12 - term["centre"]) / term["scale"]])
    mean, sd = np.array(own["coefficients"])[:, 0] @ of_term, np.array(own["scale"])
    there = np.log1p(-np.exp(own.log_density(asked)[:, 2]))
    assert own.log_density(asked)[:, 0] - there == pytest.approx(lognorm.logpdf(10.0, sd, scale=np.exp(mean)))
    assert np.isneginf(own.log_density(asked)[:, 1]).all()
    with pytest.raises(DataError, match="modelled on the log scale"):
        own.predictive(asked)


def test_donors_and_smoothed_values_on_the_log_scale():
    data = wages().with_columns(wage=pl.col("wage") / 3)  # no last digit
    lent = synthesize(data, columns=["wage"], transform={"wage": "log"}, seed=1).data
    assert set(lent["wage"]) <= set(data["wage"])
    smooth = synthesize(data, columns=["wage"], transform={"wage": "log"}, smoothing=1, seed=1)
    assert smooth.change.notes["copies"].startswith("0 of 2000")
    low, high = data["wage"].min() * (1 - 1e-12), data["wage"].max() * (1 + 1e-12)
    assert smooth.data["wage"].is_between(low, high).all()
    by_regressor = synthesize(
        data, columns=["wage"], models={"wage": LinearRegression()}, transform={"wage": "log"}, seed=1
    )
    assert by_regressor.data["wage"].min() > 0


def test_what_has_no_logarithm_is_left_to_rules():
    data = wages().with_columns(wage=pl.when(pl.col("educ") < 10).then(0.0).otherwise("wage"))
    options = {"columns": ["wage"], "models": "normal", "transform": {"wage": "log"}, "seed": 1}
    with pytest.raises(DataError, match=r"transform: 'wage' is 0 or less in \d+ records"):
        synthesize(data, **options)
    made = synthesize(data, rules={"wage": {"when": {"educ": {"below": 10}}, "value": 0}}, **options).data
    assert ((made["wage"] == 0) == (made["educ"] < 10)).all()
    smooth = {**options, "models": "cart", "smoothing": 1}
    drawn = synthesize(data, rules={"wage": {"when": {"educ": {"below": 10}}, "value": 0}}, **smooth).data["wage"]
    assert drawn.filter(drawn > 0).min() >= data.filter(pl.col("wage") > 0)["wage"].min()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"transform": {"wages": "log"}}, ColumnError, "transform: 'wages' is not among the columns"),
        ({"transform": {"wage": "sqrt"}}, DataError, "transform 'sqrt' is unknown"),
        ({"transform": "log"}, DataError, 'transform is {column: "log"}'),
        ({"transform": {"wage": "log"}, "models": "sample"}, DataError, "drawn by 'sample'"),
        ({"transform": {"wage": "log"}, "models": "multivariate_normal"}, DataError, "drawn by 'multivariate_normal'"),
    ],
)
def test_a_transform_that_does_not_fit(change, error, message):
    with pytest.raises(error, match=re.escape(message)):
        synthesize(wages(50), **{"columns": ["wage"], **change})


def test_a_plan_is_drawn_on_the_log_scale_as_in_memory():
    data, options = wages(100), {"columns": ["wage"], "transform": {"wage": "log"}, "models": "normal", "seed": 1}
    assert synthesize(data.lazy(), **options).data.collect().equals(synthesize(data, **options).data)
