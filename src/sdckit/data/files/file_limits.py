"""How much a file may hold before it is read: the limits of every format, each refused with one error."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdckit.data.memory import bytes_of_records, free_bytes
from sdckit.errors import FileFormatError

# A file that is larger than the second of a pair is held against the first: so many times its size on the disk.
UNPACKED = (200, 1 << 28)  # bytes that a compressed CSV becomes
PARTS = (100, 1 << 27)  # bytes that the parts of a workbook become
CELLS = (1, 5_000_000)  # cells of a sheet, from its first to its farthest
TEXT = (100, 1 << 28)  # bytes of the texts that the cells of a sheet name
VALUES = (1_000, 50_000_000)  # values of a file that says how many records it has
COLUMNS = 10_000  # columns that are read from one file
SETTINGS = 1 << 23  # bytes of a TOML file
DOCUMENT, PARTS_OF_IT = 1 << 27, 8_000_000  # bytes of a JSON file (a log, a document, a key), and values in it
DIGITS, DEEP = 100, 50  # of a whole number in TOML and JSON; tables and lists of TOML within each other
TOO_LONG = f"a whole number has more than {DIGITS} digits"


def most(limit: tuple[int, int], path: Path) -> int:
    """What a limit allows a file of this size.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     most(CELLS, Path(file.name))
    5000000
    """
    times, anyway = limit
    return max(anyway, times * path.stat().st_size)


def check_columns(path: Path, n: int) -> None:
    """Refuse more columns than are read at once."""
    if n > COLUMNS:
        raise FileFormatError(f"{path.name}: {n:,} columns are asked for, and at most {COLUMNS:,} are read; name fewer")


def check_values(path: Path, records: int | None, columns: int) -> None:
    """Refuse a file that says it has more values than its size can hold, or than fit into memory.

    How many records it has is not told: a promise would be broken by an exact number.
    """
    if records is None:
        return
    if records * columns > most(VALUES, path):
        raise FileFormatError(
            f"{path.name} says that it has far more records than a file of its size holds; it is damaged, or was made "
            "to fill the memory"
        )
    free = free_bytes()
    if free is not None and records * columns > VALUES[1] and bytes_of_records(records, columns) > free:
        raise FileFormatError(
            f"{path.name} has more records than fit into memory; name fewer columns, or open Parquet with "
            "sdckit.scan_file"
        )


def toml_of(text: str) -> dict[str, Any]:
    """Parse TOML; whatever it refuses is a ValueError (TOMLDecodeError where it is the syntax).

    >>> toml_of("k = 3")
    {'k': 3}
    >>> toml_of("k = " + "9" * 5000)
    Traceback (most recent call last):
        ...
    ValueError: a whole number has more than 100 digits
    """
    if len(text) > SETTINGS:
        raise ValueError("it is too large")
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # more digits than Python takes for a number
        raise ValueError(TOO_LONG) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    _check_plain(entries, DEEP)
    return entries


def _check_plain(value: Any, left: int) -> None:
    if isinstance(value, int) and abs(value) >= 10**DIGITS:
        raise ValueError(TOO_LONG)
    if isinstance(value, Mapping | list):
        if not left:
            raise ValueError("it is nested too deeply")
        for part in value.values() if isinstance(value, Mapping) else value:
            _check_plain(part, left - 1)


def json_of(text: str | bytes) -> Any:
    """Parse JSON; whatever it refuses is a ValueError.

    >>> json_of("[" * 100_000)
    Traceback (most recent call last):
        ...
    ValueError: it is nested too deeply
    """
    try:
        return json.loads(text, parse_int=_whole)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def text_in(path: Path) -> str:
    """The text of a file of ours; one that is too large is not read. Raises `OSError` and `ValueError`."""
    with path.open("rb") as file:
        raw = file.read(DOCUMENT + 1)
    if len(raw) > DOCUMENT:
        raise ValueError(f"it is larger than {DOCUMENT >> 20} MB")
    if sum(map(raw.count, (b",", b"[", b"{"))) > PARTS_OF_IT:
        raise ValueError(f"it has more than {PARTS_OF_IT:,} values")
    return raw.decode("utf-8")


def json_in(path: Path) -> Any:
    """Parse a JSON file of ours. Raises `OSError`, and `ValueError` as `json_of` and `text_in` do."""
    return json_of(text_in(path))


def _whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError(TOO_LONG)
    return int(digits)
