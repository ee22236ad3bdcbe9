"""What a recipe did, as tables for the terminal: exact, for the analyst's own session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdckit.cli.formats import count, make_table, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from sdckit.workflow.recipe_applied import Applied

__all__ = ["recipe_tables"]


def recipe_tables(applied: Applied, *, name: str) -> Iterator[Table]:
    """Give what each step changed, and the risk after each where there is a scenario."""
    n = applied.log.n
    table = make_table(f"{name}: what was done", "step", "variable", "values", "share", text=2)
    for place, change in enumerate(applied.log.steps, 1):
        for row, (variable, changed) in enumerate(change.changed.items()):
            step = f"{place}. {change.method}" if row == 0 else ""
            table.add_row(step, variable, count(changed), percent(changed, change.n))
    yield table
    if applied.scenario is None:
        return
    several = len(applied.scenario.intruders) > 1
    heads = ("step", "alone", f"below {applied.k}", "expected links", "values differ", "pMSE")
    risks = make_table(f"{count(n)} records after each step", *heads)
    for one in applied.figures:
        step = one.method if one.step == 0 else f"{one.step}. {one.method}"
        risks.add_row(
            f"{step}, {one.intruder}" if several else step,
            count(one.sample_uniques), count(one.below_k), number(one.expected_reidentifications),
            percent(one.share_changed, 1), number(0.0 if one.pmse < 1e-12 else float(f"{one.pmse:.3g}")),
        )  # fmt: skip
    yield risks
