"""The rows of the room `utility` stand in its own part of the catalogue, each once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.catalogue import CATALOGUE, Context, measure
from sdckit.catalogue.utility import RULES, UTILITY
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, sure


def test_the_rows_of_the_room_stand_together() -> None:
    assert tuple(row for row in CATALOGUE if row.room == "utility") == UTILITY
    assert len({row.name for row in UTILITY}) == len(UTILITY)


def test_the_overview_tells_what_is_inside_it() -> None:
    one = Scenario(keys=["sex", "age"], sensitive=["ill"], numeric=["age"])
    row = measure("utility_overview")
    assert row.inside is not None
    inside = dict(row.inside(Context(scenario=one, columns=frozenset(["sex", "age"]), models={"age ~ sex": "linear"})))
    assert inside["information_loss"] == "rows are not declared to belong together"
    assert {name for name, reason in inside.items() if not reason} == {
        "propensity", "ecdf_utility", "compare_distributions", "tabular_utility", "compare_associations",
        "compare_models:age ~ sex",
    }  # fmt: skip


def test_numbers_released_in_classes_are_compared_as_categories() -> None:
    people = pl.DataFrame({"sex": ["f", "m"] * 60, "pay": [float(i) for i in range(120)], "age": [20, 30, 40] * 40})
    scenario = sdc.Scenario(keys=["sex", "age"], numeric=["pay"])
    recipe = sdc.Recipe([{"method": "recode", "column": "pay", "bands": [0, 40, 80, 120]}])
    with quiet():
        released = recipe.apply(people, scenario=scenario, seed=1).data
        assessed = sdc.assess(people, released, scenario=scenario, recipe=recipe, seed=1)
    assert assessed.no_utility == ""
    assert assessed.utility is not None
    assert assessed.utility.auc == 0.5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '[[rules]]\ncolumn = "a"\nwhen = {b = {lower = 3}}\nvalue = 1',
            "r.toml: rule 1, of 'a', condition on 'b': a rule",
        ),
        ("", r"r.toml has no rule; write \[\[rules\]\]"),
    ],
)
def test_a_file_of_rules_is_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "r.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=says):
        sure(RULES.by_command)(rules=tmp_path / "r.toml")
