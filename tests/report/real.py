"""Documents as people get them: assessments of generated files, nothing put together by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import releases
import sdckit as sdc
from draw import quiet
from recipes import SECRET
from sdckit.report.blocks import (
    Blanks,
    Block,
    ChartBlock,
    Code,
    Entries,
    Facts,
    Items,
    Page,
    TableBlock,
    Tables,
    Verdicts,
)
from sdckit.report.chapters.release_page import page_of
from sdckit.report.formats.html import render_page
from sdckit.report.formats.write import plain_document
from sdckit.report.language import names_of, translate

N = 600
KEYS = ["region", "sex", "age"]
RECIPE = [
    {"method": "recode", "column": "age", "bands": [18, 30, 45, 60, 80]},
    {"method": "pram", "columns": ["region"], "pd": 0.8},
    {"method": "local_suppression", "k": 3},
]


def survey(*, missing: float = 0.0) -> pl.DataFrame:
    """People of four regions, with gaps in the keys or without."""
    rng = np.random.default_rng(4)
    data = pl.DataFrame(
        {
            "region": rng.choice(["north", "south", "east", "west"], N, p=[0.4, 0.3, 0.2, 0.1]),
            "sex": rng.choice(["f", "m"], N),
            "age": rng.integers(18, 80, N),
            "ill": rng.choice(["yes", "no"], N),
            "w": rng.integers(10, 30, N).astype(float),
        }
    )
    gone = {name: pl.Series(rng.random(N) < missing) for name in KEYS}
    return data.with_columns(pl.when(gone[name]).then(None).otherwise(name).alias(name) for name in KEYS)


def scenario(**more: Any) -> sdc.Scenario:
    """Who looks for whom."""
    given = {"keys": KEYS, "sensitive": ["ill"], "thresholds": {"k": 3, "risk": 0.2}}
    return sdc.Scenario(**{**given, **more})


def _one() -> Any:
    return sdc.assess(survey(), scenario=scenario(weight="w"))


def _wildcard() -> Any:
    return sdc.assess(survey(missing=0.05), scenario=scenario(missing="wildcard"))


def _release() -> Any:
    return sdc.assess(
        releases.original(), releases.release(), scenario=releases.scenario(), models="income ~ age", seed=1
    )


def _several() -> Any:
    two = [releases.release(seed=seed) for seed in (2, 3)]
    return sdc.assess(releases.original(), two, scenario=releases.scenario(), models="income ~ age", seed=1)


def _recipe() -> Any:
    return sdc.Recipe(RECIPE).apply(survey(), scenario=scenario(), seed=1, secret=SECRET).assess(seed=1)


def _attacks() -> Any:
    people = releases.original(480)
    original, control = people[:240], people[240:]
    return sdc.assess(
        original,
        releases.release(original, share=0.1),
        scenario=releases.scenario(thresholds={"residual_risk": 0.5}),
        control=control,
        n_attacks=200,
        seed=1,
    )


MADE: Mapping[str, Callable[[], Any]] = {
    "one file": _one,
    "wildcard": _wildcard,
    "release": _release,
    "two releases": _several,
    "recipe": _recipe,
    "attacks": _attacks,
}


@cache
def made(name: str) -> Any:
    """An assessment, made once."""
    with quiet():
        return MADE[name]()


@cache
def plain(name: str, *, internal: bool = False) -> Mapping[str, Any]:
    """Its printed figures."""
    return plain_document(made(name), internal=internal)


@cache
def page(name: str, *, internal: bool = False) -> Page:
    """Its page, as every format lays it out."""
    return page_of(plain(name, internal=internal))


@cache
def german(name: str, *, internal: bool = False) -> Page:
    """Its page in German."""
    return translate(page(name, internal=internal), "de", names_of(plain(name, internal=internal)))


@cache
def html(name: str, language: str = "en") -> str:
    """Its page as HTML."""
    return render_page(german(name) if language == "de" else page(name))


def outline(shown: Page) -> str:
    """What stands in a page, without its figures: headings, tables with their heads and rows, charts, paragraphs.

    A column that is flush right is marked by ▸, what is not shown on a terminal by (paper).
    """
    lines = [shown.title]
    for section in (*shown.decision, *shown.sections):
        place = f" (decision: {section.place})" if section.place else ""
        lines.append(f"{'#' * section.level} {section.title}{place}{' (paper)' * section.paper}")
        lines += [f"  {line}" for block in section.blocks for line in _told(block)]
    return "\n".join(lines) + "\n"


def _told(block: Block) -> list[str]:
    """A block in a line, or a line for each of its tables."""
    if isinstance(block, Tables):
        return [line for one in block.items for line in _told(one)]
    if isinstance(block, TableBlock):
        first = ", ".join(sorted(row[0] for row in block.rows))
        heads = (f"{head} ▸" if at in block.numeric else head for at, head in enumerate(block.columns))
        marks = " (paper)" * block.paper + " (behind)" * block.behind
        return [f"table {block.caption}{marks}", f"  {' | '.join(heads)}", f"  of {first}"]
    if isinstance(block, ChartBlock):
        return [f"chart {block.name}: {block.caption}{' (aside)' * block.aside}"]
    if isinstance(block, Facts):
        return [f"facts {', '.join(label for label, _ in block.items)}"]
    if isinstance(block, Verdicts):
        return [f"verdicts {', '.join(word for word, _, _ in block.items)}"]
    if isinstance(block, Code):
        return [f"code {block.caption}"]
    if isinstance(block, Entries):
        return [f"entries {', '.join(term for term, _, _ in block.items)}"]
    if isinstance(block, Blanks):
        return [f"blanks {', '.join(label for label, _ in block.items)}"]
    if isinstance(block, Items):
        return ["numbered items" if block.ordered else "items"]
    return [f"{block.style} paragraph"]


OUTLINES = Path(__file__).parent / "outlines"

if __name__ == "__main__":  # PYTHONPATH=src:tests python tests/report/real.py: look at the difference afterwards
    for name in MADE:
        (OUTLINES / f"{name.replace(' ', '-')}.txt").write_text(outline(page(name)), encoding="utf-8")
