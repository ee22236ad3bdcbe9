"""C2: beta-likeness, the relative gain of an intruder's belief in a sensitive value once the key is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.closeness.cell_classes import VIOLATED, ClassResult, Columns, Spread, open_classes
from sdckit.cells.record_result import IntervalKind
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.numerics.compiling import njit

# --- kernel: numbers in, numbers out ------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _gains(edges, level, count, share, bound, gain, exceeding):  # type: ignore[no-untyped-def]
    """Largest relative gain of each class into `gain` (K,), values with a gain above their `bound` into `exceeding`.

    `edges` (K + 1,): the entries of each class in `level` and `count`; `share`, `bound`: of each level in the file.
    """
    for cell in range(len(edges) - 1):
        start, stop = edges[cell], edges[cell + 1]
        total = 0.0
        for e in range(start, stop):
            total += count[e]
        largest, over = 0.0, 0
        for e in range(start, stop):
            rise = count[e] / total / share[level[e]] - 1.0
            largest = max(largest, rise)
            over += rise > bound[level[e]] + 1e-12
        gain[cell] = largest
        exceeding[cell] = over


def gains(spread: Spread) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Largest relative gain of each class, and the number of its gains above -ln of the share of their value."""
    gain, exceeding = np.empty(spread.n_cells), np.empty(spread.n_cells, np.int64)
    _gains(spread.edges, spread.level, spread.count, spread.share, -np.log(spread.share), gain, exceeding)
    return gain, exceeding


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class BetaLikeness(ClassResult):
    """beta-likeness of each sensitive variable.

    Attributes
    ----------
    n : int
        Records.
    variables : tuple of str
        The sensitive variables.
    basic, enhanced : dict of str to float
        The smallest beta for which each variable is beta-like; infinite where no beta is enough.
    exceeding : dict of str to int
        Pairs of a class and a value whose gain exceeds -ln of the value's share in the file.
    violations : dict
        ``violations[variable][kind][beta]``: records in a class above beta.
    records : frame
        ``beta_<variable>``, ``enhanced_beta_<variable>``: the figures of a record's class.
    table : frame
        A row per cell, the worst first; for the session only.
    """

    measure: ClassVar[str] = "beta_likeness"
    figures: ClassVar[tuple[str, ...]] = ("n", "basic", "enhanced", "exceeding", *VIOLATED)
    largest: ClassVar[dict[str, str]] = {"basic": "beta", "enhanced": "enhanced_beta"}
    judged: ClassVar[dict[str, str]] = largest
    exceeding: dict[str, int] = field(default_factory=dict)

    @cached_property
    def basic(self) -> dict[str, float]:
        """Largest relative gain of a class, by variable."""
        return self._largest("basic")

    @cached_property
    def enhanced(self) -> dict[str, float]:
        """The same, infinite where a gain exceeds -ln of the value's share in the file."""
        return self._largest("enhanced")


# --- measure ------------------------------------------------------------------------------------------


def beta_likeness(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    limits: Sequence[float] | float = (1.0, 2.0),
    missing: MissingRule | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> BetaLikeness:
    """Measure by how much knowing the key raises the share of a sensitive value above its share in the file.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    sensitive : str or sequence of str
        Variables that they would learn; a missing value is one more value.
    limits : float or sequence of float
        Values beta to count violations of, above 0.
    missing : {"category", "wildcard", "error"} or dict, optional
        What a missing *key* value is; default a category. As a wildcard, the class of a record is all
        records that match it.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its class less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    BetaLikeness
        ``basic``, ``enhanced``, ``exceeding``, ``violations``, ``records``, ``table``.

    Raises
    ------
    ColumnError
        As `key_frequencies`; a sensitive variable that is a key.
    DataError
        As `key_frequencies`; a sensitive variable without any value; a limit not above 0.
    ScenarioError
        No sensitive variable.

    Notes
    -----
    With share p of a value in the file and q in a class, its gain is (q - p)/p. Basic: the largest gain, 0
    where none is positive. Enhanced asks that every gain is at most the smaller of beta and -ln p: it is the
    largest gain where each is at most -ln p, else infinite, since no beta mends that. A class of one value
    that others have, too, is always such a case. pyCANON prints the largest gain cut at the largest -ln p.

    References
    ----------
    Cao, J. and Karras, P. (2012). Publishing microdata with a robust privacy guarantee. PVLDB 5(11).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "health": ["yes", "no", "yes", "yes"]})
    >>> result = beta_likeness(survey, keys=["sex"], sensitive="health")
    >>> result.basic["health"], result.enhanced["health"], result.exceeding["health"]
    (1.0, inf, 1)
    """
    classes = open_classes(
        BetaLikeness, data, keys=keys, sensitive=sensitive, limits=limits, limit="beta", missing=missing, by=by,
        interval=interval, seed=seed, scenario=scenario, id=id, prefix=prefix,
    )  # fmt: skip
    classes, by_part = classes.measured(_of_classes)
    pairs, exceeded = ({name: sum(part[i] for part in parts) for name, parts in by_part.items()} for i in (0, 1))
    for name in classes.variables:
        if pairs[name]:
            classes.notes[f"enhanced {name}"] = (
                f"infinite: in {exceeded[name]} classes a value gains more than -ln of its share in the file, so that "
                "no beta is enough"
            )
    return classes.result(["beta", "enhanced_beta"], exceeding=pairs)


def _of_classes(name: str, spread: Spread) -> tuple[Columns, tuple[int, int]]:
    """Columns of a variable; its gains that are too large for any beta, and the classes that have them."""
    gain, exceeding = gains(spread)
    columns = {f"beta_{name}": gain, f"enhanced_beta_{name}": np.where(exceeding > 0, np.inf, gain)}
    return columns, (int(exceeding.sum()), int(np.count_nonzero(exceeding)))
