"""Random small worlds: a file and what is declared of it, the same for the same number."""

from __future__ import annotations

import json
import random
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import sdckit as sdc
from sdckit.report.formats.write import PRINTED

KEYS = ("sex", "age", "job")
FOLLOWED = 18  # from this world on people have an amount, and visits in another file
VISITS = tempfile.TemporaryDirectory()
SIZES = {"sex": 2, "age": 7, "job": 12}


@dataclass(frozen=True)
class World:
    """A file, its scenario and the weights a reader of the file knows."""

    number: int
    data: pl.DataFrame
    scenario: sdc.Scenario
    measures: Any
    weights: tuple[float, ...]


def _level(draw: random.Random, key: str, skew: float) -> str:
    """A level: the later, the rarer."""
    weights = [skew**place for place in range(SIZES[key])]
    return f"{key} {draw.choices(range(SIZES[key]), weights)[0]}"


@cache
def world(number: int) -> World:
    """The world of this number: 50 to 200 people, one to three keys, every rule and role now and then."""
    draw = random.Random(number)
    n = draw.randint(50, 200)
    keys = KEYS[: draw.choice([1, 2, 2, 3, 3])] if draw.random() < 0.7 else ("age", "job")[: draw.choice([1, 2])]
    skew = draw.choice([0.5, 0.7, 0.9])
    holes = draw.choice([0.0, 0.0, 0.02, 0.05])
    rows = []
    household = 0
    for _ in range(n):
        household += draw.random() < draw.choice([0.4, 0.8])
        row: dict[str, Any] = {key: None if draw.random() < holes else _level(draw, key, skew) for key in KEYS}
        row |= {
            "ill": draw.choice(["no", "no", "yes", "perhaps"]),
            "weight": round(draw.uniform(8, 12), 1),
            "household": household,
        }
        rows.append(row)
    design = draw.choice(["census", "census", "fraction", "fraction", "weight"])
    roles: dict[str, Any] = {"missing": draw.choice(["wildcard", "category"])}
    if len(keys) > 1 and draw.random() < 0.4:
        roles["intruders"] = {"one": list(keys[:-1]), "other": list(keys)}
    else:
        roles["keys"] = list(keys)
    if design == "weight":
        roles["weight"] = "weight"
    elif design == "fraction":
        roles["sampling_fraction"] = draw.choice([0.05, 0.2, 0.5])
    if draw.random() < 0.5:
        roles["sensitive"] = ["ill"]
    if draw.random() < 0.3:
        roles["household"] = "household"
    roles["thresholds"] = {"k": draw.choice([2, 3, 4])} | (
        {"risk": draw.choice([0.02, 0.1, 0.3])} if draw.random() < 0.5 else {}
    )
    measures = draw.choice(["default", "default", "all", ["suda"], ["risky_cells"], ["suda", "risky_cells"]])
    data = pl.DataFrame(rows, schema_overrides=dict.fromkeys(KEYS, pl.String))
    if number >= FOLLOWED:
        visits = Path(VISITS.name) / f"{number}.csv"
        people = [who for who in range(n) for _ in range(draw.choice([0, 1, 1, 2, 3, 4]))]
        pl.DataFrame({"who": people, "ward": [draw.choice("aaaabbc") for _ in people]}).write_csv(visits)
        roles |= {"children": {"file": visits, "key": "who", "keys": ["ward"]}, "magnitudes": ["pay"]}
        data = data.with_columns(
            who=pl.arange(n),
            pay=pl.Series([round(draw.lognormvariate(3, draw.choice([0.5, 1.5])), 1) for _ in range(n)]),
        )
    weights = tuple(data["weight"]) if design == "weight" else ()
    return World(number, data, sdc.Scenario(**roles), None if measures == "default" else measures, weights)


@cache
def assessed(number: int) -> Any:
    """The assessment of a world."""
    one = world(number)
    chosen = {} if one.measures is None else {"measures": one.measures}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sdc.assess(one.data, scenario=one.scenario, **chosen)


def document_of(assessment: Any, *, internal: bool = False) -> dict[str, Any]:
    """The JSON that leaves the room, protected anew: tests change how."""
    vars(assessment).pop(PRINTED, None)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "figures.json"
        assessment.to_json(path, internal=internal)
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
