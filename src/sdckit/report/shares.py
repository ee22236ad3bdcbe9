"""Views of measures of two files whose figures are shares of records: entered as counts, shown by release."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sdckit.data.drawn_rows import SAMPLED
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.common_blocks import bars
from sdckit.report.gate.figures import InternalOnly, Ledger, Ratio, Share, Tree, Value
from sdckit.report.rates import percent
from sdckit.report.setting import PairSetting, notes_tree
from sdckit.report.view import Plain, View, noted

MATCHING, LEARNING = "Can rows be matched back?", "What can be learnt?"
MOST_COLUMNS = 4


@dataclass(frozen=True)
class Figure:
    """One figure of a measure of two files, as it goes into a document.

    Parameters
    ----------
    name
        The figure's name in the result, and of its place in the document.
    words
        What it is called in a table.
    base
        What it is a share of: ``"n"`` records of the original, ``"released"`` records of the release, another
        figure that is a number, or "" for a number of records of the original.
    whole
        Whether share times base is a whole number of records; an expected number otherwise.
    inside
        A figure that contains this one.
    beside
        A figure that must be defined, too, for this one to be shown.
    same
        The count among the figures of the original by itself that is the same number of people.
    sum_of
        The share of which this is the number: printed from the same variable. With another figure as `base`, the same
        number over that one.
    others
        The figure that counts the rest of its base.
    """

    name: str
    words: str
    base: str = "n"
    whole: bool = True
    inside: str = ""
    beside: str = ""
    same: str = ""
    sum_of: str = ""
    others: str = ""


@dataclass(frozen=True)
class ShareView(View):
    """View of a measure whose figures are shares."""

    shares: tuple[Figure, ...] = ()


More = Callable[[Any, PairSetting], Mapping[str, Tree]]
Draw = Callable[[Plain, str], ChartBlock]


def share_view(
    title: str,
    head: str,
    shares: Sequence[Figure],
    *notes: str,
    answer: Callable[[Plain, str], str] = lambda _tree, _variable: "",
    more: More = lambda _result, _setting: {},
    draw: Draw | None = None,
    also: Callable[[Plain], list[Block]] = lambda _tree: [],
    charts: Mapping[str, Callable[[Any, bool], ChartBlock]] | None = None,
) -> ShareView:
    """Make the view of a measure of shares; ``{}`` in the head of its table stands for the variable.

    `answer` (the sentence for the first page) and `draw` (else the first release's shares as bars) take the tree and
    the variable; `more` gives further figures of the result, `also` shows them below the table; `charts` are drawn
    where they are asked for.
    """

    def blocks(plain: Plain, place: str) -> list[Block]:
        tree, variable = plain[place], place.partition(":")[2]
        table = shares_table(head.format(variable), shares, tree)
        chart = draw(tree, variable) if draw else release_bars(table.caption, shares, tree)
        drawn = [] if tree.get("said") else [Paragraph(f"Note: {text}", "note") for text in sampled(tree)]
        return [table, chart, *also(tree), *drawn, *pair_notes_blocks(tree)]

    return ShareView(
        title,
        lambda result, setting: {**shares_tree(shares, result, setting), **more(result, setting)},
        blocks,
        noted(*notes),
        answer=lambda plain, place, _: answer(plain[place], place.partition(":")[2]),
        shares=tuple(shares),
        charts=charts or {},
    )


def shares_tree(shares: Sequence[Figure], result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the shares of a result, release by release; undefined ones are left out with their notes."""
    releases: list[Tree] = []
    drawn = int(result.n) if SAMPLED in result.notes else None
    for j, figures in enumerate(result.per_release, 1):
        defined = (share for share in shares if _is_defined(share, figures))
        releases.append({figure.name: _leaf(figure, figures, j, setting, drawn) for figure in defined})
    hidden = [name for name in result.per_release[0] if all(math.isnan(row[name]) for row in result.per_release)]
    return {"releases": tuple(releases), **pair_notes_tree(result, but=hidden)}


def pair_notes_tree(result: Any, *, but: Sequence[str] = ()) -> dict[str, Tree]:
    """Notes of a result on two files, and their texts for a confidential document."""
    texts = dict.fromkeys(text for name, text in result.notes.items() if name not in but)
    return {"notes": notes_tree(result, but=but), "said": InternalOnly(tuple(texts))}


def pair_notes_blocks(tree: Plain) -> list[Block]:
    """Notes of a result on two files, a paragraph each, for a confidential document."""
    return [Paragraph(f"Note: {text}", "note") for text in tree.get("said", ())]


def sampled(tree: Plain) -> list[str]:
    """That figures are of people drawn, which every document says; empty where they are of all."""
    return [text for name, text in tree.get("notes", {}).items() if name == SAMPLED]


def _is_defined(figure: Figure, figures: Mapping[str, float]) -> bool:
    names = (figure.name, figure.beside) if figure.beside else (figure.name,)
    return not any(math.isnan(figures.get(name, math.nan)) for name in names)


def _leaf(figure: Figure, figures: Mapping[str, float], j: int, setting: PairSetting, drawn: int | None = None) -> Tree:
    ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}.{j}."
    if figure.sum_of and figure.base in figures:
        return Ratio(start + figure.sum_of, start + figure.base)
    if figure.sum_of:
        return Value(start + figure.sum_of)
    value, (base, size) = figures[figure.name], ("n", float(setting.n))
    if figure.base == "released":
        base, size = f"n.released.{j}", float(setting.sizes[j - 1])
        if drawn is not None:
            base, size = enter_drawn(ledger, start, drawn), float(drawn)
    elif figure.base in figures:
        base, size = start + figure.base, figures[figure.base]
    name = start + figure.name
    if not figure.whole:
        ledger.value(name, value * size, f"{name}.value", kind="sum")
        return Ratio(name, base)
    count = ledger.count(name, round(value * size if figure.base else value), start)
    ledger.nested(base, name)
    if figure.inside:
        ledger.nested(start + figure.inside, name)
    if figure.others:
        ledger.equal(base, name, start + figure.others)
    if figure.same:
        _link(figure.same, name, setting)
    return Share(name, base) if figure.base else count


def enter_drawn(ledger: Ledger, start: str, n: int) -> str:
    """Enter how many records were drawn, which says nothing of anybody; the name to take shares of."""
    ledger.count(f"{start}n_drawn", n, f"{start}n_drawn", watched="nowhere")
    return f"{start}n_drawn"


def _link(same: str, name: str, setting: PairSetting) -> None:
    """Equate a count with the same count among the figures of the original by itself, so that both print alike."""
    ledger = setting.ledger
    for suffix in (".category", ""):
        other = f"i{setting.prefix[1:]}.{same}{suffix}"
        if other in ledger.variables and ledger.variables[other].true == ledger.variables[name].true:
            ledger.equal(other, name)
            return


def shares_table(caption: str, shares: Sequence[Figure], tree: Plain) -> TableBlock:
    """Table of the shares of a measure by release, with their denominators."""
    releases = tree["releases"]
    lines = ((share.words, [release.get(share.name) for release in releases]) for share in shares)
    rows = tuple((words, *by_release(leaves), _of(leaves)) for words, leaves in lines if any(leaves))
    heads = ("Share", *release_heads(len(releases)), "Of records")
    return TableBlock(caption, heads, rows, tuple(range(1, len(heads))))


def _of(leaves: Sequence[Plain | None]) -> str:
    """Denominator of shares: the common one, or the smallest and largest over the releases."""
    wholes = [leaf["of"] for leaf in leaves if leaf is not None and "of" in leaf]
    sizes = sorted(dict.fromkeys(wholes), key=lambda text: float(text.replace(",", "")))
    return " to ".join(dict.fromkeys([sizes[0], sizes[-1]])) if sizes else "–"


def release_bars(caption: str, shares: Sequence[Figure], tree: Plain) -> ChartBlock:
    """Bar chart of the shares of the first release."""
    first = tree["releases"][0]
    of_records = (share for share in shares if share.base in {"n", "released"} and share.name in first)
    rows = ((record.words, first[record.name]) for record in of_records)
    return bars(caption, "of the records", rows, aside=True)


def release_heads(m: int) -> tuple[str, ...]:
    """Headers of the release columns: one each, or mean, smallest and largest where there are many."""
    if m == 1:
        return ("Release",)
    if m <= MOST_COLUMNS:
        return tuple(f"Release {j}" for j in range(1, m + 1))
    return (f"Mean of {m} releases", "Smallest", "Largest")


def by_release(leaves: Sequence[Plain | None]) -> tuple[str, ...]:
    """Texts of a row below `release_heads`, from printed figures."""
    if len(leaves) <= MOST_COLUMNS:
        return tuple("–" if leaf is None else leaf["text"] for leaf in leaves)
    if not (known := _known(leaves)):
        return ("–", "–", "–")
    ordered = sorted(known, key=_middle)
    return (_mean_text(known), ordered[0]["text"], ordered[-1]["text"])


def over(tree: Plain, figure: str) -> str:
    """A share for a sentence, in per cent: of the only release, or the mean over several."""
    leaves = [release.get(figure) for release in tree["releases"]]
    if len(leaves) == 1:
        return "–" if leaves[0] is None else percent(leaves[0])
    known = _known(leaves)
    return f"{100 * sum(map(_middle, known)) / len(known):.2g} %" if known else "an unknown share"


def _known(leaves: Sequence[Plain | None]) -> list[Plain]:
    return [leaf for leaf in leaves if leaf is not None and (leaf.get("value") is not None or "below" in leaf)]


def _middle(leaf: Plain) -> float:
    return float(leaf["value"] if leaf["value"] is not None else leaf["below"] / 2)


def _mean_text(leaves: Sequence[Plain]) -> str:
    mean = sum(map(_middle, leaves)) / len(leaves)
    if any("%" in leaf["text"] for leaf in leaves):
        return f"{100 * mean:.2g} %"
    return f"{mean:,.0f}" if mean >= 10 else f"{mean:.2g}"


def bins_tree(
    edges: Sequence[float], counts: Sequence[Sequence[int]], setting: PairSetting, *, whole: str = ""
) -> tuple[Tree, ...]:
    """Enter the records in fixed bins, by original and by release; their sum is `whole`, if given."""
    ledger: Ledger = setting.ledger
    start = f"{setting.prefix}.{setting.place}.bin"
    rows: list[Tree] = []
    names: dict[str, list[str]] = {"original": [], "released": []}
    for number, (low, high) in enumerate(pairwise(edges)):
        leaves: dict[str, Tree] = {}
        for side, bins in zip(names, counts, strict=True):
            leaf = ledger.count(f"{start}.{side}.{number}", int(bins[number]), f"{start}.{side}")
            names[side].append(leaf.name)
            leaves[side] = leaf
        rows.append({"from": low, "to": high if math.isfinite(high) else None, **leaves})
    for parts in names.values() if whole else ():
        ledger.equal(whole, *parts)
    return tuple(rows)


def bins_chart(bins: Sequence[Plain], caption: str) -> ChartBlock:
    """Bar chart of the bins, original and release below each other."""
    words = {"original": "original", "released": "release"}
    return bars(caption, "records", ((f"{_bin(row)}, {words[side]}", row[side]) for row in bins for side in words))


def _bin(row: Plain) -> str:
    return f"{row['from']:g} or more" if row["to"] is None else f"{row['from']:g} to {row['to']:g}"


# Shared by two views: columns whose values can be reconstructed from a release, alone or with published tables.


FEWEST = 5  # reconstructed values that are printed as a number


def shown_share(back: int, whole: int) -> float:
    """Share by which columns are ordered: small counts at their bound, since an order by exact ones would tell them.

    >>> shown_share(2, 100) == shown_share(4, 100), shown_share(7, 100), shown_share(0, 100)
    (True, 0.07, 0.0)
    """
    counted = back if back == 0 or back >= FEWEST else FEWEST
    return float(min(1.0, counted / whole))


Enter = Callable[[Any, str, PairSetting, int], Tree]
Further = Callable[[Any, int, str, PairSetting], dict[str, Tree]]


def given_back_tree(
    result: Any, setting: PairSetting, whole: str, share: str, column: Enter, undone: Further,
    further: Further = lambda *_: {},
) -> tuple[Tree, ...]:  # fmt: skip
    """Enter the reconstructed values by column and release, the risk with them put back, and the worst column's share.

    `whole` is the attribute that counts the values of a column; `column` takes it, the start of its names and the
    release; `undone` and `further` the result, the release and the start of its names.
    """
    releases: list[Tree] = []
    for j, columns in enumerate(result.columns, 1):
        start = f"{setting.prefix}.{setting.place}.{j}."
        shown = [audited for audited in columns if getattr(audited, whole)]
        entered = (column(audited, f"{start}{number}.", setting, j) for number, audited in enumerate(shown))
        tree: dict[str, Tree] = {"columns": tuple(entered)}
        if result.below_k:
            tree |= undone(result, j, start, setting)
        if shown:
            shares = [shown_share(audited.counted, getattr(audited, whole)) for audited in shown]
            worst = shares.index(max(shares))
            # Of the column's changed values if any is reconstructed; else of all records: 0 tells not how few changed.
            some = f"{start}{worst}.{whole}" if shown[worst].counted else f"n.released.{j}"
            tree[share] = Share(f"{start}{worst}.back", some)
        releases.append(tree | further(result, j, start, setting))
    return tuple(releases)


def enter_given_back(ledger: Ledger, start: str, whole: str, column: Any) -> dict[str, Tree]:
    """Enter how many values of a column are reconstructed and narrowed, and narrowed to two where counted."""
    leaves: dict[str, Tree] = {
        "back": ledger.count(f"{start}back", column.counted, start),
        "narrowed": ledger.count(f"{start}narrowed", column.narrowed, start),
    }
    if to_two := hasattr(column, "between_two"):
        leaves["between_two"] = ledger.count(f"{start}two", column.between_two, start)
    ledger.nested(whole, f"{start}back")
    ledger.nested(whole, f"{start}narrowed")
    if to_two:
        ledger.nested(f"{start}narrowed", f"{start}two")
    # Narrowed are those not given back, so the two exclude each other; the rest is open, or given back wrongly.
    ledger.equal(whole, f"{start}back", f"{start}narrowed", ledger.latent(f"{start}rest"))
    return leaves


def enter_put_back(ledger: Ledger, start: str, uniques: str, below: str, result: Any, j: int) -> dict[str, Tree]:
    """Enter the uniques and records in small groups once the reconstructed values are put back."""
    k, group = result.shown_k, f"{start}undone"
    alone = ledger.count(f"{start}uniques", int(result.per_release[j - 1][uniques]), group)
    small = ledger.count(f"{start}below", result.below_k[j - 1][k], group)
    ledger.nested(f"n.released.{j}", small.name)
    ledger.nested(small.name, alone.name)
    return {"k": k, uniques: alone, below: small}


def of_releases(releases: Sequence[Plain]) -> list[tuple[Plain, str]]:
    """Each release with its suffix for a caption, "" where there is only one."""
    several = len(releases) > 1
    return [(release, f", release {j}" if several else "") for j, release in enumerate(releases, 1)]


def column_blocks(
    tree: Plain, table: Callable[[Sequence[Plain], str], TableBlock], chart: str, words: Mapping[str, str],
    unit: str = "values", of: str = "column",
) -> list[Block]:  # fmt: skip
    """Tables of the columns of each release, and a chart of those of the first, with the figures of `words`.

    `of`: the entry that names what a row is about.
    """
    blocks: list[Block] = []
    for place, (release, suffix) in enumerate(of_releases(tree["releases"])):
        if release["columns"]:
            blocks.append(table(release["columns"], suffix))
        if release["columns"] and not place:
            rows = [
                (f"{_shown(column, of)}, {words[name]}", column[name])
                for column in release["columns"]
                for name in words
            ]
            blocks.append(bars(chart, unit, rows, aside=True))
    return blocks


def _shown(column: Plain, of: str) -> str:
    return f"{column[of]} ({column['kind']})" if "kind" in column else str(column[of])


def back_answer(nothing: str, something: str, knowing: str = "") -> Callable[[Plain, str, Plain], str]:
    """Make the sentence for the first page; ``{}`` stands for the columns with reconstructed values.

    `knowing` is said of columns of which the files alone give nothing back.
    """

    def answer(plain: Plain, place: str, _: Plain) -> str:
        back = columns_given_back(plain, place)
        if not back:
            return "" if back is None else nothing
        alone = columns_given_back(plain, place, alone=True) or []
        said = ((something, alone), (knowing, [name for name in back if name not in alone]))
        return " ".join(words.format(", ".join(names)) for words, names in said if names)

    return answer


def columns_given_back(plain: Plain, place: str, *, alone: bool = False) -> list[str] | None:
    """Columns with values reconstructed, of the files `alone`; None where no value was audited.

    >>> one = {"column": "age", "back": {"value": 12}}
    >>> columns_given_back({"here": {"releases": [{"columns": [one, one]}]}}, "here")
    ['age']
    """
    columns = [column for release in plain[place]["releases"] for column in release["columns"]]
    if not columns:
        return None
    backs = [column.get("alone", column["back"]) if alone else column["back"] for column in columns]
    given = (column["column"] for column, back in zip(columns, backs, strict=True) if back["value"] != 0)
    return list(dict.fromkeys(given))


def put_back_tables(tree: Plain, words: Mapping[str, str], *, head: str, title: str) -> list[TableBlock]:
    """Table of the risk with values put back: a row for each figure in `words`, a column for each release."""
    releases = [release for release in tree["releases"] if next(iter(words)) in release]
    if not releases:
        return []
    heads = (head, *release_heads(len(releases)))
    rows = tuple(
        (label.format(k=releases[0]["k"]), *by_release([release[name] for release in releases]))
        for name, label in words.items()
    )
    return [TableBlock(title, heads, rows, tuple(range(1, len(heads))))]
