"""Measures as tables: exact figures, undefined ones as words, within 80 columns."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console, Group

import sdckit as sdc
from draw import quiet
from sdckit.cli.measure_tables import measure_tables, print_measure

MARKER = "Zq7Qx"


def survey(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(11)
    region = rng.choice(["north", "south", "east"], n).tolist()
    region[5] = MARKER
    columns: dict[str, Any] = {
        "region": region, "x": rng.lognormal(5, 1, n).round(2), "same": [1.0] * n, "one": ["y"] * n,
        **{f"k{i}": rng.integers(0, 3, n) for i in range(4)},
    }  # fmt: skip
    return pl.DataFrame(columns)


KEYS = ["region", "k0", "k1", "k2", "k3"]


def printed(result: Any) -> str:
    stream = io.StringIO()
    Console(file=stream, width=80).print(Group(*measure_tables(result.measure, result)))
    return stream.getvalue()


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    frame = survey()
    with quiet():
        return {
            "suda": sdc.suda(frame, keys=KEYS),
            "population_risk": sdc.population_risk(frame, keys=KEYS, sampling_fraction=0.1),
            "population_uniques": sdc.population_uniques(frame, keys=KEYS, sampling_fraction=0.1),
            "risky_cells": sdc.risky_cells(frame, keys=KEYS),
            "outliers": sdc.outliers(frame, numeric=["x", "same"]),
            "k_map": sdc.k_map(frame, pl.concat([frame, frame]), keys=KEYS),
            "k_map_modelled": sdc.k_map(frame, keys=KEYS, sampling_fraction=0.1),
            "delta_presence": sdc.delta_presence(
                frame, pl.concat([frame, frame]), keys=KEYS, limits=(0.5, 0.6)
            ),
        }


def test_every_figure_fits_and_no_value_is_shown(results: dict[str, Any]) -> None:
    for name, result in results.items():
        text = printed(result)
        assert max(map(len, text.splitlines())) <= 80, name
        assert MARKER not in text, name


def test_the_figures_are_exact(results: dict[str, Any]) -> None:
    for name, figures in {
        "suda": [results["suda"].pairs, *results["suda"].msu_counts.values()],
        "risky_cells": [results["risky_cells"].records_affected],
        "outliers": [results["outliers"].n_outliers],
    }.items():
        text = printed(results[name])
        assert all(f"{figure:,}" in text for figure in figures), name
    assert f"{results['population_uniques'].zayatz:,.0f}" in printed(results["population_uniques"])


def test_undefined_figures_are_dashes(results: dict[str, Any]) -> None:
    assert (
        next(line.split() for line in printed(results["outliers"]).splitlines() if "same" in line)[1] == "–"
    )
    with quiet():
        alone = sdc.suda(survey(), keys=["one"])
        joint = sdc.outliers(survey(), numeric=["x", "same"], method="robust_mahalanobis")
    assert "–" in printed(alone)
    assert "undefined" in printed(joint)


def test_a_joint_distance_has_no_counts_by_variable() -> None:
    frame = survey().with_columns(y=pl.int_range(pl.len()) % 17)
    text = printed(sdc.outliers(frame, numeric=["x", "y"], method="robust_mahalanobis", seed=1))
    assert "extreme values" not in text
    assert "–" not in text


def test_expected_records_are_told_from_counted_ones(results: dict[str, Any]) -> None:
    counted, expected = printed(results["k_map"]), printed(results["k_map_modelled"])
    assert "Largest k that holds: 2" in counted
    assert "records expected" in expected
    assert "Largest k" not in expected
    assert "Every share from 0.5 to 0.6: holds." in printed(results["delta_presence"])


def test_a_note_is_told_once() -> None:
    with quiet():
        one = sdc.population_uniques(survey().head(1), keys=["k0"], sampling_fraction=0.1)
    assert printed(one).count("no two records share a key") == 1


def test_at_most_fifteen_combinations(results: dict[str, Any]) -> None:
    assert len(results["risky_cells"].table) == 25
    assert "the first 15 of 25" in printed(results["risky_cells"])


def test_notes_are_told(results: dict[str, Any]) -> None:
    assert "Note: estimates from class sizes alone" in printed(results["population_uniques"])


def test_a_measure_with_tables_of_its_own_is_left_alone(results: dict[str, Any]) -> None:
    assert measure_tables("key_frequencies", results["suda"]) == []


def test_a_command_names_its_file(results: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    print_measure("survey.csv", results["suda"])
    told = capsys.readouterr().out
    assert "survey.csv: 400 records" in told
    assert "no key value is missing" in told
    print_measure("survey.csv", results["outliers"])
    assert "survey.csv: 400 records" in capsys.readouterr().out
