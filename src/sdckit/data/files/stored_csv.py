"""CSV files for an engine: stored as Parquet as they stream by, with the types that `read_file` would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.data.files.csv_shape import CsvShape, csv_shape
from sdckit.data.files.csv_text import CsvText, open_text
from sdckit.data.files.csv_types import kinds_to_try, streamed
from sdckit.data.files.file_checks import clear_errors, pick_columns
from sdckit.data.files.read_csv import check_decimal, hint_at_decimals, quotes_apart, scan_text
from sdckit.data.missing_values.missing_codes import DEFAULT_CODES, code_texts
from sdckit.errors import FileFormatError

if TYPE_CHECKING:
    import polars as pl


STORED = "table.parquet"


@dataclass(frozen=True)
class CsvOptions:
    """How CSV is read, where its reader is not to find out."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None


@dataclass(frozen=True)
class _Part:
    """One of the files: its text, its shape, and what the folders it lies in say."""

    text: CsvText
    shape: CsvShape
    folders: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.shape.names, *(name for name in self.folders if name not in self.shape.names))

    def scan(self) -> pl.LazyFrame:
        """Every field as text."""
        import polars as pl

        return scan_text(self.text, self.shape, None).with_columns(
            pl.lit(value).alias(name) for name, value in self.folders.items()
        )


def store_csv(
    files: Sequence[Path], base: Path | None, folder: Path, how: CsvOptions, *, columns: Sequence[str] | None,
    identifiers: Sequence[str], missing: Sequence[str],
) -> Path:  # fmt: skip
    """Store columns of CSV files as one Parquet file in `folder`; a value is of the type that fits all of them.

    `base`: the folder whose folders are columns, such as ``year=2025``. Memory holds a part of the records at a time;
    files that are compressed, or not UTF-8, one by one.
    """
    check_decimal(files[0], how.decimal)
    parts = [_part(file, base, how) for file in files]
    first = parts[0]
    for file, part in zip(files, parts, strict=True):
        if set(part.names) != set(first.names):
            raise FileFormatError(
                f"{file.name} has other columns than {files[0].name}: the CSV files of a folder are one file; "
                "bring them to the same header, or move those that are not part of it elsewhere"
            )
    certain = all(part.shape.certain for part in parts)
    names = pick_columns(base or files[0], first.names, columns, identifiers=identifiers, certain=certain)
    kinds = kinds_to_try(first.shape.delimiter, how.decimal)
    target = folder / STORED
    with clear_errors(files[0], "CSV", lambda: quotes_apart(parts[0].text)):
        plan = streamed([part.scan() for part in parts], names, kinds, code_texts(missing or DEFAULT_CODES))
        hint_at_decimals(files[0], plan.head(10_000).collect(), kinds)
        plan.sink_parquet(target)
    _check_records(files, parts, target)
    return target


def _part(file: Path, base: Path | None, how: CsvOptions) -> _Part:
    text = open_text(file, how.encoding)
    return _Part(text, csv_shape(text, how.delimiter), {} if base is None else folder_values(file, base))


def folder_values(file: Path, base: Path) -> dict[str, str]:
    """What the folders say that a file lies in, below another.

    >>> folder_values(Path("census/year=2025/part.csv"), Path("census"))
    {'year': '2025'}
    """
    pairs = [one.partition("=") for one in file.relative_to(base).parts[:-1]]
    return {name: value for name, is_one, value in pairs if is_one}


def _check_records(files: Sequence[Path], parts: Sequence[_Part], target: Path) -> None:
    """Refuse what a parser cut in another way than the lines do."""
    import polars as pl

    height = pl.scan_parquet(target).select(pl.len()).collect().item()
    if height != sum(part.shape.n_rows for part in parts):
        target.unlink()
        raise FileFormatError(f"{files[0].name} cannot be read as CSV: {quotes_apart(parts[0].text)}")
