"""Reading and writing scenario files (TOML) as plain dicts; `scenario.py` interprets them."""

import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from sdckit.data.files.file_limits import SETTINGS, toml_of
from sdckit.errors import FileFormatError, ScenarioError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_string(text: str) -> str:
    r"""Write text as a TOML basic string.

    JSON's escapes are a subset of TOML's; only DEL is legal in JSON and not in TOML.

    >>> print(toml_string('a "b"\n\x7f'))
    "a \"b\"\n\u007f"
    """
    return "".join(map(_escaped, json.dumps(text, ensure_ascii=False)))


def _escaped(letter: str) -> str:
    """Escape non-printable characters; Unicode spaces are kept."""
    if letter.isprintable() or unicodedata.category(letter) == "Zs":
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"


def toml_key(name: str) -> str:
    """Write a key: bare where TOML allows it, else quoted.

    >>> toml_key("income.net"), toml_key("age")
    ('"income.net"', 'age')
    """
    return name if _BARE.fullmatch(name) else toml_string(name)


def toml_value(value: Any) -> str:
    """Write a boolean, a number, a text, a date, a list of them or an inline table.

    >>> toml_value(["sex", 2, 0.5, True]), toml_value({"points": 2})
    ('["sex", 2, 0.5, true]', '{points = 2}')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(toml_entry(name, entry) for name, entry in value.items()) + "}"
    return "[" + ", ".join(toml_value(item) for item in value) + "]"


def toml_entry(name: str, value: Any) -> str:
    """Write one line ``name = value``."""
    return f"{toml_key(name)} = {toml_value(value)}"


def write_toml(entries: Mapping[str, Any], tables: Sequence[tuple[Sequence[str], Mapping[str, Any]]]) -> str:
    """Write top-level entries, then tables ``(path, entries)``.

    >>> print(write_toml({"weight": "w"}, [(["thresholds"], {"k": 3})]), end="")
    weight = "w"
    <BLANKLINE>
    [thresholds]
    k = 3
    """
    blocks = [[toml_entry(name, value) for name, value in entries.items()]] if entries else []
    for path, content in tables:
        head = "[" + ".".join(toml_key(part) for part in path) + "]"
        blocks.append([head, *(toml_entry(name, value) for name, value in content.items())])
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def read_toml(path: Path, *, what: str = "scenario file") -> dict[str, Any]:
    """Read a TOML file into a dict; `what` names it in messages.

    Raises `FileFormatError`: the file is absent, is a directory, or may not be read; `ScenarioError`: it is
    not UTF-8 or not TOML; the message gives the line.
    """
    if path.is_dir():
        raise FileFormatError(f"{path.name or path} is a directory; name the {what} in it")
    try:
        with path.open("rb") as file:
            raw = file.read(SETTINGS + 1)
    except (FileNotFoundError, ValueError):  # no name of a file has a NUL character
        raise FileFormatError(f"there is no {what} {path.name}; check the path") from None
    except OSError as error:
        raise FileFormatError(f"the {what} {path.name} cannot be read: {error.strerror}") from None
    try:
        return toml_of(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ScenarioError(f"{path.name}, line {line}: not UTF-8 text; save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path.name} is not valid TOML: {_located(str(error), raw)}") from None
    except ValueError as error:
        raise ScenarioError(f"{path.name} is no {what}: {error}") from None


def _located(message: str, raw: bytes) -> str:
    """Add the line of a syntax error where tomllib only says 'at end of document'."""
    if "(at line" in message:
        return message
    last = raw.rstrip(b"\r\n").count(b"\n") + 1
    return message.replace("(at end of document)", f"(at line {last}, the end of the document)")


# Entries of a scenario file with absolute paths.


LEDGER = ("folder", "key")


def placed_entries(path: str | Path) -> dict[str, Any]:
    """Read the entries of a scenario file, with paths relative to it made absolute.

    The entries are not validated here but by `Scenario`.

    Raises
    ------
    FileFormatError
        The file is absent or cannot be read.
    ScenarioError
        It is not TOML.
    """
    file = Path(path).resolve()
    return with_files(read_toml(file), lambda named: str(file.parent / named))


def with_files(entries: Mapping[str, Any], place: Callable[[str], str]) -> dict[str, Any]:
    """Entries of a scenario, not validated yet, with every file that they name put elsewhere; columns stay.

    >>> with_files({"children": {"file": "a.csv", "key": "v:id", "released": "b.csv"}}, str.upper)
    {'children': {'file': 'A.CSV', 'key': 'v:id', 'released': ['B.CSV']}}
    """

    def placed(value: Any) -> Any:
        return place(value) if isinstance(value, str) else value

    def within(given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
        return {name: placed(entry) if name in names else entry for name, entry in given.items()}

    made = within(entries, ("release_types",))
    if isinstance(given := made.get("hierarchies"), Mapping):
        made["hierarchies"] = within(given, given)
    if isinstance(given := made.get("ledger"), Mapping):
        made["ledger"] = within(given, LEDGER)
        if isinstance(files := given.get("files"), Mapping):
            made["ledger"]["files"] = within(files, files)
    if isinstance(given := made.get("children"), Mapping):
        made["children"] = within(given, ("file",))
        if isinstance(files := given.get("released"), str | list | tuple):
            made["children"]["released"] = [placed(file) for file in ([files] if isinstance(files, str) else files)]
    if isinstance(given := made.get("tables"), list | tuple):
        made["tables"] = [within(row, ("file",)) if isinstance(row, Mapping) else row for row in given]
    return made


# At the head of what is written with the figures of a file in its comments.
INSIDE = "The comments tell of the records of the file: what goes out is a copy without them."
