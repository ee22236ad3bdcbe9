"""Rows on an engine belong together by the log of a recipe, without an id, as in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import quiet
from every_measure import assert_close, figures
from recipes import SECRET
from sdckit.cells.pair import ROW, open_files
from sdckit.cli.app import run
from sdckit.workflow.opened_release import number_by_log, without_numbers
from sdckit.workflow.recoded_original.published_recodings import read_recodings
from workflow.recoded_original.test_recoded_plans import SCENARIO, N, files

ORDERS: dict[str, list[dict[str, Any]]] = {
    "kept": [],
    "random": [{"method": "random_order"}],
    "of households": [{"method": "random_order", "household": "home"}, {"method": "random_order"}],
}


@pytest.fixture(scope="module", params=ORDERS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An original, and its release without an id, in files that nobody changes."""
    raw = files()[0].drop("pid")
    scenario = SCENARIO.changed(aligned=False)
    steps = [
        {"method": "recode", "column": "age", "bands": [18, 30, 45, 60, 80]},
        {"method": "pram", "columns": ["size"], "pd": 0.8},
        *ORDERS[request.param],
    ]
    # The same release each time: a share just between two prints may be either where sums are added up otherwise.
    applied = quiet(sdc.Recipe(steps).apply, raw, scenario=scenario, seed=1, secret=SECRET)
    folder = tmp_path_factory.mktemp("made")
    places = folder / "original.parquet", folder / "released.parquet"
    for frame, place in zip((raw, applied.data), places, strict=True):
        sdc.write_file(frame, place)
    return places, applied.log, scenario


@pytest.fixture(scope="module")
def expected(made: Any) -> Any:
    """What is measured of the two in memory."""
    places, log, scenario = made
    return quiet(sdc.assess, *map(sdc.read_file, places), scenario=scenario, log=log, seed=1)


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_figures_and_verdicts_are_those_of_memory(engine: str, made: Any, expected: Any) -> None:
    places, log, scenario = made
    plan = sdc.scan_file(places[0], engine=engine)
    release = sdc.scan_file(places[1], engine=engine, beside=plan if engine == "duckdb" else None)
    result = quiet(sdc.assess, plan, release, scenario=scenario, log=log, seed=1)
    assert result.aligned
    assert result.id is None
    assert [(verdict.name, verdict.holds) for verdict in result.verdicts] == [
        (verdict.name, verdict.holds) for verdict in expected.verdicts
    ]
    here, there = expected["default"], result["default"]
    assert here.results.keys() == there.results.keys()
    for name in {*here.results} - {"recoverable_values"}:  # whose guesses are drawn row by row
        assert_close(figures(here[name]), figures(there[name]), name)
    assert ROW not in str(result.to_dict())
    assert there["matching_risk"].pair.times is not None


def test_the_command_needs_no_id(made: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (original, released), log, scenario = made
    paths = [tmp_path / name for name in ("scenario.toml", "log.json")]
    paths[0].write_text(scenario.to_toml(), encoding="utf-8")
    log.write(paths[1])
    given = [str(original), "--released", str(released), "--scenario", str(paths[0]), "--log", str(paths[1])]
    told = []
    for engine in ("memory", "polars"):
        code = quiet(run, ["check", *given, "--engine", engine])
        verdicts, _, looked_at = capsys.readouterr().out.partition("What was looked at")
        told.append((code, verdicts))
        assert "sex, region  a key" in looked_at  # on an engine by fewer measures
    assert told[0] == told[1]
    assert "no order" not in told[0][1]


def test_where_the_log_does_not_tell_nothing_is_numbered(made: Any) -> None:
    places, log, _ = made
    opened = open_files(*map(sdc.scan_file, places))
    recodings = read_recodings(None, log)
    numbered, _ = number_by_log(opened, recodings, identifiers=())
    assert numbered.id == ROW
    assert without_numbers(numbered.original).collect_schema().names() == opened.original.collect_schema().names()
    assert number_by_log(opened, None, identifiers=())[0] is opened
    named = open_files(*map(sdc.scan_file, places), id="home")
    assert number_by_log(named, recodings, identifiers=())[0] is named
    made_here = open_files(*(sdc.read_file(place).lazy() for place in places))  # plans of no file
    assert number_by_log(made_here, recodings, identifiers=())[0] is made_here
    other = open_files(pl.scan_parquet(places[0]).head(N - 1), pl.scan_parquet(places[1]))
    with pytest.raises(sdc.DataError, match="the log is about another file"):
        number_by_log(other, recodings, identifiers=())


def test_places_of_rows_are_no_clue_to_what_a_release_gives_back() -> None:
    """They bring rows together here and do not go out; of a column of another name the intruder knows it."""
    whole = pl.DataFrame(
        {ROW: range(400), "region": [f"r{i // 100}" for i in range(400)], "x": [i % 7 for i in range(400)]}
    )
    blank = whole.with_columns(region=pl.when(pl.col(ROW) % 10 != 3).then("region")).sample(
        fraction=1.0, shuffle=True, seed=1
    )
    for name, restored in ((ROW, 0), ("pid", 40)):
        pair = open_files(*(frame.rename({ROW: name}) for frame in (whole, blank)), id=name)
        found = quiet(sdc.recoverable_values, pair, keys=["region"], id=name, guess=False)
        assert (found.touched, found.right) == (40, restored)
