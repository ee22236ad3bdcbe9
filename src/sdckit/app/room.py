"""What a page has of its session: what was decided, tasks to start, texts in its language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shiny import reactive
from shiny.session import get_current_session

from sdckit.app.jobs import Job, Jobs, Shown
from sdckit.app.seats import Seat
from sdckit.app.words import say
from sdckit.app.work import Work

Told = Mapping[str, Any] | None


class Room:
    """One per Shiny session; every page's server gets it.

    Attributes
    ----------
    work
        What was decided. Set it with `change`.
    facts, scenario
        The same of it: who asks for these is not asked again when another decision is made.
    shown
        The running task, its progress, the last error: the frame shows them.
    verdict
        HTML of the bar on top, from ``result["verdict"]`` of any task.
    page
        The page to go to; the frame's navigation follows.
    limit
        The most bytes of an upload.
    """

    def __init__(self, seat: Seat, *, limit: int) -> None:
        self.seat = seat
        self.limit = limit
        self.work: reactive.Value[Work] = reactive.Value(seat.work)
        self.facts: reactive.Value[Told] = reactive.Value(seat.work.facts)
        self.scenario: reactive.Value[Told] = reactive.Value(seat.work.scenario)
        self.verdict: reactive.Value[str] = reactive.Value(seat.verdict)
        self.page: reactive.Value[str] = reactive.Value("")
        if seat.jobs is None:
            seat.jobs = Jobs(seat)
        self._jobs: Jobs = seat.jobs
        self.shown: reactive.Value[Shown] = reactive.Value(self._jobs.shown)
        self._jobs.show = self.shown.set
        self._jobs.warm()
        seat.changed = self._changed

    def _changed(self) -> None:
        self.work.set(self.seat.work)
        self.facts.set(self.seat.work.facts)
        self.scenario.set(self.seat.work.scenario)
        self.verdict.set(self.seat.verdict)

    def here(self) -> bool:
        """Whether no other page has taken the seat meanwhile."""
        return self.seat.changed == self._changed

    @property
    def folder(self) -> Path:
        """The session's folder: what is written there goes with the session."""
        return self.seat.folder

    @property
    def can_undo(self) -> bool:
        """Whether there is a decision to take back; reactive."""
        self.work.get()
        return bool(self.seat.history.before)

    @property
    def can_redo(self) -> bool:
        """Whether something was taken back; reactive."""
        self.work.get()
        return bool(self.seat.history.after)

    def change(self, **fields: Any) -> None:
        """Change fields of the work."""
        self.seat.change(**fields)

    def undo(self) -> None:
        """Take back the last decision."""
        self.seat.undo()

    def redo(self) -> None:
        """Do again what was taken back."""
        self.seat.redo()

    def start(
        self, task: str, then: Callable[[dict[str, Any]], object], *, label: str, **arguments: Any
    ) -> None:
        """Carry out a task in the worker; this returns at once.

        Parameters
        ----------
        task
            "FILE.FUNCTION" of `sdckit.workflow.sessions`.
        then
            Gets the result, in the session's context.
        label
            What is being done, in the session's language.
        **arguments
            Plain values.
        """
        self._jobs.start(Job(task, arguments, label, then, get_current_session()))

    def cancel(self) -> None:
        """End the running task."""
        self._jobs.cancel()

    def alert(self, text: str) -> None:
        """Show a text in the red box."""
        with reactive.isolate():
            shown = self.shown.get()
        self.shown.set(Shown(shown.label, shown.progress, text))

    def say(self, text: str, **words: Any) -> str:
        """A text in the session's language; its places are filled with `words`."""
        return say(text, self.seat.work.language, **words)

    def go(self, page: str) -> None:
        """Show another page."""
        self.page.set(page)
