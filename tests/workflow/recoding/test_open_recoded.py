"""The original as its release is, before anything is measured: by recipe, by log, or recognised; in every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from plans import on_engines, on_frames
from recipes import SECRET
from recoded_files import KEYS, STEPS, applied, scenario, survey
from sdckit.cells.pair import Recoded, open_files
from sdckit.errors import ColumnError, DataError
from sdckit.workflow.recoding.open_recoded import open_recoded
from sdckit.workflow.recoding.recodings import read_recodings

RAW = survey()
DONE = applied()
ROLES = {"keys": KEYS, "variables": ["income", "ill"]}


def opened(
    original: Any = RAW,
    released: Any = None,
    *,
    recipe: Any = None,
    log: Any = None,
    id: str | None = None,
    **how: Any,
) -> Any:
    files = open_files(original, DONE.data if released is None else released, id=id)
    how.setdefault("aligned", True)
    return open_recoded(files, ROLES, recodings=read_recodings(recipe, log), **how)


@pytest.mark.parametrize("source", ["recipe", "log", "recognised"])
def test_the_three_ways_give_one_original(source: str) -> None:
    found_by = {} if source == "recognised" else {source: getattr(DONE, source)}
    found = opened(**found_by)
    assert {one.column: one.source for one in found.pair.recoded} == dict.fromkeys(
        ("age", "job", "size", "income"), source
    )
    for name in (*KEYS, "income", "ill"):
        before, after = found.pair.codes(name).codes
        assert (before[after > 0] == after[after > 0]).all(), name
        assert (before > 0).all()
    assert found.pair.raw.to_native().equals(RAW)
    assert found.notes[0].startswith("age (numbers in bands)" if source != "recognised" else "age")
    assert "the original is compared with the same recoding as the release" in found.notes[0]


def test_groups_called_by_numbers_are_numbers_in_a_file_read_again() -> None:
    steps = [{"method": "recode", "column": "job", "groups": {"1": [11, 12, 13], "2": [21, 22, 23]}}]
    done = applied(steps=steps)
    read = done.data.with_columns(pl.col("job").cast(pl.Int64))
    found = opened(released=read, log=done.log, control=RAW.head(50))
    before, after, control = found.pair.codes("job", control=True).codes
    assert (before == after).all()
    assert (control == before[:50]).all()
    assert opened(released=done.data, log=done.log).pair.codes("job").kind == "text"


def test_nothing_recoded_leaves_the_files_as_they_are() -> None:
    found = opened(released=RAW)
    assert found.pair.raw is None
    assert found.pair.recoded == ()
    assert found.notes == ()
    assert found.opened.original.to_native() is RAW


def test_rows_from_the_log_are_brought_into_the_order_of_the_release() -> None:
    from dataclasses import replace

    mixed = DONE.data.with_row_index("row").sample(fraction=1, shuffle=True, seed=2)
    by_log = read_recodings(None, DONE.log)
    assert by_log is not None
    moved = replace(by_log, rows=mixed["row"].to_numpy())
    found = open_recoded(open_files(RAW, mixed.drop("row")), ROLES, recodings=moved, aligned=True)
    before, after = found.pair.codes("age").codes
    assert (before[after > 0] == after[after > 0]).all()
    assert found.pair.raw.to_native()["name"].equals(mixed["name"])


def test_a_release_in_another_order_or_of_another_log_is_refused() -> None:
    mixed = DONE.data.sample(fraction=1, shuffle=True, seed=2)
    with pytest.raises(DataError, match="the release has other values of 'age' than the log says"):
        opened(released=mixed, log=DONE.log)
    found = opened(released=mixed, log=DONE.log, id="name")
    assert found.pair.aligned
    other = DONE.data.with_columns(pl.col("ill").replace({"yes": "no"}))
    with pytest.raises(DataError, match="the release has other values of 'ill' than the log says"):
        opened(released=other, log=DONE.log)


def test_values_that_the_log_moved_may_differ() -> None:
    made = applied(steps=[*STEPS, {"method": "pram", "columns": ["ill", "job"], "pd": 0.7}])
    found = opened(released=made.data, log=made.log)
    assert {one.column for one in found.pair.recoded} == {"age", "job", "size", "income"}


def test_the_control_file_is_recoded_alike() -> None:
    control = survey(100, seed=8)
    for found_by in ({"recipe": DONE.recipe}, {"log": DONE.log}, {}):
        found = opened(control=control, **found_by)
        assert set(found.pair.control.to_native()["job"]) == {"high", "low"}
        assert found.pair.codes("age", control=True).n_levels == 5
    cut = applied(steps=[{"method": "recode", "column": "age", "bands": 4}])
    with pytest.raises(
        DataError, match=r"the control file cannot be recoded alike: step 1 \(recode\) takes the edges"
    ):
        opened(released=cut.data, recipe=cut.recipe, control=control)


def test_what_is_not_plain_names_column_and_option() -> None:
    released = DONE.data.with_columns(pl.col("job").cast(pl.String))
    with pytest.raises(
        ColumnError,
        match=r"column 'job' holds numbers in the original and text in the release.*--recipe, --log",
    ):
        opened(released=released, aligned=False)
    with pytest.raises(
        ColumnError, match=r"the release has no column 'size'; where it was left out .*--recipe, --log"
    ):
        opened(released=DONE.data.drop("size"))


@on_engines
def test_plans_by_an_id(plan: Any) -> None:
    mixed = DONE.data.sample(fraction=1, shuffle=True, seed=2)
    with pytest.raises(DataError, match="rows of a plan have no order"):
        opened(plan(RAW), DONE.data, log=DONE.log)
    for found_by in ({"log": DONE.log}, {}):
        found = opened(plan(RAW), plan(mixed), id="name", also=["w"], **found_by)
        assert found.pair.brought
        assert "w" in found.opened.original.columns
        before, after = found.pair.codes("job").codes
        assert (before[after > 0] == after[after > 0]).all()


@on_frames
def test_engines_tell_the_same(make: Any) -> None:
    with quiet():
        mine = sdc.assess(make(RAW), make(DONE.data), scenario=scenario(), id="name", log=DONE.log, seed=1)
        same = sdc.assess(RAW, DONE.data, scenario=scenario(), id="name", log=DONE.log, seed=1)
    assert mine["default"]["matching_risk"].to_dict() == same["default"]["matching_risk"].to_dict()
    assert (
        mine.original["default"]["key_frequencies"].to_dict()
        == same.original["default"]["key_frequencies"].to_dict()
    )
    assert mine.recoded == same.recoded


def test_a_recipe_beside_bands_made_elsewhere() -> None:
    """What the recipe leaves unexplained is recognised where the names of bands say it."""
    rounding = sdc.Recipe([STEPS[3]])
    found = opened(released=DONE.data.with_columns(RAW["job"], RAW["size"]), recipe=rounding)
    assert found.pair.recoded == (
        Recoded("income", "numbers rounded", "recipe"), Recoded("age", "numbers in bands", "recognised"),
    )  # fmt: skip
    assert found.pair.raw.to_native()["age"].equals(RAW["age"])
    assert found.pair.raw.to_native()["income"].equals(RAW["income"])


def test_paths_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(DONE.recipe.to_toml())
    log = DONE.log.write(tmp_path / "l.json")
    with quiet():
        one = sdc.assess(
            RAW, DONE.data, scenario=scenario(), recipe=tmp_path / "r.toml", log=str(log), seed=1
        )
    assert one.aligned
    assert one.recoding == "log"


@pytest.mark.parametrize(
    ("column", "other"),
    [
        ("age", {"bands": [0, 18, 30, 45, 60, float("inf")]}),
        ("job", {"groups": {"high": [11, 12, 13, 21], "small": [22, 23]}}),
        ("size", {"top": 3}),
        ("income", {"base": 1000}),
    ],
)
def test_the_recipe_of_another_release_is_refused(column: str, other: dict[str, Any]) -> None:
    """Compared by it, hardly a record would match, and the release would look safe."""
    steps = [{**one, **other} if one.get("column") == column else one for one in STEPS]
    with pytest.raises(
        DataError, match=f"the release has values of '{column}' that the recipe does not make"
    ):
        opened(recipe=sdc.Recipe(steps), aligned=False)


def test_numbers_in_bands_are_no_numbers_any_more() -> None:
    """A declared number that the release has in bands: what needs numbers is told, and nothing breaks."""
    bands = {"method": "recode", "column": "income", "bands": [0, 1000, 3000, float("inf")]}
    made = applied(steps=[bands])
    with quiet():
        found = sdc.assess(RAW, made.data, scenario=scenario(), log=made.log, seed=1)
    assert "interval_risk" in dict(found["default"].skipped)
    assert found["default"]["matching_risk"].m == 1


def test_figures_need_no_second_recipe() -> None:
    """The law: by recipe, by log and recognised, the same figures."""
    found = []
    for found_by in ({"recipe": DONE.recipe}, {"log": DONE.log}, {}):
        with quiet():
            one = sdc.assess(RAW, DONE.data, scenario=scenario(aligned=True), seed=1, **found_by)
        found.append((one["default"].to_dict(), one.original["default"].to_dict(), one.utility.to_dict()))
    assert found[0] == found[1] == found[2]
    with quiet():
        own = (
            sdc.Recipe(STEPS)
            .apply(RAW, scenario=scenario(), seed=9, secret=SECRET, watch=False)
            .assess(seed=1)
        )
    assert own["default"].to_dict() == found[0][0]
    with pytest.warns(sdc.SdcWarning, match="the same recoding as the release, by the log given"):
        check = sdc.check(RAW, DONE.data, scenario=scenario(), log=DONE.log, seed=1)
    assert check.passed
    assert check.assessment.recoded == own.recoded
