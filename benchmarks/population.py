"""Which estimate of the population is near the truth: two populations with known frequencies, sampled at random.

`python benchmarks/population.py` prints the table of docs/validation.md: for each population and sampling fraction the
relative error of the population uniques by every model, of the correct matches among sample uniques by the log-linear
model, and of the sum of the individual risks; how each model fits the groups of the file; and the one recommended.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import polars as pl
import statsmodels.api as sm

import sdckit as sdc

FRACTIONS = (0.02, 0.1, 0.3)
SIZES = ("zayatz", "pitman", "snb", "snb3")


def survey(rng: np.random.Generator, n: int = 200_000) -> pl.DataFrame:
    """People whose marital status, education and work depend on their age."""
    region = rng.choice(9, n, p=np.array([3, 18, 20, 10, 22, 7, 9, 6, 5]) / 100)
    sex = rng.integers(0, 2, n)
    age = np.clip(rng.gamma(6, 7, n), 0, 95).astype(int)
    young, adult, old = ([.93, .05, .01, .005, .005], [.3, .5, .12, .05, .03], [.07, .5, .1, .3, .03])  # fmt: skip
    marital = np.where(
        age < 25, rng.choice(5, n, p=young),
        np.where(age < 65, rng.choice(5, n, p=adult), rng.choice(5, n, p=old)),
    )  # fmt: skip
    education = np.clip((rng.normal(2.5 - 0.01 * np.maximum(age - 40, 0), 1.2, n)).round(), 0, 6).astype(int)
    retired = rng.choice([1, 2], n, p=[0.95, 0.05])
    working = rng.choice(6, n, p=[0.02, 0.03, 0.65, 0.1, 0.12, 0.08])
    work = np.where(age < 16, 0, np.where(age > 64, retired, working))
    return pl.DataFrame(
        {"region": region, "sex": sex, "age": age, "marital": marital, "education": education, "work": work}
    )


def affairs(rng: np.random.Generator) -> pl.DataFrame:
    """The affairs survey 31 times, 15 % of each key exchanged among the records."""
    data = pl.DataFrame(sm.datasets.fair.load_pandas().data)
    many = pl.concat([data] * 31)
    found = {}
    for key in ("age", "yrs_married", "children", "religious", "educ", "occupation"):
        values = many[key].to_numpy().copy()
        moved = rng.random(len(values)) < 0.15
        values[moved] = rng.permutation(values)[moved]
        found[key] = values
    return pl.DataFrame(found)


def compare(name: str, people: pl.DataFrame, fraction: float) -> str:
    """A row of the table."""
    keys = people.columns
    people = people.with_columns(F=pl.len().over(keys))
    truth = people.filter(pl.col("F") == 1).height
    sample = people.sample(fraction=fraction, seed=3).with_columns(f=pl.len().over(keys))
    matches = (1 / sample.filter(pl.col("f") == 1)["F"]).sum()
    everybody = (1 / sample["F"]).sum()
    given = {"keys": keys, "sampling_fraction": fraction}
    risk, sizes = sdc.population_risk(sample, **given, select=True), sdc.population_uniques(sample, **given)
    own = sdc.individual_risk(sample, **given).expected_reidentifications
    estimates = {one: (getattr(sizes, one), sizes.dissimilarity[one]) for one in SIZES}
    estimates["log-linear"] = (risk.population_uniques, risk.dissimilarity)
    told = "; ".join(f"{one} {_error(found, truth)} ({100 * apart:.2g} %)" for one, (found, apart) in estimates.items())
    named = "log-linear" if risk.recommended else sizes.recommended or "none"
    return (
        f"{name} {fraction:g}: {truth} uniques: {told}; z2 {risk.z2:.3g} ({risk.fit}); "
        f"tau2 {_error(risk.tau2, matches)} of {matches:.0f}; "
        f"individual risk {_error(own, everybody)} of {everybody:.0f}; recommended: {named}"
    )


def _error(found: float, truth: float) -> str:
    return f"{100 * (found / truth - 1):+.3g} %"


def main() -> None:
    """Print the rows."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(7)
    for name, people in (("affairs", affairs(rng)), ("survey", survey(rng))):
        for fraction in FRACTIONS:
            sys.stdout.write(compare(name, people, fraction) + "\n")


if __name__ == "__main__":
    main()
