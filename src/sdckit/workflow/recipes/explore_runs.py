"""The points of a map that were measured already: one line of JSON each, keyed, with no value of a record."""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdckit.errors import FileFormatError
from sdckit.workflow.recipes.recipe_figures import FIGURES

FORMAT = "sdckit/explore"
PRIVATE = 0o600
# What says how finely a figure may be told; of runs kept by an older version, not at all.
FEW = ("behind", "small")


def key_of(*parts: object) -> str:
    """A name for what a run depends on.

    Examples
    --------
    >>> key_of("recipe", {"k": 3}) == key_of("recipe", {"k": 3}), len(key_of("recipe", {"k": 4}))
    (True, 32)
    """
    text = json.dumps([FORMAT, *parts], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Runs:
    """Figures by key, kept in a file where one is named; every finished run is on disk at once.

    The file of JSON lines is made if it is not there, readable by its owner alone.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known = {} if path is None else _read(path)

    def get(self, key: str) -> dict[str, Any] | None:
        """The figures of a run, if it was finished."""
        return self._known.get(key)

    def add(self, key: str, figures: Mapping[str, Any]) -> None:
        """Keep the figures of a run: one whole line in one write."""
        plain = {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in figures.items()
        }
        with self._lock:
            self._known[key] = dict(figures)
            if self._path is None:
                return
            line = json.dumps({"format": FORMAT, "key": key, "figures": plain}, ensure_ascii=False)
            try:
                handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE)
                try:
                    os.write(handle, f"{line}\n".encode())
                finally:
                    os.close(handle)
            except OSError as error:
                why = os.strerror(error.errno) if error.errno else "unknown reason"
                raise FileFormatError(f"cannot write {self._path.name}: {why}") from None


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise FileFormatError(f"cannot keep runs in {path.name}: it is a folder, or has none that exists")
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeError):
        raise FileFormatError(f"{path.name} cannot be read as runs of explore") from None
    torn = lines.pop() if lines and not lines[-1].endswith("\n") else ""  # the program ended while it wrote
    start = json.dumps({"format": FORMAT})[:-1]
    if torn and not (torn.startswith(start) or start.startswith(torn)):
        raise _foreign(path, len(lines) + 1)
    found = {}
    for number, line in enumerate(lines, 1):
        try:
            one = json.loads(line)
            if one["format"] != FORMAT:
                raise _foreign(path, number)
            found[one["key"]] = _restored(one["figures"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _foreign(path, number) from None
    if torn:
        os.truncate(path, len("".join(lines).encode()))
    return found


def _restored(figures: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: math.nan if figures[name] is None else float(figures[name]) for name in FIGURES}
    few = {name: int(figures[name]) for name in FEW if name in figures}
    return {**found, **few, "note": str(figures["note"])}


def _foreign(path: Path, number: int) -> FileFormatError:
    return FileFormatError(
        f"{path.name}, line {number}: not a run of explore; name another file, or delete this one"
    )
