"""From a raw file to its risk, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from app.browsing import Windows, calm, faults, picture

MARKER = "ZQXMARK"


def raw_file(folder: Path) -> Path:
    """Ages of -9, jobs that were refused, decimal commas, and a job that one person has."""
    rng = np.random.default_rng(3)
    jobs = rng.choice(["nurse", "clerk", "cook", "refused"], 400, p=[0.4, 0.3, 0.25, 0.05])
    jobs[7] = MARKER
    ages = np.where(rng.random(400) < 0.05, -9, rng.integers(20, 60, 400))
    sexes, incomes = rng.choice(["f", "m"], 400), rng.integers(10, 90, 400) * 100
    lines = [f"{at};{sexes[at]};{ages[at]};{jobs[at]};{incomes[at]};{1 + at % 3},5" for at in range(400)]
    path = folder / "raw.csv"
    path.write_text("\n".join(["id;sex;age;job;income;weight", *lines]), encoding="utf-8")
    return path


def go(page: Any, name: str) -> None:
    page.click(f"button.way[data-go={name}]")
    calm(page)


def test_from_a_raw_file_to_its_risk(visit: Windows, tmp_path: Path) -> None:
    page = visit()
    bad = tmp_path / "bad.parquet"
    bad.write_text("no columns", encoding="utf-8")
    page.set_input_files("#file-upload", bad)
    page.wait_for_selector("#file-upload_fault")
    assert "bad.parquet is not Parquet" in page.inner_text("#file-upload_fault")
    assert page.is_visible("text=No file is open yet")

    page.set_input_files("#file-upload", raw_file(tmp_path))
    page.wait_for_selector("text=May mean missing")
    calm(page)
    page.check("input[name=file-chosen][value='-9']")
    page.check("input[name=file-chosen][value=refused]")
    page.click("#file-use_codes")
    page.wait_for_selector("text=Values that became missing")
    calm(page)
    assert faults(page) == []

    go(page, "roles")
    page.wait_for_selector("#roles-accept_all")
    assert page.input_value("#roles-role_0") == "identifier"
    assert page.input_value("#roles-role_5") == "weight"
    assert faults(page) == []
    calm(page)  # a form that is drawn again would lose the choice
    page.focus("#roles-role_4")
    page.keyboard.press("Home")  # income: a key, for this file
    page.wait_for_function("document.querySelector('#roles-role_4').value === 'key'")
    page.click("#roles-accept_all")
    page.wait_for_selector("#verdict_bar .headline.fail")
    calm(page)
    assert page.is_visible("#page_risk")
    assert "alone with their combination" in page.inner_text("#risk-first")
    assert faults(page) == []
    page.uncheck("input[name=risk-ticked][value=income]")
    page.wait_for_selector("#risk-moved table")
    page.click("#risk-helps")
    page.wait_for_selector("text=What would help most >> nth=1")
    calm(page)
    assert MARKER not in page.content()

    go(page, "roles")
    page.fill("#roles-limit_k", "7")
    page.select_option("#roles-role_1", "sensitive")
    calm(page)
    page.check("#exact")
    page.wait_for_selector("#exact_mark:not([hidden])")
    calm(page)
    page.wait_for_selector("#roles-limit_k")
    assert page.input_value("#roles-limit_k") == "7"
    assert page.input_value("#roles-role_1") == "sensitive"

    go(page, "file")
    page.wait_for_selector("#file-rows")
    calm(page)
    page.click("#file-rows")
    page.wait_for_selector("text=Records 1 to 50")
    assert MARKER in page.inner_text("#file-records")


def test_the_demo_shows_its_risk_in_one_click(visit: Windows) -> None:
    page = visit()
    page.click("#file-demo")
    page.wait_for_selector("#verdict_bar .headline")
    calm(page)
    picture(page, "file")
    go(page, "roles")
    picture(page, "roles")
    page.click("#roles-more")
    page.wait_for_selector("#roles-name_1")
    page.fill("#roles-name_1", "colleague")
    page.uncheck("input[name=roles-knows_1][value=children]")
    page.fill("#roles-limit_k", "two")
    page.click("#roles-accept")
    page.wait_for_selector("#roles-limit_k_fault")
    assert "not a whole number" in page.inner_text("#roles-limit_k_fault")
    page.fill("#roles-limit_k", "2")
    page.click("#roles-accept")
    page.wait_for_selector("text=Intruder “colleague”")
    calm(page)
    picture(page, "risk")
    go(page, "roles")
    page.click("text=The scenario as a file")
    with page.expect_download() as downloaded:
        page.click("#roles-save")
    text = Path(downloaded.value.path()).read_text(encoding="utf-8")
    assert "[intruders.colleague]" in text
    assert "k = 2" in text
