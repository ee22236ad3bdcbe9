"""Records drawn under a promise in a session: at a press alone, judged and taken away like any release."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sdckit import BudgetLedger, Domain, DomainColumn
from sdckit.errors import ColumnError, ScenarioError
from sdckit.workflow.sessions import protecting, releasing, taking_away
from sdckit.workflow.sessions.answering import Desk
from session_files import BANDS, MARKER, SCENARIO, SECRET, a_desk

DOMAIN = Domain((
    DomainColumn("age", "integer", edges=(18, 30, 45, 60, 90)),
    DomainColumn("job", levels=("cook", "smith", "clerk")),
    DomainColumn("sex", levels=("f", "m")),
    DomainColumn("ill", levels=("no", "yes")),
), dataset="small")  # fmt: skip
LIMITS = {**SCENARIO, "thresholds": {"copied_records": 0.2}}
HOW: dict[str, Any] = {"scenario": LIMITS, "secret": SECRET}


def tell(_: str) -> None:
    """Nobody listens."""


def step(**arguments: Any) -> dict[str, Any]:
    given = {"domain": "domain.toml", "epsilon": 1, "delta": 1e-6, "budget": "budget.toml", **arguments}
    return {"method": "synthesize_margins", "arguments": given, "on": True}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "domain.toml").write_text(DOMAIN.to_toml(), encoding="utf-8")
    BudgetLedger.create(tmp_path / "budget.toml", dataset="small", epsilon=3, delta=1e-6)
    return a_desk(tmp_path)


def spent(folder: Path) -> float:
    return round(BudgetLedger.open(folder / "budget.toml").spent, 3)


def test_nothing_is_drawn_but_at_a_press(desk: Desk, tmp_path: Path) -> None:
    waits = protecting.run(desk, tell, steps=[step()], **HOW)
    assert protecting.NOT_DRAWN in waits["html"]
    with pytest.raises(ScenarioError, match="No record was drawn"):
        releasing.release(desk, tell, steps=[step()], **HOW)
    assert spent(tmp_path) == 0
    done = protecting.draw(desk, tell, steps=[step()], **HOW)
    assert MARKER not in str(done)
    assert "What was done" in done["html"]
    assert spent(tmp_path) == 1
    # measured, judged and looked at again, under other limits, too: nothing more is spent
    assert protecting.run(desk, tell, steps=[step()], **HOW) == done
    other = {**LIMITS, "thresholds": {"copied_records": 0}}
    judged = releasing.release(desk, tell, steps=[step()], scenario=other, secret=SECRET)
    assert judged["passed"]
    assert "ε = 1" in str(releasing.chapter(desk, tell, steps=[step()], title=judged["chapters"][0], **HOW)) + str(
        judged
    )
    assert protecting.preview(desk, tell, steps=[step()], number=0, **HOW)["variables"] == []
    assert spent(tmp_path) == 1
    with pytest.raises(ScenarioError, match="No record was drawn"):
        releasing.release(desk, tell, steps=[step(epsilon=0.5)], **HOW)
    assert protecting.draw(desk, tell, steps=[step()], **HOW)["figures"] == []
    assert spent(tmp_path) > 1.4


def test_taken_away_with_what_can_be_repeated(desk: Desk) -> None:
    protecting.draw(desk, tell, steps=[step(), {**BANDS}], **HOW)
    taken = taking_away.prepare(desk, tell, steps=[step(), {**BANDS}], accepted=True, **HOW)
    files = {entry["what"]: Path(entry["path"]) for entry in taken["files"]}
    made = pl.read_csv(files["release"])
    assert made.columns == ["age", "job", "sex", "ill"]
    assert MARKER not in files["release"].read_text(encoding="utf-8")
    assert taken["commands"].splitlines()[-1].startswith("sdckit check small.csv --released release")
    assert "it is not made again" in taken["commands"]
    assert files["domain"].read_text(encoding="utf-8") == DOMAIN.to_toml()
    folder = Path(taken["folder"])
    shutil.copy(desk.path, folder)
    subprocess.run([sys.executable, "repeat.py"], cwd=folder, check=True, capture_output=True)


def test_a_domain_is_taken_where_it_fits(desk: Desk, tmp_path: Path) -> None:
    name = protecting.take_domain(desk, tell, path=str(tmp_path / "domain.toml"))["name"]
    assert Domain.from_toml(tmp_path / name) == DOMAIN
    other = Domain((DomainColumn("height", "integer", edges=(0, 3)),))
    (tmp_path / "other.toml").write_text(other.to_toml(), encoding="utf-8")
    with pytest.raises(ColumnError, match="height"):
        protecting.take_domain(desk, tell, path=str(tmp_path / "other.toml"))


def test_other_steps_are_not_drawn(desk: Desk) -> None:
    with pytest.raises(ScenarioError, match="do not begin with protected tables"):
        protecting.draw(desk, tell, steps=[BANDS], **HOW)
