"""Original and releases of an assessment: what is noticed as they are opened."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from plans import duckdb_plans
from sdckit.cells import pair as pairs
from sdckit.cells.as_cells import tabulate_roles
from sdckit.cells.pair import keep_rows, open_files, open_pair
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.workflow.left_open import WHY
from sdckit.workflow.opened_release import (
    columns_of,
    count_ahead,
    households_in_both,
    identical_keys,
    in_every_file,
    open_release,
    with_bands,
)

ORIGINAL = pl.DataFrame({"age": [1, 2, 3], "home": [1, 1, 2], "sex": ["f", "m", "f"]})
SCENARIO = sdc.Scenario(keys=["age", "sex"], numeric=["age"])


def test_a_key_in_bands_is_ordered_and_no_number() -> None:
    banded = with_bands(SCENARIO, ["age", "income"])
    assert (banded.ordered, banded.numeric) == (("age",), ())
    assert with_bands(SCENARIO, ["income"]) is SCENARIO


def test_columns_of_all_and_of_any_file() -> None:
    pair = open_files(ORIGINAL, ORIGINAL.drop("home"))
    assert in_every_file(pair) == {"age", "sex"}
    assert columns_of(pair.frames) == {"age", "home", "sex"}


def test_keys_that_were_not_touched_are_named() -> None:
    mixed = ORIGINAL.with_columns(age=pl.col("age").reverse())
    pair = open_pair(ORIGINAL, [ORIGINAL, mixed], categories={"keys": ["age", "sex"]}, aligned=True)
    (note,) = identical_keys(pair, ["age", "sex"], aligned=True)
    assert note.endswith("has the keys of the original, row by row: nothing in them was changed")


def test_households_in_original_and_control_are_counted() -> None:
    pair = open_files(ORIGINAL, ORIGINAL, control=pl.DataFrame({"age": [9], "home": [2], "sex": ["f"]}))
    (note,) = households_in_both(pair, "home")
    assert "1" in note
    assert households_in_both(pair, None) == households_in_both(open_files(ORIGINAL, ORIGINAL), "home") == []


def test_files_in_memory_are_attacked_as_they_are_measured() -> None:
    opened = open_files(ORIGINAL, ORIGINAL)
    measured, attacked, aligned = open_release(opened, None, SCENARIO.changed(aligned=True), None, (), attacked=True)
    assert measured is attacked
    assert aligned


def test_what_was_counted_of_a_file_by_itself_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = sdc.Scenario(keys=["age", "sex"], sensitive=["home"])
    files = [pl.concat([ORIGINAL] * times).lazy() for times in (3, 2)]
    expected = open_pair(*files, categories={"keys": ["age", "sex", "home"]}, counted=True)
    pair = open_files(*files)
    keep_rows(pair, 0, None)  # of a file in memory, or of cells in parts, nothing is kept
    for file, frame in enumerate(files):
        keep_rows(pair, file, tabulate_roles(frame, resolve_roles(scenario=scenario), by_levels=True))
    monkeypatch.setattr(pairs, "count_file", lambda *_: pytest.fail("counted again"))
    count_ahead(pair, scenario)
    found = open_pair(pair, categories={"keys": ["age", "sex", "home"]}, counted=True)
    for other, own in zip(expected.frames, found.frames, strict=True):
        assert sorted(other.rows()) == sorted(own.rows())
    assert [times.tolist() for times in found.times or ()] == [[3, 3, 3], [2, 2, 2]]


def test_cells_are_added_up_where_that_spares_some() -> None:
    many = pl.DataFrame({"a": range(40), "b": [0, 1] * 20, "c": [0] * 40}).lazy()
    pair = open_files(many, many)
    count_ahead(pair, sdc.Scenario(keys=["a", "b"], sensitive=["c"]))
    for names, columns in ((["a", "b"], ["a", "b", "c"]), (["b", "c"], ["b", "c"])):
        own = open_pair(pair, categories={"keys": names}, counted=True)
        assert own.original.columns == columns
        assert own.groups(names).n_groups == (40 if "a" in names else 2)
        assert own.n == 40


RNG = np.random.default_rng(6)
PEOPLE = pl.DataFrame(
    {"person": np.arange(400), "sex": RNG.choice(["f", "m"], 400), "age": RNG.integers(0, 90, 400),
     "region": RNG.integers(0, 9, 400)}
)  # fmt: skip
KNOWN = sdc.Scenario(
    keys=["sex", "age", "region"],
    household="none",
    magnitudes=[],
    insensitive=["person"],
    thresholds={"match_risk": 0.1},
)


def renumbered(release: pl.DataFrame) -> pl.DataFrame:
    """The release in an order by chance, its people numbered anew: the first is 0, as in the original."""
    return release.sample(len(release), shuffle=True, seed=1).with_columns(person=pl.Series(np.arange(len(release))))


@pytest.mark.parametrize("name", ["memory", "polars", "duckdb"])
def test_rows_that_are_said_to_belong_together_and_do_not_are_refused(name) -> None:
    """Else everybody of a release as it is seemed not to be found again."""
    engine = {"memory": pl.DataFrame, "polars": pl.LazyFrame, "duckdb": duckdb_plans()}[name]
    whole, release = engine(PEOPLE), PEOPLE.with_columns(age=pl.when(pl.col("person") > 4).then("age").otherwise(0))
    with pytest.raises(sdc.SdcError, match=r"id 'person' says .* but in no column are they more alike"):
        sdc.check(whole, engine(renumbered(release)), scenario=KNOWN, id="person")
    (verdict,) = sdc.check(whole, engine(release.reverse()), scenario=KNOWN, id="person").verdicts
    assert verdict.holds is False
    if name == "memory":
        with pytest.raises(sdc.SdcError, match="aligned = true says"):
            sdc.check(whole, [release, release.reverse()], scenario=KNOWN.changed(aligned=True))


def test_a_log_may_say_that_every_value_was_drawn_anew() -> None:
    recipe = sdc.Recipe([{"method": "synthesize", "columns": ["sex", "age", "region"]}])
    with quiet():
        protected = recipe.apply(PEOPLE, scenario=KNOWN, watch=False)
        checked = sdc.check(PEOPLE, protected.data, scenario=KNOWN, log=protected.log)
    assert checked.verdicts[0].holds is not None


@pytest.mark.parametrize("name", ["memory", "polars", "duckdb"])
def test_weights_that_were_multiplied_are_refused(name) -> None:
    """Else each record seemed to stand for more people, and nobody to be at risk."""
    engine = {"memory": pl.DataFrame, "polars": pl.LazyFrame, "duckdb": duckdb_plans()}[name]
    people = PEOPLE.with_columns(w=pl.Series(RNG.uniform(1, 9, 400)))
    weighted = sdc.Scenario(keys=["sex"], weight="w", insensitive=["person", "age", "region"], thresholds={"risk": 0.9})
    with pytest.raises(sdc.SdcError, match="are some 100 times those of the original"):
        sdc.check(engine(people), engine(people.with_columns(pl.col("w") * 100)), scenario=weighted)
    whole, rounded, half = (
        people.with_columns(pl.col("w") * times).head(n) for times, n in ((1.0, 400), (1.1, 400), (2.0, 200))
    )
    for release in (whole, rounded, half, whole.drop("w")):
        with quiet():
            assert sdc.check(engine(people), engine(release), scenario=weighted).verdicts[0].holds is not None
    with quiet():  # not its weights, but its records
        twice = sdc.check(engine(people), engine(pl.concat([whole, whole])), scenario=weighted).verdicts[0]
    assert (twice.holds, twice.reason) == (None, WHY["more"])
