"""How a file beside the original is read: as the original is where it is written so, else by its own shape."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sdckit.data import frames, pl
from sdckit.data.files import file_checks, read_labelled, scan_file
from sdckit.data.files.csv_shape import CsvText, cut_alike, decoded, open_text, spelt_mark
from sdckit.data.files.read_csv import CsvOptions, open_csv, scan_text
from sdckit.data.missing_values.missing import DEFAULT_CODES
from sdckit.errors import FileFormatError, SdcError, SdcWarning

LABELLED = ("SPSS", "Stata", "SAS")
_NUMBER = {mark: rf"^ *[+-]?[0-9]*[{mark}]?[0-9]+(?:[eE][+-]?[0-9]+)? *$" for mark in ",."}
_OTHER = {",": ".", ".": ","}


def options_beside(path: Path, given: CsvOptions, *, original: Path) -> CsvOptions:
    """The options under which a file beside the original is read, such as its release, or people for control.

    Those that were `given` for the original hold for files of the same origin. A file that is written otherwise, as
    `write_file` writes its release, is read by its own shape, and a warning says so: text in UTF-8 that is no text in
    the encoding given, or another one of single bytes; lines that the delimiter given does not cut; numbers that have
    the other decimal mark where the original has them with the one given. A file of another format needs none of
    them; one of SPSS, Stata or SAS beside another is read in its own encoding where it declares another one than that.

    Raises `FileFormatError` where a file can be read in both ways, each of which gives other records.
    """
    if given == CsvOptions() or scan_file.is_address(path) or not path.exists():
        return given
    file = scan_file.files_of(path)[0] if path.is_dir() else path
    kind = file_checks.file_format(file)
    if kind == "CSV":
        with warnings.catch_warnings(action="ignore", category=SdcWarning):  # whoever reads the file warns of it
            own = _of_csv(file, given, original)
    elif kind in LABELLED and original.is_file() and file_checks.file_format(original) == kind:
        given = CsvOptions(encoding=given.encoding)
        own = CsvOptions(encoding=_of_labelled(file, kind, given.encoding, original))
    else:
        return CsvOptions()
    texts = {
        "encoding": "the encoding", "delimiter": f"the delimiter {spelt_mark(own.delimiter or '')}",
        "decimal": f"the decimal mark '{own.decimal}'",
    }  # fmt: skip
    said = [text for name, text in texts.items() if getattr(own, name) != getattr(given, name)]
    if said:
        listed = " and ".join(part for part in (", ".join(said[:-1]), said[-1]) if part)
        warnings.warn(f"{path.name}: read by {listed} of its own, not as {original.name} is", SdcWarning, stacklevel=2)
    return own


def _of_csv(file: Path, given: CsvOptions, original: Path) -> CsvOptions:
    own = replace(given, encoding=_encoding(file, given.encoding))
    if given.delimiter is not None:
        own = replace(own, delimiter=_delimiter(open_text(file, own.encoding), given.delimiter))
    if given.decimal in _OTHER:
        own = replace(own, decimal=_decimal(file, own, given, original))
    return own


def _of_labelled(file: Path, kind: str, given: str | None, original: Path) -> str | None:
    """The encoding that was given, or None where the file declares another one than the original does."""
    declared = None if given is None else read_labelled.declared_encoding(file, kind)
    return given if declared in (None, read_labelled.declared_encoding(original, kind)) else None


def _encoding(file: Path, given: str | None) -> str | None:
    """The encoding that was given, or None where the text is in UTF-8, or has a mark of its own."""
    if given is None:
        return None
    as_given, by_itself, is_clear = decoded(file, given)
    if as_given is not None and by_itself in (None, as_given):
        return given
    if as_given is None or is_clear:
        return None
    raise _of_two_ways(file, "encoding", "in the encoding given and in UTF-8")


def _delimiter(text: CsvText, given: str) -> str:
    """The delimiter that was given, or the one that cuts the lines where that does not."""
    others, fits = cut_alike(text, given)
    if fits and others:
        raise _of_two_ways(text.path, "delimiter", f"by {spelt_mark(given)} and by {spelt_mark(others[0])}")
    return others[0] if others else given


def _decimal(file: Path, own: CsvOptions, given: CsvOptions, original: Path) -> str:
    """The decimal mark that was given, or the other one where columns of the original are numbers by it alone."""
    mark = str(given.decimal)
    numbers = _numbers(file, own)
    otherwise = numbers[_OTHER[mark]]
    if not otherwise:
        return mark
    there = _numbers_of(original, given)  # codes with points, such as 47.11, are text in both files
    otherwise -= there[_OTHER[mark]]
    if numbers[mark] and otherwise & {*there["names"]}:
        raise _of_two_ways(file, "decimal", "by the decimal mark '.' and by ','")
    return mark if numbers[mark] or not otherwise else _OTHER[mark]


def _numbers_of(original: Path, given: CsvOptions) -> Mapping[str, set[str]]:
    """Names and numbers of the original; nothing where it is no CSV file, or cannot be read, which its reader tells."""
    nothing: dict[str, set[str]] = {"names": set(), ",": set(), ".": set()}
    try:
        file = scan_file.files_of(original)[0] if original.is_dir() else original
        if scan_file.is_address(original) or file_checks.file_format(file) != "CSV":
            return nothing
        return _numbers(file, given)
    except SdcError:
        return nothing


def _numbers(file: Path, how: CsvOptions) -> dict[str, set[str]]:
    """The names of columns, and by decimal mark those whose every value is a number with it, or a whole one."""
    text, shape = open_csv(file, "CSV", how.delimiter, how.encoding)
    columns = {f"r{i}": name for i, name in enumerate(shape.names)}
    raw = scan_text(text, shape, None).select(frames.exactly(name).alias(at) for at, name in columns.items())
    held = [pl.col(at).filter(pl.col(at).str.contains("[0-9]") & ~pl.col(at).is_in(DEFAULT_CODES)) for at in columns]
    fits = [
        (column.str.contains(pattern).all() & column.str.contains(mark, literal=True).any()).alias(f"{mark}{at}")
        for at, column in zip(columns, held, strict=True)
        for mark, pattern in _NUMBER.items()
    ]
    row = raw.select(fits).collect(engine="streaming").row(0, named=True)
    marked = {mark: {name for at, name in columns.items() if row[f"{mark}{at}"]} for mark in _NUMBER}
    return {"names": {*shape.names}, **marked}


def _of_two_ways(file: Path, option: str, ways: str) -> FileFormatError:
    return FileFormatError(
        f"{file.name} can be read {ways}, which gives other records, so nobody can tell whether the {option}= of the "
        "original is meant: write it as Parquet with sdckit.write_file, or as the original is written",
        argument=option,
    )
