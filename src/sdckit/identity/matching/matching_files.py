"""B1: open an original and its releases for matching, and decide how each variable is matched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.cells.pair import Pair, measured_columns, open_files, open_pair
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.matching import Matching
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.identity.matching.matching_options import DEFAULT_WIDTH, MatchBy, match_by


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The arguments of `matching_risk` that say by what records are matched; None where not given."""

    known: Sequence[str] = ()
    synthetic: Sequence[str] = ()
    numeric: Sequence[str] | None = None
    width: float | Sequence[float] | Mapping[str, float] | None = None
    relative: bool | Sequence[bool] | Mapping[str, bool] | None = None
    missing: MissingRule | None = None
    scenario: Scenario | None = None


@dataclass(frozen=True, eq=False)
class FilesToMatch:
    """The files, what two records must share, and what a reader must know of it."""

    pair: Pair
    by: MatchBy
    notes: dict[str, str]


def declared_matching(scenario: Scenario | None) -> Matching:
    """The scenario's table ``[matching]``; its defaults without a scenario.

    Examples
    --------
    >>> declared_matching(None).tol
    1e-09
    """
    scenario = arguments.scenario_or_none(scenario)
    return Matching() if scenario is None else scenario.matching


def files_to_match(
    original: Any, released: Any, asked: Asked, *, id: str | None, also: Sequence[str] = ()
) -> FilesToMatch:
    """Open the files and settle how each variable is matched: declared first, else as the data are.

    Of a scenario's keys that it calls neither known nor synthetic, those that every release left as they were are
    known. Numbers are those of `numeric` or the scenario, where one declares any, else those that
    `measured_columns` finds, and all that `width` names. `also`: further columns of the original.
    """
    scenario = arguments.scenario_or_none(asked.scenario)
    fixed = arguments.names(asked.known, "known") or ()
    made = arguments.names(asked.synthetic, "synthetic") or ()
    keys: tuple[str, ...] = ()
    if not fixed and not made and scenario is not None:
        keys = resolve_roles(scenario=scenario).keys
    names = keys or (*fixed, *made)
    said = declared_matching(scenario).among(names)
    if keys:
        fixed, made = said.known, said.synthetic
    rest = tuple(name for name in keys if name not in (*fixed, *made))
    declared = arguments.names(asked.numeric, "numeric")
    if declared is None and scenario is not None and scenario.numeric:
        declared = tuple(name for name in scenario.numeric if name in names)
    by: dict[str, Any] = {
        "width": asked.width if asked.width is not None else said.width, "missing": asked.missing,
        "relative": asked.relative, "scenario": scenario,
    }  # fmt: skip
    if by["width"] is None:
        by["width"] = DEFAULT_WIDTH
    if asked.relative is None:
        by["relative"] = {name: said.is_relative(name) for name in names}
    early = by  # before any file is read; lists wait until it is known which variables are numbers
    if declared is None:
        early = {
            **by,
            "width": _one_of(by["width"], DEFAULT_WIDTH),
            "relative": _one_of(by["relative"], True),
        }
    match_by(known=(*fixed, *rest), synthetic=made, numeric=declared or (), **early)
    roles = {"keys": keys} if keys else {"known": fixed, "synthetic": made}
    opened = open_files(original, released, id=id)
    pair = open_pair(opened, categories={}, unread=roles, also=also, aligned=True)
    changed = tuple(name for name in rest if not all(pair.identical([name])))
    fixed, made = (*fixed, *(name for name in rest if name not in changed)), (*made, *changed)
    numbers = measured_columns(pair, names) if declared is None else declared
    found = match_by(known=_in_order(fixed, names), synthetic=_in_order(made, names), numeric=numbers, **by)
    equal = {
        role: [name for name in some if name in found.equal]
        for role, some in {"known": found.known, "synthetic": found.synthetic}.items()
    }
    pair = open_pair(pair, categories=equal, numeric={"numeric": found.numeric}, aligned=True)
    return FilesToMatch(pair, found, _unused(asked, said, found))


def _one_of(given: Any, default: Any) -> Any:
    """One value in the place of a list."""
    is_list = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str)
    return default if is_list else given


def _in_order(some: Sequence[str], names: Sequence[str]) -> list[str]:
    return [name for name in names if name in some]


def _unused(asked: Asked, said: Matching, by: MatchBy) -> dict[str, str]:
    """Refuse a width given for nothing; of a scenario's, which other intruders may use, only say so."""
    given = asked.width if asked.width is not None else said.width
    if (
        isinstance(given, np.ndarray | Sequence | Mapping) or not given or by.widths
    ):  # a width of 0 asks for equality
        return {}
    known = [name for name in by.numeric if name in by.known]
    if known:
        why = f"{', '.join(known)} is left as it was"
        todo = f"a dict gives a known number a width: width={{{known[0]!r}: ...}}"
    else:
        why, todo = "none of the variables is a synthetic number", "numeric=[...] names those that are"
    if asked.width is not None:
        raise DataError(f"width is used by no variable: {why}; {todo}", argument="width")
    return {"width": f"the scenario's width is used by no variable: {why}"}


def refuse_missing(pair: Pair, by: MatchBy) -> None:
    """Keep the promise of missing='error'."""
    for name, rule in by.rules.items():
        if rule != "error":
            continue
        gaps = (
            [np.isnan(values) for values in pair.numbers(name)]
            if name in by.widths
            else [codes == 0 for codes in pair.codes(name).codes]
        )
        for label, gap in zip(pair.names, gaps, strict=True):
            if gap.any():
                words = f"{label}: {name!r} is missing in {int(gap.sum())} records, and missing='error'"
                raise DataError(f"{words}; complete it or choose 'category' or 'wildcard'")
