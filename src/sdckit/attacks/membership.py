"""Membership inference by the distance to the nearest released record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks import attack_files
from sdckit.attacks.attack_files import Outcome
from sdckit.attacks.attack_rates import FIGURES, AttackResult
from sdckit.cells.pair import open_files
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.search.neighbours import prepare


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Membership(AttackResult):
    """Result of `membership`.

    Attributes
    ----------
    success_rate, control_rate : float
        Share of attacked people of the original, and of the control file, who are taken for members.
    baseline_rate : float
        The same for somebody who calls as many members at random.
    auc : float
        Chance that a member is nearer to the release than somebody who is not, half of it where equally near.
    risk, verdict
        As for every attack; see `AttackResult`.
    """

    measure: ClassVar[str] = "membership"
    figures: ClassVar[tuple[str, ...]] = (*FIGURES, "auc")
    success_name: ClassVar[str] = "called_member"
    auc: float


def membership(
    original: Any,
    released: Any = None,
    *,
    control: Any = None,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    n_attacks: int = 500,
    by: Sequence[str] | str | None = None,
    level: float = 0.95,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> Membership:
    """Take people for members of the file where a released row is near to them.

    As many people are drawn from the original as from the control file. Whoever is at most as far from their
    nearest released row as the median of all of them is called a member.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; rows need not belong to rows of the original.
    control : data frame
        People of the same population who were never used to make the release; left out where a pair holds them.
    variables : sequence of str, optional
        What the intruder knows of the people; all columns that the files share unless given.
    numeric : sequence of str, optional
        Those whose differences count; all numbers, dates and times unless given. The others are equal or not.
    n_attacks : int
        People drawn from each of the two files; as many as the smaller one has where there are fewer.
    by : sequence of str or str, optional
        Subgroups, each attacked `n_attacks` times by the same cut; see ``by_group``.
    level : float
        Confidence of the intervals.
    seed : int or numpy.random.Generator, optional
        Draws the people.
    scenario : Scenario, optional
        Gives the variables where they are not given: keys, sensitive and numeric ones.
    id, prefix : str, optional
        Column of the original carried along in ``records``; text before the names of result columns.

    Returns
    -------
    Membership
        ``success_rate``, ``baseline_rate``, ``control_rate``, ``auc``, ``risk`` with intervals, ``verdict``,
        ``records``, ``by_group``.

    Raises
    ------
    ColumnError
        A column that a file does not have.
    DataError
        No control file; fewer than two records in a file; a number out of range.

    References
    ----------
    Shokri, R., Stronati, M., Song, C. and Shmatikov, V. (2017). Membership inference attacks against machine
    learning models. IEEE Symposium on Security and Privacy. Yeom, S., Giacomelli, I., Fredrikson, M. and Jha, S.
    (2018). Privacy risk in machine learning. IEEE Computer Security Foundations Symposium.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 70), "pay": range(900, 950)})
    >>> others = people.select(pl.col("age") + 0.5, pl.col("pay") + 0.5)
    >>> found = membership(people, people, control=others, seed=1)
    >>> found.success_rate, found.control_rate, found.auc
    (1.0, 0.0, 1.0)
    """
    settings = attack_files.options(n_attacks, level, by, seed, scenario, prefix)
    notes: dict[str, str] = {}
    opened = open_files(original, released, control, id=id)
    if opened.control is None:
        raise DataError("control= is missing: members show only beside people who are none", argument="control")
    names = attack_files.all_variables(opened, variables, scenario, notes)
    files = attack_files.open_attack(opened, roles={"variables": names}, by=settings.by)
    numbers = attack_files.numeric_columns(files, names, numeric, scenario)
    attack_files.file_notes(files, names, notes)
    targets = attack_files.draw_targets(files, settings, notes, balanced=True)
    whole = targets.parts[0]

    def attack(j: int) -> Outcome:
        own, release, other = attack_files.encode_files(files, names, numbers, j)
        index = prepare(release)
        tolerance = release.metric.tolerance
        members = index.nearest(own.take(targets.members), 1).distance[:, 0]
        others = index.nearest(other.take(targets.others), 1).distance[:, 0]
        drawn = members[whole.members], others[whole.others]
        cut = _median(np.concatenate(drawn)) + tolerance
        called, others_called = members <= cut, others <= cut
        chance = np.zeros(len(called))
        for part in targets.parts:
            both = np.concatenate([called[part.members], others_called[part.others]])
            chance[part.members] = both.mean() if len(both) else np.nan
        return Outcome(called, others_called, chance, {"auc": _area(*drawn, tolerance)})

    return attack_files.attacked(Membership, targets, files, attack, settings, notes)


def _median(values: NDArray[np.float64]) -> float:
    """Lower median of the distances."""
    return float(np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2])


def _area(members: NDArray[np.float64], others: NDArray[np.float64], tolerance: float) -> float:
    """Area under the ROC curve: probability that a member is nearer than a non-member, ties counted half."""
    ordered = np.sort(others)
    farther = len(ordered) - np.searchsorted(ordered, members + tolerance, "right")
    nearer = np.searchsorted(ordered, members - tolerance, "left")
    return float((farther + (len(ordered) - nearer)).sum() / 2 / (len(members) * len(ordered)))
