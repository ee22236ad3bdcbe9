"""The tasks of a tab, one after another: what runs, what became of it, and what stands where an answer will be."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from shiny import reactive
from shiny.session import Session, session_context
from shiny.ui import TagChild, tags

from sdckit.app.browser_sessions import Seat, TaskAsideError, TaskCancelledError, TaskError
from sdckit.workflow.sessions.answering import BACKGROUND, INTERNAL, OPENING, goes_first, lacking

if TYPE_CHECKING:
    from sdckit.app.page_context import Room

# A task ends in exactly one of three ways: done, failed or cancelled. What comes of it later is dropped.


WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"


@dataclass(frozen=True, eq=False)
class Job:
    """A task that somebody asked for.

    Attributes
    ----------
    place
        Where its answer will stand.
    beside
        Id of the button that asked for it: a refusal stands there.
    fields
        Id of the field that an argument was typed in: a refusal that names the argument stands there.
    partial
        Takes what the task sends before its result.
    dropped
        Is called where it ends without a result.
    """

    task: str
    arguments: Mapping[str, Any]
    label: str
    then: Callable[[dict[str, Any]], object] = field(repr=False)
    session: Session | None = field(repr=False, default=None)
    place: Place | None = None
    beside: str = ""
    fields: Callable[[str], str] = lambda _: ""
    partial: Callable[[dict[str, Any]], object] = lambda _: None
    dropped: Callable[[], object] = lambda: None

    @property
    def kind(self) -> tuple[Any, ...]:
        """Of those that wait, the latest of a kind stands for all of it."""
        return self.task, self.place, self.beside

    def reach(self, state: str, text: str = "") -> None:
        """Tell the place how far it is."""
        if state in (FAILED, CANCELLED):
            self.dropped()
        if self.place is not None:
            self.place.state.set((self, state, text))


@dataclass(frozen=True)
class Failure:
    """What was refused, which task it was, and the elements it should stand beside, the best first."""

    text: str
    task: str = ""
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """What the frame shows of the line."""

    label: str = ""
    progress: str = ""
    failure: Failure | None = None
    notes: tuple[str, ...] = ()
    opening: str = ""  # what opens another file than that of the work, also where it waits

    @property
    def error(self) -> str:
        """The text of the failure."""
        return self.failure.text if self.failure else ""


class Jobs:
    """Runs one job at a time."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._waiting: list[Job] = []
        self._running: Job | None = None
        self._progress = ""
        self._failure: Failure | None = None
        self._notes: dict[str, tuple[str, ...]] = {}
        self._runner: asyncio.Task[None] | None = None
        self.shown = Shown()
        self.show: Callable[[Shown], None] = lambda _: None

    def warm(self) -> None:
        """Start the worker ahead, once the page has had its turn."""
        asyncio.get_running_loop().call_later(self._seat.warm, self._warm_if_idle)

    def _warm_if_idle(self) -> None:
        if self._runner is None:
            self._begin(self._warm())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._runner = asyncio.get_running_loop().create_task(work)
        self._runner.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Go on with what joined the line while the last job or the start of the worker was ending."""
        self._runner = None
        if self._waiting and not task.cancelled():
            self._begin(self._run())

    def start(self, job: Job) -> None:
        """Put a job into the line, before the figures that nobody asked for; those that are reckoned step aside."""
        waiting = [other for other in self._waiting if other.kind != job.kind]
        first = goes_first(job.task) and not any(other.task in OPENING for other in waiting)
        later = [other for other in waiting if first and other.task in BACKGROUND]
        self._waiting = [*(other for other in waiting if other not in later), job, *later]
        if first and self._running is not None and self._running.task in BACKGROUND:
            self._seat.worker.step_aside(job.task, job.arguments)
        job.reach(WAITING)
        self._forget(job.task)
        if self._runner is None:
            self._begin(self._run())
        self._refresh()

    def cancel(self, task: str = "") -> None:
        """End what runs, and take what waits out of the line: their places offer to start them. Or one task alone."""
        ended = [job for job in self._waiting if task in ("", job.task)]
        self._waiting = [job for job in self._waiting if job not in ended]
        for job in ended:
            job.reach(CANCELLED)
        running = self._running
        if not task or (running is not None and running.task == task):
            self._seat.worker.cancel()  # also where it only starts
            if running is not None:
                self._end(running, CANCELLED)
        self._refresh()

    def fail(self, failure: Failure | None) -> None:
        """Show a refusal, or none any more."""
        self._failure = failure
        self._refresh()

    def close_notes(self) -> None:
        """Somebody has read them."""
        self._notes.clear()
        self._refresh()

    async def _run(self) -> None:
        while self._waiting:
            job = self._running = self._waiting.pop(0)
            self._progress = ""
            await self._flushed(lambda: job.reach(RUNNING) if self._running is job else None)  # noqa: B023 - at once
            try:
                result = await self._result(job)
                await self._flushed(lambda: self._take(job, result))  # noqa: B023
            except TaskCancelledError:
                await self._flushed(lambda: self._end(job, CANCELLED))  # noqa: B023
                await self._warm()
            except TaskAsideError:
                await self._flushed(lambda: self._put_back(job))  # noqa: B023
            except TaskError as error:
                refused = str(error), error.argument
                await self._flushed(lambda: self._end(job, FAILED, *refused))  # noqa: B023
            except Exception as error:  # noqa: BLE001 - a page's mistake must not stop the line
                text = INTERNAL.format(kind=type(error).__name__)
                await self._flushed(lambda: self._end(job, FAILED, text))  # noqa: B023

    async def _result(self, job: Job) -> dict[str, Any]:
        work = self._seat.work
        if text := lacking(job.task, job.arguments, work.facts):
            raise TaskError(text)
        loop = asyncio.get_running_loop()
        sent: set[asyncio.Task[None]] = set()

        def passing(act: Callable[[], object]) -> None:
            """Do this while the job runs, in the order of the messages; not afterwards."""
            task = loop.create_task(self._flushed(lambda: act() if self._running is job else None))
            sent.add(task)
            task.add_done_callback(sent.discard)

        def tell(text: str) -> None:
            passing(lambda: setattr(self, "_progress", text))

        def partial(answer: dict[str, Any]) -> None:
            passing(lambda: self._take_part(job, answer))

        if self._running is not job:  # cancelled before it began
            raise TaskCancelledError
        ahead = takewhile(lambda other: other.task not in OPENING, self._waiting)
        if job.task in BACKGROUND and any(goes_first(other.task) for other in ahead):  # came before it began
            raise TaskAsideError
        file = {"path": work.path, "reading": dict(work.reading)}
        try:
            return await self._seat.worker.run(job.task, job.arguments, tell, file=file, partial=partial)
        finally:
            if sent:
                await asyncio.wait(sent)

    def _take(self, job: Job, result: dict[str, Any]) -> None:
        """Hand over a result, unless somebody cancelled while it was on its way."""
        if self._running is not job:
            return
        self._hear_verdict(result)
        self._hand(job, job.then, result)
        if notes := tuple(result.get("notes", ())):
            self._notes[job.task] = notes
        self._end(job, DONE)

    def _take_part(self, job: Job, answer: dict[str, Any]) -> None:
        """Hand over what a task has so far; its place says what it still does."""
        self._hear_verdict(answer)
        self._hand(job, job.partial, answer)
        if "still" in answer:
            job.reach(RUNNING, answer["still"])

    def _hear_verdict(self, answer: Mapping[str, Any]) -> None:
        if "verdict" in answer:
            self._seat.verdict = answer["verdict"]
            self._seat.changed()

    def _hand(self, job: Job, take: Callable[[dict[str, Any]], object], answer: dict[str, Any]) -> None:
        with session_context(job.session), reactive.isolate():
            take(answer)

    def _end(self, job: Job, state: str, text: str = "", argument: str = "") -> None:
        if self._running is not job:
            return  # it has ended
        self._running, self._progress = None, ""
        job.reach(state, text)
        if state == FAILED:
            places = (job.fields(argument) if argument else "", job.beside, job.place.name if job.place else "")
            self._failure = Failure(text, job.task, tuple(filter(None, places)))
        elif state == CANCELLED and job.place is None:
            self._notes[job.task] = (CANCELLED_WORDS.format(c=job.label),)
        self._refresh()

    def _put_back(self, job: Job) -> None:
        """It begins anew after those that it stepped aside for, unless a later one of its kind waits."""
        if self._running is not job:
            return  # somebody cancelled it meanwhile
        self._running, self._progress = None, ""
        if all(other.kind != job.kind for other in self._waiting):
            opening = (at for at, other in enumerate(self._waiting) if other.task in OPENING)
            self._waiting.insert(next(opening, len(self._waiting)), job)  # it is of the file that is open
            job.reach(WAITING)

    def _forget(self, task: str) -> None:
        """What the last task of this kind said is of the past."""
        group = task.partition(".")[0]
        self._notes = {name: notes for name, notes in self._notes.items() if name.partition(".")[0] != group}
        if self._failure is not None and self._failure.task.partition(".")[0] in (group, ""):
            self._failure = None

    def _refresh(self) -> None:
        job = self._running or (self._waiting[0] if self._waiting else None)
        notes = tuple(dict.fromkeys(note for notes in self._notes.values() for note in notes))
        opening = next((job.label for job in (self._running, *self._waiting) if job and self._opens_another(job)), "")
        self.shown = Shown(job.label if job else "", self._progress, self._failure, notes, opening)
        self.show(self.shown)

    def _opens_another(self, job: Job) -> bool:
        """Whether it opens another file than that of the work, or reads it in another way."""
        asked, work = job.arguments, self._seat.work
        return job.task in OPENING and (asked.get("path"), asked.get("reading")) != (work.path, dict(work.reading))

    async def _flushed(self, act: Callable[[], object]) -> None:
        """Do this, and let the pages see it with what follows from it."""
        async with reactive.lock():
            act()
            await reactive.flush()
            self._refresh()  # what follows joined the line before anybody sees it empty
            await reactive.flush()

    async def _warm(self) -> None:
        with contextlib.suppress(TaskCancelledError):
            await self._seat.worker.warm()


CANCELLED_WORDS = "Cancelled: {c}. Nothing was changed."


class Place:
    """Where the answer of a task stands; until it does, or where it will not come, what is said instead.

    Attributes
    ----------
    name
        Id of the output.
    state
        The job that was asked for last, how far it is, and why it failed or what it still does.
    """

    def __init__(self, room: Room, name: str) -> None:
        self._room, self.name = room, name
        self.state: reactive.Value[tuple[Job | None, str, str]] = reactive.Value((None, "", ""))

    def shown(self) -> TagChild:
        """What is being done, or why nothing stands here and a button that starts it (again); reactive."""
        job, state, text = self.state.get()
        say = self._room.say
        if job is None or state == DONE:
            return None
        if state in (WAITING, RUNNING):
            return tags.p(f"{text or job.label} …", class_="empty")
        failed = state == FAILED
        words = say(text) if failed else say("Cancelled: {c}.", c=job.label)
        again = say("Try again") if failed else say("Start")
        button = tags.button(
            again, type="button", class_="btn btn-sm btn-outline-primary", data_again=self.name,
            aria_label=f"{again}: {job.label}",
        )  # fmt: skip
        role, look = ("alert", "bad") if failed else ("status", "quiet")
        return tags.div(tags.p(words, role=role, class_=look), button, class_="empty")

    def again(self) -> None:
        """Ask for the same once more."""
        with reactive.isolate():
            job, state, _ = self.state.get()
        if job is not None and state in (FAILED, CANCELLED):
            self._room.join(job)
