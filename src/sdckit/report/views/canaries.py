"""What a release gives away of records planted in its training file, in a document: they are nobody's."""

from __future__ import annotations

from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.estimates import value_leaf
from sdckit.report.figures import InternalOnly, Tree
from sdckit.report.rates import ATTACKS, enter_share
from sdckit.report.setting import PairSetting, notes_tree
from sdckit.report.view import Note, Plain, View

__all__ = ["VIEW"]

# What is told of the planted records, and the same without memory.
COMPARED = (
    ("nearer to the release than one held back", "auc", ""),
    ("in the release to the letter", "recovered", "recovered_by_chance"),
)
METHOD = Note(
    "Planted records",
    (
        "Records of nobody are planted in the training file and as many held back; a release that is nearer to "
        "the planted ones has remembered them."
    ),
    "Carlini, Liu, Erlingsson, Kos & Song (2019)",
)


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Give how the planted records stand out, beside those held back."""
    ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}"
    sizes = {"recovered": result.n_planted, "recovered_by_chance": result.n_held_out}
    found: dict[str, Tree] = {"auc": value_leaf(ledger, f"{start}.auc", result.auc)}
    for name, size in sizes.items():
        base = ledger.count(f"{start}.{name}.n", size, f"{start}.{name}", watched="nowhere").name
        found[name] = enter_share(ledger, f"{start}.{name}", getattr(result, name), base)
    exact: dict[str, Tree] = {name: float(getattr(result, name)) for name in (*result.figures, "level")}
    inside = InternalOnly({"verdict": result.verdict, **exact, "notes": notes_tree(result)})
    return {**found, "n_planted": result.n_planted, "n_held_out": result.n_held_out, "exact": inside}


def blocks(plain: Plain, place: str) -> list[Block]:
    """Lay out and draw what became of the planted records; with exact figures what it means."""
    found = plain[place]
    caption = f"{found['n_planted']} records of nobody planted, {found['n_held_out']} held back"
    chance = {"text": "0.5", "value": 0.5}
    bars = [
        {"label": f"{words}{', by chance' if by_chance else ''}", "n": found[other] if by_chance and other else
         chance if by_chance else found[name]}
        for words, name, other in COMPARED
        for by_chance in (False, True)
    ]  # fmt: skip
    laid: list[Block] = [ChartBlock("bars", {"rows": bars, "unit": "of the planted records"}, caption)]
    if (exact := found.get("exact")) is None:
        rows = tuple(
            (words, found[name]["text"], found[other]["text"] if other else chance["text"])
            for words, name, other in COMPARED
        )
        return [
            TableBlock(caption, ("Share", "Planted", "By chance"), tuple(map(tuple, rows)), (1, 2)),
            *laid,
        ]  # type: ignore[arg-type]
    table = TableBlock(
        caption,
        ("Share", "Planted", f"Interval {100 * exact['level']:g} %", "By chance"),
        tuple(_exact_rows(exact)),
        (1, 2, 3),
    )
    notes = (Paragraph(f"Note: {about}: {text}", "note") for about, text in exact["notes"].items())
    return [table, *laid, Paragraph(exact["verdict"]), *notes]


def _exact_rows(exact: Plain) -> list[tuple[str, ...]]:
    rows = [
        (
            words, f"{exact[name]:.1%}", f"{100 * exact[f'{name}_low']:.1f}–{100 * exact[f'{name}_high']:.1f}",
            f"{exact[other]:.1%}" if other else "50.0%",
        )
        for words, name, other in COMPARED
    ]  # fmt: skip
    by_chance, most = exact["exposure_by_chance"], exact["most_exposure"]
    return [
        *rows,
        ("exposure in bits, mean", f"{exact['mean_exposure']:.4g}", "", f"{by_chance:.4g}"),
        (f"largest, of {most:.4g} at most", f"{exact['largest_exposure']:.4g}", "", ""),
        ("probability of so much without memory", f"{exact['p_value']:.4g}", "", ""),
    ]


VIEW = View(ATTACKS, tree, blocks, lambda _: (METHOD,))
