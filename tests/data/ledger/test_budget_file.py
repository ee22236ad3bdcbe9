"""A budget: reserved before, spent where noise was drawn, one process at a time, refused beyond its total."""

from __future__ import annotations

import multiprocessing
import re
import stat
from pathlib import Path

import pytest

from sdckit.data.ledger.budget_file import BudgetFile, create_budget, open_budget
from sdckit.errors import DataError, FileFormatError


def budget(folder: Path, rho: float = 1.0) -> BudgetFile:
    return create_budget(folder / "budget.toml", dataset="survey", epsilon=3, delta=1e-6, rho=rho)


def test_a_run_reserves_and_ends(tmp_path: Path) -> None:
    file = budget(tmp_path)
    with file.reserved(0.25) as run:
        assert open_budget(file.file).runs == {"1": (0.25, "reserved")}
        run.drawn = True
    after = open_budget(file.file)
    assert after.runs == {"1": (0.25, "done")}
    assert after.spent == 0.25
    assert stat.S_IMODE(file.file.stat().st_mode) == 0o600


def fail(file: BudgetFile, *, drawn: bool) -> None:
    with file.reserved(0.5) as run:
        run.drawn = drawn
        run.number = str(1 // 0)


def test_what_fails_before_noise_is_given_back_and_after_it_is_spent(tmp_path: Path) -> None:
    file = budget(tmp_path)
    for drawn in (False, True):
        with pytest.raises(ZeroDivisionError):
            fail(file, drawn=drawn)
    assert open_budget(file.file).runs == {"1": (0.5, "withdrawn"), "2": (0.5, "reserved")}
    assert open_budget(file.file).spent == 0.5


def test_beyond_the_total_is_refused_before_anything(tmp_path: Path) -> None:
    file = budget(tmp_path)
    with file.reserved(0.75) as run:
        run.drawn = True
    before = file.file.read_bytes()
    with pytest.raises(DataError, match=r"there is ρ = 0\.25 left, and this run spends ρ = 0\.3; no data"):
        file.reserved(0.3).__enter__()
    assert file.file.read_bytes() == before
    with file.reserved(0.25) as run:  # to the last bit
        run.drawn = True


def test_another_dataset_is_refused(tmp_path: Path) -> None:
    budget(tmp_path).check_dataset("survey")
    for other in (None, "survey 2"):
        with pytest.raises(DataError, match="a corrected file has the name and the budget of the first one"):
            budget_of(tmp_path).check_dataset(other)


def budget_of(folder: Path) -> BudgetFile:
    return open_budget(folder / "budget.toml")


def test_a_budget_is_never_started_twice(tmp_path: Path) -> None:
    budget(tmp_path)
    with pytest.raises(FileFormatError, match="may be a budget that was spent from"):
        budget(tmp_path)
    (tmp_path / "survey.csv").touch()
    with pytest.raises(FileFormatError, match="name another file"):
        create_budget(tmp_path / "survey.csv", dataset="survey", epsilon=3, delta=1e-6, rho=1)
    assert not (tmp_path / "survey.csv.lock").exists()


@pytest.mark.parametrize(
    ("before", "after"), [("rho = 0.5", "rho = 0.1"), ("epsilon = 3", "epsilon = 9"), ("reserved", "withdrawn")]
)
def test_a_changed_entry_is_refused(tmp_path: Path, before: str, after: str) -> None:
    file = budget(tmp_path)
    with file.reserved(0.5) as run:
        run.drawn = True
    text = file.file.read_text()
    assert before in text
    file.file.write_text(text.replace(before, after, 1))
    with pytest.raises(FileFormatError, match="entry 1 of the ledger does not follow"):
        budget_of(tmp_path)


def test_what_is_no_budget_is_refused(tmp_path: Path) -> None:
    (tmp_path / "budget.toml").write_text("a = 1\n")
    with pytest.raises(FileFormatError, match="no budget that this version reads"):
        budget_of(tmp_path)
    (tmp_path / "new").mkdir()
    damaged = budget(tmp_path / "new").file
    damaged.write_text(re.sub("rho = .*", 'rho = "much"', damaged.read_text()))
    with pytest.raises(FileFormatError, match="damaged"):
        open_budget(damaged)


def test_a_link_is_the_budget_that_it_leads_to(tmp_path: Path) -> None:
    file = budget(tmp_path)
    (tmp_path / "here").mkdir()
    link = tmp_path / "here" / "link.toml"
    link.symlink_to(file.file)
    with open_budget(link).reserved(0.75) as run:
        run.drawn = True
    assert link.is_symlink()
    assert open_budget(file.file).spent == 0.75
    with pytest.raises(FileFormatError, match="may be a budget"):
        create_budget(link, dataset="survey", epsilon=3, delta=1e-6, rho=1)
    (tmp_path / "second.toml").hardlink_to(file.file)
    with pytest.raises(FileFormatError, match="other names"):
        open_budget(tmp_path / "second.toml")


def test_a_run_that_is_thrown_away_under_way_gives_nothing_beyond_the_total(tmp_path: Path) -> None:
    file = budget(tmp_path)
    first, second = file.reserved(0.75), file.reserved(0.75)
    first.__enter__().drawn = True
    budget_of(tmp_path).thrown_away("1", "an audit")
    second.__enter__().drawn = True
    second.__exit__(None, None, None)
    with pytest.raises(DataError, match="thrown away while it was under way"):
        first.__exit__(None, None, None)
    assert budget_of(tmp_path).spent == 0.75
    assert budget_of(tmp_path).spent_at_most == 1.5


def spend(file: str, start: object, left: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    try:
        with open_budget(file).reserved(0.25) as run:
            run.drawn = True
        left.put(True)  # type: ignore[attr-defined]
    except DataError:
        left.put(False)  # type: ignore[attr-defined]


def test_processes_at_once_never_spend_more_than_there_is(tmp_path: Path) -> None:
    file = budget(tmp_path, 0.3)
    spawned = multiprocessing.get_context("spawn")
    start, left = spawned.Barrier(2), spawned.Queue()
    processes = [spawned.Process(target=spend, args=(str(file.file), start, left)) for _ in range(2)]
    for process in processes:
        process.start()
    went = [left.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    assert sorted(went) == [False, True]
    assert open_budget(file.file).spent == 0.25
