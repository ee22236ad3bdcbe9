"""The ledger of a privacy budget: ρ added up and converted once, given back only before any noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sdckit import BudgetLedger, ColumnError, DataError, Domain, DomainColumn, synthesize_margins
from sdckit.protect.margins.privacy_budget import epsilon_of, rho_of

DOMAIN = Domain((DomainColumn("sex", levels=("f", "m")), DomainColumn("age", levels=("a", "b"))), dataset="survey")
ROWS = pl.DataFrame({"sex": ["f", "m"] * 20, "age": ["a", "b"] * 20})


def test_rho_adds_up_and_is_converted_once(tmp_path: Path) -> None:
    ledger = BudgetLedger.create(tmp_path / "budget.toml", dataset="survey", epsilon=3, delta=1e-6)
    assert (ledger.dataset, ledger.epsilon, ledger.delta, ledger.spent, ledger.rows) == ("survey", 3, 1e-6, 0, [])
    assert ledger.left == pytest.approx(3)
    for _ in range(2):
        synthesize_margins(ROWS, domain=DOMAIN, epsilon=1, delta=1e-6, budget=ledger)
    now = BudgetLedger.open(tmp_path / "budget.toml")
    assert now.spent == pytest.approx(epsilon_of(2 * rho_of(1, 1e-6), 1e-6))
    assert now.spent < 2
    assert now.left == pytest.approx(epsilon_of(rho_of(3, 1e-6) - 2 * rho_of(1, 1e-6), 1e-6))
    with pytest.raises(DataError, match=r"of ε = 3 \(ρ = .* and this run spends ε = 2\.9 \(ρ = 0"):
        synthesize_margins(ROWS, domain=DOMAIN, epsilon=2.9, delta=1e-6, budget=now)
    assert "1.45" in now._repr_html_()


@pytest.mark.parametrize("given", [{"epsilon": 0}, {"epsilon": -1}, {"delta": 0}, {"delta": 1}, {"dataset": " "}])
def test_what_is_no_budget_is_refused(tmp_path: Path, given: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        BudgetLedger.create(tmp_path / "b.toml", **({"dataset": "survey", "epsilon": 1, "delta": 1e-6} | given))
    assert not (tmp_path / "b.toml").exists()


def test_what_fails_after_noise_is_spent_and_before_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    BudgetLedger.create(tmp_path / "budget.toml", dataset="survey", epsilon=3, delta=1e-6)
    given: dict[str, Any] = {
        "domain": DOMAIN, "epsilon": 1, "delta": 1e-6, "budget": tmp_path / "budget.toml"
    }  # fmt: skip
    with pytest.raises(ColumnError):
        synthesize_margins(pl.DataFrame({"sex": ["f"]}), **given)
    plan = pl.LazyFrame({name: ["a"] for name in ("id", "sex", "age", "job")}).with_columns(pl.col("age").cast(int))
    with pytest.raises(DataError, match="cannot be carried out"):
        synthesize_margins(plan, **given)
    assert BudgetLedger.open(tmp_path / "budget.toml").spent == 0
    monkeypatch.setattr("sdckit.protect.margins.synthesize_margins.private_margins", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        synthesize_margins(ROWS, **given)
    ledger = BudgetLedger.open(tmp_path / "budget.toml")
    assert ledger.spent == pytest.approx(1)
    assert [state for _, _, state, _ in ledger.rows][-1] == "reserved, or failed after noise was drawn"


def test_a_run_that_is_thrown_away_is_not_spent(tmp_path: Path) -> None:
    ledger = BudgetLedger.create(tmp_path / "budget.toml", dataset="survey", epsilon=1.2, delta=1e-6)
    given: dict[str, Any] = {"domain": DOMAIN, "epsilon": 1, "delta": 1e-6, "budget": tmp_path / "budget.toml"}
    synthesize_margins(ROWS, **given)
    for run, reason in ((2, "an audit"), (1, " "), (0, "an audit"), (True, "an audit")):
        with pytest.raises(DataError):
            ledger.throw_away(run, reason=reason)
    after = ledger.throw_away(1, reason="an audit with coins")
    assert after.spent == 0
    assert after.rows[0][2:] == ("declared thrown away", "an audit with coins")
    assert after.thrown == (1, pytest.approx(1))
    assert "an audit with coins" in (tmp_path / "budget.toml").read_text(encoding="utf-8")
    with pytest.raises(DataError, match="spends nothing"):
        after.throw_away(1, reason="again")
    synthesize_margins(ROWS, **given)
    now = BudgetLedger.open(tmp_path / "budget.toml")
    assert now.spent == pytest.approx(1)
    assert [number for number, *_ in now.rows] == ["1", "2"]
