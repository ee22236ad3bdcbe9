"""Files out: a frame in one of several formats, whole or not at all, and never in the place of its own source."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data import arguments
from sdckit.data.columns import to_arrow
from sdckit.data.exact_names import exactly
from sdckit.data.files.file_labels import FileLabels, as_labels
from sdckit.data.files.whole_files import number_of, replacing
from sdckit.data.files.write_labelled import LABELLED, check_writer, write_labelled
from sdckit.data.files.write_plan import writing_plan
from sdckit.data.frames import is_lazy, open_frame
from sdckit.data.outgoing.only_records import only_records
from sdckit.errors import DataError, FileFormatError

if TYPE_CHECKING:
    import polars as pl


WRITTEN: dict[str, str] = {
    ".csv": "CSV", ".tsv": "CSV", ".parquet": "Parquet", ".pq": "Parquet",
    ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow",
    ".sav": "SPSS", ".zsav": "SPSS", ".dta": "Stata",
}  # fmt: skip
UNWRITABLE = "a column cannot be written as {} (lists, structures or Python objects); make it text first"
# A spreadsheet takes a cell that starts so for a formula and runs it.
FORMULA = r"^[=+\-@\t\r]"


def write_file(
    data: Any,
    path: str | Path,
    *,
    labels: FileLabels | Mapping[str, str] | None = None,
    excel_safe: bool = False,
    sources: Iterable[str | Path] = (),
    private: bool = False,
) -> Path:
    """Write a frame to a file, in the format that the ending of its name says.

    Only records are written: no unused categories, no metadata, nothing beneath missing values. In SPSS and Stata
    files categories are labelled codes. Of `labels`, those of columns and of codes that are in the file go with it.

    Parameters
    ----------
    data : data frame or plan
        pandas, Polars or PyArrow, whose index is not written; or a plan of Polars, DuckDB or Spark, which its engine
        writes as Parquet: one file, of Spark a folder of files.
    path : str or Path
        Ends in .csv, .tsv, .parquet, .pq, .arrow, .feather, .ipc, .sav, .zsav or .dta. An older file is replaced
        when the new one is whole; a link is followed.
    labels : FileLabels or mapping of str to str, optional
        What `read_labels` says of the file that the data came from, or the variable labels by column. SPSS and
        Stata files keep labels, codes and user-missing codes; Parquet and Arrow keep the variable labels, as
        "label" in the metadata of the field; CSV keeps nothing.
    excel_safe : bool
        CSV: put an apostrophe before every text that a spreadsheet would run as a formula (those that start
        with =, +, -, @, a tab or a carriage return).
    sources : iterable of path
        Files that the data were read from; none of them is ever written to.
    private : bool
        Whether the owner alone may read it.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    FileFormatError
        Another ending, a folder or a device, one of the sources, or the file cannot be written; nothing is
        left behind, and an older file stays as it was.
    ColumnError
        SPSS and Stata: a name of a column that the format does not allow.
    DataError
        A column that the format cannot hold, or a plan that cannot be carried out.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_file(pl.DataFrame({"a": [1, None], "b": ["x", "=1+1"]}), f"{folder}/out.csv", excel_safe=True)
    ...     file.read_text(encoding="utf-8").splitlines()
    ['a,b', '1,x', ",'=1+1"]
    """
    with writing_file(data, path, labels=labels, excel_safe=excel_safe, sources=sources, private=private):
        pass
    return Path(path)


@contextmanager
def writing_file(
    data: Any,
    path: str | Path,
    *,
    labels: FileLabels | Mapping[str, str] | None = None,
    excel_safe: bool = False,
    sources: Iterable[str | Path] = (),
    private: bool = False,
) -> Iterator[None]:
    """Write the same beside its place, and move it there when the block has ended well."""
    told = as_labels(labels)
    arguments.flag(excel_safe, "excel_safe")
    arguments.flag(private, "private")
    read = _paths(sources)
    kind, target = check_output(path, sources=read)
    if excel_safe and kind != "CSV":
        raise FileFormatError(f"excel_safe is for CSV; {Path(path).name} is {kind}, which runs nothing")
    if is_lazy(open_frame(data)):
        if told.columns:
            raise FileFormatError(f"{Path(path).name}: an engine writes no labels; leave them out")
        with writing_plan(data, target, kind, private=private):
            yield
        return
    frame: pl.DataFrame = only_records(_as_polars(data))
    if excel_safe:
        frame = _harmless(frame)
    delimiter = "\t" if target.suffix.lower() == ".tsv" else ","
    with replacing(target, what=target.name, private=private) as part:
        if kind in LABELLED:
            write_labelled(frame, part, kind, told, compress=target.suffix.lower() == ".zsav")
        elif kind != "CSV" and told.variables:
            _write_described(frame, part, kind, told.variables)
        else:
            _write(frame, part, kind, delimiter)
        yield


def _paths(sources: Iterable[str | Path]) -> tuple[Path, ...]:
    try:
        return tuple(map(Path, sources))
    except TypeError:
        raise DataError("sources= lists the files that the data were read from", argument="sources") from None


def check_output(path: str | Path, *, sources: Iterable[str | Path] = ()) -> tuple[str, Path]:
    """Look at the place of a file before any work: its format, and where it really is.

    Raises `FileFormatError`: as `write_file`.
    """
    file = Path(path)
    kind = WRITTEN.get(file.suffix.lower())
    if kind is None:
        raise FileFormatError(f"{file.name}: a data file ends in one of {', '.join(WRITTEN)}")
    check_writer(file, kind)
    target = file.resolve()
    if not target.parent.is_dir():
        raise FileFormatError(f"cannot write {file.name}: its folder does not exist")
    if target.exists() and not stat.S_ISREG(target.stat().st_mode) and not _of_spark(target, kind):
        raise FileFormatError(f"cannot write {file.name}: there is something that is no regular file")
    for source in sources:
        one = Path(source)
        if one.resolve() == target or (target.exists() and one.exists() and one.samefile(target)):
            raise FileFormatError(f"cannot write {file.name}: it is read here; an input is never overwritten")
    return kind, target


def _of_spark(target: Path, kind: str) -> bool:
    """Whether it is a folder of Parquet that an engine wrote, and nothing else."""
    files = [one.name for one in target.iterdir()] if kind == "Parquet" and target.is_dir() else []
    return len(files) > 0 and all(re.fullmatch(r"_SUCCESS|part-.*\.parquet|\..*\.crc", one) for one in files)


def _as_polars(data: Any) -> pl.DataFrame:
    import polars as pl

    frame = open_frame(data)
    assert not is_lazy(frame)
    native = frame.to_native()
    if isinstance(native, pl.DataFrame):
        return native
    return pl.DataFrame({name: pl.Series(name, to_arrow(frame[name])) for name in frame.columns})


def _harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """Every text and every name that a spreadsheet would run, behind an apostrophe."""
    import polars as pl

    texts = [name for name, kind in frame.schema.items()
             if kind in (pl.String, pl.Categorical) or isinstance(kind, pl.Enum)]  # fmt: skip
    safe = frame.with_columns(_guarded(exactly(name).cast(pl.String)).alias(name) for name in texts)
    names = pl.Series(frame.columns, dtype=pl.String)
    hits = zip(names, names.str.contains(FORMULA), strict=True)
    return safe.rename({name: f"'{name}" for name, hit in hits if hit})


def _guarded(column: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.when(column.str.contains(FORMULA)).then(pl.lit("'") + column).otherwise(column)


def _write_described(frame: pl.DataFrame, path: Path, kind: str, variables: Mapping[str, str]) -> None:
    """Write columns with their labels, through Arrow: Polars keeps no metadata of a field."""
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import feather

    if pl.Object in frame.dtypes:  # Arrow would take the address of each object
        raise DataError(UNWRITABLE.format(kind))
    try:
        table = frame.to_arrow()
        fields = [
            field.with_metadata({**(field.metadata or {}), "label": variables[field.name]})
            if field.name in variables
            else field
            for field in table.schema
        ]
        table = table.cast(pa.schema(fields))
        if kind == "Parquet":
            pq.write_table(table, path, store_schema=True)
        else:
            feather.write_feather(table, path)
    except pa.ArrowException:
        raise DataError(UNWRITABLE.format(kind)) from None


def _write(frame: pl.DataFrame, path: Path, kind: str, delimiter: str) -> None:
    import polars as pl

    try:
        if kind == "CSV":
            frame.write_csv(path, separator=delimiter)
        elif kind == "Parquet":
            frame.write_parquet(path)
        else:
            frame.write_ipc(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:  # their words may show values
        if number := number_of(error):  # in Parquet a full disk is an error of the format
            raise OSError(number, "") from None
        raise DataError(UNWRITABLE.format(kind)) from None
