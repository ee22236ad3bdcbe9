"""What a gate tells others is what its protected document prints, limit by limit."""

from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.report.formats.write import plain_document
from sdckit.workflow.check import check_assessment
from sdckit.workflow.told_verdicts import told_verdicts


def people(n: int = 400, rare: int = 3, seed: int = 4) -> pl.DataFrame:
    """Two large groups with the same keys, and a few records that are alone or nearly so."""
    rng = np.random.default_rng(seed)
    age = np.repeat([30, 50], [n // 2, n - n // 2])
    age[:rare] = np.arange(60, 60 + rare)
    return pl.DataFrame(
        {"sex": ["fm"[i % 2] for i in range(n)], "age": age, "ill": rng.choice(["yes", "no"], n)}
    )


def scenario(**limits: float) -> sdc.Scenario:
    return sdc.Scenario(keys=["sex", "age"], sensitive=["ill"], thresholds=limits)


def test_small_counts_are_hidden() -> None:
    result = sdc.check(people(), scenario=scenario(k=3))
    assert "3 records are" in result.exceeded[0].sentence
    (told,) = result.told().verdicts
    assert (told.name, told.intruder, told.variable, told.release) == ("k", "default", None, None)
    assert (told.holds, told.word) == (False, "exceeded")
    assert told.sentence.startswith(("<", "A number of"))


@pytest.mark.parametrize("rare", [0, 1, 3, 7, 40])
def test_one_file_is_told_as_its_document_says(rare: int) -> None:
    result = sdc.check(people(rare=rare), scenario=scenario(k=3, risk=0.4, l=2, global_risk=0.01))
    plain = plain_document(result.assessment)
    told = result.told()
    assert [one.holds for one in told.verdicts] == [one["holds"]["value"] for one in plain["verdicts"]]
    assert [one.name for one in told.verdicts] == [one.name for one in result.verdicts]
    counts = [one["n_records"] for one in plain["verdicts"]]
    for one, count in zip(told.verdicts, counts, strict=True):
        if count is not None and one.holds is False and count["text"] != "withheld":
            assert one.sentence.startswith(count["text"])


def test_a_release_is_named_where_there_are_several() -> None:
    file = people(rare=0)
    with pytest.warns(sdc.SdcWarning, match="release 1 has the keys of the original"):
        result = sdc.check(file, [people(rare=0, seed=5), people(rare=30)], scenario=scenario(k=3))
    (told,) = [one for one in result.told().verdicts if one.name == "k"]
    assert told.release == 2
    assert told.sentence.startswith("Release 2: ")


def test_intruders_are_named_where_there_are_several() -> None:
    one = sdc.Scenario(intruders={"a": ["sex"], "b": ["sex", "age"]}, thresholds={"k": 3})
    told = sdc.check(people(rare=30), scenario=one).told()
    assert told.several_intruders
    assert [said.partition(":")[0] for said in told.sentences] == ["Intruder “a”", "Intruder “b”"]
    alone = sdc.check(people(rare=30), scenario=scenario(k=3)).told()
    assert [one.sentence for one in alone.verdicts] == list(alone.sentences)


def test_a_limit_that_nobody_judged_is_told_as_such() -> None:
    assessment = sdc.assess(people(), scenario=scenario(k=3, risk=0.5))
    (intruder,) = assessment.intruders
    lost = dataclasses.replace(
        assessment, intruders=(dataclasses.replace(intruder, verdicts=intruder.verdicts[:1]),)
    )
    told = told_verdicts(check_assessment(lost)).verdicts
    assert [(one.name, one.holds) for one in told] == [("k", False), ("risk", None)]
    assert "could not be judged" in told[1].sentence


def test_few_records_are_refused() -> None:
    result = sdc.check(people(49, rare=0), scenario=scenario(k=3))
    with pytest.raises(sdc.DataError, match="fewer than 50"):
        result.told()
