"""Two originals that differ in one value and give the same release: what goes out with it is the same to the byte.

Whoever knows everything but that value has the release, and what the office puts beside it. A difference between two
such files would tell which of the two it was.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.errors import DataError
from sdckit.report.chapters.map import plain_map

SECRET = "00" * 32
KEYS = ["sex", "age", "region"]
TWO = sdc.Scenario(
    intruders={"neighbour": ["sex", "age"], "colleague": ["age", "region", "year"]}, household="home", magnitudes=[],
    sensitive=["ill"], weight="w", identifiers=["note"], thresholds={"k": 3, "l": 2, "risk": 0.2},
)  # fmt: skip
PANEL = sdc.Scenario(
    keys=KEYS, household="none", magnitudes=["income"], sensitive=["ill"], person="home", missing="category",
    insensitive=["*"], insensitive_because="made up", release="public-use",
)  # fmt: skip
SUPPRESSED = {"method": "suppress_above", "risk": "hide", "threshold": 0.5, "columns": ["age", "ill"]}
HIDDEN: dict[str, tuple[list[dict[str, Any]], tuple[str, Any]]] = {
    "taken out for k": ([{"method": "local_suppression", "keys": KEYS, "k": 3}], ("age", "c")),
    "the only one with its value": ([SUPPRESSED], ("age", "nobody else is so old")),
    "beyond a limit": ([{"method": "top_bottom_code", "column": "income", "top": 5000}], ("income", 999_999.0)),
    "in a group that shows its median": (
        [{"method": "microaggregate", "columns": ["income"], "how": "individual_ranking", "measure": "median"}],
        ("income", 999_999.0)
    ),
    "rounded": ([{"method": "round_to", "column": "income", "base": 1000}], ("income", 29_300.0)),
    "in a group": ([{"method": "recode", "column": "region", "groups": {"a": ["N", "S"], "b": ["E", "W"]}}],
                   ("region", "S")),
    "in a band": ([{"method": "recode", "column": "year", "bands": [1800, 1940, 2000]}], ("year", 1801)),
    "in a column that is left out": ([{"method": "drop_identifiers", "columns": ["note"]}], ("note", "n1")),
}  # fmt: skip


def original(how: str) -> pl.DataFrame:
    """A file whose record 77 has a value that the recipe hides."""
    rng, n = np.random.default_rng(1), 200
    frame = pl.DataFrame({
        "sex": rng.choice(["f", "m"], n), "age": rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1]),
        "region": rng.choice(list("NSEW"), n, p=[0.5, 0.3, 0.15, 0.05]),
        "ill": rng.choice(["no", "flu", "hiv"], n, p=[0.7, 0.25, 0.05]), "income": rng.lognormal(8, 1, n).round(0),
        "year": rng.integers(1930, 2000, n), "home": np.repeat(np.arange(n // 2), 2), "w": rng.integers(3, 8, n) / 1.0,
        "hide": (np.arange(n) == 77) * 1.0, "note": [f"n{row}" for row in range(n)],
    })  # fmt: skip
    at_77 = {"rounded": ("income", 28_600.0), "in a group": ("region", "N"), "in a band": ("year", 1930),
             "beyond a limit": ("income", 6000.0),
             "in a group that shows its median": ("income", 99_999.0)}  # fmt: skip
    return frame if how not in at_77 else with_value(frame, *at_77[how])


def with_value(frame: pl.DataFrame, column: str, value: Any) -> pl.DataFrame:
    own = pl.lit(value, dtype=frame.schema[column])
    return frame.with_columns(pl.when(pl.int_range(pl.len()) == 77).then(own).otherwise(column).alias(column))


def what_goes_out(tmp_path, frame: pl.DataFrame, steps: list[dict[str, Any]]) -> dict[str, bytes]:
    """Release, recipe, scenario and public report, as the office hands them out."""
    with quiet():
        made = sdc.Recipe(steps).apply(frame, watch=False, secret=SECRET)
        files = {"recipe": made.recipe.to_toml().encode()}
        for ending in ("csv", "parquet", "arrow", "sav"):
            path = tmp_path / f"release.{ending}"
            path.unlink(missing_ok=True)
            sdc.write_file(made.data, path)
            files[ending] = path.read_bytes() if ending != "sav" else path.read_bytes()[120:]  # time of writing before
        for name, scenario, ending, by in (("two", TWO, "html", ["sex"]), ("panel", PANEL, "md", None)):
            own = scenario.of_release(made.data.columns)
            path = tmp_path / f"report.{ending}"
            sdc.assess(made.data, scenario=own, by=by).report(path, public=True)
            files[name], files[f"scenario of {name}"] = path.read_bytes(), own.to_toml().encode()
    return files


@pytest.mark.parametrize("how", HIDDEN)
def test_what_goes_out_beside_a_release_follows_from_the_release(tmp_path, how: str) -> None:
    steps, (column, value) = HIDDEN[how]
    first = original(how)
    second = with_value(first, column, value)
    assert not second.equals(first)
    mine, other = (what_goes_out(tmp_path, frame, steps) for frame in (first, second))
    assert mine["csv"] == other["csv"]  # else they are no twins
    assert [name for name in mine if mine[name] != other[name]] == []


def test_a_public_report_does_not_depend_on_documents_of_the_original(tmp_path) -> None:
    """Beside these its figures were coarser or finer by what they print."""
    frame, scenario = original("rounded"), PANEL.changed(person=None, release=None, thresholds={"k": 3})
    with quiet():
        made = sdc.Recipe(HIDDEN["rounded"][0]).apply(frame, watch=False).data
        (tmp_path / "room").mkdir()
        sdc.assess(frame, made, scenario=scenario, seed=1).to_json(tmp_path / "room" / "both.json")
        alone = sdc.assess(made, scenario=scenario.of_release(made.columns))
        with pytest.raises(DataError, match="beside no other document"):
            alone.report(tmp_path / "public.md", public=True, beside=tmp_path / "room")
        texts = [
            (alone.report(tmp_path / "a.md", beside=beside), (tmp_path / "a.md").read_text(encoding="utf-8"))[1]
            for beside in (None, tmp_path / "room")
        ]
    assert texts[0] != texts[1]  # where it makes no difference any more, it need not be refused


PAIRED = {"x or y": ["x", "y"], "z": ["z"]}


def small_groups(*sizes: int) -> pl.DataFrame:
    """Sixty records in six groups by two keys; three of them have these sizes."""
    groups = [*itertools.product("xyz", "p")], [*itertools.product("xyz", "q")]
    rows = [group for few, many, size in zip(*groups, sizes, strict=True)
            for group in [few] * size + [many] * (20 - size)]  # fmt: skip
    return pl.DataFrame(rows, schema=["a", "b"], orient="row")


@pytest.mark.parametrize("risk", ["below_k", "sample_uniques"])
def test_a_map_leaves_three_numbers_of_records_in_small_groups(risk: str) -> None:
    """None, one, two or three pairs, one and none alone: which k and which grouping change something is not told."""
    scenario = sdc.Scenario(keys=["a", "b"], household="none", magnitudes=[], sensitive=[], thresholds={"k": 3})
    recipe = sdc.Recipe([{"method": "recode", "column": "a", "groups": PAIRED}, {"method": "local_suppression"}])
    grid = {"2.k": [2, 3], "1.groups": [PAIRED, {"x": ["x"], "y": ["y"], "z": ["z"]}]}
    maps = set()
    for sizes in ((0, 0, 0), (0, 0, 2), (0, 2, 2), (0, 1, 2), (2, 2, 2)):
        tried = sdc.explore(
            small_groups(*sizes), recipe, grid=grid, scenario=scenario, seed=1, risk_figure=risk, workers=1
        )
        printed = plain_map(tried)
        assert {point["risk"]["text"] for point in printed["points"]} == {"<20"}
        maps.add(json.dumps([(point["risk"]["text"], point["loss"]["text"]) for point in printed["points"]]))
    assert len(maps) == 1


def test_what_a_method_counted_stands_in_the_internal_log_alone() -> None:
    """One record below k, one value taken out: the change and the log for others say how it was called."""
    frame = original("taken out for k")
    with quiet():
        steps = [*HIDDEN["in a group"][0], {"method": "local_suppression", "keys": KEYS, "k": 3}]
        log = sdc.Recipe(steps).apply(frame, watch=False).log
    counted = {"at_risk", "at_risk_unchanged", "n_implied", "lower_bound", "optimal"}
    assert counted <= {*log.steps[-1].parameters}
    for plain in (log.steps[-1].to_dict(), log.to_dict()["steps"][-1]):
        assert counted.isdisjoint(plain["parameters"])
        assert {"keys", "k"} <= {*plain["parameters"]}
    assert counted <= {*log.to_dict(internal=True)["steps"][-1]["parameters"]}
