"""Two recipes side by side: the figures of each as its own document prints them."""

from __future__ import annotations

import sdckit as sdc
from recipes import SECRET, STEPS, scenario, survey
from sdckit.report.blocks import TableBlock
from sdckit.report.chapters.recipe_chapter import plain_recipe
from sdckit.report.chapters.recipes_beside import recipes_beside


def test_two_recipes_are_compared_by_what_they_come_to() -> None:
    whole = sdc.Recipe(STEPS).apply(survey(), scenario=scenario(), secret=SECRET)
    first = sdc.Recipe(STEPS).prefix(1).apply(survey(), scenario=scenario(), secret=SECRET)
    plains = [plain_recipe(one.what_was_done) for one in (whole, first)]
    (table,) = recipes_beside(plains, ["all", "one"]).blocks
    assert isinstance(table, TableBlock)
    assert table.columns == ("Figure", "all", "one")
    ends = [plain["figures"][-1]["share_changed"]["text"] for plain in plains]
    assert ends[0] != ends[1]
    assert [row[1:] for row in table.rows if row[0] == "Values that differ"] == [tuple(ends)]
