"""Every attack on every engine: the same figures from the same seed, and tables of the original's own kind."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sdckit as sdc
from attacks.made import people
from engines.comparing import assert_same_figures, quiet
from engines.conftest import duckdb_relation, polars_plan
from sdckit.errors import DataError

NAMES = ["age", "wealth", "pay", "sex", "flag", "day"]
N = 50


def survey(n: int, seed: int) -> pl.DataFrame:
    """Whole numbers and texts with gaps, floats, dates, true and false, and a number for each person."""
    made = people(n, seed)
    made = made.rename(dict(zip(made.columns, NAMES, strict=True)))
    gap = pl.int_range(pl.len()) % 11 == seed
    some = [pl.when(gap).then(None).otherwise(pl.col(name)).alias(name) for name in ("age", "sex")]
    return made.with_columns(some).with_columns(pid=pl.int_range(pl.len()) * 7)


ORIGINAL, OTHERS, CONTROL = (survey(n, seed) for n, seed in ((120, 1), (100, 2), (110, 3)))
# Rows that belong together: who has an age, one in three of them a year older.
PERSONS = ORIGINAL.drop_nulls("age")
AGED = PERSONS.with_columns(age=pl.col("age") + (pl.int_range(pl.len()) % 3 == 0).cast(pl.Int64))


def as_polars(frame: pl.DataFrame) -> Any:
    return frame


def as_numpy(frame: pl.DataFrame) -> Any:
    return frame.to_pandas()


def as_nullable(frame: pl.DataFrame) -> Any:
    return frame.to_pandas().convert_dtypes()


def as_arrow_backed(frame: pl.DataFrame) -> Any:
    return frame.to_pandas(use_pyarrow_extension_array=True)


def as_categories(frame: pl.DataFrame) -> Any:
    return frame.to_pandas().astype({"sex": "category"})


def with_an_index(frame: pl.DataFrame) -> Any:
    return frame.to_pandas().set_index(pd.Index([i // 2 for i in range(len(frame))][::-1], name="old"))


def as_polars_categories(frame: pl.DataFrame) -> Any:
    return frame.with_columns(pl.col("sex").cast(pl.Categorical))


def as_table(frame: pl.DataFrame) -> Any:
    return frame.to_arrow()


IN_MEMORY = [
    as_polars, as_polars_categories, as_numpy, as_nullable, as_arrow_backed, as_categories, with_an_index, as_table,
]  # fmt: skip
PLANS = [polars_plan, duckdb_relation]
ENGINES = [*IN_MEMORY, *PLANS]

AGAINST_CONTROL = {"n_attacks": N, "by": "flag"}
# Each attack with its options, and whether its release is row by row that of the original.
ATTACKS: dict[str, tuple[Any, dict[str, Any], bool]] = {
    "univariate": (sdc.singling_out, AGAINST_CONTROL, False),
    "multivariate": (sdc.singling_out, {**AGAINST_CONTROL, "mode": "multivariate"}, False),
    "linkability": (
        sdc.linkability, {**AGAINST_CONTROL, "known": (["flag", "pay", "age"], ["wealth", "sex", "day"])}, False,
    ),
    "inference": (
        sdc.inference, {**AGAINST_CONTROL, "known": ["age", "sex", "day"], "target": "pay", "tol": 0.5}, False,
    ),
    "inference of text": (sdc.inference, {**AGAINST_CONTROL, "known": ["age", "pay"], "target": "sex"}, False),
    "membership": (sdc.membership, AGAINST_CONTROL, False),
    "distances": (sdc.distance_to_closest_record, {"by": "flag", "resamples": 19}, False),
    "linkage": (sdc.probabilistic_linkage, {"variables": ["age", "sex", "day"]}, True),
}  # fmt: skip


OF_PLANS = ["univariate", "multivariate"]  # where one of the files is a plan, queries go by values, not by rows


def attacked(name: str, original: Any, released: Any, control: Any) -> Any:
    """Run an attack; each argument makes a frame of an engine."""
    function, options, aligned = ATTACKS[name]
    if aligned:
        return quiet(function, original(PERSONS), released(AGED), id="pid", seed=1, **options)
    files = original(ORIGINAL), released(OTHERS)
    return quiet(function, *files, control=control(CONTROL), id="pid", seed=1, **options)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """Every attack on Polars frames, and where that differs on plans."""
    plans = {f"{name} of plans": attacked(name, polars_plan, polars_plan, polars_plan) for name in OF_PLANS}
    return {name: attacked(name, as_polars, as_polars, as_polars) for name in ATTACKS} | plans


def known(expected: dict[str, Any], name: str, *engines: Any) -> Any:
    """What is expected of an attack where these are the engines of its files."""
    of_plans = name in OF_PLANS and any(engine not in IN_MEMORY for engine in engines)
    return expected[f"{name} of plans" if of_plans else name]


@pytest.mark.parametrize("name", OF_PLANS)
@pytest.mark.parametrize("engine", PLANS, ids=lambda engine: engine.__name__)
def test_no_order_of_rows_changes_the_queries_of_plans(name: str, engine: Any, expected: dict[str, Any]) -> None:
    def turned(frame: pl.DataFrame) -> Any:
        return engine(frame.sample(fraction=1.0, shuffle=True, seed=4))

    found, own = attacked(name, turned, turned, turned), expected[f"{name} of plans"]
    assert_same_figures(own.to_dict(), found.to_dict(), name)
    for table in ("by_group", "queries"):
        assert_same_figures(plain(getattr(own, table)), plain(getattr(found, table)), table)


def tables(result: Any, name: str) -> dict[str, Any]:
    """All tables that a result has."""
    special = {"linkage": ["scores", "levels"], "distances": ["by_group", "released_records"]}
    own = special.get(name, ["by_group"])
    return {one: getattr(result, one) for one in ["records", *own, *(["queries"] if "variate" in name else [])]}


def plain(frame: Any) -> dict[str, list[Any]]:
    """The columns as lists, a missing value as None; a date of pandas is a midnight."""
    columns = nw.from_native(frame, eager_only=True).to_dict(as_series=False)
    return {
        key: [None if pd.isna(one) else one.replace(" 00:00:00", "") if isinstance(one, str) else one for one in values]
        for key, values in columns.items()
    }


def check(expected: Any, found: Any, name: str, kind: type) -> None:
    """Figures, verdict and notes agree, and so does every table, which is of one kind."""
    assert_same_figures(expected.to_dict(), found.to_dict(), name)
    assert found.verdict == expected.verdict
    own = tables(found, name)
    for title, table in tables(expected, name).items():
        assert type(own[title]) is kind, title
        assert_same_figures(plain(table), plain(own[title]), f"{name}.{title}")


def kind_of(engine: Any) -> type:
    """What comes back: the caller's own kind of frame, of a plan a PyArrow table."""
    return pa.Table if engine not in IN_MEMORY else type(engine(ORIGINAL))


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
def test_the_same_on_every_engine(name: str, engine: Any, expected: dict[str, Any]) -> None:
    found = attacked(name, engine, engine, engine)
    check(known(expected, name, engine), found, name, kind_of(engine))
    if engine is with_an_index:
        rows = PERSONS if ATTACKS[name][2] else ORIGINAL
        assert found.records.index.equals(engine(rows).index)


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name in ATTACKS for at in range(0, len(ENGINES), 4 if name == "linkage" else 1)]
)
def test_each_file_on_an_engine_of_its_own(name: str, at: int, expected: dict[str, Any]) -> None:
    original, released, control = (ENGINES[(at + step) % len(ENGINES)] for step in (0, 3, 5))
    mine = known(expected, name, original, released, control)
    check(mine, attacked(name, original, released, control), name, kind_of(original))


def test_the_figures_are_not_empty(expected: dict[str, Any]) -> None:
    """What agrees everywhere must be something."""
    for name, (_, _, aligned) in ATTACKS.items():
        told = {"distances": "share_closer_to_original", "linkage": "rate"}.get(name, "success_rate")
        assert getattr(expected[name], told) > 0, name
        assert len(set(plain(expected[name].records)["pid"])) == len(PERSONS if aligned else ORIGINAL)


@pytest.mark.parametrize("engine", IN_MEMORY, ids=lambda engine: engine.__name__)
def test_canaries_on_every_engine(engine: Any) -> None:
    own, there = (sdc.canaries(one(ORIGINAL), n=8, seed=1, id="pid") for one in (as_polars, engine))
    assert type(there.data) is kind_of(engine)
    for one in ("data", "planted", "held_out"):
        assert_same_figures(as_text(getattr(own, one)), as_text(getattr(there, one)), one)
    for release in ENGINES:
        exposed = [made.exposure(release(own.data.head(60))) for made in (own, there)]
        assert_same_figures(*(one.to_dict() for one in exposed))
        assert_same_figures(*(plain(one.records) for one in exposed))
        assert type(exposed[1].records) is kind_of(engine)


@pytest.mark.parametrize("engine", IN_MEMORY, ids=lambda engine: engine.__name__)
def test_the_bound_on_epsilon_on_every_engine(engine: Any) -> None:
    own, there = (sdc.canaries(one(ORIGINAL), n=12, coins=True, seed=1, id="pid") for one in (as_polars, engine))
    assert own.coins is not None
    assert there.coins is not None
    assert own.coins.tolist() == there.coins.tolist()
    expected = own.exposure(as_polars(own.data))
    assert expected.n_guesses == 12
    for file in ENGINES:
        exposed = there.exposure(file(own.data), reference=file(ORIGINAL))
        assert_same_figures(expected.to_dict(), exposed.to_dict())
        assert_same_figures(plain(expected.records), plain(exposed.records))


def as_text(frame: Any) -> dict[str, list[str]]:
    """Values as texts: a date of pandas has a time, a whole number beside gaps a point."""
    return {
        name: [str(one).removesuffix(" 00:00:00").removesuffix(".0") for one in values]
        for name, values in plain(frame).items()
    }


@pytest.mark.parametrize("engine", PLANS, ids=lambda engine: engine.__name__)
def test_canaries_are_not_planted_in_a_plan(engine: Any) -> None:
    with pytest.raises(DataError, match="collect"):
        sdc.canaries(engine(ORIGINAL), n=8, seed=1)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # PySpark's about pandas 3
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", ATTACKS)
def test_spark_alone_and_beside_others(spark: Any, name: str, expected: dict[str, Any]) -> None:
    def as_spark(frame: pl.DataFrame) -> Any:
        return spark.createDataFrame(frame.to_arrow())

    mine = known(expected, name, as_spark)
    check(mine, attacked(name, as_spark, as_spark, as_spark), name, pa.Table)
    if not ATTACKS[name][2]:  # linkage runs on Spark then, its other engine stands above
        check(mine, attacked(name, as_numpy, as_spark, duckdb_relation), name, pd.DataFrame)
        check(mine, attacked(name, as_spark, as_table, as_numpy), name, pa.Table)


def test_another_seed_gives_other_figures(expected: dict[str, Any]) -> None:
    function, options, _ = ATTACKS["membership"]
    other = quiet(function, ORIGINAL, OTHERS, control=CONTROL, seed=2, **options)
    assert not np.isclose(other.success_rate, expected["membership"].success_rate, rtol=0, atol=1e-12)
