"""Settings of the views: the ledger that figures are entered into, and the publicly known relations between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from sdckit.cells.plans.pair_tables import pair_tables
from sdckit.data.frames import is_lazy, rows_of
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import SdcError
from sdckit.report.gate.figures import Count, Foreign, Guarded, InternalOnly, Ledger, Quantity, Tree, Value, Watched
from sdckit.report.gate.relations import SMALL, Sizes, largest_size, make_sizes
from sdckit.utility.tables.table_counts import cross_codings

# Fixed for every file: an edge taken from the data would give a record's risk away.
RISK_EDGES = (0.0, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Levels of k that every assessment tests: figures of another are there because this document asks for them.
TESTED_ALWAYS = (2, 3, 5)
Weights = Literal["census", "fraction", "weight"]


@dataclass(frozen=True)
class Setting:
    """Setting of the figures of one file: ledger, names, and the known relations between figures.

    Parameters
    ----------
    ledger, prefix
        Where the true numbers go, and the start of their names.
    sizes, n
        The cells by size; records.
    cells_known
        Whether a record's frequency is the size of its cell (no wildcard at work, no person id).
    persons
        Whether frequencies count persons, not records: then cells say nothing about them.
    weights
        ``"census"``, ``"fraction"`` or ``"weight"``: what the population frequency comes from.
    fraction, alpha
        The sampling fraction, where given; the weight of a match by wildcard.
    threshold
        The limit on the individual risk that the analyst stated.
    variant
        What stands behind the colon of the result's place: ``"category"`` or ``"wildcard"`` for the other rule
        for missing values.
    intruder
        Name and keys, where a document has several files or intruders.
    """

    ledger: Ledger
    prefix: str
    sizes: Sizes
    n: int = 0
    cells_known: bool = True
    persons: bool = False
    weights: Weights = "census"
    fraction: float | None = None
    alpha: float = 1.0
    threshold: float | None = None
    variant: str = ""
    intruder: str = ""

    @property
    def suffix(self) -> str:
        """Suffix of this variant's names in the ledger; "" for the main result."""
        return f".{self.variant}" if self.variant else ""

    def at(self, place: str) -> Setting:
        """The setting of the result at another place."""
        return replace(self, variant=place.partition(":")[2])

    def count(
        self, name: str, true: int, group: str, *, watched: Watched = "everywhere", of: Quantity | None = None,
        guard: tuple[str, ...] = (),
    ) -> Count:  # fmt: skip
        """Enter a count under the prefix."""
        start = self.prefix
        return self.ledger.count(f"{start}.{name}", true, f"{start}.{group}", watched=watched, of=of, guard=guard)

    def quantity(self, name: str, rule: str) -> Quantity:
        """Quantity of this intruder under a rule for missing values."""
        return Quantity(f"{name}, {self.counted}" if self.persons else name, rule=rule, intruder=self.intruder)

    def own_cells_known(self, result: object) -> bool:
        """As `cells_known`, for the rule for missing values of this result."""
        return not self.persons and not getattr(getattr(result, "cells", None), "has_wildcards", False)

    def declared(self, fraction: float) -> float | None:
        """The sampling fraction if the analyst declared it; None if computed from weights, which is not printed."""
        return None if self.weights == "weight" else fraction

    @property
    def fraction_known(self) -> float | None:
        """The sampling fraction everybody knows, 1 for a census; None where weights or persons decide the risk."""
        if self.persons or self.weights == "weight":
            return None
        return 1.0 if self.weights == "census" else self.fraction

    def guard(self, result: object) -> tuple[str, ...]:
        """Names of the counts that guard a figure of risks: records in cells below five; () where relations do so.

        Needed where weights, persons or wildcards come between the size of a cell and its risk: whoever has the file
        has its weights, too. A census has whole numbers, which are printed as counts.
        """
        if self.weights == "census" or (self.fraction_known is not None and self.own_cells_known(result)):
            return ()
        name, cells = f"{self.prefix}.small{self.suffix}", cast("Any", getattr(result, "cells", None))
        if not hasattr(cells, "values"):
            uniques = f"{self.prefix}.sample_uniques{self.suffix}"
            return (uniques,) if uniques in self.ledger.variables else ()
        if name not in self.ledger.variables:
            (few,) = cells.values("sample_frequency").count_below([SMALL])
            self.ledger.count(name, int(few), name, watched="nowhere")
            self.ledger.weigh(name)
        return (name,)

    @property
    def counted(self) -> str:
        """What frequencies count, "persons" or "records"; cells by size always count records."""
        return "persons" if self.persons else "records"


@dataclass(frozen=True)
class PairSetting:
    """Setting of the figures of a release and its original, in a ledger that has ``n`` and the `sizes` already.

    `place` is the measure, with the variable after a colon where it has one.
    """

    ledger: Ledger
    prefix: str
    place: str
    sizes: Sequence[int]

    @property
    def n(self) -> int:
        """Records of the original."""
        return int(self.ledger.variables["n"].true or 0)


def release_sizes(ledger: Ledger, sizes: Sequence[int]) -> tuple[Count, ...]:
    """Enter the records of each release."""
    return tuple(ledger.count(f"n.released.{j}", size, "n") for j, size in enumerate(sizes, 1))


def intruder_words(name: str, keys: Sequence[str]) -> str:
    """Name of an intruder in quantities, with its keys, since a release may lack one of them.

    Examples
    --------
    >>> intruder_words("neighbour", ["sex", "age"])
    'neighbour: sex, age'
    """
    return f"{name}: {', '.join(keys)}"


def missing_words(column: str) -> str:
    """Name, in quantities, of the records with a missing value in a column."""
    return f"missing values of {column}"


def changed_words(column: str) -> str:
    """Name, in quantities, of the values of a column that differ from the original."""
    return f"changed values of {column}"


def rule_of(result: object) -> str:
    """Rule for missing key values of a result: "wildcard", "category", or "" where none is missing."""
    return str(getattr(getattr(result, "cells", None), "rule", ""))


def notes_tree(result: object, *, but: Sequence[str] = (), inside: Sequence[str] = ()) -> dict[str, Tree]:
    """Notes of a result, except those in `but`; their words may state counts.

    Those in `inside` are confidential: the document says it otherwise, or not at all.
    """
    notes = getattr(result, "notes", {})
    return {
        str(name): InternalOnly(str(text)) if name in inside else Foreign(str(text))
        for name, text in notes.items()
        if name not in but
    }


def setting_for(ledger: Ledger, prefix: str, scenario: Scenario, results: Mapping[str, Any], n: int) -> Setting:
    """Setting of an intruder's figures, from the scenario and the results by place."""
    weights: Weights = "weight" if scenario.weight else "fraction" if scenario.sampling_fraction else "census"
    persons = scenario.person is not None
    threshold = scenario.limits.risk
    breaks = _breaks(results.values(), weights, scenario.sampling_fraction, threshold)
    return Setting(
        ledger, prefix, make_sizes(ledger, prefix, *breaks), n,
        cells_known=not any(place.endswith(":category") for place in results) and not persons,
        persons=persons, weights=weights, fraction=scenario.sampling_fraction, alpha=scenario.alpha,
        threshold=threshold,
    )  # fmt: skip


def setting_of(ledger: Ledger, result: Any, n: int) -> Setting:
    """Setting of a single result, assuming the most that could be known.

    Relations that do not hold are left out by the audit.
    """
    cells = getattr(result, "cells", None)
    roles = getattr(cells, "roles", None)
    fraction = getattr(roles, "sampling_fraction", None)
    weights: Weights = "weight" if getattr(roles, "weight", None) else "fraction" if fraction else "census"
    persons = getattr(roles, "person", None) is not None
    # Only where the analyst stated it: a threshold from the data would tell a record's risk.
    stated = getattr(result, "asked", None)
    threshold = float(stated) if isinstance(stated, int | float) else None
    return Setting(
        ledger, "i0", make_sizes(ledger, "i0", *_breaks([result], weights, fraction, threshold)), n,
        cells_known=not persons and not getattr(cells, "has_wildcards", False),
        persons=persons, weights=weights, fraction=fraction, alpha=getattr(roles, "alpha", 1.0), threshold=threshold,
    )  # fmt: skip


def _breaks(
    results: Any, weights: str, fraction: float | None, threshold: float | None
) -> tuple[set[float], set[float]]:
    """Cell sizes at which a tested k separates records, and at which a bin of risk or the threshold does."""
    breaks: set[float] = set()
    methods = []
    for result in results:
        breaks |= {float(k - 1) for k in getattr(result, "violations", {}) if isinstance(k, int)}
        if hasattr(result, "method") and hasattr(result, "histogram"):
            methods.append(result.method)
    if weights == "weight":
        return breaks, set()
    known = 1.0 if fraction is None else fraction
    method = methods[0] if methods else "exact"
    of_risk = {largest_size(edge, known, method) for edge in RISK_EDGES}
    return breaks, of_risk | ({largest_size(threshold, known, method, strictly=True)} if threshold else set())


# Figures that may rest on few changed records: from a loss their number can be computed where it is one, two or three.
# Each is printed with as many digits as the number of changed records allows, and withheld where these are few.


# Changed records from which on every figure keeps its digits.
MANY = 500
# Values of figures for a release equal to its original; 0 for the others.
ALIKE = {
    "auc": 0.5, "pearson_similarity": 1.0, "spearman_similarity": 1.0, "contingency_similarity": 1.0,
    "mean_overlap": 1.0, "min_overlap": 1.0, "sample_equivalent": 1.0, "precision": 1.0, "coarsening_precision": 1.0,
}  # fmt: skip


def guard_by_changes(leaf: Tree, setting: PairSetting, pair: Any, variables: Sequence[str], name: str = "") -> Tree:
    """Guard an estimate from two files by the number of records that the release changed in its variables.

    `name`: the figure's, where it is not 0 for a release equal to its original.
    """
    if not isinstance(leaf, Value) or pair is None:
        return leaf
    names = tuple(dict.fromkeys(variables))
    base = f"{setting.prefix}.moved.{', '.join(names)}"
    if base not in setting.ledger.variables:
        setting.ledger.count(base, n_moved(pair, names), f"{setting.prefix}.moved", watched="nowhere")
    return Guarded(leaf.name, base, few=True, nothing=ALIKE.get(name, 0.0))


def variables_of(result: Any) -> tuple[str, ...]:
    """The variables a measure of utility compares."""
    variables = getattr(result, "variables", ())
    return variables if isinstance(variables, tuple) else tuple(str(row["variable"]) for row in rows_of(variables))


def n_moved(pair: Any, variables: Sequence[str]) -> int:
    """Lower bound of the original's records without a counterpart in a release, on some variables jointly.

    Of several releases the smallest number counts, except 0. Single variables are enough where these are many records
    already. Values that cannot be compared count as one record.
    """
    try:
        if (changed := getattr(pair, "n_changed", None)) is not None:  # a result that counted them itself
            return int(changed)
        single = _fewest(pair, [[name] for name in variables])
        return single if single >= MANY or len(variables) < 2 else _fewest(pair, [list(variables)])
    except SdcError:
        return 1


def _fewest(pair: Any, sets: Sequence[Sequence[str]]) -> int:
    moved = np.max([_moved(pair, names) for names in sets], axis=0) if sets else np.zeros(1)
    return int(np.floor(np.min(moved[moved > 0], initial=np.inf) if np.any(moved > 0) else 0))


def _moved(pair: Any, names: Sequence[str]) -> list[float]:
    if any(map(is_lazy, pair.frames)):
        tables = pair_tables(pair, names)
        sizes = cross_codings([[tables.coding(name) for name in names]], tables)[0].counts
    else:
        sizes = pair.groups(names).size
    scale = [pair.n / max(1, n) for n in pair.sizes]
    moved = (np.maximum(0.0, sizes[0] - sizes[j] * factor).sum() for j, factor in enumerate(scale, 1))
    return [float(np.ceil(total - 1e-6)) for total in moved]
