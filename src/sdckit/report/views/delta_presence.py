"""View of δ-presence (membership disclosure): people known to be in the file, or known not to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdckit.report import common_blocks, view
from sdckit.report.blocks import Block, Facts, TableBlock
from sdckit.report.gate.figures import Holds, InternalOnly, Relation, Share, Tree
from sdckit.report.setting import Setting, notes_tree

if TYPE_CHECKING:
    from sdckit.identity.population.delta_presence import DeltaPresence


def tree(result: DeltaPresence, setting: Setting) -> Mapping[str, Tree]:
    """Enter the people whose presence probability is beyond a limit; minimum and maximum are confidential."""
    ledger = setting.ledger
    people = setting.count("presence.population", result.population, "presence")
    above = setting.count("presence.above", result.n_above, "presence")
    below = setting.count("presence.below", result.n_below, "presence")
    inside = setting.count("presence.records", result.records_above, "presence")
    for whole, part in ((people, above), (people, below), (above, inside)):
        ledger.nested(whole.name, part.name)
    ledger.nested(people.name, "n")
    ledger.nested("n", inside.name)
    # Above the limit lies a larger share of the people with a key than the limit.
    ledger.bounded(inside.name, {above.name: (result.limits[1], 1.0)}, upper=False)
    ledger.relations.append(Relation(((people.name, 1.0), (above.name, -1.0), (below.name, -1.0)), upper=float("inf")))
    return {
        "population": people,
        "limits": result.limits,
        "holds": Holds(result.holds, none=(above.name, below.name)),
        "minimum": InternalOnly(result.minimum),
        "maximum": InternalOnly(result.maximum),
        "n_above": above,
        "rate_above": Share(above.name, people.name),
        "n_below": below,
        "rate_below": Share(below.name, people.name),
        "records_above": inside,
        "rate_records_above": Share(inside.name, "n"),
        "notes": notes_tree(result),
    }


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Facts, table and chart of the people beyond the limits."""
    tree = plain[place]
    low, high = (f"{limit:g}" for limit in tree["limits"])
    facts = [
        ("People in the population", tree["population"]["text"]),
        (f"Every share from {low} to {high}", tree["holds"]["text"]),
    ]
    if "minimum" in tree:
        facts.append(("Smallest share of a key", f"{tree['minimum']:.4g}"))
        facts.append(("Largest share of a key", f"{tree['maximum']:.4g}"))
    leaves = (
        (f"people with a key above {high}", tree["n_above"], tree["rate_above"]),
        ("records of the file among them", tree["records_above"], tree["rate_records_above"]),
        (f"people with a key below {low}", tree["n_below"], tree["rate_below"]),
    )
    caption = "People whose key is in the file with a share beyond the limits"
    rows = tuple((label, *common_blocks.texts(count, rate)) for label, count, rate in leaves)
    return [
        Facts(tuple(facts)),
        *common_blocks.figure(
            common_blocks.bars(caption, "people", ((label, count) for label, count, _ in leaves)),
            TableBlock(caption, ("Who", "People", "Share"), rows, (1, 2)),
        ),
        *common_blocks.notes_blocks(tree),
    ]


VIEW = view.View("Who is known to be in the file", tree, blocks, view.noted("delta_presence"))
