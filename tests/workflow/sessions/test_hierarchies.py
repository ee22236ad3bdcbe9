"""The hierarchy editor's task: built, changed, read back; nested always, protected, and its files never change."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from sdckit.errors import DataError, SdcError
from sdckit.workflow.sessions import taking_away
from sdckit.workflow.sessions.answering import Desk
from sdckit.workflow.sessions.hierarchies import by_bands, by_codes, by_values, edit, write_hierarchy
from session_files import BANDS, MARKER, SCENARIO, SECRET, a_desk

DATA = pl.DataFrame({"place": [1101, 1102, 1201, 2101, None], "name": ["a;b", "a;c", "d", "e", "f"]})


def tell(_: str) -> None:
    """Nobody listens."""


def changed(desk: Desk, act: str, hierarchy: Any = "", level: int = 1, **more: Any) -> dict[str, Any]:
    """What the page is given, protected, which never names the marked record."""
    steps, exact = more.pop("steps", []), more.pop("exact", False)
    found = edit(
        desk, tell, scenario=SCENARIO, steps=steps, number=len(steps), secret=SECRET, column=more.pop("column", "job"),
        hierarchy=hierarchy, level=level, exact=exact, do={"act": act, **more},
    )  # fmt: skip
    assert exact or MARKER not in json.dumps(found)
    return found


def names(found: dict[str, Any]) -> list[str]:
    return [row["name"] for row in found["rows"]]


def lines(desk: Desk, found: dict[str, Any]) -> list[str]:
    return (desk.folder / found["name"]).read_text(encoding="utf-8").splitlines()


def test_what_is_built_can_be_read_and_recoded_with(tmp_path: Path) -> None:
    file = tmp_path / write_hierarchy(tmp_path, "place", by_codes(DATA, "place"))
    safe, _ = sdc.recode(DATA, column="place", hierarchy=file, level=2)
    assert [str(name) for name in safe["place"].drop_nulls()] == ["11", "11", "12", "21"]
    file = tmp_path / write_hierarchy(tmp_path, "name", by_codes(DATA, "name"))
    assert sdc.recode(DATA, column="name", hierarchy=file, level=2).data["name"].to_list()[:2] == ["a", "a"]
    ages = pl.DataFrame({"age": [18 + at % 50 for at in range(400)]})
    file = tmp_path / write_hierarchy(tmp_path, "age", by_bands(ages, "age"))
    banded, up = (sdc.recode(ages, column="age", hierarchy=file, level=level).data["age"] for level in (1, 2))
    assert banded.n_unique() > up.n_unique()
    assert by_values(DATA, "place")[0] == ["1101", "1101"]


def test_what_has_no_ends_no_numbers_or_no_fields_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="column 'x' has no codes"):
        by_codes(pl.DataFrame({"x": ["a", "b"]}), "x")
    with pytest.raises(DataError, match="no numbers"):
        by_bands(DATA, "name")
    with pytest.raises(DataError, match="too few different"):
        by_bands(pl.DataFrame({"x": [3, 3]}), "x")
    with pytest.raises(DataError, match="begins or ends with a space"):
        write_hierarchy(tmp_path, "x", [[" a", "b"], ["c", "b"]])
    assert list(tmp_path.iterdir()) == []


def test_a_hierarchy_is_built_and_changed_by_ticking(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    first = changed(desk, "values")
    assert names(first) == ["clerk", "cook", "smith"]
    assert first["others"] == "<5"
    merged = changed(desk, "merge", first["name"], groups=["cook", "smith"], name=" hands ")
    assert names(merged) == ["clerk", "hands"]
    assert [member["name"] for member in merged["rows"][1]["members"]] == ["cook", "smith"]
    moved = changed(desk, "up", merged["name"], groups=["hands"])
    assert names(moved) == ["hands", "clerk"]
    assert names(changed(desk, "down", moved["name"], groups=["hands"])) == ["clerk", "hands"]
    rare = changed(desk, "merge", moved["name"], others=True)
    assert f"{MARKER};other" in lines(desk, rare)
    above = changed(desk, "add_level", rare["name"])
    assert (above["level"], above["levels"]) == (2, 2)
    top = changed(desk, "merge", above["name"], 2, groups=["hands", "clerk"], others=True, name="all")
    assert names(top) == ["all"]
    apart = changed(desk, "split", top["name"], 1, members=["cook"])
    assert names(apart) == ["cook", "hands", "clerk"]
    assert {line.rpartition(";")[2] for line in lines(desk, apart)} == {"all"}
    assert names(changed(desk, "split", apart["name"], 2, groups=["all"])) == ["cook", "hands", "clerk"]
    named = changed(desk, "rename", apart["name"], groups=["clerk"], name="desk")
    assert names(named) == ["cook", "hands", "desk"]
    assert changed(desk, "remove_level", named["name"], 2)["levels"] == 1
    # what a step names is as it was: undo finds it
    assert names(changed(desk, "look", first["name"])) == ["clerk", "cook", "smith"]
    assert changed(desk, "values")["name"] == first["name"]


@pytest.mark.parametrize(
    ("act", "more"),
    [
        ("merge", {"groups": ["cook"]}), ("merge", {}), ("split", {}), ("up", {"others": True}), ("down", {}),
        ("rename", {"groups": ["cook"]}), ("rename", {"groups": ["cook", "smith"], "name": "x"}),
        ("rename", {"groups": ["cook"], "name": "smith"}), ("merge", {"groups": ["cook", "smith"], "name": "clerk"}),
        ("remove_level", {}), ("merge", {"groups": [MARKER, "cook"], "name": "x"}),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_and_nothing_is_written(act: str, more: dict[str, Any], tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    first = changed(desk, "values")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DataError):
        changed(desk, act, first["name"], **more)
    with pytest.raises(SdcError):
        changed(desk, act, "")
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_is_taken_and_completed(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    upload = tmp_path / "0.csv"
    upload.write_text("cook,hands\nsmith,hands\nbaker,hands\n", encoding="utf-8")
    taken = changed(desk, "file", path=str(upload), name="my jobs.csv")
    assert taken["name"] == "hierarchy-my-jobs.csv"
    assert taken["lacks"]
    whole = changed(desk, "complete", taken["name"])
    assert not whole["lacks"]
    assert f"{MARKER};{MARKER}" in lines(desk, whole)
    upload.write_text("cook\n", encoding="utf-8")
    with pytest.raises(SdcError):
        changed(desk, "file", path=str(upload), name="x.csv")


def test_what_a_recipe_says_in_place_of_a_file_is_edited(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    inline = {name: ["work"] for name in desk.data["job"].unique()}
    assert names(changed(desk, "look", inline)) == ["work"]
    assert changed(desk, "split", inline, groups=["work"])["name"] == "hierarchy-job.csv"


def test_bands_are_of_the_values_before_the_step_and_exact_figures_show_all(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    found = changed(desk, "values", column="age", steps=[BANDS])
    assert sorted(names(found)) == ["30-44", "45-59", "60+", "up to 29"]
    exact = changed(desk, "values", exact=True)
    assert MARKER in names(exact)
    assert exact["others"] == ""


SHAPES = st.lists(
    st.tuples(
        st.sampled_from(["merge", "split", "up", "down", "rename", "add_level", "remove_level"]), st.integers(1, 3),
        st.sets(st.integers(0, 5), max_size=3), st.sampled_from(["", "x", "y"]), st.booleans(),
    ), max_size=8,
)  # fmt: skip


@given(SHAPES)
@settings(max_examples=15, deadline=None)
def test_levels_stay_nested_whatever_is_pressed(tmp_path_factory: pytest.TempPathFactory, shapes: Any) -> None:
    desk = a_desk(tmp_path_factory.mktemp("walk"))
    found = changed(desk, "codes")
    for act, level, ticked, name, others in shapes:
        groups = [group for at, group in enumerate(names(found)) if at in ticked]
        try:
            found = changed(desk, act, found["name"], level, groups=groups, name=name, others=others)
        except DataError:
            continue
        made = sdc.read_hierarchy(desk.folder / found["name"])  # refuses levels that are not nested
        assert set(made.leaves) == set(desk.data["job"].unique())


def test_the_recipe_gives_the_same_release_on_the_command_line(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    jobs = changed(desk, "merge", changed(desk, "values")["name"], groups=["cook", "clerk"], others=True)
    ages = changed(desk, "bands", column="age")
    steps = [
        {"method": "recode", "arguments": {"column": "job", "hierarchy": jobs["name"], "level": 1}},
        {"method": "recode", "arguments": {"column": "age", "hierarchy": ages["name"], "level": 2}},
    ]
    made = taking_away.prepare(desk, tell, scenario=SCENARIO, steps=steps, secret=SECRET, accepted=True)
    paths = {file["name"]: file["path"] for file in made["files"]}
    assert {jobs["name"], ages["name"]} <= paths.keys()
    released = next(Path(file["path"]) for file in made["files"] if file["what"] == "release")
    again = released.with_name("again.csv")
    call = ["protect", paths["recipe.toml"], str(desk.path), "--scenario", paths["scenario.toml"], "--out", str(again)]
    subprocess.run([sys.executable, "-m", "sdckit", *call], check=False, capture_output=True)
    assert again.read_bytes() == released.read_bytes()
