"""What was looked at, column by column: names of columns and of what saw them, no figure of the records."""

from collections.abc import Sequence

from sdckit.display import counted
from sdckit.report.blocks import Block, Paragraph, Section, TableBlock
from sdckit.report.view import Plain

TITLE = "What was looked at"
LISTED = 8  # names of columns in one row; the rest is counted
# Roles in words that stand by themselves.
ROLES = {
    "key": "a key", "household": "household number", "ledger.id": "id of the ledger",
    "children.key": "key of the children",
}  # fmt: skip
HEADS = {
    "known": "Known", "learnt": "Learnt", "close": "Near", "attacked": "Attacked", "given_back": "Back",
    "remembered": "Recalled",
}  # fmt: skip
MEANING = (
    "Known: to an intruder who looks for people. Learnt: as a sensitive variable. Near: numbers compared with the "
    "true ones. Attacked: used by a simulated attack. Back: changed values looked for in the release. Recalled: "
    "compared with earlier releases, or between people in the file and others."
)


def coverage_sentence(columns: Sequence[Plain], *, of: str = "any question") -> str:
    """How many columns go out, and how many of them no question saw: which questions were asked is said by `of`."""
    n = len(columns)
    known, sensitive = sum(bool(row["known"]) for row in columns), sum("sensitive" in row["roles"] for row in columns)
    unseen = sum(not any(row[question] for question in HEADS) for row in columns)
    return (
        f"Of {counted(n, 'column')} that {'goes' if n == 1 else 'go'} out somebody may know {known:,}; sensitive: "
        f"{sensitive:,}; not looked at by {of}: {unseen:,}."
    )


def coverage_blocks(columns: Sequence[Plain], *, n_intruders: int, of: str = "any question") -> list[Block]:
    """A table of the columns, those with the same marks in one row, and what its heads mean; nothing of no column.

    `of`: as `coverage_sentence` takes it.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in columns:
        roles = ", ".join(ROLES.get(role, role) for role in row["roles"]) or "no role"
        marks = (_mark(row, question, n_intruders) for question in HEADS)
        groups.setdefault((roles, *marks), []).append(row["column"])
    if not groups:
        return []
    rows = tuple((_listed(names), *marks) for marks, names in groups.items())
    return [
        TableBlock(TITLE, ("Columns", "Role", *HEADS.values()), rows),
        Paragraph(MEANING, "note"),
        Paragraph(coverage_sentence(columns, of=of)),
    ]


def coverage_sections(plain: Plain) -> list[Section]:
    """Section of the annex; empty where the document has no map."""
    blocks = coverage_blocks(plain.get("coverage") or (), n_intruders=len(plain["intruders"]))
    return [Section(TITLE, tuple(blocks))] if blocks else []


def _mark(row: Plain, question: str, n_intruders: int) -> str:
    """Whether a question saw a column; of several intruders how many know it."""
    if question == "known" and 0 < len(row["known"]) < n_intruders:
        return f"{len(row['known'])} of {n_intruders}"
    return "+" if row[question] else "–"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
