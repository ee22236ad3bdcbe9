"""A small survey as every engine holds it, with all that a frame can hold beside its records.

The words below stand nowhere among the values that a record shows: a category that no record has, a text of a record
that was filtered out, a value beneath a missing one, notes on the frame, its columns and its index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

HIDDEN = "Zq7Qx"  # part of every hidden word
UNIQUE = "wa9Kj-the-only-one-of-its-kind"  # the job of one record, long enough to lie apart from short texts
NUMBER = 0x5A71_3751_785A_7137  # a number whose bytes are found again
JOBS = ["cook", f"{HIDDEN} category of nobody", "smith", UNIQUE, "clerk"]
N = 60


def survey(unique: str = UNIQUE, number: int = NUMBER) -> pl.DataFrame:
    """People in households, one with a job of its own, and one record more for the engines to take out."""
    rng = np.random.default_rng(5)
    jobs = [unique if i == 7 else str(one) for i, one in enumerate(rng.choice(["cook", "smith", "clerk"], N + 1))]
    homes = np.repeat(np.arange(N // 3 + 1), 3)[: N + 1]
    frame = pl.DataFrame(
        {
            "name": [f"the person of the number {i}" for i in range(N + 1)],
            "home": homes,
            "sex": rng.choice(["f", "m"], N + 1),
            "job": jobs,
            "note": [f"something said at length {i % 4}" for i in range(N + 1)],
            "code": rng.integers(0, 9, N + 1),
            "age": rng.integers(18, 80, N + 1),
            "income": rng.normal(2000, 300, N + 1).round(),
            "w": rng.uniform(20, 60, N + 1).round(3),
        }
    )
    last = pl.int_range(N + 1) == N
    gone = pl.int_range(N + 1) == 11
    hidden = pl.lit(f"{HIDDEN} of a record that is no longer here")
    return frame.with_columns(
        note=pl.when(last | gone).then(hidden).otherwise(pl.col("note")),
        code=pl.when(gone).then(pl.lit(number)).otherwise(pl.col("code")),
    )


def declared(unique: str = UNIQUE) -> list[str]:
    """Categories of the job."""
    return [unique if one == UNIQUE else one for one in JOBS]


def _polars(frame: pl.DataFrame, unique: str) -> pl.DataFrame:
    """The record filtered out and two values set to missing as one does in Polars, which keeps what was there."""
    there = pl.int_range(pl.len()) != 11
    seen = frame.with_columns(
        pl.when(there).then(pl.col("note", "code")), pl.col("job").cast(pl.Enum(declared(unique)))
    )
    return seen.filter(pl.int_range(pl.len()) < N)


def _pandas(frame: pl.DataFrame, unique: str, dtypes: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    native = dtypes(frame.to_pandas())
    jobs = pd.Categorical(frame["job"].to_list(), categories=declared(unique), ordered=True)
    native = native.assign(job=jobs)[:N]
    native.loc[11, ["note", "code"]] = pd.NA
    native.index = pd.CategoricalIndex([f"r{i}" for i in range(N)], categories=[f"r{i}" for i in range(N)] + [HIDDEN])
    native.attrs = {"labels": {"job": declared(unique)}}
    native.columns.name = HIDDEN
    return native


def _arrow(frame: pl.DataFrame, unique: str) -> pa.Table:
    """A slice, with notes and value labels, and values under a mask."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    valid = pa.array([i != 11 for i in range(len(frame))]).buffers()[1]
    code = pa.Array.from_buffers(pa.int64(), len(frame), [valid, table["code"].combine_chunks().buffers()[1]])
    text = table["note"].combine_chunks().buffers()
    note = pa.Array.from_buffers(pa.large_string(), len(frame), [valid, *text[1:]])
    places = pa.array([declared(unique).index(one) for one in frame["job"]], pa.int16())
    job = pa.DictionaryArray.from_arrays(places, pa.array(declared(unique)), ordered=True)
    kinds = {name: table[name].type for name in frame.columns} | {"job": job.type}
    fields = [pa.field(name, kind, metadata={"labels": HIDDEN}) for name, kind in kinds.items()]
    columns = {name: table[name] for name in frame.columns} | {"code": code, "note": note, "job": job}
    return pa.table(columns, schema=pa.schema(fields, metadata={"pandas": HIDDEN})).slice(0, N)


def _nullable(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.convert_dtypes()


def _backed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.convert_dtypes(dtype_backend="pyarrow")


LADEN: dict[str, Callable[[pl.DataFrame, str], Any]] = {
    "polars": _polars,
    "arrow": _arrow,
    "pandas": lambda frame, unique: _pandas(frame, unique, lambda one: one.astype({"code": "Int64"})),
    "nullable": lambda frame, unique: _pandas(frame, unique, _nullable),
    "backed": lambda frame, unique: _pandas(frame, unique, _backed),
}


def laden(engine: str, unique: str = UNIQUE, number: int = NUMBER) -> Any:
    """The survey on an engine, with everything hidden in it."""
    return LADEN[engine](survey(unique, number), unique)


def categories(data: Any, name: str) -> list[str]:
    """What a column declares."""
    if isinstance(data, pl.DataFrame):
        kind = data.schema[name]
        assert isinstance(kind, pl.Enum)
        return kind.categories.to_list()
    if isinstance(data, pa.Table):
        return data[name].combine_chunks().dictionary.to_pylist()
    return list(data[name].cat.categories)


def shown(data: Any, name: str) -> list[Any]:
    """The values that records show."""
    values = data[name].to_pylist() if isinstance(data, pa.Table) else data[name].to_list()
    return [None if pd.isna(value) else value for value in values]
