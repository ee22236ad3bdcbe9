"""A release on an engine is assessed as in memory, the original recoded there."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import quiet
from engines.conftest import plan  # noqa: F401 (a fixture)
from every_measure import assert_close, figures
from recoded_files import applied as recipe_applied, survey
from sdckit.catalogue import row as rows
from sdckit.cells.as_cells import columns_in_memory
from sdckit.cells.pair import ROWS, open_files
from sdckit.cells.plans.count_cells import SIZE, count_by
from sdckit.cli.app import run
from sdckit.errors import ColumnError, DataError
from sdckit.workflow.recoded_original.published_recodings import read_recodings
from sdckit.workflow.recoded_original.recoded_plans import open_on_engines

KEYS = ["sex", "age", "region", "size"]
SCENARIO = sdc.Scenario(
    keys=KEYS, sensitive=["ill"], weight="w", household="home", numeric=["income"], aligned=True,
    thresholds={"k": 2, "match_risk": 0.5},
)  # fmt: skip
N = 300


@cache
def files() -> tuple[pl.DataFrame, Any]:
    """A survey, and what a recipe makes of it."""
    rng = np.random.default_rng(3)
    raw = pl.DataFrame(
        {
            "pid": np.arange(N),
            "sex": rng.choice(["f", "m"], N),
            "age": rng.integers(18, 80, N),
            "region": rng.choice(["n", "s", "e", "w"], N),
            "size": rng.integers(1, 5, N),
            "ill": rng.choice(["yes", "no"], N),
            "income": pl.Series(np.round(np.exp(rng.normal(8, 0.4, N)), -2)).cast(pl.Decimal(12, 2)),
            "w": rng.integers(5, 40, N).astype(float),
            "home": np.arange(N) // 2,
        }
    )
    steps = [
        {"method": "recode", "column": "age", "bands": [18, 30, 45, 60, 80]},
        {"method": "recode", "column": "region", "groups": {"ns": ["n", "s"], "ew": ["e", "w"]}},
        {"method": "round_to", "column": "income", "base": 1000},
        {"method": "pram", "columns": ["size"], "pd": 0.8},
    ]
    return raw, quiet(sdc.Recipe(steps).apply, raw, scenario=SCENARIO, seed=1)


@pytest.mark.parametrize("source", ["log", "recognised"])
def test_assess_gives_the_figures_of_memory(source: str, plan: Any) -> None:  # noqa: F811
    raw, applied = files()
    known: dict[str, Any] = {"scenario": SCENARIO, "id": "pid", "seed": 1}
    known |= {"log": applied.log} if source == "log" else {}
    expected = quiet(sdc.assess, raw, applied.data, **known)
    result = quiet(sdc.assess, plan(raw), plan(applied.data), **known)
    assert [(one.name, one.holds) for one in result.verdicts] == [(one.name, one.holds) for one in expected.verdicts]
    assert result.recoded == expected.recoded
    for before, after in zip((expected.original, *expected.released), (result.original, *result.released), strict=True):
        of_file, on_engine = before["default"], after["default"]
        assert of_file.results.keys() == on_engine.results.keys()
        for name in of_file.results:
            assert_close(figures(of_file[name]), figures(on_engine[name]), f"one file: {name}")
        assert of_file["key_contributions"].coarsenings["age"].scale == "ordered"
    here, there = expected["default"], result["default"]
    assert here.results.keys() == there.results.keys()
    for name in here.results:
        assert_close(figures(here[name]), figures(there[name]), name)
    assert expected.utility is not None
    assert result.utility is not None
    assert_close(figures(expected.utility), figures(result.utility), "utility")
    assert there["matching_risk"].pair.times is not None


def test_what_is_refused_and_left_out(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    raw, applied = files()
    with pytest.raises(ColumnError, match=r"the original has no column 'person' \(id\)"):
        sdc.assess(plan(raw), plan(applied.data), scenario=SCENARIO, id="person", log=applied.log)
    with pytest.raises(DataError, match="rows of a plan have no order"):
        sdc.assess(plan(raw), plan(applied.data), scenario=SCENARIO, log=applied.log)
    monkeypatch.setattr(rows, "MOST_ON_ENGINE", N - 1)
    result = quiet(sdc.assess, plan(raw), plan(applied.data), scenario=SCENARIO, id="pid", log=applied.log)
    assert "identity_disclosure" in result["default"].results
    assert result["default"]["record_linkage"].n == N
    reason = dict(result["default"].skipped)["interval_risk"]
    assert reason.startswith("300 records stay on the engine")


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_commands_say_what_they_say_in_memory(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw, applied = files()
    original, released, scenario, log = (tmp_path / name for name in ("o.parquet", "r.parquet", "s.toml", "log.json"))
    raw.write_parquet(original)
    applied.data.write_parquet(released)
    scenario.write_text(SCENARIO.to_toml(), encoding="utf-8")
    applied.log.write(log)
    given = [str(original), "--scenario", str(scenario), "--released", str(released), "--id", "pid"]
    told = []
    for by in ("memory", engine):
        code = quiet(run, ["check", *given, "--log", str(log), "--engine", by])
        verdicts, _, looked_at = capsys.readouterr().out.partition("What was looked at")
        told.append((code, verdicts, looked_at.splitlines()[-1]))  # an engine is asked for what limits read alone
    assert told[0] == told[1]
    assert run(["assess", *given, "--engine", engine, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "matching_risk" in out
    assert "[together by the id, 4 columns: at most 300 cells of each file" in out


def test_rows_with_an_id_belong_together_where_large_numbers_are_looked_for(plan: Any) -> None:  # noqa: F811
    n = 60
    raw = pl.DataFrame(
        {
            "pid": range(n),
            "region": ["n"] * 30 + ["s"] * 30,
            "turnover": [1000.0 + i for i in range(30)] + [5000.0 + i for i in range(30)],
        }
    )
    moved = pl.when(pl.col("pid") == 0).then(pl.lit("s")).when(pl.col("pid") == 30).then(pl.lit("n"))
    files = raw, raw.with_columns(region=moved.otherwise("region"))
    one = sdc.Scenario(keys=["region"], magnitudes=["turnover"], thresholds={"exact_numbers": 0.0, "k": 2})
    checks = [quiet(sdc.check, *several, scenario=one, id="pid") for several in (files, map(plan, files))]
    assert not any(check.passed for check in checks)
    assert checks[0].verdicts == checks[1].verdicts


def test_values_that_do_not_compare_are_refused(plan: Any) -> None:  # noqa: F811
    raw, applied = files()
    grouped = applied.data.with_columns(size=pl.col("size").replace_strict({1: "a", 2: "a", 3: "b", 4: "b"}))
    errors = []
    for several in ((raw, grouped), (plan(raw), plan(grouped))):
        with pytest.raises(ColumnError, match="'size'") as caught:
            quiet(sdc.check, *several, scenario=SCENARIO.changed(aligned=False))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_a_mean_is_that_of_the_release_whatever_the_order_of_values(plan: Any) -> None:  # noqa: F811
    raw = survey(2000).with_columns(income=(pl.col("income") * 1.1 + 0.013).round(3))
    steps: list[dict[str, Any]] = [{"method": "top_bottom_code", "column": "income", "top": 5000.0, "to": "mean"}]
    applied = recipe_applied(raw, steps)
    pair = open_files(plan(raw.sample(fraction=1.0, shuffle=True, seed=2)), plan(applied.data), id="name")
    there = open_on_engines(pair, ["income"], recodings=read_recodings(None, applied.log), aligned=True).pair
    shown, _ = columns_in_memory(there.original, {"numeric": ["income"]})
    assert shown["income"].max() == applied.data["income"].max()


def test_copies_are_looked_for_in_recoded_columns_that_have_no_role(plan: Any) -> None:  # noqa: F811
    raw, applied = files()
    known: dict[str, Any] = {"id": "pid", "seed": 1, "log": applied.log}
    known["scenario"] = sdc.Scenario(keys=["sex", "size"], thresholds={"copied_records": 0.9})
    pair = raw, applied.data
    expected, result = (quiet(sdc.check, *both, **known) for both in (pair, map(plan, pair)))
    assert expected.verdicts[0].value > 0.5
    assert [verdict.value for verdict in result.verdicts] == [verdict.value for verdict in expected.verdicts]


@pytest.mark.parametrize("source", ["log", None])
def test_values_of_a_recoded_column_are_counted_with_those_before(source: str | None, plan: Any) -> None:  # noqa: F811
    """No pass is taken for them; a missing value is one of them, whether it was missing before or made so."""
    raw, applied = files()
    raw = raw.with_columns(region=pl.when(pl.col("pid") % 7 > 0).then("region"))
    released = applied.data.with_columns(region=pl.when(pl.col("pid") % 7 > 0).then("region"))
    recodings = read_recodings(None, applied.log) if source else None
    pair = open_on_engines(open_files(plan(raw), plan(released)), KEYS, recodings=recodings).pair
    kept = {counted.by: counted.frame for counted in pair.memo[ROWS, 0]}
    assert kept.keys() == ({("age",), ("region",)} if source else {("age",)})
    for by, frame in kept.items():
        expected = count_by(pair.original, by, N).select(*by, SIZE)
        assert sorted(map(str, frame.rows())) == sorted(map(str, expected.rows())), by
