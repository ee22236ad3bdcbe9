"""The decision page: what is asked, what was found, what to do, where to sign; for readers who know no statistics."""

from __future__ import annotations

from sdckit.data.scenarios.release_types import a_release
from sdckit.report.blocks import Blanks, Block, Facts, Items, Paragraph, Section, Verdicts
from sdckit.report.chapters.next_steps import next_steps, remaining_questions
from sdckit.report.chapters.plain_words import answers
from sdckit.report.chapters.sentences import labelled, listed
from sdckit.report.parts import bars
from sdckit.report.rates import percent
from sdckit.report.view import Plain

NEXT = "What to do next"
DRAWN = 3
ALONE_WITH = {2: "nobody else", 3: "fewer than 2 others", 5: "fewer than 4 others"}
MISSING = {
    "wildcard": "a missing value may be any value",
    "category": "a missing value is a value of its own",
}
BLANK = "to be agreed: ______"
# Projects, people, settings, outputs (Desai, Ritchie & Welpton 2016), by type of release.
CONDITIONS = {
    "public-use": ("any use", "anybody", "anywhere; copies cannot be called back", "not looked at"),
    "teaching": ("teaching", "students and teachers, who sign nothing", "anywhere", "not looked at"),
    "scientific-use": (
        "approved research: ______", "researchers under contract: ______", "at their institution: ______",
        "by the rules of the contract: ______",
    ),
    "enclave": (
        "approved research: ______", "approved researchers: ______", "inside the secure environment only",
        "looked at before they leave",
    ),
}  # fmt: skip
SIGNED = (
    ("Decision", ("release", "release after changes", "do not release")),
    ("Name, signature", ()), ("Date", ()), ("Valid until", ()), ("Next review", ()),
)  # fmt: skip


def decision_sections(plain: Plain) -> list[Section]:
    """Lay out the decision page from printed figures; nothing but its next steps is shown on a terminal."""
    sections = [
        Section("The answer", (Verdicts(tuple(answers(plain))),), paper=True, place="answer"),
        Section(NEXT, (Items(tuple(next_steps(plain)), ordered=True),), place="next"),
        Section("The picture", _picture(plain), paper=True, place="picture"),
        Section("What the file is still good for", _good_for(plain), paper=True, place="good"),
        Section("The question", (Facts(_question(plain)),), paper=True, place="question"),
        Section("What remains open", (Items(tuple(remaining_questions(plain))),), paper=True, place="open"),
        Section("Conditions of release", (Facts(_conditions(plain)),), paper=True, place="conditions"),
        Section("Decision", (Blanks(SIGNED),), paper=True, place="signed"),
    ]
    return [one for one in sections if one.blocks]


def _question(plain: Plain) -> tuple[tuple[str, str], ...]:
    """The file, what it goes out as, and who might look for somebody."""
    released = plain.get("n_released")
    size = f"{plain['n']['text']} records"
    if released:
        size = f"{listed([one['text'] for one in released])} records, made from {size}"
    known = (
        (
            f"“{one['name']}” knows" if len(plain["intruders"]) > 1 else "Somebody knows",
            listed(labelled(plain, one["keys"])),
        )
        for one in plain["intruders"]
    )
    kind = plain["scenario"]["release"]
    asked = "Can it be given out?" if kind is None else f"Can it be given out as {a_release(kind)}?"
    return (("Asked", asked), ("The file", ", ".join([plain.get("name") or plain["title"], size])), *known)


def _picture(plain: Plain) -> tuple[Block, ...]:
    """How many records share what is known with few others: by how few, or before and after."""
    several = len(plain["intruders"]) > 1
    if "released" in plain:
        rows = [
            (f"{who}{when}", leaf)
            for number, one in enumerate(plain["intruders"])
            for when, leaf in _before_after(plain, number)
            for who in [f"{one['name']}, " if several else ""]
        ]
        caption = (
            f"Records that share what is known with {ALONE_WITH[DRAWN]}, before and after{_missing(plain)}"
        )
    elif several:
        drawn = (_main(one, DRAWN) for one in plain["intruders"])
        rows = [(one["name"], leaf) for one, leaf in zip(plain["intruders"], drawn, strict=True) if leaf]
        caption = f"Records that share what is known with {ALONE_WITH[DRAWN]}{_missing(plain)}"
    else:
        found = ((words, _main(plain["intruders"][0], k)) for k, words in ALONE_WITH.items())
        rows = [(words, leaf) for words, leaf in found if leaf]
        caption = f"Records that share what is known with few others{_missing(plain)}"
    return (bars(caption, "records", rows),) if rows else ()


def _missing(plain: Plain) -> str:
    """What a missing value is taken for, where there are any."""
    files = [plain["original"], *plain["released"]] if "released" in plain else [plain]
    rules = {
        one["k_anonymity"]["rule"] for file in files for one in file["intruders"] if one.get("k_anonymity")
    }
    words = [MISSING[rule] for rule in MISSING if rule in rules]
    return f" ({'; '.join(words)})" if words else ""


def _before_after(plain: Plain, number: int) -> list[tuple[str, Plain]]:
    files = (plain["original"], plain["released"][0])
    drawn = [_main(one["intruders"][number], DRAWN) for one in files]
    after = "after" if len(plain["released"]) == 1 else "after (first release)"
    return [(when, leaf) for when, leaf in zip(("before", after), drawn, strict=True) if leaf]


def _main(one: Plain, k: int) -> Plain | None:
    """The records in groups of fewer than k, missing values taken as the scenario says."""
    if not one.get("k_anonymity"):
        return None
    found: Plain | None = one["k_anonymity"]["violations"].get(str(k))
    return found


def _good_for(plain: Plain) -> tuple[Block, ...]:
    """Two sentences on what changed."""
    if "released" not in plain:
        return (Paragraph("Nothing was changed: the file is as good as it was collected."),)
    tree = plain["utility"]
    if tree is None or not tree["table"]:
        return (Paragraph("What the changes do to analyses was not measured."),)
    figures = {row["name"]: row["value"] for row in tree["table"]}
    return tuple(Paragraph(one) for one in filter(None, (_moved(plain, figures), _kept(figures))))


def _moved(plain: Plain, figures: Plain) -> str:
    coarser = listed(list(dict.fromkeys(one["column"] for one in plain["recoded"])))
    start = f"Coarser than before: {coarser}. " if coarser else ""
    mean, worst = (figures.get(f"{one}_total_variation") for one in ("mean", "largest"))
    if mean is None or worst is None:
        return start.strip()
    beside = "Beside that, on" if coarser else "On"
    variables = plain["utility"]["variables"]
    most = max((one["value"] or 0.0 for one in variables.values()), default=0.0)
    names = listed([name for name, one in variables.items() if most and one["value"] == most])
    told = f", most of them of {names} ({percent(worst)})" if names else ""
    return f"{start}{beside} average {percent(mean)} of the records have moved to another value{told}."


def _kept(figures: Plain) -> str:
    alike, auc = figures.get("contingency_similarity"), figures.get("auc")
    told = []
    if alike is not None:
        told.append(f"tables of two variables agree with the original to {percent(alike)}")
    if auc is not None:
        told.append(
            f"a changed record can be told from an original one in {percent(auc)} of the cases (by chance: 50 %)"
        )
    words = listed(told)
    return f"{words[0].upper()}{words[1:]}." if words else ""


def _conditions(plain: Plain) -> tuple[tuple[str, str], ...]:
    """The five safes: what is known of each, and what has to be agreed."""
    verdicts = plain["verdicts"]
    held = sum(one["holds"]["value"] is True for one in verdicts)
    limits = "the only limit holds" if held else "the only limit does not hold"
    if len(verdicts) != 1:
        limits = f"{held} of {len(verdicts)} limits hold" if verdicts else "no limit was set"
    rest = CONDITIONS.get(plain["scenario"]["release"] or "", (BLANK,) * 4)
    names = ("Safe projects", "Safe people", "Safe settings", "Safe outputs")
    return (("Safe data", limits), *zip(names, rest, strict=True))
