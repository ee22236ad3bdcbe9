"""View of special uniques (SUDA): minimal sample uniques by size, and the contribution of each key."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Any

from sdckit.data.frames import rows_of
from sdckit.errors import DataError
from sdckit.report import common_blocks, view
from sdckit.report.blocks import Block, ChartBlock, Facts, Paragraph, TableBlock
from sdckit.report.gate.figures import Chance, InternalOnly, Part, Relation, Tree
from sdckit.report.gate.relations import link_records
from sdckit.report.setting import Setting, notes_tree, rule_of
from sdckit.result import LetGo

if TYPE_CHECKING:
    from sdckit.identity.special_uniques.suda import Suda

BY_SCORE = "Records by their DIS score"


def tree(result: Suda, setting: Setting) -> Mapping[str, Tree]:
    """Enter minimal uniques by size, DIS and the contribution of each key; those of levels are confidential."""
    uniques = common_blocks.uniques_of(setting, result)
    pairs = setting.count("suda.pairs", result.pairs, "suda.pairs")
    link_records(setting.ledger, setting.sizes, pairs.name, 2, 2)
    counts = {size: setting.count(f"msu.{size}", number, "msu") for size, number in sorted(result.msu_counts.items())}
    _link_msus(setting, {size: count.name for size, count in counts.items()}, uniques.name, len(result.contributions))
    return {
        "sample_uniques": uniques,
        "rule": "category" if rule_of(result) else "",
        "pairs": pairs,
        "sampling_fraction": setting.declared(result.sampling_fraction),
        "dis": Chance(uniques.name, pairs.name, result.sampling_fraction),
        "max_size": result.max_size,
        "scoring": result.scoring,
        "msu_counts": {str(size): count for size, count in counts.items()},
        "contributions": {key: Part(share, uniques.name) for key, share in result.contributions.items()},
        "level_contributions": InternalOnly({key: dict(levels) for key, levels in result.level_contributions.items()}),
        "dis_scores": InternalOnly(_by_score(result)),
        # Numbers in it are options, no counts: outside the document says it in its own words.
        "notes": notes_tree(result, inside=("max_size",)),
    }


def _by_score(result: Suda) -> tuple[dict[str, Any], ...]:
    """Histogram of the DIS scores, to choose a threshold by; confidential."""
    if isinstance(result.cells, LetGo):
        return ()
    above, counts = result.dis_above(), result.dis_histogram()
    steps = pairwise((*above, 1.0))
    return tuple(
        {"from": low, "to": high, "n": n, "above": above[low]} for n, (low, high) in zip(counts, steps, strict=True)
    )


def _link_msus(setting: Setting, names: dict[int, str], uniques: str, n_keys: int) -> None:
    """Relations: a record's minimal uniques form an antichain, and one of all keys is lost with any key."""
    ledger = setting.ledger
    shares = [(name, -1.0 / comb(n_keys, size)) for size, name in names.items()]
    # Lubell-Yamamoto-Meshalkin, summed over the records that are unique.
    ledger.relations.append(Relation(((uniques, 1.0), *shares), upper=math.inf))
    if n_keys not in names or not setting.cells_known:
        return
    ledger.relations.append(Relation((*((name, 1.0) for name in names.values()), (uniques, -1.0)), upper=math.inf))
    start = f"{setting.prefix}.contributions.without."
    singles = [name for name in ledger.variables if name.startswith(start) and "," not in name[len(start) :]]
    for without in singles:
        terms = ((uniques, 1.0), (without, -1.0), (names[n_keys], -1.0))
        ledger.relations.append(Relation(terms, upper=math.inf))


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Minimal uniques by size, and the contributions of the keys, the largest first."""
    tree = plain[place]
    facts = [
        (common_blocks.ALONE + common_blocks.of_rule(tree), tree["sample_uniques"]["text"]),
        ("Largest number of keys combined", str(tree["max_size"])),
        (f"Chance that a unique match is correct (DIS){common_blocks.of_rule(tree)}", tree["dis"]["text"]),
    ]
    if "level_contributions" in tree:
        facts.insert(1, ("Records in pairs", tree["pairs"]["text"]))
    sizes = tree["msu_counts"]
    caption = "Minimal uniques by the number of keys"
    # By printed figures: an order by exact ones would tell which is larger.
    parts = sorted(tree["contributions"].items(), key=lambda item: (-(item[1]["value"] or 0), item[0]))
    laid: list[Block] = [
        Paragraph("A minimal unique is a set of keys that single a record out while no part of the set does."),
        Facts(tuple(facts)),
        *common_blocks.figure(
            common_blocks.bars(
                caption,
                "minimal uniques",
                ((f"{size} key{'' if size == '1' else 's'}", count) for size, count in sizes.items()),
            ),
            TableBlock(
                caption,
                ("Keys", "Minimal uniques"),
                tuple((size, count["text"]) for size, count in sizes.items()),
                (1,),
            ),
        ),
        TableBlock(
            "Part of the score in minimal uniques with the key; the parts overlap",
            ("Key", "Part"),
            tuple((key, part["text"]) for key, part in parts),
            (1,),
        ),
    ]
    if rows := tree.get("dis_scores"):
        laid += _scores(rows)
    for key, levels in tree.get("level_contributions", {}).items():
        rows = tuple((level, "–" if share is None else f"{100 * share:.4g} %") for level, share in levels.items())
        laid.append(TableBlock(f"Part of the levels of {key}", ("Level", "Part"), rows, (1,), paper=True))
    return [*laid, *common_blocks.notes_blocks(tree)]


def _scores(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Histogram of the DIS scores, and table of the records above each threshold."""
    drawn = [(f"{row['from']:g} to {row['to']:g}", {"text": f"{row['n']:,}", "value": row["n"]}) for row in rows]
    listed = tuple((f"{row['from']:g}", f"{row['above']:,}") for row in rows)
    table = TableBlock("Records above a DIS score", ("Score", "Records"), listed, (1,))
    return common_blocks.figure(common_blocks.bars(BY_SCORE, "records", drawn), table)


def _density(result: Suda, internal: bool) -> ChartBlock:
    """Density of the DIS scores, for a confidential document only: it points at records with rare scores."""
    if not internal:
        raise DataError(
            "a density tells the scores of single records; internal=True draws it, plot() draws what may leave",
            argument="density",
        )
    rows = [{"x": row["score"], "y": row["density"]} for row in rows_of(result.dis_density())]
    data = {"rows": rows, "x": "DIS score", "y": "density"}
    return ChartBlock("curve", data, "Density of the DIS scores of all records")


def _dis(result: Suda, internal: bool) -> ChartBlock:
    """Histogram of the DIS scores, beside that of the file before; for a confidential document only."""
    if not internal:
        raise DataError(
            "the bins of a histogram hold few records, whose scores it tells; internal=True draws it, plot() draws "
            "what may leave",
            argument="dis",
        )
    sides = {"": result} if result.before is None else {"before": result.before, "after": result}
    counts = {when: side.dis_histogram() for when, side in sides.items()}
    rows = [
        (f"{low:g} to {high:g}{when and ', '}{when}", {"text": f"{own[at]:,}", "value": own[at]})
        for at, (low, high) in enumerate(pairwise((*result.dis_above(), 1.0)))
        for when, own in counts.items()
    ]
    return common_blocks.bars(BY_SCORE, "records", rows)


VIEW = view.View("Special uniques", tree, blocks, view.noted("suda"), charts={"density": _density, "dis": _dis})
