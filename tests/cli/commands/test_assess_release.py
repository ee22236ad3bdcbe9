"""``sdckit assess ORIGINAL --released FILE``: tables, documents, the gate."""

from __future__ import annotations

import json
import re

import pytest

import releases

ROLES = ("--keys", "sex,age,region", "--sensitive", "ill", "--numeric", "income")


@pytest.fixture
def files(tmp_path):
    original, released = tmp_path / "original.csv", tmp_path / "release.csv"
    releases.original().write_csv(original)
    releases.release().write_csv(released)
    return original, released


def test_before_after_matching_and_learning(sdckit, files):
    original, released = files
    done = sdckit(
        "assess", original, "--released", released, *ROLES, "--aligned", "--k", 3, "--match-risk", 0.1, "--full"
    )
    assert done.code == 0
    lines = [line for line in done.out.splitlines() if line.strip()]
    assert lines[0] == "original.csv"
    assert lines[1].startswith("A release of 240 records")
    for words in (
        "The original and the release", "Can rows be matched back?", "Correct attribution of ill",
        "Disclosure of ill", "Prediction of ill", "expected to be matched back",
    ):  # fmt: skip
        assert words in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_several_releases(sdckit, files, tmp_path):
    original, _ = files
    others = []
    for seed in range(4):
        others += ["--released", tmp_path / f"r{seed}.csv"]
        releases.release(seed=seed).write_csv(others[-1])
    done = sdckit("assess", original, *others, *ROLES, "--id", "pid")
    assert done.code == 0
    assert all(f"Release {j}" in done.out for j in range(1, 5))
    assert max(map(len, done.out.splitlines())) <= 80
    assert "4 releases of 240 records" in done.out


def test_simulated_attacks(sdckit, files, tmp_path):
    original, released = files
    releases.original(seed=9).write_csv(tmp_path / "control.csv")
    report = tmp_path / "r.html"
    done = sdckit(
        "assess", original, "--released", released, *ROLES, "--control", tmp_path / "control.csv", "--seed", 1,
        "--report", report, "--full",
    )  # fmt: skip
    assert done.code == 0
    for words in ("Attacks that succeed", "Telling who is in the file", "Inferring ill"):
        assert words in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert "Simulated attacks" in report.read_text(encoding="utf-8")
    done = sdckit("assess", original, "--released", released, *ROLES, "--attacks", "--seed", 1, "--full")
    assert re.search(r"Telling who is in the file +there is no control file", done.out)


def test_documents(sdckit, files, tmp_path):
    original, released = files
    report, figures = tmp_path / "r.html", tmp_path / "r.json"
    done = sdckit(
        "assess", original, "--released", released, *ROLES, "--aligned", "--report", report, "--json", figures, "-q"
    )  # fmt: skip
    assert (done.code, done.out) == (0, "")
    assert json.loads(figures.read_text(encoding="utf-8"))["schema"] == "sdckit/release-assessment"
    assert "What can be learnt?" in report.read_text(encoding="utf-8")


def test_the_gate(sdckit, files, tmp_path):
    original, released = files
    limits = tmp_path / "s.toml"
    limits.write_text(
        'keys = ["sex", "age", "region"]\naligned = true\n[thresholds]\nmatch_risk = 0.9\n', encoding="utf-8"
    )
    assert sdckit("check", original, "--released", released, "--scenario", limits).code == 0
    assert sdckit("check", original, "--scenario", limits).code == 2


REFUSED = {
    "the original itself": (("--released", "original.csv"), "is the original itself"),
    "nothing there": (("--released", "none.csv"), "none.csv"),
    "id without a release": (("--id", "pid"), "give --released FILE"),
    "control without a release": (("--control", "release.csv"), "give --released FILE"),
    "attacks without a release": (("--attacks",), "give --released FILE"),
    "control is the original": (("--released", "release.csv", "--control", "original.csv"), "itself"),
    "control absent": (("--released", "release.csv", "--control", "none.csv"), "none.csv"),
    "id that is not there": (("--released", "release.csv", "--id", "nobody"), "no column 'nobody'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_line(sdckit, files, case, monkeypatch):
    monkeypatch.chdir(files[0].parent)
    options, words = REFUSED[case]
    done = sdckit("assess", "original.csv", *ROLES, *options)
    assert done.code == 2
    assert len(done.lines) == 1
    assert words in done.err


def test_how_rows_are_matched(sdckit, files, tmp_path):
    """A width given on the command line, or in the scenario, is used and told; a wider one finds more."""
    original, released = files
    roles = ("--keys", "sex,age,income", "--aligned")
    found = {}
    for width in (0, 0.1):
        path = tmp_path / f"{width}.json"
        given = ("--match-width", f"income={width},age=2", "--match-absolute", "age", "--high-risk", 0.2)
        done = sdckit(
            "assess", original, "--released", released, *roles, *given, "--internal", "--json", path, "--full"
        )
        assert done.code == 0
        found[width] = json.loads(path.read_text())["intruders"][0]["measures"]["matching_risk"]
        assert "within ± 2 of the value" in done.out
        assert "by chance" in done.out
    assert "single matches that are wrong" in done.out
    assert [one["matched"] for one in found[0.1]["variables"]] == [
        "exactly", "within ± 2 of the value", "within ± 10 % of the value",
    ]  # fmt: skip
    none, some = (found[width]["releases"][0]["expected_match_risk"]["value"] for width in (0, 0.1))
    assert some > 5 > none
    assert set(found[0.1]["releases"][0]) >= {"baseline", "false_match_rate", "n_high_risk"}


def test_the_gate_uses_the_widths_of_the_scenario(sdckit, files, tmp_path):
    """It passed: income was matched exactly, and nobody was found."""
    original, released = files
    head = 'keys = ["sex", "age", "income"]\naligned = true\n[thresholds]\nmatch_risk = 0.02\n[matching]\n'
    codes = {}
    for width in ("0", "0.1"):
        path = tmp_path / "s.toml"
        path.write_text(f"{head}width = {{income = {width}, age = 5}}\nrelative = {{age = false}}\n")
        codes[width] = sdckit("check", original, "--released", released, "--scenario", path).code
    assert codes == {"0": 0, "0.1": 1}


def test_matching_options_without_a_release(sdckit, files):
    done = sdckit("assess", files[0], "--keys", "sex,age", "--match-width", "0.1")
    assert done.code == 2
    assert "give --released FILE" in done.err
    wrong = sdckit("assess", files[0], "--released", files[1], "--keys", "sex,age", "--match-width", "agge=2")
    assert wrong.code == 2
    assert "--match-width names 'agge', no key of an intruder; did you mean 'age'" in wrong.err
