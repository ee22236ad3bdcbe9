"""The tasks of a seat, one after another: what runs, how far it is, and what to do with its result."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shiny import reactive
from shiny.session import Session, session_context

from sdckit.app.worker import TaskCancelledError, TaskError
from sdckit.workflow.sessions.answering import INTERNAL, lacking

if TYPE_CHECKING:
    from sdckit.app.seats import Seat


@dataclass(frozen=True)
class Job:
    """A task that somebody asked for."""

    task: str
    arguments: Mapping[str, Any]
    label: str
    then: Callable[[dict[str, Any]], object] = field(repr=False)
    session: Session | None = field(repr=False, default=None)


@dataclass(frozen=True)
class Shown:
    """What the frame shows of it."""

    label: str = ""
    progress: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()


class Jobs:
    """Runs one job at a time; of those that wait, the latest of a task stands for all of it."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._waiting: list[Job] = []
        self._runner: asyncio.Task[None] | None = None
        self.shown = Shown()
        self.show: Callable[[Shown], None] = lambda _: None

    def warm(self) -> None:
        """Start the worker ahead, once the page has had its turn."""
        asyncio.get_running_loop().call_later(self._seat.warm, self._warm_if_idle)

    def _warm_if_idle(self) -> None:
        if self._runner is None or self._runner.done():
            self._runner = asyncio.get_running_loop().create_task(self._warm())

    def start(self, job: Job) -> None:
        """Put a job into the line."""
        self._waiting = [*(one for one in self._waiting if one.task != job.task), job]
        if self._runner is None or self._runner.done():
            self._set(Shown(label=job.label))
            self._runner = asyncio.get_running_loop().create_task(self._run())

    def cancel(self) -> None:
        """End what runs, and forget what waits."""
        self._waiting = []
        self._seat.worker.cancel()

    async def _run(self) -> None:
        error = ""  # stays to be seen while what comes after it runs
        while self._waiting:
            job = self._waiting.pop(0)
            await self._told(Shown(label=job.label, error=error))
            try:
                await self._one(job)
            except TaskCancelledError:
                await self._told(Shown())
                await self._warm()
            except TaskError as refused:
                error = str(refused)
                await self._told(Shown(error=error))
            except Exception as fault:  # noqa: BLE001 - a page's mistake must not stop the line
                error = INTERNAL.format(kind=type(fault).__name__)
                await self._told(Shown(error=error))
        if self.shown.label:
            await self._told(Shown(error=self.shown.error, notes=self.shown.notes))

    async def _one(self, job: Job) -> None:
        work = self._seat.work
        if text := lacking(job.task, job.arguments, work.facts):
            raise TaskError(text)
        loop = asyncio.get_running_loop()
        told: set[asyncio.Task[None]] = set()

        def tell(text: str) -> None:
            one = loop.create_task(self._told(Shown(label=job.label, progress=text)))
            told.add(one)
            one.add_done_callback(told.discard)

        file = {"path": work.path, "reading": dict(work.reading)}
        result = await self._seat.worker.run(job.task, job.arguments, tell, file=file)
        if told:
            await asyncio.wait(told)
        async with reactive.lock():
            with session_context(job.session), reactive.isolate():
                if "verdict" in result:
                    self._seat.verdict = result["verdict"]
                    self._seat.changed()
                job.then(result)
            await reactive.flush()  # what follows from it joins the line before anybody sees it empty
            self._set(
                Shown(self._waiting[0].label if self._waiting else "", notes=tuple(result.get("notes", ())))
            )
            await reactive.flush()

    async def _told(self, shown: Shown) -> None:
        async with reactive.lock():
            self._set(shown)
            await reactive.flush()

    def _set(self, shown: Shown) -> None:
        self.shown = shown
        self.show(shown)

    async def _warm(self) -> None:
        with contextlib.suppress(TaskCancelledError):
            await self._seat.worker.warm()
