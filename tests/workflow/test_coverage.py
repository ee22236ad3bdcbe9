"""The map of what was looked at: every column that goes out, and the questions that saw it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import releases
import sdckit as sdc
from draw import quiet
from sdckit.workflow.assessment import QUESTIONS, ColumnCoverage, Coverage, coverage_of

INTRUDERS = {"near": ["sex", "age"], "far": ["sex", "age", "region"]}
ROLES = {"keys": None, "intruders": INTRUDERS, "sensitive": ["ill"], "numeric": ["income"], "weight": "w"}
ALONE = releases.scenario(**ROLES)
PEOPLE = releases.original(160)


def seen(coverage: Coverage, question: str) -> dict[str, tuple[str, ...]]:
    """What looked at each column for a question, without the columns it did not see."""
    return {row["column"]: row[question] for row in coverage.rows() if row[question]}


def test_a_file_is_looked_at_by_what_is_known_and_what_is_learnt() -> None:
    coverage = sdc.assess(PEOPLE, scenario=ALONE).coverage
    assert [column.column for column in coverage.columns] == PEOPLE.columns
    assert seen(coverage, "known") == {"sex": ("near", "far"), "age": ("near", "far"), "region": ("far",)}
    assert "l_diversity" in seen(coverage, "learnt")["ill"]
    assert set(seen(coverage, "learnt")) == {"ill"}
    assert not any(seen(coverage, question) for question in QUESTIONS[2:])
    assert coverage.not_looked_at == ("pid", "income", "w")
    assert seen(coverage, "roles") == {
        "sex": ("key",), "age": ("key",), "region": ("key",), "ill": ("sensitive",), "w": ("weight",)
    }  # fmt: skip


def test_a_release_is_attacked_compared_and_looked_through() -> None:
    half = (
        PEOPLE[:80]
        .drop("w")
        .with_columns(
            region=pl.when(pl.int_range(80) % 8 > 0).then("region"), income=pl.col("income") * 1.02, source=pl.lit("s")
        )
    )
    given = {"scenario": releases.scenario(**ROLES), "seed": 1, "n_attacks": 20}
    with quiet():
        without = sdc.assess(PEOPLE[:80], half, **given).coverage
        declared = sdc.assess(PEOPLE[:80], half, attacks=True, **given).coverage
        beside = sdc.assess(PEOPLE[:80], half, control=PEOPLE[80:], **given)
    coverage = beside.coverage
    assert [row["column"] for row in coverage.rows()] == half.columns
    assert set(seen(coverage, "close")) == {"income"}
    assert seen(coverage, "given_back") == dict.fromkeys(("region", "income"), ("recoverable_values",))
    assert seen(without, "attacked") == seen(without, "remembered") == {}
    assert set(seen(declared, "attacked")) == {"sex", "age", "region", "ill", "income"}
    assert set(seen(declared, "remembered")) == {"sex", "age", "region", "ill", "income"}  # distances
    assert set(seen(coverage, "attacked")) == {*half.columns} - {"source"}
    assert "inference" in seen(coverage, "attacked")["ill"]
    assert "linkability" not in seen(coverage, "attacked")["pid"]
    assert seen(coverage, "remembered")["pid"] == ("membership", "distance_to_closest_record")
    assert coverage.not_looked_at == ("source",)
    assert without.not_looked_at == ("pid", "source")
    assert beside.original.coverage == beside.released[0].coverage == Coverage(())
    assert beside.to_dict()["coverage"][0]["known"] == []


def test_copies_and_large_numbers_are_looked_at_in_a_synthetic_file() -> None:
    scenario = sdc.Scenario(keys=["sex"], sensitive=["ill"], magnitudes=["income"], release="synthetic", weight="w")
    with quiet():
        coverage = sdc.assess(PEOPLE[:80], PEOPLE[80:], scenario=scenario, seed=1).coverage
    assert seen(coverage, "close") == {"income": ("exact_numbers",)}
    assert seen(coverage, "remembered")["ill"] == ("copied_records",)
    assert "w" not in seen(coverage, "remembered")


def test_a_ledger_remembers_what_an_earlier_release_of_it_had(tmp_path: Path) -> None:
    place = {"folder": str(tmp_path / "ledger"), "key": str(tmp_path / "ledger.key")}
    ledger = sdc.ReleaseLedger.create(**place, survey="S")
    scenario = sdc.Scenario(keys=["sex", "age"], ledger={**place, "new": ["age"]}, thresholds={"differencing": 0.1})
    with quiet():
        empty = sdc.assess(PEOPLE, scenario=scenario).coverage
        ledger.add(PEOPLE, name="first", keys=["sex"])
        beside = sdc.assess(PEOPLE, scenario=scenario).coverage
    assert seen(empty, "remembered") == {}
    assert seen(beside, "remembered") == {"sex": ("differencing",)}


def test_attacks_belong_to_the_intruder_of_their_place() -> None:
    """One intruder's name begins like the other's: each attack used the keys of its own."""
    names = {"a": ["sex", "age"], "a:b": ["age", "region"]}
    given = {"scenario": releases.scenario(**{**ROLES, "intruders": names}), "seed": 1, "n_attacks": 10}
    with quiet():
        found = sdc.assess(PEOPLE[:80], PEOPLE[:80], control=PEOPLE[80:], **given)
    only = {place: result for place, result in found.attacks.items() if place == "linkability:a:b"}
    assert list(only) == ["linkability:a:b"]
    object.__setattr__(found, "attacks", only)
    assert set(seen(coverage_of(found), "attacked")) == {"age", "region"}


def test_names_that_may_be_values_are_withheld() -> None:
    found = sdc.assess(
        PEOPLE.rename({"income": "31500"}), scenario=releases.scenario(keys=["sex"], sensitive=[], numeric=[])
    )
    names = [row["column"] for row in found.coverage.rows()]
    assert names == ["column 1", "sex", "column 3", "column 4", "column 5", "column 6", "column 7"]


def test_what_no_question_saw() -> None:
    columns = (
        ColumnCoverage("a", ()),
        ColumnCoverage("b", ("key",), known=("near",)),
        ColumnCoverage("c", ("weight",)),
    )
    assert [column.looked_at for column in columns] == [False, True, False]
    assert Coverage(columns).not_looked_at == ("a", "c")


def test_large_numbers_are_looked_at_where_a_limit_asks() -> None:
    roles = {"numeric": ["income"], "magnitudes": ["income"], "thresholds": {"k": 3, "exact_numbers": 0.0}}
    with quiet():
        found = sdc.assess(PEOPLE, scenario=releases.scenario(keys=["sex"], sensitive=[], **roles))
    assert seen(found.coverage, "close")["income"] == ("exact_numbers",)
