"""Single measures as tables for a terminal: exact figures of the file, no value of a record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from sdckit.cli.formats import count, make_console, make_table, number, percent

if TYPE_CHECKING:
    from sdckit.identity.delta_presence import DeltaPresence
    from sdckit.identity.k_map import KMap
    from sdckit.identity.outliers import Outliers
    from sdckit.identity.population_risk import PopulationRisk
    from sdckit.identity.population_uniques import PopulationUniques
    from sdckit.identity.risky_cells import RiskyCells
    from sdckit.identity.suda import Suda

__all__ = ["measure_tables", "print_measure"]

MOST_COMBINATIONS = 15


def measure_tables(name: str, result: Any) -> list[RenderableType]:
    """Lay out a measure that was asked for by its name; nothing for those with tables of their own."""
    make = TABLES.get(name)
    return [] if make is None else [*make(result), *_notes(result)]


def print_measure(file_name: str, *results: Any) -> None:
    """Print the results of one command: the file, what a missing key value was taken for, the tables."""
    console = make_console()
    console.print(f"\n{file_name}: {count(results[0].n)} records")
    if hasattr(results[0], "cells"):
        console.print(Text(results[0].cells.missing_rule, "dim"))
    for result in results:
        console.print(Group(*measure_tables(result.measure, result)))


def _notes(result: Any) -> list[RenderableType]:
    return [Text(f"Note: {text}", "dim") for text in dict.fromkeys(result.notes.values())]


def _suda(result: Suda) -> list[RenderableType]:
    table = make_table("Special uniques", "", "")
    table.add_row("records alone with all keys", f"{count(result.sample_uniques)}")
    table.add_row("records in pairs", count(result.pairs))
    table.add_row("chance that a unique match is correct (DIS)", number(result.dis))
    sizes = make_table(
        "Minimal uniques by number of keys", *(str(size) for size in result.msu_counts), text=0
    )
    sizes.add_row(*(count(found) for found in result.msu_counts.values()))
    parts = make_table("Score by key", "in minimal uniques with", "part")
    for key, share in sorted(result.contributions.items(), key=lambda item: (-item[1], item[0])):
        parts.add_row(key, number(share) if math.isnan(share) else percent(share, 1.0))
    return [table, sizes, parts]


def _population_risk(result: PopulationRisk) -> list[RenderableType]:
    table = make_table(
        "Unique in the population, by the log-linear model", "", "records", "per sample unique"
    )
    table.add_row("sample uniques", count(result.sample_uniques), "")
    table.add_row("population unique (tau1)", _people(result.tau1), number(result.tau1_per_unique))
    table.add_row("correct matches (tau2)", _people(result.tau2), number(result.tau2_per_unique))
    table.add_row("fit: z1, z2", f"{number(result.z1)}, {number(result.z2)}", "")
    return [table, Text(f"Model: {' + '.join(result.model)}", "dim")]


def _population_uniques(result: PopulationUniques) -> list[RenderableType]:
    table = make_table("By the sizes of groups", "model", "status", "uniques", "share", text=2)
    for name, estimate in result.estimates.items():
        table.add_row(name, estimate.status, _people(estimate.uniques), number(estimate.share))
    return [table]


def _people(value: float) -> str:
    return number(value) if math.isnan(value) else f"{value:,.0f}"


def _risky_cells(result: RiskyCells) -> list[RenderableType]:
    found = f"{count(result.records_affected)} ({percent(result.records_affected, result.n)})"
    sizes = make_table("Risky combinations", "number of variables", "unsafe cells")
    for dimension, cells in result.unsafe_cells.items():
        sizes.add_row(str(dimension), count(cells))
    table = make_table("Combinations with most unsafe cells", "variables", "cells", "unsafe", "records")
    ordered = sorted(result.table, key=lambda row: (-row.n_unsafe, row.dimension, row.variables))
    for row in ordered[:MOST_COMBINATIONS]:
        table.add_row(" + ".join(row.variables), count(row.n_cells), count(row.n_unsafe), count(row.records))
    if len(ordered) > MOST_COMBINATIONS:
        table.caption = f"the first {MOST_COMBINATIONS} of {count(len(ordered))}"
    return [sizes, Text(f"Records in an unsafe combination: {found}"), table]


def _outliers(result: Outliers) -> list[RenderableType]:
    jointly = not result.counts
    table = make_table("Outliers", "variable", *([] if jointly else ["extreme values"]), "missing")
    for name, gone in result.n_missing.items():
        extreme = [number(one) if math.isnan(one) else count(one) for one in [result.counts.get(name, 0)]]
        table.add_row(name, *([] if jointly else extreme), count(gone))
    either = result.n_outliers
    words = "undefined" if math.isnan(either) else f"{count(either)} ({percent(either, result.n)})"
    return [table, Text(f"Records with an extreme value ({result.method}): {words}")]


def _k_map(result: KMap) -> list[RenderableType]:
    modelled = math.isnan(result.level)
    table = make_table("People behind each key", "", "records expected" if modelled else "records")
    for k, found in result.violations.items():
        words = f"{found:,.1f} ({percent(found, result.n)})" if modelled else _records(found, result.n)
        table.add_row(f"with a key that fewer than {k:,} people have", words)
    held = [] if modelled else [Text(f"Largest k that holds: {count(result.level)}")]
    return [table, *held]


def _records(found: float, n: int) -> str:
    return f"{count(found)} ({percent(found, n)})"


def _delta_presence(result: DeltaPresence) -> list[RenderableType]:
    low, high = (number(limit) for limit in result.limits)
    table = make_table("Share of the people with a key who are in the file", "", "")
    table.add_row("people in the population", count(result.population))
    table.add_row("smallest share of a key", number(result.minimum))
    table.add_row("largest share of a key", number(result.maximum))
    table.add_row(f"people with a key above {high}", _records(result.n_above, result.population))
    table.add_row("records of the file among them", _records(result.records_above, result.n))
    table.add_row(f"people with a key below {low}", _records(result.n_below, result.population))
    words = "holds" if result.holds else "does not hold"
    return [table, Text(f"Every share from {low} to {high}: {words}.")]


CLOSENESS = {
    "t_closeness": ("t-closeness", "records in groups at least so far from the file"),
    "beta_likeness": ("β-likeness", "records in groups where a value gains more"),
    "delta_disclosure": ("δ-disclosure", "records in groups that change a share more"),
    "alpha_k": ("(α, k)-anonymity", "records in groups where one value has a larger share"),
}


def _close(result: Any) -> list[RenderableType]:
    """Records in groups beyond each limit, by sensitive variable."""
    title, words = CLOSENESS[result.measure]
    rows = []
    for variable, found in result.violations.items():
        kinds = found if any(isinstance(part, Mapping) for part in found.values()) else {"": found}
        rows += [(f"{variable} {kind}".strip(), limits) for kind, limits in kinds.items()]
    limits = sorted({limit for _, counts in rows for limit in counts})
    table = make_table(
        f"What would be learnt ({title})", "variable", *(f"limit {limit:g}" for limit in limits)
    )
    for label, counts in rows:
        table.add_row(label, *(count(counts[limit]) for limit in limits))
    table.caption = words
    return [table]


TABLES: Mapping[str, Callable[[Any], list[RenderableType]]] = {
    "suda": _suda,
    "population_risk": _population_risk,
    "population_uniques": _population_uniques,
    "risky_cells": _risky_cells,
    "outliers": _outliers,
    "t_closeness": _close,
    "beta_likeness": _close,
    "delta_disclosure": _close,
    "alpha_k": _close,
    "k_map": _k_map,
    "delta_presence": _delta_presence,
}
