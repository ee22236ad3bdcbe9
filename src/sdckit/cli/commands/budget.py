"""``sdckit budget``: how much privacy the releases of a dataset may spend together, and what they have spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdckit.cli.errors import tell
from sdckit.cli.options import argument, option

if TYPE_CHECKING:
    from sdckit.protect.margins.budget_ledger import BudgetLedger

app = typer.Typer(help="Keep the budget of differential privacy of a dataset.")
Ledger = Annotated[Path, argument("budget", "budget")]


@app.command("create")
def create(
    ledger: Ledger,
    *,
    dataset: Annotated[str, option("budget", "--dataset")],
    epsilon: Annotated[float, option("budget", "--epsilon")],
    delta: Annotated[float, option("budget", "--delta")],
) -> None:
    """Start a budget.

    Exit code 0 when it ran; 2 for bad input.
    """
    from sdckit.protect.margins.budget_ledger import BudgetLedger

    tell(budget_line(BudgetLedger.create(ledger, dataset=dataset, epsilon=epsilon, delta=delta)))


@app.command("show")
def show(ledger: Ledger) -> None:
    """List the runs of a budget, what is left, and its head.

    Exit code 0 when it ran; 2 for bad input, or a budget that was changed.
    """
    from sdckit.cli.terminal import print_blocks
    from sdckit.protect.margins.budget_ledger import BudgetLedger
    from sdckit.report.blocks import TableBlock

    opened = BudgetLedger.open(ledger)
    if opened.rows:
        print_blocks([TableBlock(f"Runs on {opened.dataset}", ("Run", "ρ", "State", "Reason"), tuple(opened.rows))])
    tell(budget_line(opened))


@app.command("throw-away")
def throw_away(
    ledger: Ledger,
    *,
    run: Annotated[int, option("budget", "--run")],
    reason: Annotated[str, option("budget", "--reason")],
) -> None:
    """Declare that nothing of a run went out or will: it is not spent then, by your word.

    For runs that only measure. What the run made is to be deleted, and no figure of it goes out. Exit code 0 when it
    ran; 2 for bad input.
    """
    from sdckit.protect.margins.budget_ledger import BudgetLedger

    tell(budget_line(BudgetLedger.open(ledger).throw_away(run, reason=reason)))


def budget_line(ledger: BudgetLedger) -> str:
    """What a budget has spent and left, and its head: whoever keeps the line can tell whether a copy is the newest."""
    n, together = ledger.thrown
    thrown = f"; {n} run{'s' * (n > 1)} declared thrown away, ε = {together:.4g} with {'them' if n > 1 else 'it'}"
    return (
        f"Budget of {ledger.dataset}: ε = {ledger.spent:.4g} of {ledger.epsilon:g} spent, a run may still have "
        f"{ledger.left:.4g}, at δ = {ledger.delta:g}{thrown if n else ''}; head {ledger.head}"
    )
