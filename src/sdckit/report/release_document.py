"""From the assessment of a release to its document: the original, each release, and what they tell together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report.document import SCHEMA_VERSION, build_document
from sdckit.report.figures import Document, Ledger, Tree
from sdckit.report.methods import release_notes
from sdckit.report.protect import protect
from sdckit.report.protocols import ReleaseLike, VerdictLike
from sdckit.report.sections_attacks import attacks_tree
from sdckit.report.sections_release import release_sizes, release_tree
from sdckit.report.sections_scenario import release_call, release_command, scenario_tree
from sdckit.report.sections_utility import utility_tree

__all__ = ["RELEASE_SCHEMA", "plain_release"]

RELEASE_SCHEMA = "sdckit/release-assessment"
HOLDS = {True: "holds", False: "does not hold", None: "not judged"}
# Threshold: the measure and the figure it limits.
JUDGED = {
    "match_risk": ("matching_risk", "mean_match_risk"),
    "replicated_uniques": ("identity_disclosure", "replicated_uniques"),
    "correctly_disclosed": ("attribute_disclosure", "correctly_disclosed"),
}
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
        "passed": assessment.passed,
        "verdicts": [
            _verdict(one, assessment, after, comparison["intruders"]) for one in assessment.verdicts
        ],
        "scenario": before["scenario"],
        "intruders": comparison["intruders"],
        "original": before,
        "released": after,
        "utility": comparison["utility"],
        "attacks": comparison["attacks"],
        "warnings": comparison["warnings"],
        "methods": [
            *before["methods"][:-1],
            *release_notes(attacked=bool(_attacked(assessment))),
            before["methods"][-1],
        ],
        "reproduce": {
            "python": release_call(
                scenario,
                assessment.measures,
                id=assessment.id,
                m=len(after),
                models=assessment.models,
                attacks=_attacked(assessment),
            ),
            "command": release_command(
                scenario,
                assessment.measures,
                id=assessment.id,
                m=len(after),
                models=assessment.models,
                attacks=_attacked(assessment),
            ),
            "scenario": scenario.to_toml(),
        },
    }


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
