"""The original as its release is, before anything is measured: by recipe, by log, or recognised; in every engine."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings as effort, strategies as st

import sdckit as sdc
from draw import quiet
from every_measure import assert_close, figures
from plans import on_engines, on_frames
from recipes import SECRET
from recoded_files import KEYS, STEPS, applied, scenario, survey
from sdckit.cells.pair import Recoded, open_files, read_pair
from sdckit.errors import ColumnError, DataError
from sdckit.protect.recoding.round_to import multiples
from sdckit.workflow.recoded_original import open_recoded as recognising
from sdckit.workflow.recoded_original.open_recoded import (
    found_base,
    found_limits,
    nested_map,
    open_recoded,
    recognise,
    speaks_for_groups,
)
from sdckit.workflow.recoded_original.published_recodings import read_recodings

RAW = survey()
ROLES = {"keys": KEYS, "variables": ["income", "ill"]}


@cache
def as_released() -> Any:
    """The survey as a recipe leaves it."""
    return applied()


def opened(
    original: Any = RAW, released: Any = None, *, recipe: Any = None, log: Any = None, id: str | None = None, **how: Any
) -> Any:
    files = open_files(original, as_released().data if released is None else released, id=id)
    how.setdefault("aligned", True)
    return open_recoded(files, ROLES, recodings=read_recodings(recipe, log), **how)


@pytest.mark.parametrize("source", ["recipe", "log", "recognised"])
def test_the_three_ways_give_one_original(source: str) -> None:
    found_by = {} if source == "recognised" else {source: getattr(as_released(), source)}
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

    mixed = as_released().data.with_row_index("row").sample(fraction=1, shuffle=True, seed=2)
    by_log = read_recodings(None, as_released().log)
    assert by_log is not None
    moved = replace(by_log, rows=mixed["row"].to_numpy())
    found = open_recoded(open_files(RAW, mixed.drop("row")), ROLES, recodings=moved, aligned=True)
    before, after = found.pair.codes("age").codes
    assert (before[after > 0] == after[after > 0]).all()
    assert found.pair.raw.to_native()["name"].equals(mixed["name"])


def test_a_release_in_another_order_or_of_another_log_is_refused() -> None:
    mixed = as_released().data.sample(fraction=1, shuffle=True, seed=2)
    with pytest.raises(DataError, match="the release has other values of 'age' than the log says"):
        opened(released=mixed, log=as_released().log)
    found = opened(released=mixed, log=as_released().log, id="name")
    assert found.pair.aligned
    other = as_released().data.with_columns(pl.col("ill").replace({"yes": "no"}))
    with pytest.raises(DataError, match="the release has other values of 'ill' than the log says"):
        opened(released=other, log=as_released().log)


def test_values_that_the_log_moved_may_differ() -> None:
    made = applied(steps=[*STEPS, {"method": "pram", "columns": ["ill", "job"], "pd": 0.7}])
    found = opened(released=made.data, log=made.log)
    assert {one.column for one in found.pair.recoded} == {"age", "job", "size", "income"}


def test_the_control_file_is_recoded_alike() -> None:
    control = survey(100, seed=8)
    for found_by in ({"recipe": as_released().recipe}, {"log": as_released().log}, {}):
        found = opened(control=control, **found_by)
        assert set(found.pair.control.to_native()["job"]) == {"high", "low"}
        assert found.pair.codes("age", control=True).n_levels == 5
    cut = applied(steps=[{"method": "recode", "column": "age", "bands": 4}])
    with pytest.raises(DataError, match=r"the control file cannot be recoded alike: step 1 \(recode\) takes the edges"):
        opened(released=cut.data, recipe=cut.recipe, control=control)


def test_what_is_not_plain_names_column_and_option() -> None:
    released = as_released().data.with_columns(pl.col("job").cast(pl.String))
    with pytest.raises(
        ColumnError, match=r"column 'job' holds numbers in the original and text in the release.*--recipe, --log"
    ):
        opened(released=released, aligned=False)
    with pytest.raises(ColumnError, match=r"the release has no column 'size'; where it was left out .*--recipe, --log"):
        opened(released=as_released().data.drop("size"))


@on_engines
def test_plans_by_an_id(plan: Any) -> None:
    mixed = as_released().data.sample(fraction=1, shuffle=True, seed=2)
    with pytest.raises(DataError, match="rows of a plan have no order"):
        opened(plan(RAW), as_released().data, log=as_released().log)
    for found_by in ({"log": as_released().log}, {}):
        found = opened(plan(RAW), plan(mixed), id="name", also=["w"], **found_by)
        assert found.pair.brought
        assert "w" in found.opened.original.columns
        before, after = found.pair.codes("job").codes
        assert (before[after > 0] == after[after > 0]).all()


@on_frames
def test_engines_tell_the_same(make: Any) -> None:
    with quiet():
        mine = sdc.assess(
            make(RAW), make(as_released().data), scenario=scenario(), id="name", log=as_released().log, seed=1
        )
        same = sdc.assess(RAW, as_released().data, scenario=scenario(), id="name", log=as_released().log, seed=1)
    assert_close(figures(mine["default"]["matching_risk"]), figures(same["default"]["matching_risk"]), "matching")
    assert (
        mine.original["default"]["key_frequencies"].to_dict() == same.original["default"]["key_frequencies"].to_dict()
    )
    assert mine.recoded == same.recoded


def test_a_recipe_beside_bands_made_elsewhere() -> None:
    """What the recipe leaves unexplained is recognised where the names of bands say it."""
    rounding = sdc.Recipe([STEPS[3]])
    found = opened(released=as_released().data.with_columns(RAW["job"], RAW["size"]), recipe=rounding)
    assert found.pair.recoded == (
        Recoded("income", "numbers rounded", "recipe"), Recoded("age", "numbers in bands", "recognised"),
    )  # fmt: skip
    assert found.pair.raw.to_native()["age"].equals(RAW["age"])
    assert found.pair.raw.to_native()["income"].equals(RAW["income"])


def test_paths_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(as_released().recipe.to_toml())
    log = as_released().log.write(tmp_path / "l.json")
    with quiet():
        one = sdc.assess(RAW, as_released().data, scenario=scenario(), recipe=tmp_path / "r.toml", log=str(log), seed=1)
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
    with pytest.raises(DataError, match=f"the release has values of '{column}' that the recipe does not make"):
        opened(recipe=sdc.Recipe(steps), aligned=False)


def test_numbers_in_bands_are_no_numbers_any_more() -> None:
    """A declared number that the release has in bands: what needs numbers is told, and nothing breaks."""
    bands = {"method": "recode", "column": "income", "bands": [0, 1000, 3000, float("inf")]}
    made = applied(steps=[bands])
    with quiet():
        found = sdc.assess(RAW, made.data, scenario=scenario(), log=made.log, seed=1)
    assert "released as numbers" in dict(found["default"].skipped)["interval_risk"]
    assert found["default"]["matching_risk"].m == 1


@pytest.mark.parametrize("make", [lambda frame: frame, pl.DataFrame.lazy], ids=["memory", "plan"])
def test_a_number_in_bands_among_the_keys_stops_no_measure(make: Any) -> None:
    """What is measured of the other columns, and of the key as it is released, needs no number in its place."""
    released, stated = as_released(), scenario().changed(numeric=["age", "income"])
    how = {"id": "row", "recipe": released.recipe, "seed": 1}
    number = pl.int_range(pl.len()).alias("row")
    with quiet():
        found = sdc.assess(
            make(RAW.with_columns(number)), make(released.data.with_columns(number)), scenario=stated, **how
        )
        attacked = sdc.assess(
            RAW.with_columns(number),
            released.data.with_columns(number),
            scenario=stated,
            attacks=True,
            n_attacks=20,
            **how,
        )
    assert found.utility is not None
    skipped = [*found["default"].skipped, *found.utility.skipped, *attacked.attacks_skipped]
    assert [pair for pair in skipped if "convert" in pair[1]] == []
    assert {"matching_risk", "record_linkage", "interval_risk"} <= set(found["default"].results)


def test_figures_need_no_second_recipe() -> None:
    """The law: by recipe, by log and recognised, the same figures."""
    found = []
    for found_by in ({"recipe": as_released().recipe}, {"log": as_released().log}, {}):
        with quiet():
            one = sdc.assess(RAW, as_released().data, scenario=scenario(aligned=True), seed=1, **found_by)
        found.append((one["default"].to_dict(), one.original["default"].to_dict(), one.utility.to_dict()))
    assert found[0] == found[1] == found[2]
    with quiet():
        own = sdc.Recipe(STEPS).apply(RAW, scenario=scenario(), seed=9, secret=SECRET, watch=False).assess(seed=1)
    assert own["default"].to_dict() == found[0][0]
    with pytest.warns(sdc.SdcWarning, match="the same recoding as the release, by the log given"):
        check = sdc.check(RAW, as_released().data, scenario=scenario(), log=as_released().log, seed=1)
    assert check.passed
    assert check.assessment.recoded == own.recoded


# What two files show by themselves is recognised; what is perturbed, moved, or merely suppressed is not.


COLUMNS = [*KEYS, "income", "ill"]


def found(
    released: Any, *, original: Any = RAW, aligned: bool = True, names: list[str] | None = None, **how: Any
) -> dict[str, str]:
    several = names or COLUMNS
    pair = read_pair(open_files(original, released, id=how.pop("id", None)), {"keys": several}, aligned=aligned)
    return {one.column: one.kind for one in recognise(pair, several, **how)}


def test_every_recoding_of_a_recipe() -> None:
    assert found(applied().data) == {
        "age": "numbers in bands",
        "job": "values in groups",
        "size": "the largest numbers brought to a limit",
        "income": "numbers rounded",
    }


def test_without_rows_that_belong_together_bands_alone() -> None:
    released = applied().data
    assert found(released, aligned=False) == {"age": "numbers in bands"}
    assert found(released.sample(fraction=1, shuffle=True, seed=1), aligned=False) == {"age": "numbers in bands"}
    assert found(released, types_only=True) == {"age": "numbers in bands", "job": "values in groups"}


def test_rows_may_belong_together_by_an_id() -> None:
    mixed = applied().data.sample(fraction=1, shuffle=True, seed=1)
    assert set(found(mixed, id="name")) == {"age", "job", "size", "income"}


@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
def test_other_engines(engine: str) -> None:
    files = [RAW, applied().data]
    original, released = (one.to_pandas() if engine == "pandas" else one.to_arrow() for one in files)
    assert set(found(released, original=original)) == {"age", "job", "size", "income"}
    assert found(released, original=RAW) == found(applied().data, original=original)


def test_the_original_values_are_no_recoding() -> None:
    assert found(RAW) == {}
    gone = applied(steps=[{"method": "local_suppression", "keys": KEYS, "k": 3}]).data
    assert gone["age"].null_count() > 0
    assert found(gone) == {}
    assert found(RAW.with_columns(pl.col("age", "size").cast(pl.Float64), pl.col("ill").cast(pl.Categorical))) == {}
    assert found(RAW.with_columns(pl.col("job").cast(pl.String))) == {}
    assert found(RAW.with_columns(pl.col("size").cast(pl.String).str.zfill(2))) == {}
    truth = RAW.with_columns(pl.col("ill") == "yes")
    written = truth.with_columns(pl.col("ill").cast(pl.String))
    assert found(written, original=truth) == {}
    assert found(RAW.with_columns(pl.lit(None, pl.String).alias("age"))) == {}


def test_other_names_of_one_type_are_no_groups_and_of_another_are() -> None:
    swapped = RAW.with_columns(pl.col("ill").replace({"yes": "no", "no": "yes"}))
    assert found(swapped) == {}
    named = RAW.with_columns(pl.col("job").replace_strict({11: "a", 12: "b", 13: "c", 21: "d", 22: "e", 23: "f"}))
    assert found(named) == {"job": "values renamed"}


@pytest.mark.parametrize(
    "step",
    [
        {"method": "pram", "columns": ["ill", "job"], "pd": 0.9},
        {"method": "pram", "columns": ["size"], "pd": 0.97},
        {"method": "rank_swap", "columns": ["age", "income"]},
        {"method": "add_noise", "columns": ["income", "age"], "noise": 5.0},
        {"method": "microaggregate", "columns": ["income"], "k": 3},
        {"method": "microaggregate", "columns": ["age"], "k": 5},
        {"method": "shuffle", "columns": ["income"], "given": ["age"]},
        {"method": "swap_records", "hierarchy": ["job"], "keys": ["age", "size"], "swap_rate": 0.1},
        {"method": "synthesize", "models": "sample", "columns": ["job", "ill"]},
    ],
)
def test_what_chance_did_is_not_recognised(step: dict[str, Any]) -> None:
    made = sdc.Recipe([step]).apply(RAW, seed=4, secret=SECRET, watch=False)
    assert made.log.steps[0].n_changed > 0
    assert found(made.data) == {}


def test_groups_with_one_exception_are_none() -> None:
    released = applied(steps=steps_of("job")).data
    jobs = released["job"].to_list()
    jobs[3] = "high" if jobs[3] == "low" else "low"
    assert found(released.with_columns(pl.Series("job", jobs)), names=["job"]) == {}


def test_bands_stay_bands_where_some_values_moved_and_not_where_most_did() -> None:
    released = applied(steps=steps_of("age")).data
    names = released["age"].cast(pl.String).to_list()
    few = [names[(i + 1) % 400] if i % 20 == 0 else name for i, name in enumerate(names)]
    assert found(released.with_columns(pl.Series("age", few)), names=["age"]) == {"age": "numbers in bands"}
    moved = released.with_columns(pl.Series("age", names[1:] + names[:1]))
    assert found(moved, names=["age"]) == {}


def test_bands_that_share_their_edges_need_the_rows() -> None:
    ages = RAW["age"].to_numpy()
    for low, words in ((ages // 30 * 30, "left"), ((np.maximum(ages, 1) - 1) // 30 * 30, "right")):
        labels = [f"{a}-{a + 30}" for a in low]
        released = RAW.with_columns(pl.Series("age", labels))
        assert found(released, names=["age"]) == {"age": "numbers in bands"}, words
        assert found(released, names=["age"], aligned=False) == {}


def test_a_number_in_no_band_is_none_of_the_bands() -> None:
    released = RAW.filter(pl.col("age") < 60).with_columns(
        (pl.col("age") // 15 * 15).map_elements(lambda a: f"{a}-{a + 14}", pl.String).alias("age")
    )
    assert found(released, names=["age"], aligned=False) == {}


def test_several_releases_say_it_together() -> None:
    one = applied().data
    assert set(found([one, one])) == {"age", "job", "size", "income"}
    assert found([one, RAW], names=["age"]) == {}
    assert found([one, RAW], names=["size"]) == {}


@effort(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.9, 0.99]))
def test_pram_is_never_recognised(seed: int, pd: float) -> None:
    """The law, end to end."""
    data = survey(200, seed % 1000)
    released = sdc.pram(data, columns=["job", "ill"], pd=pd, seed=seed).data
    assert found(released, original=data) == {}


def changed_numbers(seed: int) -> tuple[Any, Any]:
    """Numbers, some missing or infinite, and what one of twelve ways made of them."""
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(0, 20, 300), int(rng.integers(0, 3)))
    odd = rng.random(300)
    values[odd < 0.05], values[odd > 0.99] = np.nan, rng.choice([np.inf, -0.0, 7.0])
    changes = [
        values, values + 0.5, np.clip(values, -15, 15), np.round(values / 5) * 5, np.minimum(values, 10), -values,
        np.where(odd < 0.5, np.nan, values), np.floor(values), np.full(300, np.nan), np.where(values > 0, 1.0, -1.0),
        rng.permutation(values), np.where(odd < 0.2, 0.0, values),
    ]  # fmt: skip
    return tuple(pl.DataFrame({"x": one}) for one in (values, changes[seed % len(changes)]))


def test_floats_are_recognised_as_the_same_values_are_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files may have a number of its own for every record: these are compared as arrays."""
    files = [changed_numbers(seed) for seed in range(40)]
    by_arrays = [found(other, original=one, names=["x"]) for one, other in files]
    monkeypatch.setattr(recognising._Column, "floats", False)
    assert by_arrays == [found(other, original=one, names=["x"]) for one, other in files]
    assert len({one.get("x") for one in by_arrays}) >= 4


def steps_of(column: str) -> list[dict[str, Any]]:
    from recoded_files import STEPS

    return [one for one in STEPS if one.get("column") == column]


# Groups, limits and multiples are found where every record keeps to them, and nowhere else.


NAN = float("nan")


def codes(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_one_exception_is_one_too_many() -> None:
    before = np.repeat(np.arange(4), 50)
    after = before // 2
    assert nested_map(before, after).tolist() == [0, 0, 1, 1]
    after[7] = 1
    assert nested_map(before, after) is None


def test_suppressed_values_say_nothing_and_filled_ones_are_no_recoding() -> None:
    assert nested_map(codes(0, 0, 1), codes(2, -1, -1)).tolist() == [2, -1]
    assert nested_map(codes(0, -1), codes(2, 2)) is None
    assert nested_map(codes(-1, -1), codes(-1, -1)).tolist() == []


def test_single_records_are_no_evidence() -> None:
    many = np.repeat(np.arange(4), 50)
    none = np.zeros(4, bool)
    assert speaks_for_groups(many, codes(0, 0, 1, 1), none)
    assert not speaks_for_groups(np.arange(100), np.arange(100) // 2, np.zeros(100, bool))
    assert not speaks_for_groups(many, codes(0, 0, 1, 1), ~none)
    assert not speaks_for_groups(codes(0, 0, 1, 1), codes(0, 0), np.zeros(2, bool))


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95))
def test_chance_is_never_taken_for_groups(seed: int, kept: float) -> None:
    """The law: a column perturbed at random is no mapping, or gives no evidence of one."""
    rng = np.random.default_rng(seed)
    before = rng.integers(0, 6, 400)
    after = np.where(rng.random(400) < kept, before, rng.integers(0, 6, 400))
    image = nested_map(before, after)
    assert image is None or not speaks_for_groups(before, image, image == np.arange(len(image)))


def test_limits() -> None:
    before = np.array([1.0, 2, 3, 7, 8, 9, NAN, 20])
    assert found_limits(before, np.minimum(before, 6)) == (None, 6.0)
    assert found_limits(before, np.maximum(before, 3)) is None  # two values changed: too few
    assert found_limits(before, np.clip(before, 3, 8)) == (3.0, 8.0)
    hidden = np.minimum(before, 6)
    hidden[0] = NAN
    assert found_limits(before, hidden) == (None, 6.0)
    assert found_limits(before, before) is None
    assert found_limits(np.full(3, NAN), np.full(3, NAN)) is None


@pytest.mark.parametrize(
    ("base", "how"), [(10.0, "nearest"), (10.0, "down"), (100.0, "nearest"), (0.5, "down"), (25.0, "nearest")]
)
def test_multiples(base: float, how: str) -> None:
    before = np.random.default_rng(1).uniform(0, 5000, 500)
    assert found_base(before, multiples(before, base, how, None)) == (base, how)


def test_few_records_speak_against_a_base_before_all_are_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def measured(values: Any, *given: Any) -> Any:
        sizes.append(len(values))
        return multiples(values, *given)

    monkeypatch.setattr(recognising, "multiples", measured)
    before = np.random.default_rng(1).integers(0, 90, 5000).astype(float)
    assert found_base(before, np.floor(before / 7)) is None  # codes are multiples of 1, which they were not rounded to
    assert max(sizes) == recognising.SAMPLE
    late = np.concatenate([before // 10 * 10, before + 1])
    assert found_base(late, np.concatenate([before // 10 * 10, before // 10 * 10])) is None
    assert max(sizes) == 10_000


def test_what_is_not_rounded() -> None:
    rng = np.random.default_rng(2)
    before = rng.normal(2000, 300, 500)
    assert found_base(before, before) is None
    assert found_base(before, before + rng.normal(0, 5, 500)) is None
    assert found_base(before, 10 * np.round((before + rng.normal(0, 30, 500)) / 10)) is None
    assert found_base(before, np.full(500, 2000.0)) is None
    assert found_base(before, np.full(500, np.inf)) is None
