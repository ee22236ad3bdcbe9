"""Releases that a column links, and one variable in several codings: what is told is what a join of the files tells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.differencing.several import possible, together

JOBS = [f"job {one}" for one in range(12)]
CODES = {job: 101 + 7 * at for at, job in enumerate(JOBS)}
GROUPS = {job: f"branch {at // 3}" for at, job in enumerate(JOBS)}


def survey(n: int = 900, seed: int = 1) -> pl.DataFrame:
    """People with region and age in two codings each, a job and an exact income that nobody shares."""
    rng = np.random.default_rng(seed)
    region, age, job = (
        rng.integers(0, 20, n),
        15 + rng.exponential(16, n).astype(int) % 60,
        rng.integers(0, len(JOBS), n),
    )
    return pl.DataFrame({
        "id": rng.permutation(n) + 5000, "region": region, "part": region // 5, "age": age, "band": age // 30,
        "job": [JOBS[one] for one in job], "pay": rng.permutation(10 * n)[:n] + 0.5,
    })  # fmt: skip


def coded(data: pl.DataFrame, how: str) -> pl.DataFrame:
    """The job in another coding, under its own name or another one."""
    codings = {
        "names": pl.col("job"), "codes": pl.col("job").replace_strict(CODES),
        "codes as text": pl.format("{}.", pl.col("job").replace_strict(CODES)),
        "groups": pl.col("job").replace_strict(GROUPS), "renamed": pl.col("job").alias("work"),
        "renamed codes": pl.col("job").replace_strict(CODES).alias("work"),
        "renamed groups": pl.col("job").replace_strict(GROUPS).alias("work"),
    }  # fmt: skip
    return data.drop("job").with_columns(data.select(codings[how]).to_series())


def ledger_in(folder: Path) -> sdc.ReleaseLedger:
    return sdc.ReleaseLedger.create(folder / "ledger", key=folder / "ledger.key", survey="Survey")


def joined(first: pl.DataFrame, second: pl.DataFrame, on: str, here: list[str], there: list[str]) -> pl.Series:
    """How many people of both files share the keys of both: what anybody who joins them counts."""
    old = second.select(on, *(pl.col(key).alias(f"old {key}") for key in there))
    both = first.select(on, *here).join(old, on=on, how="left", maintain_order="left")
    return both.select(pl.len().over([*here, *(f"old {key}" for key in there)])).to_series()


def told_by_join(
    new: pl.DataFrame, old: pl.DataFrame, keys: tuple[list[str], list[str]], names: tuple[str, str]
) -> list[bool]:
    """Whose value is certain from both files and from neither alone, in the coding of either: by joining the rows."""
    pairs = set(zip(new[names[0]], old[names[1]], strict=True))
    sets = [possible(file, own, name) for file, own, name in zip((new, old), keys, names, strict=True)]
    as_here = [{mine for mine, theirs in pairs if theirs in values} for values in sets[1]]
    as_there = [{theirs for mine, theirs in pairs if mine in values} for values in sets[0]]
    in_either = zip(together(sets[0], as_here), together(as_there, sets[1]), strict=True)
    return [any(both) for both in in_either]


# The attacks on the ledger.


@pytest.mark.parametrize("link", ["id", "pay"])
def test_two_releases_that_a_column_links_are_judged_by_the_keys_of_both(link: str, tmp_path: Path) -> None:
    """20 regions by 30 years of age, 4 parts by 5 years: each keeps k = 3, both together do not."""
    data = survey(3000).with_columns(five=pl.col("age") // 5)
    first, second = data.select(link, "region", "band"), data.select(link, "part", "five")
    for file in (first, second):
        assert file.group_by(file.columns[1:]).len()["len"].min() >= 3  # type: ignore[operator]
    ledger = ledger_in(tmp_path).add(first, name="first", keys=["region", "band"])
    found = sdc.differencing(second, ledger=ledger, keys=["part", "five"], new=["part", "five"])
    groups = joined(second, first, link, ["part", "five"], ["region", "band"])
    assert found.linked_by == {"first": (link,)}
    assert (found.linked, found.linked_uniques, found.joint_below(3)) == (3000, (groups == 1).sum(), (groups < 3).sum())
    assert found.linked_uniques > 0
    assert found.joint.frequency.tolist() == groups.to_list()  # type: ignore[union-attr]


@pytest.mark.parametrize("how", ["codes", "codes as text", "groups", "renamed", "renamed codes", "renamed groups"])
def test_a_sensitive_variable_in_another_coding_is_found(how: str, tmp_path: Path) -> None:
    data = survey(854)
    before = coded(data, how)
    learnt = "job" if "job" in before.columns else "work"
    ledger = ledger_in(tmp_path).add(
        before.select("id", "region", "band", learnt),
        name="first",
        keys=["region", "band"],
        sensitive=[learnt],
        id="id",
    )
    found = sdc.differencing(
        data.select("id", "part", "age", "job"), ledger=ledger, keys=["part", "age"], sensitive=["job"], id="id",
        new=["part"],
    )  # fmt: skip
    expected = told_by_join(data, before, (["part", "age"], ["region", "band"]), ("job", learnt))
    assert found.records["certain_together"].to_list() == expected
    assert any(expected)
    assert found.not_compared == ()
