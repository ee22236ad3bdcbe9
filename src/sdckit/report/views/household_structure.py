"""Households in a document: how many a size or a composition gives away."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from sdckit.report.blocks import Block, Facts, Paragraph, TableBlock
from sdckit.report.gate.figures import Ledger, Levels, Relation, Share, Tree
from sdckit.report.gate.pooling import OTHER
from sdckit.report.gate.relations import SMALL
from sdckit.report.parts import bars, of_whole, texts
from sdckit.report.setting import Setting, notes_tree
from sdckit.report.view import Note, Plain, View, noted

if TYPE_CHECKING:
    from sdckit.identity.household_structure import HouseholdStructure

# Sizes that are listed.
SHOWN = 15
HINT = (
    "The size and the composition of a household can identify it without any key; "
    "leaving out the size hides nothing while the household's id stays in the file."
)


def tree(result: HouseholdStructure, setting: Setting) -> Mapping[str, Tree]:
    """Households, rare sizes and unique compositions."""
    households = setting.count("households", result.n_households, "households")
    unique = setting.count("households.unique_sizes", result.unique_sizes, "households")
    rare = setting.count("households.rare_sizes", result.rare_sizes, "households")
    compositions = setting.count("households.unique_compositions", result.unique_compositions, "households")
    setting.ledger.nested(rare.name, unique.name)
    setting.ledger.nested(households.name, compositions.name)
    sizes = tuple((str(size), int(number)) for size, number in sorted(result.sizes.items()))
    known = "n" if "n" in setting.ledger.variables else ""
    name, n = f"{setting.prefix}.households.size", result.n_households
    setting.ledger.nested(compositions.name, unique.name)
    _link_pooled(setting.ledger, name, sizes, rare.name, unique.name)
    return {
        "n_households": households,
        "sizes": Levels(name, sizes, households.name, n, shown=SHOWN, records=known),
        "unique_sizes": unique,
        "rare_sizes": rare,
        "unique_compositions": compositions,
        "unique_composition_rate": Share(compositions.name, households.name),
        "notes": notes_tree(result),
    }


def _link_pooled(ledger: Ledger, name: str, sizes: Sequence[tuple[str, int]], rare: str, unique: str) -> None:
    """Households of the pooled sizes: one to four for each of them, and all their members in the file."""
    other = ledger.latent(f"{name}: {OTHER}", watched="nowhere")
    two, three, four = (ledger.latent(f"{name}.of {number}") for number in (2, 3, 4))
    ledger.equal(rare, unique, two)
    pooled = ((other, 1.0), (unique, -1.0), (two, -2.0), (three, -3.0), (four, -4.0))
    common = [int(size) for size, number in sizes if number >= SMALL]
    ledger.relations.append(Relation(pooled, upper=0.0 if len(common) <= SHOWN else math.inf))
    if "n" not in ledger.variables:
        return
    shown = common[:SHOWN]
    least = next(size for size in count(1) if size not in shown)
    parts = [(ledger.latent(f"{name}.{size}", watched="nowhere"), -float(size)) for size in shown]
    # What is listed is not rare.
    ledger.relations += [Relation(((one, 1.0),), lower=float(SMALL), upper=math.inf) for one, _ in parts]
    ledger.relations.append(Relation((("n", 1.0), *parts, (other, -float(least))), upper=math.inf))


def blocks(one: Plain, place: str) -> list[Block]:
    """Households by size, and what nobody shares."""
    tree = one[place]
    alone = of_whole(tree["unique_compositions"], tree["unique_composition_rate"])
    facts = (
        ("Households", tree["n_households"]["text"]),
        ("Households whose composition nobody shares", alone),
        ("Sizes held by one household only", tree["unique_sizes"]["text"]),
        ("Sizes held by fewer than 3 households", tree["rare_sizes"]["text"]),
    )
    rows = tuple(
        ("all other sizes" if row.get("pooled") else row["level"], *texts(row["n"], row["rate"]))
        for row in tree["sizes"]
    )
    return [
        Facts(facts),
        bars(
            "Households by number of members",
            "households",
            ((_members(row), row["n"]) for row in tree["sizes"]),
        ),
        TableBlock("Households by size", ("Members", "Households", "Share"), rows, (1, 2)),
        Paragraph(HINT, "note"),
    ]


def _members(row: Plain) -> str:
    if row.get("pooled"):
        return "all other sizes"
    return f"{row['level']} member" + ("" if row["level"] == "1" else "s")


NOTE = Note(
    "Household risk",
    "The probability that at least one member of the household is re-identified: one minus "
    "the product over its members of (1 - risk). Size and composition may identify a "
    "household even without any key.",
    "Franconi & Polettini (2004); Templ, Meindl, Kowarik & Chen (2014)",
)
VIEW = View("Households", tree, blocks, noted(NOTE))
