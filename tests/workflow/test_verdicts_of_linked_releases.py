"""Verdicts on releases that a column links: k, risk and l on the keys of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from engines.conftest import duckdb_relation
from sdckit.cells.plans import lazy
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.workflow.verdicts import Verdict, judge_linked

N_LINKED = 240
LINKED = pl.DataFrame({
    "id": [f"p{7 * at % 241}" for at in range(N_LINKED)], "a": [at // 2 % 3 for at in range(N_LINKED)],
    "b": [at // 80 for at in range(N_LINKED)], "ill": [("x", "y")[at // 40 % 2] for at in range(N_LINKED)],
})  # fmt: skip
KEYS = {"region": 6, "age": 40, "sex": 2, "job": 50}  # and how many values each has


def beside(tmp_path: Path, released: pl.DataFrame, **limits: float) -> list[Verdict]:
    """Verdicts on a release of the keys b beside an earlier one of the keys a."""
    tmp_path.mkdir()
    place = {"folder": str(tmp_path / "ledger"), "key": str(tmp_path / "ledger.key")}
    sdc.ReleaseLedger.create(**place, survey="Survey").add(LINKED.select("id", "a"), name="first", keys=["a"])
    scenario = sdc.Scenario(
        keys=["b"], sensitive=["ill"], ledger={**place, "new": ["b", "ill"]}, thresholds={**limits, "differencing": 0.0}
    )
    with quiet():
        return list(sdc.assess(released, scenario=scenario).verdicts)


def test_linked_releases_are_judged_by_the_keys_of_both_and_say_what_would_part_them(tmp_path: Path) -> None:
    groups = LINKED.select(size=pl.len().over("a", "b"), values=pl.col("ill").n_unique().over("a", "b"))
    k = int(groups["size"].min())  # type: ignore[arg-type]
    for limit in (k, k + 1):
        found = {one.name: one for one in beside(tmp_path / str(limit), LINKED.drop("a"), k=limit, l=2, risk=1 / k)}
        assert found["k"].holds
        linked = found["k_linked"]
        assert (linked.holds, linked.n_records) == (limit == k, int((groups["size"] < limit).sum()))
        assert (found["risk_linked"].holds, found["l_linked"].n_records) == (True, (groups["values"] < 2).sum())
    assert linked.sentence == (
        f"with the keys of first (linked by id), {linked.n_records} records are in groups of fewer than {k + 1} "
        f"(k = {k + 1}); change what links them in this release, as the others are out: id: new identifiers (new_ids), "
        "or leave it out"
    )


def test_new_ids_and_no_ids_part_them(tmp_path: Path) -> None:
    new = LINKED.drop("a").with_columns(id=pl.format("q{}", pl.int_range(N_LINKED)))
    for name, file in (("new", new), ("none", LINKED.drop("a", "id"))):
        assert not [one for one in beside(tmp_path / name, file, k=3) if one.name == "k_linked"]


def test_what_could_not_be_compared_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a plan with too many records it is not known whether a column links the releases."""
    place = {"folder": str(tmp_path / "ledger"), "key": str(tmp_path / "ledger.key")}
    sdc.ReleaseLedger.create(**place, survey="Survey").add(LINKED.select("id", "a"), name="first", keys=["a"])
    scenario = sdc.Scenario(keys=["b"], sensitive=["ill"], ledger={**place, "new": ["b", "ill"]}, thresholds={"k": 3})
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 100)
    with quiet():
        result = sdc.check(LINKED.drop("a").lazy(), scenario=scenario)
    assert [(one.name, one.holds) for one in result.verdicts] == [("k", True), ("k_linked", None)]
    assert "too much from a plan" in result.verdicts[1].reason
    assert not result.passed


def test_an_id_that_only_the_original_has_links_nobody_else(tmp_path: Path) -> None:
    """The ledger knows the people by it, but nobody outside can join the releases."""
    place = {"folder": str(tmp_path / "ledger"), "key": str(tmp_path / "ledger.key"), "id": "id"}
    ledger = sdc.ReleaseLedger.create(folder=place["folder"], key=place["key"], survey="Survey")
    ledger.add(LINKED.select("id", "a", "ill"), name="first", keys=["a"], sensitive=["ill"], id="id")
    scenario = sdc.Scenario(
        keys=["b"], sensitive=["ill"], aligned=True, ledger={**place, "new": ["b"]},
        thresholds={"k": N_LINKED // 3, "differencing": 0.0},
    )  # fmt: skip
    with quiet():
        assessed = sdc.assess(LINKED.drop("a"), LINKED.select("b", "ill"), scenario=scenario, seed=1)
    names = {one.name: one for one in assessed.verdicts}
    assert names["differencing"].holds
    assert "k_linked" not in names
    assert assessed.released[0].intruders[0].results["differencing"].entries[0].linked == N_LINKED


@pytest.mark.parametrize("engine", ["memory", "polars", "duckdb"])
def test_the_id_of_the_ledger_goes_to_the_rows_that_another_id_names(tmp_path: Path, engine: str) -> None:
    """Rows of the release stand in another order; what says whose they are is a number that both files have."""
    place = {"folder": str(tmp_path / "ledger"), "key": str(tmp_path / "ledger.key"), "id": "id"}
    ledger = sdc.ReleaseLedger.create(folder=place["folder"], key=place["key"], survey="Survey")
    alone = LINKED.with_columns(ill=pl.when(pl.int_range(pl.len()) % 5 > 0).then("ill"))
    ledger.add(alone.select("id", "b", "ill"), name="first", keys=["b"], sensitive=["ill"], id="id")
    original = LINKED.drop("a").with_row_index("row")
    released = alone.drop("a", "id").with_row_index("row").sample(fraction=1.0, shuffle=True, seed=1)
    scenario = sdc.Scenario(keys=["b"], sensitive=["ill"], ledger=place, thresholds={"differencing": 0.0})
    files: list[Any] = [original, released]
    if engine == "polars":
        files = [file.lazy() for file in files]
    elif engine == "duckdb":
        connection = duckdb.connect()
        files = [duckdb_relation(file, connection) for file in files]
    with quiet():
        assessed = sdc.assess(*files, scenario=scenario, id="row", seed=1)
    found = assessed.released[0]["default"]["differencing"]
    assert found.entries[0].linked == N_LINKED
    assert (found.unprotected, found.given_back) == (0, 0)  # both hide the same values


@pytest.mark.parametrize("entries", [{"thresholds": {"differencing": 0.1}}, {"release": "partners"}])
def test_of_the_original_no_limit_of_the_ledger_is_left_open(entries: dict[str, Any]) -> None:
    """One that a type of release of the office sets stayed, and could never be judged."""
    office = {"partners": {"differencing": 0.1, "k": 2}}
    scenario = sdc.Scenario(keys=["b"], sensitive=["ill"], household="none", release_types=office, **entries)
    data = pl.DataFrame({"b": ["x", "y"] * 20, "ill": ["no", "yes", "no", "no"] * 10})
    with quiet():
        assessed = sdc.assess(data, data, scenario=scenario)
    assert "differencing" not in {verdict.name for verdict in assessed.original.verdicts}
    (verdict,) = (verdict for verdict in assessed.verdicts if verdict.name == "differencing")
    assert (verdict.holds, verdict.reason) == (None, "the scenario names no ledger of earlier releases")


def test_a_link_in_part_tells_nothing_of_columns_that_the_ledger_does_not_keep(tmp_path: Path) -> None:
    """Where each release hides other values, the ledger links few records; the file itself links all by the weight."""
    rng = np.random.default_rng(1)
    n = 1_500
    whole = pl.DataFrame({name: rng.integers(0, top, n) for name, top in KEYS.items()})
    whole = whole.with_columns(w=pl.Series(rng.lognormal(4, 0.5, n).round(1)))
    waves = [
        whole.with_columns(pl.when(pl.Series(rng.random(n) < 0.85)).then(pl.col(name)) for name in KEYS).sample(
            fraction=1, shuffle=True, seed=seed
        )
        for seed in (1, 2)
    ]
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "key", survey="Survey")
    ledger = ledger.add(waves[0], name="first", keys=[*KEYS])
    with quiet():
        found = sdc.differencing(waves[1], ledger=ledger, keys=[*KEYS])
        by_file = sdc.differencing(waves[1], ledger=ledger.beside({"first": waves[0]}), keys=[*KEYS])
    assert found.linked_by
    assert found.singly
    assert found.linked < by_file.linked
    (verdict,) = judge_linked(Thresholds(k=2), "", found)
    assert verdict.word == "not judged"
    assert "not all columns were tried as links together" in verdict.reason
    (said,) = judge_linked(Thresholds(k=2, differencing=1.0), "", found)  # the limit of the ledger says it
    assert (said.word, said.singly) == ("holds", True)
    assert [verdict.word for verdict in judge_linked(Thresholds(k=2), "", by_file)] == ["holds"]
