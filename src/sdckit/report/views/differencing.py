"""View of differencing attacks: how many records several releases disclose together; exact figures are confidential."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.common_blocks import bars, notes_blocks, of_whole
from sdckit.report.gate.figures import InternalOnly, Share, Tree
from sdckit.report.rates import in_words
from sdckit.report.setting import Setting, notes_tree
from sdckit.report.view import Plain, View, noted

if TYPE_CHECKING:
    from sdckit.attacks.differencing.compare_releases import EarlierRelease
    from sdckit.attacks.differencing.differencing import Differencing

TITLE = "What do releases disclose together?"
FIGURES = {
    "certain_together": "Sensitive value certain from all releases, from none alone",
    "told_by_difference": "Sensitive value told by the difference of two releases",
    "given_back": "Value hidden here, shown earlier",
    "unprotected": "Value shown here, hidden earlier",
    "people": "Any of these",
}
LINKED = {
    "linked": "Joined with an earlier release by columns that both show",
    "linked_uniques": "Of these, alone with the keys of all releases joined",
}
COMPARED = {
    "certain_together": "certain together", "told_by_difference": "told by the difference", "given_back": "hidden here",
    "unprotected": "hidden there", "differing": "counts that differ a little", "new_uniques": "new uniques",
    "vanished_uniques": "vanished uniques", "kept_uniques": "unique in both",
}  # fmt: skip
FIRST = "Nothing went out before, as the scenario says: there is nothing to hold this release against."
NONE = "The ledger holds no release yet: there is nothing to hold this one against."
IN_PART = "Not all of this could be looked for in every earlier release: there may be more than is counted here."
NOT_JUDGED = (
    "Together with earlier releases it was not seen to disclose more than each does alone, but not all could be looked "
    "for: this is not judged."
)
PENDING = "it has not gone out yet"
RIGHT = "{n} links, of which {share} % are right by estimate"
SEARCHED = "no columns of both lead from one to the other, alone or together"


def tree(result: Differencing, setting: Setting) -> Mapping[str, Tree]:
    """Enter the number of records disclosed; the figures release by release are confidential."""
    leaves: dict[str, Tree] = {}
    for name in FIGURES:
        count = setting.count(f"differencing.{name}", getattr(result, name), "differencing")
        leaves[name] = {"n": count, "rate": Share(count.name, "n")}
        setting.ledger.nested("n", count.name)
    start = f"{setting.prefix}.differencing"
    parts = [f"{start}.{name}" for name in FIGURES if name != "people"]
    for part in parts:
        if (setting.ledger.variables[part].true or 0) <= result.people:
            setting.ledger.nested(f"{start}.people", part)
    setting.ledger.bounded(f"{start}.people", dict.fromkeys(parts, (0.0, 1.0)), lower=False)
    for name in LINKED if result.linked_by else ():
        count = setting.count(f"differencing.{name}", getattr(result, name), "differencing")
        leaves[name] = {"n": count, "rate": Share(count.name, "n")}
        setting.ledger.nested(f"{start}.linked" if name == "linked_uniques" else "n", count.name)
    entries = tuple(_entry(entry) for entry in result.entries)
    links = tuple(dict.fromkeys(column for columns in result.linked_by.values() for column in columns))
    together = min(filter(None, (entry.together for entry in result.entries)), default="")
    return {
        "figures": leaves, "linked_by": links, "together": together, "not_compared": result.not_compared,
        "n_earlier": len(result.entries), "n_pending": result.n_pending, "first": result.first, "within": result.within,
        "in_part": bool(result.not_looked_for or result.not_compared or result.singly),
        "sources": tuple(dict.fromkeys(entry.source for entry in result.entries)),
        "exact": InternalOnly({"entries": entries}), "notes": notes_tree(result),
    }  # fmt: skip


def _entry(entry: EarlierRelease) -> dict[str, Tree]:
    notes = (*entry.notes, PENDING) if entry.pending else entry.notes
    return {
        "earlier": f"{entry.name} ({entry.date})" if entry.date else entry.name, "source": entry.source,
        "linked": entry.linked, "related": entry.related, "same_people": entry.same_people, "counted": entry.counted,
        "otherwise": entry.otherwise, "linked_by": entry.linked_by, "right": entry.right, "together": entry.together,
        "searched": entry.searched, "notes": notes,
        **{name: int(getattr(entry, name)) for name in COMPARED},
    }  # fmt: skip


def blocks(plain: Plain, place: str) -> list[Block]:
    """Table and chart of the figures; in a confidential document also release by release."""
    tree = plain[place]
    if not tree["n_earlier"]:
        return [Paragraph(FIRST if tree["first"] else NONE)]
    figures = tree["figures"]
    rows = tuple((words, of_whole(figures[name]["n"], figures[name]["rate"])) for name, words in FIGURES.items())
    number = tree["n_earlier"]
    caption = f"Records of which something is disclosed together with {number} earlier release{'s' * (number > 1)}"
    laid: list[Block] = [
        TableBlock(caption, ("What", "Records"), rows, (1,)),
        bars(caption, "records", ((words, figures[name]["n"]) for name, words in FIGURES.items()), aside=True),
    ]
    if tree["linked_by"]:
        rows = tuple((words, of_whole(figures[name]["n"], figures[name]["rate"])) for name, words in LINKED.items())
        caption = f"Records joined with earlier releases by: {', '.join(tree['linked_by'])}{tree['together']}"
        laid.append(TableBlock(caption, ("What", "Records"), rows, (1,)))
    if tree.get("exact"):
        laid += _inside(tree["exact"]["entries"], tree["within"])
    laid += [Paragraph(IN_PART, "note")] * tree["in_part"]
    laid += [Paragraph(f"Not compared: {reason}.", "note") for reason in tree["not_compared"]]
    return [*laid, *notes_blocks(tree)]


def _inside(entries: Any, within: int) -> list[Block]:
    heads = ("Earlier release", *(entry["earlier"] for entry in entries))
    rows = tuple((words, *(f"{entry[name]:,}" for entry in entries)) for name, words in COMPARED.items())
    caption = f"Release by release; counts that differ by at most {within}"
    blocks: list[Block] = [TableBlock(caption, heads, rows, tuple(range(1, len(heads))))]
    for entry in entries:
        details = ["the file itself compared" if entry["source"] == "file" else "its sketch compared"]
        details += [entry["related"]] if entry["related"] else []
        details += [f"counted by {', '.join(entry['counted'])}"] if entry["counted"] else []
        several = entry["right"] is not None
        details += [f"joined by {', '.join(entry['linked_by'])}{entry['together']}"] if entry["linked_by"] else []
        details += [RIGHT.format(n=f"{entry['linked']:,}", share=f"{100 * entry['right']:.3g}")] if several else []
        details += [SEARCHED] if entry["searched"] and not entry["linked_by"] else []
        details += [f"coded otherwise: {', '.join(entry['otherwise'])}"] if entry["otherwise"] else []
        details += entry["notes"]
        blocks.append(Paragraph(f"{entry['earlier']}: {'; '.join(details)}.", "note"))
    return blocks


def figures(plain: Plain, place: str) -> Mapping[str, Plain]:
    """The main figure, for tables that compare intruders or files."""
    return {"Disclosed together with earlier releases": plain[place]["figures"]["people"]["n"]}


def answer(plain: Plain, place: str, _: Plain) -> str:
    """Sentence for the first page: whether anything is disclosed."""
    people = plain[place]["figures"]["people"]["n"]
    if not plain[place]["n_earlier"]:
        return ""
    if people["value"] == 0 and plain[place]["in_part"]:
        return NOT_JUDGED
    if people["value"] == 0:
        return "Together with earlier releases it discloses nothing that none of them discloses alone."
    return in_words(f"Together with earlier releases it discloses something of {people['text']} of the records.")


VIEW = View(TITLE, tree, blocks, noted("differencing"), figures=figures, answer=answer)
