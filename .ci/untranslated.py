"""List the texts of documents and of the app that a language has no words for.

The documents are those of the tests, and some with more in them; the texts of the app are read from its source.

    PYTHONPATH=src:tests python .ci/untranslated.py [LANGUAGE]

What it prints wants an entry in `src/sdckit/report/words/LANGUAGE.toml`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

import releases
import sdckit as sdc
from draw import quiet
from report.real import MADE, RECIPE, scenario, survey
from sdckit.report.chapters.release_page import page_of
from sdckit.report.formats.write import plain_document
from sdckit.report.language import missing, names_of
from spoken import untold

TWO = {"neighbour": ["region", "sex"], "colleague": ["region", "sex", "age"]}


def household_survey() -> pl.DataFrame:
    """People in households, with numbers and gaps."""
    rng = np.random.default_rng(5)
    data = survey(missing=0.04)
    return data.with_columns(
        pl.Series("hh", np.sort(rng.integers(0, 220, data.height))),
        pl.Series("income", rng.lognormal(8, 1, data.height).round()),
        pl.Series("hours", rng.normal(38, 8, data.height).round(1)),
    )


def told_by_companions() -> Any:
    """A release whose changed columns follow from others, by every kind of relation that somebody knows."""
    rng, n = np.random.default_rng(1), 1000
    pay, rest, hours = (rng.integers(low, high, n) for low, high in ((1500, 5000), (0, 400), (10, 45)))
    age = rng.integers(20, 65, n)
    data = pl.DataFrame(
        {
            "region": rng.choice(list("abcd"), n), "age": age, "born": [f"{2024 - one}-05-01" for one in age],
            "pay": pay, "rest": rest, "total": pay + rest, "hours": hours, "x": np.sort(rng.normal(size=n)),
            "earned": hours * pay, "sex": rng.choice(["f", "m"], n),
        }
    )  # fmt: skip
    noisy = {name: data[name].shuffle(seed=3) for name in ("pay", "hours", "x")}
    banded = sdc.recode(data.with_columns(**noisy), column="age", bands=[0, 30, 40, 50, None]).data
    limits = {"k": 3, "risk": 0.3, "recoverable": 0.0, "exact_numbers": 0.0}
    told = sdc.Scenario(keys=["region", "sex", "age"], magnitudes=["pay"], aligned=True, thresholds=limits)
    return sdc.assess(data, banded, scenario=told, seed=1)


def more() -> Iterator[tuple[str, Any]]:
    """Assessments with every measure, intruders side by side, households, types of release, limits of all kinds."""
    limits = {"k": 3, "risk": 0.2, "global_risk": 0.05, "l": 2, "household_risk": 0.3, "exact_numbers": 0.0}
    both = {"intruders": TWO, "sensitive": ["ill"], "weight": "w", "household": "hh", "numeric": ["income", "hours"],
            "magnitudes": ["income"]}  # fmt: skip
    for rule in ("wildcard", "category"):
        told = sdc.Scenario(**both, thresholds=limits, missing=rule)
        yield (f"households, {rule}", sdc.assess(household_survey(), scenario=told, measures="all", by=["region"]))
    for release in ("public-use", "scientific-use", "teaching", "enclave"):
        yield release, sdc.assess(survey(), scenario=scenario(release=release, thresholds={}))
    all_limits = {
        "match_risk": 0.1,
        "few_matches": 0.1,
        "replicated_uniques": 0.1,
        "correctly_disclosed": 0.2,
        "recoverable": 0.1,
        "joint_recoverable": 0.1,
        "exact_numbers": 1.0,
        "k": 2,
    }
    keys = list(releases.scenario().all_keys)
    told = releases.scenario(thresholds=all_limits, tables=[{"variables": keys[:2]}])
    for name, released in (("one", releases.release()), ("two", [releases.release(seed=seed) for seed in (2, 3)])):
        yield (
            f"limits, {name}",
            sdc.assess(releases.original(), released, scenario=told, models="income ~ age", measures="all", seed=1),
        )
    yield "attacks without a control file", sdc.assess(
        releases.original(), releases.release(), scenario=releases.scenario(thresholds={"residual_risk": 0.1}),
        attacks=True, n_attacks=100, seed=1,
    )  # fmt: skip
    for thresholds in ({}, {"copied_records": 1.0}):
        made_up = sdc.Scenario(keys=keys, sensitive=["ill"], release="synthetic", thresholds=thresholds)
        yield "synthetic", sdc.assess(releases.original(), releases.release(), scenario=made_up, seed=1)
    yield "several intruders", sdc.assess(
        releases.original(), releases.release(), seed=1,
        scenario=sdc.Scenario(
            intruders={"neighbour": ["sex", "age"], "colleague": ["sex", "age", "region"]}, sensitive=["ill"],
            thresholds={"k": 3, "l": 2, "risk": 0.1},
        ),
    )  # fmt: skip
    steps = [RECIPE[0], RECIPE[2]]
    yield "recipe", sdc.Recipe(steps).apply(survey(missing=0.03), scenario=scenario(), seed=1).assess(seed=1)
    for limits in ({}, {"known_points": "none"}, {"known_points": {"points": 3, "alone": 1.0}}):
        panel = household_survey().with_columns(year=pl.int_range(pl.len()).over("hh"))
        told = scenario(person="hh", time="year", missing="category", release="teaching", thresholds=limits)
        yield "panel", sdc.assess(panel, scenario=told)
        yield "panel, release", sdc.assess(panel, panel, scenario=told.changed(aligned=True), seed=1)
    yield "companions", told_by_companions()
    yield "demo", sdc.assess(sdc.load_demo(), scenario=sdc.demo_scenario())


def documents() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The printed figures of every document, protected and internal."""
    for name, made in (*((name, make()) for name, make in MADE.items()), *more()):
        for internal in (False, True):
            yield f"{name}{', internal' * internal}", plain_document(made, internal=internal)


def main(language: str) -> None:
    """Print each text once, with the document it was first found in."""
    for text in untold(language):
        print(f"app\t{text}", flush=True)  # noqa: T201 - what it is for
    seen: set[str] = set()
    with quiet():
        for name, plain in documents():
            for text in missing(page_of(plain), language, names_of(plain)):
                if text not in seen:
                    seen.add(text)
                    print(f"{name}\t{text}", flush=True)  # noqa: T201 - what it is for


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "de")
