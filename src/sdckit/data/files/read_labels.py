"""What a file of any format says of its columns, read without its records."""

from __future__ import annotations

from pathlib import Path

from sdckit.data import arguments
from sdckit.data.files.file_checks import file_format, second_file
from sdckit.data.files.file_labels import FileLabels
from sdckit.data.files.read_columnar import column_descriptions
from sdckit.data.files.read_labelled import read_column_labels


def read_labels(
    path: str | Path, *, encoding: str | None = None, join: str | Path | None = None
) -> FileLabels:
    """Read what a file says of its columns: no record is read.

    SPSS, Stata and SAS files have labels of variables and values, user-missing codes and levels of measurement.
    Parquet and Arrow files may describe their columns: of the metadata of a field, "label", "description" or
    "comment" is taken. CSV and Excel files say nothing.

    Parameters
    ----------
    path : str or Path
        The file; its extension names the format.
    encoding : str, optional
        Of the texts of an SPSS, Stata or SAS file; found by itself where not given.
    join : str or Path, optional
        The second file of `read_file`; what the first says of a column comes first.

    Returns
    -------
    FileLabels
        By column; `write_file` takes it.

    Raises
    ------
    FileFormatError
        As `read_file`.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from sdckit import write_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_file(pl.DataFrame({"sex": ["f", "m"]}), f"{folder}/a.sav", labels={"sex": "Sex"})
    ...     read_labels(file).variables
    {'sex': 'Sex'}
    """
    if encoding is not None:
        arguments.text(encoding, "encoding")
    second = None if join is None else second_file(join)
    own = _labels_of(Path(path), encoding)
    return own if second is None else FileLabels({**_labels_of(second, encoding).columns, **own.columns})


def _labels_of(file: Path, encoding: str | None) -> FileLabels:
    kind = file_format(file)
    if kind in ("Parquet", "Arrow"):
        return FileLabels.of(column_descriptions(file, kind))
    if kind in ("CSV", "Excel"):
        return FileLabels()
    return FileLabels(read_column_labels(file, kind, encoding=encoding))
