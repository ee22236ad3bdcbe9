"""Attribute inference: guess an unknown value of a person from known ones by the nearest released record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sdckit.attacks import attack_files, attack_rates
from sdckit.attacks.attack_files import AttackFiles, Outcome, attacked
from sdckit.cells.pair import open_files
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, ScenarioError
from sdckit.numerics.array_types import Bools, Floats, Ints, Values
from sdckit.numerics.outlying import deviation
from sdckit.numerics.search.neighbours import prepare

FLOOR = 0.1  # of the standard deviation: least size that the tolerance refers to
ROUNDING = 1e-12  # relative margin for rounding errors at the bound of the tolerance


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Inference(attack_rates.AttackResult):
    """Result of `inference`.

    Attributes
    ----------
    success_rate : float
        Share of attacked people whose target is guessed right.
    baseline_rate : float
        The chance that the target of a random released row is right.
    control_rate, risk, verdict
        As for every attack; see `AttackResult`.
    target : str
        The column inferred.
    tolerance : str
        When a guess is right, in words.
    """

    measure: ClassVar[str] = "inference"
    target: str
    tolerance: str


def inference(
    original: Any,
    released: Any = None,
    *,
    known: Sequence[str] | None = None,
    target: str | None = None,
    control: Any = None,
    numeric: Sequence[str] | None = None,
    tol: float = 0.05,
    scale: float | None = None,
    n_attacks: int = 500,
    targets: int | None = None,
    by: Sequence[str] | str | None = None,
    level: float = 0.95,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> Inference:
    """Guess a confidential value of people from the released row nearest to what is known of them.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; rows need not belong to rows of the original.
    known : sequence of str
        Columns an intruder knows.
    target : str
        The column they want to know.
    control : data frame, optional
        People of the same population who were never used to make the release; left out where a pair holds them.
    numeric : sequence of str, optional
        Columns whose differences count, the target among them if it is to be guessed with a tolerance; all
        numbers, dates and times unless given. The others are equal or not; so is a target of dates.
    tol : float
        A guessed number g is right for the true t where |g - t| <= tol · max(|t|, scale).
    scale : float, optional
        In the unit of the target; a tenth of its standard deviation in the original unless given.
    n_attacks : int
        People attacked, of the original and of the control file; all where there are fewer.
    targets : int, optional
        So many people of the original, in place of `n_attacks`, drawn by a hash of `id` keyed by the seed; equally
        near rows are chosen by their values. Then the figures do not depend on the order of rows, nor on the engine
        that holds them. With `by` 1,000 or more.
    by : sequence of str or str, optional
        Subgroups, each attacked `n_attacks` times; see ``by_group``.
    level : float
        Confidence of the intervals.
    seed : int or numpy.random.Generator, optional
        Draws the people, and among rows equally near.
    scenario : Scenario, optional
        Gives what is not given here: the keys, the sensitive variable if it is one, the numeric columns.
    id, prefix : str, optional
        Column of the original carried along in ``records``; text before the names of result columns.

    Returns
    -------
    Inference
        ``success_rate``, ``baseline_rate``, ``control_rate``, ``risk`` with intervals, ``verdict``, ``records``,
        ``by_group``.

    Raises
    ------
    ColumnError
        The target is known; a column that a file does not have.
    DataError
        Fewer than two records in a file; a number out of range.
    ScenarioError
        Neither known columns nor target, nor a scenario that gives them.

    Notes
    -----
    Distances are Gower's, over the range in all files. Of rows equally near one is drawn at random. A missing
    guess is right where the true value is missing.

    References
    ----------
    Giomi, M., Boenisch, F., Wehmeyer, C. and Tasnádi, B. (2023). A unified framework for quantifying privacy
    risk in synthetic data. Proceedings on Privacy Enhancing Technologies.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 70), "pay": range(-925, -875), "ill": ["yes", "no"] * 25})
    >>> found = inference(people, people, known=["age"], target="ill", seed=1)
    >>> found.success_rate, found.baseline_rate
    (1.0, 0.5)
    """
    settings = attack_files.options(n_attacks, level, by, seed, scenario, prefix, targets)
    arguments.amount(tol, "tol", "is how far a guess may be off")
    if scale is not None:
        arguments.amount(scale, "scale", "is what tol is a share of")
    names, wanted = _roles(known, target, scenario)
    roles = {"known": names, "target": [wanted]}
    opened = open_files(original, released, control, id=id)
    files = attack_files.open_attack(opened, roles=roles, by=settings.by, by_id=settings.by_id)
    numbers = attack_files.numeric_columns(files, [*names, wanted], numeric, scenario)
    judge = _Judge.of(files, wanted, tol, scale, numeric=wanted in numbers)
    notes: dict[str, str] = {"tolerance": judge.words}
    attack_files.file_notes(files, [*names, wanted], notes)
    people = attack_files.draw_targets(files, settings, notes)

    def attack(j: int) -> Outcome:
        encoded = attack_files.encode_files(files, names, numbers, j)
        base, index = encoded[1], prepare(encoded[1])
        own = attack_files.draw_nearest(index, base, encoded[0].take(people.members), 1, settings.rng)[:, 0]
        others = np.zeros(0, np.bool_)
        if files.has_control:
            rows = attack_files.draw_nearest(index, base, encoded[2].take(people.others), 1, settings.rng)[:, 0]
            others = judge.right(j, rows, files.m + 1, people.others)
        return Outcome(judge.right(j, own, 0, people.members), others, judge.chance(j, people.members))

    return attacked(Inference, people, files, attack, settings, notes, target=wanted, tolerance=judge.words)


@dataclass(frozen=True, eq=False)
class _Judge:
    """Values of the target in every file, and whether guesses are right: equal, or within the tolerance (tol >= 0)."""

    values: tuple[Values, ...]
    tol: float
    scale: float
    words: str

    @classmethod
    def of(cls, files: AttackFiles, target: str, tol: float, scale: float | None, *, numeric: bool) -> _Judge:
        coding = files.codes(target)
        if not numeric or coding.kind != "numbers":
            return cls(coding.codes, -1.0, 0.0, "a guess is right where it is equal")
        values = files.numbers(target)
        if scale is None:
            known = values[0][~np.isnan(values[0])]
            scale = FLOOR * float(deviation(known)) if len(known) > 1 else 0.0
        return cls(values, tol, scale, f"a guess is right within {tol:g} of the true value's size")

    def right(self, j: int, rows: Ints, file: int, of: Ints) -> Bools:
        """Whether the target values of released rows `rows` are right for the records `of` of a file."""
        guess, true = self.values[j + 1][rows], self.values[file][of]
        if self.tol < 0:
            return np.asarray(guess == true)
        near = np.abs(guess - true) <= self._reach(true)
        return np.asarray(near | (np.isnan(guess) & np.isnan(true)))

    def _reach(self, true: Floats) -> Floats:
        """Largest admissible error of a guess; with a margin for rounding, so that a guess on the bound is right."""
        return self.tol * np.maximum(np.abs(true), self.scale) + ROUNDING * np.abs(true)

    def chance(self, j: int, of: Ints) -> Floats:
        """Share of the released rows whose target value is right for each of the records `of` of the original."""
        released, true = np.sort(self.values[j + 1]), self.values[0][of]  # NaN last
        if self.tol < 0:
            low = high = true
        else:
            away = self._reach(true)
            low, high = true - away, true + away
        between = np.searchsorted(released, high, "right") - np.searchsorted(released, low, "left")
        return between / len(released)


def _roles(known: Sequence[str] | None, target: str | None, scenario: Scenario | None) -> tuple[tuple[str, ...], str]:
    names = arguments.names(known, "known")
    if target is None and scenario is not None and len(scenario.sensitive) == 1:
        target = scenario.sensitive[0]
    if target is None:
        raise ScenarioError(
            "say which column is inferred: target='...', or a scenario with one sensitive variable", argument="target"
        )
    arguments.column(target, "target")
    if names is None and scenario is not None:
        names = scenario.keys
    if not names:
        raise ScenarioError("say which columns the intruder knows: known= or scenario=", argument="known")
    if target in names:
        raise ColumnError(f"{target!r} is known and the target; an intruder cannot infer what they know")
    return names, target
