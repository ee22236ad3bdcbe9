"""Whoever has the release has its weights: no figure of risks tells one, two, three and four people alone apart.

Small worlds are enumerated: the same cells but for the people alone, weights drawn anew; two numbers of people are
told apart where a printed figure has no text in common.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document

DRAWS = 3
FEW = (1, 2, 3, 4)
# A pair beside the people alone, and groups that are hardly larger.
WORLDS = {"cells of thirty": (*(30,) * 6, 67), "a pair, too": (2, *(30,) * 6, 67), "cells of six": (*(6,) * 12, 67)}


def world(alone: int, cells: tuple[int, ...], seed: int) -> pl.DataFrame:
    rng = random.Random(seed)
    sizes = [*cells[:-1], cells[-1] - alone, *(1,) * alone]  # the file has as many records in every world
    keys = [f"k{number:02}" for number, size in enumerate(sizes) for _ in range(size)]
    n = len(keys)
    return pl.DataFrame(
        {
            "key": keys,
            "other": ["a"] * n,
            "house": [number // 2 for number in range(n)],
            "weight": [rng.uniform(8, 12) for _ in range(n)],
        }
    )


def texts(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(tree, Mapping):
        if "text" in tree and "value" in tree:
            yield path, str(tree["text"])
        for name, one in tree.items():
            yield from texts(one, f"{path}/{name}")
    elif isinstance(tree, list | tuple):
        for number, one in enumerate(tree):
            yield from texts(one, f"{path}/{number}")
    elif isinstance(tree, float | bool):
        yield path, str(tree)


def _of_risks(path: str) -> bool:
    """Of levels and groups the counts are printed by rules of their own, tested elsewhere."""
    return "individual_risk" in path or "risk_without" in path


def apart(documents: Mapping[int, list[dict[str, str]]]) -> list[str]:
    """Figures that tell two numbers of people alone apart, whatever the weights."""
    paths = {path for found in documents.values() for one in found for path in one}
    told = []
    for path in sorted(paths):
        for one, other in combinations(documents, 2):
            first, second = ({found.get(path) for found in documents[at]} for at in (one, other))
            if not first & second:
                told.append(f"{path}: {one} {first}, {other} {second}")
    return told


@pytest.mark.parametrize("name", WORLDS)
def test_an_assessment_with_weights_does_not_count_people_alone(name: str) -> None:
    scene = sdc.Scenario(
        keys=["key", "other"], weight="weight", household="house", thresholds={"risk": 0.2, "global_risk": 0.01}
    )
    documents: dict[int, list[dict[str, str]]] = {}
    for alone in FEW:
        for draw in range(DRAWS):
            with quiet():
                found = sdc.assess(world(alone, WORLDS[name], 97 * draw + alone), scenario=scene)
            plain = plain_document(found)
            told = {path: text for path, text in texts(plain["intruders"]) if _of_risks(path)}
            documents.setdefault(alone, []).append(told | dict(texts(plain["verdicts"])))
    assert apart(documents) == []


@pytest.mark.parametrize("measure", ["individual_risk", "k_map", "key_contributions"])
def test_one_result_with_weights_does_not(measure: str) -> None:
    documents: dict[int, list[dict[str, str]]] = {}
    for alone in FEW:
        for draw in range(DRAWS):
            data = world(alone, (*(30,) * 6, 67), 97 * draw + alone)
            with quiet():
                result = getattr(sdc, measure)(data, keys=["key", "other"], weight="weight")
            plain = protect(result_document(result))
            told = {path: text for path, text in texts(plain[measure]) if "rate" not in path}
            documents.setdefault(alone, []).append(told)
    assert apart(documents) == []


def test_many_people_alone_are_told_of() -> None:
    """The guard goes by numbers: from fifty records in small groups on the figures are there."""
    for alone, digits in ((60, 1), (600, 2)):
        data = world(alone, (30,) * 5 + (30 + alone,), 5)
        with quiet():
            plain = protect(result_document(sdc.individual_risk(data, keys=["key"], weight="weight")))
        text = plain["individual_risk"]["expected_reidentifications"]["text"]
        assert len(text.replace(".", "").strip("0")) <= digits
        assert text != "withheld"
        assert plain["individual_risk"]["distribution"][0]["n"]["text"] != "withheld"


def test_nobody_in_a_small_group_is_told_of() -> None:
    with quiet():
        plain = protect(result_document(sdc.individual_risk(world(0, (30,) * 6, 5), keys=["key"], weight="weight")))
    assert plain["individual_risk"]["expected_reidentifications"]["value"] is not None
