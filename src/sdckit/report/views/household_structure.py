"""View of household structure: households identified by their size or composition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sdckit.report.blocks import Block, Facts, Paragraph, TableBlock
from sdckit.report.common_blocks import bars, figure, of_whole, texts
from sdckit.report.gate.figures import Ledger, Levels, Relation, Share, Told, Tree
from sdckit.report.gate.relations import OTHER, SMALL
from sdckit.report.setting import Setting, notes_tree
from sdckit.report.view import Plain, View, noted

if TYPE_CHECKING:
    from sdckit.identity.household_structure import HouseholdStructure

# What the names of figures begin with that are of the file, not of an intruder.
HOUSEHOLDS = "households"
# Sizes that are listed.
SHOWN = 15
# Sizes of which each is looked at alone where it is rare, and how many households have a rare one.
LARGEST = 8
FEW = range(1, SMALL)
HINT = (
    "The size and the composition of a household can identify it without any key; "
    "leaving out the size hides nothing while the household's id stays in the file."
)


def tree(result: HouseholdStructure, setting: Setting) -> Mapping[str, Tree]:
    """Enter the number of households, the rare sizes and the unique compositions."""
    ledger, n = setting.ledger, result.n_households
    # Sizes are the same whoever looks: two prints of one number would tell more of it than one.
    entered = HOUSEHOLDS in ledger.variables
    households = ledger.count(HOUSEHOLDS, n, HOUSEHOLDS)
    unique = ledger.count(f"{HOUSEHOLDS}.unique_sizes", result.unique_sizes, HOUSEHOLDS)
    rare = ledger.count(f"{HOUSEHOLDS}.rare_sizes", result.rare_sizes, HOUSEHOLDS)
    compositions = setting.count("households.unique_compositions", result.unique_compositions, "households")
    sizes = tuple((str(size), int(number)) for size, number in sorted(result.sizes.items()))
    known = "n" if "n" in ledger.variables else ""
    name = f"{HOUSEHOLDS}.size"
    if not entered:
        ledger.nested(rare.name, unique.name)
        _link_pooled(ledger, name, sizes, households.name, rare.name, unique.name)
    ledger.nested(households.name, compositions.name)
    ledger.nested(compositions.name, unique.name)
    return {
        "n_households": households,
        "sizes": Levels(name, sizes, households.name, n, shown=SHOWN, records=known),
        "unique_sizes": unique,
        "rare_sizes": rare,
        "unique_compositions": compositions,
        "unique_composition_rate": Share(compositions.name, households.name),
        "household_variables": _shared(result, setting),
        "notes": notes_tree(result),
    }


def _shared(result: HouseholdStructure, setting: Setting) -> tuple[Tree, ...]:
    """Keys constant within households; guarded by the number of households in which they could differ."""
    able = {
        name: setting.count(f"households.able.{name}", n, f"households.able.{name}", watched="nowhere").name
        for name, n in result.shared.items()
    }
    return tuple(Told(name, (count,), otherwise=None, guarded=True) for name, count in able.items())


def _link_pooled(
    ledger: Ledger, name: str, sizes: Sequence[tuple[str, int]], households: str, rare: str, unique: str
) -> None:
    """Constrain the pooled rare sizes: at most four households of each, and all members together are the n records."""
    common = [int(size) for size, number in sizes if number >= SMALL]
    shown = common[:SHOWN]
    held_by = {number: [ledger.latent(f"{name}.of {number}", watched="nowhere")] for number in FEW}
    members: list[tuple[str, float]] = []
    for size in range(1, LARGEST + 1):
        if size not in common:
            pooled = ledger.latent(f"{name}.pooled {size}")
            members.append((pooled, -float(size)))
            for number, flag in _number_of(ledger, pooled).items():
                held_by[number].append(flag)
    ledger.equal(unique, *held_by[1])
    ledger.equal(rare, unique, *held_by[2])
    other = ledger.latent(f"{name}: {OTHER}", watched="nowhere")
    terms = tuple((flag, -float(number)) for number, flags in held_by.items() for flag in flags)
    # Where more sizes are common than are shown, some of them are pooled, too.
    ledger.relations.append(Relation(((other, 1.0), *terms), upper=0.0 if shown == common else math.inf))
    if "n" not in ledger.variables:
        return
    parts = [(ledger.latent(f"{name}.{size}", watched="nowhere"), -float(size)) for size in shown]
    # What is listed is not rare.
    ledger.relations += [Relation(((count, 1.0),), lower=float(SMALL), upper=math.inf) for count, _ in parts]
    larger = [(held_by[number][0], -float(number * (LARGEST + 1))) for number in FEW]
    ledger.relations.append(Relation((("n", 1.0), *parts, *members, *larger), upper=math.inf))
    # It follows, but not from one relation after the other: who is not the first of a household is one of the others.
    others = [(count, factor + 1.0) for count, factor in (*parts, *members) if factor < -1.0]
    ledger.relations.append(Relation((("n", 1.0), (households, -1.0), *others), upper=math.inf))


def _number_of(ledger: Ledger, households: str) -> dict[int, str]:
    """Enter 0/1 variables for "this size is held by 1, 2, 3 or 4 households", and tie them to their number."""
    flags = {number: ledger.latent(f"{households}: {number}", watched="nowhere") for number in FEW}
    for flag in flags.values():
        ledger.tell(flag, 0.0, 1.0)
    ledger.relations.append(Relation(tuple((flag, 1.0) for flag in flags.values()), upper=1.0))
    numbers = tuple((flag, -float(number)) for number, flag in flags.items())
    ledger.relations.append(Relation(((households, 1.0), *numbers)))
    return flags


def blocks(plain: Plain, place: str) -> list[Block]:
    """Facts on households, and table and chart of their sizes."""
    tree = plain[place]
    alone = of_whole(tree["unique_compositions"], tree["unique_composition_rate"])
    facts: tuple[tuple[str, str], ...] = (
        ("Households", tree["n_households"]["text"]),
        ("Households whose composition nobody shares", alone),
        ("Sizes held by one household only", tree["unique_sizes"]["text"]),
        ("Sizes held by fewer than 3 households", tree["rare_sizes"]["text"]),
    )
    if tree["household_variables"]:
        facts = (*facts, ("Keys that never differ within a household", ", ".join(tree["household_variables"])))
    rows = tuple(
        ("all other sizes" if row.get("pooled") else row["level"], *texts(row["n"], row["rate"]))
        for row in tree["sizes"]
    )
    return [
        Facts(facts),
        *figure(
            bars("Households by number of members", "households", ((_members(row), row["n"]) for row in tree["sizes"])),
            TableBlock("Households by size", ("Members", "Households", "Share"), rows, (1, 2)),
        ),
        Paragraph(HINT, "note"),
    ]


def _members(row: Plain) -> str:
    if row.get("pooled"):
        return "all other sizes"
    return f"{row['level']} member" + ("" if row["level"] == "1" else "s")


VIEW = View("Households", tree, blocks, noted("household_structure"))
