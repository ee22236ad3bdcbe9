"""Tests that share what takes long to make run in one process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sharing import ROOT, count_processes, make_scheduler, share_of


def ids_in(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The id of each test of a file, and the names of its arguments."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = path.relative_to(ROOT).as_posix()
    for outer in tree.body:
        inside = outer.body if isinstance(outer, ast.ClassDef) else [outer]
        within = f"{name}::{outer.name}" if isinstance(outer, ast.ClassDef) else name
        for one in inside:
            if isinstance(one, ast.FunctionDef) and one.name.startswith("test"):
                yield f"{within}::{one.name}", {argument.arg for argument in one.args.args}


def test_there_is_one_spark() -> None:
    asking = [
        (nodeid, share_of(nodeid))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "spark" in path.read_text(encoding="utf-8")
        for nodeid, arguments in ids_in(path)
        if "spark" in arguments
    ]
    assert len(asking) > 10
    assert {share for _, share in asking} == {"spark"}, asking


def test_what_is_shared() -> None:
    assert share_of("tests/report/test_browser.py::test_a[one]") == "tests/report/test_browser.py"
    assert share_of("tests/report/test_real_documents.py::test_a[one]") == "real documents"
    assert share_of("tests/repo/test_kernels.py::test_a") == "sources read"
    alone = "tests/repo/test_sharing.py::test_what_is_shared"
    assert share_of(alone) == alone
    assert share_of("src/sdckit/gone.py::sdckit.gone") == "src/sdckit/gone.py::sdckit.gone"


class Process:
    """What the scheduler sees of a process: the numbers of the tests it is given, in their order."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.given += numbers

    def shutdown(self) -> None:
        self.shutting_down = True


def handed_out(tests: list[str]) -> tuple[Any, list[Process]]:
    """A scheduler of two processes, and both when they have begun."""
    option = SimpleNamespace(loadscopereorder=True)
    scheduler = make_scheduler(SimpleNamespace(getvalue=lambda _: ["2*popen"], option=option), None)
    processes = [Process("first"), Process("second")]
    for process in processes:
        scheduler.add_node(process)
    for process in processes:
        scheduler.add_node_collection(process, tests)
    scheduler.schedule()
    return scheduler, processes


SPARK = [f"tests/x.py::test_spark[{number}]" for number in range(3)]
FILES = [f"tests/{name}.py::test[{number}]" for name in "abc" for number in range(4)]


def run_all(scheduler: Any, processes: list[Process], turns: str) -> dict[str, list[str]]:
    """Let processes finish one test each time it is their turn; what each has run."""
    ran: dict[str, list[str]] = {process.gateway.id: [] for process in processes}
    for at in turns:
        process = processes[int(at)]
        done = ran[process.gateway.id]
        if len(done) < len(process.given):
            number = process.given[len(done)]
            done.append(scheduler.collection[number])
            scheduler.mark_test_complete(process, number)
    return ran


def test_each_test_is_run_once_and_a_file_in_one_process() -> None:
    walk = "tests/app/test_browser_by_hand.py::test_by_mouse_and_in_german"
    scheduler, processes = handed_out([*FILES, walk, *SPARK])
    ran = run_all(scheduler, processes, "01" * 20)
    assert sorted(ran["first"] + ran["second"]) == sorted([*FILES, walk, *SPARK])
    assert scheduler.tests_finished
    assert not scheduler.has_pending
    assert ran["first"][0] == walk  # long, and so not the last
    assert ran["second"][:3] == SPARK
    files = [{test.partition("::")[0] for test in ran[name]} for name in ("first", "second")]
    assert len(files[0] & files[1]) <= 1  # the last one is divided


def test_one_process_waits_for_browsers_while_others_work_and_none_is_idle() -> None:
    walks = [
        f"tests/{path}.py::test_walk[{number}]"
        for path in ("app/test_browser_map", "app/test_browser_by_hand", "report/test_offline")
        for number in range(2)
    ]
    scheduler, processes = handed_out([*FILES, *walks])
    ran = run_all(scheduler, processes, "01" * 4)
    assert ran["first"] == walks[:4]
    assert not {*ran["second"]} & {*walks}
    scheduler, processes = handed_out([*FILES[:2], *walks])
    ran = run_all(scheduler, processes, "1" * 20 + "01" * 10)
    assert len({*ran["second"]} & {*walks}) > 1  # where nothing else is left
    assert sorted(ran["first"] + ran["second"]) == sorted([*FILES[:2], *walks])
    assert count_processes(2) == 3


def test_a_slow_file_is_left_to_one_process_and_the_last_divided() -> None:
    scheduler, processes = handed_out(FILES)
    ran = run_all(scheduler, processes, "1" * 12 + "01" * 12)
    assert sorted(ran["first"] + ran["second"]) == sorted(FILES)
    assert ran["second"][:6] == FILES[4:10]
    assert {test.partition("::")[0] for test in ran["first"]} >= {"tests/a.py"}


def test_what_a_lost_process_had_is_run_by_the_other() -> None:
    scheduler, processes = handed_out(FILES)
    run_all(scheduler, processes[:1], "0")
    lost = processes.pop(0)
    assert scheduler.remove_node(lost) == FILES[1]
    ran = run_all(scheduler, processes, "0" * 30)
    assert set(FILES) - {FILES[0]} <= set(ran["second"])
