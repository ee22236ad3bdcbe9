"""Each step has a reason, and a reason says what is true."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from proposals import SCENARIOS, survey, trials
from sdckit.data.limits import PROMISED
from sdckit.workflow.proposing.find_best import key_words, outcome, step_reasons
from sdckit.workflow.proposing.search import Search, Searched
from sdckit.workflow.proposing.trials import judge
from sdckit.workflow.verdicts import Verdict

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")


@pytest.mark.parametrize("name", ["two", "learnt"])
def test_every_step_has_a_reason(name: str) -> None:
    one = trials(name)
    found = Search(one, 10_000, 40).run()
    node = found.ranked()[0]
    judged = judge(one, one.made[node], one.how)
    told = list(step_reasons(one, found, judged))
    assert [step for step, _ in told] == [step for _, step in judged.made.steps]
    for step, lines in told:
        assert all(line.endswith(".") for line in lines)
        assert lines
        if step is not None and step.get("column"):
            finer = re.search(r"With it (.*?), (more records|what has)", lines[0])
            assert finer is not None
            j = next(j for j, ladder in enumerate(one.lattice.ladders) if ladder.key == step["column"])
            below = (*node[:j], node[j] - 1, *node[j + 1 :])
            assert key_words(one, below)[str(step["column"])] == finer[1]
            assert one.enough(below) is (finer[2] == "what has")


def promised(value: float) -> Verdict:
    return Verdict(PROMISED.name, "default", None, 1 / 3, value <= 1 / 3, None, value, "")


def test_the_outcome_gives_ranges_only() -> None:
    one = trials("one", share=0.0)
    found = Search(one, 10_000, 40).run()
    node = found.ranked()[0]
    judged = judge(one, one.made[node], one.how)
    lines = " ".join(outcome(one, found, judged, [("age finer: keeps age as it is", False, 0.5)]))
    assert "every threshold holds" in lines
    assert "Another: age finer: keeps age as it is (loses 50 to 55 %); a threshold does not hold." in lines
    assert "through missing values" not in lines
    resting = [replace(each, n_resting=count) for each in judged.verdicts for count in (70, 600)]
    few, most = (" ".join(outcome(one, found, replace(judged, verdicts=(each,)), [])) for each in resting[:2])
    assert "Of the records, 10 to 15 % reach k only through missing values of others." in few
    assert "Most records (85 to 90 %) reach k only through missing values of others" in most
    of_most = replace(judged, verdicts=(resting[1],), promise=3)
    told = [outcome(one, found, replace(of_most, promised=(promised(value),)), []) for value in (0.3, 0.4)]
    kept, beyond = map(" ".join, told)
    assert "At most one in 3 records is expected to be matched back, as k = 3 promises." in kept
    assert "Of the records, 85 to 90 % reach k only through missing values of others. Tried" in kept
    assert "More than one in 3 records is expected to be matched back, although k = 3 holds" in beyond
    cut = Searched(found.losses, found.bound, found.seen, whole=False)
    assert "were not reached" in " ".join(outcome(one, cut, judged, []))


def test_the_text_is_the_recipe(tmp_path: object) -> None:
    scenario = sdc.Scenario(**SCENARIOS["two"])
    found = sdc.propose(survey(), scenario=scenario, alternatives=1)
    import tomllib

    assert tomllib.loads(found.text) == tomllib.loads(found.recipe.to_toml())


def test_a_value_that_few_have_is_told_of_in_the_room() -> None:
    rng = np.random.default_rng(2)
    born = rng.choice(["AT", "DE", "IT", "CH", "LI"], 600, p=[0.6, 0.3, 0.06, 0.03, 0.01])
    data = pl.DataFrame({"born": born, "age": rng.integers(20, 60, 600)})
    scenario = sdc.Scenario(keys=["born", "age"], thresholds={"k": 3})
    inside = sdc.propose(data, scenario=scenario, internal=True, alternatives=0, share=0.3, keep=["age"])
    assert ("keep this recipe in the room" in inside.text.replace("\n# ", " ")) is ("LI" in inside.text)
    assert "LI" not in sdc.propose(data, scenario=scenario, alternatives=0, share=0.3, keep=["age"]).text
