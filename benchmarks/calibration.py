"""Whether intervals hold what they promise: coverage of everything that synthesis draws, by simulation.

    python benchmarks/calibration.py [--runs 1000] [--seed 1] [--only NAME]

Each run draws a sample from a population that is known, makes files of it, and asks whether a 95 % interval has the
true figure in it. Posterior draws: the central interval of what the draws of the parameters say of one person. Files
of other sizes and masked values: the interval that `combine` gives from the estimates of the files. Bootstrap: the
intervals of `interval="bootstrap"`, people or whole households being drawn. With 1,000 runs a share of .95 is found
with a standard error of .007.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

import sdckit as sdc

Rng = np.random.Generator
Floats = NDArray[np.float64]
SIZE, M = 300, 5
PERSON = {"x": [0.7], "g": ["b"]}
GROUPS = ["a", "b", "c"]


def expit(eta: Floats) -> Floats:
    """The logistic function."""
    return 1 / (1 + np.exp(-eta))


def people(rng: Rng, n: int = SIZE) -> tuple[Floats, NDArray[np.int64]]:
    """A number and a group of each person."""
    return rng.normal(0, 1, n), rng.integers(0, 3, n)


# --- what each model says of one person, and the truth ----------------------------------------------------------


def _frame(x: Floats, g: NDArray[np.int64], y: object) -> pl.DataFrame:
    return pl.DataFrame({"x": x, "g": np.array(GROUPS)[g], "y": y})


def sample(model: str, rng: Rng) -> tuple[pl.DataFrame, float]:
    """A sample in which the model holds, and the true figure of the person asked about."""
    from scipy.special import ndtr

    x, g = people(rng)
    eta, of_person = 0.3 + 0.8 * x - 0.5 * (g == 1), 0.3 + 0.8 * 0.7 - 0.5
    if model in {"normal", "multivariate_normal"}:
        return _frame(x, g, eta + rng.normal(0, 1.5, SIZE)), of_person
    if model == "poisson":
        return _frame(x, g, rng.poisson(np.exp(eta))), float(np.exp(of_person))
    if model in {"logistic", "probit"}:
        link = expit if model == "logistic" else ndtr
        return _frame(x, g, np.where(rng.random(SIZE) < link(eta), "yes", "no")), float(link(np.array(of_person)))
    if model == "multinomial":
        etas = np.stack([np.zeros(SIZE), eta, -0.5 * x], axis=1)
        shares = np.exp(etas) / np.exp(etas).sum(axis=1, keepdims=True)
        y = (rng.random(SIZE)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
        own = np.exp([0.0, of_person, -0.5 * 0.7])
        return _frame(x, g, np.array(["no", "yes", "zero"])[y]), float(own[1] / own.sum())
    share = np.array([0.2, 0.5, 0.7])
    return _frame(x, g, np.where(rng.random(SIZE) < share[g], "yes", "no")), 0.5


def posterior(model: str) -> Callable[[Rng], bool]:
    """Whether the interval of the posterior draws has the truth."""

    def run(rng: Rng) -> bool:
        data, truth = sample(model, rng)
        predictors = ["g"] if model == "dirichlet_multinomial" else ["x", "g"]
        found = sdc.synthesize(
            data, columns=["y"], models=model, predictors={"y": predictors}, proper=True, posterior_draws=400,
            seed=int(rng.integers(2**62)),
        )  # fmt: skip
        told = found.change.secret["draws"]["y"].predictive(pl.DataFrame(PERSON))
        if "probability" in told:
            values = told["probability"][:, 0, told["levels"].index("yes")]
        else:
            values = (told["mean"] if "mean" in told else told["rate"])[:, 0]
        low, high = np.quantile(values, [0.025, 0.975])
        return bool(low <= truth <= high)

    return run


# --- intervals combined from files of other sizes ---------------------------------------------------------------


def _mean(frame: pl.DataFrame) -> tuple[float, float]:
    y = frame["y"].to_numpy()
    return float(y.mean()), float(y.var(ddof=1) / len(y))


def _slope(frame: pl.DataFrame) -> tuple[float, float]:
    x, y = frame["x"].to_numpy(), frame["y"].to_numpy()
    away = x - x.mean()
    slope = float(away @ y / (away @ away))
    left = y - y.mean() - slope * away
    return slope, float(left @ left / (len(y) - 2) / (away @ away))


ESTIMATES: dict[str, tuple[Callable[[pl.DataFrame], tuple[float, float]], float]] = {
    "mean": (_mean, 2.0),
    "slope": (_slope, 0.8),
}


def _covers(files: list[pl.DataFrame], estimate: str, **how: object) -> bool:
    function, truth = ESTIMATES[estimate]
    pairs = [function(one) for one in files]
    found = sdc.combine([one for one, _ in pairs], [one for _, one in pairs], **how)  # type: ignore[arg-type]
    return bool(found.low <= truth <= found.high)


def _truth(rng: Rng) -> pl.DataFrame:
    x = rng.normal(0, 1, SIZE)
    return pl.DataFrame({"x": x, "y": 2 + 0.8 * x + rng.normal(0, 1.5, SIZE)})


def sizes(kind: str, n: int, estimate: str, model: str = "normal", m: int = M) -> Callable[[Rng], bool]:
    """Whether the combined interval of fully synthetic files of `n` records has the truth."""

    def run(rng: Rng) -> bool:
        made = sdc.synthesize(
            _truth(rng), n=n, m=m, models=model, proper=kind != "simple", seed=int(rng.integers(2**62)),
            posterior_draws=0 if kind == "simple" else m,
        ).data  # fmt: skip
        files = made if isinstance(made, list) else [made]
        return _covers(files, estimate, kind=kind, n=SIZE, n_synthetic=n)

    return run


def masked(estimate: str, *, proper: bool) -> Callable[[Rng], bool]:
    """Whether the combined interval of files with imputed masked values has the truth."""

    def run(rng: Rng) -> bool:
        data = _truth(rng)
        both = sdc.mask_continuous(data, columns=["y"], sd=1.0, suffix="_z", seed=int(rng.integers(2**62))).data
        both = sdc.mask_continuous(both, columns=["x"], sd=0.5, suffix="_z", seed=int(rng.integers(2**62))).data
        made = sdc.impute_masked(
            both, masked={"x": "x_z", "y": "y_z"}, error={"x": 0.5, "y": 1.0}, predictors={"y": ["x"]}, m=M,
            iterations=10, proper=proper, seed=int(rng.integers(2**62)),
        ).data  # fmt: skip
        return _covers(made, estimate, kind="imputed")

    return run


# --- bootstrap intervals ----------------------------------------------------------------------------------------

KEY_SHARES = np.outer([0.7, 0.3], [0.4, 0.3, 0.2, 0.1]).ravel()
HOMES = 100


def _keyed(key: NDArray[np.int64], ill: object) -> pl.DataFrame:
    return pl.DataFrame({"sex": key // 4, "region": key % 4, "ill": ill})


def attributed(household: bool, declared: bool) -> Callable[[Rng], bool]:
    """Whether the interval of the attribution probability has that of the population, the release being given.

    What a record is told by is its own key and target, so that records (or households) are independent.
    """
    given = np.random.default_rng(0)
    key = given.choice(8, SIZE, p=KEY_SHARES)
    chance = np.linspace(0.2, 0.9, 8)
    release = _keyed(key, np.where(given.random(SIZE) < chance[key], "yes", "no"))
    share = np.array([(release.filter(pl.Series(key == k))["ill"] == "yes").mean() for k in range(8)])
    truth = float(KEY_SHARES @ (chance * share + (1 - chance) * (1 - share)))

    def run(rng: Rng) -> bool:
        units = HOMES if household else SIZE
        home = np.repeat(np.arange(units), SIZE // units)
        keys = rng.choice(8, units, p=KEY_SHARES)
        ill = rng.random(units) < chance[keys]
        people = _keyed(keys[home], np.where(ill[home], "yes", "no")).with_columns(home=home)
        scenario = sdc.Scenario(keys=["sex", "region"], household="home" if declared else None)
        found = sdc.correct_attribution_probability(
            people, release, target="ill", scenario=scenario, interval="bootstrap",
            seed=int(rng.integers(2**62)),
        )  # fmt: skip
        low, high = found.intervals["average"]
        return low <= truth <= high

    return run


def alone(n: int, expected: list[float]) -> Callable[[Rng], bool]:
    """Whether the interval of the share of uniques has the share expected of samples of this size.

    Here the value of a record depends on the others: the interval takes it as it is in this file.
    """
    shares = 1 / np.arange(1, 2001) ** 1.1
    shares /= shares.sum()
    expected.append(float(np.sum(shares * (1 - shares) ** (n - 1))))

    def run(rng: Rng) -> bool:
        people = pl.DataFrame({"key": rng.choice(2000, n, p=shares)})
        found = sdc.key_frequencies(people, keys=["key"], interval="bootstrap", seed=int(rng.integers(2**62)))
        low, high = found.intervals["sample_unique_rate"]
        return low <= expected[0] <= high

    return run


def studies() -> Iterator[tuple[str, Callable[[Rng], bool]]]:
    """Every study, by name."""
    for model in (
        "normal",
        "multivariate_normal",
        "logistic",
        "probit",
        "multinomial",
        "poisson",
        "dirichlet_multinomial",
    ):
        yield f"posterior draws, {model}", posterior(model)
    for kind in ("simple", "proper"):
        for n in (SIZE // 2, SIZE, 2 * SIZE):
            for estimate in ESTIMATES:
                yield f"combine {kind}, {n} records of {SIZE}, {estimate}", sizes(kind, n, estimate)
    yield "combine full, m = 20, mean", sizes("full", SIZE, "mean", m=20)
    yield "combine full, m = 20, slope", sizes("full", SIZE, "slope", m=20)
    yield (
        f"combine proper, {2 * SIZE} records, joint normal, slope",
        sizes("proper", 2 * SIZE, "slope", "multivariate_normal"),
    )
    for proper in (False, True):
        for estimate in ESTIMATES:
            yield (
                f"masked values, {'own' if proper else 'fitted'} parameters, {estimate}",
                masked(estimate, proper=proper),
            )
    yield "bootstrap, attribution, single people", attributed(household=False, declared=False)
    yield "bootstrap, attribution, households drawn whole", attributed(household=True, declared=True)
    yield "bootstrap, attribution, households not declared", attributed(household=True, declared=False)
    yield f"bootstrap, share of uniques, {SIZE} records", alone(SIZE, [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for name, study in studies():
        if options.only not in name:
            continue
        rngs = np.random.default_rng(options.seed).spawn(options.runs)
        share = np.mean([study(rng) for rng in rngs])
        print(f"{share:6.3f}  {name}", flush=True)


if __name__ == "__main__":
    main()
