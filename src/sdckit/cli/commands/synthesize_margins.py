"""``sdckit synthesize-margins``: made-up records from protected tables, with a promise of differential privacy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from sdckit.cli import errors, progress
from sdckit.cli.options import Decimal, Delimiter, Encoding, Quiet, Texts, argument, option, path_typed, split
from sdckit.cli.outputs import check_targets, number, refuse_existing, write_text
from sdckit.cli.recipe_files import Force, Out, Safe, check_format

FORMAT_VERSION = "1"


def synthesize_margins(
    file: Annotated[Path | None, argument("margins", "file")] = None,
    *,
    domain: Annotated[Path, option("margins", "--domain")],
    out: Out,
    epsilon: Annotated[float | None, option("margins", "--epsilon")] = None,
    delta: Annotated[float | None, option("margins", "--delta")] = None,
    protect: Annotated[str, option("margins", "--protect")] = "dp",
    base: Annotated[int | None, option("margins", "--base")] = None,
    table: Annotated[list[Path] | None, option("margins", "--table")] = None,
    clique: Annotated[Texts, option("margins", "--clique")] = None,
    max_cells: Annotated[int, option("margins", "--max-cells")] = 3000,
    n: Annotated[int | None, option("margins", "--n")] = None,
    budget: Annotated[Path | None, option("margins", "--budget")] = None,
    log: Annotated[Path | None, option("margins", "--log")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    force: Force = False,
    excel_safe: Safe = False,
    quiet: Quiet = False,
) -> None:
    """Make up records from protected tables of FILE: under differential privacy, rounded, or published already.

    No record of FILE decides whether this runs or what it prints; how long it takes is not covered. There is no seed,
    and no second file comes out alike. Exit code 0 when it ran; 2 for bad input.
    """
    inputs = (file, domain, budget, *(table or ()))
    check_targets(out, log, inputs=inputs)
    refuse_existing(out, log, force=force)
    check_format(out, *(path for path in inputs if path is not None), excel_safe=excel_safe)
    from sdckit.data.domain import Domain
    from sdckit.data.files.domain_files import DomainFile
    from sdckit.data.files.write_file import writing_file
    from sdckit.protect.margins.synthesize_margins import MarginsChange, synthesize_margins as synthesized

    declared = Domain.from_toml(domain)
    with progress.Steps(quiet=quiet) as steps:
        steps.step("measuring and drawing")
        made, change = synthesized(
            None if file is None else DomainFile(file, delimiter, encoding, decimal), domain=declared,
            epsilon=epsilon, delta=delta, protect=protect, base=base, tables=table or None,  # type: ignore[arg-type]
            cliques=[split([text]) for text in clique] if clique else None, max_cells=max_cells, n=n, budget=budget,
        )  # fmt: skip
        assert isinstance(change, MarginsChange)
        with writing_file(made, out, excel_safe=excel_safe, declared=True):
            if log is not None:
                write_text(log, _log(out, declared.to_toml(), change.to_dict()))
    if quiet:
        return
    from sdckit.cli.terminal import print_blocks
    from sdckit.protect.margins.promise import Promise
    from sdckit.report.chapters.promise_chapter import promise_tree, tables

    print_blocks(list(tables(promise_tree(Promise(change, None)))))
    errors.tell(f"\nWritten: {', '.join(path.name for path in (out, log) if path is not None)}")
    for note in change.notes.values():
        errors.tell(f"Note: {note}.")
    if change.spent:
        errors.tell(f"{out.name} is differentially private: ε = {number(change.epsilon)} at δ = {change.delta:g}.")
        if budget is not None:
            from sdckit.cli.commands.budget import budget_line
            from sdckit.protect.margins.budget_ledger import BudgetLedger

            errors.tell(budget_line(BudgetLedger.open(budget)))
    else:
        errors.tell(f"{out.name} promises nothing. What it tells of the people in a file:")
        whose = "survey.csv" if file is None else path_typed(file)  # an example: tables name no file of records
        errors.tell(f"  sdckit attack {whose} --released {path_typed(out)}")


def _log(out: Path, domain: str, change: dict[str, Any]) -> str:
    """What is public of a run: nothing in it comes from a record but through noise or rounding."""
    from sdckit import __version__
    from sdckit.workflow.recipes.recipe_log import MARGINS_FORMAT

    document = {"format": MARGINS_FORMAT, "format_version": FORMAT_VERSION, "sdckit": __version__,
                "released": [out.name], "domain": domain, "change": change}  # fmt: skip
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
