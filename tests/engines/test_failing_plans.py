"""A plan that fails when it is carried out: our error, and no value of a record in it or behind it."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from plans import duckdb_relation
from sdckit.data.frames import carried_out, collect, open_frame

MARK = "ZQXMARK"
SURVEY = pl.DataFrame(
    {
        "age": ["31", "45", MARK, "31"] * 10, "sex": ["f", "m"] * 20, "w": [1.0, 2.0] * 20,
        "home": [i // 2 for i in range(40)], "learnt": ["a", "b", "c", "a"] * 10,
    }
)  # fmt: skip


def polars_cast(tmp_path: Path) -> Any:
    return SURVEY.lazy().with_columns(pl.col("age").cast(pl.Int64))


def polars_function(tmp_path: Path) -> Any:
    def fail(series: pl.Series) -> pl.Series:
        raise ValueError(f"cannot read {series[2]}")

    return SURVEY.lazy().with_columns(pl.col("age").map_batches(fail, return_dtype=pl.String))


def polars_absent_column(tmp_path: Path) -> Any:
    return SURVEY.lazy().with_columns(pl.col(MARK) + 1)


def polars_file_that_went(tmp_path: Path) -> Any:
    SURVEY.write_parquet(tmp_path / f"{MARK}.parquet")
    plan = pl.scan_parquet(tmp_path / f"{MARK}.parquet")
    plan.collect_schema()
    (tmp_path / f"{MARK}.parquet").unlink()
    return plan


def duckdb_cast(tmp_path: Path) -> Any:
    return duckdb_relation(SURVEY).select("cast(age as integer) as age, sex, w, home, learnt")


PLANS = [polars_cast, polars_function, polars_absent_column, polars_file_that_went, duckdb_cast]
CALLS: dict[str, Callable[[Any], Any]] = {
    "individual_risk": lambda data: sdc.individual_risk(data, keys=["age", "sex"], weight="w", household="home"),
    "k_anonymity": lambda data: sdc.k_anonymity(data, keys=["age", "sex"]),
    "l_diversity": lambda data: sdc.l_diversity(data, keys=["sex"], sensitive="age"),
    "suda": lambda data: sdc.suda(data, keys=["age", "sex"]),
    "assess": lambda data: sdc.assess(data, keys=["age", "sex"]),
    "matching_risk": lambda data: sdc.matching_risk(data, data, known=["age", "sex"], synthetic=["w"]),
    "compare_distributions": lambda data: sdc.compare_distributions(data, data),
    "household_variables": lambda data: sdc.household_variables(data, household="home"),
    "guess_roles": sdc.guess_roles,
    "singling_out": lambda data: sdc.singling_out(data, data, n_attacks=10, seed=1),
}  # fmt: skip


def check_silent(call: Callable[[], Any]) -> str:
    """The words of the error, which shows no value, neither itself nor in what stands behind it."""
    with pytest.raises(sdc.SdcError) as caught:
        call()
    error: BaseException | None = caught.value
    assert error is not None
    shown = "".join(part for part in traceback.format_exception(error) if "    " not in part[:4])
    assert MARK not in str(error)
    assert MARK not in re.sub(r'File ".*', "", shown)
    while error is not None:  # nor where somebody looks at the context, as loggers do
        assert MARK not in repr(error.args)
        error = error.__context__
    return str(caught.value)


@pytest.mark.parametrize("make", PLANS)
def test_no_value_is_told(make: Callable[[Path], Any], tmp_path: Path) -> None:
    for name, call in CALLS.items():
        try:
            said = check_silent(lambda call=call: call(make(tmp_path)))  # type: ignore[misc]
        except BaseException as error:
            raise AssertionError(f"{name}: {type(error).__name__}") from error
        assert "the plan cannot be carried out (" in said, name


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_on_spark(spark: Any) -> None:
    frame = spark.createDataFrame(SURVEY.to_arrow()).selectExpr("cast(age as int) as age", "sex")
    assert "carried out" in check_silent(lambda: sdc.k_anonymity(frame, keys=["age", "sex"]))


def test_what_engines_raise_is_ours() -> None:
    class Panic(BaseException):
        pass

    def fail(error: BaseException) -> Callable[[], None]:
        def run() -> None:
            raise error

        return run

    for error in (RuntimeError(MARK), Panic(MARK), OSError(28, MARK)):
        assert type(error).__name__ in check_silent(lambda error=error: carried_out(fail(error)))  # type: ignore[misc]
    for library in ("numpy", "pyarrow"):
        lacking = RuntimeError(f"{MARK}\nModuleNotFoundError: No module named '{library}.compute'")
        told = check_silent(lambda error=lacking: carried_out(fail(error)))  # type: ignore[misc]
        assert f"the workers of the cluster have no {library}: install NumPy and PyArrow there" in told
    for own in (sdc.DataError("ours"), KeyboardInterrupt(), SystemExit(3), MemoryError()):
        with pytest.raises(type(own)):
            carried_out(fail(own))
    assert carried_out(lambda: 3) == 3
    assert collect(open_frame(SURVEY.lazy().select("sex"))).columns == ["sex"]
