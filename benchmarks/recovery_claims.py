"""How often what is told for certain is wrong: random files of eight kinds, protected in five ways.

    python benchmarks/recovery_claims.py [--files 400] [--first 0]

The kinds: columns that have nothing to do with each other (8 or 30 of them, or 60 records only), skewed ones with few
ones or many zeros, a rule with exceptions, codes whose rare values follow no rule, a survey in which age nearly tells
marital status and activity, households whose members nearly share a region. Protected are three columns: values missing
at random (5 % or 30 %), rare values, rare combinations, top codes. For each kind of file it is counted what is changed,
told for certain, and right.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc

KINDS = ("codes", "exceptions", "skewed", "survey", "households", "many", "small", "unrelated")
WAYS = ("at random", "rare values", "rare combinations", "top codes", "a third")
Columns = dict[str, Any]


def unrelated(rng: np.random.Generator, n: int, columns: int) -> Columns:
    """Categories and numbers of all shapes."""
    found: Columns = {}
    for i in range(columns):
        shapes = (
            rng.integers(0, rng.integers(2, 50), n),
            rng.choice(list("abcd"), n, p=rng.dirichlet([0.5] * 4)),
            np.round(rng.normal(size=n), int(rng.integers(0, 3))),
            np.round(np.exp(2 * rng.normal(size=n)), 2),
        )
        found[f"v{i}"] = shapes[rng.integers(0, 4)]
    return found


def codes(rng: np.random.Generator, n: int) -> Columns:
    """A fine code that tells a coarse one, but for rare values."""
    fine = rng.zipf(1.5, n) % 400
    rare = np.bincount(fine, minlength=400)[fine] < 6
    return {"fine": fine, "coarse": np.where(rare, rng.integers(0, 7, n), fine % 7).astype(str)}


def exceptions(rng: np.random.Generator, n: int) -> Columns:
    """A column that follows from another but for 1 % to 30 % of the records."""
    a = rng.integers(0, 30, n)
    except_ = rng.random(n) < rng.uniform(0.01, 0.3)
    return {"a": a, "b": np.where(except_, rng.integers(0, 5, n), a % 5).astype(str)}


def skewed(rng: np.random.Generator, n: int) -> Columns:
    """Rare ones, a number that is mostly 0, and a weight with many values."""
    found: Columns = {f"s{i}": (rng.random(n) < rng.uniform(0.005, 0.1)).astype(int) for i in range(4)}
    found["income"] = np.where(rng.random(n) < 0.7, 0, np.round(np.exp(8 + rng.normal(size=n))))
    return found | {"weight": rng.integers(0, n // 3 + 2, n)}


def survey(rng: np.random.Generator, n: int) -> Columns:
    """What depends on age, as it does in surveys."""
    z = rng.normal(size=n)
    age = np.clip(np.round(45 + 20 * z), 0, 95).astype(int)
    young, grown = (rng.choice(["single", "married"], n, p=[one, 1 - one]) for one in (0.97, 0.4))
    retired = rng.choice(["retired", "works"], n, p=[0.98, 0.02])
    active = rng.choice(["works", "unemployed", "retired", "at home"], n, p=[0.7, 0.1, 0.1, 0.1])
    return {
        "age": age, "education": np.clip(np.round(age / 20 + rng.normal(size=n)), 0, 4).astype(int),
        "marital": np.where(age < 18, "single", np.where(age < 25, young, grown)),
        "activity": np.where(age < 16, "child", np.where(age > 70, retired, active)),
        "income": np.round(np.exp(7 + 0.5 * z + 0.5 * rng.normal(size=n)), -1),
        "weight": np.round(rng.uniform(100, 200, 8)[rng.integers(0, 8, n)] * (1 + age / 100), 1),
    }  # fmt: skip


def households(rng: np.random.Generator, n: int) -> Columns:
    """Mates nearly all of whom share a region and a nationality."""
    home = np.repeat(np.arange(n), rng.choice([1, 2, 3, 4, 5], n, p=[0.35, 0.3, 0.15, 0.15, 0.05]))[:n]
    moved = rng.random(n) < 0.02 * rng.integers(0, 4)
    nation = np.where(rng.random(n) < 0.07, rng.integers(0, 9, n), 0)[home] + (rng.random(n) < 0.02)
    return {
        "home": rng.permutation(n)[home], "nation": nation, "age": rng.integers(0, 90, n),
        "region": np.where(moved, rng.integers(0, 9, n), rng.integers(0, 9, n)[home]),
        "role": rng.choice(["head", "spouse", "child", "other"], n), "weight": rng.integers(100, 130, n)[home],
    }  # fmt: skip


def made(kind: str, rng: np.random.Generator) -> pl.DataFrame:
    """One file."""
    n = {"small": 60, "many": 600}.get(kind, int(rng.choice([60, 200, 600, 2000, 5000])))
    if kind in ("many", "small", "unrelated"):
        found = unrelated(rng, n, 30 if kind == "many" else 8)
    else:
        found = globals()[kind](rng, n)
    more = {f"x{i}": rng.integers(0, rng.integers(2, 200), n) for i in range(2)}
    return pl.DataFrame(found | more)


def protected(data: pl.DataFrame, way: str, rng: np.random.Generator) -> pl.DataFrame:
    """Three of its columns changed."""
    chosen = [str(one) for one in rng.choice([name for name in data.columns if name not in ("home", "weight")], 3)]
    for name in dict.fromkeys(chosen):
        column = data[name]
        if way == "top codes" and column.dtype.is_numeric():
            data = data.with_columns(pl.col(name).clip(upper_bound=column.quantile(0.9)))
            continue
        shown = data.select(pl.len().over(name if way == "rare values" else chosen)).to_series().to_numpy()
        gone = rng.random(data.height) < {"at random": 0.05, "a third": 0.33}.get(way, 0.5)
        if way.startswith("rare"):
            gone &= shown < (3 if way.endswith("combinations") else np.quantile(shown, 0.1) + 1)
        data = data.with_columns(pl.when(pl.Series(gone)).then(None).otherwise(name).alias(name))
    return data


def main() -> None:
    """Count what is told and what is right, by kind of file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(options.first, options.first + options.files):
        rng = np.random.default_rng([20261121, number])
        kind, way = KINDS[number % len(KINDS)], WAYS[number // len(KINDS) % len(WAYS)]
        original = made(kind, rng)
        roles = {role: name for role, name in (("household", "home"), ("weight", "weight")) if name in original}
        found = sdc.recoverable_values(protected(original, way, rng), original, guess=False, **roles)
        for name in (kind, way, "all"):
            wrong = found.restored - found.right
            counts.update({(name, "files"): 1, (name, "wrong files"): int(wrong > 0), (name, "wrong"): int(wrong)})
            counts.update({(name, "changed"): int(found.touched), (name, "told"): int(found.restored)})
    for name in (*KINDS, *WAYS, "all"):
        told, wrong = counts[name, "told"], counts[name, "wrong"]
        line = f"{name:<18} {counts[name, 'files']:>4} files, {counts[name, 'changed']:>8,} changed, {told:>7,} told, "
        print(f"{line}{wrong:>4} wrong = {wrong / max(told, 1):.2%}, in {counts[name, 'wrong files']} files")


if __name__ == "__main__":
    main()
