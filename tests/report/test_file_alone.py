"""What follows from the file alone is printed the same, whatever weight or sampling fraction is declared.

Two documents that print it differently tell more together than each of them, such as that there is exactly one pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.report.formats.write import plain_document

DECLARED: tuple[Mapping[str, Any], ...] = ({}, {"sampling_fraction": 0.01}, {"sampling_fraction": 0.3}, {"weight": "w"})
# What a weight or a fraction is about: risks, and what is estimated of the population.
OF_RISKS = {"individual_risk", "risk_without", "population_risk", "population_uniques", "k_map", "dis"}
ALWAYS = {"key_frequencies.sample_uniques", "k_anonymity.violations.2", "l_diversity.s.violations.distinct.2"}


def survey(seed: int, *, gaps: bool) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(50, 140))
    keys = {f"k{number}": rng.integers(0, int(rng.integers(2, 9)), n) for number in range(int(rng.integers(1, 4)))}
    weight = rng.uniform(1, 50, n).round(1)
    home = np.sort(rng.integers(0, n // 2, n))
    frame = pl.DataFrame({**keys, "s": rng.integers(0, 3, n), "w": weight, "home": home})
    holes = pl.Series(rng.random(n) < 0.1)
    return frame.with_columns(k0=pl.when(holes).then(None).otherwise("k0")) if gaps else frame


def figures(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every printed figure but those of risks, by its place."""
    if isinstance(tree, Mapping) and "text" in tree and "value" in tree:
        yield path, str(tree["text"])
    elif isinstance(tree, Mapping):
        for name, value in tree.items():
            if str(name).removesuffix("_category") not in OF_RISKS:
                yield from figures(value, f"{path}.{name}" if path else str(name))
    elif isinstance(tree, list | tuple):
        for number, value in enumerate(tree):
            yield from figures(value, f"{path}.{number}")


def assessed(frame: pl.DataFrame, **declared: Any) -> sdc.Assessment:
    keys = [name for name in frame.columns if name.startswith("k")]
    scenario = sdc.Scenario(keys=keys, sensitive=["s"], thresholds={"k": 3, "l": 2}, **declared)
    with quiet():
        return sdc.assess(frame, scenario=scenario, measures=["suda", "risky_cells"])


def printed(assessment: sdc.Assessment, beside: Path | None = None) -> dict[str, str]:
    return dict(figures(plain_document(assessment, beside=beside)["intruders"][0]))


@pytest.mark.parametrize("seed", range(8))
def test_figures_of_the_file_alone_do_not_depend_on_weights(seed: int) -> None:
    frame = survey(seed, gaps=seed % 3 == 1)
    homes = {"household": "home"} if seed % 3 == 2 else {}
    census, *others = (printed(assessed(frame, **homes, **declared)) for declared in DECLARED)
    assert census.keys() >= ALWAYS
    for document in others:
        assert {place: document[place] for place in census.keys() & document.keys()} == {
            place: census[place] for place in census.keys() & document.keys()
        }


@pytest.mark.parametrize("seed", [2, 7])
def test_beside_a_document_of_the_same_keys_they_are_printed_as_there(seed: int, tmp_path: Path) -> None:
    frame = survey(seed, gaps=True)
    assessed(frame).to_json(tmp_path / "census.json")
    later = assessed(frame, sampling_fraction=0.1)
    assert printed(later, tmp_path) == printed(later)


def test_what_earlier_documents_print_makes_no_figure_finer(tmp_path: Path) -> None:
    """With other keys beside it, what is known of them cannot print the uniques to five, where it was to a hundred."""
    frame = survey(7, gaps=True)
    with quiet():
        sdc.assess(frame, scenario=sdc.Scenario(keys=["k0", "k1"], sensitive=["s"])).to_json(tmp_path / "first.json")
    later = assessed(frame)
    alone, beside = (plain_document(later, beside=folder)["quantities"] for folder in (None, tmp_path))
    width = {tuple(row[part] for part in ("name", "rule", "intruder")): row["high"] - row["low"] for row in alone}
    for row in beside:
        assert row["high"] - row["low"] >= width[row["name"], row["rule"], row["intruder"]]
