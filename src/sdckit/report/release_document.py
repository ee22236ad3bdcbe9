"""From the assessment of a release to its document: the original, each release, and what they tell together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.attacks.attack_rates import WITH_RISK, concerns
from sdckit.report.document import SCHEMA_VERSION, build_document
from sdckit.report.figures import Document, Ledger, Tree
from sdckit.report.layout_attacks import NOTHING, conclude
from sdckit.report.methods import release_notes
from sdckit.report.protect import protect
from sdckit.report.protocols import ReleaseLike, VerdictLike
from sdckit.report.sections_attacks import attacks_tree
from sdckit.report.sections_release import release_sizes, release_tree
from sdckit.report.sections_scenario import release_call, release_command, scenario_tree
from sdckit.report.sections_utility import utility_tree
from sdckit.report.sentences import overall

__all__ = ["RELEASE_SCHEMA", "plain_release"]

RELEASE_SCHEMA = "sdckit/release-assessment"
HOLDS = {True: "holds", False: "does not hold", None: "not judged"}
# Threshold: the measure and the figure it limits.
JUDGED = {
    "match_risk": ("matching_risk", "mean_match_risk"),
    "replicated_uniques": ("identity_disclosure", "replicated_uniques"),
    "correctly_disclosed": ("attribute_disclosure", "correctly_disclosed"),
}
HIDDEN = (
    "whether it holds rests on a number of successes that is hidden here; the confidential document says it"
)
Plain = dict[str, Any]


def plain_release(assessment: ReleaseLike, *, internal: bool = False) -> Plain:
    """Give the protected figures of a release beside its original, as they go into every document.

    The original and what both files tell together are protected as one document, each release as a
    document of its own: whoever has the release can count in it.

    Parameters
    ----------
    assessment
        What `sdckit.assess(original, released)` returned.
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
    before = protect(_with_comparison(assessment, internal=internal), internal=internal)
    after = [protect(build_document(one), internal=internal) for one in assessment.released]
    comparison = before.pop("comparison")
    scenario = assessment.scenario
    asked = assessment.attacks_asked
    attacks = None if comparison["attacks"] is None else conclude(comparison["attacks"])
    verdicts = [_verdict(one, assessment, after, comparison["intruders"]) for one in assessment.verdicts]
    if attacks is not None and not internal:
        verdicts = [one | judged_by_print(one, attacks["attacks"]) for one in verdicts]
    how: dict[str, Any] = {
        "id": assessment.id, "m": len(after), "models": assessment.models, "attacks": _attacked(assessment),
    }  # fmt: skip
    if asked is not None:
        # A seed may be that of the protection, too: it is written where nobody else reads it.
        seed = "" if asked.seed is None else str(asked.seed) if internal else "SEED"
        how |= {"n_attacks": asked.n_attacks, "seed": seed}
    return {
        "protected": before["protected"],
        "confidential": before["confidential"],
        "schema": RELEASE_SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "package": before["package"],
        "date": assessment.date,
        "title": scenario.title or "Disclosure risk of a release",
        "n": before["n"],
        "n_released": comparison["n_released"],
        "aligned": assessment.aligned,
        "passed": passed(verdicts),
        "verdicts": verdicts,
        "scenario": before["scenario"],
        "intruders": comparison["intruders"],
        "original": before,
        "released": after,
        "utility": comparison["utility"],
        "attacks": attacks,
        "warnings": comparison["warnings"],
        "methods": [
            *before["methods"][:-1],
            *release_notes(attacked=bool(_attacked(assessment))),
            before["methods"][-1],
        ],
        "reproduce": {
            "python": release_call(scenario, assessment.measures, **how),
            "command": release_command(scenario, assessment.measures, **how),
            "scenario": scenario.to_toml(),
        },
    }


def passed(verdicts: Sequence[Plain]) -> bool | None:
    """Whether every limit holds, of the verdicts as they are printed; None where one is open, or there is none."""
    return overall(one["holds"]["value"] for one in verdicts)


def judged_by_print(one: Plain, attacks: Mapping[str, Any]) -> Plain:
    """A limit on the residual risk is open where only a hidden number of successes decides it.

    Otherwise a limit between what one success and what two would give tells which of them it was.
    """
    if one["name"] != "residual_risk" or one["holds"]["value"] is None:
        return {}
    leaves = [
        tree["residual_risk"]
        for place, tree in attacks.items()
        if place.startswith(WITH_RISK) and concerns(place, one["intruder"]) and _was_made(tree)
    ]
    limit, holds = one["limit"], one["holds"]["value"]
    above = any((leaf.get("value") or 0.0) > limit for leaf in leaves)
    within = all(most is not None and most <= limit for most in map(_most, leaves))
    if (holds and within) or (not holds and above):
        return {}
    return {"holds": {"text": HOLDS[None], "value": None, "reason": HIDDEN}, "reason": HIDDEN}


def _was_made(tree: Plain) -> bool:
    return any(release["n_attacks"]["text"] != "0" for release in tree["releases"])


def _most(leaf: Plain) -> float | None:
    """The most that a printed residual risk may be; None where nothing is told of it."""
    if leaf == NOTHING:
        return 0.0
    found: float | None = leaf["value"] if leaf.get("value") is not None else leaf.get("below")
    return found


def _attacked(assessment: ReleaseLike) -> str:
    """How the simulated attacks were asked for: by a control file, without one, or not at all."""
    if assessment.control:
        return "control"
    return "attacks" if assessment.attacks or assessment.attacks_skipped else ""


def _with_comparison(assessment: ReleaseLike, *, internal: bool) -> Document:
    """The document of the original with what both files tell together, on one ledger."""
    from sdckit.report.figures import Foreign

    base = build_document(assessment.original, internal=internal)
    ledger = Ledger(dict(base.variables), list(base.relations))
    sizes = [one.n for one in assessment.released]
    counts = release_sizes(ledger, sizes)
    ones: list[Tree] = []
    for number, one in enumerate(assessment.intruders):
        ones.append(release_tree(one, number, ledger, sizes))
        _link_uniques(ledger, number, len(sizes))
    comparison: dict[str, Tree] = {
        "n_released": counts,
        "intruders": tuple(ones),
        "utility": utility_tree(assessment, ledger),
        "attacks": attacks_tree(assessment, ledger),
        "warnings": tuple(Foreign(text) for text in assessment.warnings),
    }
    tree: dict[str, Tree] = {
        **base.tree,
        "scenario": scenario_tree(assessment.scenario),
        "comparison": comparison,
    }
    return Document(tree, ledger.variables, tuple(ledger.relations), base.n)


def _link_uniques(ledger: Ledger, number: int, m: int) -> None:
    """Uniques of the original are one number, wherever they are printed."""
    known = [f"i{number}.sample_uniques{suffix}" for suffix in (".category", "")]
    for j in range(1, m + 1):
        name = f"c{number}.identity_disclosure.{j}.unique_in_original"
        for other in known:
            if {name, other} <= ledger.variables.keys() and (
                ledger.variables[name].true == ledger.variables[other].true
            ):
                ledger.equal(other, name)
                break


def _verdict(
    one: VerdictLike, assessment: ReleaseLike, after: Sequence[Plain], intruders: Sequence[Plain]
) -> Plain:
    """A verdict as its release's own document prints it; one on both files from the comparison."""
    blank: Plain = {"text": "", "value": None}
    holds: Plain = {"text": HOLDS[one.holds], "value": one.holds} | (
        {"reason": one.reason} if one.reason else {}
    )
    plain: Plain = {
        "name": one.name, "intruder": one.intruder, "variable": one.variable, "limit": one.limit,
        "holds": holds, "n_records": None, "rate": blank, "value": None, "reason": one.reason, "release": None,
    }  # fmt: skip
    if one.name in JUDGED:
        return plain | _compared(one, intruders)
    for number, (judged, printed) in enumerate(zip(assessment.released, after, strict=True), 1):
        for verdict, text in zip(judged.verdicts, printed["verdicts"], strict=True):
            if verdict == one:
                return {**text, "release": number if len(after) > 1 else None}
    return plain


def _compared(one: VerdictLike, intruders: Sequence[Plain]) -> Plain:
    measure, figure = JUDGED[one.name]
    place = f"{measure}:{one.variable}" if one.variable else measure
    for intruder in intruders:
        tree: Mapping[str, Any] | None = intruder["measures"].get(place)
        if intruder["name"] == one.intruder and tree is not None:
            leaves = [release[figure] for release in tree["releases"]]
            return {"value": max(leaves, key=lambda leaf: leaf["value"] or leaf.get("below") or 0)}
    return {}
