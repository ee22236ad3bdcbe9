"""Data frames of any engine: opened through narwhals, validated, and returned as the caller's own type."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data import pa, pc, pd, pl, pt
from sdckit.errors import ColumnError, DataError, SdcError
from sdckit.numerics.array_types import Ints

# Selecting Polars columns by exact name: Polars reads some names as patterns.


def is_pattern(name: str) -> bool:
    """Whether Polars reads a name as a pattern: ``*`` for all columns, ``^...$`` as a regular expression.

    Examples
    --------
    >>> [name for name in ("*", "^age.*$", "age", "^age", "a*", "") if is_pattern(name)]
    ['*', '^age.*$']
    """
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def exactly(name: str) -> pl.Expr:
    """Select the column of exactly this name.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"^a.*$": [1], "age": [2]})
    >>> frame.select(pl.col("^a.*$")).columns, frame.select(exactly("^a.*$")).columns
    (['age'], ['^a.*$'])
    """
    return pl.selectors.by_name(name).as_expr() if is_pattern(name) else pl.col(name)


# Artificial records composed of values of a frame, and appended to it.


def mixed_rows(frame: nw.DataFrame[Any], source: Mapping[str, Ints], *, id: str | None = None) -> nw.DataFrame[Any]:
    """Compose new records, taking the value of each column from the rows given in `source`.

    `source`: for every column but `id`, the row indices (0-based) of its values; all of one length. `id`: column
    that gets unused values: the next integers, or ``new-1``, ``new-2``, ... Raises `DataError`: an id that is
    neither integer nor text.

    >>> import polars as pl
    >>> frame = nw.from_native(pl.DataFrame({"i": [7, 8], "x": ["a", "b"], "y": [1, 2]}))
    >>> mixed_rows(frame, {"x": np.array([0]), "y": np.array([1])}, id="i").rows()
    [(9, 'a', 2)]
    """
    n = len(next(iter(source.values())))
    bare = [
        _without_index(_new_ids(frame.get_column(name), n) if name == id else frame[[name]][source[name].tolist()])
        for name in frame.columns
    ]
    return bare[0] if len(bare) == 1 else nw.concat(bare, how="horizontal")


def appended(frame: nw.DataFrame[Any], rows: nw.DataFrame[Any], *, times: int = 1) -> Any:
    """Append records to the caller's frame, `times` times each; a pandas index is reset."""
    return _without_index(nw.concat([frame, *([rows] * times)], how="vertical")).to_native()


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
    return nw.new_series(series.name, values, series.dtype, backend=series.implementation).to_frame()


ANY_FRAME = "give a pandas, Polars, PyArrow, DuckDB or Spark frame (read a file with sdckit.read_file)"
Of = TypeVar("Of")
Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"


def open_frame(data: Any) -> Frame:
    """Wrap a frame of any engine.

    Raises `DataError`: `data` is not a data frame; `ColumnError`: two columns have the same name.
    """
    return data if isinstance(data, nw.DataFrame) else built(lambda: _opened(data))


def _opened(data: Any) -> Frame:
    _refuse_duplicates(data)
    try:
        frame: Frame = with_usual_types(nw.from_native(data))
    except (TypeError, AttributeError):  # the class of a frame has its methods, too
        # our own results say what they hold
        instead = data.instead_of_a_frame if really_has(data, "instead_of_a_frame") else ANY_FRAME
        raise DataError(f"{type(data).__name__} is not a data frame; {instead}") from None
    if isinstance(frame, nw.LazyFrame):
        carried_out(frame.collect_schema)  # a plan that names absent columns fails here
    elif odd := [name for name in frame.columns if not _is_text(name)]:
        raise ColumnError(f"column name(s) {odd} are not text; rename them (frame.columns.map(str), say)")
    return frame


def with_usual_types(frame: Any) -> Any:
    """A frame as it is, but columns of Arrow, in pandas too, of types that PyArrow itself and Polars compute with.

    Nothing picks rows of views, encodes narrow decimals, or knows runs and calendar intervals (INTERVAL of DuckDB),
    which become texts. A dictionary that lists a missing value has records that nothing takes for missing.

    >>> import pyarrow as pa
    >>> table = pa.table({"x": pa.array(["a", "b"], pa.string_view()), "y": pa.array([1, 2])})
    >>> with_usual_types(nw.from_native(table)).to_native().schema.types
    [DataType(large_string), DataType(int64)]
    """
    made = native = frame.to_native()
    engine = frame.implementation if isinstance(frame, nw.DataFrame) else nw.Implementation.UNKNOWN
    if engine.is_pyarrow():
        for place, field in enumerate(native.schema):
            if (values := _of_usual_type(native.column(place))) is not None:
                made = made.set_column(place, field.name, values)
    elif engine.is_pandas():
        for place, kind in enumerate(native.dtypes):
            if not hasattr(kind, "pyarrow_dtype"):
                continue
            if (values := _of_usual_type(native.iloc[:, place].array.__arrow_array__())) is not None:
                made = native.copy(deep=False) if made is native else made
                made.isetitem(place, pd.array(values, dtype=pd.ArrowDtype(values.type)))
    return frame if made is native else nw.from_native(made)


def _of_usual_type(values: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The values of a column in another type; None where theirs is usual."""
    kind = values.type
    if pt.is_string_view(kind) or pt.is_binary_view(kind):
        return values.cast(pa.large_string() if pt.is_string_view(kind) else pa.large_binary())
    if pt.is_decimal(kind) and not pt.is_decimal128(kind):
        try:
            return values.cast(pa.decimal128(min(kind.precision, 38), min(kind.scale, 38)))
        except pa.ArrowInvalid:  # more digits than Polars has for a number
            return values.cast(pa.float64())
    if pt.is_run_end_encoded(kind):
        return pc.run_end_decode(values)
    if pt.is_interval(kind):
        texts = [None if own is None else "{} months {} days {} ns".format(*own) for own in values.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.large_string())])
    if pt.is_dictionary(kind) and any(chunk.dictionary.null_count for chunk in values.chunks):
        return pa.chunked_array(map(_without_listed_missing, values.chunks))
    return None


def _without_listed_missing(chunk: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same values by places among the levels that are none of missing."""
    listed = chunk.dictionary.is_valid()
    places = pa.array(np.cumsum(np.asarray(listed)) - 1, mask=~np.asarray(listed))
    own, levels = places.take(chunk.indices).cast(chunk.type.index_type), chunk.dictionary.filter(listed)
    return pa.DictionaryArray.from_arrays(own, levels, ordered=chunk.type.ordered)


def _is_text(name: object) -> bool:
    """Whether Arrow can hold a name: a text without half a character (a lone surrogate)."""
    return isinstance(name, str) and name.encode("utf-8", "ignore").decode() == name


def really_has(data: Any, *names: str) -> bool:
    """Whether the class of what was given, or it itself, has these attributes: a frame gives columns as some, too.

    >>> import pandas as pd
    >>> really_has(pd.DataFrame({"released": [1]}), "columns"), really_has(pd.DataFrame({"released": [1]}), "released")
    (True, False)
    """
    kind, own = type(data), getattr(data, "__dict__", {})
    return all(hasattr(kind, name) or name in own for name in names)


def _refuse_duplicates(data: Any) -> None:
    if really_has(data, "collect_schema"):
        return  # Polars has unique names; asking a lazy frame would cost a schema resolution
    own = next((own for own in ("column_names", "columns") if really_has(data, own)), None)  # PyArrow has the first
    names = getattr(data, own) if own else ()
    names = [str(name) for name in names] if isinstance(names, Iterable) else []
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ColumnError(f"column name(s) {twice} occur more than once; rename them so that each is unique")


def as_they_come(physical: Any) -> Any:
    """Codes of Polars, counted as they come in the column: its own go by what the process has read before."""
    first = physical.drop_nulls().unique(maintain_order=True)
    if len(first) == 0 or (np.diff(first.to_numpy().astype(np.int64)) == 1).all():
        return physical
    place = np.zeros(int(first.max()) + 1, np.uint32)
    place[first.to_numpy()] = np.arange(len(first), dtype=np.uint32)
    return pl.Series(place).gather(physical)


def as_plan(native: Any) -> nw.LazyFrame[Any]:
    """A lazy frame of an engine, opened."""
    plan: nw.LazyFrame[Any] = nw.from_native(native)
    return plan


def holds_numbers(kind: Any) -> bool | None:
    """Whether a column of this type holds numbers; None of Python objects, as decimals of pandas are."""
    return None if kind == nw.Object else bool(kind.is_numeric())


def is_lazy(frame: Frame) -> bool:
    """Whether this is a lazy frame, called a plan (Polars lazy, DuckDB, Spark), rather than data in memory."""
    return isinstance(frame, nw.LazyFrame)


def column_names(frame: Frame) -> list[str]:
    """Names of the columns; of a frame in memory without their types, which take pandas long."""
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else frame.collect_schema().names()


def collect(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Collect a lazy frame with a small result as a PyArrow table.

    Raises `DataError`: the engine fails; its own message, which may show values, is withheld.
    """
    if frame.implementation.is_polars():  # streaming, so that a file may be larger than memory
        native = frame.to_native()
        return carried_out(lambda: nw.from_native(native.collect(engine="streaming").to_arrow(), eager_only=True))
    collected: nw.DataFrame[Any] = with_usual_types(carried_out(lambda: frame.collect(backend="pyarrow")))
    return collected


def in_memory(frame: Frame) -> nw.DataFrame[Any]:
    """A frame with a small result, collected where it is lazy."""
    return collect(frame) if isinstance(frame, nw.LazyFrame) else frame


def blocks(frame: Frame, columns: Sequence[str], rows: int) -> Iterator[nw.DataFrame[Any]]:
    """Some columns of a frame in pieces of about so many rows, which its engine reads once; of a plan PyArrow tables.

    Raises `DataError`: the engine fails.

    >>> plan = open_frame(pl.LazyFrame({"a": [1, 2, 3]}))
    >>> sum(len(block) for block in blocks(plan, ["a"], 2))
    3
    """
    if not isinstance(frame, nw.LazyFrame):
        for start in range(0, len(frame), rows):
            yield frame.select(*columns)[start : start + rows]
        return
    pieces = carried_out(lambda: _pieces(frame.select(*columns), rows))
    while (piece := carried_out(lambda: next(pieces, None))) is not None:
        if len(piece):
            yield nw.from_native(piece, eager_only=True)


def rows_among(frames: Iterable[nw.DataFrame[Any]], column: str, values: Sequence[Any]) -> nw.DataFrame[Any]:
    """The rows of some frames of the same columns that have one of some values in a column."""
    return nw.concat([frame.filter(nw.col(column).is_in(values)) for frame in frames], how="vertical")


def _pieces(frame: nw.LazyFrame[Any], rows: int) -> Iterator[Any]:
    native: Any = frame.to_native()
    if frame.implementation.is_polars():
        return (piece.to_arrow() for piece in native.collect_batches(chunk_size=rows, engine="streaming"))
    if frame.implementation.is_duckdb():
        return (pa.Table.from_batches([piece]) for piece in native.to_arrow_reader(rows))
    return _pieces_of_spark(native, rows)


def _pieces_of_spark(native: Any, rows: int) -> Iterator[Any]:
    """Tables of about so many rows: batches come packed as bytes, since Spark hands out single rows one by one."""

    def packed(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            out = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(out, batch.schema) as writer:
                writer.write_batch(batch)
            piece = pyarrow.array([out.getvalue().to_pybytes()], pyarrow.binary())
            yield pyarrow.RecordBatch.from_arrays([piece], names=["piece"])

    batches: list[Any] = []
    n = 0
    for record in native.mapInArrow(packed, "piece binary").toLocalIterator(prefetchPartitions=True):
        batches.append(pa.ipc.open_stream(record[0]).read_all())
        n += len(batches[-1])
        if n >= rows:
            yield _in_utc(pa.concat_tables(batches))
            batches, n = [], 0
    if batches:
        yield _in_utc(pa.concat_tables(batches))


def _in_utc(table: pa.Table) -> pa.Table:
    """The same moments with their zone as where all of a plan is collected, and not that of the Spark session."""
    fields = [
        field.with_type(pa.timestamp(field.type.unit, "UTC")) if getattr(field.type, "tz", None) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def count_records(plan: Any) -> int:
    """Count the records of a frame, those of a lazy one in its engine.

    Raises `DataError`: the engine fails.
    """
    frame: Any = nw.from_native(plan)
    return int(collect(frame.select(nw.len().alias("n"))).item()) if is_lazy(frame) else len(frame)


def sum_of(frame: Frame, name: str) -> float:
    """The sum of a column of numbers, of a lazy frame in its engine; NaN where the frame has no such column.

    Raises `DataError`: the engine fails.

    >>> import polars as pl
    >>> [sum_of(open_frame(pl.LazyFrame({"w": [1.0, 2.5], "x": ["a", "b"]})), name) for name in ("w", "x", "y")]
    [3.5, nan, nan]
    """
    kind = frame.collect_schema().get(name)
    if kind is None or not kind.is_numeric():
        return math.nan
    return float(in_memory(frame.select(nw.col(name).sum()))[name].item() or 0)


def has_missing(frame: Frame, columns: Sequence[str]) -> bool:
    """Whether a value of these columns is missing; a lazy frame is counted in its engine.

    Raises `DataError`: the engine fails.

    >>> import polars as pl
    >>> has_missing(open_frame(pl.LazyFrame({"a": [1, 2], "b": ["x", None]})), ["a", "b"])
    True
    """
    if not columns:
        return False
    counted = in_memory(frame.select(nw.col(*columns).null_count()))
    return any(int(counted[name].item()) for name in columns)


def has_repeats(frame: Frame, column: str) -> bool:
    """Whether a value of a column stands in several records.

    Raises `DataError`: the engine fails.

    >>> import polars as pl
    >>> has_repeats(open_frame(pl.DataFrame({"who": [1, 1, 2]})), "who")
    True
    """
    known = in_memory(frame.select(nw.col(column).n_unique().alias("values"), nw.len().alias("n")))
    return int(known.item(0, "values")) < int(known.item(0, "n"))


def record_sizes(frame: Frame) -> Ints:
    """How often each record of a frame stands there, by all of its columns that hold plain values.

    Raises `DataError`: the engine fails.

    >>> sorted(record_sizes(open_frame(pl.DataFrame({"sex": ["f", "m", "f"], "age": [30, 41, 30]}))).tolist())
    [1, 2]
    """
    kinds = frame.collect_schema().items()
    names = [name for name, kind in kinds if not (kind.is_nested() or kind == nw.Object or is_pattern(name))]
    check_plan_names(frame, names)
    sizes = frame.group_by(names).agg(nw.len().alias("sdckit__size")).select("sdckit__size")
    return in_memory(sizes).get_column("sdckit__size").to_numpy()


def telling_apart(data: Any, share: float, *, without: Sequence[str] = ()) -> tuple[str, ...]:
    """Columns with at least so many different values for each value that is there: ids, exact amounts, dates.

    Raises `DataError`: the engine fails.

    >>> import polars as pl
    >>> telling_apart(pl.DataFrame({"who": [1, 2, None], "sex": ["f", "f", "m"]}), 0.9)
    ('who',)
    """
    frame = open_frame(data)
    kinds = frame.collect_schema()
    plain = [name for name, kind in kinds.items() if name not in without and not kind.is_nested()]
    if isinstance(frame, nw.LazyFrame):
        plain = [name for name in plain if not is_pattern(name) and kinds[name] != nw.Object]
        if not plain:
            return ()
        asked = [
            expression.alias(f"{i}{kind}")
            for i, name in enumerate(plain)
            for kind, expression in (("v", nw.col(name).n_unique()), ("n", nw.col(name).count()))
        ]
        counted = collect(frame.select(*asked))
        sizes = [(int(counted.item(0, f"{i}v")), int(counted.item(0, f"{i}n"))) for i in range(len(plain))]
    else:
        columns = [frame[name] for name in plain]
        sizes = [_of_objects(own) if own.dtype == nw.Object else (own.n_unique(), own.count()) for own in columns]
    return tuple(name for name, (values, n) in zip(plain, sizes, strict=True) if n and values >= share * n)


def _of_objects(series: nw.Series[Any]) -> tuple[int, int]:
    """Different values of a column of Python objects (dates and decimals in pandas), and records; 0 of mixed types."""
    try:
        array = pa.array(series.to_numpy(), from_pandas=True).drop_null()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return 0, 0
    return (0, 0) if pa.types.is_nested(array.type) else (len(array.unique()), len(array))


def plain_columns(frame: Frame, without: Sequence[str] = ()) -> list[str]:
    """The columns of single values, but some."""
    kinds = frame.collect_schema().items()
    return [name for name, kind in kinds if name not in without and not kind.is_nested() and kind != nw.Object]


def together_telling(data: Any, share: float, *, without: Sequence[str] = ()) -> bool:
    """Whether all columns together tell so many of the records apart, or may: nobody counts a plan, lists or objects.

    >>> import polars as pl
    >>> together_telling(pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [1, 2, 1, 2]}), 0.9)
    True
    """
    frame = open_frame(data)
    if isinstance(frame, nw.LazyFrame):
        return True
    kinds = {name: kind for name, kind in frame.schema.items() if name not in without}
    if any(kind.is_nested() or kind == nw.Object for kind in kinds.values()):
        return True
    return bool(kinds) and int(frame.select(*kinds).is_unique().sum()) >= share * len(frame)


RENUMBERED = "the engine numbers the records of this plan anew each time it reads it: sort the plan, or write it first"
# Safe to report: the message about a missing library holds no value of a record.
LACKS = re.compile(r"No module named '(numpy|pyarrow)\b")
# Base classes of the errors of each engine, by module; looked up only where the module is loaded.
OF_ENGINES = {
    "duckdb": "Error",
    "polars.exceptions": "PolarsError",
    "pyspark.errors": "PySparkException",
    "py4j.protocol": "Py4JError",
}
# Why a lazy frame fails, and what to do: by the class of a DuckDB error, by the message of other engines.
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
    r"UNSUPPORTED_TIME_TYPE": (
        "it has a column of times of day, which Spark takes only where its session has spark.sql.timeType.enabled: set "
        "it, or write the file without that column, or with it as text"
    ),
}


def carried_out(run: Callable[[], Of]) -> Of:
    """Run a call of an engine; its errors become ours, whose message and context show no value.

    Raises `DataError`: the engine fails; `KeyboardInterrupt`: it was interrupted by Ctrl-C.
    """
    try:
        return run()
    except (SdcError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 (a Polars panic is not an Exception, py4j raises what Java does)
        ours = _our_error(error)
    raise ours  # outside the handler, so that the error of the engine is not its context


def built(run: Callable[[], Of]) -> Of:
    """Run a call that builds a lazy frame; errors of its engine become ours, others propagate.

    Raises `DataError`: the engine refuses a step before anything is executed.
    """
    try:
        return run()
    except Exception as error:
        if not any(_is_of(error, module, name) for module, name in OF_ENGINES.items()):
            raise
        ours = _our_error(error)
    raise ours


def _is_of(error: BaseException, module: str, name: str) -> bool:
    """Whether an error is an instance of a class of a module, if that is loaded."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(error, kind)


def _our_error(error: BaseException) -> BaseException:
    """Our error for an error of an engine, without its message."""
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
    """Whether this is a Spark frame, classic or Spark Connect."""
    engine = frame.implementation
    return engine.is_pyspark() or engine.is_pyspark_connect()


def is_far(frame: Frame) -> bool:
    """Whether the records of a plan are on other machines: on Spark, unless all of it runs in one process here."""
    context: Any = getattr(frame.to_native().sparkSession, "sparkContext", None) if on_spark(frame) else None
    return on_spark(frame) and re.fullmatch(r"local(\[.*\])?", str(getattr(context, "master", ""))) is None


def check_plan_names(frame: Frame, names: Iterable[str], role: str = "column") -> None:
    """Refuse column names that the engine of a lazy frame would misread.

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


def is_indexed_alike(series: object, frame: nw.DataFrame[Any]) -> bool:
    """Whether a series may be read row by row beside a frame: not where both are pandas' and their indexes differ.

    pandas puts such a series into the order of the frame's index; what reads it by position would take other rows.
    """
    native = frame.to_native()
    if not (nw.dependencies.is_pandas_series(series) and nw.dependencies.is_pandas_dataframe(native)):
        return True
    return bool(series.index.equals(native.index))


def result_frame(
    columns: Mapping[str, Any], source: nw.DataFrame[Any], *, carry: str | Sequence[str] | None = None
) -> Any:
    """Build a frame of the caller's engine from arrays, keeping the caller's pandas index.

    `carry` names columns of the caller's frame to put first, unchanged.
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
    """Build a frame of an engine from columns of plain values."""
    return nw.from_dict(dict(columns), backend=backend).to_native()


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a small in-memory frame as dictionaries.

    >>> import polars as pl
    >>> rows_of(pl.DataFrame({"a": [1, 2]}))
    [{'a': 1}, {'a': 2}]
    """
    rows: list[dict[str, Any]] = nw.from_native(frame, eager_only=True).rows(named=True)
    return rows
