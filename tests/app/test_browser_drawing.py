"""Synthesis under a promise in a browser: a domain file, ε and a budget; drawn at a press, judged on page Release."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import sdckit as sdc
from app.browsing import Windows, calm, eventually

DOMAIN = sdc.Domain((
    sdc.DomainColumn("age", "integer", edges=(18, 30, 45, 60)), sdc.DomainColumn("sex", levels=("f", "m")),
    sdc.DomainColumn("job", levels=("cook", "vet")),
), dataset="town")  # fmt: skip


def test_records_are_drawn_at_a_press_and_judged(visit: Windows, tmp_path: Path) -> None:
    n = 300
    people = {"age": [18 + i * 7 % 42 for i in range(n)], "sex": ["fm"[i % 2] for i in range(n)],
              "job": [("cook", "vet")[i % 3 % 2] for i in range(n)]}  # fmt: skip
    pl.DataFrame(people).write_csv(tmp_path / "town.csv")
    scenario = sdc.Scenario(keys=["age", "sex"], sensitive=["job"], thresholds={"copied_records": 0.5})
    (tmp_path / "scenario.toml").write_text(scenario.to_toml(), encoding="utf-8")
    (tmp_path / "domain.toml").write_text(DOMAIN.to_toml(), encoding="utf-8")
    ledger = tmp_path / "budget.toml"
    sdc.BudgetLedger.create(ledger, dataset="town", epsilon=3, delta=1e-6)
    page = visit()
    page.set_input_files("#file-upload", tmp_path / "town.csv")
    calm(page)
    page.click("button.way[data-go=protect]")
    page.set_input_files("#protect-scenario_file", tmp_path / "scenario.toml")
    page.wait_for_selector("#protect-method")
    page.select_option("#protect-method", "synthesize_margins")
    page.click("#protect-add_step")
    page.wait_for_selector("#protect-domain_file")
    page.set_input_files("#protect-domain_file", tmp_path / "domain.toml")
    assert eventually(lambda: page.input_value("#protect-arg_domain").startswith("domain-"))
    page.click("#protect-editor details.more summary")
    for name, value in {"epsilon": "1", "delta": "1e-6", "budget": str(ledger)}.items():
        page.fill(f"#protect-arg_{name}", value)
    page.click("#protect-apply_step")
    page.wait_for_selector("#protect-draw")
    calm(page)
    assert sdc.BudgetLedger.open(ledger).spent == 0
    page.click("#protect-draw")
    assert eventually(lambda: "No record was drawn" not in page.inner_text("#protect-outcome"))
    calm(page)
    assert round(sdc.BudgetLedger.open(ledger).spent, 3) == 1
    page.click("button.way[data-go=release]")
    page.click("#release-make_release")
    calm(page)
    assert page.is_hidden("#alert"), page.inner_text("#alert_text")
    assert "ε = 1 means" in page.inner_text("#page_release") or page.is_visible("#release-verdict")
    assert "Within" in page.inner_text("#verdict_bar"), page.inner_text("#verdict_bar")
    assert round(sdc.BudgetLedger.open(ledger).spent, 3) == 1
    # a step of the file before is no step of the next one
    pl.DataFrame({"town": ["a", "b"] * 20}).write_csv(tmp_path / "other.csv")
    page.click("button.way[data-go=protect]")
    page.wait_for_selector("#protect-arg_domain")
    page.click("button.way[data-go=file]")
    page.set_input_files("#file-upload", tmp_path / "other.csv")
    calm(page)
    page.click("button.way[data-go=protect]")
    assert eventually(lambda: page.locator("#protect-arg_domain").count() == 0)
