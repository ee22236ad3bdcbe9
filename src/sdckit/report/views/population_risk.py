"""View of the log-linear model: sample uniques expected to be population uniques."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdckit.report import common_blocks, estimates, view
from sdckit.report.blocks import Block, Facts, TableBlock
from sdckit.report.chapters.sentences import listed
from sdckit.report.gate.figures import InternalOnly, Ratio, Tree
from sdckit.report.setting import Setting, notes_tree, rule_of

if TYPE_CHECKING:
    from sdckit.identity.population.population_risk import PopulationRisk

TAU1 = "Sample uniques expected to be unique in the population (tau1)"
TAU2 = "Expected correct matches among sample uniques (tau2)"

FITTED = {
    "ce": "the counts, offset by the inverse mean weight of each combination (Clogg and Eliason)",
    "pml": "the weights, scaled to the records (pseudo maximum likelihood)",
    "weighted": "the counts, with the sum of weights as one more predictor",
}


def tree(result: PopulationRisk, setting: Setting) -> Mapping[str, Tree]:
    """Enter tau1 and tau2, their share of the sample uniques, and the fit in words."""
    ledger, prefix = setting.ledger, setting.prefix
    uniques = common_blocks.uniques_of(setting, result)
    first = ledger.value(f"{prefix}.tau1", result.tau1, f"{prefix}.tau", kind="sum")
    second = ledger.value(f"{prefix}.tau2", result.tau2, f"{prefix}.tau", kind="sum")
    ledger.bounded(first.name, {second.name: (0.0, 1.0)}, lower=False)
    ledger.bounded(second.name, {uniques.name: (0.0, 1.0)}, lower=False)
    means = ("tau1", result.tau1_per_cell), ("tau2", result.tau2_per_cell)
    return {
        "sample_uniques": uniques,
        "rule": "category" if rule_of(result) else "",
        "sampling_fraction": setting.declared(result.sampling_fraction),
        "model": tuple(result.model),
        **({"fitted_to": FITTED[result.method]} if result.method != "counts" else {}),
        **({"linear": tuple(result.linear)} if result.linear else {}),
        "selection": _selection(result),
        "tau1": first,
        "tau2": second,
        "tau1_per_unique": Ratio(first.name, uniques.name),
        "tau2_per_unique": Ratio(second.name, uniques.name),
        "population_uniques": InternalOnly(result.population_uniques),
        **({} if result.bound is None else {f"{name}_per_cell": InternalOnly(tau) for name, tau in means}),
        "fit": estimates.FIT[result.fit],
        "state": result.fit,
        "recommended": result.recommended,
        "dissimilarity": InternalOnly(result.dissimilarity),
        "z1": InternalOnly(result.z1),
        "z2": InternalOnly(result.z2),
        "notes": notes_tree(result, inside=("z1", "z2", "path")),
    }


def _selection(result: PopulationRisk) -> str:
    """How the model's terms were chosen, in words."""
    if result.sampling_fraction >= 1:
        return "there was nothing to choose"
    pairs = any(":" in term for term in result.model)
    if result.path:
        return (
            "a forward search added pairs of keys to main effects"
            if pairs
            else "a forward search left it at main effects"
        )
    return "as asked for" if pairs else "main effects: the keys are taken as independent"


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Facts on the model, and table and chart of what it expects of the sample uniques."""
    tree = plain[place]
    rows = (
        (TAU1, *common_blocks.texts(tree["tau1"], tree["tau1_per_unique"])),
        (TAU2, *common_blocks.texts(tree["tau2"], tree["tau2_per_unique"])),
    )
    trusted = estimates.recommendation_block(plain)
    facts = [
        (f"{common_blocks.ALONE}: sample uniques{common_blocks.of_rule(tree)}", tree["sample_uniques"]["text"]),
        ("Model", listed(tree["model"])),
        ("How the model was chosen", tree["selection"]),
        ("Fit of the model", tree["fit"]),
    ]
    if "fitted_to" in tree:
        facts.append(("What is fitted", tree["fitted_to"]))
    if "linear" in tree:
        facts.append(("Keys that enter as numbers", listed(tree["linear"])))
    if "tau1_per_cell" in tree:
        means = (common_blocks.four_digits(tree[f"{name}_per_cell"], "undefined") for name in ("tau1", "tau2"))
        facts.append(("tau1 and tau2 per combination of at most as many records as asked for", ", ".join(means)))
    if people := estimates.people_of(tree):
        facts.append(("People expected to be unique in the population (tau1 over the fraction)", people))
    if "z2" in tree:
        misfit = (common_blocks.four_digits(tree[name], "undefined") for name in ("z1", "z2"))
        facts.append(("Misfit, standardised: z1, z2", ", ".join(misfit)))
    drawn = (
        (f"alone{common_blocks.of_rule(tree)}", tree["sample_uniques"]),
        ("expected correct matches (tau2)", tree["tau2"]),
        ("expected alone in the population (tau1)", tree["tau1"]),
    )
    return [
        *([trusted] if trusted else []),
        Facts(tuple(facts)),
        common_blocks.bars("Sample uniques, and what the model expects of them", "records", drawn, aside=True),
        TableBlock("By the log-linear model", ("Figure", "Records", "Per sample unique"), rows, (1, 2)),
        *([] if plain.get("population_uniques") else estimates.supposed_table(plain)),
        *common_blocks.notes_blocks(tree),
    ]


VIEW = view.View("Unique in the population, too?", tree, blocks, view.noted("population_risk"))
