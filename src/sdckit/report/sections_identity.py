"""Who can be recognised: frequencies, k-anonymity, risk, contributions and households as typed figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sdckit.report.figures import (
    Count,
    Foreign,
    Histogram,
    Holds,
    InternalOnly,
    Ledger,
    Levels,
    Ratio,
    Share,
    SizeClasses,
    Total,
    Tree,
    Watched,
)
from sdckit.report.protocols import (
    ContributionsLike,
    FrequenciesLike,
    HouseholdsLike,
    KAnonymityLike,
    KeyFactsLike,
    RiskLike,
)
from sdckit.report.relations import (
    Sizes,
    largest_size,
    link_cells,
    link_levels,
    link_records,
    link_risk,
)
from sdckit.report.sections_contributions import saved_tree

__all__ = [
    "RISK_EDGES",
    "Setting",
    "contributions_tree",
    "frequencies_tree",
    "households_tree",
    "k_anonymity_tree",
    "key_tree",
    "notes_tree",
    "risk_breaks",
    "risk_tree",
]

# Fixed for every file: an edge taken from the data would give a record's risk away.
RISK_EDGES = (0.0, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Setting:
    """Where figures are entered, and which relations between them are known.

    Parameters
    ----------
    ledger, prefix
        Where the true numbers go, and the start of their names.
    sizes
        The cells by size.
    cells_known
        Whether a record's frequency is the size of its cell (no wildcard at work, no person id).
    persons
        Whether frequencies count persons, not records: then cells say nothing about them.
    weights
        ``"census"``, ``"fraction"`` or ``"weight"``: what the population frequency comes from.
    fraction
        The sampling fraction, where given.
    alpha
        Weight of a match by wildcard.
    """

    ledger: Ledger
    prefix: str
    sizes: Sizes
    cells_known: bool = True
    persons: bool = False
    weights: Literal["census", "fraction", "weight"] = "census"
    fraction: float | None = None
    alpha: float = 1.0

    def count(self, name: str, true: int, group: str, *, watched: Watched = "everywhere") -> Count:
        """Enter a count under the prefix."""
        return self.ledger.count(f"{self.prefix}.{name}", true, f"{self.prefix}.{group}", watched=watched)


def _counted(setting: Setting) -> str:
    """Say what a frequency counts; cells by size always count records."""
    return "persons" if setting.persons else "records"


def notes_tree(result: object) -> dict[str, Tree]:
    """Give what a measure has to say about its figures; its words may state counts."""
    return {str(name): Foreign(str(text)) for name, text in getattr(result, "notes", {}).items()}


def key_tree(facts: KeyFactsLike, n: int, setting: Setting) -> dict[str, Tree]:
    """Give a key: its rule, missing rate and levels."""
    name = f"key.{facts.name}"
    missing = setting.count(f"{name}.missing", facts.n_missing, name)
    levels = Levels(
        f"{setting.prefix}.{name}.level", tuple(facts.level_counts), "n", n, missing.name, facts.n_missing
    )
    return {
        "name": facts.name,
        "kind": facts.kind,
        "missing": facts.rule,
        "levels_of_5_or_more": facts.large_levels,
        "n_levels": InternalOnly(facts.n_levels),
        "n_missing": missing,
        "missing_rate": Share(missing.name, "n"),
        "level_counts": levels,
    }


def frequencies_tree(result: FrequenciesLike, setting: Setting) -> dict[str, Tree]:
    """Give cells, uniques and the frequency of frequencies."""
    uniques = setting.count("sample_uniques", result.sample_uniques, "violations")
    classes = f"{setting.prefix}.cells"
    link_cells(setting.ledger, setting.sizes, classes=classes)
    setting.ledger.nested("n", uniques.name)
    return {
        "counted": _counted(setting),
        "n_cells": Total(f"{classes}."),
        "sample_uniques": uniques,
        "sample_unique_rate": Share(uniques.name, "n"),
        "frequency_of_frequencies": SizeClasses(classes, tuple(result.frequency_of_frequencies.items())),
        "notes": notes_tree(result),
    }


def k_anonymity_tree(
    result: KAnonymityLike, setting: Setting, *, suffix: str = "", cells_known: bool
) -> dict[str, Tree]:
    """Give the records below every tested k; the level itself is only said to hold or not."""
    counts = {
        k: setting.count(f"violations{suffix}.{k}", n, "violations")
        for k, n in sorted(result.violations.items())
    }
    names = [count.name for count in counts.values()]
    link_levels(setting.ledger, names)
    for name in names:
        setting.ledger.nested("n", name)
    if cells_known:
        for k, count in counts.items():
            link_records(setting.ledger, setting.sizes, count.name, 1, k - 1)
    _link_uniques(setting, suffix, result.violations)
    return {
        "counted": _counted(setting),
        "holds": {str(k): Holds(n == 0) for k, n in sorted(result.violations.items())},
        "violations": {str(k): count for k, count in counts.items()},
        "violation_rates": {str(k): Share(count.name, "n") for k, count in counts.items()},
        "notes": notes_tree(result),
    }


def _link_uniques(setting: Setting, suffix: str, violations: Mapping[int, int]) -> None:
    ledger, prefix = setting.ledger, setting.prefix
    uniques, below_two = f"{prefix}.sample_uniques{suffix}", f"{prefix}.violations{suffix}.2"
    if 2 not in violations or uniques not in ledger.variables:
        return
    whole_frequencies = setting.cells_known or setting.alpha in {0.0, 1.0} or bool(suffix)
    if whole_frequencies and ledger.variables[uniques].true == violations[2]:
        ledger.equal(uniques, below_two)
    else:
        ledger.nested(below_two, uniques)


def risk_tree(
    result: RiskLike, setting: Setting, *, threshold: float | None, suffix: str = ""
) -> dict[str, Tree]:
    """Give expected re-identifications, the distribution of risk, and the household's part."""
    ledger = setting.ledger
    name = f"{setting.prefix}.expected{suffix}"
    kind: Literal["sum", "value"] = "sum" if setting.weights == "census" else "value"
    expected = ledger.value(name, result.expected_reidentifications, f"{name}.value", kind=kind)
    by_size = _fraction_known(setting, cells_known=setting.cells_known or bool(suffix))
    if by_size is not None:
        link_risk(ledger, setting.sizes, name, by_size, result.method)
    tree: dict[str, Tree] = {
        "method": result.method,
        "expected_reidentifications": expected,
        "global_risk": Ratio(name, "n"),
    }
    above: tuple[tuple[str, float], ...] = ()
    if threshold is not None and result.threshold == threshold and result.n_above is not None:
        count = setting.count(f"above{suffix}", result.n_above, f"risk{suffix}")
        ledger.nested("n", count.name)
        above = ((count.name, threshold),)
        tree |= {"threshold": threshold, "n_above": count, "rate_above": Share(count.name, "n")}
        if by_size is not None:
            most = largest_size(threshold, by_size, result.method, strictly=True)
            link_records(ledger, setting.sizes, count.name, 1, most)
    tree["distribution"] = Histogram(
        f"{setting.prefix}.risk{suffix}",
        RISK_EDGES,
        tuple(int(n) for n in result.histogram(RISK_EDGES)),
        "n",
        total=name,
        above=above,
        sizes=setting.sizes if by_size is not None else None,
        largest={} if by_size is None else {e: largest_size(e, by_size, result.method) for e in RISK_EDGES},
    )
    tree["notes"] = notes_tree(result)
    return tree | _household_risk(result, setting, suffix, name, kind)


def _fraction_known(setting: Setting, *, cells_known: bool) -> float | None:
    """Sampling fraction everybody knows, when a record's risk follows from the size of its cell."""
    if not cells_known or setting.persons or setting.weights == "weight":
        return None
    return 1.0 if setting.weights == "census" else setting.fraction


def risk_breaks(weights: str, fraction: float | None, method: str, threshold: float | None) -> set[float]:
    """Sizes of cells at which a bin of risk or the threshold divides the records."""
    if weights == "weight":
        return set()
    known = 1.0 if fraction is None else fraction
    sizes = {largest_size(edge, known, method) for edge in RISK_EDGES}
    return sizes | ({largest_size(threshold, known, method, strictly=True)} if threshold else set())


def _household_risk(
    result: RiskLike, setting: Setting, suffix: str, person: str, kind: Literal["sum", "value"]
) -> dict[str, Tree]:
    expected = result.expected_household_reidentifications
    if expected is None or result.household_risk is None:
        return {}
    name = f"{setting.prefix}.expected_household{suffix}"
    value = setting.ledger.value(name, expected, f"{name}.value", kind=kind)
    setting.ledger.bounded(name, {person: (1.0, 1.0)}, upper=False)
    return {"expected_household_reidentifications": value, "household_risk": Ratio(name, "n")}


def contributions_tree(result: ContributionsLike, n: int, setting: Setting) -> dict[str, Tree]:
    """Give uniques, violations and risk when a key is left out or coarser."""
    fraction = _fraction_known(setting, cells_known=setting.cells_known)
    return {**saved_tree(result, n, setting, fraction=fraction), "notes": notes_tree(result)}


def households_tree(result: HouseholdsLike, setting: Setting) -> dict[str, Tree]:
    """Give households, rare sizes and unique compositions."""
    households = setting.count("households", result.n_households, "households")
    unique = setting.count("households.unique_sizes", result.unique_sizes, "households")
    rare = setting.count("households.rare_sizes", result.rare_sizes, "households")
    compositions = setting.count("households.unique_compositions", result.unique_compositions, "households")
    setting.ledger.nested(rare.name, unique.name)
    setting.ledger.nested(households.name, compositions.name)
    sizes = tuple((str(size), int(number)) for size, number in sorted(result.sizes.items()))
    known = "n" if "n" in setting.ledger.variables else ""
    return {
        "n_households": households,
        "sizes": Levels(
            f"{setting.prefix}.households.size",
            sizes,
            households.name,
            result.n_households,
            shown=15,
            records=known,
        ),
        "unique_sizes": unique,
        "rare_sizes": rare,
        "unique_compositions": compositions,
        "unique_composition_rate": Share(compositions.name, households.name),
        "notes": notes_tree(result),
    }
