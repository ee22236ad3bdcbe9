"""Cells of two files that do not fit beside each other: in parts they give the same figures, on every engine."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import assert_same_figures, quiet
from engines.conftest import duckdb_relation, polars_plan
from sdckit.cells import pair as pair_module
from sdckit.cells.as_cells import tabulate_roles
from sdckit.cells.pair import Pair, keep_rows, open_files
from sdckit.cells.parted_pair import PartedPair, count_or_part
from sdckit.cells.plans import count_cells, dealt_words, lazy
from sdckit.cells.plans.lazy import LazyCells
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.workflow.opened_release import identical_keys

KEYS = ["age", "region", "size"]
N = 1500
MEASURES: dict[str, Callable[[Any], Any]] = {
    "replicated_uniques": lambda pair: sdc.replicated_uniques(pair, keys=KEYS),
    "identity_disclosure": lambda pair: sdc.identity_disclosure(pair, keys=KEYS),
    "attribution": lambda pair: sdc.correct_attribution_probability(pair, keys=KEYS, target="ill"),
    "attribution of two": lambda pair: sdc.correct_attribution_probability(pair, keys=KEYS, target=["ill", "job"]),
    "attribute_disclosure": lambda pair: sdc.attribute_disclosure(
        pair, keys=KEYS, target="ill", exclude_levels=["no"], exclude_missing_keys=["region"], max_cell=3
    ),
    "attribute_disclosure_table": lambda pair: sdc.attribute_disclosure_table(pair, keys=KEYS, targets=["ill", "job"]),
    "matching_risk": lambda pair: sdc.matching_risk(pair, known=KEYS[:2], synthetic=KEYS[2:], numeric=[]),
    "nothing known": lambda pair: sdc.matching_risk(pair, synthetic=KEYS, numeric=[]),
}
BY_GROUPS: dict[str, Callable[[Any, list[str]], Any]] = {
    "replicated_uniques": lambda pair, by: sdc.replicated_uniques(pair, keys=KEYS, by=by),
    "identity_disclosure": lambda pair, by: sdc.identity_disclosure(pair, keys=KEYS, by=by),
    "attribution": lambda pair, by: sdc.correct_attribution_probability(pair, keys=KEYS, target="ill", by=by),
    "attribution of two": lambda pair, by: sdc.cap(pair, keys=KEYS, target=["ill", "job"], by=by),
    "attribute_disclosure": lambda pair, by: sdc.attribute_disclosure(
        pair, keys=KEYS, target="ill", exclude_levels=["no"], exclude_missing_keys=["region"], max_cell=3, by=by
    ),
    "matching_risk": lambda pair, by: sdc.matching_risk(pair, known=KEYS[:2], synthetic=KEYS[2:], numeric=[], by=by),
}


def files(m: int = 1) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """An original with values missing, and releases of it: some values exchanged, in another order, NaN for missing."""
    rng = np.random.default_rng(7)
    columns = {
        "id": np.arange(N),
        "age": rng.integers(20, 50, N).astype(np.int16),
        "region": rng.choice(["north", "south", "naïve", "west"], N),
        "size": rng.choice([0.0, 0.5, 1.0, 2.5, 4.0], N),
        "ill": rng.choice(["yes", "no", "perhaps"], N, p=[0.1, 0.8, 0.1]),
        "job": rng.integers(0, 6, N),
    }
    lost = [
        pl.when(pl.Series(rng.random(N) < 0.02)).then(None).otherwise(pl.col(k)).alias(k) for k in columns if k != "id"
    ]
    original = pl.DataFrame(columns).with_columns(lost)
    releases = []
    for seed in range(m):
        moved = [
            pl.when(pl.Series(rng.random(N) < 0.1)).then(pl.col(k).shuffle(seed=seed)).otherwise(pl.col(k)).alias(k)
            for k in columns if k != "id"
        ]  # fmt: skip
        release = original.with_columns(moved).sample(fraction=1, shuffle=True, seed=seed)
        releases.append(release.with_columns(pl.col("age").cast(pl.Float32).fill_null(np.nan)))
    return original, releases


@pytest.fixture(params=["polars", "duckdb"])
def opened(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pair]:
    """Open files as plans of which neither cells nor columns fit."""

    def of(original: pl.DataFrame, releases: list[pl.DataFrame]) -> Pair:
        import duckdb

        connection = duckdb.connect()
        make = polars_plan if request.param == "polars" else lambda frame: duckdb_relation(frame, connection)
        monkeypatch.setattr(count_cells, "MOST_CELLS", 150)
        monkeypatch.setattr(lazy, "COLLECT_LIMIT", 100)
        return open_files(make(original), [*map(make, releases)], id="id")  # type: ignore[operator]

    return of


@pytest.mark.parametrize("m", [1, 2])
def test_figures_are_those_of_memory(m: int, opened: Callable[..., Pair]) -> None:
    original, releases = files(m)
    here = open_files(original, releases, id="id")
    expected = {name: quiet(measure, here) for name, measure in MEASURES.items()}
    there = opened(original, releases)
    for name, measure in MEASURES.items():
        result = quiet(measure, there)
        assert isinstance(result.pair, PartedPair), name
        assert result.pair.n_parts > 3
        assert_same_figures(expected[name].to_dict()["figures"], result.to_dict()["figures"], name)
        assert_same_figures(list(expected[name].per_release), list(result.per_release), name)
    by_cap, in_parts = expected["attribution"], quiet(MEASURES["attribution"], there)
    edges = [0.0, 0.2, 0.7, 1.0]
    for a, b in zip(by_cap.cap_histogram(edges), in_parts.cap_histogram(edges), strict=True):
        assert a.tolist() == b.tolist()
    matched, parted = expected["matching_risk"], quiet(MEASURES["matching_risk"], there)
    assert matched.risk_counts() == parted.risk_counts()
    assert matched.high_risk_counts(0.3) == parted.high_risk_counts(0.3)
    checks = [quiet(MEASURES["attribute_disclosure"], pair).checks for pair in (here, there)]
    assert checks[0] == checks[1]


@pytest.mark.parametrize("by", [["job"], ["region", "ill"]])
@pytest.mark.parametrize("how", ["words", "grouped"])
def test_subgroups_are_those_of_memory(
    by: list[str], how: str, opened: Callable[..., Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of columns that are keys, targets or neither; as words, and grouped and joined by the engine."""
    original, releases = files(2)
    if how == "grouped":
        monkeypatch.setattr(dealt_words, "MOST_BITS", 8)
    for name, measure in BY_GROUPS.items():
        there = opened(original, releases)
        expected, found = (quiet(measure, pair, by) for pair in (open_files(original, releases, id="id"), there))
        assert isinstance(found.pair, PartedPair), name
        assert (found.pair.dealt is None) == (how == "grouped")
        assert_same_figures(expected.to_dict()["figures"], found.to_dict()["figures"], name)
        rows = [pl.DataFrame(result.by_group).sort(by).to_dict(as_series=False) for result in (expected, found)]
        assert sum(rows[0]["n"]) == N
        assert_same_figures(*rows, name)
        with pytest.raises(sdc.DataError, match="pickle"):
            _ = pickle.loads(pickle.dumps(found)).by_group


def test_columns_that_were_left_are_known(opened: Callable[..., Pair]) -> None:
    """Of a scenario's keys, those that every release left are known; of a release like the original that is told."""
    original, (release,) = files()
    same = release.drop("region").join(original.select("id", "region"), on="id")
    scenario = sdc.Scenario(keys=KEYS, numeric=[])
    expected = quiet(sdc.matching_risk, open_files(original, same, id="id"), scenario=scenario, numeric=[])
    result = quiet(sdc.matching_risk, opened(original, [same]), scenario=scenario, numeric=[])
    assert [variable.role for variable in result.variables] == [variable.role for variable in expected.variables]
    assert_same_figures(expected.to_dict()["figures"], result.to_dict()["figures"])
    twice = quiet(sdc.matching_risk, opened(original, [original]), known=KEYS, numeric=[])
    assert "released" in twice.notes


def test_what_parts_do_not_tell_is_refused(opened: Callable[..., Pair]) -> None:
    original, releases = files()
    there = opened(original, releases)
    result = quiet(MEASURES["replicated_uniques"], there)
    with pytest.raises(sdc.DataError, match="nothing of single records"):
        _ = result.records
    with pytest.raises(sdc.DataError, match="numbers within intervals"):
        quiet(sdc.matching_risk, there, known=KEYS[:2], synthetic=["size"], numeric=["size"])
    with pytest.raises(sdc.DataError, match="missing values that match any"):
        quiet(sdc.matching_risk, there, known=KEYS[:2], synthetic=["size"], numeric=[], missing="wildcard")
    alone = opened(original, [releases[0].drop("ill")])
    with pytest.raises(sdc.DataError, match="too much from a plan"):  # subgroups of a column that a release lacks
        quiet(sdc.replicated_uniques, alone, keys=KEYS, by="ill")


def test_intervals_are_refused_in_parts_but_for_targets_that_are_counted(opened: Callable[..., Pair]) -> None:
    original, releases = files()
    there, drawn = opened(original, releases), {"interval": "bootstrap", "seed": 3}
    for name in ("replicated_uniques", "correct_attribution_probability", "attribute_disclosure"):
        how: dict[str, Any] = {"target": "ill"} if "tri" in name else {}
        with pytest.raises(sdc.DataError, match="too much from a plan"):
            quiet(getattr(sdc, name), there, keys=KEYS, **how, **drawn)
    how = {"known": KEYS[:2], "synthetic": KEYS[2:], "numeric": []}
    expected = quiet(sdc.matching_risk, open_files(original, releases, id="id"), **how, **drawn).intervals
    assert_near(expected, quiet(sdc.matching_risk, there, **how, **drawn).intervals)


@pytest.mark.parametrize("name", ["matching_risk", "identity_disclosure", "attribution", "attribute_disclosure"])
def test_intervals_of_cells_draw_the_records_that_they_stand_for(name: str) -> None:
    """Not cells: a rare one would be drawn as often as one of many records."""
    original, _ = files()
    release = original.with_columns(age=pl.col("age") // 8, size=pl.col("size").fill_null(0).clip(0, 1))
    how: dict[str, Any] = {"id": "id", "interval": "bootstrap", "seed": 3}
    how |= {"known": ["region"], "synthetic": ["job"], "numeric": []} if name == "matching_risk" else {"keys": KEYS[1:]}
    how |= {"target": "ill"} if "attrib" in name else {}
    measure = getattr(sdc, "cap" if name == "attribution" else name)
    here, there = (quiet(measure, *pair, **how) for pair in ((original, release), (original.lazy(), release.lazy())))
    assert there.pair.times is not None
    assert_near(here.intervals, there.intervals)


def assert_near(expected: dict[str, tuple[float, float]], intervals: dict[str, tuple[float, float]]) -> None:
    """Ends of intervals that other draws gave: they lie within half of their width of each other."""
    assert expected.keys() == intervals.keys()
    for name, ends in expected.items():
        near = 0.5 * (ends[1] - ends[0]) + 1e-12
        assert intervals[name] == pytest.approx(ends, abs=near, nan_ok=True), name


def test_keys_of_few_values_make_no_parts(opened: Callable[..., Pair]) -> None:
    """All cells of a key lie in one part: one that does not fit is refused by number."""
    original, releases = files()
    with pytest.raises(sdc.DataError, match="nor do they fall into parts that fit"):
        quiet(sdc.attribute_disclosure, opened(original, releases), keys=["job"], target="id")


def test_nan_of_parquet_is_missing(tmp_path: Path) -> None:
    """Bounds of a column of Parquet leave NaN out."""
    original, releases = files()
    for name, frame in (("a", original), ("b", releases[0])):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    first = sdc.scan_file(tmp_path / "a.parquet", engine="duckdb")
    second = sdc.scan_file(tmp_path / "b.parquet", engine="duckdb", beside=first)
    expected = quiet(sdc.k_anonymity, releases[0], keys=KEYS).to_dict()["figures"]
    assert_same_figures(expected, quiet(sdc.k_anonymity, second, keys=KEYS).to_dict()["figures"])


def test_no_rows_are_joined_to_see_whether_keys_were_touched(
    opened: Callable[..., Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where words that were dealt out tell it."""
    original, releases = files()
    there = opened(original, [releases[0], original])
    assert isinstance(count_or_part(there, {"keys": KEYS, "sensitive": ["ill"]}), PartedPair)
    monkeypatch.setattr(count_cells, "MOST_CELLS", 10**6)
    monkeypatch.setattr(pair_module, "count_together", None)
    (note,) = identical_keys(there, KEYS, aligned=True)
    assert note.startswith("release 2 has the keys of the original")


def test_what_does_not_fit_alone_is_not_counted_beside_others(
    opened: Callable[..., Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    original, releases = files()
    there = opened(original, releases)
    scenario = sdc.Scenario(keys=["region", "job"], sensitive=["ill", "age"])
    cells = tabulate_roles(there.released[0], resolve_roles(scenario=scenario), by_levels=True)
    assert isinstance(cells, LazyCells)
    assert cells.too_many == ("region", "job", "ill", "age")
    keep_rows(there, 1, cells)
    monkeypatch.setattr(pair_module, "count_file", None)
    assert isinstance(count_or_part(there, {"keys": scenario.all_keys, "sensitive": scenario.sensitive}), PartedPair)
