"""From an assessment to a document: a tree of typed figures, named as in the API, exact inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from sdckit.data.scenario import Scenario
from sdckit.report.figures import Count, Document, Foreign, Holds, InternalOnly, Ledger, Ratio, Share, Tree
from sdckit.report.methods import method_notes
from sdckit.report.protocols import AssessmentLike, IntruderLike, VerdictLike
from sdckit.report.relations import link_intruders, make_sizes
from sdckit.report.sections_attribute import l_diversity_tree
from sdckit.report.sections_closeness import CLOSENESS, closeness_tree
from sdckit.report.sections_identity import (
    Setting,
    contributions_tree,
    frequencies_tree,
    households_tree,
    k_anonymity_tree,
    key_tree,
    risk_breaks,
    risk_tree,
)
from sdckit.report.sections_scenario import command_line, python_call, scenario_tree
from sdckit.report.sections_special import (
    outliers_tree,
    population_risk_tree,
    population_uniques_tree,
    risky_cells_tree,
    suda_tree,
)

__all__ = ["SCHEMA_VERSION", "build_document", "setting_for"]

SCHEMA_VERSION = "1"
CATEGORY = ".category"


def build_document(assessment: AssessmentLike, *, internal: bool = False) -> Document:
    """Build the document of an assessment; `internal` adds the list of records at risk.

    Parameters
    ----------
    assessment
        What `sdckit.assess` returned.
    internal
        Whether the document stays in the room.

    Returns
    -------
    Document
        Typed figures with their exact values, to be passed to `protect`.
    """
    ledger = Ledger()
    scenario = assessment.scenario
    n = ledger.count("n", assessment.n, "n")
    settings = {
        one.name: setting_for(ledger, f"i{number}", scenario, one)
        for number, one in enumerate(assessment.intruders)
    }
    intruders = tuple(_intruder(one, assessment, settings[one.name]) for one in assessment.intruders)
    if scenario.person is None:
        known = [(settings[one.name].sizes, frozenset(one.keys)) for one in assessment.intruders]
        link_intruders(ledger, known)
    tree: dict[str, Tree] = {
        "schema": "sdckit/assessment",
        "schema_version": SCHEMA_VERSION,
        "package": {"name": "sdckit", "version": assessment.version},
        "date": assessment.date,
        "title": scenario.title or "Disclosure risk assessment",
        "n": n,
        "engine": assessment.engine,
        "passed": assessment.passed,
        "verdicts": tuple(_verdict(one, settings[one.intruder]) for one in assessment.verdicts),
        "scenario": scenario_tree(scenario),
        "intruders": intruders,
        "warnings": tuple(Foreign(text) for text in assessment.warnings),
        "methods": method_notes(assessment.intruders, scenario),
        "reproduce": {
            "python": python_call(scenario, assessment.measures),
            "command": command_line(scenario, assessment.measures),
            "scenario": scenario.to_toml(),
        },
        "records_at_risk": InternalOnly(_records(assessment) if internal else None),
    }
    return Document(tree, ledger.variables, tuple(ledger.relations), assessment.n)


def setting_for(ledger: Ledger, prefix: str, scenario: Scenario, intruder: IntruderLike) -> Setting:
    """Say which relations hold between the figures of an intruder."""
    wildcards = intruder.k_anonymity_category is not None
    weights: Literal["weight", "fraction", "census"] = (
        "weight" if scenario.weight else "fraction" if scenario.sampling_fraction else "census"
    )
    persons = scenario.person is not None
    breaks = {float(k - 1) for k in intruder.k_anonymity.violations} | risk_breaks(
        weights, scenario.sampling_fraction, intruder.individual_risk.method, scenario.thresholds.risk
    )
    return Setting(
        ledger,
        prefix,
        make_sizes(ledger, prefix, breaks),
        cells_known=not wildcards and not persons,
        persons=persons,
        weights=weights,
        fraction=scenario.sampling_fraction,
        alpha=scenario.alpha,
    )


def _records(assessment: AssessmentLike) -> Tree:
    """List the riskiest records, and say of how many; one counts once for each intruder."""
    found = assessment.at_risk()
    totals = assessment.n_at_risk()
    listed = Counter(str(record["intruder"]) for record in found)
    rows = tuple(
        {
            str(key): {str(k): _plain(v) for k, v in value.items()}
            if isinstance(value, Mapping)
            else _plain(value)
            for key, value in record.items()
        }
        for record in found
    )
    return {
        "listed": len(rows),
        "total": sum(int(n) for n in totals.values()),
        "intruders": {name: {"listed": listed[name], "total": int(n)} for name, n in totals.items()},
        "rows": rows,
    }


def _plain(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def _intruder(one: IntruderLike, assessment: AssessmentLike, setting: Setting) -> dict[str, Tree]:
    n, threshold = assessment.n, assessment.scenario.thresholds.risk
    known = not setting.persons
    tree: dict[str, Tree] = {
        "name": one.name,
        "keys": tuple(one.keys),
        "key_facts": tuple(key_tree(facts, n, setting) for facts in one.key_facts),
        "key_frequencies": frequencies_tree(one.frequencies, setting),
        "individual_risk": risk_tree(one.individual_risk, setting, threshold=threshold),
    }
    # The stricter rule first: its figures contain those under wildcards.
    if one.k_anonymity_category is not None:
        uniques = one.frequencies_category
        if uniques is not None:
            setting.count(f"sample_uniques{CATEGORY}", uniques.sample_uniques, "violations")
        tree["k_anonymity_category"] = k_anonymity_tree(
            one.k_anonymity_category, setting, suffix=CATEGORY, cells_known=known
        )
    tree["k_anonymity"] = k_anonymity_tree(one.k_anonymity, setting, cells_known=setting.cells_known)
    _link_rules(setting, one)
    if one.individual_risk_category is not None:
        tree["individual_risk_category"] = risk_tree(
            one.individual_risk_category, setting, threshold=threshold, suffix=CATEGORY
        )
    tree |= _further(one, n, setting) | _asked_for(one, setting)
    tree["skipped"] = tuple({"measure": name, "reason": Foreign(reason)} for name, reason in one.skipped)
    return tree


def _further(one: IntruderLike, n: int, setting: Setting) -> dict[str, Tree]:
    known = not setting.persons
    tree: dict[str, Tree] = {}
    if one.key_contributions is not None:
        tree["key_contributions"] = contributions_tree(one.key_contributions, n, setting)
    if one.household_structure is not None:
        tree["household_structure"] = households_tree(one.household_structure, setting)
    if one.l_diversity is not None:
        tree["l_diversity"] = l_diversity_tree(one.l_diversity, setting, cells_known=known)
    if one.l_diversity_wildcard is not None:
        tree["l_diversity_wildcard"] = l_diversity_tree(
            one.l_diversity_wildcard, setting, suffix=".wildcard", cells_known=False
        )
        _link_wildcard_diversity(setting, one.l_diversity_wildcard.variables)
    return tree


def _asked_for(one: IntruderLike, setting: Setting) -> dict[str, Tree]:
    tree: dict[str, Tree] = {}
    if one.suda is not None:
        tree["suda"] = suda_tree(one.suda, setting)
    if one.population_risk is not None:
        tree["population_risk"] = population_risk_tree(one.population_risk, setting)
    if one.population_uniques is not None:
        tree["population_uniques"] = population_uniques_tree(one.population_uniques, setting)
    if one.risky_cells is not None:
        tree["risky_cells"] = risky_cells_tree(one.risky_cells, setting)
    if one.outliers is not None:
        tree["outliers"] = outliers_tree(one.outliers, setting)
    for name in CLOSENESS:
        result = getattr(one, name, None)
        if result is not None:
            tree[name] = closeness_tree(result, setting)
    return tree


def _link_rules(setting: Setting, one: IntruderLike) -> None:
    """A wildcard only adds matches, so it never adds violations."""
    for k in one.k_anonymity.violations:
        strict = f"{setting.prefix}.violations{CATEGORY}.{k}"
        setting.ledger.nested(strict, f"{setting.prefix}.violations.{k}")
    setting.ledger.nested(f"{setting.prefix}.sample_uniques{CATEGORY}", f"{setting.prefix}.sample_uniques")


def _link_wildcard_diversity(setting: Setting, variables: Sequence[str]) -> None:
    for variable in variables:
        start = f"{setting.prefix}.l.wildcard.{variable}.distinct."
        for name in [name for name in setting.ledger.variables if name.startswith(start)]:
            setting.ledger.nested(name.replace(".l.wildcard.", ".l.", 1), name)


def _verdict(one: VerdictLike, setting: Setting) -> dict[str, Tree]:
    return {
        "name": one.name,
        "intruder": one.intruder,
        "variable": one.variable,
        "limit": one.limit,
        "holds": Holds(one.holds, one.reason),
        "n_records": (count := _verdict_count(one, setting)),
        "rate": Share(count.name, "n") if count is not None else None,
        "value": _verdict_value(one, setting),
        "reason": Foreign(one.reason),
    }


def _verdict_count(one: VerdictLike, setting: Setting) -> Count | None:
    """Find the figure the verdict speaks of, so that one number is printed one way."""
    if one.n_records is None:
        return None
    prefix, ledger = setting.prefix, setting.ledger
    level = int(one.limit) if float(one.limit).is_integer() else one.limit
    places = [
        f"{prefix}.{name}"
        for name in {
            "k": [f"violations.{level}", f"violations{CATEGORY}.{level}"],
            "risk": ["above", f"above{CATEGORY}"],
            "l": [f"l.{one.variable}.{kind}.{level}" for kind in ("distinct", "entropy", "recursive")],
        }.get(one.name, [])
    ]
    for name in places:
        if name in ledger.variables and ledger.variables[name].true == one.n_records:
            return Count(name)
    count = setting.count(f"verdict.{one.name}.{one.variable}", one.n_records, "verdict")
    ledger.nested("n", count.name)
    above = ledger.variables.get(f"{prefix}.above")
    if one.name == "household_risk" and above is not None and (above.true or 0) <= one.n_records:
        # A household is recognised at least as easily as its member.
        ledger.nested(count.name, f"{prefix}.above")
    return count


def _verdict_value(one: VerdictLike, setting: Setting) -> Tree:
    name = {"global_risk": "expected", "household_risk": "expected_household"}.get(one.name)
    if name is None or f"{setting.prefix}.{name}" not in setting.ledger.variables:
        return None
    return Ratio(f"{setting.prefix}.{name}", "n")
