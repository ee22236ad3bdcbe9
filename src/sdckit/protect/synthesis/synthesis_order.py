"""Which variables are synthesised, in which order, and what predicts each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_formulas import (
    Factor,
    Predicted,
    check_order,
    order_by_predictors,
    read_predictors,
)
from sdckit.protect.synthesis.synthesis_variables import Variable, is_usable, refuse_unfit


def targets_in_order(
    named: tuple[str, ...] | None, order: Any, apart: set[str], variables: Mapping[str, Variable], n: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The variables to synthesise in their order, and a note on those that cannot be."""
    given = arguments.names(order, "order")
    if given is not None:
        for name in given:
            if name not in variables:
                says = f"order: no column {name!r} in the data; {did_you_mean(str(name), list(variables))}"
                raise ColumnError(says, argument="order")
    flat = [name for name, one in variables.items()
            if one.n_levels + (one.n_missing > 0) < 2 or one.kind == "empty"]  # fmt: skip
    left: dict[str, str] = {}
    targets = named
    if targets is None:
        targets = tuple(name for name in variables if name not in {*flat, *apart})
        if flat:
            left = {"left": f"{', '.join(flat)} hold one value or none, and stay"}
        if given is not None:
            first = [name for name in given if name not in flat]
            targets = (*first, *(name for name in targets if name not in given))
    if not targets:
        raise DataError("no column varies, there is nothing to synthesise")
    refuse_unfit([variables[name] for name in targets], n)
    if named is not None and given is not None:
        if set(given) != set(named):
            says = "order= names exactly the columns to synthesise, in the order they are drawn"
            raise ColumnError(says, argument="order")
        targets = given
    return targets, left


def general_predictors(
    given: Any, order: tuple[str, ...], apart: set[str], variables: Mapping[str, Variable], n: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The variables that predict and stay as they are, and a note on those that cannot."""
    names = arguments.names(given, "predictors")
    if names is not None and (both := set(names) & set(order)):
        says = f"predictors: {sorted(both)[0]!r} is synthesised; it predicts those after it anyway"
        raise ColumnError(says, argument="predictors")
    if names is not None and (bad := [name for name in names if not is_usable(variables[name], n)]):
        says = f"predictors: {bad[0]!r} does not vary, or is a list of names; leave it out"
        raise DataError(says, argument="predictors")
    rest = [name for name in variables if name not in order and name not in apart]
    usable = tuple(name for name in rest if is_usable(variables[name], n))
    if names is not None:
        return names, {}
    unused = [name for name in rest if name not in usable]
    said = f"{', '.join(unused)} predict nothing: one value, or a list of names"
    return usable, {"predictors": said} if unused else {}


def in_order(
    targets: tuple[str, ...], given: Any, variables: Mapping[str, Variable], *, joint: Sequence[str],
    helpers: tuple[str, ...], fixed: bool,
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]], dict[str, Predicted]]:  # fmt: skip
    """The order in which variables are drawn, the columns that predict each, and the formulas of those that have one.

    `given`: what predicts some of them, by variable. `joint`: those that have one normal distribution; they are
    drawn one after the other, each from its regression on the others before, which is the same. `helpers`: what
    predicts where nothing is said, beside those drawn before. `fixed`: the order is the caller's. Raises
    `ColumnError` and `DataError`: predictors that are not there, of no use, in a circle or drawn later; joint
    variables with different predictors, or apart in the order.
    """
    asked = read_predictors(given, targets, list(variables)) if isinstance(given, Mapping) else {}
    _refuse_useless(asked, targets, variables)
    asked = _jointly(asked, [name for name in targets if name in joint])
    together = _together(targets, joint, fixed=fixed)
    if fixed:
        check_order(together, asked)
    else:
        together = _together(order_by_predictors(together, asked), joint, fixed=False)
        check_order(together, asked)
    by_name: dict[str, tuple[str, ...]] = {}
    for at, name in enumerate(together):
        before = (*helpers, *together[:at])
        by_name[name] = asked[name].columns if name in asked else before
    return together, by_name, {name: one for name, one in asked.items() if one.terms is not None}


def _refuse_useless(
    asked: Mapping[str, Predicted], targets: Sequence[str], variables: Mapping[str, Variable]
) -> None:
    n = len(next(iter(variables.values())).held.level)
    for name, one in asked.items():
        for column in one.columns:
            if column not in targets and not is_usable(variables[column], n):
                says = (
                    f"predictors of {name!r}: {column!r} does not vary, or is a list of names; leave it out"
                )
                raise DataError(says, argument="predictors")


def _jointly(asked: dict[str, Predicted], joint: Sequence[str]) -> dict[str, Predicted]:
    """Joint variables with the predictors that they share, and those of them that come before."""
    said = [asked[name] for name in joint if name in asked]
    if not said:
        return asked
    if len(said) < len(joint) or any(one != said[0] for one in said):
        says = (
            f"predictors: {', '.join(joint)} have one joint distribution ('multivariate_normal') given the same "
            "predictors; name the same for each of them"
        )
        raise DataError(says, argument="predictors")
    if inside := set(said[0].columns) & set(joint):
        says = f"predictors: {min(inside)!r} is one of the joint variables; they need not predict each other"
        raise DataError(says, argument="predictors")
    found = dict(asked)
    for at, name in enumerate(joint):
        more = tuple((Factor(one, (one,), "column"),) for one in joint[:at])
        terms = None if said[0].terms is None else (*said[0].terms, *more)
        found[name] = Predicted((*said[0].columns, *joint[:at]), terms)
    return found


def _together(order: Sequence[str], joint: Sequence[str], *, fixed: bool) -> tuple[str, ...]:
    """Joint variables one after the other, from where the first of them stands: they share what predicts them."""
    places = [at for at, name in enumerate(order) if name in joint]
    if not places or places[-1] - places[0] == len(places) - 1:
        return tuple(order)
    if fixed:
        says = "order: variables of 'multivariate_normal' are drawn together; name them one after the other"
        raise DataError(says, argument="order")
    block = [name for name in order if name in joint]
    return (*order[: places[0]], *block, *(name for name in order[places[0] :] if name not in joint))
