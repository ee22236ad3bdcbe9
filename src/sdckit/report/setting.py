"""Where the figures of a result are entered, and which relations between them anybody knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from sdckit.data.frames import rows_of
from sdckit.errors import SdcError
from sdckit.report.gate.figures import (
    Count,
    Foreign,
    Guarded,
    InternalOnly,
    Ledger,
    Quantity,
    Tree,
    Value,
    Watched,
)
from sdckit.report.gate.relations import SMALL, Sizes, largest_size, make_sizes

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario

# Fixed for every file: an edge taken from the data would give a record's risk away.
RISK_EDGES = (0.0, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Levels of k that every assessment tests: figures of another are there because this document asks for them.
TESTED_ALWAYS = (2, 3, 5)
Weights = Literal["census", "fraction", "weight"]


@dataclass(frozen=True)
class Setting:
    """Where the figures of one file are entered, and which relations between them are known.

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
        """What the names of this variant's variables have more than those of the main one."""
        return f".{self.variant}" if self.variant else ""

    def at(self, place: str) -> Setting:
        """The same for the result at another place."""
        return replace(self, variant=place.partition(":")[2])

    def count(
        self,
        name: str,
        true: int,
        group: str,
        *,
        watched: Watched = "everywhere",
        of: Quantity | None = None,
        guard: tuple[str, ...] = (),
    ) -> Count:
        """Enter a count under the prefix."""
        start = self.prefix
        return self.ledger.count(f"{start}.{name}", true, f"{start}.{group}", watched=watched, of=of, guard=guard)

    def quantity(self, name: str, rule: str) -> Quantity:
        """A quantity of this intruder, under a rule for missing values."""
        return Quantity(f"{name}, {self.counted}" if self.persons else name, rule=rule, intruder=self.intruder)

    def own_cells_known(self, result: object) -> bool:
        """The same as `cells_known`, under the rule for missing values that this result was computed with."""
        cells = getattr(result, "cells", None)
        return not self.persons and not getattr(cells, "has_wildcards", False)

    def declared(self, fraction: float) -> float | None:
        """A sampling fraction that the analyst declared; one worked out of weights is not told exactly."""
        return None if self.weights == "weight" else fraction

    @property
    def fraction_known(self) -> float | None:
        """The sampling fraction everybody knows, 1 for a census; None where weights or persons decide the risk."""
        if self.persons or self.weights == "weight":
            return None
        return 1.0 if self.weights == "census" else self.fraction

    def guard(self, result: object) -> tuple[str, ...]:
        """Records in groups of fewer than five, where a figure of risks could tell them and no relation says how.

        That is where weights, persons or others' missing values stand between the size of a cell and its risk: whoever
        has the file has its weights, too. A census has whole numbers, which are printed as such.
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
        return (name,)

    @property
    def counted(self) -> str:
        """What a frequency counts; cells by size always count records."""
        return "persons" if self.persons else "records"


@dataclass(frozen=True)
class PairSetting:
    """Where the figures of a release beside its original are entered, ``n`` and the `sizes` of the releases already.

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
    """An intruder as quantities name it: by its keys, too, since a key may be left out of a release.

    Examples
    --------
    >>> intruder_words("neighbour", ["sex", "age"])
    'neighbour: sex, age'
    """
    return f"{name}: {', '.join(keys)}"


def missing_words(column: str) -> str:
    """Records without a value in a column, as quantities name them."""
    return f"missing values of {column}"


def changed_words(column: str) -> str:
    """Values of a column that are others than in the original, as quantities name them."""
    return f"changed values of {column}"


def rule_of(result: object) -> str:
    """What missing key values were taken for in a result: "wildcard", "category", or "" where none is missing."""
    return str(getattr(getattr(result, "cells", None), "rule", ""))


def notes_tree(result: object, *, but: Sequence[str] = (), inside: Sequence[str] = ()) -> dict[str, Tree]:
    """Give what a measure has to say about its figures, but for the notes named; its words may state counts.

    Those `inside` stay in a confidential document: they state what the document says otherwise, or not at all.
    """
    notes = getattr(result, "notes", {})
    return {
        str(name): InternalOnly(str(text)) if name in inside else Foreign(str(text))
        for name, text in notes.items()
        if name not in but
    }


def setting_for(ledger: Ledger, prefix: str, scenario: Scenario, results: Mapping[str, Any], n: int) -> Setting:
    """Say which relations hold between the figures of an intruder, of the results by place."""
    weights: Weights = "weight" if scenario.weight else "fraction" if scenario.sampling_fraction else "census"
    persons = scenario.person is not None
    threshold = scenario.limits.risk
    breaks = _breaks(results.values(), weights, scenario.sampling_fraction, threshold)
    return Setting(
        ledger, prefix, make_sizes(ledger, prefix, breaks), n,
        cells_known=not any(place.endswith(":category") for place in results) and not persons,
        persons=persons, weights=weights, fraction=scenario.sampling_fraction, alpha=scenario.alpha,
        threshold=threshold,
    )  # fmt: skip


def setting_of(ledger: Ledger, result: Any, n: int) -> Setting:
    """The same for a single result: assume the most that could be known.

    Relations that do not hold are left out by the audit.
    """
    cells = getattr(result, "cells", None)
    roles = getattr(cells, "roles", None)
    fraction = getattr(roles, "sampling_fraction", None)
    weights: Weights = "weight" if getattr(roles, "weight", None) else "fraction" if fraction else "census"
    persons = getattr(roles, "person", None) is not None
    # Only where the analyst stated it: a threshold from the data would tell a record's risk.
    asked = getattr(result, "asked", None)
    threshold = float(asked) if isinstance(asked, int | float) else None
    return Setting(
        ledger, "i0", make_sizes(ledger, "i0", _breaks([result], weights, fraction, threshold)), n,
        cells_known=not persons and not getattr(cells, "has_wildcards", False),
        persons=persons, weights=weights, fraction=fraction, alpha=getattr(roles, "alpha", 1.0), threshold=threshold,
    )  # fmt: skip


def _breaks(results: Any, weights: str, fraction: float | None, threshold: float | None) -> set[float]:
    """Sizes of cells at which a tested k, a bin of risk or the threshold divides the records."""
    breaks: set[float] = set()
    methods = []
    for result in results:
        breaks |= {float(k - 1) for k in getattr(result, "violations", {}) if isinstance(k, int)}
        if hasattr(result, "method") and hasattr(result, "histogram"):
            methods.append(result.method)
    if weights == "weight":
        return breaks
    known = 1.0 if fraction is None else fraction
    method = methods[0] if methods else "exact"
    breaks |= {largest_size(edge, known, method) for edge in RISK_EDGES}
    return breaks | ({largest_size(threshold, known, method, strictly=True)} if threshold else set())


# Figures that few changed records could carry: a loss inverts to their number where there are one, two or
# three.
# Each is told in as many digits as the records that lie otherwise in the release allow; where these are
# few, not at all.


# Values that are others in more records than these leave every figure its digits.
MANY = 500
# What figures are of a release that is as its original; the others are none.
ALIKE = {
    "auc": 0.5, "pearson_similarity": 1.0, "spearman_similarity": 1.0, "contingency_similarity": 1.0,
    "mean_overlap": 1.0, "min_overlap": 1.0,
}  # fmt: skip


def guard_by_changes(leaf: Tree, setting: PairSetting, pair: Any, variables: Sequence[str], name: str = "") -> Tree:
    """Guard an estimate of two files by the records that lie otherwise in the release, on the variables it is about.

    `name` is the figure's, where it is not 0 for a release that is as its original.
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
    """Records of the original that have no counterpart in a release, at least, on some variables taken together.

    Of several releases the one with fewest counts, but for those that are all as the original. One variable is enough
    where that is many records already. Values that cannot be compared are few.
    """
    try:
        single = _fewest(pair, [[name] for name in variables])
        return single if single >= MANY or len(variables) < 2 else _fewest(pair, [list(variables)])
    except SdcError:
        return 1


def _fewest(pair: Any, sets: Sequence[Sequence[str]]) -> int:
    moved = np.max([_moved(pair, names) for names in sets], axis=0) if sets else np.zeros(1)
    return int(np.floor(np.min(moved[moved > 0], initial=np.inf) if np.any(moved > 0) else 0))


def _moved(pair: Any, names: Sequence[str]) -> list[float]:
    sizes = pair.groups(names).size
    scale = [pair.n / max(1, n) for n in pair.sizes]
    moved = (np.maximum(0.0, sizes[0] - sizes[j] * factor).sum() for j, factor in enumerate(scale, 1))
    return [float(np.ceil(total - 1e-6)) for total in moved]
