"""Documents as people get them: what stands in each, what must not, and that its figures are the results' own."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from report.real import MADE, OUTLINES, made, outline, page
from sdckit.report.blocks import Facts, Page, Paragraph, TableBlock, Tables, Verdicts
from sdckit.report.formats.write import plain_document, render_json

ATTACKED = ("Simulated attacks", "Residual risk:", "--control")
SEVERAL = ("Release 1", "Smallest", ", release 2", "the worst of the releases")
GAPS = ("missing as", "only through other records", "held only by others")
# What a reader of each document has no business to find there: none of it was asked for, or happened.
UNWANTED = {
    "one file": (*ATTACKED, *GAPS, "before and after", "Recoded", "Release 1", "pMSE", "not judged", "cannot be shown"),
    "wildcard": (*ATTACKED, "before and after", "Recoded", "Release 1", "pMSE", "weights in"),
    "release": (*ATTACKED, *SEVERAL, *GAPS, "## What was done", "Recoded original", "were recoded"),
    "two releases": (*ATTACKED, *GAPS, "## What was done", "Recoded original", "Release 3"),
    "recipe": (*ATTACKED, *SEVERAL, "alpha =", "seed = 1"),
    "attacks": (*SEVERAL, *GAPS, "## What was done", "Recoded original", "not to be trusted"),
}
WANTED = {
    "one file": ("380 of 600 records", "weights in w", "Not measured"),
    "wildcard": ("missing as wildcard", "missing as category", "only through other records"),
    "release": ("before and after", "Rows matched back by their keys", "income ~ age (linear)"),
    "two releases": ("Release 1", "Release 2", "Smallest", "Largest"),
    "recipe": ("## What was done", "1. recode", "3. local_suppression (the release)", "Recoded original"),
    "attacks": ("Never in it", "Residual risk", "What the attacks mean", "Inferring ill"),
}
NOTHING = re.compile(r"\b(nan|None|inf|null|undefined)\b")
METHODS = "Methods, and how to repeat this"
OF_FEW = "Share saved"  # of ten uniques, say: its two ends lie far apart
MEAN_LOSS = "Mean loss of the predictions"
NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?")


@pytest.mark.parametrize("name", MADE)
def test_what_stands_in_it(name: str) -> None:
    """`PYTHONPATH=src:tests python tests/report/real.py` writes the outlines anew: look at what changed."""
    expected = (OUTLINES / f"{name.replace(' ', '-')}.txt").read_text(encoding="utf-8")
    found = outline(page(name))
    assert found == expected, "\n".join(
        difflib.unified_diff(expected.splitlines(), found.splitlines(), "as it was", "as it is", lineterm="", n=1)
    )


@pytest.mark.parametrize("name", MADE)
def test_what_must_stand_in_it_and_what_must_not(name: str) -> None:
    sections = [one for one in page(name).sections if one.title != METHODS]
    shown = replace(page(name), sections=sections)
    text = "\n".join([outline(shown), *words(shown)])
    assert [one for one in WANTED[name] if one not in text] == []
    assert [one for one in UNWANTED[name] if one in text] == []


def cells(shown: Page) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every figure of the tables, by section, caption, row and column."""
    for section in shown.sections:
        for block in section.blocks:
            for table in block.items if isinstance(block, Tables) else (block,):
                if isinstance(table, TableBlock):
                    for row in table.rows:
                        for head, text in zip(table.columns[1:], row[1:], strict=True):
                            yield (section.title, table.caption, row[0], head), text


def words(shown: Page) -> Iterator[str]:
    """Every sentence, fact and cell of a page."""
    yield from (shown.title, shown.subtitle, shown.headline, shown.footer)
    for section in shown.sections:
        yield section.title
        for block in section.blocks:
            if isinstance(block, Paragraph):
                yield block.text
            elif isinstance(block, Facts | Verdicts):
                yield from (" ".join(one) for one in block.items)
    yield from (text for _, text in cells(shown))


@pytest.mark.parametrize("internal", [False, True])
@pytest.mark.parametrize("name", MADE)
def test_no_figure_is_the_name_of_nothing(name: str, internal: bool) -> None:
    """Of files as ordinary as these; a share of nobody is undefined, and nothing else is."""
    shown = page(name, internal=internal)
    found = [text for text in words(shown) if NOTHING.search(text)]
    assert [text for text in found if text != "undefined"] == []
    undefined = [place for place, text in cells(shown) if text == "undefined"]
    assert {place[3] for place in undefined} <= {"Share saved", "Overlap"}


def figure(text: str) -> float | None:
    """The number that a text is, where it is one alone."""
    found = NUMBER.match(text)
    if found is None or text[found.end() :].strip() not in {"", "%"}:
        return None
    return float(found[0].replace(",", ""))


@pytest.mark.parametrize("name", MADE)
def test_printed_figures_are_near_the_exact_ones(name: str) -> None:
    """The same place of the exact document holds nearly the same: no column or row took another's."""
    n = made(name).n
    exact: dict[tuple[str, ...], list[str]] = {}
    for place, text in cells(page(name, internal=True)):
        exact.setdefault(place, []).append(text)
    compared, far = 0, []
    for place, text in cells(page(name)):
        shown, true = figure(text), [figure(one) for one in exact.get(place, ())]
        if shown is None or len(true) != 1 or true[0] is None or place[3] == OF_FEW:
            continue
        compared += 1
        slack = 0.06 * abs(true[0])
        slack += 2400 / n if "%" in text else 12 / n if "." in text else 10
        # A mean of few large losses has one digit.
        slack += 10.0 ** math.floor(math.log10(shown)) / 2 if place[1] == MEAN_LOSS and shown else 0
        # Rounded to 50 or 100.
        slack += 50 * (shown % 50 == 0)
        if abs(shown - true[0]) > slack:
            far.append((place, text, true[0]))
    assert far == []
    assert compared > 40


def table(name: str, caption: str) -> dict[str, dict[str, str]]:
    """The cells of a table of the exact document, by row and column."""
    found: dict[str, dict[str, str]] = {}
    for (_, title, row, head), text in cells(page(name, internal=True)):
        if title == caption:
            found.setdefault(row, {})[head] = text
    return found


def test_each_release_has_its_own_column() -> None:
    given = made("two releases")
    before_after = table("two releases", "The original and the release")
    files = {"Original": given.original, "Release 1": given.released[0], "Release 2": given.released[1]}
    for k in (2, 3, 5):
        row = before_after[f"Records in groups of fewer than {k}"]
        assert row == {head: str(one["default"]["k_anonymity"].violations[k]) for head, one in files.items()}
    assert len({tuple(row.values())[1:] for row in before_after.values()}) > 3
    matched = table("two releases", "Rows matched back by their keys")["the same (number)"]
    assert matched.pop("Of records") == "–"  # a number of people, of which there is no share
    risks = given["default"]["matching_risk"].per_release
    assert {head: float(text) for head, text in matched.items()} == {
        f"Release {number}": pytest.approx(one["expected_match_risk"], rel=1e-5) for number, one in enumerate(risks, 1)
    }


@pytest.mark.parametrize("name", ["release", "two releases", "recipe", "attacks"])
def test_the_glance_shows_the_overview(name: str) -> None:
    """Every figure of the overview has its row, in its order, with its value."""
    column = "Mean" if name == "two releases" else "Release"
    shown = [
        (text, place)
        for place, text in cells(page(name, internal=True))
        if place[1] == "The release at a glance" and place[3] == column
    ]
    defined = [row for row in made(name).utility.table.iter_rows(named=True) if row["value"] == row["value"]]
    assert len(shown) == len(defined)
    assert [float(text) for text, _ in shown] == [pytest.approx(row["value"], rel=1e-4, abs=1e-9) for row in defined]
    protected = [text for place, text in cells(page(name)) if place[1] == "The release at a glance"]
    # Few records were changed by the recipe: what counts them is withheld, and nothing else.
    few = {"withheld"} if name == "recipe" else set()
    assert not ({"–", "withheld", ""} - few) & set(protected)


def test_the_steps_of_a_recipe_have_their_figures() -> None:
    steps = table("recipe", "Risk and utility after each step")
    assert list(steps) == ["the original", "1. recode", "2. pram", "3. local_suppression (the release)"]
    figures = made("recipe").what_was_done.figures
    names = {
        "Records alone with their combination": "sample_uniques",
        "Expected re-identifications": "expected_reidentifications",
        "pMSE": "pmse",
    }
    for cell, one in zip(steps.values(), figures, strict=True):
        for head, name in names.items():
            assert float(cell[head]) == pytest.approx(getattr(one, name), rel=1e-4, abs=1e-9), (head, one)


@pytest.mark.parametrize("name", MADE)
def test_the_same_stands_in_json(name: str) -> None:
    """Every verdict and every intruder of the assessment is in the JSON as well."""
    text = render_json(plain_document(made(name)))
    assert "NaN" not in text
    assert "Infinity" not in text
    for verdict in made(name).verdicts:
        assert f'"{verdict.name}"' in text
