"""The line of tasks of a tab: one after another, each ends once, and no fault stops the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from shiny import reactive

from app.toys import toy_seat
from sdckit.app import tasks as module
from sdckit.app.browser_sessions import TaskAsideError, TaskCancelledError, TaskError
from sdckit.app.tasks import Job, Jobs, Place, Shown


def run(tmp_path: Path, begin: Callable[[Jobs, list[Any]], None], **first: Any) -> tuple[list[Any], list[Shown]]:
    """What the jobs gave, and what was shown of them, until nothing runs."""
    results: list[Any] = []
    shown: list[Shown] = []

    async def whole() -> None:
        seat = toy_seat(tmp_path, **first)
        jobs = Jobs(seat)
        jobs.show = shown.append
        begin(jobs, results)
        runner = jobs._runner
        assert runner is not None
        await runner
        seat.worker.close()
        await asyncio.sleep(0.1)

    asyncio.run(whole())
    return results, shown


def job(task: str, then: Callable[[Any], object], **arguments: Any) -> Job:
    return Job(f"toys.{task}", arguments, f"doing {task}", then)


def test_jobs_run_in_turn_with_label_progress_and_notes(tmp_path: Path) -> None:
    def begin(jobs: Jobs, results: list[Any]) -> None:
        jobs.start(job("echo", results.append, n=1))
        jobs.start(job("warn", results.append))

    results, shown = run(tmp_path, begin, path="/data/a.csv", reading={"missing": ["9"]})
    assert [one.get("given") for one in results] == [{"n": 1}, None]
    assert results[0]["opened"] == [["/data/a.csv", {"missing": ["9"]}]]
    assert Shown("doing echo", "half") in shown
    assert shown[0].label == "doing echo"
    assert shown[-1] == Shown(notes=("a note", "codes were taken for missing"))


def test_what_opens_another_file_is_said_while_it_waits_and_runs(tmp_path: Path) -> None:
    """Not where the file of the work is read once more, and not after it was refused."""

    def begin(jobs: Jobs, results: list[Any]) -> None:
        same = {"path": "/data/a.csv", "reading": {}}
        for label, asked in (("again", same), ("other", {**same, "path": "/data/b.csv"})):
            jobs.start(Job("opening.open_file", asked, label, results.append, beside=label))

    _, shown = run(tmp_path, begin, path="/data/a.csv", reading={})
    assert {one.opening for one in shown if one.label == "again"} == {"", "other"}
    assert {one.opening for one in shown if one.label == "other"} == {"other"}
    assert shown[-1].opening == ""


def test_of_those_that_wait_the_latest_stands_for_its_task(tmp_path: Path) -> None:
    def begin(jobs: Jobs, results: list[Any]) -> None:
        for n in range(4):
            jobs.start(job("echo", results.append, n=n))
        jobs.start(job("warn", results.append))
        jobs.start(job("echo", results.append, n=9))

    results, _ = run(tmp_path, begin)
    assert [one.get("given", {}).get("n") for one in results] == [None, 9]


def test_an_error_stays_to_be_seen_while_the_next_runs(tmp_path: Path) -> None:
    def break_down(_: Any) -> None:
        raise RuntimeError("the value 4711")

    def begin(jobs: Jobs, results: list[Any]) -> None:
        jobs.start(job("refuse", results.append))
        jobs.start(job("warn", break_down))
        jobs.start(job("echo", results.append, n=2))

    results, shown = run(tmp_path, begin)
    assert len(results) == 1
    errors = list(dict.fromkeys(one.error for one in shown))
    assert errors[1].startswith("there is no column 'agee'")
    assert errors[2] == "internal error: RuntimeError; please report it"
    assert shown[-1].label == ""


class AtOnce:
    """A worker whose progress and refusal come in one piece, as they do where the server was busy meanwhile."""

    async def run(self, _: str, __: Any, tell: Callable[[str], None], **___: Any) -> dict[str, Any]:
        tell("half")
        raise TaskError("not a file")

    def __init__(self) -> None:
        self.starting, self.there = asyncio.Event(), asyncio.Event()

    async def warm(self) -> None:
        self.starting.set()
        await self.there.wait()


async def at_rest(jobs: Jobs) -> None:
    while jobs._runner is not None:
        await asyncio.sleep(0.01)


def test_progress_never_comes_after_the_error(tmp_path: Path) -> None:
    """The page said "reading" for ever, and its error was gone."""

    async def whole() -> list[Shown]:
        seat: Any = toy_seat(tmp_path)
        seat.worker, shown = AtOnce(), []
        jobs = Jobs(seat)
        jobs.show = shown.append
        jobs.start(job("refuse", list))
        await at_rest(jobs)
        await asyncio.sleep(0)  # what is told after the end
        return shown

    last = asyncio.run(whole())[-1]
    assert (last.label, last.progress, last.error) == ("", "", "not a file")


def test_a_job_that_comes_while_the_worker_starts_is_done(tmp_path: Path) -> None:
    async def whole() -> list[Shown]:
        seat: Any = toy_seat(tmp_path)
        seat.worker, seat.warm, shown = AtOnce(), 0, []
        jobs = Jobs(seat)
        jobs.show = shown.append
        jobs.warm()
        await seat.worker.starting.wait()
        jobs.start(job("refuse", list))
        seat.worker.there.set()
        await at_rest(jobs)
        return shown

    last = asyncio.run(whole())[-1]
    assert (last.label, last.error) == ("", "not a file")


def test_cancel_ends_what_runs_and_forgets_what_waits(tmp_path: Path) -> None:
    def begin(jobs: Jobs, results: list[Any]) -> None:
        def seen(shown: Shown) -> None:
            if shown.progress:
                jobs.cancel()

        jobs.start(job("begin", results.append))
        jobs.start(job("echo", results.append))
        jobs.show = seen

    results, _ = run(tmp_path, begin)
    assert results == []


def test_what_a_job_brought_is_dropped_where_it_ends_without_a_result(tmp_path: Path) -> None:
    """Refused, cancelled while it runs, cancelled while it waits: a file that was to be checked stayed."""
    dropped: list[str] = []

    def begin(jobs: Jobs, results: list[Any]) -> None:
        def seen(shown: Shown) -> None:
            if shown.progress and results:
                jobs.cancel()

        for name in ("refuse", "echo", "begin", "warn"):
            jobs.start(replace(job(name, results.append), dropped=partial(dropped.append, name)))
        jobs.show = seen

    results, _ = run(tmp_path, begin)
    assert len(results) == 1
    assert sorted(dropped) == ["begin", "refuse", "warn"]


def test_what_does_not_fit_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "lacking", lambda *_: "this may take 9 GB")
    results, shown = run(tmp_path, lambda jobs, found: jobs.start(job("echo", found.append)))
    assert results == []
    assert (shown[-1].label, shown[-1].error) == ("", "this may take 9 GB")


def test_what_comes_before_the_rest_says_what_is_still_done_and_stays_where_the_rest_is_cancelled(
    tmp_path: Path,
) -> None:
    async def whole() -> tuple[list[Any], str, Any]:
        seat: Any = toy_seat(tmp_path)
        seat.worker = Sending({"verdict": "<p>not judged yet</p>", "html": "so far", "still": "the rest comes"})
        jobs, parts = Jobs(seat), []
        place: Any = Place(Recorded(jobs), "risk-first")  # type: ignore[arg-type]
        jobs.start(replace(job("echo", parts.append), place=place, partial=parts.append))
        while not seat.verdict:
            await asyncio.sleep(0.01)
        with reactive.isolate():
            running = str(place.shown())
            jobs.cancel()
            while jobs.shown.label:
                await asyncio.sleep(0.01)
            return parts, running, (place.state.get()[1], seat.verdict)

    parts, running, after = asyncio.run(whole())
    assert [part["html"] for part in parts] == ["so far"]
    assert "the rest comes" in running
    assert after == ("cancelled", "<p>not judged yet</p>")


# A task ends in exactly one of three ways, whatever it does when, and whenever somebody cancels.


class Scripted:
    """A worker that sends what it is told to, and then ends as it is told to."""

    def __init__(self, before: int, after: int, end: str) -> None:
        self.before, self.after, self.end = before, after, end
        self.cancelled = asyncio.Event()
        self.tell: Callable[[str], None] = print

    async def run(self, _: str, __: Any, tell: Callable[[str], None], **more: Any) -> dict[str, Any]:
        self.tell = tell
        for n in range(self.before):
            tell(f"progress {n}")
            more["partial"]({"n": n})
        await asyncio.sleep(0)
        for n in range(self.after):
            tell(f"late {n}")
        if self.end == "hang":
            await self.cancelled.wait()
            raise TaskCancelledError
        if self.end == "refuse":
            raise TaskError("no such column", "k")
        if self.end == "break":
            raise KeyError("4711")
        return {"notes": ["a note"]} if self.end == "note" else {}

    def cancel(self) -> None:
        self.cancelled.set()

    async def warm(self) -> None:
        """There is nothing to start."""


class Sending(Scripted):
    """A worker that sends a part and goes on until it is cancelled."""

    def __init__(self, part: dict[str, Any]) -> None:
        super().__init__(0, 0, "hang")
        self.part = part

    async def run(self, *given: Any, **more: Any) -> dict[str, Any]:
        more["partial"](self.part)
        return await super().run(*given, **more)


class Recorded:
    """A room that has no pages: what becomes of a place in it."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    def say(self, text: str, **words: Any) -> str:
        return text.format(**words) if words else text

    def join(self, job: Job) -> None:
        self.jobs.start(job)


ENDS = {"done": "done", "note": "done", "then": "failed", "refuse": "failed", "break": "failed", "hang": "cancelled"}


@pytest.mark.parametrize("cancel_at", [None, "waiting", "started", "progress", "partial"])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("before", "after"), [(0, 0), (1, 0), (0, 2), (2, 2)])
def test_a_task_ends_once_however_it_fails_and_whenever_it_is_cancelled(
    tmp_path: Path, end: str, cancel_at: str | None, before: int, after: int
) -> None:
    cancelled_at: list[str] = []

    async def whole() -> tuple[list[str], Jobs, Any, list[Any], list[Any]]:
        seat: Any = toy_seat(tmp_path)
        seat.worker = Scripted(before, after, end)
        jobs, states, results, parts = Jobs(seat), [], [], []
        place: Any = Place(Recorded(jobs), "risk-first")  # type: ignore[arg-type]

        def cancel(moment: str) -> None:
            if cancel_at == moment and not cancelled_at:
                cancelled_at.append(moment)
                jobs.cancel()

        def seen(_: Shown) -> None:
            with reactive.isolate():
                state = place.state.get()[1]
            if state and states[-1:] != [state]:
                states.append(state)
                cancel("started" if state == "running" else "")
            if jobs.shown.progress:
                cancel("progress")

        def then(answer: Any) -> None:
            results.append(answer)
            if end == "then":
                raise RuntimeError("the value 4711")

        def partial(part: Any) -> None:
            parts.append(part)
            cancel("partial")

        jobs.show = seen
        jobs.start(Job("toys.any", {}, "looking", then, None, place, "risk-go", lambda name: f"limit_{name}", partial))
        cancel("waiting")
        if end == "hang" and not cancelled_at:
            for _ in range(20):
                await asyncio.sleep(0)
            jobs.cancel()
        await at_rest(jobs)
        late = jobs.shown
        seat.worker.tell("what comes of it later")
        for _ in range(5):
            await asyncio.sleep(0)
        assert jobs.shown == late
        return states, jobs, place, results, parts

    states, jobs, place, results, parts = asyncio.run(whole())
    ended = [state for state in states if state in ("done", "failed", "cancelled")]
    expected = "cancelled" if cancelled_at else ENDS[end]
    assert ended == [expected]
    assert len(results) == (expected == "done" or (end == "then" and not cancelled_at))
    assert len(parts) <= before
    assert (jobs.shown.label, jobs.shown.progress) == ("", "")
    assert bool(jobs.shown.error) == (expected == "failed")
    with reactive.isolate():
        html = str(place.shown())
    assert ("Try again" in html, "Start" in html) == (expected == "failed", expected == "cancelled")
    if end == "refuse" and expected == "failed":
        assert jobs.shown.failure is not None
        assert jobs.shown.failure.beside == ("limit_k", "risk-go", "risk-first")


def test_what_waits_behind_a_cancelled_task_offers_to_start(tmp_path: Path) -> None:
    async def whole() -> None:
        seat: Any = toy_seat(tmp_path)
        seat.worker = Scripted(0, 0, "hang")
        jobs, results = Jobs(seat), []
        place = Place(Recorded(jobs), "risk-first")  # type: ignore[arg-type]
        jobs.start(job("first", results.append))
        jobs.start(Job("toys.second", {}, "second", results.append, None, place))
        await asyncio.sleep(0)
        jobs.cancel()
        await at_rest(jobs)
        with reactive.isolate():
            assert "Cancelled: second." in str(place.shown())
        assert jobs.shown.notes == ("Cancelled: doing first. Nothing was changed.",)
        seat.worker = Scripted(0, 0, "done")
        place.again()
        place.again()  # a second click, before anything was drawn
        await at_rest(jobs)
        assert results == [{}]

    asyncio.run(whole())


def test_a_refusal_outlives_what_others_tell_until_the_same_is_asked_again(tmp_path: Path) -> None:
    """It was gone with the first progress of the task behind it."""

    def begin(jobs: Jobs, results: list[Any]) -> None:
        jobs.start(Job("roles.check", {}, "checking", results.append))
        jobs.start(job("echo", results.append, n=2))

    _, shown = run(tmp_path, begin)
    assert shown[-1].error.startswith("internal error")
    with_progress = [one for one in shown if one.progress == "half"]
    assert with_progress
    assert all(one.error for one in with_progress)


def test_what_is_cancelled_as_it_is_about_to_begin_stays_cancelled(tmp_path: Path) -> None:
    """The press holds the lock that the start waits for: the page said "Guessing the roles …" for ever."""

    async def whole() -> str:
        seat: Any = toy_seat(tmp_path)
        seat.worker, jobs = Scripted(0, 0, "done"), Jobs(seat)
        place = Place(Recorded(jobs), "roles-variables")  # type: ignore[arg-type]
        async with reactive.lock():
            jobs.start(replace(job("echo", list), place=place))
            while jobs._running is None:
                await asyncio.sleep(0)
            jobs.cancel()
        await at_rest(jobs)
        with reactive.isolate():
            return place.state.get()[1]

    assert asyncio.run(whole()) == "cancelled"


# What somebody asks for goes before the figures that nobody pressed a button for.


class Aside(Scripted):
    """A worker whose first task runs until it is asked to step aside; it says which tasks it was given."""

    def __init__(self, *, hears: bool = True) -> None:
        super().__init__(0, 0, "done")
        self.hears, self.asked, self.given = hears, asyncio.Event(), list[str]()

    async def run(self, task: str, *given: Any, **more: Any) -> dict[str, Any]:
        self.given.append(task)
        if len(self.given) == 1:
            await asyncio.wait_for(self.asked.wait(), 5)
            if self.hears:
                raise TaskAsideError
        return {"task": task}

    def step_aside(self, task: str = "", arguments: Any = None) -> None:
        """The task that comes is told with what it asks for."""
        assert task in ("", PROPOSE)
        assert arguments in (None, {})
        self.asked.set()


def in_turn(tmp_path: Path, first: str, *later: str, hears: bool = True) -> tuple[list[str], list[Any]]:
    """The tasks that the worker was given, where some come while the first runs, and what came of all."""

    async def whole() -> tuple[list[str], list[Any]]:
        seat: Any = toy_seat(tmp_path)
        seat.worker, results = Aside(hears=hears), []
        jobs = Jobs(seat)
        jobs.start(Job(first, {}, first, results.append))
        while not seat.worker.given:
            await asyncio.sleep(0)
        for task in later:
            jobs.start(Job(task, {}, task, results.append))
        if not seat.worker.asked.is_set():
            seat.worker.hears = False
            seat.worker.asked.set()
        await at_rest(jobs)
        return seat.worker.given, [result["task"] for result in results]

    return asyncio.run(whole())


FIGURES, PROPOSE, OPEN = "risk.risk", "protecting.propose", "opening.open_file"


def test_what_is_asked_for_goes_before_figures_which_begin_anew(tmp_path: Path) -> None:
    assert in_turn(tmp_path, FIGURES, PROPOSE) == ([FIGURES, PROPOSE, FIGURES], [PROPOSE, FIGURES])
    # what waits steps aside as well, and one that ends meanwhile does not begin anew
    given, results = in_turn(tmp_path, "protecting.run", FIGURES, PROPOSE)
    assert given == ["protecting.run", PROPOSE, FIGURES, "protecting.run"]
    assert results == given[1:]
    assert in_turn(tmp_path, FIGURES, PROPOSE, hears=False) == ([FIGURES, PROPOSE], [FIGURES, PROPOSE])


def test_what_needs_the_figures_or_opens_another_file_waits_for_its_turn(tmp_path: Path) -> None:
    for task in ("risk.helps", OPEN):
        assert in_turn(tmp_path, FIGURES, task)[0] == [FIGURES, task]
    assert in_turn(tmp_path, FIGURES, OPEN, PROPOSE)[0] == [FIGURES, OPEN, PROPOSE]


def test_figures_begin_anew_before_another_file_is_opened_and_not_where_later_ones_wait(tmp_path: Path) -> None:
    assert in_turn(tmp_path, FIGURES, PROPOSE, OPEN)[0] == [FIGURES, PROPOSE, FIGURES, OPEN]
    assert in_turn(tmp_path, FIGURES, PROPOSE, FIGURES)[0] == [FIGURES, PROPOSE, FIGURES]


def test_figures_that_were_cancelled_as_they_stepped_aside_stay_cancelled(tmp_path: Path) -> None:
    """The press holds the lock that they wait for to be put back."""

    async def whole() -> list[str]:
        seat: Any = toy_seat(tmp_path)
        seat.worker, jobs = Aside(), Jobs(seat)
        jobs.start(Job(FIGURES, {}, FIGURES, list))
        while not seat.worker.given:
            await asyncio.sleep(0)
        async with reactive.lock():
            seat.worker.step_aside()
            for _ in range(10):  # the worker's word arrives
                await asyncio.sleep(0)
            jobs.cancel()
        await at_rest(jobs)
        return seat.worker.given

    assert asyncio.run(whole()) == [FIGURES]


def test_figures_that_are_about_to_begin_let_pass_what_is_asked_for(tmp_path: Path) -> None:
    """A worker that has no task yet cannot be asked to step aside."""

    async def whole() -> list[str]:
        seat: Any = toy_seat(tmp_path)
        seat.worker, jobs = Aside(hears=False), Jobs(seat)
        async with reactive.lock():
            jobs.start(Job(FIGURES, {}, FIGURES, list))
            while jobs._running is None:
                await asyncio.sleep(0)
            jobs.start(Job(PROPOSE, {}, PROPOSE, list))
        await at_rest(jobs)
        return seat.worker.given

    assert asyncio.run(whole()) == [PROPOSE, FIGURES]
