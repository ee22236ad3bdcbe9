"""Whether the noise that a log lists adds up to the ε that it claims; the values of a file say nothing of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sdckit.errors import DataError
from sdckit.protect.change import Change
from sdckit.protect.margins.privacy_budget import Spent, cost_of, epsilon_of
from sdckit.protect.margins.synthesize_margins import MarginsChange

CLOSE = 1e-6  # relative; a log has its numbers to 15 digits


@dataclass(frozen=True)
class Promise:
    """What a file drawn from protected margins is said to be, and what of it was looked at.

    Attributes
    ----------
    change : MarginsChange
        What the log says.
    adds_up : bool or None
        Whether the scales of the noise give the ρ and ε claimed; None where nothing is promised, or nobody looked.
    reason : str
        Why nobody looked.
    """

    change: MarginsChange
    adds_up: bool | None
    reason: str = ""


def checked_promise(change: MarginsChange) -> Promise:
    """Hold the noise that is listed against what is claimed, and against what was asked.

    Raises DataError: they contradict each other.
    """
    if not change.spent:
        if not math.isnan(change.epsilon):
            raise DataError("the log claims an ε and lists no noise; it is damaged, or that of another release")
        return Promise(change, None, "no ε is promised")
    rows = change.parameters.get("max_rows")
    if not isinstance(rows, int) or rows < 1:
        return Promise(change, None, "the log does not say how many rows a person has")
    for spent in change.spent:
        if not spent.scale > 0 or not math.isclose(cost_of(spent.scale, rows), spent.rho, rel_tol=CLOSE):
            about = " × ".join(spent.variables) or "a choice"
            raise _contradiction(f"the noise of {about} ({spent.kind}) does not cost the ρ beside it")
    if change.parameters.get("delta", change.delta) != change.delta:
        raise _contradiction("the δ that was asked is not the δ that it claims")
    rho = math.fsum(spent.rho for spent in change.spent)
    if not math.isclose(rho, change.rho, rel_tol=CLOSE):
        raise _contradiction(f"its measurements spend ρ = {rho:.6g}, and it claims {change.rho:.6g}")
    try:
        epsilon = epsilon_of(rho, change.delta)
    except DataError:
        return Promise(change, None, "OpenDP, which converts ρ to ε, is not installed: install sdckit[dp]")
    asked = change.parameters.get("epsilon", change.epsilon)
    if epsilon > min(change.epsilon, asked) * (1 + CLOSE):
        raise _contradiction(f"its noise gives ε = {epsilon:.6g}, and it claims {min(change.epsilon, asked):.6g}")
    return Promise(change, True)


def _contradiction(what: str) -> DataError:
    return DataError(f"the log contradicts itself: {what}; it is damaged, or that of another release")


def change_of(step: Mapping[str, Any]) -> Change:
    """A step of a log as the change it was written from; one of margins with what was spent and kept.

    Raises KeyError, TypeError, ValueError or AttributeError: a part is missing.
    """
    common: dict[str, Any] = {name: step[name] for name in ("method", "n", "changed", "parameters", "secret", "notes")}
    if "kept" not in step:
        return Change(**common)
    spent = tuple(
        Spent(str(entry["kind"]), tuple(entry["variables"]), float(entry["scale"]), float(entry["rho"]))
        for entry in step.get("spent", ())
    )
    kept = tuple(tuple(entry["variables"]) for entry in step["kept"])
    error = tuple(math.nan if entry["error"] is None else float(entry["error"]) for entry in step["kept"])
    epsilon, delta, rho = (float(step.get(name, math.nan)) for name in ("epsilon", "delta", "rho"))
    return MarginsChange(**common, spent=spent, kept=kept, error=error, epsilon=epsilon, delta=delta, rho=rho)
