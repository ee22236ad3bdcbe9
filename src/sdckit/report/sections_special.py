"""The measures run on request: special uniques, population models, risky cells, outliers as typed figures."""

from __future__ import annotations

import math
from math import comb

from sdckit.report.figures import (
    Chance,
    Count,
    Guarded,
    InternalOnly,
    Ledger,
    Part,
    Ratio,
    Relation,
    Share,
    Tree,
)
from sdckit.report.protocols import (
    OutliersLike,
    PopulationRiskLike,
    PopulationUniquesLike,
    RiskyCellsLike,
    RiskyCombinationLike,
    SudaLike,
)
from sdckit.report.relations import link_records
from sdckit.report.sections_identity import Setting, notes_tree

__all__ = [
    "MISFIT",
    "outliers_tree",
    "population_risk_tree",
    "population_uniques_tree",
    "risky_cells_tree",
    "suda_tree",
]

# Tables of combinations that are listed.
MOST_COMBINATIONS = 15
# Up to this size every size of cell has its own part.
SINGLE_SIZES = 4
# Standardised misfit from which a model is called too simple (one-sided 5 %).
MISFIT = 1.645
CAUTION = (
    "Estimates from the sizes of groups alone may miss by a factor of 2 to 6 at small sampling fractions; the "
    "log-linear model uses the keys themselves. Read them side by side, none of them as the truth."
)
ESTIMATES = ("zayatz", "pitman", "snb", "snb3", "dankar")


def suda_tree(result: SudaLike, setting: Setting) -> dict[str, Tree]:
    """Give minimal uniques by size, DIS and the part of each variable; levels only where it stays inside."""
    ledger, n_keys = setting.ledger, len(result.contributions)
    uniques = _uniques(setting, result.sample_uniques)
    pairs = setting.count("suda.pairs", result.pairs, "suda.pairs")
    link_records(ledger, setting.sizes, pairs.name, 2, 2)
    counts = {
        size: setting.count(f"msu.{size}", number, "msu")
        for size, number in sorted(result.msu_counts.items())
    }
    _link_msus(setting, {size: count.name for size, count in counts.items()}, uniques.name, n_keys)
    return {
        "sample_uniques": uniques,
        "pairs": pairs,
        "sampling_fraction": _declared(setting, result.sampling_fraction),
        "dis": Chance(uniques.name, pairs.name, result.sampling_fraction),
        "max_size": result.max_size,
        "scoring": result.scoring,
        "msu_counts": {str(size): count for size, count in counts.items()},
        "contributions": {key: Part(share, uniques.name) for key, share in result.contributions.items()},
        "level_contributions": InternalOnly(
            {key: dict(levels) for key, levels in result.level_contributions.items()}
        ),
        "notes": _notes(result, but=("max_size",)),
    }


def _notes(result: object, *, but: tuple[str, ...]) -> dict[str, Tree]:
    """Leave out what the document says in its own words: numbers in it are options, no counts."""
    return {name: note for name, note in notes_tree(result).items() if name not in but}


def _declared(setting: Setting, fraction: float) -> float | None:
    """A sampling fraction that the analyst declared; one worked out of weights is not told exactly."""
    return None if setting.weights == "weight" else fraction


def _uniques(setting: Setting, true: int) -> Count:
    """Enter the cells of one record, once for all measures that start from them."""
    uniques = setting.count("sample_uniques.cells", true, "violations")
    link_records(setting.ledger, setting.sizes, uniques.name, 1, 1)
    setting.ledger.nested("n", uniques.name)
    return uniques


def _link_msus(setting: Setting, names: dict[int, str], uniques: str, n_keys: int) -> None:
    """The minimal uniques of a record do not contain each other, and those of all keys end with any key."""
    ledger = setting.ledger
    shares = [(name, -1.0 / comb(n_keys, size)) for size, name in names.items()]
    # Lubell-Yamamoto-Meshalkin, summed over the records that are unique.
    ledger.relations.append(Relation(((uniques, 1.0), *shares), upper=math.inf))
    if n_keys not in names or not setting.cells_known:
        return
    ledger.relations.append(
        Relation((*((name, 1.0) for name in names.values()), (uniques, -1.0)), upper=math.inf)
    )
    start = f"{setting.prefix}.contributions.without."
    singles = [name for name in ledger.variables if name.startswith(start) and "," not in name[len(start) :]]
    for without in singles:
        terms = ((uniques, 1.0), (without, -1.0), (names[n_keys], -1.0))
        ledger.relations.append(Relation(terms, upper=math.inf))


def population_risk_tree(result: PopulationRiskLike, setting: Setting) -> dict[str, Tree]:
    """Give tau as rounded counts, their share of the uniques, and the fit in words."""
    ledger, prefix = setting.ledger, setting.prefix
    uniques = _uniques(setting, result.sample_uniques)
    first = ledger.value(f"{prefix}.tau1", result.tau1, f"{prefix}.tau", kind="sum")
    second = ledger.value(f"{prefix}.tau2", result.tau2, f"{prefix}.tau", kind="sum")
    ledger.bounded(first.name, {second.name: (0.0, 1.0)}, lower=False)
    ledger.bounded(second.name, {uniques.name: (0.0, 1.0)}, lower=False)
    return {
        "sample_uniques": uniques,
        "sampling_fraction": _declared(setting, result.sampling_fraction),
        "model": tuple(result.model),
        "selection": _selection(result),
        "tau1": first,
        "tau2": second,
        "tau1_per_unique": Ratio(first.name, uniques.name),
        "tau2_per_unique": Ratio(second.name, uniques.name),
        "fit": _fit(result),
        "notes": _notes(result, but=("z1", "z2", "path")),
    }


def _selection(result: PopulationRiskLike) -> str:
    """How the terms were chosen, in words without a figure."""
    if result.sampling_fraction >= 1:
        return "there was nothing to choose"
    pairs = any(":" in term for term in result.model)
    if result.path:
        return (
            "a forward search added pairs of keys to main effects"
            if pairs
            else "a forward search left it at main effects"
        )
    return "as asked for" if pairs else "main effects: the keys are taken as independent"


def _fit(result: PopulationRiskLike) -> str:
    if result.sampling_fraction >= 1:
        return "nothing is modelled: the file is the population"
    if math.isnan(result.z2):
        return "cannot be judged"
    if result.z2 >= MISFIT:
        return "the model is too simple for this file: tau1 and tau2 are probably too high"
    if result.z2 <= -MISFIT:
        return "the model may be overfitted: tau1 and tau2 may be too low"
    return "no sign of misfit"


def population_uniques_tree(result: PopulationUniquesLike, setting: Setting) -> dict[str, Tree]:
    """Give each estimate beside the others; made from cells by size, they could tell a small table."""
    ledger, prefix = setting.ledger, setting.prefix
    uniques = _uniques(setting, result.sample_uniques)
    population = ledger.value(f"{prefix}.population", result.population, f"{prefix}.population")
    estimates: dict[str, Tree] = {}
    for name in ESTIMATES:
        if name not in result.estimates:
            continue
        place = f"{prefix}.population_uniques.{name}"
        ledger.value(place, float(result.estimates[name].uniques), place)
        estimates[name] = {"uniques": Guarded(place, uniques.name), "status": result.status[name]}
    return {
        "sample_uniques": uniques,
        "population": population,
        "estimates": estimates,
        "caution": CAUTION,
        "notes": _notes(result, but=("estimates",)),
    }


def risky_cells_tree(result: RiskyCellsLike, setting: Setting) -> dict[str, Tree]:
    """Give unsafe cells by dimension, and the combinations of variables that have most of them."""
    ledger, prefix = setting.ledger, setting.prefix
    affected = setting.count("unsafe.records", result.records_affected, "unsafe")
    ledger.nested("n", affected.name)
    totals = {
        dimension: setting.count(f"unsafe.{dimension}", number, "unsafe")
        for dimension, number in sorted(result.unsafe_cells.items())
    }
    shown = _most_unsafe(result)
    rows = [(row, *_combination(row, setting)) for row in shown]
    whole = len(shown) == len(result.table)
    for dimension, total in totals.items():
        parts = [cells.name for row, cells, _ in rows if row.dimension == dimension]
        rest = len(parts) < sum(row.dimension == dimension for row in result.table)
        others = [ledger.latent(f"{prefix}.unsafe.others of {dimension}")] if rest else []
        ledger.equal(total.name, *parts, *others)
    for _, _, records in rows:
        ledger.nested(affected.name, records.name)
    if whole:
        ledger.bounded(affected.name, {records.name: (0.0, 1.0) for _, _, records in rows}, lower=False)
    _link_nested(ledger, rows)
    _link_affected(result, setting, affected.name, {d: total.name for d, total in totals.items()})
    return {
        "n_combinations": result.n_combinations,
        "thresholds": {str(d): _threshold(result, d) for d in totals},
        "unsafe_cells": {str(d): total for d, total in totals.items()},
        "records_affected": affected,
        "rate_affected": Share(affected.name, "n"),
        "table": tuple(
            {"variables": tuple(row.variables), "n_unsafe": cells, "records": records}
            for row, cells, records in sorted(rows, key=lambda one: (one[0].dimension, one[0].variables))
        ),
        "notes": notes_tree(result),
    }


def _threshold(result: RiskyCellsLike, dimension: int) -> int:
    return next(row.threshold for row in result.table if row.dimension == dimension)


def _most_unsafe(result: RiskyCellsLike) -> list[RiskyCombinationLike]:
    """Choose by rounded counts: a choice by exact ones would tell which of two is larger."""
    ordered = sorted(
        result.table, key=lambda row: (-((row.n_unsafe + 2) // 5), row.dimension, tuple(row.variables))
    )
    return ordered[:MOST_COMBINATIONS]


def _combination(row: RiskyCombinationLike, setting: Setting) -> tuple[Count, Count]:
    """Enter a table; it does not depend on the intruder, so that all of them print the same figure."""
    label = f"{', '.join(sorted(row.variables))} up to {row.threshold}"
    ledger = setting.ledger
    records = ledger.count(f"risky.records.{label}", row.records, "risky")
    ledger.nested("n", records.name)
    if row.threshold == 1:
        return records, records
    cells = ledger.count(f"risky.cells.{label}", row.n_unsafe, "risky")
    ledger.bounded(records.name, {cells.name: (1.0, float(row.threshold))})
    return cells, records


def _link_nested(ledger: Ledger, rows: list[tuple[RiskyCombinationLike, Count, Count]]) -> None:
    """A record unsafe in a table is unsafe in every table with one more variable."""
    for small, _, inner in rows:
        for large, _, outer in rows:
            one_more = len(large.variables) == len(small.variables) + 1
            if (
                one_more
                and set(small.variables) < set(large.variables)
                and large.threshold >= small.threshold
            ):
                ledger.nested(outer.name, inner.name)


def _link_affected(result: RiskyCellsLike, setting: Setting, affected: str, totals: dict[int, str]) -> None:
    """Unsafe on some keys means rare on all of them; single cells are the special uniques of their size."""
    ledger, prefix = setting.ledger, setting.prefix
    largest = max((row.threshold for row in result.table), default=0)
    if largest <= SINGLE_SIZES and not setting.persons:
        rare = ledger.latent(f"{prefix}.records in cells up to {largest}")
        link_records(ledger, setting.sizes, rare, 1, largest)
        ledger.nested(rare, affected)
    if largest != 1:
        return
    n_keys = len({name for row in result.table for name in row.variables})
    for dimension, total in totals.items():
        minimal = f"{prefix}.msu.{dimension}"
        if minimal not in ledger.variables:
            continue
        ledger.nested(total, minimal)
        if setting.cells_known:
            parts = {f"{prefix}.msu.{k}": comb(n_keys - k, dimension - k) for k in range(1, dimension + 1)}
            ledger.bounded(total, {name: (0.0, float(most)) for name, most in parts.items()}, lower=False)


def outliers_tree(result: OutliersLike, setting: Setting) -> dict[str, Tree]:
    """Give how many values of each variable are extreme; no value and no limit."""
    ledger = setting.ledger
    either = _extreme(ledger, "outliers.any", result.n_outliers)
    counts = {name: _extreme(ledger, f"outliers.{name}", number) for name, number in result.counts.items()}
    known = [count.name for count in counts.values() if count is not None]
    if either is not None:
        for name in known:
            ledger.nested(either.name, name)
        if known:
            ledger.bounded(either.name, dict.fromkeys(known, (0.0, 1.0)), lower=False)
    gone = {
        name: ledger.count(f"outliers.missing.{name}", number, "outliers.missing")
        for name, number in result.n_missing.items()
    }
    for name, missing in gone.items():
        ledger.nested("n", missing.name)
        if (count := counts.get(name)) is not None:
            ledger.relations.append(
                Relation((("n", 1.0), (missing.name, -1.0), (count.name, -1.0)), upper=math.inf)
            )
    return {
        "method": result.method,
        "n_outliers": either,
        "rate_outliers": None if either is None else Share(either.name, "n"),
        "counts": counts,
        "n_missing": gone,
        "notes": notes_tree(result),
    }


def _extreme(ledger: Ledger, name: str, number: float) -> Count | None:
    if math.isnan(number):
        return None
    count = ledger.count(name, int(number), "outliers")
    ledger.nested("n", count.name)
    return count
