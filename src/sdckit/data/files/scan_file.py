"""Files as lazy frames (plans): an engine reads what a measure needs, when it needs it."""

from __future__ import annotations

import atexit
import math
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, get_args

import narwhals.stable.v2 as nw

from sdckit.data import arguments, pa, pq
from sdckit.data.files.file_checks import bare_name, file_format, pick_columns
from sdckit.data.files.read_csv import CsvOptions, store_csv
from sdckit.data.files.whole_files import spill_folder
from sdckit.data.frames import carried_out, check_plan_names, collect
from sdckit.data.memory import VARIABLE, bytes_of_file, bytes_of_records, free_bytes, shares_of
from sdckit.data.missing_values.missing import DEFAULT_CODES, MissingNotes, code_numbers, code_texts, suspects
from sdckit.display import displayed
from sdckit.errors import DataError, FileFormatError

ScanEngine = Literal["polars", "duckdb", "spark"]
ENGINES: tuple[ScanEngine, ...] = get_args(ScanEngine)
ENGINE_NAMES = {"polars": "Polars", "duckdb": "DuckDB", "spark": "Spark"}
FORMATS = ("Parquet", "CSV")
# Address in an object store; also as a Path, which collapses two slashes to one.
ADDRESS = re.compile(r"(s3|s3a|s3n|gs|gcs|r2|az|azure|abfs|abfss|adl|wasbs|hdfs|hf):/+(?=[^/])")


def scan_file(
    path: str | Path,
    *,
    engine: ScanEngine = "polars",
    columns: Sequence[str] | None = None,
    identifiers: Sequence[str] = (),
    missing: Sequence[str] = (),
    memory: str | None = None,
    beside: Any = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Any:
    """Open a Parquet or CSV file, or a folder of them, as a lazy frame (plan), which is read when a measure needs it.

    Every measure takes the plan in place of a frame; the engine aggregates, and only the cells are brought into memory.

    Parameters
    ----------
    path : str or Path
        A Parquet or CSV file, or a folder: all Parquet files in it, else all CSV files (``.csv``, or compressed), are
        one file, and folders named ``year=2025`` are a column. Or the address of Parquet in an object store
        (``s3://``, ``gs://``, ``az://``, ``abfss://``, ``hdfs://``, ...), which the engine's own reader opens.
    engine : {"polars", "duckdb", "spark"}
        The engine that reads and aggregates. DuckDB and Spark need the extras of the same names; Spark uses the active
        session, or starts a local one.
    columns, identifiers : sequence of str, optional
        Columns to read, and columns never to be read; as in `read_file`.
    missing : sequence of str
        Codes that mean missing, as in `read_file`. Without any, the empty text, NA, N/A, NaN, nan, NULL, null and a
        single point are missing in texts; they are not counted.
    memory : str, optional
        What DuckDB and this process may take together, such as "4GB", at least "500MB". Half of what the libraries
        leave of it is DuckDB's, which spills more to a folder that is removed in the end; the rest takes cells and
        columns, and measures that need more than fits are done in parts, or refused before they begin.
    beside : duckdb.DuckDBPyRelation, optional
        A plan of DuckDB on whose connection, with its memory, this one is opened: DuckDB brings rows of an original
        and its release together only on one connection.
    delimiter, encoding, decimal : str, optional
        CSV options, as in `read_file`.

    Returns
    -------
    polars.LazyFrame, duckdb.DuckDBPyRelation or pyspark.sql.DataFrame

    Raises
    ------
    FileFormatError
        There is no such file, it is neither Parquet nor CSV, or the folder holds none; what `read_file` refuses of
        a CSV; CSV files with different columns; an address that the engine cannot open.
    ColumnError
        A column is absent, or has a name that the engine takes for something else.
    DataError
        An option of the wrong kind; the engine is not installed, or cannot open the files; CSV for Spark.

    Notes
    -----
    CSV is checked, typed as by `read_file` and first streamed to Parquet: a private temporary copy of the requested
    columns, removed when the process ends. Workers of a cluster cannot access it, so Spark takes Parquet only.

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
    if memory is not None:
        shares_of(arguments.text(memory, "memory") if engine == "duckdb" else "")
    if beside is not None and (memory is not None or not is_relation(beside)):
        raise DataError("beside= is a plan of DuckDB, whose memory is taken: leave memory= out", argument="beside")
    for name, value in (("delimiter", delimiter), ("encoding", encoding), ("decimal", decimal)):
        if value is not None:
            arguments.text(value, name)
    how = CsvOptions(delimiter, encoding, decimal)
    if (address := _address_of(path)) is not None:
        if how != CsvOptions():
            raise _not_of_parquet(address)
        return _with_columns(_at_address(engine, address, memory, beside), address, columns, identifiers, codes)
    place = Path(path)
    files = files_of(place)
    base = place if place.is_dir() else None
    if file_format(files[0]) == "CSV":
        if engine == "spark":
            raise FileFormatError(
                f"{displayed(place.name)} is CSV, which Spark's workers cannot be handed: write it as Parquet with "
                "sdckit.write_file, or take DuckDB or Polars",
                argument="engine",
            )
        stored = store_csv(files, base, _until_the_end(), how, columns=columns, identifiers=identifiers, missing=codes)
        files, base, identifiers = [stored], None, ()  # what is stored has none, and those that are absent were named
    elif how != CsvOptions():
        raise _not_of_parquet(place.name)
    plan = carried_out(lambda: _opened(engine, [str(file) for file in files], base, memory, beside))
    return _with_columns(plan, place, columns, identifiers, codes)


def _not_of_parquet(name: str) -> FileFormatError:
    return FileFormatError(
        f"{displayed(name)} is Parquet: delimiter, encoding and decimal mark are of CSV; leave them out",
        argument="delimiter",
    )


def _with_columns(
    native: Any, path: str | Path, columns: Sequence[str] | None, identifiers: Sequence[str], codes: Sequence[str]
) -> Any:
    """A lazy frame of the requested columns, codes for missing values set to missing."""
    frame: nw.LazyFrame[Any] = nw.from_native(native)
    schema = carried_out(frame.collect_schema)
    names = pick_columns(Path(path), schema.names(), columns, identifiers=identifiers)
    check_plan_names(frame, names)
    return frame.select(*(_without_codes(name, schema[name], codes) for name in names)).to_native()


def is_address(path: str | Path) -> bool:
    """Whether a path is an address in an object store."""
    return _address_of(path) is not None


def _address_of(path: str | Path) -> str | None:
    """The path as an address in an object store; None for a local path."""
    text = str(path)
    match = ADDRESS.match(text)
    return None if match is None else f"{match[1]}://{text[match.end() :]}"


def _at_address(engine: ScanEngine, address: str, memory: str | None, beside: Any) -> Any:
    """A lazy frame of an address, opened by the engine; its schema is resolved to detect errors."""
    if re.search(r"\.(csv|tsv|txt)(\.\w+)?$", address, re.IGNORECASE):
        raise FileFormatError(
            f"{displayed(address)} is CSV, which is read from this machine's disk only: copy it here, or store it as "
            "Parquet"
        )

    def opened() -> Any:
        plan = _opened(engine, [address], None, memory, beside, anywhere=True)
        nw.from_native(plan).collect_schema()
        return plan

    try:
        return carried_out(opened)
    except DataError as error:
        if error.argument == "engine":  # the engine is not installed
            raise
    raise FileFormatError(
        f"{ENGINE_NAMES[engine]} cannot open {displayed(address)}: it reads object stores by its own reader, with its "
        "own credentials and extensions. Open the address there first; what it gives can be given in place of a file"
    )


def files_of(path: Path) -> list[Path]:
    """The Parquet or CSV files of a path (a file or folder), each checked by its first bytes."""
    if not path.is_dir():
        if (kind := file_format(path)) not in FORMATS:
            raise FileFormatError(
                f"{displayed(path.name)} is {kind}: an engine reads Parquet and CSV; write it with sdckit.write_file "
                "first"
            )
        return [path]
    inside = sorted(entry for entry in path.rglob("*") if entry.is_file() and not entry.name.startswith(("_", ".")))
    files = [file for file in inside if file.suffix == ".parquet"]
    files = files or [file for file in inside if bare_name(file).suffix.lower() == ".csv"]
    if not files:
        raise FileFormatError(
            f"the folder {displayed(path.name)} holds neither Parquet (.parquet) nor CSV files (.csv)"
        )
    for file in files:
        file_format(file)
    return files


def _until_the_end() -> Path:
    """A temporary folder that lasts until the process ends, since lazy frames may be collected until then."""
    kept = ExitStack()
    folder = kept.enter_context(spill_folder())
    atexit.register(kept.close)
    return folder


def _opened(
    engine: ScanEngine, files: list[str], base: Path | None, memory: str | None, beside: Any, *, anywhere: bool = False
) -> Any:
    """The files as one lazy frame; `base`: root of the partition folders; `anywhere`: `files` is an address."""
    if engine == "duckdb":
        return _by_duckdb(files, memory, beside, folders=anywhere or base is not None)
    if engine == "spark":
        return _by_spark(files, base)
    import polars as pl

    return pl.scan_parquet(files, glob=anywhere, hive_partitioning=anywhere or base is not None)


def is_read_by(engine: str | None, path: Path) -> bool:
    """Whether an engine reads the format of a file."""
    return file_format(path) in {"spark": ("Parquet",), "duckdb": FORMATS, "polars": FORMATS}.get(engine or "", ())


def is_relation(plan: Any) -> bool:
    """Whether a plan is a relation of DuckDB, if that is loaded."""
    kind = getattr(sys.modules.get("duckdb"), "DuckDBPyRelation", None)
    return kind is not None and isinstance(plan, kind)


def _by_duckdb(files: list[str], memory: str | None, beside: Any, *, folders: bool) -> Any:
    try:
        import duckdb
    except ImportError:
        raise DataError('DuckDB is not installed: pip install "sdckit[duckdb]"', argument="engine") from None
    if beside is not None:
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        own = f"SELECT * FROM read_parquet([{listed}], hive_partitioning = {str(folders).lower()})"
        return beside.query("sdckit__beside", own)
    settings: dict[str, Any] = {"temp_directory": str(_until_the_end())}
    if memory is None:
        connection = duckdb.connect(":memory:", config=settings)
    else:
        engine, here = shares_of(memory)
        connection = duckdb.connect(":memory:", config={**settings, "memory_limit": f"{engine}B"})
        connection.execute(f"SET VARIABLE {VARIABLE} = {here}")
    return connection.read_parquet(files, hive_partitioning=folders)


def _by_spark(files: list[str], base: Path | None) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise DataError('Spark is not installed: pip install "sdckit[spark]"', argument="engine") from None
    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    return (session.read if base is None else session.read.option("basePath", str(base))).parquet(*files)


LOOKED_AT = 20_000  # records: codes of a survey are frequent enough to be among them


def warn_of_suspects(plan: Any, path: Path, codes: Sequence[str], n: int) -> None:
    """Warn of values that may mean missing, as `read_file` does, among the first of the plan's `n` records."""
    frame = collect(nw.from_native(plan).lazy().head(LOOKED_AT)).to_polars()
    where = f" (its first {LOOKED_AT:,} records)" if n > LOOKED_AT else ""
    MissingNotes(tuple(codes), suspected=suspects(frame)).warn(f"{path.name}{where}")


def _without_codes(name: str, dtype: Any, codes: Sequence[str]) -> nw.Expr:
    """A column with codes for missing set to missing."""
    column = nw.col(name)
    if dtype == nw.String:
        return _unless(column, ["", *(code_texts(codes) if codes else DEFAULT_CODES)]).alias(name)
    if not codes or not dtype.is_numeric():
        return column
    numbers = [number for number in code_numbers(codes) if not math.isnan(number)]
    if dtype.is_integer():
        whole = [int(number) for number in numbers if number.is_integer()]
        return _unless(column, whole).alias(name) if whole else column
    return _unless(column, numbers).alias(name) if numbers else column


def _unless(column: nw.Expr, values: Sequence[Any]) -> nw.Expr:
    """A column without some values, one by one: DuckDB looks them up as a list by a join, which mixes up the rows."""
    return nw.when(nw.all_horizontal(*(column != value for value in values), ignore_nulls=False)).then(column)


# Whether a file is left to an engine: too large for memory, or not a single local file.


SHARE = 2  # records may take at most 1/SHARE of the free memory


def is_for_an_engine(path: Path, columns: int) -> bool:
    """Whether a path is a folder, an address, or a Parquet or CSV file too large for memory with so many columns.

    The size of Parquet is estimated from its number of records, that of CSV from the file size. Other formats are
    never left to an engine.
    """
    if is_address(path) or path.is_dir():
        return True
    free = free_bytes()
    return free is not None and _needed(path, columns) > free // SHARE


def _needed(path: Path, columns: int) -> int:
    """Estimated memory of a Parquet or CSV file; 0 for others and damaged ones, which fail when read."""
    try:
        kind = file_format(path)
        if kind != "Parquet":
            return bytes_of_file(path) if kind == "CSV" else 0
        return bytes_of_records(pq.ParquetFile(path).metadata.num_rows, columns)
    except (FileFormatError, OSError, pa.ArrowException):
        return 0
