"""The seats of the server: one per tab of a browser, with what it decided, its folder and its worker.

A tab keeps the name of its seat; who reloads sits down again. Nobody else knows the name. A seat with work that its tab
left is offered to every new tab, as long as the program runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from sdckit import operating_system
from sdckit.data.files.whole_files import remove_left, replacing, write_whole
from sdckit.data.scenarios.scenario_form import same_roles, without_lost_files
from sdckit.errors import FileFormatError

# What a session decided: plain values that the server may hold, since no record is among them; undo and
# redo.


DECIDED = ("scenario", "steps")  # what undo takes back
DEEPEST = 200  # decisions kept
ROLES_CHANGED, STEPS_CHANGED = "change roles", "change the steps"


@dataclass(frozen=True)
class Step:
    """A step of protection; one that is off stands in the list and is not carried out."""

    method: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    on: bool = True


@dataclass(frozen=True)
class Work:
    """A session's decisions.

    `facts` is what opening the file told, `release` what protecting told; both are aggregates and paths. `versions`
    are earlier scenarios and steps: undo and another file leave them alone. `secret`
    draws every run of a recipe alike, and another recipe otherwise; it is written nowhere. `project` is the path of a
    project file that waits for its file of records.
    """

    path: str = ""
    name: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] | None = None
    scenario: Mapping[str, Any] | None = None
    steps: tuple[Step, ...] = ()
    versions: tuple[Mapping[str, Any], ...] = ()
    secret: str = field(default="", repr=False)
    release: Mapping[str, Any] | None = None
    control: str = ""
    project: str = ""
    exact: bool = False
    language: str = "en"

    def recipe(self) -> list[dict[str, Any]]:
        """The steps that are on, as tasks take them."""
        return [{"method": step.method, "arguments": dict(step.arguments)} for step in self.steps if step.on]

    def digest(self) -> str:
        """One text for file, scenario and recipe: what is made from them holds while it stays the same.

        >>> Work(name="a").digest() == Work(name="a", language="de").digest() != Work(name="b").digest()
        True
        """
        parts = [self.path, self.name, dict(self.reading), self.scenario, self.recipe()]
        return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()

    def saved(self) -> dict[str, Any]:
        """What may be kept on disk between two starts: scenario and recipe, no data and no secret."""
        return {
            "name": self.name, "scenario": self.scenario, "steps": [asdict(step) for step in self.steps],
            "versions": [dict(version) for version in self.versions],
        }  # fmt: skip

    def taken_up(self, saved: Mapping[str, Any]) -> Work:
        """The same with the scenario and the recipe that were saved.

        >>> work = Work(name="a.csv", scenario={"keys": ["sex"]}, steps=(Step("round_values", {"base": 10}),))
        >>> Work().taken_up(work.saved()).steps == work.steps
        True
        """
        name = self.name or str(saved.get("name", ""))
        versions = (*self.versions, *map(checked_version, saved.get("versions", ())))
        return replace(self, name=name, scenario=saved["scenario"], steps=made_steps(saved["steps"]), versions=versions)


@dataclass
class History:
    """Decisions before and after the present ones, each with what was done then.

    >>> history, first = History(), Work(steps=(Step("round_values"),))
    >>> second = replace(first, steps=())
    >>> history.keep(first, "remove a step")
    >>> history.undone(), history.undo(second).steps == first.steps, history.redo(first).steps == second.steps
    ('remove a step', True, True)
    """

    before: list[dict[str, Any]] = field(default_factory=list)
    after: list[dict[str, Any]] = field(default_factory=list)

    def keep(self, work: Work, did: str = STEPS_CHANGED) -> None:
        """Remember decisions that are about to change by what is `did`; what was undone cannot be done again."""
        self.before = [*self.before, {**_decided(work), "did": did}][-DEEPEST:]
        self.after = []

    def undone(self, *, redo: bool = False) -> str:
        """What undo takes back, or redo does again; empty where nothing is."""
        source = self.after if redo else self.before
        return str(source[-1]["did"]) if source else ""

    def crosses(self, work: Work, *, redo: bool = False) -> bool:
        """Whether undo, or redo, gives other roles than those of the work."""
        source = self.after if redo else self.before
        return bool(source) and not same_roles(source[-1]["scenario"], work.scenario)

    def undo(self, work: Work) -> Work:
        """The decisions before the last change; the same where there was none."""
        return self._step(self.before, self.after, work)

    def redo(self, work: Work) -> Work:
        """The decisions that were undone last; the same where none were."""
        return self._step(self.after, self.before, work)

    def clear(self) -> None:
        """Forget all, as another file asks for."""
        self.before, self.after = [], []

    @staticmethod
    def _step(source: list[dict[str, Any]], target: list[dict[str, Any]], work: Work) -> Work:
        if not source:
            return work
        last = source.pop()
        target.append({**_decided(work), "did": last["did"]})
        return replace(work, **{name: last[name] for name in DECIDED})


def _decided(work: Work) -> dict[str, Any]:
    return {name: getattr(work, name) for name in DECIDED}


# Earlier scenarios and steps, which neither undo nor another file takes away: plain values, as they are saved.


AUTOMATIC = 30  # versions kept by themselves; those of a name stay


def made_steps(plain: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    """Steps of plain values, as a task or a file gives them."""
    return tuple(Step(step["method"], dict(step["arguments"]), bool(step.get("on", True))) for step in plain)


def checked_version(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A version as it was saved; whatever else it holds is left out."""
    steps = [asdict(step) for step in made_steps(plain["steps"])]
    scenario = None if plain["scenario"] is None else dict(plain["scenario"])
    texts = {name: str(plain.get(name, "")) for name in ("name", "why", "time")}
    return {**texts, "scenario": scenario, "steps": steps}


def with_version(work: Work, *, name: str = "", why: str = "") -> Work:
    """The work with its scenario and steps among the versions; what stands there already is not kept twice.

    >>> work = with_version(Work(steps=(Step("round_values"),)), why="before another file")
    >>> [version["why"] for version in with_version(work, why="before a proposal").versions]
    ['before another file']
    """
    plain = work.saved()
    version = {"name": name, "why": why, "time": time.strftime("%Y-%m-%d %H:%M")}
    version |= {entry: plain[entry] for entry in ("scenario", "steps")}
    same = [old for old in work.versions if all(old[entry] == version[entry] for entry in ("scenario", "steps"))]
    if not name and (same or not work.steps):
        return work
    kept = [old for old in work.versions if not (name and old["name"] == name)]
    automatic = [old for old in kept if not old["name"]]
    kept = [old for old in kept if old not in automatic[: max(0, len(automatic) - AUTOMATIC + 1)]]
    return replace(work, versions=(*kept, version))


# Scenario and recipe of the last sessions, kept for the next start; never data, and no secret of the
# draws.


SAVED_NAME = "last-work.json"
DECISIONS = (*DECIDED, "versions")  # without any of these there is nothing to save


class Autosave:
    """One file that only its owner may read: what was decided last.

    Parameters
    ----------
    folder
        The user's folder of the app.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / SAVED_NAME

    @property
    def found(self) -> dict[str, Any] | None:
        """What is saved now; None for nothing, or for a file that is not ours."""
        try:
            saved = json.loads(self._path.read_text(encoding="utf-8"))
            Work().taken_up(without_lost_files(saved, self._path.parent)[0])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return dict(saved) if any(map(saved.get, DECISIONS)) else None

    def keep(self, work: Work) -> None:
        """Write scenario and recipe; an empty session leaves what is there."""
        saved = work.saved()
        if any(map(saved.get, DECISIONS)):
            with (
                contextlib.suppress(FileFormatError),  # a full disk must not end the work
                replacing(self._path, what="the saved work", private=True) as part,
            ):
                part.write_text(json.dumps({**saved, "day": time.strftime("%Y-%m-%d")}, default=str), encoding="utf-8")

    def forget(self) -> None:
        """Remove what was kept."""
        self._path.unlink(missing_ok=True)


# Where a session's files lie: one folder each that only its owner may enter, gone at the end.
# A server's folders stand below one that it holds a lock on. A server that was killed holds none any more:
# the next one to start removes what it left.


PRIVATE = 0o700
LOCK = "lock"
SERVER = "server-"
SHORT = 0.01  # seconds
DOOR = "door.json"  # in a server's folder: its port, and the secret for which it gives a fresh address


def state_folder() -> Path:
    """The folder of the user in which the app keeps its own; ``SDCKIT_APP_STATE`` wins."""
    if named := os.environ.get("SDCKIT_APP_STATE"):
        return Path(named)
    return operating_system.state_base() / "sdckit" / "app"


class Folders:
    """The folders of one server.

    Parameters
    ----------
    state
        The user's folder, `state_folder()`; made where it is not there.
    """

    def __init__(self, state: Path) -> None:
        self.state = state
        state.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        state.chmod(PRIVATE)
        remove_left(state)
        remove_stale(state)
        self.own = Path(tempfile.mkdtemp(prefix=SERVER, dir=state))
        while (lock := _locked(self.own / LOCK)) is None:  # another start looks at it
            time.sleep(SHORT)
        self._lock = lock
        self.uploads = self.own / "uploads"
        self.uploads.mkdir(mode=PRIVATE)

    def open_door(self, port: int, secret: str) -> None:
        """Write down, for this user alone, how the next start comes to this server."""
        with contextlib.suppress(FileFormatError):  # a full disk
            write_whole(json.dumps({"port": port, "secret": secret}), self.own / DOOR, private=True)

    def make(self) -> Path:
        """A new folder for a session; `mkdtemp` lets nobody else in."""
        return Path(tempfile.mkdtemp(prefix="session-", dir=self.own))

    def remove(self, folder: Path) -> None:
        """Remove a session's folder with all in it."""
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Remove everything of this server."""
        self._lock.close()
        shutil.rmtree(self.own, ignore_errors=True)


def remove_stale(state: Path) -> None:
    """Remove what servers left that no longer run."""
    for folder in state.glob(f"{SERVER}*"):
        with contextlib.suppress(OSError):
            if (lock := _locked(folder / LOCK)) is not None:
                lock.close()
                shutil.rmtree(folder, ignore_errors=True)


def doors(state: Path) -> list[tuple[int, str]]:
    """Port and secret of each server of this user that runs: it holds its lock, and nobody else could write there."""
    running = []
    for folder in state.glob(f"{SERVER}*"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            if not (_own(state.stat(), stat.S_ISDIR) and _own(folder.lstat(), stat.S_ISDIR)):
                continue
            if (lock := _locked(folder / LOCK)) is not None:  # it has ended
                lock.close()
                continue
            handle = os.open(folder / DOOR, os.O_RDONLY | operating_system.NO_LINK)
            with os.fdopen(handle, encoding="utf-8") as file:
                if _own(os.fstat(handle), stat.S_ISREG):
                    door = json.load(file)
                    running.append((int(door["port"]), str(door["secret"])))
    return running


def _own(state: os.stat_result, kind: Callable[[int], bool]) -> bool:
    """Whether it is of that kind and this user's, who alone may enter or read it."""
    return kind(state.st_mode) and operating_system.is_own(state) and operating_system.is_private(state)


def _locked(path: Path) -> IO[bytes] | None:
    """The file with a lock on it that ends with this process; None where another holds it."""
    file = path.open("ab")
    if operating_system.take_lock(file.fileno()):
        return file
    file.close()
    return None


# The parent's side of the one process in which a session's data are worked on.
# It speaks JSON lines over two pipes: requests in; progress, a result or an error out. Whoever cancels
# kills the process with all its children; the next task starts a new one. On Linux it is forked of a template,
# a process that has loaded what workers need: it begins at once, and shares its memory with the others.


# With a folder behind it this is a worker, without one the template.
PROGRAM: Sequence[str] = (sys.executable, "-m", "sdckit.app.worker_process")
LONGEST_LINE = 256 * 2**20  # of one answer; the drawings of a page are some hundred kilobytes
ENDED = "the process that works on the data ended by itself; it may have run out of memory"


class TaskError(Exception):
    """What a task refused, in a text that may be shown, and the argument that was wrong, if any."""

    def __init__(self, text: str, argument: str = "") -> None:
        super().__init__(text)
        self.argument = argument


class TaskCancelledError(Exception):
    """Somebody cancelled the task."""


class TaskAsideError(Exception):
    """The task stopped for another, and is to be begun anew."""


class ForkedWorker:
    """What `asyncio.subprocess.Process` is for a program, for a worker at the other end of a line."""

    def __init__(self, stdout: asyncio.StreamReader, stdin: asyncio.StreamWriter) -> None:
        self.stdout, self.stdin = stdout, stdin
        self.pid = 0  # until it says it

    async def begin(self) -> bool:
        """Wait until it is there; False where it will not be: the template has ended, or `end` was called."""
        with contextlib.suppress(OSError):
            self.pid = int(await self.stdout.readline() or 0)
        return self.pid > 0

    @property
    def returncode(self) -> int | None:
        """None while it runs: its children do not hold the line."""
        return 0 if self.stdout.at_eof() else None

    def end(self) -> None:
        """End it with its children; one that is not there yet ends as it finds its line closed."""
        if self.pid and self.returncode is None:
            operating_system.end_tree(self.pid)
        self.stdin.transport.abort()


class Template:
    """The process of which workers are forked, which is started here; it holds no data and no session."""

    def __init__(self) -> None:
        self._control, end = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with end:
            nothing = subprocess.DEVNULL
            self.process = subprocess.Popen(
                PROGRAM, stdin=end.fileno(), stdout=nothing, stderr=nothing, start_new_session=True
            )

    async def ask(self, folder: Path, limit: int) -> ForkedWorker:
        """A worker for a folder, which has yet to begin: where the template has ended, nobody is at its end."""
        line, end = socket.socketpair()
        with end, contextlib.suppress(OSError):
            socket.send_fds(self._control, [os.fsencode(folder)], [end.fileno()])
        return ForkedWorker(*await asyncio.open_connection(sock=line, limit=limit))

    def close(self) -> None:
        """End the process, and with it the workers that still run."""
        self._control.close()
        self.process.kill()
        self.process.wait()


def start_template() -> Template | None:
    """A template, where the system has them; None where a worker is always a program."""
    return Template() if operating_system.can_fork() else None


class Worker:
    """One process, one task at a time.

    Parameters
    ----------
    folder
        The session's folder, which the process may read and write.
    program
        What is started, with the folder as its last argument.
    template
        Of which the process is forked instead, where it can be.
    """

    def __init__(self, folder: Path, *, program: Sequence[str] = PROGRAM, template: Template | None = None) -> None:
        self.folder = folder
        self._program, self._template = program, template
        self._process: asyncio.subprocess.Process | ForkedWorker | None = None
        self._lock = asyncio.Lock()
        self._closed = False
        self._cancels = 0
        self._aside = False

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        alive = self._process is not None and self._process.returncode is None
        return self._process.pid or None if alive and self._process else None

    async def warm(self) -> None:
        """Start the process ahead, so that the first task finds everything loaded."""
        async with self._lock:
            await self._started()

    async def run(
        self, task: str, arguments: Mapping[str, Any], tell: Callable[[str], None], *, file: Mapping[str, Any],
        partial: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> dict[str, Any]:  # fmt: skip
        """Carry out a task and give its result.

        Parameters
        ----------
        task
            "FILE.FUNCTION" of `sdckit.workflow.sessions`.
        arguments
            Plain values.
        tell
            Is called with every text of progress.
        file
            The path of the open file and how it is read: a new process opens it first.
        partial
            Is called with what the task sends before its result.

        Raises
        ------
        TaskError
            The task refused, or the process ended by itself; the message may be shown.
        TaskCancelledError
            `cancel` or `close` was called.
        TaskAsideError
            `step_aside` was called, and the task heard it before its end.
        """
        self._aside = False
        async with self._lock:
            before = self._cancels
            process = await self._started()
            if self._cancels != before:  # while it started
                self._kill()
                raise TaskCancelledError
            if self._aside:  # while it started
                raise TaskAsideError
            request = {"task": task, "arguments": dict(arguments), "file": dict(file)}
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")  # type: ignore[union-attr]
                await process.stdin.drain()  # type: ignore[union-attr]
                return await self._answer(process, tell, partial)
            except (OSError, EOFError):
                cancelled = self._process is not process
                self._kill()
                raise TaskCancelledError if cancelled else TaskError(ENDED) from None

    async def _answer(
        self, process: asyncio.subprocess.Process | ForkedWorker, tell: Callable[[str], None],
        partial: Callable[[dict[str, Any]], None],
    ) -> dict[str, Any]:  # fmt: skip
        while (line := await process.stdout.readline()).endswith(b"\n"):  # type: ignore[union-attr]
            message = json.loads(line)
            if "tell" in message:
                tell(message["tell"])
            elif "partial" in message:
                partial(message["partial"])
            elif "aside" in message:
                raise TaskAsideError
            elif "error" in message:
                raise TaskError(message["error"], str(message.get("field") or ""))
            else:
                return dict(message["result"])
        raise EOFError

    async def _started(self) -> asyncio.subprocess.Process | ForkedWorker:
        if self._closed:
            raise TaskCancelledError
        if self._process is None or self._process.returncode is not None:
            self._process = await self._forked() or await asyncio.create_subprocess_exec(
                *self._program, str(self.folder),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                limit=LONGEST_LINE, start_new_session=operating_system.is_posix(),
                env={**os.environ, **dict.fromkeys(operating_system.TEMPORARY, str(self.folder))},
            )  # fmt: skip
        if self._closed:  # while it started
            self._kill()
            raise TaskCancelledError
        return self._process

    async def _forked(self) -> ForkedWorker | None:
        """The process where the template forks it; it has loaded everything then."""
        if self._template is None:
            return None
        self._kill()  # its line, where it has ended by itself
        self._process = forked = await self._template.ask(self.folder, LONGEST_LINE)
        if await forked.begin():
            return forked
        if self._process is None:  # ended while it started
            raise TaskCancelledError
        forked.end()
        return None

    def cancel(self) -> None:
        """End the process and its children now; whoever waits for the task gets `TaskCancelledError`."""
        self._cancels += 1
        self._kill()

    def step_aside(self, task: str = "", arguments: Mapping[str, Any] | None = None) -> None:
        """Ask the task that runs to stop where it next says how far it is, or before it begins."""
        self._aside = True
        if self.pid is not None and self._process is not None:
            coming = {"task": task, "arguments": dict(arguments or {})}
            self._process.stdin.write(json.dumps({"aside": coming}).encode() + b"\n")  # type: ignore[union-attr]

    def rest(self) -> bool:
        """End the process where it does nothing; the next task starts another. Whether it did nothing."""
        if not self._lock.locked():
            self._kill()
        return not self._lock.locked()

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._kill()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if isinstance(process, ForkedWorker):
            process.end()
        elif process is not None and process.returncode is None:
            operating_system.end_tree(process.pid)


WARM = 1.0  # seconds that a page takes to be there; then its worker is started ahead
GRACE = 600.0  # seconds after which a seat that nobody came back to goes, or rests where it has work
NAME = re.compile(r"[0-9a-f]{32}")


@dataclass
class Seat:
    """What one tab has: it outlives a reload of the page."""

    name: str
    folder: Path
    worker: Worker
    autosave: Autosave
    work: Work
    history: History = field(default_factory=History)
    verdict: str = ""
    taken: bool = True
    changed: Callable[[], object] = lambda: None  # tells whoever sits there
    warm: float = WARM
    jobs: Any = None  # set by the first room
    first: Work = field(default_factory=Work)  # what it began with
    left: float = 0.0  # when nobody sat there any more, by the clock

    def has_work(self) -> bool:
        """Whether something would be lost with it: another file than it began with, or a decision."""
        return self.work.path != self.first.path or self.work.saved() != self.first.saved()

    def change(self, *, did: str = "", why: str = "", **fields: Any) -> None:
        """Change what was decided; what undo takes back is remembered, and saved.

        `did` names it at undo. What is before it becomes a version where `why` says before what, where roles are
        changed and where another file is opened. The same roles once more are no change.
        """
        before = self.work
        if same_roles(fields.get("scenario", 0), before.scenario):
            fields["scenario"] = before.scenario
        changed = replace(before, **fields)
        other_file, other_roles = before.path != changed.path, before.scenario != changed.scenario
        if other_file:
            why = "before another file was opened"
        elif other_roles and before.scenario:
            why = why or "before roles were changed"
        if why:
            kept = with_version(replace(before, versions=changed.versions), why=why)
            changed = replace(changed, versions=kept.versions)
        self.work = changed
        if before.path and other_file:
            self.history.clear()
        elif _decided(before) != _decided(changed):
            self.history.keep(before, did or (ROLES_CHANGED if other_roles else STEPS_CHANGED))
        self._show(before)

    def amend(self, **fields: Any) -> None:
        """Change fields without a step for undo."""
        before, self.work = self.work, replace(self.work, **fields)
        self._show(before)

    def keep_version(self, *, name: str = "", why: str = "") -> None:
        """Keep scenario and steps under a name, or because of what comes next."""
        before, self.work = self.work, with_version(self.work, name=name, why=why)
        self._show(before)

    def undo(self) -> None:
        """Take back the last decision."""
        before, self.work = self.work, self.history.undo(self.work)
        self._show(before)

    def redo(self) -> None:
        """Do again what was taken back."""
        before, self.work = self.work, self.history.redo(self.work)
        self._show(before)

    def is_in(self, saved: Mapping[str, Any]) -> bool:
        """Whether it is the work of this seat that was saved."""
        own = json.loads(json.dumps(self.work.saved(), default=str))
        return all(saved.get(name) == value for name, value in own.items())

    def _show(self, before: Work) -> None:
        if before.saved() != self.work.saved():
            self.autosave.keep(self.work)
        self.changed()


class Seats:
    """All seats of a server.

    Parameters
    ----------
    folders
        Where their folders are made.
    autosave
        What keeps scenario and recipe.
    first
        What every new seat starts with.
    warm
        Seconds after which a worker is started ahead.
    template
        Of which workers are forked, where there is one; it is closed with the seats.
    """

    def __init__(
        self, folders: Folders, autosave: Autosave, first: Work, *, warm: float = WARM, template: Template | None = None
    ) -> None:
        self._warm, self._template = warm, template
        self._folders, self._autosave, self._first = folders, autosave, first
        self._seats: dict[str, Seat] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}
        self._expected: Work | None = None

    def take(self, name: str, *, reloaded: bool) -> Seat:
        """The seat of that name, or a new one.

        A copy of a tab knows the name, too: while the first sits there, only who just left the page is let in.
        """
        seat = self._seats.get(name) if NAME.fullmatch(name) else None
        if seat is None or (seat.taken and not reloaded):
            return self._new()
        if leaving := self._leaving.pop(name, None):
            leaving.cancel()
        seat.taken = True
        return seat

    def leave(self, seat: Seat, *, grace: float = GRACE) -> None:
        """Nobody sits there: work stays as long as the program, its worker goes after the grace, else all of it."""
        seat.taken, seat.changed, seat.left = False, lambda: None, time.time()
        self._later(seat, grace)

    def _later(self, seat: Seat, grace: float) -> None:
        self._leaving[seat.name] = asyncio.get_running_loop().call_later(grace, self._rest, seat, grace)

    def _rest(self, seat: Seat, grace: float) -> None:
        if not seat.has_work():
            self.end(seat)
        elif not seat.worker.rest():
            self._later(seat, grace)

    def waiting(self) -> list[Seat]:
        """The seats with work that nobody sits on, the last one first."""
        seats = [seat for seat in self._seats.values() if not seat.taken and seat.has_work()]
        return sorted(seats, key=lambda seat: -seat.left)

    def hand_over(self, seat: Seat) -> str:
        """A new name for a seat that waits: who knows the old one is let in no more."""
        if leaving := self._leaving.pop(seat.name, None):
            leaving.cancel()
        del self._seats[seat.name]
        seat.name = secrets.token_hex(16)
        self._seats[seat.name] = seat
        self._later(seat, GRACE)
        return seat.name

    def expect(self, work: Work) -> None:
        """What the next new seat starts with, as a later start of the program asked for it."""
        self._expected = work

    def end(self, seat: Seat) -> None:
        """Remove a seat with its worker and its folder."""
        self._leaving.pop(seat.name, None)
        self._seats.pop(seat.name, None)
        seat.worker.close()
        self._folders.remove(seat.folder)

    def close(self) -> None:
        """Remove all, as the server stops."""
        for seat in list(self._seats.values()):
            self.end(seat)
        if self._template:
            self._template.close()

    def in_use(self) -> bool:
        """Whether somebody sits here, or work waits for somebody."""
        return any(seat.taken or seat.has_work() for seat in self._seats.values())

    def __len__(self) -> int:
        return len(self._seats)

    def _new(self) -> Seat:
        name = secrets.token_hex(16)
        folder = self._folders.make()
        first, self._expected = self._expected or self._first, None
        work = replace(first, secret=secrets.token_hex(32))
        worker = Worker(folder, template=self._template)
        self._seats[name] = seat = Seat(name, folder, worker, self._autosave, work, warm=self._warm, first=work)
        return seat
