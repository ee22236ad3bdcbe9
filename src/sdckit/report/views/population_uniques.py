"""View of population uniques estimated from the sizes of equivalence classes, by model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdckit.identity.population.size_models import CLOSE
from sdckit.report import common_blocks, view
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.estimates import MODELS, recommendation_block, supposed_table
from sdckit.report.gate.figures import Guarded, InternalOnly, Tree
from sdckit.report.setting import Setting, notes_tree, rule_of

if TYPE_CHECKING:
    from sdckit.identity.population.population_uniques import PopulationUniques

CAUTION = (
    "Estimates from the sizes of groups alone may miss by a factor of 2 to 6 at small sampling fractions; the "
    "log-linear model uses the keys themselves."
)
STATUS = {
    "ok": "computed",
    "ewens": "computed, as the Ewens model",
    "census": "nothing to model: the file is the population",
    "no_uniques": "no record is unique",
    "all_unique": "undefined: every record is unique",
    "one_class": "undefined: all records share one key",
    "no_pairs": "undefined: no two records share a key with each other alone",
    "no_root": "undefined: the equations have no solution",
    "several": "undefined: the equations have several solutions",
    "above_n": "undefined: more classes estimated than people",
}


def tree(result: PopulationUniques, setting: Setting) -> Mapping[str, Tree]:
    """Enter the estimates, guarded by the sample uniques: they follow from the cells by size."""
    ledger, prefix = setting.ledger, setting.prefix
    uniques = common_blocks.uniques_of(setting, result)
    population = ledger.value(f"{prefix}.population", result.population, f"{prefix}.population")
    estimates: dict[str, Tree] = {}
    for name in MODELS:
        if name not in result.estimates:
            continue
        place, estimate = f"{prefix}.population_uniques.{name}", result.estimates[name]
        ledger.value(place, float(estimate.uniques), place)
        estimates[name] = {
            "uniques": Guarded(place, uniques.name),
            "share": InternalOnly(estimate.share),
            "status": result.status[name],
            "fit": _fit(result, name),
            "dissimilarity": InternalOnly(result.dissimilarity.get(name)),
        }
    return {
        "sample_uniques": uniques,
        "rule": "category" if rule_of(result) else "",
        "population": population,
        "estimates": estimates,
        "recommended": result.recommended,
        "caution": CAUTION,
        "notes": notes_tree(result, but=("estimates",)),
    }


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Table and chart of the estimates, with the status of each model."""
    tree = plain[place]
    inside = any("share" in estimate for estimate in tree["estimates"].values())
    rows = tuple(
        (
            MODELS.get(name, name),
            estimate["uniques"]["text"],
            *([common_blocks.four_digits(estimate["share"], "undefined")] if inside else []),
            _status(estimate["status"]),
        )
        for name, estimate in tree["estimates"].items()
    )
    caption = f"Expected uniques in a population of {tree['population']['text']}, by the sizes of groups"
    drawn = ((MODELS.get(name, name), estimate["uniques"]) for name, estimate in tree["estimates"].items())
    heads = ("Model", "Population uniques", *(("Share",) if inside else ()), "Status")
    trusted = None if plain.get("population_risk") else recommendation_block(plain)
    return [
        *([trusted] if trusted else []),
        common_blocks.bars("Population uniques by model", "people", drawn, aside=True),
        TableBlock(caption, heads, rows, tuple(range(1, len(heads) - 1))),
        *supposed_table(plain),
        Paragraph(tree["caution"], "note"),
        *(common_blocks.notes_blocks(tree) if inside else ()),
    ]


def _fit(result: PopulationUniques, name: str) -> str:
    """Goodness of fit of a model to the file's class sizes, in words."""
    apart = result.dissimilarity.get(name, math.nan)
    if name not in result.dissimilarity:
        return "that of the model it chose"
    if math.isnan(apart):
        return "nothing to compare"
    if apart <= CLOSE:
        return "close to the file's groups"
    return "far from the file's groups"


def _status(word: str) -> str:
    return f"chose {MODELS[word]}" if word in MODELS else STATUS.get(word, word)


VIEW = view.View("Unique in the population, too?", tree, blocks, view.noted("population_uniques"))
