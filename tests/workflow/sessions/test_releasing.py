"""A release beside its original: the gate's verdict, its chapters, two recipes side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat
import pytest

from sdckit.errors import DataError, SdcError
from sdckit.workflow.sessions import releasing
from sdckit.workflow.sessions.answering import Desk
from session_files import BANDS, GROUPS, MARKER, SCENARIO, SECRET, STEPS, a_desk

HOW: dict[str, Any] = {"scenario": SCENARIO, "secret": SECRET}


def tell(_: str) -> None:
    """Nobody listens."""


def test_the_verdict_is_that_of_the_gate(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    found = releasing.release(desk, tell, steps=STEPS, **HOW)
    assert found["passed"]
    assert "Within every declared limit" in found["verdict"]
    beyond = releasing.release(desk, tell, steps=[BANDS], **HOW)
    assert not beyond["passed"]
    assert "Not within the declared limits" in beyond["verdict"]
    assert ">The release:<" in beyond["verdict"]
    assert found["release"]["digest"] != beyond["release"]["digest"]
    assert MARKER not in json.dumps([found, beyond])


def test_without_a_threshold_nothing_is_said_to_pass(tmp_path: Path) -> None:
    bare = {**SCENARIO, "thresholds": {}}
    found = releasing.release(a_desk(tmp_path), tell, scenario=bare, steps=[BANDS], secret=SECRET)
    assert not found["passed"]
    assert "No threshold is declared" in found["verdict"]


def test_every_chapter_can_be_read(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    found = releasing.release(desk, tell, steps=STEPS, **HOW)
    assert "What was done" in found["chapters"]
    for title in found["chapters"]:
        shown = releasing.chapter(desk, tell, steps=STEPS, title=title, **HOW)
        assert title.split(" ")[-1] in shown["html"]
        assert MARKER not in shown["html"]
    with pytest.raises(DataError, match="no such chapter"):
        releasing.chapter(desk, tell, steps=STEPS, title="none", **HOW)


def test_attacks_with_a_control_file_and_a_regression_of_ones_own(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    control = tmp_path / "control.csv"
    desk.data.head(80).with_columns(pl.lit("x").alias("name")).write_csv(control)
    asked: dict[str, Any] = {"models": {"ill ~ sex": "logistic"}, "control": str(control), "attacks": True}
    found = releasing.release(desk, tell, steps=STEPS, **asked, **HOW)
    assert "Simulated attacks" in found["chapters"]
    shown = releasing.chapter(desk, tell, steps=STEPS, title="What is it still good for?", **asked, **HOW)
    assert "ill ~ sex" in shown["html"]
    assert "What the attacks mean" in found["attacked"]
    assert "Membership is not judged" not in found["attacked"]


def test_what_is_drawn_at_random_is_the_same_when_the_release_is_assessed_anew(tmp_path: Path) -> None:
    """Few assessments are kept, so the report may be of another one than the page."""
    desk, asked = a_desk(tmp_path), {"steps": STEPS, "attacks": True, "exact": True, **HOW}
    found = releasing.release(desk, tell, **asked)
    desk.forget()
    assert releasing.release(desk, tell, **asked) == found
    other = releasing.release(desk, tell, **{**asked, "secret": "11" * 16})
    assert other["attacked"] != found["attacked"]


def test_attacks_stand_with_their_limit_and_what_would_open_membership(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    plain = releasing.release(desk, tell, steps=STEPS, **HOW)["attacked"]
    assert "No attack was simulated" in plain
    assert "No limit on attacks is declared" in plain
    limited = {**SCENARIO, "thresholds": {"k": 3, "residual_risk": 0.2}}
    html = releasing.release(desk, tell, steps=STEPS, scenario=limited, secret=SECRET, attacks=True)["attacked"]
    assert "What the attacks mean" in html
    assert "there is no control file" in html
    assert "Membership is not judged" in html
    assert "no people were kept aside" in html  # the limit, which is not judged
    assert MARKER not in html


@pytest.mark.parametrize(
    ("text", "refused"),
    [("age,job\n30,cook\n", "lacks columns of the file: sex, ill"), ("", "control.csv"),
     ("age,job,sex,ill\nold,cook,f,no\n", "other values than the file in the column age")],
)  # fmt: skip
def test_a_control_file_that_does_not_fit_is_removed(tmp_path: Path, text: str, refused: str) -> None:
    control = tmp_path / "control.csv"
    control.write_text(text, encoding="utf-8")
    with pytest.raises(SdcError, match=refused):
        releasing.check_control(a_desk(tmp_path), tell, scenario=SCENARIO, path=str(control))


def test_codes_beside_the_labels_of_the_file_are_named(tmp_path: Path) -> None:
    labelled, codes = tmp_path / "a.sav", tmp_path / "c.csv"
    frame = pl.DataFrame({"sex": [1, 2] * 30, "age": [30, 40, 50] * 20})
    pyreadstat.write_sav(frame, labelled, variable_value_labels={"sex": {1: "m", 2: "f"}})
    frame.write_csv(codes)
    desk = Desk(tmp_path)
    desk.open(str(labelled))
    with pytest.raises(SdcError, match=r"'sex' has value labels in a\.sav, and c\.csv has numbers there"):
        releasing.check_control(desk, tell, scenario={"keys": ["sex", "age"]}, path=str(codes))


def test_a_control_file_that_fits_is_counted_and_one_that_is_gone_is_said(tmp_path: Path) -> None:
    desk, control = a_desk(tmp_path), tmp_path / "control.csv"
    desk.data.head(83).write_csv(control)
    found = releasing.check_control(desk, tell, scenario=SCENARIO, path=str(control))
    assert found["words"] == "The control file is used: 85 records."
    control.unlink()
    with pytest.raises(SdcError, match="not there any more"):
        releasing.release(desk, tell, steps=STEPS, control=str(control), attacks=True, **HOW)


def test_two_recipes_side_by_side_with_the_limits_that_hold_for_each(tmp_path: Path) -> None:
    """Risk and loss stood there, and nothing of the limits."""
    desk = a_desk(tmp_path)
    both: dict[str, Any] = {"first": STEPS, "second": [BANDS], "names": ["now", "<kept>"]}
    html = releasing.compare(desk, tell, **both, **HOW)["html"]
    assert MARKER not in html
    assert "Values that differ" in html
    assert html.count("&lt;kept&gt;") == 2
    assert cells(html, "k-anonymity (limit 3)") == ["holds", "exceeded"]
    german = releasing.compare(desk, tell, **both, **HOW, language="de")["html"]
    assert cells(german, "k-Anonymität (Grenzwert 3)") == ["eingehalten", "überschritten"]
    unlimited = {**both, "first": [GROUPS], **HOW, "scenario": {**SCENARIO, "thresholds": {}}}
    assert "No limit was declared" in releasing.compare(desk, tell, **unlimited)["html"]


def cells(html: str, head: str) -> list[str]:
    """The cells of a row by its head."""
    (row,) = [row for row in html.split("<tr>") if f">{head}<" in row]
    return re.findall(r"<td[^>]*>([^<]*)<", row)
