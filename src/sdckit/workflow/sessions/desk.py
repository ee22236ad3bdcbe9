"""What the worker process of a session holds: the opened file, and results that were computed before."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sdckit.errors import DataError, ScenarioError, SdcWarning

if TYPE_CHECKING:
    import polars as pl

    from sdckit.data.files.readers import FileSample
    from sdckit.data.scenarios.scenario import Scenario


MOST_KEPT = 64  # results that are kept, so that going back is instant
READING = ("missing", "delimiter", "encoding", "decimal", "user_missing", "join", "join_key")

Tell = Callable[[str], None]  # is told how far a task is
One = TypeVar("One")


class Desk:
    """The file of a session and what is known of it; it lives in the worker process only.

    Parameters
    ----------
    folder
        The session's own folder: relative paths, such as those of hierarchies, start there.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.memo: dict[str, Any] = {}
        self.reading: dict[str, Any] = {}
        self.warnings: tuple[str, ...] = ()
        self._opened: tuple[str, str] | None = None
        self._sample: FileSample | None = None

    def open(self, path: str, reading: Mapping[str, Any] | None = None) -> None:
        """Read a file with these options of `read_file`; nothing is done where it is open already.

        A file that cannot be read leaves the one before it open.
        """
        how = _given(reading or {})
        opened = (str(path), json.dumps([how, *map(_state, (path, how.get("join")))], sort_keys=True))
        if opened == self._opened:
            return
        from sdckit.data.files.readers import describe_file

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SdcWarning)
            sample = describe_file(path, whole=True, **how)
        told = [str(one.message) for one in caught if issubclass(one.category, SdcWarning)]
        codes = set(sample.notes.messages(Path(path).name))  # these are told column by column
        self.warnings = tuple(dict.fromkeys(one for one in told if one not in codes))
        self._sample, self._opened, self.reading = sample, opened, how
        self.memo.clear()

    @property
    def sample(self) -> FileSample:
        """The opened file: all of its records, what it says of itself, its labels, its codes for missing."""
        if self._sample is None:
            raise DataError("no file is open; open one on the first page")
        return self._sample

    @property
    def path(self) -> Path:
        """Where the opened file lies."""
        _ = self.sample
        assert self._opened is not None
        return Path(self._opened[0])

    @property
    def data(self) -> pl.DataFrame:
        """All columns of the opened file, as they were read."""
        return self.sample.frame

    def original(self, scenario: Scenario) -> pl.DataFrame:
        """The opened file without the identifiers of a scenario, as `read_file` would give it."""
        return self.data.drop([name for name in scenario.identifiers if name in self.data.columns])

    def scenario(self, arguments: Mapping[str, Any]) -> Scenario:
        """Make a scenario from plain arguments, and hold it against the columns of the opened file.

        Raises
        ------
        ScenarioError, ColumnError
            As `Scenario` and its `check_columns` say it: with the nearest name.
        """
        from sdckit.data.scenarios.scenario import Scenario

        given = {"missing_codes": self.reading.get("missing", ()), **arguments}
        if not given.get("keys") and not given.get("intruders"):
            raise ScenarioError("say what an intruder could know: no variable is a key yet")
        made = Scenario(**given)
        made._folder = self.folder
        made.check_columns(self.data.columns)
        return made

    def confirmed(self, arguments: Mapping[str, Any]) -> Scenario:
        """The scenario, where somebody has looked at what was guessed.

        Raises
        ------
        ScenarioError
            A guess is open; and what `scenario` raises.
        """
        made = self.scenario(arguments)
        if made.unconfirmed:
            names = ", ".join(map(repr, made.unconfirmed))
            raise ScenarioError(
                f"nobody has said yet that what was guessed of {names} is right: look at it on the page Roles, and "
                "tick that you did"
            )
        return made

    def remember(self, name: str, arguments: Any, make: Callable[[], One]) -> One:
        """Give what `make` gives, computed once for a name and its plain arguments while the file is open."""
        key = f"{name} {json.dumps(arguments, sort_keys=True)}"
        if key not in self.memo:
            while len(self.memo) >= MOST_KEPT:
                del self.memo[next(iter(self.memo))]
            self.memo[key] = make()
        found: One = self.memo[key]
        return found


def _state(path: str | None) -> list[int]:
    """What changes when a file is written anew."""
    try:
        told = Path(path or "").stat()
    except OSError:
        return []  # reading it says what is wrong
    return [told.st_mtime_ns, told.st_size]


def _given(reading: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say anything; one that does not exist is refused."""
    if unknown := [name for name in reading if name not in READING]:
        raise DataError(f"{unknown[0]!r} is no option of how a file is read; there are {', '.join(READING)}")
    given = {name: reading[name] for name in READING if reading.get(name) not in (None, "", False)}
    if not list(given.get("missing", ())):
        given.pop("missing", None)
    return given
