"""Carry out requests of a session in the worker process: results, errors and warnings as plain values."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, TypeVar

from sdckit.data.files.whole_files import number_of, reason_of
from sdckit.data.memory import AT_REST, bytes_of_file, bytes_of_records, free_bytes
from sdckit.errors import DataError, ScenarioError, SdcError, SdcWarning, sure
from sdckit.operating_system import no_collecting
from sdckit.workflow.sessions.refusals import message

if TYPE_CHECKING:
    import polars as pl

    from sdckit.data.files.readers import FileSample
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe import Applied

# State of the worker process of a session: the open file, and cached results.


MOST_KEPT = 64  # results that are kept, so that going back is instant
ALIKE = ("delimiter", "encoding", "decimal")  # of files of one origin
WRITTEN = (*ALIKE, "sheet", "header_row", "join_key")  # of one value each
READING = ("missing", *WRITTEN, "user_missing", "join")

Tell = Callable[[str], None]  # is told how far a task is
One = TypeVar("One")


class Desk:
    """The open file of a session and its cached results; it lives in the worker process only.

    Parameters
    ----------
    folder
        The session's own folder: relative paths, such as those of hierarchies, start there.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.memo: dict[str, Any] = {}
        self.kinds: dict[str, dict[Any, Any]] = {}  # what a room keeps of a kind, as many as it says
        self.ahead: dict[str, Any] | None = None  # a request to carry out while nobody asks for anything
        self.drawn: Applied | None = None  # under a promise; drawing again would spend again
        self.reading: dict[str, Any] = {}
        self.warnings: tuple[str, ...] = ()
        self.opened: tuple[str, str] | None = None  # its path; how it was read, and when it was written
        self._sample: FileSample | None = None

    def open(self, path: str, reading: Mapping[str, Any] | None = None) -> None:
        """Read a file with these options of `read_file`; nothing is done where it is open already.

        A file that cannot be read leaves the one before it open.
        """
        how = _given(reading or {})
        opened = (str(path), json.dumps([how, *map(_state, (path, how.get("join")))], sort_keys=True))
        if opened == self.opened:
            return
        from sdckit.data.files.readers import describe_file

        with warnings.catch_warnings(record=True, action="always", category=SdcWarning) as caught:
            sample = describe_file(path, whole=True, **how)
        caught_messages = [str(warning.message) for warning in caught if issubclass(warning.category, SdcWarning)]
        codes = set(sample.notes.messages(Path(path).name))  # these are told column by column
        self.warnings = tuple(dict.fromkeys(message for message in caught_messages if message not in codes))
        self._sample, self.opened, self.reading, self.drawn, self.ahead = sample, opened, how, None, None
        self.forget()

    @property
    def is_open(self) -> bool:
        """Whether a file is open."""
        return self._sample is not None

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
        return Path(sure(self.opened)[0])

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

    def forget(self) -> None:
        """Keep nothing of what was worked out before."""
        self.memo.clear()
        self.kinds.clear()

    def kept(self, name: str, arguments: Any) -> Any:
        """What `remember` keeps of a name and its plain arguments; None for nothing."""
        return self.memo.get(_key(name, arguments))

    def remember(self, name: str, arguments: Any, make: Callable[[], One]) -> One:
        """Give what `make` gives, computed once for a name and its plain arguments while the file is open."""
        return keep_last(self.memo, _key(name, arguments), make, MOST_KEPT)


def keep_last(held: dict[str, Any], name: str, make: Callable[[], One], most: int) -> One:
    """What is held under a name, made where nothing is: of more than so many the oldest goes.

    >>> held = {"a": 1, "b": 2}
    >>> keep_last(held, "c", lambda: 3, 2), held
    (3, {'b': 2, 'c': 3})
    """
    if name not in held:
        made = make()
        while len(held) >= most:
            del held[next(iter(held))]
        held[name] = made
    last: One = held[name]
    return last


def _key(name: str, arguments: Any) -> str:
    return f"{name} {json.dumps(arguments, sort_keys=True)}"


def _state(path: str | None) -> list[int]:
    """Modification time and size of a file; empty where it is absent."""
    try:
        stat = Path(path or "").stat()
    except OSError:
        return []  # reading it says what is wrong
    return [stat.st_mtime_ns, stat.st_size]


def _given(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Reading options without empty ones; an unknown option is an error."""
    if unknown := [name for name in reading if name not in READING]:
        raise DataError(f"{unknown[0]!r} is no option of how a file is read; there are {', '.join(READING)}")
    given = {name: reading[name] for name in READING if reading.get(name) not in (None, "", False)}
    if not list(given.get("missing", ())):
        given.pop("missing", None)
    return given


# Memory check before a task starts, so that the process is not killed for lack of it.


GIGA = 2**30
ONE_FILE, TWO_FILES = 1, 2  # how many copies a task holds beside the original
OF_TASKS = {"exploring": TWO_FILES, "protecting": TWO_FILES, "releasing": TWO_FILES, "taking_away": TWO_FILES}


def needed_bytes(task: str, arguments: Mapping[str, Any], facts: Mapping[str, Any] | None) -> int:
    """Estimated memory of a task in bytes: from records and columns of the open file, else from its size on disk."""
    if facts and "records" in facts:
        copies = OF_TASKS.get(task.partition(".")[0], ONE_FILE)
        columns = facts["columns"]
        width = columns if isinstance(columns, int) else len(columns)
        return AT_REST + copies * bytes_of_records(int(facts["records"]), width)
    path = Path(str(arguments.get("path") or ""))
    return AT_REST + bytes_of_file(path) if path.is_file() else 0


def lacking(task: str, arguments: Mapping[str, Any], facts: Mapping[str, Any] | None) -> str:
    """Message where a task would not fit into memory; empty where it does, or is unknown."""
    free = free_bytes()
    needed = needed_bytes(task, arguments, facts)
    if free is None or needed <= free:
        return ""
    return (
        f"this may take {needed / GIGA:.1f} GB of memory and {free / GIGA:.1f} GB are free; "
        "close other programs, leave out columns that are not needed, or use the command line on a larger machine"
    )


INTERNAL = "internal error: {kind}; please report it"
OPENING = ("opening.open_file", "opening.open_demo")  # they need no open file
BACKGROUND = ("risk.risk", "protecting.run")  # what nobody presses a button for: it steps aside, and is begun anew
COMPILING = "compiling, the first time only"
FIRST_FIGURES = ("pyarrow.compute", "scipy.sparse", "scipy.optimize", "altair")  # what loads them takes a second

Send = Callable[[dict[str, Any]], None]
Waiting = Callable[[], Mapping[str, Any] | None]  # the request that something else is to be done for


class StepAsideError(BaseException):
    """A background task ends where it next tells how far it is: what somebody asks for goes first."""


def goes_first(task: str) -> bool:
    """Whether a task goes before those of the background: not what needs the same figures, or opens another file.

    >>> goes_first("protecting.propose"), goes_first("risk.helps"), goes_first("opening.open_file")
    (True, False, False)
    """
    return task not in (*BACKGROUND, *OPENING) and not task.startswith("risk.")


@no_collecting()
def preload() -> None:
    """Import the modules that tasks need ahead of the first request."""
    from sdckit.workflow import sessions

    for module in iter_modules(sessions.__path__):
        import_module(f"{sessions.__name__}.{module.name}")


def load_ahead() -> Iterator[str]:
    """Load what the first figures need, a piece at each step: they come sooner where somebody reads a page before.

    >>> [*load_ahead()][-1]
    'pictures'
    """
    for name in FIRST_FIGURES:
        with no_collecting():
            import_module(name)
        yield name
    import_module("sdckit.report.charts").start_drawing()
    yield "pictures"


def answer(desk: Any, request: dict[str, Any], send: Send, aside: Waiting = lambda: None) -> None:
    """Carry out one request and send its result or error, or that it stepped `aside` for another one.

    No exception is raised.
    """
    try:
        with _compiling(send), _warned() as notes:
            result = _carried_out(desk, request, send, aside)
        shown = [message(note, request["arguments"]) for note in notes]
        send({"result": {**result, "notes": [*result.get("notes", ()), *shown]}})
    except StepAsideError:
        send({"aside": True})
    except SdcError as error:
        send({"error": message(str(error), request["arguments"]), "field": error.argument or ""})
    except MemoryError:
        send({"error": "not enough memory; declare fewer columns or run on a larger machine"})
    except OSError as error:
        send({"error": reason_of(error) if number_of(error) else INTERNAL.format(kind=type(error).__name__)})
    except Exception as error:  # noqa: BLE001 - the last resort: messages of libraries may show a value
        send({"error": INTERNAL.format(kind=type(error).__name__)})


def work_ahead(desk: Desk, waiting: Waiting) -> None:
    """Carry out what the desk takes to be asked for next, until something else is `waiting`; nobody hears of it.

    It is left where it would not fit into memory, or fails: whoever asks for it is told why.
    """
    if desk.ahead is None or waiting() is not None:
        return
    ahead, heard = desk.ahead, list[dict[str, Any]]()

    def other() -> Mapping[str, Any] | None:
        request = waiting()
        return None if _begins_with(request, ahead) else request

    needs = {"records": desk.data.height, "columns": desk.data.width}
    if not lacking(ahead["task"], ahead["arguments"], needs):
        answer(desk, {**ahead, "file": {}}, heard.append, other)
    if {"aside": True} not in heard:
        desk.ahead = None


def _begins_with(request: Mapping[str, Any] | None, ahead: Mapping[str, Any]) -> bool:
    """Whether nothing was asked for, or what begins with the work ahead."""
    if request is None:
        return True
    given, same = request["arguments"], {**ahead["arguments"], **ahead["wishes"]}
    return request["task"] == ahead["of"] and all(given.get(name, value) == value for name, value in same.items())


def _carried_out(desk: Any, request: dict[str, Any], send: Send, aside: Waiting) -> dict[str, Any]:
    file, task = request["file"], request["task"]
    if file.get("path") and task not in OPENING:  # a file that is gone keeps nobody from opening another
        desk.open(file["path"], file.get("reading", {}))
    room, _, function = task.partition(".")
    run = getattr(import_module(f"sdckit.workflow.sessions.{room}"), function)
    arguments = request["arguments"]
    return dict(run(desk, _Line(send, arguments, aside), **arguments))


class _Line:
    """What a task tells while it runs: how far it is, and what it has so far."""

    def __init__(self, send: Send, arguments: Mapping[str, Any], aside: Waiting) -> None:
        self._send, self._arguments, self.aside = send, arguments, aside

    def __call__(self, text: str) -> None:
        if self.aside() is not None:
            raise StepAsideError
        self._send({"tell": message(text, self._arguments)})

    def partial(self, so_far: dict[str, Any]) -> None:
        self._send({"partial": so_far})


@contextlib.contextmanager
def _warned() -> Iterator[list[str]]:
    """Collect distinct `SdcWarning` messages of the block; drop those of libraries, which may show values."""
    notes: list[str] = []

    def hear(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, SdcWarning) and str(message) not in notes:
            notes.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SdcWarning)
        warnings.showwarning = hear
        yield notes


@contextlib.contextmanager
def _compiling(send: Send) -> Iterator[None]:
    """Send one message where kernels are being compiled, which takes minutes and happens once per machine."""
    from sdckit.numerics.compiling import heard

    compiled: list[str] = []

    def tell(name: str) -> None:
        if not compiled:
            compiled.append(name)
            send({"tell": COMPILING})

    with heard(tell):
        yield
