"""Fixtures and policies of the whole suite: hypothesis profiles, and no skip that nobody sees."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

import offline
from needs import needs_chromium, needs_java, needs_page_viewer, needs_reference, require_all

# Kernels compile on first use, so the time of a single example says nothing.
settings.register_profile("dev", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci",
    max_examples=25,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Compiled tests and sources are kept whatever the shell says: tests start the program hundreds of times, and compiling
# both anew takes half of what it takes to collect the tests, and a third of what a program takes to start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Linear algebra on one thread, here and in the programs and processes that tests start: where others keep the cores
# busy, threads of OpenBLAS wait for each other by turning, up to .1 s of processor time for a matrix of 60 columns.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

offline.watch()


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine() -> Generator[None]:
    """Fail a test in which a socket leads out of this machine or a name is looked up, though the error was caught."""
    before = len(offline.WENT_OUT)
    yield
    assert not offline.WENT_OUT[before:], f"this wanted to leave the machine: {offline.WENT_OUT[before:]}"


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of reference cases."""
    return needs_reference()


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The browser's program."""
    return needs_chromium()


@pytest.fixture(scope="session")
def page_viewer() -> Path:
    """The program that shows pages in the least processor time."""
    return needs_page_viewer()


@pytest.fixture(scope="session")
def java() -> int:
    """The major version of Java."""
    return needs_java()


@pytest.fixture
def nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels with little to do run as they do before any was compiled."""
    for name in ("_is_compiled", "_is_loaded"):
        monkeypatch.setattr(f"sdckit.numerics.compiling.{name}", lambda kernel: False)
    for name in ("_spent", "_uses"):
        monkeypatch.setattr(f"sdckit.numerics.compiling.{name}", Counter())
    monkeypatch.setattr("sdckit.numerics.threads.jobs.ended", False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Collect no garbage while tests are collected: next to none of it is any."""
    gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Look for examples only in files of tests that hold one: the search goes through every test of a file."""
    collectors = yield
    if not collectors or ">>>" in file_path.read_text(encoding="utf-8"):
        return collectors
    return [collector for collector in collectors if type(collector).__name__ != "DoctestModule"]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave the thousands of collected tests out of every garbage collection but Python's last, and collect seldom."""
    gc.freeze()
    atexit.register(gc.unfreeze)
    gc.enable()
    gc.set_threshold(5_000, 10, 10)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One process more than there are cores, but where the shell says how many."""
    from sdckit.operating_system import n_processors
    from sharing import count_processes

    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else count_processes(n_processors())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run what shares a Spark, or what a file makes for all its tests, in one process."""
    from sharing import make_scheduler

    return make_scheduler(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Send what nobody prints (that a test begins, that its fixtures came and went) to no other process."""
    option = item.config.option
    if not hasattr(item.config, "workerinput") or option.durations is not None or option.xmlpath:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything is required."""
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole file that skips itself."""
    report = yield
    _forbid_skip(report)
    return report


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and require_all() and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but SDCKIT_REQUIRE_ALL is set: {_reason(report)}"


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return said.removeprefix("Skipped: ").removeprefix("missing: ")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Close the run with the number of skipped tests and what each lacked."""
    skipped: Iterable[pytest.TestReport] = terminalreporter.stats.get("skipped", ())
    reasons = Counter(_reason(report) for report in skipped)
    lacked = "; ".join(f"{number} for want of {reason}" for reason, number in reasons.most_common())
    terminalreporter.write_line(f"skipped tests: {reasons.total()}" + (f" ({lacked})" if lacked else ""))
