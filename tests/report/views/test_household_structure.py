"""Households in a document."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from report.fakes import FULL, assess_fake, survey
from sdckit.report.blocks import TableBlock
from sdckit.report.chapters.release_page import page_of
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.protect import protect
from sdckit.report.language import missing, names_of
from sdckit.report.notebook import result_document
from sdckit.report.views.household_structure import VIEW


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return survey(400)


@pytest.fixture(scope="module")
def one(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = plain_document(assess_fake(rows, FULL), internal=True)["intruders"][0]
    return found


def test_households(one: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    tree = one["household_structure"]
    sizes = Counter(Counter(row["household"] for row in rows).values())
    assert {row["level"]: row["n"]["value"] for row in tree["sizes"]} == {str(k): n for k, n in sizes.items()}


def test_every_size_has_its_row(one: dict[str, Any]) -> None:
    (table,) = [block for block in VIEW.blocks(one, "household_structure") if isinstance(block, TableBlock)]
    assert [row[0] for row in table.rows] == [row["level"] for row in one["household_structure"]["sizes"]]


def test_sizes_that_few_households_have_are_not_told_by_the_number_of_members() -> None:
    """50 people in 41 homes of one, of two three times and of three once: no other file of 50 prints 40 and 5."""
    homes = [1] * 41 + [2] * 3 + [3]
    home = [number for number, size in enumerate(homes) for _ in range(size)]
    data = pl.DataFrame({"key": ["same"] * len(home), "home": home})
    with quiet():
        found = sdc.assess(data, scenario=sdc.Scenario(keys=["key"], household="home"))
    printed = plain_document(found)["intruders"][0]["household_structure"]
    assert printed["sizes"][-1]["pooled"]
    assert printed["sizes"][-1]["n"]["text"] not in {"<5", "5", "<10"}


@pytest.mark.parametrize(("homes", "told"), [(60, ["region"]), (47, [])])
def test_keys_that_never_differ_are_told_of_many_households(homes: int, told: list[str]) -> None:
    home = [*(i // 2 for i in range(2 * homes)), *range(homes, 2 * homes)]
    data = pl.DataFrame({"home": home, "region": [one % 3 for one in home], "sex": [i % 2 for i in range(len(home))]})
    result = sdc.household_structure(data, household="home", keys=["region", "sex"])
    assert result.household_variables == ("region",)
    words = "Keys that never differ within a household"
    for internal in (True, False):
        plain = protect(result_document(result), internal=internal)
        listed = plain["household_structure"]["household_variables"]
        assert listed == (["region"] if internal else told)
        assert (words in str(VIEW.blocks(plain, "household_structure"))) == bool(listed)


def test_sizes_are_printed_alike_for_every_intruder(rows: list[dict[str, Any]]) -> None:
    """Two prints of one number, rounded each by itself, would tell more of it than one."""
    data = pl.DataFrame(rows)
    keys = [name for name in data.columns if name != "household"][:3]
    two = sdc.Scenario(intruders={"a": keys[:2], "b": keys[1:]}, household="household")
    with quiet():
        first, second = plain_document(sdc.assess(data, scenario=two))["intruders"]
    for name in ("n_households", "sizes", "unique_sizes", "rare_sizes"):
        assert first["household_structure"][name] == second["household_structure"][name]
    names = [row["level"] for row in first["household_structure"]["sizes"]]
    assert names


@pytest.mark.parametrize(("limit", "holds"), [(0.1, False), (0.9, True)])
def test_the_limit_is_told_by_printed_figures(limit: float, holds: bool) -> None:
    """60 homes of a pair, 40 others of their own kind each: the share is worked out from what is printed."""
    homes = [["f", "m"]] * 60 + [["f"] * one for one in range(3, 43)]
    data = pl.DataFrame(
        {
            "home": [number for number, people in enumerate(homes) for _ in people],
            "sex": [one for people in homes for one in people],
        }
    )
    scenario = sdc.Scenario(keys=["sex"], household="home", thresholds={"household_uniques": limit})
    with quiet():
        found = sdc.assess(data, scenario=scenario)
    assert found.verdicts[0].value == 0.4
    plain = plain_document(found)
    (verdict,) = plain["verdicts"]
    tree = plain["intruders"][0]["household_structure"]
    assert verdict["holds"]["value"] is holds
    assert verdict["value"]["text"] == tree["unique_composition_rate"]["text"]
    words = str(page_of(plain))
    assert "Share of the households that are alone with their composition" in words
    assert ("Leave out the number of the household" in words) is not holds
    assert not [one for one in missing(page_of(plain), "de", names_of(plain)) if "ousehold" in one]
