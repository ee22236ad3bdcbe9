"""F13: edit rules that a release breaks: records whose values contradict each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair import Pair, open_files, read_pair, rows_belong
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.data import arguments, rule_conditions
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools

MISSING_RULE = "a missing value breaks no rule but one on missing values"
NO_RULES = "there is no edit rule; give rules=, or declare [[rules]] in the scenario"


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def rule_shares(before: Bools, after: Bools, *, aligned: bool) -> tuple[float, float, float]:
    """Shares of the records that break a rule before, and after; and of those that newly break it.

    Newly: they kept it before where records are `aligned`, else by how much the share has grown.

    >>> rule_shares(np.array([True, False, False, False]), np.array([False, True, True, False]), aligned=True)
    (0.25, 0.5, 0.5)
    >>> rule_shares(np.array([True, False, False, False]), np.array([False, True, True, False]), aligned=False)
    (0.25, 0.5, 0.25)
    """
    original, released = float(before.mean()), float(after.mean())
    return original, released, float((after & ~before).mean()) if aligned else max(released - original, 0.0)


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class EditRules(PairResult):
    """Records that break edit rules, in the original and in its releases.

    Attributes
    ----------
    broken_rules : float
        Of the rule that is newly broken most: the share of the records that newly break it, 0 to 1; NaN where no rule
        could be judged.
    rules : tuple of str
        The rules in words.
    columns : tuple of tuple of str
        The columns of each rule.
    shares : tuple of tuple of (float, float, float)
        For each release and rule: the share of the original's records that break it, of the release's, and of those
        that newly break it; NaN where it could not be judged.
    unjudged : tuple of str
        Rules that could not be judged, with the reason.
    """

    measure: ClassVar[str] = "edit_rules"
    figures: ClassVar[tuple[str, ...]] = ("broken_rules",)
    broken_rules: float = math.nan
    rules: tuple[str, ...] = ()
    columns: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    shares: tuple[tuple[tuple[float, float, float], ...], ...] = field(default=(), repr=False)
    unjudged: tuple[str, ...] = ()

    @cached_property
    def table(self) -> Any:
        """A row per release and rule in a frame of the caller's engine: ``original``, ``released``, ``newly``."""
        rows = [
            (j, words, *row) for j, of in enumerate(self.shares, 1) for words, row in zip(self.rules, of, strict=True)
        ]
        names = ("release", "rule", "original", "released", "newly")
        return self.pair.table({name: [row[at] for row in rows] for at, name in enumerate(names)})


# --- measure ------------------------------------------------------------------------------------------


def edit_rules(
    original: Any,
    released: Any = None,
    *,
    rules: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    aligned: bool | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
) -> EditRules:
    """Measure how many records contradict themselves, in a release and in its original.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them.
    rules : dict or list of dict, optional
        ``{"marital": {"when": {"age": {"below": 16}}, "value": "single"}}``: where all conditions hold, the column has
        this value (or one of a list, or fulfils a condition). A condition is a value, a list of values, a dict with
        "below", "at_most", "above", "at_least", or ``{"missing": True}``. Those of the scenario unless given.
    aligned : bool, optional
        Whether row i of a release was made from row i of the original; what the scenario says unless given.
    scenario : Scenario, optional
    id : str, optional
        Column that says which records belong together.

    Returns
    -------
    EditRules
        ``broken_rules``, and ``table`` with the shares of each rule.

    Raises
    ------
    DataError
        No rule, or one in another form.

    Notes
    -----
    A record breaks a rule where all of its conditions hold and its value is another; a missing value breaks none but a
    rule on missing values. Newly broken are those that kept it in the original, where records belong together; else
    the share by which they are more. A rule is not judged where a file lacks a column of it, or has it recoded.

    References
    ----------
    Fellegi, I. P. and Holt, D. (1976). A systematic approach to automatic edit and imputation. Journal of the American
    Statistical Association 71, 17-35.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [12, 14, 40, 41], "marital": ["single", "single", "married", "single"]})
    >>> release = survey.with_columns(marital=pl.Series(["married", "single", "single", "single"]))
    >>> rules = {"marital": {"when": {"age": {"below": 16}}, "value": "single"}}
    >>> edit_rules(survey, release, rules=rules, aligned=True).broken_rules
    0.25
    """
    arguments.scenario_or_none(scenario)
    if aligned is not None:
        arguments.flag(aligned, "aligned")
    listed = _chosen(rules, scenario)
    opened = open_files(original, released, id=id)
    together = rows_belong(opened, aligned, scenario)
    shared, _ = opened.shared_columns()
    names = tuple(dict.fromkeys(name for rule in listed for name in rule.columns if name in shared))
    pair = read_pair(opened, {"rules": names}, aligned=together) if names else opened
    shares, unjudged = _shares(pair, listed, frozenset(names), together)
    notes = {"rules": f"not judged: {'; '.join(unjudged)}"} if unjudged else {}
    per_release = tuple({"broken_rules": _worst(of_release)} for of_release in shares)
    figures = mean_figures(per_release, notes)
    return EditRules(
        pair, per_release, MISSING_RULE, notes, rules=tuple(rule.words for rule in listed),
        columns=tuple(rule.columns for rule in listed), shares=shares, unjudged=unjudged, **figures,
    )  # fmt: skip


def _chosen(rules: Any, scenario: Scenario | None) -> tuple[rule_conditions.EditRule, ...]:
    given = scenario.rules if rules is None and scenario is not None else rules
    listed = rule_conditions.read_edit_rules(given or ())
    if not listed:
        raise DataError(NO_RULES, argument="rules")
    return listed


def _shares(
    pair: Pair, rules: Sequence[rule_conditions.EditRule], present: frozenset[str], aligned: bool
) -> tuple[tuple[tuple[tuple[float, float, float], ...], ...], tuple[str, ...]]:
    """Shares by release and rule, and the rules that could not be judged."""
    original = rule_conditions.RuleBreakers(pair.original if pair.raw is None else pair.raw)
    recoded = {recoding.column for recoding in pair.recoded}
    unknown = (math.nan, math.nan, math.nan)
    shares, unjudged = [], []
    for frame, order in zip(pair.released, pair.orders, strict=True):
        release, of_release = rule_conditions.RuleBreakers(frame), []
        for rule in rules:
            absent = [name for name in rule.columns if name not in present]
            flags = None if absent or recoded & {*rule.columns} else original.beside(release, rule)
            if flags is None:
                reason = f"no column {absent[0]} in every file" if absent else "a column is recoded or of another kind"
                unjudged.append(f"{rule.words} ({reason})")
                of_release.append(unknown)
                continue
            before, after = flags
            of_release.append(rule_shares(before, after if order is None else after[order], aligned=aligned))
        shares.append(tuple(of_release))
    return tuple(shares), tuple(dict.fromkeys(unjudged))


def _worst(of_release: Sequence[tuple[float, float, float]]) -> float:
    newly = np.array([row[2] for row in of_release])
    return math.nan if np.isnan(newly).all() else float(np.nanmax(newly))
