"""View of protected values that can be reconstructed from the release itself."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sdckit.data import drawn_rows, limits
from sdckit.display import capital
from sdckit.report import common_blocks, shares, view
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.gate.figures import InternalOnly, Quantity, Share, Told, Tree
from sdckit.report.setting import PairSetting, changed_words

TITLE = "What can be reconstructed from the release?"
SOMEHOW = "more than one thing"
OF_DRAWN = "records drawn of release"
NONE_CHANGED = "No value of the release was changed: there is nothing to reconstruct."
NONE_DRAWN = "No value was changed of the records that were drawn; of the others nothing is said."
AMONG_DRAWN = (
    "Looked at were {n} records drawn by their id, and what follows is counted among them. What the others give back, "
    "and what the order of all rows tells, was not looked at, nor the risk with values put back."
)
KNOWING = "Who can reconstruct changed values, and how"
CHART = "Values changed and reconstructed, by column"
CHARTED = {"touched": "changed", "back": "reconstructed"}
UNDONE = {
    "undone_uniques": "Records alone with their keys", "undone_below": "Records in groups of fewer than {k}",
    "undone_expected": "Expected re-identifications",
}  # fmt: skip
GUESSES = (
    "Guessed: how often a model grown on the release guesses a suppressed value right, against always taking the most "
    "frequent one."
)


def _tree(result: Any, setting: PairSetting) -> Mapping[str, Tree]:
    drawn = drawn_rows.SAMPLED in result.notes
    column = partial(_column, drawn=drawn)
    return {
        **({"drawn": result.pair.n, "changed": _changed(result, setting)} if drawn else {}),
        "releases": shares.given_back_tree(result, setting, "touched", "recoverable", column, _undone, _by_keys),
        "advice": tuple(Told(words, _concerned(words, result, setting), None) for words in result.advice),
        "exact": InternalOnly({"told_by": result.told_by, "advice": tuple(result.advice)}),
        **shares.pair_notes_tree(result),
    }


def _changed(result: Any, setting: PairSetting) -> Tree:
    """Values changed among all records of each release, by column; those of records drawn are among them."""
    ledger, releases = setting.ledger, []
    for j, columns in enumerate(result.changed, 1):
        start = f"{setting.prefix}.{setting.place}.{j}."
        numbers = [column.column for column in result.columns[j - 1] if column.touched]
        rows: list[Tree] = []
        for at, column in enumerate(column for column in columns if column.n):
            of = Quantity(changed_words(column.column), f"release {j}")
            n = ledger.count(f"{start}changed.{at}", column.n, f"{start}changed", of=of)
            ledger.nested(f"n.released.{j}", n.name)
            if column.column in numbers:
                ledger.nested(n.name, f"{start}{numbers.index(column.column)}.touched")
            rows.append({"column": column.column, "kinds": _kinds(column, n.name), "n": n})
        uncounted = tuple(column.column for column in columns if column.n is None)
        releases.append({"columns": tuple(rows), "uncounted": uncounted})
    return tuple(releases)


def _changed_blocks(tree: view.Plain) -> list[Block]:
    heads = ("Column", "What was done", "Changed")
    blocks: list[Block] = []
    for release, of in shares.of_releases(tree["changed"]):
        rows = tuple((row["column"], ", ".join(row["kinds"]), row["n"]["text"]) for row in release["columns"])
        if rows:
            blocks.append(TableBlock(f"Values changed, of all records{of}", heads, rows, (2,)))
        if release["uncounted"]:
            blocks.append(Paragraph(f"Not counted{of}: {', '.join(release['uncounted'])}.", "note"))
    return blocks


def _kinds(column: Any, touched: str) -> Tree:
    """Methods applied to a column; withheld where so few values were changed that their number would tell how many."""
    return tuple(column.kinds) if len(column.kinds) < 2 else Told(tuple(column.kinds), (touched,), (SOMEHOW,))


def _concerned(words: str, result: Any, setting: PairSetting) -> tuple[str, ...]:
    """Names of the counts of reconstructed values that a piece of advice is about, by column and release."""
    variables = []
    for j, columns in enumerate(result.columns, 1):
        touched = [column for column in columns if column.touched]
        for number, column in enumerate(touched):
            start = f"{setting.prefix}.{setting.place}.{j}.{number}."
            if words in column.known_remedies:
                variables.append(f"{start}beyond")
            elif words in column.remedies:
                variables.append(f"{start}{'back' if column.known is None else 'alone'}")
    return tuple(variables)


def _column(column: Any, start: str, setting: PairSetting, j: int, *, drawn: bool = False) -> Tree:
    ledger = setting.ledger
    of = Quantity(changed_words(column.column), f"{OF_DRAWN} {j}" if drawn else f"release {j}")
    touched = ledger.count(f"{start}touched", column.touched, f"{start}", of=of)
    ledger.nested(f"n.released.{j}", f"{start}touched")
    tree: dict[str, Tree] = {
        "column": column.column, "kinds": _kinds(column, touched.name), "touched": touched,
        **shares.enter_given_back(ledger, start, touched.name, column),
        "told_by": Told(column.alone_by, (f"{start}back",)), "share": Share(f"{start}back", touched.name),
    }  # fmt: skip
    if column.known is not None:
        tree |= _apart(column, start, setting)
    if column.right is not None and column.n_guessed:
        ledger.count(f"{start}guessed", column.n_guessed, f"{start}")
        ledger.nested(f"{start}touched", f"{start}guessed")
        for name, rate in (("guess", column.guess), ("guess_baseline", column.guess_baseline)):
            ledger.count(f"{start}{name}", round(rate * column.n_guessed), f"{start}")
            ledger.nested(f"{start}guessed", f"{start}{name}")
            tree[name] = Share(f"{start}{name}", f"{start}guessed")
    return tree


def _apart(column: Any, start: str, setting: PairSetting) -> dict[str, Tree]:
    """Enter apart what the release alone gives back, and what only somebody gets who knows how columns are made."""
    ledger, touched = setting.ledger, f"{start}touched"
    alone = ledger.count(f"{start}alone", column.alone, start)
    ledger.count(f"{start}beyond", column.counted - column.alone, start)
    ledger.equal(f"{start}back", alone.name, f"{start}beyond")
    ledger.nested(touched, alone.name)
    formulas = tuple(source.formula or source.words for source in column.known_sources if source.kind == "numbers")
    return {
        "alone": alone, "alone_share": Share(alone.name, touched), "told_by": Told(column.alone_by, (alone.name,)),
        "known_by": Told(column.known_by, (f"{start}beyond",)), "formulas": Told(formulas, (f"{start}beyond",), ()),
    }  # fmt: skip


def _undone(result: Any, j: int, start: str, setting: PairSetting) -> dict[str, Tree]:
    ledger, expected = setting.ledger, result.per_release[j - 1]["undone_expected"]
    group = f"{start}undone"
    leaves = shares.enter_put_back(ledger, start, "undone_uniques", "undone_below", result, j)
    leaves["undone_expected"] = ledger.value(f"{start}expected", expected, f"{start}expected", kind="sum")
    leaves["k_undone"] = Share(f"{start}below", f"n.released.{j}")
    above = result.above_risk[j - 1]
    if above is not None:
        ledger.count(f"{start}above", above, group)
        ledger.nested(f"n.released.{j}", f"{start}above")
        leaves["risk_undone"] = Share(f"{start}above", f"n.released.{j}")
    for kind in limits.LIMITS.values():
        if (found := result.put_back.get(kind.of)) is not None and kind.measure == result.measure and found.beyond:
            leaves[kind.figure] = _further(limits.LIMITS[kind.of], found, j, start, setting)
    return leaves


def _by_keys(result: Any, j: int, start: str, setting: PairSetting) -> dict[str, Tree]:
    """Enter the records below k once the keys of all records have told each other, where records were drawn."""
    if result.by_keys is None:
        return {}
    setting.ledger.count(f"{start}below", result.by_keys.beyond[j - 1], f"{start}undone")
    setting.ledger.nested(f"n.released.{j}", f"{start}below")
    return {"k_undone": Share(f"{start}below", f"n.released.{j}")}


def _further(base: limits.LimitKind, found: Any, j: int, start: str, setting: PairSetting) -> Share:
    """Enter what another measure counts for a limit once the values are put back, and of how many."""
    ledger, count, whole = setting.ledger, f"{start}{base.name}", "n" if base.numbers else f"n.released.{j}"
    if base.part is not None and base.part[1] != "n":
        places = (f"release {j}: {base.part[1]}", base.part[1])
        known = (place for place in places if place in ledger.variables)
        whole = next((place for place in known if ledger.variables[place].true == found.whole[j - 1]), f"{count}.of")
        if whole not in ledger.variables:
            ledger.count(whole, found.whole[j - 1], whole)
    ledger.count(count, found.beyond[j - 1], count)
    ledger.nested(whole, count)
    return Share(count, whole)


def _blocks(plain: view.Plain, place: str) -> list[Block]:
    tree = plain[place]
    blocks = shares.column_blocks(tree, _table, CHART, CHARTED)
    changed = _changed_blocks(tree) if "drawn" in tree else []
    if not blocks:
        return [*changed, Paragraph(NONE_DRAWN)] if "drawn" in tree else [Paragraph(NONE_CHANGED)]
    if "drawn" in tree:
        blocks = [*changed, Paragraph(AMONG_DRAWN.format(n=f"{tree['drawn']:,}")), *blocks]
    blocks += [_who(release["columns"], of) for release, of in shares.of_releases(tree["releases"]) if _knows(release)]
    blocks.append(Paragraph(GUESSES, "note"))
    blocks += shares.put_back_tables(
        tree, UNDONE, head="With the values put back", title="The release with the values put back"
    )
    blocks += [Paragraph(f"{capital(words)}.") for words in tree["advice"]]
    return [*blocks, *shares.pair_notes_blocks(tree)]


def _knows(release: view.Plain) -> bool:
    """Whether it is said apart what somebody gets who knows how the columns are made."""
    return any("alone" in column for column in release["columns"])


def _table(columns: Sequence[view.Plain], of: str) -> TableBlock:
    by_rule = [] if _knows({"columns": columns}) else ["Rule"]
    heads = ("Column", "What was done", "Changed", "Reconstructed", "Narrowed", "Guessed", *by_rule)
    rows = tuple(
        (
            column["column"], ", ".join(column["kinds"]), column["touched"]["text"],
            common_blocks.of_whole(column["back"], column["share"]), column["narrowed"]["text"], _guessed(column),
            *(column["told_by"] or "–" for _ in by_rule),
        )
        for column in columns
    )  # fmt: skip
    return TableBlock(f"Changed values reconstructed from the release{of}", heads, rows, (2, 3, 4, 5))


def _who(columns: Sequence[view.Plain], of: str) -> TableBlock:
    """Table of who can reconstruct changed values: how many, and by which rule."""
    heads = ("Column", "From the release alone", "Rule", "Knowing how its columns are made", "Rule beyond")
    rows = tuple(
        (
            column["column"], common_blocks.of_whole(column["alone"], column["alone_share"]), column["told_by"] or "–",
            common_blocks.of_whole(column["back"], column["share"]), column["known_by"] or "–",
        )
        for column in columns
    )  # fmt: skip
    return TableBlock(f"{KNOWING}{of}", heads, rows, (1, 3))


def _guessed(column: view.Plain) -> str:
    """Share of correct guesses by the model, and by always taking the most frequent value."""
    return f"{column['guess']['text']} against {column['guess_baseline']['text']}" if "guess" in column else "–"


NOTHING = "Of the values changed in it the release gives none back for certain."
BACK = "Changed values of {} can be reconstructed from the release itself: they protect nobody."
KNOWN = (
    "Changed values of {} can be reconstructed from the release by somebody who knows how its columns are made: they "
    "protect nobody."
)
OF_CHANGED = shares.back_answer(NOTHING, BACK, KNOWN)
OF_UNKNOWN = shares.back_answer(
    NOTHING,
    "Missing values and ranges of {} can be reconstructed from the release itself; which of them protect somebody was "
    "not known here.",
)


OF_SOME = shares.back_answer(
    "Of the values changed in the records that were drawn the release gives none back for certain; the others were not "
    "looked at.",
    BACK,
    KNOWN,
)


def _answer(plain: view.Plain, place: str, n: view.Plain) -> str:
    """Without rows of the original to compare with nobody knows what was changed."""
    if "drawn" in plain[place]:
        return OF_SOME(plain, place, n)
    return (OF_UNKNOWN if "known" in plain[place].get("notes", ()) else OF_CHANGED)(plain, place, n)


VIEW = shares.ShareView(TITLE, _tree, _blocks, view.noted("recoverable_values"), answer=_answer)
