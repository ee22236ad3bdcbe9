"""What releases give away together, in a document: how many people, and exactly only inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.common_blocks import bars, notes_blocks, of_whole
from sdckit.report.gate.figures import InternalOnly, Share, Tree
from sdckit.report.setting import Setting, notes_tree
from sdckit.report.view import Note, Plain, View, noted

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
COMPARED = {
    "certain_together": "certain together", "told_by_difference": "told by the difference", "given_back": "hidden here",
    "unprotected": "hidden there", "differing": "counts that differ a little", "new_uniques": "new uniques",
    "vanished_uniques": "vanished uniques", "kept_uniques": "unique in both",
}  # fmt: skip
NOTE = Note(
    "Releases held against each other",
    "Somebody who knows a person's keys finds in each release the values that its records with these keys have; what "
    "stands in all of them remains possible. Missing values may be any. Where one release is the other with some "
    "people more, counts are subtracted. A value hidden in one release is looked up in the other. Sketches of a ledger "
    "tell less than the earlier files: only columns coded alike are compared, and values intersect only where ids were "
    "added.",
    "Ganta, Kasiviswanathan & Smith (2008); Denning & Schlörer (1980)",
)


def tree(result: Differencing, setting: Setting) -> Mapping[str, Tree]:
    """How many people; which releases say what of how many stays inside."""
    found: dict[str, Tree] = {}
    for name in FIGURES:
        count = setting.count(f"differencing.{name}", getattr(result, name), "differencing")
        found[name] = {"n": count, "rate": Share(count.name, "n")}
        setting.ledger.nested("n", count.name)
    start = f"{setting.prefix}.differencing"
    parts = [f"{start}.{name}" for name in FIGURES if name != "people"]
    for part in parts:
        if (setting.ledger.variables[part].true or 0) <= result.people:
            setting.ledger.nested(f"{start}.people", part)
    setting.ledger.bounded(f"{start}.people", dict.fromkeys(parts, (0.0, 1.0)), lower=False)
    entries = tuple(_entry(entry) for entry in result.entries)
    return {
        "figures": found, "n_earlier": len(result.entries), "within": result.within,
        "sources": tuple(dict.fromkeys(entry.source for entry in result.entries)),
        "exact": InternalOnly({"entries": entries}), "notes": notes_tree(result),
    }  # fmt: skip


def _entry(one: EarlierRelease) -> dict[str, Tree]:
    return {
        "earlier": f"{one.name} ({one.date})" if one.date else one.name, "source": one.source, "linked": one.linked,
        "related": one.related, "same_people": one.same_people, "counted": one.counted, "otherwise": one.otherwise,
        "notes": one.notes, **{name: int(getattr(one, name)) for name in COMPARED},
    }  # fmt: skip


def blocks(one: Plain, place: str) -> list[Block]:
    """The figures with their shares as bars; inside, release by release."""
    plain = one[place]
    if not plain["n_earlier"]:
        return [Paragraph("The ledger holds no release yet: there is nothing to hold this one against.")]
    figures = plain["figures"]
    rows = tuple((words, of_whole(figures[name]["n"], figures[name]["rate"])) for name, words in FIGURES.items())
    number = plain["n_earlier"]
    caption = f"Records of which something is disclosed together with {number} earlier release{'s' * (number > 1)}"
    found: list[Block] = [
        TableBlock(caption, ("What", "Records"), rows, (1,)),
        bars(caption, "records", ((words, figures[name]["n"]) for name, words in FIGURES.items()), aside=True),
    ]
    if plain.get("exact"):
        found += _inside(plain["exact"]["entries"], plain["within"])
    return [*found, *notes_blocks(plain)]


def _inside(entries: Any, within: int) -> list[Block]:
    heads = ("Earlier release", *(entry["earlier"] for entry in entries))
    rows = tuple((words, *(f"{entry[name]:,}" for entry in entries)) for name, words in COMPARED.items())
    caption = f"Release by release; counts that differ by at most {within}"
    found: list[Block] = [TableBlock(caption, heads, rows, tuple(range(1, len(heads))))]
    for entry in entries:
        said = ["the file itself compared" if entry["source"] == "file" else "its sketch compared"]
        said += [entry["related"]] if entry["related"] else []
        said += [f"counted by {', '.join(entry['counted'])}"] if entry["counted"] else []
        said += [f"coded otherwise: {', '.join(entry['otherwise'])}"] if entry["otherwise"] else []
        said += entry["notes"]
        found.append(Paragraph(f"{entry['earlier']}: {'; '.join(said)}.", "note"))
    return found


def figures(one: Plain, place: str) -> Mapping[str, Plain]:
    """Its main figure, to stand beside others."""
    return {"Disclosed together with earlier releases": one[place]["figures"]["people"]["n"]}


def answer(one: Plain, place: str, _: Plain) -> str:
    """Say for the first page whether anything is given away."""
    people = one[place]["figures"]["people"]["n"]
    if not one[place]["n_earlier"]:
        return ""
    if people["value"] == 0:
        return "Together with earlier releases it discloses nothing that none of them discloses alone."
    return f"Together with earlier releases it discloses something of {people['text']} of the records."


VIEW = View(TITLE, tree, blocks, noted(NOTE), figures=figures, answer=answer)
