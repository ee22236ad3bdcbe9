"""Every rule by which values are given back has German words: none stays English in a table or sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl
import pytest

from sdckit.attacks.recovery import derived_columns, linked_rows, text_parts
from sdckit.attacks.recovery.code_tables import DIGESTS
from sdckit.attacks.recovery.derived_columns import Household, Predictor
from sdckit.attacks.recovery.linked_rows import BACK
from sdckit.attacks.recovery.reconstruct import FILE_ORDER, ORDERED_BY
from sdckit.attacks.recovery.reconstruction_rules import Kind, Source
from sdckit.attacks.recovery.remedies import remedy
from sdckit.attacks.recovery.touched_cells import read_columns
from sdckit.data.frames import open_frame
from sdckit.display import capital
from sdckit.report.wording import say
from tree import SRC

ENGLISH = re.compile(
    r"\b(?:the|of|is|are|and|with|by|where|over|or|each|less|most|that|row|rows|mates|counted|share|first|last"
    r"|letters?|digits?|characters?|words?|missing|times|within|between|without)\b"
)
FOLDER = SRC / "attacks" / "recovery"
# f-strings of these rooms that are no rule: formulas, formats, remedies, and what is said to a caller.
NO_RULES = re.compile(r"^(?:[\W\d]|\{[^{}]*\})*$|^(?:reading pairs|guessing|log: |column |exp\()|^[.,]?\d*[fgxU]")
LINKS = (
    "the other row of home", "the next row of home", "the next row of home by wave", "the previous row of home",
    "the previous row of home by wave", "the first row of home", "the first row of home by wave",
    "the last row of home", "the last row of home by wave", "the head or the spouse of home by kin",
    "the row that mother names", "the row number mother", "the row number mother, from 0",
    "the row of home that mother names",
)  # fmt: skip
POINTERS = LINKS[LINKS.index("the row that mother names") :]
PAIRED = ("age", "home (mates share it)", "the rows of a household counted (home)")
# What stands in the places of the texts that are no names of columns, by how they are written in the code.
GIVEN = {
    "how": ("number", "share", "percentage", "total", "mean", "greatest", "least", "sum or difference"),
    "words": ("least", "greatest", "first", "last", "by a value of state", "where stay is above its least"),
    "link.words": (*LINKS, *(BACK + words for words in POINTERS)), "link.words.removeprefix(BACK)": POINTERS,
    "use[i].words": PAIRED, "use[j].words": PAIRED, "first.words": PAIRED, "second.words": PAIRED,
    "predictor.words": PAIRED, "BACK": (), "ORDERED_BY": (ORDERED_BY,), "unit": ("digit", "character"),
    "k": ("2",), "k + 1": ("2",), "i + 1": ("2",), "j": ("4",), "length": ("3",), "by": ("", " by wave"),
    "DIGESTS[len(digests[0])]": tuple(DIGESTS.values()), "', '.join(names)": ("age, sex",),
    "', '.join(made_of)": ("age, sex",), "', '.join(relation.names)": ("age, sex",),
    "' and '.join(names)": ("age and sex", "age and sex and region", "age and sex and region and kin"),
    "'times a rate of' if ratio else 'beside an amount of'": ("times a rate of", "beside an amount of"),
}  # fmt: skip
# Which of these go together.
OF_FILE = {
    "reconstruction_rules.py": {
        "how": ("sum or difference", "product or quotient"),
        "words": (*PAIRED, "age with sex"),
    },
    "derived_columns.py": {"words": ("least", "greatest")},
    "linked_rows.py": {"words": ("first", "last")},
    "owner_knowledge.py": {"words": ("first", "last")},
    "reconstruct.py": {"words": ("by a value of state", "where stay is above its least")},
}
OF_LINE = {
    "is the {how} of one": ("number", "share", "percentage"), "is the {how} of ": ("total", "mean"),
    "is the {how} ": ("greatest", "least"),
}  # fmt: skip
# Rows and conditions that stand in rules, and are none by themselves.
LINKING = re.compile(
    rf"^(?:{re.escape(BACK)}|the (?:other|next|previous|first|last) row of|the row (?:that|number|of)"
    "|the head or the spouse of| ?by |where .* is above)"
)
NAMES = ("age", "sex", "region")


def rules() -> Iterator[str]:
    """Every text of the code that words a rule, its places filled."""
    for path in sorted(FOLDER.glob("*.py")):
        if path.name == "remedies.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield from filled(path.name, node)
    yield FILE_ORDER


def filled(file: str, node: ast.JoinedStr) -> Iterator[str]:
    pieces = [
        part.value if isinstance(part, ast.Constant) else ast.unparse(part.value)  # type: ignore[attr-defined]
        for part in node.values
    ]
    places = [isinstance(part, ast.FormattedValue) for part in node.values]
    template = "".join(f"{{{piece}}}" if place else str(piece) for piece, place in zip(pieces, places, strict=True))
    if NO_RULES.search(re.sub(r"\{[^{}]*\}", "{}", template)):
        return
    own = GIVEN | OF_FILE.get(file, {})
    how = next((values for start, values in OF_LINE.items() if start in template), own["how"])
    names = iter(NAMES * 2)
    choices = [
        ((own | {"how": how}).get(piece) or ((next(names),) if piece not in own else ())) if place else (piece,)
        for piece, place in zip(pieces, places, strict=True)
    ]
    yield from (text for text in map("".join, product(*choices)) if not LINKING.search(text) and not _of_one(text))


def _of_one(text: str) -> bool:
    """Whether a pair is of the same twice, which no pair is."""
    first, _, second = text.partition(" with ")
    return first.removeprefix("most records alike in ") == second


RULES = tuple(dict.fromkeys(rules()))


def of_files() -> Iterator[Predictor]:
    """What predictors of real columns are called: households, ids, texts, dates, rows that are linked."""
    rng, n = np.random.default_rng(3), 120
    file = pl.DataFrame(
        {
            "home": np.arange(n) // 3, "id": rng.permutation(n) + 1000, "age": rng.integers(0, 90, n),
            "wave": np.arange(n) % 3, "kin": np.arange(n) % 3, "mother": rng.permutation(n) + 1000,
            "born": [f"{1930 + i % 60}-0{1 + i % 9}-1{i % 9}" for i in range(n)],
            "code": [f"{i % 9}{'abcd'[i % 4]}{i % 7}" for i in range(n)],
            "note": [f"{'red' if i % 2 else 'green'} house no {i % 13}, {i % 5} rooms" for i in range(n)],
        }
    )  # fmt: skip
    paid = pl.when(pl.col("age") > 5).then(pl.col("age") * 100 + 7)
    file = file.with_columns(day=pl.col("born").str.to_date(), pay=paid)
    columns = read_columns(open_frame(file), file.columns)
    yield from derived_columns.released_predictors(columns, "home")
    yield from derived_columns.id_predictors(columns, "home", {})
    yield from derived_columns.counted_rows(columns)
    yield from derived_columns.below_counts(columns["age"], Household.of(columns["home"]))
    for household, person in (("home", None), (None, "home")):
        yield from linked_rows.linked_rows(columns, household=household, person=person, time="wave")
    yield from text_parts.text_parts(columns)


def english(text: str, kept: tuple[str, ...] = (*NAMES, "home", "wave", "kin", "mother", "state", "stay")) -> list[str]:
    return ENGLISH.findall(say(text, "de", kept))


def test_every_rule_is_found_in_the_code() -> None:
    assert len(RULES) > 100
    missing = "age and sex are missing where they are a combination that no record shows"
    assert {missing, FILE_ORDER, "age with home (mates share it)", "age in the other row of home"} <= {*RULES}
    assert all(" " in rule for rule in RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_translated(rule: str) -> None:
    """Also where the document does not name its columns elsewhere."""
    for kept in ((*NAMES, "home", "wave", "kin", "mother", "state", "stay"), ()):
        assert not english(rule, kept), say(rule, "de", kept)


def test_what_real_columns_are_told_by_is_translated() -> None:
    words = {predictor.words for predictor in of_files()}
    assert len(words) > 150
    assert [rule for rule in sorted(words) if " " in rule and english(rule)] == []


@pytest.mark.parametrize("rule", ["age with sex", "the year in born", "2024 - (the year in born)", FILE_ORDER])
def test_rules_stand_in_lists_in_verdicts_and_in_advice(rule: str) -> None:
    """A column of the list may be one that the document does not name."""
    left_out = "all keys of this intruder were left out of the release, but they are told all the same (rule: {}): "
    for text in (
        f"{rule}; other", f"most records alike in the first letters of code; {rule}; pay + rest",
        f"{left_out}leave that out, too".format(f"{rule}; other"),
    ):  # fmt: skip
        assert not english(text), say(text, "de")


@pytest.mark.parametrize(
    ("formula", "translated"),
    [
        ("2024 - (the year in born)", "2024 - (das Jahr in born)"),
        ("exp(2 * (the length of code) / 3 + 0.5)", "exp(2 * (die Länge von code) / 3 + 0.5)"),
        ("10 ** (the first letters of a (3)) - `other pay`", "10 ** (die ersten Buchstaben von a (3)) - `other pay`"),
        ("log(pay) + sqrt((home (mates share it)))", "log(pay) + sqrt((home (Mitbewohner haben denselben Wert)))"),
        ("total - rest / 2", "total - rest / 2"),
        ("(the year in born)", "(das Jahr in born)"),
    ],
)
def test_a_formula_is_translated_in_its_brackets(formula: str, translated: str) -> None:
    assert say(formula, "de") == translated


@pytest.mark.parametrize("text", ["nobody knows (the year in born)", "total - (what nobody has words for)"])
def test_what_is_no_formula_stays(text: str) -> None:
    assert say(text, "de") == text


KINDS: tuple[Kind, ...] = (
    "column", "text", "table", "linked", "counted", "divided", "numbers", "order", "cells", "beside",
)  # fmt: skip


@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "columns", [("age",), ("age", "sex"), ("home",), ("home", "age"), ("w",), ("w", "age"), ("y",)]
)
def test_what_to_do_about_a_rule_is_translated(columns: tuple[str, ...], kind: Kind, left_out: bool) -> None:
    words = {"order": FILE_ORDER, "numbers": "2024 - (the year in born)"}.get(kind, " with ".join(columns))
    advice = remedy("y", Source(columns, words, 9, kind), "w", "home", left_out=left_out)
    found = ENGLISH.findall(say(f"{capital(advice)}.", "de", ("age", "sex", "home", "w", "y")))
    assert not found, advice
