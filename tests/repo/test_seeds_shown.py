"""No page, help or docstring teaches a seed that can be guessed for a release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tree import ROOT, SRC

SHOWN = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(SRC.rglob("*.py"))]
YEAR = re.compile(r"""seed["']?[\s=:,]+(19|20)\d\d\b""")
DRAWS_A_RELEASE = re.compile(r"^.*sdckit (protect|synthesize|canaries make)\b.*--seed.*$", re.MULTILINE)
RECIPE = re.compile(r"\.apply\([^()]*seed=")


@pytest.mark.parametrize("rule", [YEAR, DRAWS_A_RELEASE], ids=["year", "command"])
def test_no_year_is_a_seed_and_no_release_is_drawn_by_one(rule: re.Pattern[str]) -> None:
    assert [path.name for path in SHOWN if rule.search(_joined(path))] == []


def test_recipes_are_applied_without_a_seed() -> None:
    with_one = {path.name: len(RECIPE.findall(_joined(path))) for path in SHOWN}
    # One shows the warning; a map draws the same for all its points; a replay takes that of its log; an option.
    several = {"seeds.md": 1, "explore.py": 1, "recipe.py": 1, "recipe_files.py": 1}
    assert {name: n for name, n in with_one.items() if n} == several


def test_the_rules_find_what_they_look_for() -> None:
    assert YEAR.search("apply(survey, seed=1996)")
    assert YEAR.search('"--seed", 2024')
    assert not YEAR.search("seed=20250000001")
    assert not YEAR.search("seed=7, years 1996")
    assert DRAWS_A_RELEASE.search("see\nsdckit protect r.toml f.csv --seed 1 --out o.csv")
    assert RECIPE.search("recipe.apply(survey, scenario=scenario, seed=1)")


def _joined(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace("\\\n", " ")
