"""Files as plans: an engine reads what is asked of them, when it is asked."""

from __future__ import annotations

import atexit
import math
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw

from sdckit.data import arguments
from sdckit.data.files.file_checks import file_format, pick_columns
from sdckit.data.files.whole_files import spill_folder
from sdckit.data.frames import carried_out, check_plan_names
from sdckit.data.missing_values.missing_codes import DEFAULT_CODES, code_numbers, code_texts
from sdckit.display import displayed
from sdckit.errors import DataError, FileFormatError

__all__ = ["ENGINES", "ScanEngine", "scan_file"]

ScanEngine = Literal["polars", "duckdb", "spark"]
ENGINES: tuple[ScanEngine, ...] = ("polars", "duckdb", "spark")
AMOUNT = re.compile(r"\d+(\.\d+)?\s*(kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)")


def scan_file(
    path: str | Path,
    *,
    engine: ScanEngine = "polars",
    columns: Sequence[str] | None = None,
    identifiers: Sequence[str] = (),
    missing: Sequence[str] = (),
    memory: str | None = None,
) -> Any:
    """Open a Parquet file, or a folder of them, as a plan: nothing is read before a measure asks.

    Every measure takes the plan in place of a frame; the engine groups, and only its cells come into memory.

    Parameters
    ----------
    path : str or Path
        A Parquet file, or a folder: all Parquet files in it are one file, and folders named ``year=2025`` are a
        column.
    engine : {"polars", "duckdb", "spark"}
        Who reads and groups. DuckDB and Spark come with the extras of their names; Spark takes the session there is,
        or starts a local one.
    columns, identifiers : sequence of str, optional
        The columns to have, and those never to be had; as of `read_file`.
    missing : sequence of str
        Codes that mean missing, as of `read_file`. Without any, the empty text, NA, N/A, NaN, nan, NULL, null and a
        single point are missing in texts; how many there were is not told.
    memory : str, optional
        What DuckDB may take, such as "4GB"; what does not fit goes to a folder that is removed in the end.

    Returns
    -------
    polars.LazyFrame, duckdb.DuckDBPyRelation or pyspark.sql.DataFrame

    Raises
    ------
    FileFormatError
        There is no such file, it is no Parquet, or the folder holds none.
    ColumnError
        A column is absent, or has a name that the engine takes for something else.
    DataError
        An option of the wrong kind; the engine is not installed, or cannot open the files.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from sdckit import k_anonymity
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 30, 40]}).write_parquet(f"{folder}/census.parquet")
    ...     k_anonymity(scan_file(f"{folder}/census.parquet"), keys=["sex", "age"]).violations[2]
    1
    """
    arguments.names(columns, "columns")
    arguments.names(identifiers, "identifiers")
    codes = arguments.names(missing, "missing") or ()
    arguments.choices(engine, "engine", ENGINES)
    if memory is not None and (
        engine != "duckdb" or not AMOUNT.fullmatch(arguments.text(memory, "memory").strip())
    ):
        raise DataError('memory= is what DuckDB may take, such as "4GB"', argument="memory")
    files = _files_of(Path(path))
    base = Path(path) if Path(path).is_dir() else None
    frame: nw.LazyFrame[Any] = nw.from_native(carried_out(lambda: _opened(engine, files, base, memory)))
    schema = carried_out(frame.collect_schema)
    names = pick_columns(Path(path), schema.names(), columns, identifiers=identifiers)
    check_plan_names(frame, names)
    chosen = [_without_codes(name, schema[name], codes) for name in names]
    return frame.select(*chosen).to_native()


def _files_of(path: Path) -> list[str]:
    """The Parquet files that a path names, each as its first bytes say."""
    if not path.is_dir():
        if (found := file_format(path)) != "Parquet":
            raise FileFormatError(
                f"{displayed(path.name)} is {found}: an engine reads Parquet; write it with sdckit.write_file first"
            )
        return [str(path)]
    files = sorted(
        one for one in path.rglob("*.parquet") if one.is_file() and not one.name.startswith(("_", "."))
    )
    if not files:
        raise FileFormatError(f"the folder {displayed(path.name)} holds no Parquet file (.parquet)")
    for one in files:
        file_format(one)
    return [str(one) for one in files]


def _opened(engine: ScanEngine, files: list[str], base: Path | None, memory: str | None) -> Any:
    """The files as one plan; `base` is the folder whose folders are columns."""
    if engine == "duckdb":
        return _by_duckdb(files, base, memory)
    if engine == "spark":
        return _by_spark(files, base)
    import polars as pl

    return pl.scan_parquet(files, glob=False, hive_partitioning=base is not None)


def _by_duckdb(files: list[str], base: Path | None, memory: str | None) -> Any:
    try:
        import duckdb
    except ImportError:
        raise DataError('DuckDB is not installed: pip install "sdckit[duckdb]"', argument="engine") from None
    kept = ExitStack()
    folder = kept.enter_context(spill_folder())
    atexit.register(kept.close)  # the plan may be carried out until then
    settings: dict[str, Any] = {"temp_directory": str(folder)} | ({"memory_limit": memory} if memory else {})
    connection = duckdb.connect(":memory:", config=settings)
    return connection.read_parquet(files, hive_partitioning=base is not None)


def _by_spark(files: list[str], base: Path | None) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise DataError('Spark is not installed: pip install "sdckit[spark]"', argument="engine") from None
    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    reader = session.read if base is None else session.read.option("basePath", str(base))
    return reader.parquet(*files)


def _without_codes(name: str, dtype: Any, codes: Sequence[str]) -> nw.Expr:
    """A column with codes that mean missing taken out."""
    column = nw.col(name)
    if dtype == nw.String:
        texts = ["", *(code_texts(codes) if codes else DEFAULT_CODES)]
        return nw.when(~column.is_in(texts)).then(column).alias(name)
    if not codes or not dtype.is_numeric():
        return column
    numbers = [number for number in code_numbers(codes) if not math.isnan(number)]
    if dtype.is_integer():
        whole = [int(number) for number in numbers if number.is_integer()]
        return nw.when(~column.is_in(whole)).then(column).alias(name) if whole else column
    return nw.when(~column.is_in(numbers)).then(column).alias(name) if numbers else column
