"""A survey of establishments: no public-use file with every turnover as it is, one once large ones are protected."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.workflow.verdicts import Verdict

LIMIT = "exact_numbers"
SAID = "the scenario does not say which columns are magnitudes"


def establishments(n: int = 3000) -> pl.DataFrame:
    """Firms by region, branch and size class, with turnovers of a heavy tail; one has 30.9 billion."""
    rng = np.random.default_rng(36)
    employees = np.ceil(rng.lognormal(2.3, 1.2, n)).astype(int)
    file = pl.DataFrame(
        {
            "region": rng.integers(1, 6, n),
            "branch": rng.choice(["food", "metal", "trade", "building"], n),
            "size": np.digitize(employees, [10, 50]),
            "employees": employees,
            "turnover": np.round(employees * rng.lognormal(11.5, 0.9, n)),
        }
    )
    file[17, "turnover"] = 30_900_000_000.0
    return file


FIRMS = establishments()
KEYS = ["region", "branch", "size"]


def scenario(**more: Any) -> sdc.Scenario:
    said: dict[str, Any] = {"sensitive": [], "household": "none", "insensitive": ["employees"]}
    entries = {"sampling_fraction": 0.05, "aligned": True, "magnitudes": ["turnover"], **more}
    return sdc.Scenario(keys=KEYS, release="public-use", **said, **entries)


def judged(*files: pl.DataFrame, **more: Any) -> tuple[bool, Verdict]:
    """Whether the gate passes, and its verdict on large numbers."""
    with quiet():
        result = sdc.check(*files, scenario=scenario(**more), seed=1 if len(files) > 1 else None)
    (verdict,) = [one for one in result.verdicts if one.name == LIMIT]
    return result.passed, verdict


def in_classes(column: str = "turnover") -> pl.DataFrame:
    edges = [0, 100_000, 1_000_000, 10_000_000, 100_000_000, None]
    return sdc.recode(FIRMS, column=column, bands=edges).data


@pytest.mark.parametrize("files", [(FIRMS,), (FIRMS, FIRMS)])
def test_with_every_turnover_as_it_is_it_is_no_public_use_file(files: tuple[pl.DataFrame, ...]) -> None:
    passed, verdict = judged(*files)
    assert (passed, verdict.holds, verdict.variable) == (False, False, "turnover")
    assert verdict.sentence.endswith(
        "of the records dominate their group with a value of turnover that goes out within 10 % of the truth, above "
        "0 %; limit of a public-use file"
    )


PROTECTED = {
    "size classes": in_classes(),
    "a low top code": sdc.top_bottom_code(FIRMS, column="turnover", top=500_000).data,
    "rounded": sdc.round_to(FIRMS, column="turnover", base=50_000_000_000).data,
    "left out": FIRMS.drop("turnover"),
}


@pytest.mark.parametrize("how", PROTECTED)
def test_its_twin_passes_once_the_large_numbers_are_protected(how: str) -> None:
    passed, verdict = judged(FIRMS, PROTECTED[how])
    assert (passed, verdict.holds) == (True, True), verdict.sentence


@pytest.mark.parametrize(
    "file",
    [
        sdc.top_bottom_code(FIRMS, column="turnover", top=1_000_000_000).data,
        sdc.round_to(FIRMS, column="turnover", base=1000).data,
        sdc.add_noise(FIRMS, columns=["turnover"], noise=0.01, seed=1).data,
        # nine times the mean is the largest turnover to within 1 %: the other eight are small
        sdc.microaggregate(FIRMS, columns=["turnover"], k=8, how="individual_ranking", strata=KEYS).data,
    ],
)
def test_too_little_is_not_enough(file: pl.DataFrame) -> None:
    assert judged(FIRMS, file)[1].holds is False


def test_rows_in_another_order_are_judged_by_their_groups() -> None:
    mixed = FIRMS.sample(fraction=1.0, shuffle=True, seed=2)
    assert judged(FIRMS, mixed, aligned=False)[1].holds is False
    protected = in_classes().sample(fraction=1.0, shuffle=True, seed=2)
    assert judged(FIRMS, protected, aligned=False)[1].holds is True


def test_numeric_columns_are_looked_at_and_silence_is_no_pass() -> None:
    assert judged(FIRMS, magnitudes=[], numeric=["employees"])[1].variable == "employees"
    for files in ((FIRMS,), (FIRMS, in_classes())):
        passed, verdict = judged(*files, magnitudes=None)
        assert (passed, verdict.holds, verdict.reason.startswith(SAID)) == (False, None, True)
    with quiet():
        none = sdc.check(FIRMS.drop("turnover"), scenario=scenario(magnitudes=[]))
    assert none.passed
    assert LIMIT not in {verdict.name for verdict in none.verdicts}


def test_numeric_columns_that_are_no_magnitudes_are_judged_in_classes_too() -> None:
    with quiet():
        banded = sdc.recode(FIRMS, column="employees", bands=[0, 10, 100, None]).data
    passed, verdict = judged(FIRMS, banded, magnitudes=[], numeric=["employees", "turnover"])
    assert (passed, verdict.holds, verdict.variable) == (False, False, "turnover")
    without = [file.drop("turnover") for file in (FIRMS, banded)]
    passed, verdict = judged(*without, magnitudes=[], numeric=["employees"])
    assert (passed, verdict.holds) == (True, True)


def test_each_intruder_has_groups_of_their_own_unless_they_are_declared() -> None:
    intruders = {"rival": ["region", "branch"], "neighbour": ["region", "turnover"]}
    roles: dict[str, Any] = {"intruders": intruders, "magnitudes": ["turnover"], "thresholds": {LIMIT: 0.0}}
    with quiet():
        own = sdc.assess(FIRMS, scenario=sdc.Scenario(**roles))
        declared = sdc.assess(FIRMS, scenario=sdc.Scenario(**roles, number_groups=["branch"]))
    assert [own[name][LIMIT].groups for name in own] == [("region", "branch"), ("region", "turnover")]
    assert [declared[name][LIMIT].groups for name in declared] == [("branch",)] * 2
    assert {verdict.intruder for verdict in own.verdicts} == set(intruders)


def test_a_release_of_several_files_is_judged_by_the_worst() -> None:
    with quiet():
        found = sdc.assess(FIRMS, [in_classes(), in_classes()], scenario=scenario(), seed=1)
    (verdict,) = [one for one in found.verdicts if one.name == LIMIT]
    assert verdict.holds is True
