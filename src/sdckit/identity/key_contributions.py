"""A9: which key makes the file risky: uniques, violations and risk when keys are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.margins import without_keys
from sdckit.data.missing import MissingRule
from sdckit.data.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.risk_kernel import census_risk, exact_risk
from sdckit.result import Result

if TYPE_CHECKING:
    from sdckit.cells.table import Cells

__all__ = ["Contribution", "KeyContributions", "key_contributions"]


@dataclass(frozen=True)
class Contribution:
    """What leaving out one key, or a pair, changes.

    Attributes
    ----------
    variables : tuple of str
        The keys left out.
    uniques_without, uniques_saved : int
        Sample uniques (records) that remain, and that are gone.
    violations_without : dict of int to int
        Records that still violate each k.
    risk_without : float
        Global risk that remains.
    suggestion : str
        In words, what leaving the keys out brings.
    """

    variables: tuple[str, ...]
    uniques_without: int
    uniques_saved: int
    violations_without: dict[int, int]
    risk_without: float
    suggestion: str


@dataclass(frozen=True, eq=False, repr=False)
class KeyContributions(Result):
    """Which keys to recode first.

    Attributes
    ----------
    uniques : int
        Sample uniques with all keys.
    risk : float
        Global risk with all keys.
    violations : dict of int to int
        Records that violate each k with all keys.
    table : tuple of Contribution
        One per key, then one per pair; within each, what saves most uniques first.
    """

    measure: ClassVar[str] = "key_contributions"
    figures: ClassVar[tuple[str, ...]] = ("n", "uniques", "risk", "violations", "table_figures")
    cells: Cells
    k: tuple[int, ...]
    pairs: bool
    prefix: str = ""
    notes: dict[str, str] = field(default_factory=dict)

    @cached_property
    def n(self) -> int:
        """Records."""
        return self.cells.n

    @cached_property
    def _whole(self) -> tuple[int, float, dict[int, int]]:
        return _figures(dict(self.cells.columns), self.cells.table.size, self.k, self.n)

    @cached_property
    def uniques(self) -> int:
        """Sample uniques with all keys."""
        return self._whole[0]

    @cached_property
    def risk(self) -> float:
        """Global risk with all keys."""
        return self._whole[1]

    @cached_property
    def violations(self) -> dict[int, int]:
        """Records that violate each k with all keys."""
        return self._whole[2]

    @cached_property
    def missing_rule(self) -> str:
        """What a missing key value was taken for, in words."""
        return self.cells.missing_rule

    @cached_property
    def table(self) -> tuple[Contribution, ...]:
        """What leaving out each key, and each pair, changes."""
        single = [self._without((key,)) for key in self.cells.keys] if len(self.cells.keys) > 1 else []
        pairs = combinations(self.cells.keys, 2) if self.pairs and len(self.cells.keys) > 2 else ()
        double = [self._without(pair) for pair in pairs]
        rank = lambda one: (-one.uniques_saved, one.risk_without)  # noqa: E731
        return (*sorted(single, key=rank), *sorted(double, key=rank))

    @cached_property
    def table_figures(self) -> dict[str, dict[str, float]]:
        """The table by the names of the keys left out."""
        return {
            " + ".join(one.variables): {
                "uniques_without": one.uniques_without,
                "uniques_saved": one.uniques_saved,
                "risk_without": one.risk_without,
            }
            for one in self.table
        }

    def _without(self, variables: tuple[str, ...]) -> Contribution:
        columns, size = without_keys(self.cells, variables)
        uniques, risk, violations = _figures(columns, size, self.k, self.n)
        saved = self.uniques - uniques
        name = " and ".join(variables)
        words = (
            f"without {name}, {saved} of {self.uniques} sample uniques are gone: coarsen or drop it"
            if saved > 0
            else f"{name} makes nobody unique"
        )
        return Contribution(variables, uniques, saved, violations, risk, words)

    @property
    def records(self) -> Any:
        """Refuse: the measure speaks of keys, not of records.

        Raises
        ------
        DataError
            Always; `individual_risk` has figures per record.
        """
        raise DataError("key contributions are figures of the file; individual_risk gives figures per record")


def _figures(
    columns: dict[str, Any], size: Any, k: Sequence[int], n: int
) -> tuple[int, float, dict[int, int]]:
    f = columns["sample_frequency"].astype(np.float64)
    big_f = columns.get("population_frequency")
    risk = census_risk(f) if big_f is None else exact_risk(f, np.maximum(f, big_f))
    violations = {one: int(size[f < one - 1e-9].sum()) for one in k}
    return int(size[f < 1 + 1e-9].sum()), float(np.dot(risk, size) / n), violations


def key_contributions(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    k: Sequence[int] = (2, 3, 5),
    missing: MissingRule | None = None,
    alpha: float | None = None,
    pairs: bool = True,
    scenario: Scenario | None = None,
) -> KeyContributions:
    """Show which key, and which pair of keys, makes the file risky: what is left when it is left out.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    weight : str, optional
        Column of sampling weights, persons that a record stands for.
    sampling_fraction : float, optional
        Share of the population in the file, in (0, 1], instead of a weight.
    k : sequence of int
        Levels of k-anonymity to count violations of.
    missing, alpha
        As in `key_frequencies`.
    pairs : bool
        Whether to leave out every pair of keys too.
    scenario : Scenario, optional
        Gives what is not given here.

    Returns
    -------
    KeyContributions
        ``uniques``, ``risk``, ``violations`` with all keys and ``table`` of `Contribution`.

    Raises
    ------
    ColumnError, DataError, ScenarioError
        As `key_frequencies`; a scenario with a person column is refused, since distinct persons cannot
        be counted from cells.

    Notes
    -----
    Exact: the cells of fewer keys are merged from the cells of all keys, under the same missing rule.

    References
    ----------
    Elliot, M., Mackey, E. and O'Hara, K. (2020). The Anonymisation Decision-Making Framework, 2nd ed.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [30, 40, 30, 30]})
    >>> result = key_contributions(survey, keys=["sex", "age"])
    >>> [(one.variables, one.uniques_without) for one in result.table]
    [(('age',), 0), (('sex',), 1)]
    """
    cells = tabulate_given(
        data, keys=keys, weight=weight, sampling_fraction=sampling_fraction, missing=missing, alpha=alpha,
        scenario=scenario,
    )  # fmt: skip
    if cells.roles.person is not None:
        raise DataError(
            "distinct persons cannot be counted from cells; leave person= out for key contributions"
        )
    return KeyContributions(cells.in_memory(), tuple(k), pairs)
