"""Linkability: join two sets of attributes of one person through their nearest released records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sdckit.attacks import attack_files, attack_rates
from sdckit.cells.pair import open_files
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.search.neighbours import prepare


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Linkability(attack_rates.AttackResult):
    """Result of `linkability`.

    Attributes
    ----------
    success_rate : float
        Share of attacked people whose two pieces of knowledge lead to a common released row.
    baseline_rate : float
        The chance that two random sets of released rows have one in common.
    control_rate, risk, verdict
        As for every attack; see `AttackResult`.
    n_neighbors : int
        Nearest rows looked at for each piece.
    """

    measure: ClassVar[str] = "linkability"
    n_neighbors: int


def linkability(
    original: Any,
    released: Any = None,
    *,
    known: tuple[Sequence[str], Sequence[str]],
    control: Any = None,
    numeric: Sequence[str] | None = None,
    n_attacks: int = 500,
    targets: int | None = None,
    n_neighbors: int = 1,
    by: Sequence[str] | str | None = None,
    level: float = 0.95,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> Linkability:
    """Try to join two pieces of knowledge of the same person through the release.

    Somebody holds two files of the same people without a common name: one has the columns A, the other the
    columns B. For a person they look up the released rows nearest by A, and those nearest by B. A row in both
    says that the two pieces belong together.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; rows need not belong to rows of the original.
    known : pair of sequences of str
        The columns A and the columns B; none in both.
    control : data frame, optional
        People of the same population who were never used to make the release; left out where a pair holds them.
    numeric : sequence of str, optional
        Columns whose differences count; all numbers, dates and times unless given. The others are equal or not.
    n_attacks : int
        People attacked, of the original and of the control file; all where there are fewer.
    targets : int, optional
        So many people of the original, in place of `n_attacks`, drawn by a hash of `id` keyed by the seed; equally
        near rows are chosen by their values. Then the figures do not depend on the order of rows, nor on the engine
        that holds them. With `by` 1,000 or more.
    n_neighbors : int
        Nearest rows looked at for each piece.
    by : sequence of str or str, optional
        Subgroups, each attacked `n_attacks` times; see ``by_group``.
    level : float
        Confidence of the intervals.
    seed : int or numpy.random.Generator, optional
        Draws the people, and among rows equally near.
    scenario : Scenario, optional
        Says which columns are numeric.
    id, prefix : str, optional
        Column of the original carried along in ``records``; text before the names of result columns.

    Returns
    -------
    Linkability
        ``success_rate``, ``baseline_rate``, ``control_rate``, ``risk`` with intervals, ``verdict``, ``records``,
        ``by_group``.

    Raises
    ------
    ColumnError
        `known` is not two lists without a common column; a column that a file does not have.
    DataError
        Fewer than two records in a file; more neighbours than released rows; a number out of range.

    Notes
    -----
    Distances are Gower's, over the range in all files. Of rows equally near one is drawn at random, so the
    order of the rows says nothing.

    References
    ----------
    Giomi, M., Boenisch, F., Wehmeyer, C. and Tasnádi, B. (2023). A unified framework for quantifying privacy
    risk in synthetic data. Proceedings on Privacy Enhancing Technologies.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 70), "sex": ["f", "m"] * 25, "pay": range(900, 950)})
    >>> found = linkability(people, people, known=(["age"], ["pay"]), seed=1)
    >>> found.success_rate, found.baseline_rate
    (1.0, 0.02)

    The same people in whatever order the rows come:

    >>> numbered = people.with_row_index("id")
    >>> linkability(numbered, people, known=(["age"], ["pay"]), seed=1, id="id", targets=20).notes["targets"]
    'of 20 people drawn by their id'
    """
    settings = attack_files.options(n_attacks, level, by, seed, scenario, prefix, targets)
    k = arguments.count(n_neighbors, "n_neighbors", "is how many nearest records are looked at")
    sides = _sides(known)
    names = [*sides[0], *sides[1]]
    files = attack_files.open_attack(
        open_files(original, released, control, id=id), roles={"known": names}, by=settings.by, by_id=settings.by_id
    )
    numbers = attack_files.numeric_columns(files, names, numeric, scenario)
    if k > min(files.pair.sizes[: files.m]):
        raise DataError(f"n_neighbors={k} is more than a release has rows; give fewer", argument="n_neighbors")
    notes: dict[str, str] = {}
    attack_files.file_notes(files, names, notes)
    people = attack_files.draw_targets(files, settings, notes)

    def attack(j: int) -> attack_files.Outcome:
        rows = []
        for side in sides:
            encoded = attack_files.encode_files(files, side, numbers, j)
            base, index = encoded[1], prepare(encoded[1])
            nearest = [attack_files.draw_nearest(index, base, encoded[0].take(people.members), k, settings.rng)]
            if files.has_control:
                nearest.append(attack_files.draw_nearest(index, base, encoded[2].take(people.others), k, settings.rng))
            rows.append(nearest)
        hits = [_common(a, b) for a, b in zip(*rows, strict=True)]
        chance = _chance(files.pair.sizes[j], k)
        others = hits[1] if files.has_control else np.zeros(0, np.bool_)
        return attack_files.Outcome(hits[0], others, np.full(len(people.members), chance))

    return attack_files.attacked(Linkability, people, files, attack, settings, notes, n_neighbors=k)


def _sides(known: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if isinstance(known, str) or not isinstance(known, Sequence) or len(known) != 2:
        raise ColumnError("known= takes two lists of columns: known=([...], [...])", argument="known")
    first, second = (arguments.names(side, "known") for side in known)
    if not first or not second:
        raise ColumnError("known= takes two lists of columns, each with at least one", argument="known")
    if both := [name for name in first if name in second]:
        raise ColumnError(
            f"known: {both[0]!r} is in both lists: what joins the two pieces anyway is no attack; leave it out of one",
            argument="known",
        )
    return first, second


def _common(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether the neighbour sets `a` and `b`, each (queries, k), have a row in common, query by query."""
    out: np.ndarray = (a[:, :, None] == b[:, None, :]).any(axis=(1, 2))
    return out


def _chance(n: int, k: int) -> float:
    """Probability that two random sets of k of n rows meet: 1 - C(n-k, k) / C(n, k)."""
    if 2 * k > n:
        return 1.0
    return 1 - math.comb(n - k, k) / math.comb(n, k) if k > 1 else 1 / n
