"""Whatever frame a public function is given, the error is one of ours: frames that are none, odd names, odd columns."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sdckit
from laws.test_arguments import CALLS, MEASURES, N
from sdckit.errors import ColumnError, DataError, SdcError

Call = dict[str, Any]
FILES = ("data", "original", "released", "control", "population", "earlier")
CHOICES = ("variables", "numeric", "columns", "known", "synthetic")  # all columns where they are left out
ALL_COLUMNS = {"guess_roles", "synthesize", "assess", "check", "copied_records", "random_order"}
# Of these one odd column is tried, in every file at once: a call takes long.
SLOW = {
    "assess", "check", "assert_within_limits", "explore", "propose", "starter_recipe", "differencing", "explain",
    "copied_records", "recoverable_values", "linkability", "probabilistic_linkage", "singling_out", "membership",
}  # fmt: skip


def objects(*values: Any) -> pd.Series:
    """These values in turn, in a column of objects."""
    return pd.Series([values[i % len(values)] for i in range(N)], dtype=object)


def floats(*values: float) -> pd.Series:
    return objects(*values).astype(float)


COLUMNS: dict[str, Callable[[], pd.Series]] = {
    "text and numbers": lambda: objects("x", 7, 2.5),
    "numbers, then text": lambda: objects(*range(N - 1), "x"),
    "flags and text": lambda: objects(True, None, "x"),
    "complex": lambda: pd.Series(np.arange(N) + 1j),
    "periods": lambda: pd.Series(pd.period_range("2020-01", periods=N, freq="M")),
    "categories of periods": lambda: pd.Series(pd.Categorical(pd.period_range("2020-01", periods=N, freq="M"))),
    "intervals": lambda: pd.Series(pd.interval_range(0, N)),
    "sparse": lambda: pd.Series(pd.arrays.SparseArray([0, 1] * (N // 2))),
    "half a character": lambda: objects("\ud800", "b"),
    "NUL": lambda: objects("a\0", "a"),
    "empty text": lambda: objects("", "x"),
    "lists": lambda: objects([1], [2, 3]),
    "structures": lambda: objects({"a": 1}, {"b": "x"}),
    "tuples": lambda: objects((1, 2), (3,)),
    "bytes": lambda: objects(b"\xff", b"x"),
    "things": lambda: objects(object()),
    "fractions": lambda: objects(Fraction(1, 3)),
    "decimals": lambda: objects(Decimal("1.5"), Decimal("1e30")),
    "beyond 64 bits": lambda: objects(2**80, 5),
    "beyond 63 bits": lambda: pd.Series([2**63 + 1, 5] * (N // 2), dtype="uint64"),
    "infinite": lambda: floats(np.inf, -np.inf, 1.0, 2.0),
    "as large as floats are": lambda: floats(5e-324, 1e308, -1e308, 0.0),
    "one as large": lambda: floats(1e308, 1.0, 2.0, 3.0),
    "no value": lambda: objects(None),
    "NaN": lambda: floats(np.nan),
    "one value": lambda: floats(1.0),
    "one record with a value": lambda: pd.Series([1.0, *[np.nan] * (N - 1)]),
    "flags": lambda: pd.Series([True, False] * (N // 2)),
    "categories of several types": lambda: pd.Series(pd.Categorical(["a", 1] * (N // 2))),
    "categories without a value": lambda: pd.Series(pd.Categorical([None] * N, categories=["a"])),
    "moments with a zone": lambda: pd.Series(pd.date_range("2020", periods=N, tz="Europe/Berlin")),
    "dates": lambda: objects(dt.date(2020, 1, 1), dt.date(1, 1, 1)),
    "dates and moments": lambda: objects(dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5)),
    "times of the day": lambda: objects(dt.time(1), dt.time(2)),
    "durations": lambda: pd.Series(pd.to_timedelta(list(range(N)), unit="D")),
}


@cache
def column(kind: str, records: int) -> pd.Series:
    """A column of this kind; made once, for the calls that read it are counted in thousands."""
    return pd.concat([COLUMNS[kind]()] * -(-records // N), ignore_index=True)[:records]


IN_PANDAS: dict[int, tuple[pl.DataFrame, pd.DataFrame]] = {}


def in_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A file of the calls in pandas; converted once, and copied whenever a column is set."""
    if id(frame) not in IN_PANDAS:
        IN_PANDAS[id(frame)] = frame, frame.to_pandas()
    return IN_PANDAS[id(frame)][1]


def named(frame: pl.DataFrame, name: Any) -> pd.DataFrame:
    """The frame with one more column, of this name."""
    whole = in_pandas(frame).assign(more=range(len(frame)))
    whole.columns = pd.Index([*frame.columns, name], dtype=object, tupleize_cols=False)
    return whole


def two_levels(frame: pl.DataFrame) -> pd.DataFrame:
    whole = in_pandas(frame)
    return whole.set_axis(pd.MultiIndex.from_tuples([("a", name) for name in whole.columns]), axis=1)


FRAMES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "dict": lambda frame: frame.to_dict(as_series=False),
    "list": lambda frame: frame.rows(),
    "empty list": lambda _: [],
    "None": lambda _: None,
    "array": lambda frame: frame.to_numpy(),
    "number": lambda _: 5,
    "text": lambda _: "x",
    "series": lambda frame: in_pandas(frame).iloc[:, 0],
    "iterator": lambda _: iter([1]),
    "class": lambda _: pd.DataFrame,
    "no records": lambda frame: frame.head(0).to_pandas(),
    "one record": lambda frame: frame.head(1).to_pandas(),
    "no columns": lambda frame: pd.DataFrame(index=range(len(frame))),
    "every name twice": lambda frame: pd.concat([in_pandas(frame)] * 2, axis=1),
    "a name twice": lambda frame: pa.table(
        [frame.to_arrow().column(0), *frame.to_arrow().columns], names=[frame.columns[0], *frame.columns]
    ),
    "a number as a name": lambda frame: named(frame, 5),
    "None as a name": lambda frame: named(frame, None),
    "a tuple as a name": lambda frame: named(frame, ("a", "b")),
    "a date as a name": lambda frame: named(frame, dt.date(2020, 1, 1)),
    "half a character as a name": lambda frame: named(frame, "\ud800"),
    "an empty name": lambda frame: named(frame, ""),
    "names of two levels": two_levels,
    "Python objects": lambda frame: frame.with_columns(
        pl.Series(frame.columns[0], [object()] * len(frame), dtype=pl.Object)
    ),
    "a plan that fails": lambda frame: frame.lazy().select(pl.col("nope")),
}


def calls(function: str) -> list[Call]:
    """A call that is right, and one that leaves out which columns are meant."""
    named, parameters = CALLS[function], inspect.signature(getattr(sdckit, function)).parameters
    free = {
        argument: value
        for argument, value in named.items()
        if argument not in CHOICES or parameters[argument].default is not None
    }
    return [named] if len(free) == len(named) else [named, free]


def files_of(call: Call) -> list[str]:
    return [argument for argument in FILES if isinstance(call.get(argument), pl.DataFrame)]


def columns_of(function: str, call: Call) -> list[str]:
    """Columns of the first file that a call looks at."""
    there = call[files_of(call)[0]].columns
    if function in ALL_COLUMNS or len(call) < len(CALLS[function]):
        return ["sex", "age"]
    words = [word for value in call.values() for word in (value if isinstance(value, (list, tuple)) else [value])]
    used = [one for word in words for one in (word if isinstance(word, tuple) else [word]) if isinstance(one, str)]
    return [name for name in dict.fromkeys(used) if name in there] or ["sex", "age"]  # those of the scenario


def with_column(frame: pl.DataFrame, name: str, kind: str) -> pd.DataFrame:
    return in_pandas(frame).assign(**{name: column(kind, len(frame))})


def odd_calls(function: str) -> Iterator[tuple[str, Call]]:
    for call in calls(function):
        files = files_of(call)
        for kind, make in FRAMES.items():
            for file in files[:1] if function in SLOW else files:
                yield f"{file}: {kind}", {**call, file: make(call[file])}
        free = len(call) < len(CALLS[function])
        if function in SLOW and free:
            continue
        columns = columns_of(function, call)
        places = (
            [files]
            if function in SLOW or free
            else list(dict.fromkeys([tuple(files), *((file,) for file in files[:2])]))
        )
        for kind in COLUMNS:
            for name in columns[:1] if function in SLOW else columns:
                for place in places:
                    changed = {file: with_column(call[file], name, kind) for file in place}
                    yield f"{', '.join(place)}: {name}: {kind}", {**call, **changed}


WITH_FILES = [function for function in MEASURES if files_of(CALLS[function])]


@pytest.mark.parametrize("function", WITH_FILES)
@pytest.mark.filterwarnings("ignore")
def test_every_error_is_ours(function: str) -> None:
    wrong, tried = {}, 0
    for words, call in odd_calls(function):
        tried += 1
        try:
            getattr(sdckit, function)(**call)
        except SdcError:
            continue
        except Exception as error:  # noqa: BLE001
            wrong[words] = type(error).__name__
    assert wrong == {}
    assert tried >= len(FRAMES)


REFUSED = ("text and numbers", "complex", "periods", "sparse", "half a character", "beyond 64 bits", "things")


@pytest.mark.parametrize("kind", REFUSED)
def test_roles_are_not_guessed_from_what_is_no_column(kind: str) -> None:
    frame = with_column(CALLS["guess_roles"]["data"], "age", kind)
    with pytest.raises(DataError, match=r"column 'age' .*(convert|replace) it"):
        sdckit.guess_roles(frame)


def test_roles_are_guessed_from_numbers_that_pandas_cut() -> None:
    frame = CALLS["guess_roles"]["data"].to_pandas()
    frame = frame.assign(age=pd.cut(frame["age"], [0, 30, 40, 60]), sex=pd.Categorical([None] * N, ["f", "m"]))
    (guess,) = (guess for guess in sdckit.guess_roles(frame) if guess.column == "age")
    assert guess.role == "key"


@pytest.mark.parametrize("kind", ["dict", "list", "None", "array"])
def test_roles_are_not_guessed_from_what_is_no_frame(kind: str) -> None:
    with pytest.raises(DataError, match=r"is not a data frame; .*sdckit\.read_file"):
        sdckit.guess_roles(FRAMES[kind](CALLS["guess_roles"]["data"]))


@pytest.mark.parametrize("function", ["guess_roles", "propensity", "distance_to_closest_record", "synthesize"])
def test_odd_names_are_refused_by_name(function: str) -> None:
    call = calls(function)[-1]
    for file in files_of(call):
        with pytest.raises(ColumnError, match=r"column name\(s\) \[\('a', 'b'\)\] are not text; rename them"):
            getattr(sdckit, function)(**{**call, file: FRAMES["a tuple as a name"](call[file])})
        with pytest.raises(ColumnError, match="occur more than once"):
            getattr(sdckit, function)(**{**call, file: FRAMES["every name twice"](call[file])})
