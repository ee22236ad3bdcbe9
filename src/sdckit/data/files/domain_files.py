"""Files read by a declared domain, so that no record decides how another is read; and domains to be filled in."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sdckit import operating_system
from sdckit.data import frames, pl, pt
from sdckit.data.domain import ColumnType, Domain, DomainColumn, draft_toml
from sdckit.data.files import file_checks, file_labels, read_labelled
from sdckit.errors import FileFormatError, ScenarioError

CUTS = (",", ";", "\t", "|")
COLUMNAR = ("Parquet", "Arrow")
BLANK = re.compile(rb"\n(?:\r*(?:\n|\Z))+")
RETURN = "\udc0d"  # no text that was decoded has it; csv refuses a bare \r


@dataclass(frozen=True)
class DomainFile:
    """A file that is read by a domain, each record by itself: of a CSV as text, of labelled files codes as labels.

    Of a CSV the delimiter is that of its first line unless given; bytes that are no text of the encoding (UTF-8 unless
    given), lines with too few or too many fields, and a file without records are read like any other. A blank line is
    no record, but a missing value in a file of one column; one within a quoted text is left out, too, so that nothing
    but the line decides. Its methods raise FileFormatError: the file is absent, damaged, or a workbook.
    """

    path: Path
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    @cached_property
    def kind(self) -> str:
        """The format."""
        kind = file_checks.file_format(self.path)
        if kind == "Excel":
            raise FileFormatError(
                f"{self.path.name} is a workbook, whose cells decide how others are read; save it as CSV"
            )
        return kind

    @property
    def columns(self) -> list[str]:
        """The names in its header, which alone is looked at."""
        return list(self.types)

    @cached_property
    def types(self) -> dict[str, ColumnType]:
        """The type of each column as the format stores it; a CSV stores none, so all are text."""
        if self.kind == "CSV":
            return dict.fromkeys(_csv_header(self)[0], "text")
        if self.kind not in COLUMNAR:
            read_labelled.labelled_header(self.path, self.kind, encoding=self.encoding)
            return read_labelled.declared_types(self.path, self.kind, encoding=self.encoding)
        schema = read_labelled.stored_schema(self.path, self.kind)
        file_checks.refuse_duplicates(self.path, schema.names)
        return {field.name: _type_of(field.type) for field in schema}

    def read(self, domain: Domain) -> pl.DataFrame:
        """The columns of a domain, and that of persons.

        Raises ColumnError: one is not in the header.
        """
        domain.check_columns(self.columns, within=self.path.name)
        wanted = [name for name in self.columns if name in {*domain.names, domain.person}]
        if self.kind == "CSV":
            frame = _csv_records(_csv_text(self, header=False), *_csv_header(self)).select(
                frames.exactly(name) for name in wanted
            )
            return _with_points(frame, domain) if self.decimal == "," else frame
        if self.kind in COLUMNAR:
            return read_labelled.read_columnar(self.path, self.kind, columns=wanted, missing=("",))[0]
        how: dict[str, Any] = {"columns": wanted, "missing": ("",), "encoding": self.encoding, "labels": False}
        frame, _ = read_labelled.read_labelled(self.path, self.kind, **how)
        labels = read_labelled.read_labels(self.path, encoding=self.encoding)
        texts = [column.name for column in domain.columns if column.type == "text"]
        return frame.with_columns(_labelled(frame[name], codes) for name in texts if (codes := labels.get(name).codes))


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
    ['', '[columns.age]', 'type = "text"', '# levels = []']
    """
    file = DomainFile(Path(path), delimiter, encoding)
    known = _of_codebook(read_labelled.read_labels(file.path, encoding=encoding)) if from_codebook else {}
    if from_codebook and not known:
        raise ScenarioError(f"{file.path.name} has no value labels; SPSS and Stata files may have some")
    return draft_toml(file.types, dataset=file_checks.bare_name(file.path).stem, known=known)


def _of_codebook(labels: file_labels.FileLabels) -> dict[str, DomainColumn]:
    levels = {
        name: tuple(text for text, code in own.codes.items() if text and not own.is_missing(code))
        for name, own in labels.columns.items()
    }
    return {name: DomainColumn(name, levels=own) for name, own in levels.items() if own}


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
    known = {file_labels.code_text(code): text for text, code in codes.items()}
    values = series.drop_nulls().unique().to_list()
    texts = [known.get(file_labels.code_text(value), file_labels.code_text(value)) for value in values]
    return series.replace_strict(values, texts, default=None, return_dtype=pl.String) if values else series


def _with_points(frame: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    numbers = [column.name for column in domain.columns if column.type in ("integer", "decimal")]
    return frame.with_columns(frames.exactly(name).str.replace(",", ".", literal=True) for name in numbers)


# CSV: every field is text.


def _csv_text(of: DomainFile, *, header: bool) -> bytes:
    """The file as UTF-8, or no more than its first line."""
    raw = file_checks.unpacked(of.path)
    if raw is None:
        with of.path.open("rb") as opened:
            raw = opened.readline() if header and of.encoding is None else opened.read()
    try:
        text = raw.decode(of.encoding, "replace").encode(errors="replace") if of.encoding else None
        raw = raw.removeprefix(codecs.BOM_UTF8) if text is None else text
    except (LookupError, ValueError):  # none of text, or one that cannot replace what it does not know
        raise FileFormatError(f"there is no encoding {of.encoding!r}") from None
    end = raw.find(b"\n")
    alone = raw.find(b"\r", 0, len(raw) if end < 0 else end)
    return raw if alone in (-1, end - 1) else raw.replace(b"\r", b"\n")  # the header says how lines end


def _csv_header(of: DomainFile) -> tuple[list[str], str]:
    """The names of the first line, and what stands between them."""
    first = _csv_text(of, header=True).partition(b"\n")[0].decode("utf-8", "replace").strip("\r\ufeff")
    cuts = CUTS if of.delimiter is None else (of.delimiter,)
    if any(len(cut.encode()) != 1 or cut in '"\r\n' for cut in cuts):
        raise ScenarioError("a delimiter is one character")
    try:
        lines = {cut: next(csv.reader([first], delimiter=cut), []) for cut in cuts}
    except csv.Error:
        raise FileFormatError(f"the first line of {of.path.name} is no header: its fields cannot be read") from None
    cut = max(lines, key=lambda cut: len(lines[cut]))
    file_checks.refuse_duplicates(of.path, lines[cut])
    return lines[cut], cut


def _csv_records(raw: bytes, names: Sequence[str], cut: str) -> pl.DataFrame:
    empty = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    if len(names) > 1 and (b"\n\n" in raw or b"\n\r" in raw):
        raw = BLANK.sub(b"\n", raw)
    raw = raw.partition(b"\n")[2]
    if not raw:
        return empty
    try:
        with operating_system.without_panics():
            return pl.read_csv(
                raw, has_header=False, new_columns=list(names), schema=dict.fromkeys(names, pl.String), separator=cut,
                truncate_ragged_lines=True, raise_if_empty=False, encoding="utf8-lossy",
            )  # fmt: skip
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return _stray_quotes(raw.decode("utf-8", "replace"), empty, cut)


def _stray_quotes(text: str, empty: pl.DataFrame, cut: str) -> pl.DataFrame:
    """Records where Polars stops at a quote; those without a stray one are read as by Polars."""
    lines = text.removesuffix("\n").replace("\r", RETURN).split("\n")
    most, width = csv.field_size_limit(len(text) + 1), empty.width
    try:
        rows = list(csv.reader((line + "\n" for line in lines), delimiter=cut))
    finally:
        csv.field_size_limit(most)
    ended = ((*row[:-1], row[-1].removesuffix(RETURN)) if row else () for row in rows)
    filled = [
        [*(field.replace(RETURN, "\r") or None for field in row[:width]), *[None] * (width - len(row))] for row in ended
    ]
    return pl.DataFrame(filled, schema=empty.schema, orient="row")
