"""View of a regression fitted to a release and to its original."""

from typing import Any

from sdckit.data.frames import rows_of
from sdckit.report import common_blocks, estimates, view
from sdckit.report.blocks import Block
from sdckit.report.gate.figures import InternalOnly, Tree
from sdckit.report.setting import PairSetting

SHOWN = ("estimate_original", "estimate_released", "overlap")


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the coefficients of both files, and the overlap of their confidence intervals."""
    ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}"
    rows = rows_of(result.table)
    otherwise = result.told_columns

    def write(number: int, term: Tree) -> tuple[Tree, ...]:
        if number >= estimates.MOST_TERMS:
            return ()
        few, wide = result.few[number], result.few_spread[number]
        leaves = {
            part: estimates.estimate_leaf(
                ledger,
                f"{start}.{number}.{part}",
                rows[number].get(part),
                few=hidden,
                otherwise=otherwise[part][number],
            )
            for part, hidden in zip(SHOWN, (few, few, wide), strict=True)
        }
        return ({"term": term, **leaves},)

    overlap = common_blocks.value_leaf(ledger, f"{start}.mean_overlap", result.mean_overlap)
    if any(result.few_spread) or any(result.steps):
        others = common_blocks.value_leaf(ledger, f"{start}.mean_overlap.told", result.over_told()["mean_overlap"])
        overlap = InternalOnly(overlap, others)
    return {
        "formula": InternalOnly(result.formula, result.told_formula),
        "family": result.family,
        "mean_overlap": overlap,
        "terms": estimates.term_rows(result, write, [str(row["term"]) for row in rows]),
        "withheld": estimates.few_words(result),
        "forest": estimates.forest_tree(result, setting),
    }


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Forest plot and table of the coefficients with their intervals."""
    return estimates.forest_blocks(plain[place]["forest"], withheld=plain[place]["withheld"])


VIEW = estimates.UtilityView(estimates.USEFULNESS, tree, blocks, part="models")
