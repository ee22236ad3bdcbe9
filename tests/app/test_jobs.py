"""The line of tasks of a seat: one after another, the latest of a task for all of it, and no fault stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.toys import toy_seat
from sdckit.app import jobs as module
from sdckit.app.jobs import Job, Jobs, Shown


def run(
    tmp_path: Path, begin: Callable[[Jobs, list[Any]], None], **first: Any
) -> tuple[list[Any], list[Shown]]:
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


def test_what_does_not_fit_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "lacking", lambda *_: "this may take 9 GB")
    results, shown = run(tmp_path, lambda jobs, found: jobs.start(job("echo", found.append)))
    assert results == []
    assert shown[-1] == Shown(error="this may take 9 GB")
