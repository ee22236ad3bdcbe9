"""Files read by a declared domain, so that no record decides how another is read; and domains to be filled in."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sdckit.data import pl, pt
from sdckit.data.domain import ColumnType, Domain, DomainColumn, draft_toml
from sdckit.data.files.file_checks import bare_name, file_format, refuse_duplicates, unpacked
from sdckit.data.files.file_labels import FileLabels, code_text
from sdckit.data.files.read_labelled import (
    declared_types,
    labelled_header,
    read_columnar,
    read_labelled,
    read_labels,
    stored_schema,
)
from sdckit.data.frames import exactly
from sdckit.errors import FileFormatError, ScenarioError

CUTS = (",", ";", "\t", "|")
COLUMNAR = ("Parquet", "Arrow")


def read_by_domain(
    path: str | Path, domain: Domain, *, delimiter: str | None = None, encoding: str | None = None,
    decimal: str | None = None,
) -> pl.DataFrame:  # fmt: skip
    """Read the columns of a domain, each record by itself: of a CSV as text, of labelled files with codes as labels.

    Of a CSV the delimiter is that of its first line unless given, and bytes that are no text of the encoding (UTF-8
    unless given), lines with too few or too many fields, and a file without records are read like any other.

    Raises
    ------
    FileFormatError
        The file is absent, damaged, or a workbook.
    ColumnError
        A column of the domain is not in its header.
    """
    file = Path(path)
    kind = _kind(file)
    if kind == "CSV":
        raw, names, cut = _opened_csv(file, delimiter, encoding)
    else:
        names = list(_typed(file, kind, encoding))
    domain.check_columns(names, within=file.name)
    wanted = [name for name in names if name in {*domain.names, domain.person}]
    if kind == "CSV":
        frame = _csv_records(raw, names, cut).select(exactly(name) for name in wanted)
        return _with_points(frame, domain) if decimal == "," else frame
    if kind in COLUMNAR:
        return read_columnar(file, kind, columns=wanted, missing=("",))[0]
    frame, _ = read_labelled(file, kind, columns=wanted, missing=("",), encoding=encoding, labels=False)
    labels = read_labels(file, encoding=encoding)
    texts = {column.name for column in domain.columns if column.type == "text"}
    return frame.with_columns(
        [_labelled(frame[name], codes) for name in texts if (codes := labels.get(name).codes)]
    )  # fmt: skip


def draft_domain(
    path: str | Path, *, from_codebook: bool = False, delimiter: str | None = None, encoding: str | None = None
) -> str:
    r"""A domain to be filled in, as TOML: the names and types of a file's columns, and no value of a record.

    Types are those that the format stores; a CSV stores none, and all of its columns are text until somebody says
    otherwise.

    Parameters
    ----------
    path
        The file, of which the header alone is read.
    from_codebook
        Take the value labels of an SPSS or Stata file for levels, but those of user-missing codes.
    delimiter, encoding
        How a CSV is written.

    Raises
    ------
    FileFormatError
        The file is absent, damaged, or a workbook.
    ScenarioError
        `from_codebook`, and the file has no value labels.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "survey.csv"
    ...     _ = file.write_text("sex,age\nf,34\n")
    ...     print(draft_domain(file).splitlines()[-4:])
    ['# levels = []', '', '[columns.age]', 'type = "text"']
    """
    file = Path(path)
    kind = _kind(file)
    types: Mapping[str, ColumnType]
    if kind == "CSV":
        types = dict.fromkeys(_opened_csv(file, delimiter, encoding)[1], "text")
    else:
        types = _typed(file, kind, encoding)
    known = _of_codebook(read_labels(file, encoding=encoding)) if from_codebook else {}
    if from_codebook and not known:
        raise ScenarioError(f"{file.name} has no value labels; SPSS and Stata files may have some")
    return draft_toml(types, dataset=bare_name(file).stem, known=known)


def _kind(file: Path) -> str:
    kind = file_format(file)
    if kind == "Excel":
        raise FileFormatError(f"{file.name} is a workbook, whose cells decide how others are read; save it as CSV")
    return kind


def _of_codebook(labels: FileLabels) -> dict[str, DomainColumn]:
    levels = {
        name: tuple(text for text, code in own.codes.items() if text and not own.is_missing(code))
        for name, own in labels.columns.items()
    }
    return {name: DomainColumn(name, levels=own) for name, own in levels.items() if own}


def _typed(file: Path, kind: str, encoding: str | None) -> dict[str, ColumnType]:
    """Names and types of the columns, as the format stores them."""
    if kind in COLUMNAR:
        schema = stored_schema(file, kind)
        refuse_duplicates(file, schema.names)
        return {field.name: _type_of(field.type) for field in schema}
    labelled_header(file, kind, encoding=encoding)
    return declared_types(file, kind, encoding=encoding)


def _type_of(kind: Any) -> ColumnType:
    if pt.is_integer(kind):
        return "integer"
    if pt.is_floating(kind) or pt.is_decimal(kind):
        return "decimal"
    if pt.is_boolean(kind):
        return "boolean"
    return "date" if pt.is_date(kind) or pt.is_timestamp(kind) else "text"


def _labelled(series: pl.Series, codes: Mapping[str, Any]) -> pl.Series:
    """Codes as their labels, and a code without one as it is."""
    known = {code_text(code): text for text, code in codes.items()}
    values = series.drop_nulls().unique().to_list()
    texts = [known.get(code_text(value), code_text(value)) for value in values]
    return series.replace_strict(values, texts, default=None, return_dtype=pl.String) if values else series


def _with_points(frame: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    numbers = [column.name for column in domain.columns if column.type in ("integer", "decimal")]
    return frame.with_columns(exactly(name).str.replace(",", ".", literal=True) for name in numbers)


# CSV: every field is text.


def _opened_csv(file: Path, delimiter: str | None, encoding: str | None) -> tuple[bytes, list[str], str]:
    """The records as UTF-8, the names of the first line and what stands between fields."""
    raw = unpacked(file) or file.read_bytes()
    try:
        text = raw.decode(encoding or "utf-8-sig", errors="replace")
    except LookupError:
        raise FileFormatError(f"there is no encoding {encoding!r}") from None
    first, _, records = text.partition("\n")
    cuts = CUTS if delimiter is None else (delimiter,)
    if any(len(cut) != 1 for cut in cuts):
        raise ScenarioError("a delimiter is one character")
    lines = {cut: next(csv.reader([first.strip("\r")], delimiter=cut), []) for cut in cuts}
    cut = max(lines, key=lambda cut: len(lines[cut]))
    refuse_duplicates(file, lines[cut])
    return records.encode("utf-8", "replace"), lines[cut], cut


def _csv_records(raw: bytes, names: Sequence[str], cut: str) -> pl.DataFrame:
    empty = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    if not raw.strip():
        return empty
    try:
        return pl.read_csv(
            raw, has_header=False, new_columns=list(names), schema=dict.fromkeys(names, pl.String), separator=cut,
            truncate_ragged_lines=True, raise_if_empty=False,
        )  # fmt: skip
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        lines = io.StringIO(raw.decode(), newline="").read().splitlines()
        fields = [next(csv.reader([line.replace("\0", "")], delimiter=cut), []) for line in lines]
        padded = [[*row[: len(names)], *[""] * (len(names) - len(row))] for row in fields]
        return pl.DataFrame(padded, schema=empty.schema, orient="row") if padded else empty
