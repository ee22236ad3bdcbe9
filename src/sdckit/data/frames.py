"""The frame door: any data frame in through narwhals, checked once, and the caller's own type back out."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.data import pa, pl
from sdckit.errors import ColumnError, DataError, SdcError

# Columns of Polars by their names, none of which is read as a pattern.


def is_pattern(name: str) -> bool:
    """Whether Polars takes a name for a pattern: ``*`` for all columns, ``^...$`` for all that fit.

    Examples
    --------
    >>> [name for name in ("*", "^age.*$", "age", "^age", "a*", "") if is_pattern(name)]
    ['*', '^age.*$']
    """
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def exactly(name: str) -> pl.Expr:
    """The one column of this name.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"^a.*$": [1], "age": [2]})
    >>> frame.select(pl.col("^a.*$")).columns, frame.select(exactly("^a.*$")).columns
    (['age'], ['^a.*$'])
    """
    return pl.selectors.by_name(name).as_expr() if is_pattern(name) else pl.col(name)


# Artificial records put together from the values of a frame, and put behind its own.


def mixed_rows(
    frame: nw.DataFrame[Any], source: Mapping[str, NDArray[np.int64]], *, id: str | None = None
) -> nw.DataFrame[Any]:
    """New records; the value of each column is that of the record named in `source`.

    `source`: for every column but `id` the rows, from 0, that its values come from; all of one length. `id`:
    column that gets values nobody has: the next whole numbers, or ``new-1``, ``new-2``, ... Raises
    `DataError`: an id that is neither whole numbers nor text.

    >>> import polars as pl
    >>> frame = nw.from_native(pl.DataFrame({"i": [7, 8], "x": ["a", "b"], "y": [1, 2]}))
    >>> mixed_rows(frame, {"x": np.array([0]), "y": np.array([1])}, id="i").rows()
    [(9, 'a', 2)]
    """
    columns = []
    for name in frame.columns:
        if name == id:
            columns.append(_new_ids(frame.get_column(name), len(next(iter(source.values())))))
        else:
            columns.append(frame[[name]][source[name].tolist()])
    bare = [_without_index(column) for column in columns]
    return bare[0] if len(bare) == 1 else nw.concat(bare, how="horizontal")


def appended(frame: nw.DataFrame[Any], rows: nw.DataFrame[Any], *, times: int = 1) -> Any:
    """The caller's frame with records put behind its own, each so many times; a pandas index counts anew."""
    together = nw.concat([frame, *([rows] * times)], how="vertical")
    return _without_index(together).to_native()


def _without_index(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    if not frame.implementation.is_pandas_like():
        return frame
    return nw.from_native(frame.to_native().reset_index(drop=True), eager_only=True)


def _new_ids(series: nw.Series[Any], n: int) -> nw.DataFrame[Any]:
    if series.dtype.is_integer():
        first = int(series.max()) + 1
        values: list[Any] = list(range(first, first + n))
    elif series.dtype == nw.String:
        taken = set(series.to_list())
        names = (f"new-{i}" for i in range(1, n + len(taken) + 1))
        values = [name for name in names if name not in taken][:n]
    else:
        raise DataError(f"id {series.name!r} holds {series.dtype}; new ones need whole numbers or text")
    backend = series.implementation
    return nw.new_series(series.name, values, series.dtype, backend=backend).to_frame()


ANY_FRAME = "give a pandas, Polars, PyArrow, DuckDB or Spark frame (read a file with sdckit.read_file)"
Of = TypeVar("Of")
Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"


def open_frame(data: Any) -> Frame:
    """Wrap a frame of any engine.

    Raises `DataError`: `data` is not a data frame; `ColumnError`: two columns have the same name.
    """
    if isinstance(data, nw.DataFrame):
        return data
    return built(lambda: _opened(data))


def _opened(data: Any) -> Frame:
    _refuse_duplicates(data)
    try:
        frame: Frame = nw.from_native(data)
    except TypeError:
        instead = getattr(data, "instead_of_a_frame", ANY_FRAME)  # our own results say what they hold
        raise DataError(f"{type(data).__name__} is not a data frame; {instead}") from None
    if isinstance(frame, nw.LazyFrame):
        carried_out(frame.collect_schema)  # a plan that names absent columns fails here
    return frame


def _refuse_duplicates(data: Any) -> None:
    if hasattr(data, "collect_schema"):
        return  # Polars has unique names; asking a lazy frame would cost a schema resolution
    names = getattr(data, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(data, "columns", ())
    names = [] if names is None or callable(names) else [str(name) for name in names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ColumnError(f"column name(s) {twice} occur more than once; rename them so that each is unique")


def is_lazy(frame: Frame) -> bool:
    """Whether the frame is a plan (Polars lazy, DuckDB, Spark) rather than data in memory."""
    return isinstance(frame, nw.LazyFrame)


def collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Run a plan whose result is small and bring it here as a PyArrow table.

    Raises `DataError`: the engine fails; its own words, which may show values, are not told.
    """
    if frame.implementation.is_polars():  # in pieces, so that a file may be larger than memory
        native = frame.to_native()
        return carried_out(lambda: nw.from_native(native.collect(engine="streaming").to_arrow(), eager_only=True))
    return carried_out(lambda: frame.collect(backend="pyarrow"))


def count_records(plan: Any) -> int:
    """The number of records of a plan, by its engine.

    Raises `DataError`: the engine fails.
    """
    frame: nw.LazyFrame[Any] = nw.from_native(plan)
    return int(collect(frame.select(nw.len().alias("n"))).item())


RENUMBERED = "the engine numbers the records of this plan anew each time it reads it: sort the plan, or write it first"
# A library that Python does not find says nothing of a record.
LACKS = re.compile(r"No module named '(numpy|pyarrow)\b")
# The errors of an engine, where it is loaded.
OF_ENGINES = {
    "duckdb": "Error",
    "polars.exceptions": "PolarsError",
    "pyspark.errors": "PySparkException",
    "py4j.protocol": "Py4JError",
}
# Why a plan fails, and what to do: by what DuckDB raises, and by the words of the others.
IN_USE = (
    "its DuckDB connection is in use: a query on it was not read to the end, or another thread works with it. Let that "
    "end, or open the data on a connection of its own (connection.cursor())"
)
STOPPED = "it was interrupted, or a statement of its transaction has failed before; roll that back, and measure again"
NO_ROOM = (
    "DuckDB has no more memory, or no more disk for what does not fit; give it more (memory_limit, or memory= of "
    "scan_file; max_temp_directory_size, and free disk in temp_directory)"
)
NO_DISK = (
    "there is no disk left for what does not fit into memory; free some, or name another folder (TMPDIR, "
    "temp_directory of DuckDB, spark.local.dir of Spark)"
)
OF_DUCKDB = {
    "ResourceInUseException": IN_USE,
    "ConnectionException": "its DuckDB connection is closed; open the data again",
    "InterruptException": STOPPED,
    "TransactionException": STOPPED,
    "OutOfMemoryException": NO_ROOM,
}
IN_WORDS = {
    r"No space left on device|os error 28\b|Errno 28\b": NO_DISK,
    r"SPARK_JOB_CANCELLED|OPERATION_CANCELED|Job \d+ cancelled": "its Spark job was cancelled; measure again",
}


def carried_out(run: Callable[[], Of]) -> Of:
    """What an engine gives; its errors become ours, of which no message and no context shows a value.

    Raises `DataError`: the engine fails; `KeyboardInterrupt` where somebody has ended its work by Ctrl-C.
    """
    try:
        return run()
    except (SdcError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 (a panic of Polars is no Exception, py4j raises what Java does)
        ours = _our_error(error)
    raise ours  # outside: the error of the engine is no context of this one


def built(run: Callable[[], Of]) -> Of:
    """What a function makes of a plan; errors of its engine become ours, others are let through.

    Raises `DataError`: the engine refuses a step before anything is carried out.
    """
    try:
        return run()
    except Exception as error:
        if not any(_is_of(error, module, name) for module, name in OF_ENGINES.items()):
            raise
        ours = _our_error(error)
    raise ours


def _is_of(error: BaseException, module: str, name: str) -> bool:
    """Whether an error is of a class of a module that is loaded."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(error, kind)


def _our_error(error: BaseException) -> BaseException:
    """Our error for one of an engine: nothing of its words."""
    what, words = type(error).__name__, str(error)
    if isinstance(error, RuntimeError) and words == "Query interrupted":  # what DuckDB makes of Ctrl-C
        return KeyboardInterrupt()
    if RENUMBERED in words:
        return DataError(RENUMBERED)
    if lacks := LACKS.search(words):
        return DataError(
            f"the workers of the cluster have no {lacks.group(1)}: install NumPy and PyArrow there, or name a Python "
            "that has them (PYSPARK_PYTHON, spark.pyspark.python); nothing else is needed"
        )
    reasons = [why for name, why in OF_DUCKDB.items() if _is_of(error, "duckdb", name)]
    reasons += [why for pattern, why in IN_WORDS.items() if re.search(pattern, words)]
    if reasons:
        return DataError(f"the plan cannot be carried out ({what}): {reasons[0]}")
    return DataError(
        f"the plan cannot be carried out ({what}): a step of it fails, such as a cast or a file that is gone. Collect "
        "it by itself to see why; the engine's own words, which may show values of records, are not told here"
    )


def on_spark(frame: Frame) -> bool:
    """Whether Spark holds the records, here or behind Spark Connect."""
    engine = frame.implementation
    return engine.is_pyspark() or engine.is_pyspark_connect()


def check_plan_names(frame: Frame, names: Iterable[str], role: str = "column") -> None:
    """Refuse names that the engine of a plan takes for something else, before any work.

    Raises `ColumnError`: a pattern of Polars, the star of DuckDB, a backtick of Spark.
    """
    engine = frame.implementation
    if not is_lazy(frame):
        return
    for name in map(str, names):
        if on_spark(frame) and ("`" in name or "." in name):
            what = "backtick" if "`" in name else "dot"
            raise ColumnError(f"{role}: Spark cannot read a column with a {what} in its name; rename it first")
        if "\0" in name:  # Polars would end the process
            raise ColumnError(f"{role}: the name {name!r} holds the character NUL, which no plan can; rename it first")
        if name == "*" or (engine.is_polars() and is_pattern(name)):
            raise ColumnError(
                f"{role}: on a plan, {name!r} is not the name of one column but stands for several; rename it first, "
                "or collect the data"
            )


def result_frame(
    columns: Mapping[str, Any], source: nw.DataFrame[Any], *, carry: str | Sequence[str] | None = None
) -> Any:
    """Arrays as a frame of the caller's engine, with the caller's index where the engine has one.

    `carry` names columns of the caller's frame to put first, as they are.
    """
    first = [carry] if isinstance(carry, str) else [*(carry or ())]
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    frame: Any = nw.DataFrame.from_arrow(table, backend=source.implementation)
    if source.implementation.is_pandas_like():
        native, own = frame.to_native(), source.to_native()
        native.index = own.index.view()
        for place, name in enumerate(first):
            native.insert(place, name, own[name].array)
        return native
    if first:
        frame = nw.concat([source.select(first), frame], how="horizontal")
    return frame.to_native()


def frame_of(columns: Mapping[str, Any], backend: Any) -> Any:
    """Columns of plain values as a frame of an engine."""
    return nw.from_dict(dict(columns), backend=backend).to_native()


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a small frame in memory as dictionaries.

    >>> import polars as pl
    >>> rows_of(pl.DataFrame({"a": [1, 2]}))
    [{'a': 1}, {'a': 2}]
    """
    rows: list[dict[str, Any]] = nw.from_native(frame, eager_only=True).rows(named=True)
    return rows
