"""``sdckit explain``: why one record is at risk; only where its values may be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sdckit.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    File,
    Keys,
    Missing,
    MissingRule,
    codes,
    make_scenario,
)
from sdckit.cli.progress import Steps
from sdckit.cli.reading import read_declared
from sdckit.errors import SdcError

if TYPE_CHECKING:
    from sdckit.identity.explain import Explanation

__all__ = ["explain"]

MOST_SETS = 20


def explain(
    file: File,
    *,
    keys: Keys,
    row: Annotated[int, typer.Option(metavar="N", help="The record: its number, from 1.")],
    internal: Annotated[
        bool, typer.Option("--internal", help="Say that you may see this record's values.")
    ] = False,
    missing_rule: MissingRule = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Show what singles one record out, and the cheapest change that ends it. Confidential.

    Prints the values of the record, so it needs --internal.
    """
    if not internal:
        raise SdcError("explain shows the values of one record; --internal says that you may see them")
    chosen = make_scenario(
        None,
        keys=keys,
        intruders=None,
        missing_rule=missing_rule,
        thresholds={},
        missing_codes=codes(missing),
    )
    with Steps(quiet=False) as steps:
        frame = read_declared(
            file, chosen, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal
        )
        from sdckit.identity.explain import explain as measure

        steps.step("looking for what singles the record out")
        result = measure(frame, scenario=chosen, row=row)
    _print(result, f"{file.name}, record {row:,}")


def _print(result: Explanation, name: str) -> None:
    from sdckit.cli.formats import count, make_console, make_table
    from sdckit.report.protect import CONFIDENTIAL

    console = make_console()
    console.print(f"{name}: {CONFIDENTIAL}")
    console.print(str(result))
    values = make_table("The record", "key", "value", text=2)
    for key, value in result.values.items():
        values.add_row(key, value)
    console.print(values)
    if result.key_sets:
        sets = make_table("Smallest sets of keys that single it out", "keys", "size")
        for one in result.key_sets[:MOST_SETS]:
            sets.add_row(" + ".join(one), str(len(one)))
        console.print(sets)
        if len(result.key_sets) > MOST_SETS:
            console.print(f"the first {MOST_SETS} of {count(len(result.key_sets))}")
    if result.changes:
        changes = make_table("Single changes that end it", "change", "bits lost", "then sharing")
        for change in result.changes:
            how = "leave out" if change.action == "drop" else "coarsen"
            words = f"{how} {change.variable}{', ' if change.rule else ''}{change.rule}"
            changes.add_row(words, f"{change.entropy_lost:.3f}", count(change.sharing))
        console.print(changes)
