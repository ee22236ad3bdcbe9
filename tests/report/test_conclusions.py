"""What attacks mean, and their residual risk, worked out from what is printed."""

from __future__ import annotations

import pytest

from sdckit.numerics.intervals import excess
from sdckit.report.chapters.attacks_chapter import conclude
from sdckit.report.conclusions import GUESSING, concluded, judge_rates


def count(value, step=5):
    if isinstance(value, str):
        return {"text": value, "value": None, "below": int(value[1:])}
    return {"text": str(value), "value": value, **({"rounded_to": step} if step > 5 else {})}


def judged(place, n=100, n_control=100, **found):
    release = {"n_attacks": count(n), **({"n_control": count(n_control)} if n_control else {})}
    release |= {name: count(value) for name, value in found.items() if name not in {"baseline_rate", "ends"}}
    release |= {name: value for name, value in found.items() if name in {"baseline_rate", "ends"}}
    done = conclude(
        {"control": True, "attacks": {place: {"releases": [release]}}, "distances": None, "distances_all": None}
    )
    one = done["attacks"][place]
    assert "ends" not in one["releases"][0]
    assert one["residual_risk"] == one["releases"][0]["residual_risk"]
    return one["means"], one["residual_risk"], one["releases"][0]


RARE = {"baseline_rate": {"text": "0.01", "value": 0.01}}


@pytest.mark.parametrize(
    ("found", "words", "successes"),
    [
        ({"successes": 45, "control_successes": 10}, "the release discloses more", (45, 10)),
        ({"successes": 45, "control_successes": 40}, "no sign that being in the file", (45, 40)),
        ({"failures": 0, "control_successes": "<5"}, "the release discloses more", (100, 2.5)),
        ({"failures": "<5", "control_failures": 5}, "no sign that being in the file", (97.5, 95)),
        ({"failures": "<5", "control_failures": 0}, "no sign that being in the file", (97.5, 100)),
    ],
)
def test_words_and_residual_risk_from_printed_counts(found, words, successes):
    means, residual, release = judged("linkability:a", **RARE, **found)
    assert means.startswith(words)
    assert not any(letter.isdigit() for letter in means)
    a, c = successes
    three = [min(max(one, 0), 1) for one in excess(a, 100, c, 100)]
    assert [residual[name] for name in ("value", "low", "high")] == [round(one, 6) for one in three]
    assert release["success_rate"]["text"].endswith("%")


def test_few_successes_have_an_upper_end():
    means, residual, _ = judged("linkability:a", successes="<5", control_successes=0, **RARE)
    assert means == "too few successes to tell them from guessing"
    most = excess(5, 100, 0, 100)[2]
    assert residual["value"] is None
    assert residual["below"] == round(most, 6) != most
    assert residual["text"] == f"<{100 * most:.1f} %"


@pytest.mark.parametrize(
    ("found", "words", "text"),
    [
        ({"successes": 0}, "no better than guessing, which", "–"),
        ({"successes": 45, "n_control": 0}, "better than guessing; how much of it", "undefined"),
        ({"successes": 45}, "better than guessing; the control file is too small", "undefined"),
    ],
)
def test_nothing_to_compare(found, words, text):
    means, residual, _ = judged("linkability:a", **RARE, **found)
    assert means.startswith(words)
    assert residual == {"text": text, "value": None}


def test_a_small_control_file_is_named():
    found = {"successes": 45, "control_successes": 5, "n_control": 10}
    means, _, _ = judged("linkability:a", **RARE, **found)
    assert means.endswith("the control file is too small for a narrower answer")
    found = {"successes": 10, "control_successes": 5, "n": 20, "n_control": 20}
    means, _, _ = judged("linkability:a", **RARE, **found)
    assert means.endswith("the attacks are too few for a narrower answer")


def test_guesses_that_may_be_as_many():
    means, _, release = judged("inference:a:ill", successes=50, baseline_successes=50, control_successes=10)
    assert means.startswith("as good as guessing, as far as rounded figures tell; the release discloses more")
    assert release["baseline_rate"] == {"text": "50.0 %", "value": 0.5}
    assert "better" not in judged("inference:a:ill", successes=55, baseline_successes=50, control_successes=10)[0]
    assert "no better" in judged("inference:a:ill", successes=45, baseline_successes=50, control_successes=10)[0]


def test_guessing_calls_as_many_members_in_the_file_as_out_of_it():
    means, residual, release = judged("membership", successes=45, control_successes=25)
    assert release["baseline_rate"] == {"text": "35.0 %", "value": 0.35}
    assert release["control_rate"] == {"text": "25.0 %", "value": 0.25}
    assert means.startswith("the release discloses more")
    assert residual["value"] == pytest.approx(0.2 / 0.75, abs=1e-6)
    assert judged("membership", successes=45, control_failures=45)[0].startswith("no better than guessing")
    assert judged("membership", successes=50, control_successes=50)[0].startswith("as good as guessing")
    _, _, hidden = judged("membership", failures="<5", control_successes="<5")
    assert hidden["control_rate"] == {"text": "<5.0 %", "value": None, "below": 0.05}
    assert hidden["success_rate"] == {"text": ">95 %", "value": None, "above": 0.95}


def test_ends_of_dependent_queries_only_where_no_count_is_small():
    place, few = "singling_out:multivariate", {"baseline_successes": "<5", "ends": [0.12, 0.6]}
    _, shown, _ = judged(place, successes=45, control_successes=10, **few)
    assert (shown["low"], shown["high"]) == (0.12, 0.6)
    for found in ({"control_successes": "<5"}, {"control_failures": "<5"}):
        _, residual, _ = judged(place, successes=45, **found, **few)
        assert "low" not in residual
    _, residual, _ = judged(place, successes="<5", control_successes=10, **few)
    assert residual == {"text": "not shown", "value": None}
    _, residual, _ = judged(place, failures="<5", control_successes=10, **few)
    assert residual["text"].endswith("(not shown)")


def test_no_attempts_and_few():
    def alone(release, place="membership"):
        found = conclude(
            {"control": True, "attacks": {place: {"releases": [release]}}, "distances": None, "distances_all": None}
        )
        return found["attacks"][place]

    assert alone({"n_attacks": count(0)})["means"] == "no attack could be made"
    few = alone({"n_attacks": count("<5")})
    assert few["means"] == "too few attempts to say anything"
    assert few["releases"][0]["success_rate"]["text"] == "too few"
    withheld = {"n_attacks": count(100), "successes": {"text": "withheld", "value": None}, **RARE}
    assert alone(withheld, "linkability:a")["means"] == "the number of successes is withheld"


def test_the_worst_release_is_told():
    releases = [
        {
            "n_attacks": count(100),
            "n_control": count(100),
            "successes": count(a),
            "control_successes": count(10),
            **RARE,
        }
        for a in (10, 60, 0)
    ]
    one = conclude(
        {
            "control": True,
            "attacks": {"linkability:a": {"releases": releases}},
            "distances": None,
            "distances_all": None,
        }
    )
    one = one["attacks"]["linkability:a"]
    assert one["means"].startswith("the release discloses more")
    assert one["residual_risk"] == one["releases"][1]["residual_risk"]
    assert one["releases"][2]["residual_risk"]["text"] == "–"


def test_a_confidential_attack_is_exact():
    exact = {
        "success_rate": 0.421, "success_low": 0.4, "success_high": 0.45, "baseline_rate": 0.1, "control_rate": 0.2,
        "control_low": 0.1, "control_high": 0.3, "risk": 0.276, "risk_low": 0.2, "risk_high": 0.4,
    }  # fmt: skip

    def done(**more):
        release = {"n_attacks": count(100), "exact": {**exact, **more}}
        one = conclude(
            {
                "control": True,
                "attacks": {"membership": {"releases": [release]}},
                "distances": None,
                "distances_all": None,
            }
        )
        return one["attacks"]["membership"]["releases"][0], one["attacks"]["membership"]["means"]

    release, means = done()
    assert release["success_rate"] == {"text": "42.1 % (40.0–45.0)", "value": 0.421, "low": 0.4, "high": 0.45}
    assert release["control_rate"]["text"] == "20.0 % (10.0–30.0)"
    assert release["residual_risk"]["text"] == "27.6 % (20.0–40.0)"
    assert means.startswith("the release discloses more")
    assert "no sign" in done(risk_low=0.0)[1]
    assert done(baseline_rate=0.5)[0]["residual_risk"]["text"] == "–"
    assert "without a control file" in done(control_rate=None)[1]
    assert done(success_rate=None)[1] == "no attack could be made"


def test_nothing_is_concluded_beside_people_of_the_file_itself():
    release = {"n_attacks": count(100), "n_control": count(100), "successes": count(45), **RARE}
    for state, words in (("apart", "the release discloses more"), ("overlapping", "not to be trusted: people of")):
        tree = {"releases": [{**release, "control_successes": count(10)}], "control_state": state}
        done = conclude({"control": True, "attacks": {"linkability:a": tree}, "distances": None, "distances_all": None})
        assert done["attacks"]["linkability:a"]["means"].startswith(words)
    weak = {"releases": [{**release, "successes": count(0), "control_successes": count(0)}], "control_state": state}
    done = conclude({"control": True, "attacks": {"linkability:a": weak}, "distances": None, "distances_all": None})
    assert done["attacks"]["linkability:a"]["means"].startswith("no better than guessing")


def release_of(n=100, n_control=100, **found):
    leaves = {name: count(value) for name, value in found.items()}
    return {"n_attacks": count(n), "n_control": count(n_control), **RARE, **leaves}


EXACT = {
    "success_rate": 0.5, "success_low": 0.4, "success_high": 0.6, "baseline_rate": 0.1, "control_rate": 0.2,
    "control_low": 0.1, "control_high": 0.3, "risk": 0.4, "risk_low": 0.25, "risk_high": 0.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("rank", "release"),
    [
        (0, {"n_attacks": count(0), **RARE}),
        (0, {"n_attacks": count("<5"), **RARE}),
        (1, release_of(successes=0, control_successes=10)),
        (2, {**release_of(control_successes=10), "successes": {"text": "withheld", "value": None}}),
        (2, release_of(successes="<5", control_successes=10)),
        (2, release_of(successes=45, control_successes=40)),
        (3, {"n_attacks": count(100), "successes": count(45), **RARE}),
        (4, release_of(successes=45, control_successes=10)),
        (0, {**release_of(), "exact": {**EXACT, "success_rate": None, "control_rate": None}}),
        (1, {**release_of(), "exact": {**EXACT, "success_rate": 0.1}}),
        (2, {**release_of(), "exact": {**EXACT, "risk_low": 0.0}}),
        (3, {**release_of(), "exact": {**EXACT, "control_rate": None}}),
        (4, {**release_of(), "exact": EXACT}),
    ],
)
def test_the_worse_a_release_the_higher_its_rank(rank, release):
    """Nothing tried, as good as guessing, open or no sign, better than guessing without control, more than others."""
    assert judge_rates(release)[0] == rank


def test_exact_rates_have_one_digit_and_their_ends():
    _, _, shown = judge_rates({**release_of(), "exact": EXACT})
    assert shown["success_rate"]["text"] == "50.0 % (40.0–60.0)"
    assert shown["control_rate"]["text"] == "20.0 % (10.0–30.0)"
    assert shown["baseline_rate"] == {"text": "10 %", "value": 0.1}
    assert shown["residual_risk"] == {"text": "40.0 % (25.0–50.0)", "value": 0.4, "low": 0.25, "high": 0.5}


def test_people_of_the_file_among_those_never_in_it_end_every_conclusion():
    better, as_good = (release_of(successes=45, control_successes=10), release_of(successes=0, control_successes=10))
    found = concluded(judge_rates, {"releases": [better, as_good], "control_state": "overlapping"})
    assert found["means"].startswith("not to be trusted: ")
    assert concluded(judge_rates, {"releases": [as_good], "control_state": "overlapping"})["means"] == GUESSING
    apart = concluded(judge_rates, {"releases": [better], "control_state": "apart"})
    assert apart["means"].startswith("the release discloses more")


def test_of_releases_alike_the_one_of_the_larger_risk_is_told():
    small, large = (release_of(successes=one, control_successes=10) for one in (45, 70))
    for order in ((small, large), (large, small)):
        found = concluded(judge_rates, {"releases": list(order)})
        assert found["residual_risk"] == judge_rates(large)[2]["residual_risk"]
