"""What two files show by themselves is recognised; what is perturbed, moved, or merely suppressed is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings as effort, strategies as st

import sdckit as sdc
from recipes import SECRET
from recoded_files import KEYS, applied, survey
from sdckit.cells.pair import open_files, read_pair
from sdckit.workflow.recoding import recognise as recognising
from sdckit.workflow.recoding.recognise import recognise

RAW = survey()
COLUMNS = [*KEYS, "income", "ill"]


def found(
    released: Any, *, original: Any = RAW, aligned: bool = True, names: list[str] | None = None, **how: Any
) -> dict[str, str]:
    several = names or COLUMNS
    pair = read_pair(
        open_files(original, released, id=how.pop("id", None)), {"keys": several}, aligned=aligned
    )
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
    assert found(released.sample(fraction=1, shuffle=True, seed=1), aligned=False) == {
        "age": "numbers in bands"
    }
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
    assert (
        found(RAW.with_columns(pl.col("age", "size").cast(pl.Float64), pl.col("ill").cast(pl.Categorical)))
        == {}
    )
    assert found(RAW.with_columns(pl.col("job").cast(pl.String))) == {}
    assert found(RAW.with_columns(pl.col("size").cast(pl.String).str.zfill(2))) == {}
    truth = RAW.with_columns(pl.col("ill") == "yes")
    written = truth.with_columns(pl.col("ill").cast(pl.String))
    assert found(written, original=truth) == {}
    assert found(RAW.with_columns(pl.lit(None, pl.String).alias("age"))) == {}


def test_other_names_of_one_type_are_no_groups_and_of_another_are() -> None:
    swapped = RAW.with_columns(pl.col("ill").replace({"yes": "no", "no": "yes"}))
    assert found(swapped) == {}
    named = RAW.with_columns(
        pl.col("job").replace_strict({11: "a", 12: "b", 13: "c", 21: "d", 22: "e", 23: "f"})
    )
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
