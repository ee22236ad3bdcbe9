"""What a terminal shows is the exact document, without single records."""

from __future__ import annotations

import releases
import sdckit as sdc
from draw import quiet
from recipes import SECRET, STEPS, scenario, survey
from sdckit.report.blocks import Facts, Page, TableBlock
from sdckit.report.screen import recipe_blocks, screen_blocks, screen_page


def cells(page: Page) -> list[str]:
    """Everything that stands in a table that is shown."""
    blocks = [block for section in page.sections if not section.paper for block in section.blocks]
    tables = [block for block in blocks if isinstance(block, TableBlock) and not block.paper]
    return [cell for table in tables for row in table.rows for cell in row]


def test_figures_are_exact_and_no_record_is_listed() -> None:
    original = releases.original(60)
    with quiet():
        found = sdc.assess(original, keys=["sex", "age", "region"])
    page = screen_page(found)
    exact = [n for n in found["default"]["k_anonymity"].violations.values() if n % 5]
    assert exact
    assert {str(n) for n in exact} <= set(cells(page))
    assert not any("at risk" in section.title for section in page.sections)


def test_a_release_has_its_own_page() -> None:
    with quiet():
        found = sdc.assess(releases.original(), releases.release(), scenario=releases.scenario(), seed=1)
    shown = cells(screen_page(found))
    assert str(found.original["default"]["k_anonymity"].violations[3]) in shown


def test_the_blocks_of_several_results_follow_each_other() -> None:
    original = releases.original(60)
    ones = [sdc.k_anonymity(original, keys=["sex"]), sdc.risky_cells(original, keys=["sex", "age"])]
    assert screen_blocks(*ones) == [*screen_blocks(ones[0]), *screen_blocks(ones[1])]


def test_a_recipe_with_and_without_a_scenario() -> None:
    def told(scene: sdc.Scenario | None) -> str:
        done = sdc.Recipe(STEPS[:2]).apply(survey(), scenario=scene, seed=1, secret=SECRET).what_was_done
        tables = [one for one in recipe_blocks(done) if isinstance(one, TableBlock | Facts)]
        assert not any("cook" in str(one) for one in tables)
        return str(tables)

    assert "after each step" in told(scenario())
    assert "2. pram" in told(scenario())
    assert "after each step" not in told(None)
    assert "1. recode" in told(scenario(keys=None, intruders={"a": ["sex"], "b": ["job"]}))
