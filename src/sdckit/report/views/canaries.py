"""View of memorisation: how far artificial records planted in the training file can be told from the release."""

from typing import Any

from sdckit.attacks.planted.canaries import bound_words
from sdckit.report import common_blocks, rates, view
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.conclusions import leaf_with_ends
from sdckit.report.gate.figures import InternalOnly, Ledger, Tree
from sdckit.report.setting import PairSetting, notes_tree

EVEN: view.Plain = {"text": "0.5", "value": 0.5}
# What is told of the planted records, and the same without memory.
COMPARED = (
    ("nearer to the release than one held back", "auc", ""),
    ("in the release to the letter", "recovered", "recovered_by_chance"),
)


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter how far planted records can be told from those held back: AUC, and shares recovered."""
    ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}"
    sizes = {"recovered": result.n_planted, "recovered_by_chance": result.n_held_out}
    leaves: dict[str, Tree] = {"auc": common_blocks.value_leaf(ledger, f"{start}.auc", result.auc)}
    for name, size in sizes.items():
        base = ledger.count(f"{start}.{name}.n", size, f"{start}.{name}", watched="nowhere").name
        leaves[name] = common_blocks.share_leaf(ledger, f"{start}.{name}", getattr(result, name), base)
    known = {name: getattr(result, name) for name in (*result.figures, "level")}
    exact: dict[str, Tree] = {name: float(value) for name, value in known.items() if value is not None}
    inside = InternalOnly({"verdict": result.verdict, **exact, "notes": notes_tree(result)})
    return {
        **leaves, **_bound(result, ledger, start), "n_planted": result.n_planted, "n_held_out": result.n_held_out,
        "exact": inside,
    }  # fmt: skip


def _bound(result: Any, ledger: Ledger, start: str) -> dict[str, Tree]:
    """Enter the bound on ε, and the share of the guesses that are right; or why there is none."""
    if result.epsilon_low is None:
        return {"no_epsilon": result.notes["epsilon_low"]}  # of settings alone
    base = ledger.count(f"{start}.right.n", result.n_guesses, f"{start}.right", watched="nowhere").name
    right = common_blocks.share_leaf(ledger, f"{start}.right", result.n_right / result.n_guesses, base)
    low = common_blocks.value_leaf(ledger, f"{start}.epsilon_low", result.epsilon_low)
    return {"epsilon_low": low, "right": right, "n_guesses": result.n_guesses, "level": result.level}


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Table and chart of the planted records; with exact figures also exposure and the verdict."""
    figures, exact = plain[place], plain[place].get("exact")
    caption = f"{figures['n_planted']} records of nobody planted, {figures['n_held_out']} held back"
    pairs = (
        pair
        for words, name, other in COMPARED
        for pair in ((words, figures[name]), (f"{words}, by chance", figures.get(other, EVEN)))
    )
    chart = common_blocks.bars(caption, "of the planted records", pairs, aside=True)
    rows = [
        (words, _text(exact, name) or rates.percent(figures[name]), rates.percent(figures.get(other, EVEN)))
        for words, name, other in COMPARED
    ]
    if exact is None:
        table = TableBlock(caption, ("Share", "Planted", "By chance"), tuple(rows), (1, 2))
        return [table, chart, Paragraph(_bounded(figures))]
    rows += [
        ("exposure in bits, mean", f"{exact['mean_exposure']:.4g}", f"{exact['exposure_by_chance']:.4g}"),
        (f"largest, of {exact['most_exposure']:.4g} at most", f"{exact['largest_exposure']:.4g}", ""),
        ("probability of so much without memory", f"{exact['p_value']:.4g}", ""),
    ]
    heads = ("Share", f"Planted (interval {100 * exact['level']:g} %)", "By chance")
    notes = (Paragraph(f"Note: {about}: {text}", "note") for about, text in exact["notes"].items())
    return [TableBlock(caption, heads, tuple(rows), (1, 2)), chart, Paragraph(exact["verdict"]), *notes]


def _bounded(figures: view.Plain) -> str:
    """What is printed of ε."""
    if "no_epsilon" in figures:
        return f"A bound on ε is {figures['no_epsilon']}."
    low = figures["epsilon_low"]
    words = "" if low["value"] == 0 else low["text"]
    return bound_words(figures["n_guesses"], rates.percent(figures["right"]), words, figures["level"])


def _text(exact: view.Plain | None, name: str) -> str:
    if exact is None:
        return ""
    return str(leaf_with_ends(*(exact[f"{name}{end}"] for end in ("", "_low", "_high")), exact=True)["text"])


VIEW = view.View(rates.ATTACKS, tree, blocks, view.noted("canaries"))
