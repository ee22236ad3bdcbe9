"""Simulated attacks as typed figures: successes are numbers of people, and printed like them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from sdckit.report.figures import (
    Count,
    Document,
    Foreign,
    InternalOnly,
    Ledger,
    Ratio,
    Relation,
    Share,
    Tree,
)
from sdckit.report.protect import protect
from sdckit.report.protocols import ReleaseLike
from sdckit.report.sections_release import release_sizes
from sdckit.result import SCHEMA_VERSION

__all__ = ["ATTACKS_SCHEMA", "attack_words", "attacks_tree", "linkage_words", "plain_attacks", "risk_up_to"]

ATTACKS_SCHEMA = "sdckit/attacks"
DISTANCES = "distance_to_closest_record"
LINKAGE = "probabilistic_linkage"
COUNTED = ("singling_out", "membership")  # whose guesses are numbers of people, too
STEP = 0.05  # of the residual risk: the end of its interval to more digits would tell small counts
SMALL_CONTROL = 0.1
UNDEFINED: Mapping[str, Tree] = {"text": "undefined", "value": None}
NOT_COMPARED: Mapping[str, Tree] = {"text": "not compared", "value": None}


def attacks_tree(assessment: ReleaseLike, ledger: Ledger) -> Tree:
    """Give the attacks, release by release, with what each of them means; None where none was made.

    Shares are computed from the printed successes and attempts. Intervals would give the exact successes
    back; of them only the upper end of the residual risk goes into a document, in steps of 5 %.
    """
    if not assessment.attacks and not assessment.attacks_skipped:
        return None
    return _tree(assessment.attacks, assessment.attacks_skipped, ledger, control=assessment.control)


def plain_attacks(
    attacks: Mapping[str, Any],
    *,
    n: int,
    sizes: Sequence[int],
    control: bool,
    skipped: Sequence[tuple[str, str]] = (),
    internal: bool = False,
) -> dict[str, Any]:
    """Give the protected figures of attacks that were made without an assessment; those of subgroups never.

    Parameters
    ----------
    attacks
        Results by the names that `assess` gives them.
    n, sizes
        Records of the original and of each release.
    control
        Whether there was a control file.
    skipped
        Name and reason of what was not done.
    internal
        Exact figures, for a confidential document.

    Returns
    -------
    dict
        JSON-ready; described in the documentation of the JSON schema.

    Raises
    ------
    DataError
        For a file of fewer than 50 records, unless internal.
    """
    from sdckit import __version__

    ledger = Ledger()
    tree: dict[str, Tree] = {
        "schema": ATTACKS_SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "package": {"name": "sdckit", "version": __version__},
        "date": date.today().isoformat(),
        "n": ledger.count("n", n, "n"),
        "n_released": release_sizes(ledger, sizes),
    }
    tree |= _tree(attacks, skipped, ledger, control=control)
    return protect(Document(tree, ledger.variables, tuple(ledger.relations), n), internal=internal)


def _tree(
    attacks: Mapping[str, Any], skipped: Sequence[tuple[str, str]], ledger: Ledger, *, control: bool
) -> dict[str, Tree]:
    found: dict[str, Tree] = {}
    for place, result in attacks.items():
        if place.partition(":")[0] == LINKAGE:
            found[place] = _linked(place, result, ledger)
        elif place != DISTANCES:
            found[place] = _attack(place, result, ledger)
    near = attacks.get(DISTANCES)
    return {
        "control": control,
        "attacks": found,
        "distances": None if near is None else _distances(near, ledger, control=control),
        "skipped": tuple({"measure": name, "reason": Foreign(reason)} for name, reason in skipped),
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


def linkage_words(rate_low: float, baseline: float) -> str:
    """What linkage by agreement weights means, without a figure.

    Examples
    --------
    >>> linkage_words(0.1, 0.2)
    'no better than guessing, which says nothing about the release'
    """
    if rate_low > baseline:
        return "released records are linked to the right people more often than by guessing"
    return "no better than guessing, which says nothing about the release"


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


def _linked(place: str, result: Any, ledger: Ledger) -> Tree:
    """Linkage attacks everybody, and has no use for people never in the file."""
    releases: list[Tree] = []
    for j, figures in enumerate(result.per_release, 1):
        start = f"attack.{place}.{j}."
        releases.append(
            {
                "n_attacks": Count("n"),
                "success_rate": _part(ledger, f"{start}successes", figures["rate"], "n"),
                "baseline_rate": _estimate(ledger, f"{start}baseline", figures["baseline"]),
                "control_rate": NOT_COMPARED,
            }
        )
    means = linkage_words(float(result.rate_low), float(result.baseline))
    figures = {name: float(getattr(result, name)) for name in result.figures}
    exact = {"verdict": _linked_exactly(figures), **{name: _plain(value) for name, value in figures.items()}}
    return {
        "releases": tuple(releases),
        "means": means,
        "residual_risk": NOT_COMPARED,
        "exact": InternalOnly(exact),
    }


def _linked_exactly(figures: Mapping[str, float]) -> str:
    """What linkage achieves, for a confidential document."""
    between = f"between {figures['rate_low']:.1%} and {figures['rate_high']:.1%}"
    told = (
        f"{figures['rate']:.1%} of the released records are linked to the right person ({between}), "
        f"{figures['baseline']:.1%} by guessing. "
    )
    if not figures["n_links"]:
        return told + "No pair is called a match."
    return told + f"Of the pairs called a match {figures['precision']:.1%} are right."


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


def _distances(result: Any, ledger: Ledger, *, control: bool) -> Tree:
    """Shares of records near to the other file; medians and quantiles stay in the session."""
    releases: list[Tree] = []
    if control:
        ledger.count("attack.n_control", int(result.n_control), "attack.n_control")
    for j, figures in enumerate(result.per_release, 1):
        start, released = f"attack.{DISTANCES}.{j}.", f"n.released.{j}"
        bases = {"copies": released, "hitting_rate": "n", "identifiability": "n"}
        if control:
            bases |= {
                "copies_of_control": released,
                "hitting_rate_control": "attack.n_control",
                "share_closer_to_original": released,
            }
        tree = {name: _part(ledger, start + name, figures[name], base) for name, base in bases.items()}
        if control:
            for name in ("expected_share", "chance_high"):
                tree[name] = _estimate(ledger, start + name, figures[name])
        releases.append(tree)
    nearer = result.share_closer_to_original > result.chance_high  # never where one is undefined
    words = (
        "released records are nearer to the people in the file than chance allows"
        if nearer
        else "no sign that the release as a whole is nearer to the people in it; single records may be copied"
    )
    if not control:
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
