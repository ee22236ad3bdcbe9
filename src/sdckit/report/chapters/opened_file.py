"""Documents on a file just read: its columns, codes for missing values and guessed roles, protected like all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data.missing_values.missing import Found
from sdckit.display import displayed
from sdckit.report.blocks import Block, Facts, Paragraph, Section, TableBlock
from sdckit.report.common_blocks import texts
from sdckit.report.gate.figures import Count, Document, Foreign, Ledger, Share, Tree

if TYPE_CHECKING:
    from sdckit.data.files.readers import FileSample
    from sdckit.data.scenarios.guessing.judge import RoleGuesses


Plain = Mapping[str, Any]
DECLARED = "Declared missing by the file itself, and applied"
KEPT = "The form above can keep those with a label as categories, and read the file again."
# Prefix of the name of a data type, and what documents call it.
KINDS = (
    ("Int", "whole numbers"), ("UInt", "whole numbers"), ("Float", "numbers"), ("Decimal", "numbers"),
    ("String", "texts"), ("Categorical", "categories"), ("Enum", "categories"), ("Boolean", "yes or no"),
    ("Datetime", "days and times"), ("Date", "days"), ("Time", "times"), ("Duration", "spans of time"),
    ("Null", "nothing at all"),
)  # fmt: skip


@dataclass(frozen=True)
class OpenedFile:
    """A file as it was read.

    Attributes
    ----------
    name : str
        Its name, without the folder.
    sample : FileSample
        Its records, its header, its labels.
    taken, declared, suspected : tuple of Found
        Codes that were read as missing, those of them that the file itself declares, and values suspected to mean
        missing.
    warnings : tuple of str
        Warnings raised by reading it.
    """

    name: str
    sample: FileSample
    taken: tuple[Found, ...] = ()
    declared: tuple[Found, ...] = ()
    suspected: tuple[Found, ...] = ()
    warnings: tuple[str, ...] = ()


def file_document(opened: OpenedFile) -> Document:
    """Build the document of an opened file: its records, and column by column type, label and missing values."""
    sample, frame = opened.sample, opened.sample.frame
    ledger = Ledger()
    tree: dict[str, Tree] = {
        "n": ledger.count("n", frame.height, "n"),
        "name": displayed(Path(opened.name).name),
        "format": sample.header.format,
    }
    columns: list[Tree] = []
    for at, name in enumerate(frame.columns):
        missing = ledger.count(f"missing.{at}", frame[name].null_count(), f"missing.{at}")
        ledger.nested("n", missing.name)
        columns.append(
            {
                "column": name,
                "label": sample.labels.get(name, ""),
                "kind": kind_of(str(frame.schema[name])),
                "n_categories": len(sample.value_labels.get(name, ())),
                "n_missing": missing,
                "missing_rate": Share(missing.name, "n"),
            }
        )
    tree["columns"] = tuple(columns)
    places = {name: at for at, name in enumerate(frame.columns)}
    for kind, codes in (("taken", opened.taken), ("declared", opened.declared), ("suspected", opened.suspected)):
        tree[kind] = tuple(_code(code, kind, places[code.column], ledger) for code in codes)
    tree["warnings"] = tuple(Foreign(text) for text in opened.warnings)
    return Document(tree, ledger.variables, tuple(ledger.relations), frame.height)


def _code(code: Found, kind: str, place: int, ledger: Ledger) -> dict[str, Tree]:
    """A code in a column: its count is part of the missing values, or of all records where it is only suspected."""
    name = f"{kind}.{place}.{code.code}"
    count: Count = ledger.count(name, code.records, f"missing.{place}")
    ledger.nested("n" if kind == "suspected" else f"missing.{place}", name)
    return {"code": code.code, "column": code.column, "n": count}


def kind_of(dtype: str) -> str:
    """What documents call a data type.

    Examples
    --------
    >>> kind_of("Int64"), kind_of("Datetime(time_unit='us', time_zone=None)")
    ('whole numbers', 'days and times')
    """
    return next((words for start, words in KINDS if dtype.startswith(start)), "other values")


def file_sections(plain: Plain) -> list[Section]:
    """Lay an opened file out: what was read, its columns, and the codes for missing with their effect."""
    facts = (
        ("File", plain["name"]),
        ("Format", plain["format"]),
        ("Records", plain["n"]["text"]),
        ("Columns", str(len(plain["columns"]))),
    )
    read: list[Block] = [Facts(facts), *(Paragraph(f"Warning: {text}", "warning") for text in plain["warnings"])]
    return [
        Section("What was read", tuple(read)),
        Section("Codes that mean missing", tuple(_codes(plain))),
        Section("Columns", (_columns(plain["columns"]),)),
    ]


def _codes(plain: Plain) -> list[Block]:
    blocks: list[Block] = []
    if plain["taken"]:
        blocks.append(_code_table("Taken for missing", plain["taken"], "Values that became missing"))
    if plain["declared"]:
        blocks += [_code_table(DECLARED, plain["declared"], "Values that became missing"), Paragraph(KEPT, "note")]
    if plain["suspected"]:
        blocks.append(_code_table("May mean missing", plain["suspected"], "Records that hold it"))
    return blocks or [Paragraph("No code for missing values was found; empty fields are missing.")]


def _code_table(caption: str, rows: Sequence[Plain], counted: str) -> TableBlock:
    cells = tuple((row["code"], row["column"], row["n"]["text"]) for row in rows)
    return TableBlock(caption, ("Code", "Column", counted), cells, (2,))


def _columns(rows: Sequence[Plain]) -> TableBlock:
    labelled, coded = any(row["label"] for row in rows), any(row["n_categories"] for row in rows)
    cells = tuple(
        (
            row["column"],
            *([row["label"]] if labelled else []),
            row["kind"],
            *([str(row["n_categories"] or "–")] if coded else []),
            *texts(row["n_missing"], row["missing_rate"]),
        )
        for row in rows
    )
    more = (["Label"] if labelled else [], ["Labelled values"] if coded else [])
    heads = ("Column", *more[0], "Values", *more[1], "Missing", "Missing rate")
    counts = tuple(at for at, head in enumerate(heads) if head in ("Labelled values", "Missing", "Missing rate"))
    return TableBlock("Columns of the file", heads, cells, counts)


def guesses_document(guesses: RoleGuesses) -> Document:
    """Build the document of guessed roles: counts in their evidence are protected as those of a warning are."""
    ledger = Ledger()
    rows: tuple[Tree, ...] = tuple(
        {
            "column": guess.column,
            "role": guess.role,
            "confidence": guess.confidence,
            "evidence": tuple(Foreign(text) for text in guess.evidence),
            "warning": Foreign(guess.warning or ""),
            "question": guess.question or "",
        }
        for guess in guesses
    )
    tree: dict[str, Tree] = {"n": ledger.count("n", guesses.n_records, "n"), "guesses": rows}
    return Document(tree, ledger.variables, tuple(ledger.relations), guesses.n_records)
