"""Releases on an engine that belong to the same people: linked, and judged, as in memory; beyond it not judged."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.differencing.test_linking_columns import waves
from engines.conftest import Maker
from plans import duckdb_plans
from sdckit.attacks.differencing import release_ledger
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.workflow.verdicts import judge_differencing, judge_linked

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # PySpark's about pandas 3
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
KEYS, ALL = ["sex", "region"], {"keys": ["sex", "region"], "sensitive": ["school"]}
LIMITS = Thresholds(k=30, risk=0.05, l=3, differencing=0.01)


def texts(file: pl.DataFrame) -> pl.DataFrame:
    """A release with texts, and the household of each record, whose office's number is left out."""
    return file.select(
        pl.format("r{}", "region").alias("region"), pl.col("school").cast(pl.String), "sex", "age", "income", "hours",
        (pl.int_range(pl.len()) // 3).alias("home"), w=1.0 + pl.col("sex"), born=pl.date(1950, 1, pl.col("sex") + 1),
    )  # fmt: skip


@pytest.fixture(scope="module")
def two() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two waves; of the second some schools are hidden."""
    first, second = map(texts, waves(1, 900))
    return first, second.with_columns(school=pl.when(pl.int_range(pl.len()) >= 45).then("school"))


@pytest.fixture(params=["polars", "duckdb", "spark"])
def plans(request: pytest.FixtureRequest) -> Maker:
    """Plans of one engine, those of DuckDB on one connection."""
    if request.param == "spark":
        session = request.getfixturevalue("spark")
        return lambda frame: session.createDataFrame(frame.to_arrow())
    return duckdb_plans() if request.param == "duckdb" else pl.DataFrame.lazy


def judged(found: Any) -> list[tuple[str, str, str]]:
    """The verdicts, with their words."""
    verdicts = [judge_differencing(0.01, "", found, {}), *judge_linked(LIMITS, "", found)]
    return [(verdict.name, verdict.word, verdict.sentence) for verdict in verdicts]


def assert_same(found: Any, expected: Any) -> None:
    """Every figure, record by record, and every word."""
    assert found.to_dict() == expected.to_dict()
    assert judged(found) == judged(expected)
    assert found.records.to_pydict() == expected.records.to_dict(as_series=False)
    assert (found.joint is None) == (expected.joint is None)
    for name in ("linked", "frequency", "risk") if expected.joint is not None else ():
        assert np.array_equal(getattr(found.joint, name), getattr(expected.joint, name))


def test_an_earlier_file_on_an_engine_links_as_in_memory(two: tuple[pl.DataFrame, pl.DataFrame], plans: Maker) -> None:
    first, second = two
    scenario = sdc.Scenario(**ALL, weight="w", household="home", identifiers=["born"])
    expected = sdc.differencing(second, earlier=first, scenario=scenario)
    assert expected.linked > 500
    assert "by near values" in expected.entries[0].together
    assert {word for _, word, _ in judged(expected)} == {"exceeded", "holds"}
    assert_same(sdc.differencing(plans(second), earlier=plans(first), scenario=scenario), expected)
    assert_same(sdc.differencing(plans(second), earlier=first, scenario=scenario), expected)


def test_a_ledger_alone_and_beside_its_files_says_as_in_memory(
    two: tuple[pl.DataFrame, pl.DataFrame], plans: Maker, tmp_path: Path
) -> None:
    first, second = (file.drop("home", "w", "born") for file in two)
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "key", survey="Survey")
    ledger = ledger.add(first, name="wave 1", **ALL)
    alone = sdc.differencing(second, ledger=ledger, **ALL)
    assert "the earlier file itself tells (--earlier FILE" in alone.notes["linked"]
    assert_same(sdc.differencing(plans(second), ledger=ledger, **ALL), alone)
    expected = sdc.differencing(second, ledger=ledger.beside({"wave 1": first}), **ALL)
    assert (expected.singly, expected.linked > 500) == (False, True)
    assert_same(sdc.differencing(plans(second), ledger=ledger.beside({"wave 1": plans(first)}), **ALL), expected)
    few = second.select("region", "school", "sex")
    kept = sdc.differencing(few, ledger=ledger, **ALL)
    assert (kept.singly, kept.linked) == (False, 0)
    assert_same(sdc.differencing(plans(few), ledger=ledger, **ALL), kept)


def test_columns_of_lists_are_said_to_stand_beside_the_others(two: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """In both files they might link, and nobody tries them; also where an engine would misread the name."""
    first, second = (file.with_columns(visits=pl.concat_list("age", "hours")) for file in two)
    second = second.sample(fraction=1.0, shuffle=True, seed=1)
    for name in ("visits", "^a.*$"):
        one, other = (file.rename({"visits": name}) for file in (first, second))
        expected = sdc.differencing(other, earlier=one, keys=KEYS)
        assert "columns hold other codes, or lists" in expected.notes["linked"]
        assert_same(sdc.differencing(other.lazy(), earlier=one.lazy(), keys=KEYS), expected)
        only = sdc.differencing(other, earlier=one.drop(name), keys=KEYS)
        assert_same(sdc.differencing(other.lazy(), earlier=one.drop(name).lazy(), keys=KEYS), only)
    with pytest.raises(sdc.SdcError, match="visits"):
        sdc.differencing(second.lazy(), earlier=first, keys=["visits"])


def test_beyond_the_memory_it_is_not_judged_and_said_how_many_fit(
    two: tuple[pl.DataFrame, pl.DataFrame], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = two
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "key", survey="Survey")
    ledger = ledger.add(first, name="wave 1", **ALL)
    monkeypatch.setattr(release_ledger, "room_of_search", lambda _: 900 * 9 * 90)  # of half of the values of both
    for known in ({"earlier": {"wave 1": first.lazy()}}, {"ledger": ledger.beside({"wave 1": first.lazy()})}):
        for release, told in ((second.lazy(), ["the release", "wave 1"]), (second, ["wave 1"])):
            found = sdc.differencing(release, **ALL, **known)
            verdict = judge_differencing(1.0, "", found, {})
            assert verdict.word == "not judged"
            for name in told:
                words = f"up to 450 records of 9 columns fit here to be searched, and {name} has more: let fewer "
                assert f"{words}columns go out, or use a machine with more memory" in verdict.sentence
            assert "other codes" not in verdict.sentence
            assert "--earlier FILE" not in verdict.sentence
    alone = sdc.differencing(second.lazy(), ledger=ledger, **ALL)
    assert "fit here to be searched, and the release has more" in alone.notes["linked"]
    assert "--earlier FILE" in alone.notes["linked"]
    monkeypatch.setattr(release_ledger, "room_of_search", lambda _: None)
    monkeypatch.setattr(release_ledger, "MOST_SEARCHED", 900 * 9)
    found = sdc.differencing(second.lazy(), earlier={"wave 1": first.lazy()}, **ALL)
    words = "up to 900 records of 9 columns are searched, and wave 1 and the release have more together"
    assert words in found.notes["linked"]
    assert sdc.differencing(second, earlier={"wave 1": first}, **ALL).notes["linked"] == found.notes["linked"]
    monkeypatch.setattr(release_ledger, "MOST_SEARCHED", 900)
    found = sdc.differencing(second.lazy(), earlier={"wave 1": first.lazy()}, **ALL)
    assert (
        "up to 100 records of 9 columns are searched, and the release has more: let fewer columns go out"
        in found.notes["linked"]
    )


def test_as_much_memory_as_is_said_opens_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    wave = pl.DataFrame({f"c{at}": rng.integers(0, 3, 12_000) for at in range(26)})
    for at, file in enumerate((wave, wave.sample(fraction=1.0, shuffle=True, seed=1))):
        file.write_parquet(tmp_path / f"{at}.parquet")

    def said(memory: str) -> Any:
        first = sdc.scan_file(tmp_path / "0.parquet", engine="duckdb", memory=memory)
        second = sdc.scan_file(tmp_path / "1.parquet", engine="duckdb", beside=first)
        return sdc.differencing(second, earlier=first, keys=["c0", "c1"])

    found = said("500MB")
    assert judge_differencing(1.0, "", found, {}).word == "not judged"
    told = re.search(r'about memory="(\d[\d.]*GB)"', found.notes["linked"])
    assert told is not None
    opened = said(told[1])
    assert (opened.singly, opened.linked) == (False, 12_000)
