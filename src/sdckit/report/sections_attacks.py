"""Simulated attacks as typed figures: successes are numbers of people, and printed like them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sdckit.report.figures import Foreign, InternalOnly, Ledger, Ratio, Relation, Share, Tree
from sdckit.report.protocols import ReleaseLike

__all__ = ["attack_words", "attacks_tree", "risk_up_to"]

DISTANCES = "distance_to_closest_record"
COUNTED = ("singling_out", "membership")  # whose guesses are numbers of people, too
STEP = 0.05  # of the residual risk: the end of its interval to more digits would tell small counts
SMALL_CONTROL = 0.1
UNDEFINED: Mapping[str, Tree] = {"text": "undefined", "value": None}


def attacks_tree(assessment: ReleaseLike, ledger: Ledger) -> Tree:
    """Give the attacks, release by release, with what each of them means; None where none was made.

    Shares are computed from the printed successes and attempts. Intervals would give the exact successes
    back; of them only the upper end of the residual risk goes into a document, in steps of 5 %.
    """
    if not assessment.attacks and not assessment.attacks_skipped:
        return None
    results = assessment.attacks
    return {
        "control": assessment.control,
        "attacks": {
            place: _attack(place, result, ledger) for place, result in results.items() if place != DISTANCES
        },
        "distances": _distances(results[DISTANCES], ledger, assessment) if DISTANCES in results else None,
        "skipped": tuple(
            {"measure": name, "reason": Foreign(reason)} for name, reason in assessment.attacks_skipped
        ),
    }


def attack_words(figures: Mapping[str, float]) -> str:
    """What an attack means, without a figure.

    Examples
    --------
    >>> attack_words({"success_rate": 0.1, "baseline_rate": 0.2})
    'no better than guessing, which says nothing about the release'
    """
    if math.isnan(figures["success_rate"]):
        return "no attack could be made"
    if not figures["success_rate"] > figures["baseline_rate"]:
        return "no better than guessing, which says nothing about the release"
    if math.isnan(figures["control_rate"]):
        return "better than guessing; how much of it holds for anybody is open without a control file"
    caution = ""
    if (figures["control_high"] - figures["control_low"]) / 2 > SMALL_CONTROL:
        caution = "; the control file is too small for a narrower answer"
    if figures["residual_low"] > 0:
        return "the release gives away more about the people in it than about others" + caution
    return "no sign that being in the file makes a difference, which proves nothing" + caution


def risk_up_to(high: float) -> dict[str, Tree]:
    """The upper end of the residual risk, rounded up to a multiple of 5 %.

    Examples
    --------
    >>> risk_up_to(0.113), risk_up_to(float("nan"))["value"]
    ({'text': 'up to 15 %', 'value': 0.15}, None)
    """
    if math.isnan(high):
        return dict(UNDEFINED)
    steps = max(math.ceil(round(high / STEP, 6)), 1)
    value = min(round(steps * STEP, 2), 1.0)
    return {"text": f"up to {100 * value:.0f} %", "value": value}


def _attack(place: str, result: Any, ledger: Ledger) -> Tree:
    figures = {name: float(getattr(result, name)) for name in result.figures}
    risk = math.nan if math.isnan(figures["residual"]) else figures["risk_high"]
    return {
        "releases": tuple(_release(place, j, one, ledger) for j, one in enumerate(result.per_release, 1)),
        "means": attack_words(figures),
        "residual_risk": risk_up_to(risk),
        "exact": InternalOnly({"verdict": result.verdict, **{n: _plain(v) for n, v in figures.items()}}),
    }


def _release(place: str, j: int, figures: Mapping[str, float], ledger: Ledger) -> Tree:
    start = f"attack.{place}.{j}."
    whole = ledger.count(f"{start}n_attacks", int(figures["n_attacks"]), start)
    tree: dict[str, Tree] = {"n_attacks": whole, "success_rate": UNDEFINED, "control_rate": UNDEFINED}
    if figures["n_attacks"] > 0:
        part = ledger.count(f"{start}successes", int(figures["successes"]), start)
        ledger.nested(whole.name, part.name)
        tree["success_rate"] = Share(part.name, whole.name)
    if figures["n_control"] > 0 and not math.isnan(figures["control_rate"]):
        if place == "membership":
            tree["control_rate"] = _others_called(ledger, start, figures)
        else:
            base = ledger.count(f"{start}n_control", int(figures["n_control"]), f"{start}control")
            tree["control_rate"] = _part(ledger, f"{start}control", figures["control_rate"], base.name)
    counted = place.partition(":")[0] in COUNTED and figures["n_attacks"] > 0
    guessed = figures["baseline_rate"]
    tree["baseline_rate"] = (
        _part(ledger, f"{start}baseline", guessed, whole.name)
        if counted
        else _estimate(ledger, f"{start}baseline", guessed)
    )
    return tree


def _others_called(ledger: Ledger, start: str, figures: Mapping[str, float]) -> Tree:
    """People never in the file who are called members: not printed, only watched.

    With the members called they make half of all people, so the one printed beside the other would be two looks
    at the same number.
    """
    both = round(figures["control_rate"] * figures["n_control"]) + figures["successes"]
    others = ledger.latent(f"{start}control")
    ledger.relations.append(Relation(((f"{start}successes", 1.0), (others, 1.0)), both, both))
    return {"text": "not shown", "value": None}


def _distances(result: Any, ledger: Ledger, assessment: ReleaseLike) -> Tree:
    """Shares of records near to the other file; medians and quantiles stay in the session."""
    releases: list[Tree] = []
    if assessment.control:
        ledger.count("attack.n_control", int(result.n_control), "attack.n_control")
    for j, figures in enumerate(result.per_release, 1):
        start, released = f"attack.{DISTANCES}.{j}.", f"n.released.{j}"
        bases = {"copies": released, "hitting_rate": "n", "identifiability": "n"}
        if assessment.control:
            bases |= {
                "copies_of_control": released,
                "hitting_rate_control": "attack.n_control",
                "share_closer_to_original": released,
            }
        tree = {name: _part(ledger, start + name, figures[name], base) for name, base in bases.items()}
        if assessment.control:
            for name in ("expected_share", "chance_high"):
                tree[name] = _estimate(ledger, start + name, figures[name])
        releases.append(tree)
    nearer = result.share_closer_to_original > result.chance_high  # never where one is undefined
    words = (
        "released records are nearer to the people in the file than chance allows"
        if nearer
        else "no sign that the release as a whole is nearer to the people in it; single records may be copied"
    )
    if not assessment.control:
        words = "without a control file no distance tells copying from resemblance"
    return {"releases": tuple(releases), "means": words, "exact": InternalOnly({"verdict": result.verdict})}


def _part(ledger: Ledger, name: str, share: float, base: str) -> Tree:
    """A share that stands for a number of records, printed like one."""
    if math.isnan(share):
        return UNDEFINED
    ledger.value(name, share * (ledger.variables[base].true or 0), name, kind="sum")
    return Ratio(name, base)


def _estimate(ledger: Ledger, name: str, true: float) -> Tree:
    return UNDEFINED if math.isnan(true) else ledger.value(name, true, name)


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else value
