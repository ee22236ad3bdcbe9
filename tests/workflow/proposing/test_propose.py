"""The search from a file to its recipe: the best of all, it passes, it keeps what was asked for, it says what fails."""

from __future__ import annotations

import math
import threading
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import homes
import sdckit as sdc
from proposals import SCENARIOS, survey, trials
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.protect.suppression import suppression_bound
from sdckit.workflow.proposing import find_best as module
from sdckit.workflow.proposing.find_best import Begun
from sdckit.workflow.proposing.proposal import Alternative, Candidate
from sdckit.workflow.proposing.propose import begin_proposal, begun, make_proposal

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")


def found(name: str, data: pl.DataFrame | None = None, **more: Any) -> sdc.Proposal:
    given = survey() if data is None else data
    entries = {**SCENARIOS[name], **more.pop("entries", {})}
    return sdc.propose(given, scenario=sdc.Scenario(**entries), **{"alternatives": 0, **more})


@cache
def plain(name: str) -> sdc.Proposal:
    """The proposal for a scenario as it is, which several tests compare theirs with."""
    return found(name)


@cache
def of_few() -> sdc.Proposal:
    """The proposal for few records, nobody listening, which several tests compare theirs with."""
    data = survey(300)
    return make_proposal(data, sdc.Scenario(**SCENARIOS["one"]), columns=data.columns, alternatives=0)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_release_passes_check(name: str) -> None:
    scenario = sdc.Scenario(**SCENARIOS[name])
    proposal = plain(name)
    applied = proposal.recipe.apply(survey(), scenario=scenario, watch=False)
    assert proposal.passed
    assert (proposal.exceeded, proposal.unjudged, proposal.impossible) == ((), (), ())
    assert sdc.check(survey(), applied.data, scenario=scenario, log=applied.log, seed=1).passed


@pytest.mark.parametrize(("name", "share", "n"), [("one", 1.0, 90), ("two", 0.05, 120), ("learnt", 0.05, 120)])
def test_nothing_that_brute_force_finds_loses_less(name: str, share: float, n: int) -> None:
    data = survey(n)
    thresholds = {**SCENARIOS[name]["thresholds"], "match_risk": 1.0}
    one = trials(name, data, share=share, thresholds=thresholds)
    every = [node for node in product(*map(range, one.shape)) if one.enough(node)]
    best = min(map(one.real, every))
    proposal = found(name, data, share=share, entries={"thresholds": thresholds})
    assert proposal.nodes == one.lattice.size
    assert proposal.optimal
    assert proposal.loss == pytest.approx(best)
    assert proposal.bound == pytest.approx(best)


@pytest.mark.parametrize("n", [250, 700])
def test_nothing_that_keeps_what_k_promises_loses_less(n: int) -> None:
    data = survey(n)
    one = trials("one", data, share=1.0)
    losses = {node: one.real(node) for node in product(*map(range, one.shape)) if one.enough(node)}
    least = min(loss for node, loss in losses.items() if node in one.made and one.kept(node))
    assert min(losses.values()) < least
    assert found("one", data).loss == pytest.approx(least)


def test_what_is_to_stay_stays_and_what_matters_most_goes_last() -> None:
    kept = found("one", keep=["age"])
    assert kept.keys["age"] == "as it is"
    assert not any(step.arguments.get("column") == "age" for step in kept.recipe.steps)
    weighed = found("one", importance={"area": 1, "age": 10, "sex": 10})
    assert weighed.keys["area"] == "as it is"
    assert weighed.hidden.get("area", 0.0) <= plain("one").hidden.get("area", 0.0)


def test_the_callers_own_recodings_are_tried_instead() -> None:
    prefer = {"age": [{"bands": [0, 30, 60, None]}, {"bands": [0, 60, None]}]}
    proposal = found("one", prefer=prefer, share=0.05)
    bands = [step.arguments["bands"] for step in proposal.recipe.steps if step.method == "recode"]
    assert bands[0][1:3] in ([30, 60], [60, float("inf")])
    assert proposal.keys["age"] == "as preferred"


def test_the_callers_own_loss_ranks_the_releases() -> None:
    asked: list[int] = []

    def values_missing(before: Any, after: Any) -> float:
        asked.append(len(after))
        return float(sum(after[name].null_count() for name in ("age", "sex", "area") if name in after.columns))

    by_own = found("one", loss=values_missing)
    assert len(asked) > by_own.tried > 1  # and the release that is proposed
    assert sum(by_own.hidden.values()) <= sum(plain("one").hidden.values())
    assert by_own.passed
    assert not by_own.optimal


def test_the_same_again_whatever_the_engine() -> None:
    first = found("two", alternatives=2)
    for again in (survey().to_pandas(), survey().to_arrow()):
        suppression_bound._fewest.cache_clear()
        second = found("two", again, alternatives=2)
        assert first.text == second.text
        assert first.to_dict(internal=True) == second.to_dict(internal=True)


def test_recipes_beside_it_keep_something_finer_or_take_out_less() -> None:
    proposal = found("two", alternatives=3)
    assert 1 <= len(proposal.alternatives) <= 3
    for one in proposal.alternatives:
        assert one.passed
        assert one.loss >= proposal.loss - 1e-12 or one.words.startswith("more")
        assert one.recipe != proposal.recipe
        applied = one.recipe.apply(survey(), scenario=sdc.Scenario(**SCENARIOS["two"]), watch=False)
        assert sdc.check(
            survey(), applied.data, scenario=sdc.Scenario(**SCENARIOS["two"]), log=applied.log, seed=1
        ).passed
    words = [one.words.partition(":")[0] for one in proposal.alternatives]
    assert words == ["fewer values taken out", "age finer", "no value taken out"]
    assert proposal.resting > 0.05 >= proposal.alternatives[0].resting > proposal.alternatives[2].resting == 0
    bounded = found("two", share=0.05, alternatives=2)
    assert (bounded.recipe, bounded.loss) == (proposal.alternatives[0].recipe, proposal.alternatives[0].loss)
    assert [one.words.partition(":")[0] for one in bounded.alternatives][1] == "no value taken out"


def expected_back(proposal: sdc.Proposal, entries: dict[str, Any], data: pl.DataFrame) -> float:
    """The share of the records that a release by a proposal lets be matched back, as the limit reads it."""
    applied = proposal.recipe.apply(data, scenario=sdc.Scenario(**entries), watch=False)
    assessed = applied.assess(seed=1)
    results = [assessed[name]["matching_risk"] for name in assessed]
    return float(np.nanmax([(one.mean_match_risk, one.mean_match_risk_otherwise) for one in results]))


@pytest.mark.parametrize("name", ["one", "two"])
def test_no_more_are_expected_to_be_matched_back_than_k_promises(name: str) -> None:
    """Few values taken out carried k for most records, which are still alone with what they show."""
    any_match = {**SCENARIOS[name], "thresholds": {"k": 3, "match_risk": 1.0}}
    data = survey(250)
    lenient = found(name, data, entries=any_match)
    kept = found(name, data, alternatives=1)
    assert expected_back(lenient, any_match, data) > 1 / 3
    assert (lenient.promise, lenient.kept) == (0, "")
    assert expected_back(kept, SCENARIOS[name], data) <= 1 / 3
    assert kept.matched == pytest.approx(expected_back(kept, SCENARIOS[name], data), abs=0.02)
    assert (kept.promise, kept.caution) == (3, "")
    assert kept.kept in " ".join(kept.text.replace("\n#", "").split())
    assert kept.passed
    assert kept.loss > lenient.loss
    assert not kept.optimal
    assert kept.bound == pytest.approx(lenient.bound)
    for one in kept.alternatives:
        assert expected_back(one, SCENARIOS[name], data) <= 1 / 3


def test_what_loses_least_is_proposed_where_it_keeps_the_promise() -> None:
    """Then nothing is searched again, and it is the best as before."""
    bounded = found("one", share=0.05)
    assert bounded.optimal
    assert bounded.matched <= 1 / 3
    lenient = found("one", share=0.05, entries={"thresholds": {"k": 3, "match_risk": 1.0}})
    assert (bounded.recipe, bounded.loss, bounded.seen) == (lenient.recipe, lenient.loss, lenient.seen)
    whole = found("one", share=0.0)
    assert (whole.promise, whole.kept, whole.resting) == (0, "", 0.0)
    assert math.isnan(whole.matched)


def test_a_promise_that_nothing_keeps_is_said() -> None:
    data = survey(90)
    proposal = found("one", data, keep=["age", "sex", "area"])
    assert proposal.passed
    assert proposal.matched > 1 / 3
    assert proposal.kept == ""
    assert proposal.caution.startswith("More than one in 3 records is expected to be matched back")
    assert proposal.caution in " ".join(proposal.text.replace("\n#", "").split())


def test_a_stricter_look_is_not_called_the_best() -> None:
    lenient = found("one", entries={"thresholds": {"k": 3, "match_risk": 1.0}})
    applied = lenient.recipe.apply(survey(), scenario=sdc.Scenario(**SCENARIOS["one"]), watch=False)
    matched = applied.assess(seed=1)["default"]["matching_risk"].mean_match_risk
    proposal = found("one", entries={"thresholds": {"k": 3, "match_risk": 0.9 * matched}})
    assert proposal.passed
    assert lenient.optimal
    assert proposal.loss > lenient.loss
    assert not proposal.optimal


def test_what_is_impossible_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JUDGED", 1)
    proposal = found("one", entries={"thresholds": {"k": 3, "match_risk": 0.000001}})
    assert not proposal.passed
    assert proposal.exceeded == ("match_risk",)
    assert "are expected to be matched back" in proposal.impossible[0]
    assert "match_risk" in proposal.text
    assert not proposal.optimal
    with pytest.raises(DataError, match="no combination of recodings leaves few enough"):
        found("one", keep=["age", "sex", "area"], share=0.0)


def test_what_a_release_gives_back_is_taken_out_with_the_key() -> None:
    data = survey().with_columns(district=pl.col("area") + "x", born=2024 - pl.col("age"))
    entries = {"thresholds": {"k": 3, "recoverable": 0.0}}
    scenario = sdc.Scenario(**{**SCENARIOS["one"], **entries})
    proposal = found("one", data, entries=entries)
    assert proposal.passed
    applied = proposal.recipe.apply(data, scenario=scenario, watch=False)
    assert sdc.check(data, applied.data, scenario=scenario, log=applied.log, seed=1).passed


def test_households_and_weights() -> None:
    data = homes.people()
    scenario = sdc.Scenario(
        keys=["region", "size", "age", "sex"], household="home", weight="w", thresholds={"k": 3, "risk": 0.05}
    )
    proposal = sdc.propose(data, scenario=scenario, alternatives=0)
    assert proposal.passed
    assert not proposal.optimal  # the risk of a sample may rise where cells are merged
    applied = proposal.recipe.apply(data, scenario=scenario)
    assert sdc.check(data, applied.data, scenario=scenario, log=applied.log, seed=1).passed


def test_identifiers_are_left_out_and_not_needed() -> None:
    data = survey().with_columns(name=pl.format("n{}", pl.int_range(700)))
    proposal = found("one", data, entries={"identifiers": ["name"]})
    assert proposal.recipe.steps[0].method == "drop_identifiers"
    assert "n12" not in proposal.text


@pytest.mark.parametrize("name", SCENARIOS)
def test_who_hears_of_recipes_that_pass_hears_of_one_at_once_and_the_end_is_the_same(name: str) -> None:
    data, scenario = survey(300, missing=True), sdc.Scenario(**SCENARIOS[name])
    heard: list[Alternative | str] = []
    given: dict[str, Any] = {"columns": data.columns, "alternatives": 1}
    with_listener = make_proposal(data, scenario, step=heard.append, passing=heard.append, **given)
    without = make_proposal(data, scenario, **given)
    assert with_listener.text == without.text
    assert with_listener.to_dict(internal=True) == without.to_dict(internal=True)
    passing = [at for at, message in enumerate(heard) if isinstance(message, Alternative)]
    # the first comes before any search has been judged; each loses less than the one before, and the best is the last
    assert sum("checking every threshold" in str(message) for message in heard[: passing[0]]) <= 2
    losses = [message.loss for message in heard if isinstance(message, Alternative)]
    assert losses == sorted(set(losses), reverse=True)
    assert losses[-1] <= without.loss
    first = heard[passing[0]]
    assert isinstance(first, Alternative)
    applied = first.recipe.apply(data, scenario=scenario, watch=False)
    assert sdc.check(data, applied.data, scenario=scenario, log=applied.log, seed=1).passed


def test_what_cells_tell_of_the_first_recipe_is_said_before_the_rest_is_judged() -> None:
    data, scenario = survey(300, missing=True), sdc.Scenario(**{**SCENARIOS["one"], "release": "public-use"})
    heard: list[Any] = []
    how: dict[str, Any] = {"step": heard.append, "passing": heard.append, "judging": heard.append}
    make_proposal(data, scenario, columns=data.columns, alternatives=0, **how)
    first = next(at for at, message in enumerate(heard) if isinstance(message, Candidate))
    candidate = heard[first]
    judged = [message for message in heard[:first] if isinstance(message, str) and "checking every" in message]
    assert not judged
    assert {"k", "risk"} <= set(candidate.held)
    # what is reconstructed waits; what is of a ledger, or of sensitive variables, is not asked where there is none
    assert {"recoverable", "k_undone"} <= set(candidate.waiting)
    assert not {"k_linked", "l"} & set(candidate.waiting)
    assert not set(candidate.held) & set(candidate.waiting)
    assert candidate.keys == next(message for message in heard if isinstance(message, Alternative)).keys


def test_a_recipe_that_failed_is_said_to_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As soon as it did: the next one may take long to be made."""
    heard: list[Candidate | str | None] = []

    def failing(*_: Any) -> Any:
        heard.append("failed")
        raise DataError("no release can be made")

    data, scenario = survey(300), sdc.Scenario(**SCENARIOS["one"])
    monkeypatch.setattr(module, "_repaired", failing)
    with pytest.raises(DataError):
        make_proposal(
            data, scenario, columns=data.columns, alternatives=0, passing=lambda _: None, judging=heard.append
        )
    for at in (0, 3):
        assert isinstance(heard[at], Candidate)
        assert heard[at + 1 : at + 3] == ["failed", None]


def test_what_passed_before_the_search_is_the_proposal_where_nothing_later_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page had said that every limit holds, and ended with a recipe that broke one."""
    search = module._judged

    def failing(*given: Any) -> Any:
        ways = search(*given)
        broken = [[replace(verdict, holds=False) for verdict in judged.verdicts] for *_, judged in ways]
        return [
            (*way[:3], replace(way[3], verdicts=tuple(verdicts))) for way, verdicts in zip(ways, broken, strict=True)
        ]

    data, scenario = survey(300), sdc.Scenario(**SCENARIOS["one"])
    monkeypatch.setattr(module, "_judged", failing)
    monkeypatch.setattr(module, "JUDGED", 1)  # of those that fail any number shows the same
    heard: list[Alternative] = []
    proposal = make_proposal(data, scenario, columns=data.columns, alternatives=1, passing=heard.append)
    assert heard[0].passed
    assert (proposal.passed, proposal.optimal, proposal.exceeded) == (True, False, ())
    assert proposal.recipe.to_toml() == heard[0].recipe.to_toml()
    assert proposal.loss == heard[0].loss
    for time_limit in (None, 600.0):  # the command line, which hears of none
        alone = make_proposal(data, scenario, columns=data.columns, alternatives=1, time_limit=time_limit)
        assert (alone.text, alone.passed) == (proposal.text, True)


def test_what_passed_before_the_search_is_the_proposal_where_what_passes_later_loses_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page shows what loses less and less, and must not end with what loses more."""
    search = module._judged

    def losing_more(*given: Any) -> Any:
        return [(*way[:3], replace(way[3], measured=2.0)) for way in search(*given)]

    data, scenario = survey(300), sdc.Scenario(**SCENARIOS["one"])
    monkeypatch.setattr(module, "_judged", losing_more)
    heard: list[Alternative] = []
    proposal = make_proposal(data, scenario, columns=data.columns, alternatives=0, passing=heard.append)
    assert (proposal.passed, proposal.optimal, proposal.loss) == (True, False, heard[0].loss)
    assert proposal.recipe.to_toml() == heard[0].recipe.to_toml()
    assert make_proposal(data, scenario, columns=data.columns, alternatives=0).text == proposal.text


@pytest.mark.parametrize("stopped", [False, True])
def test_what_was_begun_ahead_is_gone_on_with_and_the_end_is_the_same(
    monkeypatch: pytest.MonkeyPatch, *, stopped: bool
) -> None:
    class AsideError(BaseException):
        pass

    def aside(text: str) -> None:
        if stopped and text.startswith("step 1"):
            raise AsideError

    data, scenario = survey(300), sdc.Scenario(**SCENARIOS["one"])
    given: dict[str, Any] = {"columns": data.columns, "alternatives": 0}
    kept = Begun()
    with pytest.raises(AsideError) if stopped else nullcontext():
        begin_proposal(data, scenario, kept, step=aside)
    assert kept.trials is not None
    assert (kept.early is None) is stopped
    plain = of_few()
    monkeypatch.setattr("sdckit.workflow.proposing.propose.open_lattice", None)  # it is there
    heard: list[Alternative | str] = []
    proposal = make_proposal(data, scenario, kept=kept, step=heard.append, passing=heard.append, **given)
    assert (proposal.text, proposal.to_dict(internal=True)) == (plain.text, plain.to_dict(internal=True))
    assert isinstance(heard[0], Alternative) is not stopped


def test_what_fails_before_the_search_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, calls = module._repaired, list[str]()

    def failing_first(*given: Any) -> Any:
        calls.append("judged")
        if len(calls) == 1:
            raise DataError("groups stay without enough sensitive values")
        return whole(*given)

    data, scenario = survey(300), sdc.Scenario(**SCENARIOS["one"])
    without = of_few()
    monkeypatch.setattr(module, "_repaired", failing_first)
    heard: list[Alternative] = []
    proposal = make_proposal(data, scenario, columns=data.columns, alternatives=0, passing=heard.append)
    assert proposal.text == without.text
    assert heard
    assert len(calls) > 1


def test_a_time_limit_ends_the_search() -> None:
    assert found("one", time_limit=600.0).text == plain("one").text
    with pytest.raises(DataError, match="time_limit"):
        found("one", time_limit=0.0)


def test_a_search_that_its_time_ended_does_not_say_that_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdckit.workflow.proposing.find_best.pass_early", lambda trials, asked: [])
    with pytest.raises(DataError, match="the time given ended before a combination of recodings was found"):
        found("one", time_limit=1e-9)


def test_refusals() -> None:
    with pytest.raises(ScenarioError, match="scenario= is missing"):
        sdc.propose(survey(), scenario=None)  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match="no threshold that recodings could aim at"):
        found("one", entries={"thresholds": {"match_risk": 0.1}})
    with pytest.raises(ColumnError, match=r"keep: 'agee' .*did you mean 'age'"):
        found("one", keep=["agee"])
    with pytest.raises(ColumnError, match="prefer: 'kids'"):
        found("one", prefer={"kids": [{"bands": [0, None]}]})
    with pytest.raises(DataError, match="do not follow from each other"):
        found("one", prefer={"age": [{"bands": [0, 30, 60, None]}, {"bands": [0, 45, None]}]})
    with pytest.raises(DataError, match="makes values missing"):
        found("one", prefer={"age": [{"bands": [0, 30], "outside": "missing"}]})
    with pytest.raises(DataError, match="prefer="):
        found("one", prefer={"age": {"bands": [0, 30]}})  # type: ignore[dict-item]
    with pytest.raises(ScenarioError, match="prefer: age: a recoding is recode"):
        found("one", prefer={"age": [{"method": "new_ids"}]})
    with pytest.raises(DataError, match="loss= is 'information'"):
        found("one", loss="auc")


def test_households_alone_with_their_composition_are_told_of() -> None:
    """No recoding of one key brings a household of five together with others: the proposal says so."""
    sizes = [5, *[2] * 60]
    sex = ["f", "m", "f", "m", "f", *["f", "m"] * 60]
    people = pl.DataFrame({"home": np.repeat(np.arange(61), sizes), "sex": sex})
    limits = {"k": 3, "household_uniques": 0.0}
    told = sdc.Scenario(keys=["sex"], household="home", thresholds=limits)
    found = sdc.propose(people, scenario=told, alternatives=0)
    assert (found.passed, found.exceeded) == (False, ("household_uniques",))
    assert "of the households are alone with their composition" in found.impossible[0]


def test_where_the_time_is_over_once_a_recipe_passes_that_one_is_the_proposal(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    judged: list[object] = []
    monkeypatch.setattr(
        module, "judge", lambda *given, judge=module.judge, **more: judged.append(1) or judge(*given, **more)
    )
    heard: list[tuple[Alternative, int]] = []

    def passing(alternative: Alternative) -> None:
        heard.append((alternative, len(judged)))
        now[0] = 1e6

    data, scenario = survey(300), sdc.Scenario(**SCENARIOS["one"])
    proposal = make_proposal(data, scenario, columns=data.columns, time_limit=600.0, passing=passing)
    ((first, before),) = heard
    assert (proposal.passed, proposal.optimal, len(judged)) == (True, False, before)
    assert proposal.recipe.to_toml() == first.recipe.to_toml()


# Work on a thread of its own: done once, its result or its error given wherever it is asked for.


def test_it_is_done_once_beside_the_rest() -> None:
    go, done = threading.Event(), list[str]()

    def make() -> str:
        go.wait(60)
        done.append(threading.current_thread().name)
        return "made"

    wait = begun(make)
    assert not done
    go.set()
    assert [wait(), wait()] == ["made", "made"]
    assert len(done) == 1
    assert done[0] != threading.current_thread().name


@pytest.mark.parametrize("error", [TimeoutError("late"), ValueError("bad")])
def test_its_error_is_that_of_whoever_asks(error: Exception) -> None:
    def fail() -> None:
        raise error

    wait = begun(fail)
    for _ in range(2):
        with pytest.raises(type(error), match=str(error)):
            wait()
