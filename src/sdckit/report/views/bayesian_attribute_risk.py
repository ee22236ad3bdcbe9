"""View of the posterior probability that an intruder who has the release assigns to the true value."""

from typing import Any

from sdckit.report import shares, view
from sdckit.report.blocks import Block, TableBlock
from sdckit.report.common_blocks import bars, share_leaf
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting

WORDS = {
    "mean_probability": "probability of the true value, mean",
    "baseline": "the same before the release",
    "share_first": "records whose true value is the most probable guess",
}


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the means over the records, each of which contributes at most 1."""
    start = f"{setting.prefix}.{setting.place}"
    leaves = {name: share_leaf(setting.ledger, f"{start}.{name}", getattr(result, name)) for name in WORDS}
    return {**leaves, **shares.pair_notes_tree(result)}


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Table and chart of the probabilities before and after the release."""
    figures = plain[place]
    caption = f"What the release tells of {place.partition(':')[2]}"
    rows = tuple((words, figures[name]["text"]) for name, words in WORDS.items())
    return [
        TableBlock(caption, ("Mean over the records", "Release"), rows, (1,)),
        bars(caption, "of the records", ((words, figures[name]) for name, words in WORDS.items()), aside=True),
        *shares.pair_notes_blocks(figures),
    ]


VIEW = view.View(shares.LEARNING, tree, blocks, view.noted("bayesian_attribute_risk"))
