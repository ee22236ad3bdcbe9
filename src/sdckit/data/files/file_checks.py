"""Checks before a file is read: existence, format by its first bytes, compression, column names."""

import bz2
import gzip
import lzma
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdckit import operating_system
from sdckit.data import pa, pl
from sdckit.data.files.file_limits import UNPACKED, most
from sdckit.data.missing_values.missing import DEFAULT_CODES
from sdckit.data.nearest import did_you_mean, nearest
from sdckit.errors import ColumnError, DataError, FileFormatError, SdcError, SdcWarning, sure

# Compressed CSV files: unpacked into memory.


PACKED: dict[str, str] = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard"}
_BLOCK = 1 << 23


def bare_name(path: Path) -> Path:
    """The path without the suffix of a compression.

    >>> str(bare_name(Path("survey.csv.gz"))), str(bare_name(Path("survey.csv")))
    ('survey.csv', 'survey.csv')
    """
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


def unpacked(path: Path) -> bytes | None:
    """Contents of a compressed file; None for any other, which is read directly.

    Raises `FileFormatError`: it is damaged, or unpacks to more than its limit.
    """
    kind = PACKED.get(path.suffix.lower())
    if kind is None:
        return None
    allowed = most(UNPACKED, path)
    blocks, size = [], 0
    try:
        with _opened(path, kind) as file:
            while block := file.read(_BLOCK):
                blocks.append(block)
                size += len(block)
                if size > allowed:
                    raise FileFormatError(
                        f"{path.name} becomes more than {UNPACKED[0]} times as large when it is unpacked; "
                        "unpack it yourself if that is right"
                    )
    except FileFormatError:
        raise
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error):
        raise FileFormatError(
            f"{path.name} cannot be unpacked as {kind}: it is damaged or cut off; copy it anew"
        ) from None
    return b"".join(blocks)


def _opened(path: Path, kind: str) -> Any:
    if kind == "Zstandard":
        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    openers: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    return openers[kind](path, "rb")


FORMATS: dict[str, str] = {
    ".csv": "CSV", ".tsv": "CSV", ".tab": "CSV", ".txt": "CSV", ".xlsx": "Excel", ".xlsm": "Excel",
    ".parquet": "Parquet", ".pq": "Parquet",
    ".arrow": "Arrow", ".feather": "Arrow", ".ipc": "Arrow",
    ".sav": "SPSS", ".zsav": "SPSS", ".por": "SPSS portable",
    ".dta": "Stata", ".sas7bdat": "SAS", ".xpt": "SAS transport",
}  # fmt: skip

# Magic numbers of formats: those we read, and those often renamed by mistake.
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "Parquet"),
    (b"PARE", "encrypted Parquet"),
    (b"ARROW1", "Arrow"),
    (b"\xff\xff\xff\xff", "Arrow"),  # the stream form, without a footer
    (b"FEA1", "Feather version 1"),
    (b"$FL2", "SPSS"),
    (b"$FL3", "SPSS"),
    (b"<stata_dta>", "Stata"),
    (b"\0" * 12 + b"\xc2\xea\x81\x60", "SAS"),
    (b"HEADER RECORD*******", "SAS transport"),
    (b"PK\x03\x04", "zip (Excel)"),
    (b"\xd0\xcf\x11\xe0", "old Excel, or Excel under a password"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"%PDF", "PDF"),
    (b"SQLite format 3", "SQLite"),
)
_ALWAYS_MARKED = frozenset({"Excel", "Parquet", "Arrow", "SPSS", "SAS", "SAS transport", *PACKED.values()})
_NAMES = {"Excel": "zip (Excel)"}  # format: its name in `_MAGIC`
_MONTHS = (
    "jan|feb|fev|fév|mar|mär|apr|avr|abr|may|mai|mag|jun|jui|jul|aug|aou|aoû|ago|"
    "sep|set|oct|okt|ott|out|nov|dec|déc|dez|dic|ene|gen|giu|lug"
)
_DATE = re.compile(
    rf"\d{{4}}-\d\d?-\d\d?[t ].*|\d{{1,2}}(?:\.|st|nd|rd|th)?[-/. ]?(?:{_MONTHS})\w*\.?[-/., ]*\d{{2,4}}.*",
    re.IGNORECASE,
)
_MAIL = re.compile(r"\S+@\S+\.\S+")
_EXPONENT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+")


def is_value(text: str) -> bool:
    """Whether a text is a number, a range of numbers, a date or an e-mail address.

    >>> [is_value(text) for text in ("3,5", "15-29", "12 March 1990", "2020-01-31T10:00", "a@b.org")]
    [True, True, True, True, True]
    >>> [is_value(text) for text in ("age", "v12", "1st_job", "income 2019", "")]
    [False, False, False, False, False]
    """
    bare = text.strip()
    if not any(letter.isdigit() for letter in bare):
        return bool(_MAIL.fullmatch(bare))
    if not any(letter.isalpha() for letter in bare):
        return True
    return any(pattern.fullmatch(bare) for pattern in (_EXPONENT, _DATE, _MAIL))


def is_code(text: str) -> bool:
    """Whether a text is empty or one of the default codes for missing.

    >>> is_code(" NA "), is_code(""), is_code("na")
    (True, True, False)
    """
    return text.strip() in ("", *DEFAULT_CODES)


@dataclass(frozen=True)
class FileHeader:
    """Metadata of a file: columns, number of records, format."""

    columns: tuple[str, ...]  # column names in file order
    n_rows: int | None  # number of records, None if the format does not store it
    format: str  # one of the values of `FORMATS`
    # False if the first line of a CSV might be a record: no numeric column has a textual header
    certain: bool = True


def second_file(join: object) -> Path:
    """The path of a second file, validated.

    Raises `DataError`: not a path.
    """
    if not isinstance(join, str | Path):
        raise DataError("join= is the path of a second file", argument="join")
    return Path(join)


def file_format(path: Path) -> str:
    """Check that a file is readable and matches its extension; return the name of the format.

    Raises `FileFormatError`: it is absent, a directory, empty, not readable, damaged, of an unknown extension or
    of another format.
    """
    head, tail, size = _ends(path)
    inside = FORMATS.get(bare_name(path).suffix.lower())
    expected = PACKED.get(path.suffix.lower(), inside) if inside else None
    actual = next((name for magic, name in _MAGIC if head.startswith(magic)), None)
    if path.suffix.lower() == ".zip":
        raise FileFormatError(f"{path.name}: archives are not read; unpack it first")
    if expected is None:
        supported = f"{', '.join(FORMATS)}, and .csv before {', '.join(PACKED)}"
        says = f"; its content looks like {actual}" if actual else ""
        raise FileFormatError(f"{path.name}: the extension '{path.suffix}' is not one sdckit reads ({supported}){says}")
    if actual == "Feather version 1":
        raise FileFormatError(f"{path.name} is Feather version 1; write it again as Arrow IPC (Feather 2)")
    if expected in PACKED.values() and inside != "CSV":
        raise FileFormatError(f"{path.name}: of compressed files only CSV is read; unpack it first")
    if actual is not None and actual != _NAMES.get(expected, expected):
        what = f"is called {path.suffix} but its content is {actual}"
        raise FileFormatError(f"{path.name} {what}; rename or convert it")
    if actual is None and expected in _ALWAYS_MARKED:
        raise FileFormatError(f"{path.name} is not {expected}: its first bytes are not those of that format")
    end = b"PAR1" if head.startswith(b"PAR1") else b"ARROW1" if head.startswith(b"ARROW") else b""
    # SAS transport stores no number of records, but consists of blocks of 80 bytes.
    if not tail.endswith(end) or (expected == "SAS transport" and size % 80):
        raise FileFormatError(f"{path.name} is a truncated {expected} file: its end is missing; copy it anew")
    return sure(inside)


def _ends(path: Path) -> tuple[bytes, bytes, int]:
    """First and last bytes and size of a file; raises an error that says why it cannot be opened."""
    if path.is_dir():
        name = path.name or path  # the path "", as an empty variable gives it, is the folder that we are in
        raise FileFormatError(
            f"{name} is a directory; name one file, or let an engine read all Parquet or CSV files in it "
            "(--engine duckdb where a command has it; in Python scan_file); for a command without, "
            f'write_file(scan_file("{name}"), "whole.parquet") makes one file of it'
        )
    try:
        with path.open("rb") as file:
            head = file.read(32)
            size = file.seek(0, 2)
            file.seek(max(size - 8, 0))
            tail = file.read()
    except FileNotFoundError:
        raise FileFormatError(f"there is no file {path.name}; check the path") from None
    except PermissionError:
        raise FileFormatError(f"{path.name} may not be read: permission denied") from None
    except OSError as error:
        raise FileFormatError(f"{path.name} cannot be opened: {error.strerror}") from None
    if not head:
        raise FileFormatError(f"{path.name} is empty (0 bytes)")
    return head, tail, size


def refuse_duplicates(path: Path, names: Sequence[str]) -> None:
    """Raise a `ColumnError` that lists repeated column names with their positions."""
    positions: dict[str, list[str]] = {}
    for position, name in enumerate(names, start=1):
        positions.setdefault(name, []).append(str(position))
    repeated = [
        f"'{name}' ({', '.join(at)})" if not is_value(name) else f"({', '.join(at)})"
        for name, at in positions.items()
        if len(at) > 1
    ]
    if repeated:
        raise ColumnError(
            f"{path.name} has repeated column names, here with their positions: {', '.join(repeated)}; rename them"
        )


def may_tell(names: Sequence[str], wanted: Sequence[str], *, certain: bool = True) -> bool:
    """Whether a message may quote column names, or they might be a record of a person.

    >>> may_tell(["sex", "age"], ["aeg"]), may_tell(["f", "34"], ["sex"])
    (True, False)
    >>> may_tell(["f", "north"], ["sex"], certain=False), may_tell(["Sex", "area"], ["sex"], certain=False)
    (False, True)
    """
    if any(map(is_value, names)):
        return False
    folded = {name.strip().casefold() for name in names}
    return certain or any(name.strip().casefold() in folded for name in wanted)


WITHHELD = "the names there are not told, the first line may be a record: check that the file has a header"


def pick_columns(
    path: Path, names: Sequence[str], columns: Sequence[str] | None, *, identifiers: Sequence[str] = (),
    certain: bool = True,
) -> tuple[str, ...]:  # fmt: skip
    """The columns to read, in the requested order and without identifiers; absent ones raise `ColumnError`."""
    wanted = tuple(name for name in dict.fromkeys(names if columns is None else columns) if name not in identifiers)
    if not wanted and (names or columns is not None):
        raise ColumnError(f"no column of {path.name} is asked for; name at least one")
    present = set(names)
    absent = [name for name in wanted if name not in present]
    if absent and may_tell(names, wanted, certain=certain):
        listed = ", ".join(f"'{name}' ({did_you_mean(name, names)})" for name in absent)
        raise ColumnError(f"{path.name} has no column {listed}")
    if absent:
        listed = ", ".join(f"'{name}'" for name in absent)
        raise ColumnError(f"{path.name} has no column {listed}; {WITHHELD}")
    warn_of_absent(identifiers, names)
    return wanted


def warn_of_absent(identifiers: Sequence[str], names: Sequence[str]) -> None:
    """Warn of identifiers that are not columns: a misspelt one protects nothing."""
    absent = [name for name in identifiers if name not in names]
    if not absent:
        return
    listed = []
    for name in absent:
        close = None if any(map(is_value, names)) else nearest(name, names)
        listed.append(f"'{name}'" + (f" (did you mean '{close}'?)" if close else ""))
    warnings.warn(
        f"the file has no identifier {', '.join(listed)}: listing it protects nothing; check the spelling, "
        "or leave it so where the column is already removed",
        SdcWarning,
        stacklevel=2,
    )


DAMAGED = "it is damaged or uses a feature that is not supported"


@contextmanager
def clear_errors(path: Path, what: str, why: Callable[[], str] = lambda: DAMAGED) -> Iterator[None]:
    """Replace errors of a library, which may quote records, by one that names only the file."""
    kinds = (pl.exceptions.PolarsError, OSError, EOFError, OverflowError, RuntimeError, MemoryError)
    try:
        with operating_system.without_panics():
            yield
    except SdcError:
        raise
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # what a library in Rust raises when it gives up is no Exception
        if isinstance(error, Exception) and not isinstance(error, (*kinds, ValueError, TypeError, KeyError)):
            raise
        raise FileFormatError(f"{path.name} cannot be read as {what}: {why()}") from None
