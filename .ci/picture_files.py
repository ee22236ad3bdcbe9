"""The files of the pictures: people of nobody, drawn with a fixed seed, and the releases made of them."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import polars as pl

SCENARIO = """title = "Two intruders"
weight = "w"
sensitive = ["ill", "job"]
numeric = ["income", "hours"]
identifiers = ["id"]
[intruders]
neighbour = ["region", "sex", "band", "marital"]
employer = ["sex", "band", "education", "income"]
[thresholds]
k = 3
risk = 0.1
l = 2
global_risk = 0.05
"""
MILD = """keys = ["region", "sex"]
weight = "w"
identifiers = ["id", "hh"]
[thresholds]
k = 2
risk = 0.5
"""
RECIPE_TOML = """title = "A recipe"
[[steps]]
method = "drop_identifiers"
columns = ["id"]
[[steps]]
method = "top_bottom_code"
column = "income"
top = 5000
[[steps]]
method = "pram"
columns = ["job"]
pd = 0.8
[[steps]]
method = "add_noise"
columns = ["hours"]
noise = 5.0
[[steps]]
method = "local_suppression"
intruder = "neighbour"
k = 3
"""


def people(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """Draw people in households of one to five; education and job have missing values, income is skewed."""
    household = np.repeat(np.arange(n), rng.integers(1, 6, n))[:n]
    region = rng.choice(["north", "south", "east", "west", "isles"], n, p=[0.3, 0.3, 0.2, 0.18, 0.02])[household]
    age = rng.integers(16, 90, n)
    schooling = np.clip(rng.binomial(3, 0.45, n) - (age < 18), 0, 3)
    income = np.exp(rng.normal(7.0 + 0.2 * schooling, 0.5, n)).round(-1)
    frame = pl.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "hh": household,
            "region": region,
            "sex": rng.choice(["f", "m"], n),
            "band": np.array(["16-29", "30-44", "45-59", "60-74", "75+"])[(age - 15) // 15],
            "education": np.array(["none", "basic", "upper", "higher"])[schooling],
            "marital": rng.choice(["single", "married", "widowed", "divorced"], n, p=[0.3, 0.5, 0.12, 0.08]),
            "job": rng.choice(["clerk", "cook", "nurse", "smith", "none"], n, p=[0.3, 0.2, 0.2, 0.05, 0.25]),
            "ill": np.where(rng.random(n) < 0.1 + age / 300, "yes", "no"),
            "income": income,
            "hours": rng.normal(36, 8, n).clip(0, 70).round(1),
            "w": rng.uniform(3, 8, n).round(2),
        }
    )
    gone = {"education": rng.random(n) < 0.04, "job": rng.random(n) < 0.03}
    return frame.with_columns(
        pl.when(pl.Series(rows)).then(None).otherwise(pl.col(name)).alias(name) for name, rows in gone.items()
    )


def change(frame: pl.DataFrame, rng: np.random.Generator, *, resample: bool) -> pl.DataFrame:
    """Make a release: some people of other regions and bands, noise on income; other people if resampled."""
    if resample:
        frame = frame[rng.integers(0, frame.height, frame.height)].drop("id", "hh", "w")
    n = frame.height
    others = {name: frame[name].gather(rng.permutation(n)) for name in ("region", "band", "marital", "ill")}
    moved = [
        pl.when(pl.Series(rng.random(n) < 0.15)).then(other).otherwise(pl.col(name)).alias(name)
        for name, other in others.items()
    ]
    return frame.with_columns(
        *moved, (pl.col("income") * pl.Series(rng.uniform(0.9, 1.1, n))).round(), pl.col("hours").round()
    )


def make_files() -> dict[str, pl.DataFrame]:
    """Draw the files of the runs and write them into the folder one is in."""
    rng = np.random.default_rng(2024)
    population = people(rng, 4000)
    survey = population.filter(pl.col("hh") % 4 == 0)
    changed = change(survey, rng, resample=False)
    files = {
        "population": population,
        "survey": survey,
        "control": population.filter(pl.col("hh") % 12 == 1),
        "changed": changed,
        "shuffled": changed[rng.permutation(changed.height)],
        "twice": pl.concat([survey, survey[::3]]),
        "few": survey.head(30),
        **{f"made{i}": change(survey, rng, resample=True) for i in (1, 2, 3)},
    }
    for name, frame in files.items():
        frame.write_parquet(f"{name}.parquet")
    survey.write_csv("survey.csv")
    for name, text in {
        "scenario": SCENARIO,
        "mild": MILD,
        "attacked": MILD + "residual_risk = 0.2\n",
        "recipe": RECIPE_TOML,
    }.items():
        Path(f"{name}.toml").write_text(text, encoding="utf-8")
    with contextlib.suppress(ImportError):  # the extra `files`
        import pyreadstat

        coded = survey.select("region", "band", "ill", pl.col("sex").replace_strict({"f": 1.0, "m": 2.0}))
        pyreadstat.write_sav(coded.to_pandas(), "labelled.sav", variable_value_labels={"sex": {1.0: "f", 2.0: "m"}})
    return files
