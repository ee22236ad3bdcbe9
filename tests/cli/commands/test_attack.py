"""``sdckit attack``: every attack that applies, one line of error for what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.cli.attack_files import Attacked, read_wanted
from sdckit.cli.commands.attack import _attacked, _opened
from sdckit.cli.progress import Steps
from sdckit.errors import DataError
from sdckit.workflow.plan import AttackedColumns

KNOWN = ("--known", "sex,age", "--known", "region,income")
FAST = ("--n-attacks", 60, "--seed", 1, "--identifiers", "pid,w")
MARKER = "Zq7Qx"


@pytest.fixture
def files(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """Original, release and control of 80 people each, in the working folder."""
    monkeypatch.chdir(tmp_path)
    everybody = releases.original(160)
    original = everybody[:80]
    original.write_csv("original.csv")
    everybody[80:].write_csv("control.csv")
    releases.release(original).write_csv("release.csv")
    return tmp_path


def test_every_attack(sdckit, files) -> None:
    options = ("--released", "release.csv", "--control", "control.csv", *KNOWN, "--target", "ill,income", *FAST)
    done = sdckit("attack", "original.csv", *options)
    assert (done.code, done.err) == (0, "")
    lines = [line for line in done.out.splitlines() if line.strip()]
    assert lines[0] == "original.csv: a release of 80 against 80 records, 80 never in the file"
    for words in (
        "Singling out by one column", "Singling out by several columns", "queries of 3 columns",
        "Linking two pieces of knowledge", "Inferring ill", "Inferring income", "Telling who is in the file", "(AUC)",
        "Distances between released and real records",
    ):  # fmt: skip
        assert words in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    assert sdckit("attack", "original.csv", *options).out == done.out


def test_a_number_of_people_that_nobody_chose_is_warned_of(sdckit, files) -> None:
    options = ("--released", "release.csv", "--kind", "singling-out", "--n-attacks", 20, "--seed", 1)
    assert "warning: pid: says whose a row is" in sdckit("attack", "original.csv", *options).err
    assert "pid" not in sdckit("attack", "original.csv", *options, "--identifiers", "pid").err
    assert "pid" not in sdckit("attack", "original.csv", *options, "--variables", "pid,sex,age").err


def test_a_copy_of_the_original_and_no_control(sdckit, files) -> None:
    (files / "copy.csv").write_bytes((files / "original.csv").read_bytes())
    done = sdckit(
        "attack", "original.csv", "--released", "copy.csv", "--kind", "linkability", "--known", "pid",
        "--known", "income", "--seed", 1, "--variables", "income",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert "without a control file" in done.out
    assert "Without a control file it is open" in " ".join(done.out.split()).replace("  ", " ")
    assert "Singling" not in done.out
    assert "Distances" not in done.out


def test_one_column_is_attacked_alone(sdckit, files) -> None:
    only = ("--released", "release.csv", "--variables", "income", "--kind", "singling-out", "--n-attacks", 20)
    done = sdckit("attack", "original.csv", *only)
    assert done.code == 0
    assert "Singling out by one column" in done.out
    assert "several columns" not in done.out


def test_beside_a_scenario_and_a_control_file_attacks_use_all_that_goes_out(sdckit, files) -> None:
    (files / "s.toml").write_text('keys = ["sex", "age"]\nweight = "w"\nidentifiers = ["pid"]\n')
    given = (
        "attack",
        "original.csv",
        "--released",
        "release.csv",
        "--scenario",
        "s.toml",
        "--n-attacks",
        30,
        "--json",
        "-",
    )
    control = ("--control", "control.csv")
    twice = json.loads(sdckit(*given, *control).out)
    assert twice["asked"]["columns"] == ["sex", "age"]
    assert twice["asked"]["every_column"] == ["sex", "age", "region", "income", "ill"]
    assert {"membership", "membership:all", "singling_out:univariate:all"} <= set(twice["attacks"])
    assert twice["distances_all"]["place"] == "distance_to_closest_record:all"
    for once in (json.loads(sdckit(*given).out), json.loads(sdckit(*given, *control, "--variables", "sex,age").out)):
        assert not [place for place in once["attacks"] if place.endswith(":all")]
    shown = sdckit(*given[:-2], *control, "--kind", "membership").out
    assert "Telling who is in the file, every" in shown
    assert "5 of 5: sex, age, region, income, ill" in shown
    assert "Singling out" not in shown


def test_several_releases_and_a_scenario(sdckit, files) -> None:
    releases.release(releases.original(160)[:80], seed=5).write_csv("other.csv")
    (files / "s.toml").write_text(
        'keys = ["sex", "age", "region"]\nsensitive = ["ill"]\nnumeric = ["income"]\nidentifiers = ["pid"]\n'
    )
    both = ("--released", "release.csv", "--released", "other.csv")
    done = sdckit("attack", "original.csv", *both, "--scenario", "s.toml", "--n-attacks", 40, "--seed", 1)
    assert (done.code, done.err) == (0, "")
    assert "original.csv: 2 releases against 80 records, without a control file" in done.out
    assert "Inferring ill" in done.out
    assert "compared as numbers: income" in done.out
    assert "means over the releases" in done.out


def test_missing_values_are_no_obstacle_and_no_value_is_shown(sdckit, files, survey, frame) -> None:
    frame[:120].with_columns(age=None).write_csv("half.csv")
    done = sdckit(
        "attack", survey, "--released", "half.csv", "--known", "sex,age,region", "--target", "income",
        "--identifiers", "name,hh", *FAST[:4],
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert MARKER not in done.out


def test_subgroups_and_records_linked_despite_slips(sdckit, files) -> None:
    options = (
        "--released", "release.csv", "--control", "control.csv", "--known", "age,region", "--id", "pid", "--by", "sex",
        "--n-attacks", 60, "--seed", 1, "--identifiers", "w",
    )  # fmt: skip
    done = sdckit("attack", "original.csv", *options)
    assert (done.code, done.err) == (0, "")
    for words in (
        "Telling who is in the file, by sex",
        "Distances, by sex",
        "Linking records despite slips",
        "By guessing",
    ):
        assert words in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_json_is_protected_unless_internal(sdckit, files) -> None:
    options = ("--released", "release.csv", "--control", "control.csv", "--by", "region", *FAST)
    printed = sdckit("attack", "original.csv", *options, "--json", "-", "--no-progress")
    plain = json.loads(printed.out)
    assert (plain["schema"], plain["protected"], plain["control"]) == ("sdckit/attacks", True, True)
    assert set(plain["attacks"]) == {"singling_out:univariate", "singling_out:multivariate", "membership"}
    asked = plain["asked"]
    assert (asked["n_attacks"], asked["columns_at_once"], asked["seeded"], asked["halves"]) == (60, 3, True, {})
    assert set(asked["columns"]) >= {"age", "region"}
    assert "north" not in printed.out
    assert "exact" not in printed.out
    done = sdckit("attack", "original.csv", *options, "--json", "out.json", "--internal")
    assert done.code == 0
    assert "Attacks that succeed" in done.out
    whole = json.loads((files / "out.json").read_text(encoding="utf-8"))
    assert whole["confidential"]
    assert whole["attacks"]["membership"]["exact"]["n_attacks"] == 60
    assert (files / "out.json").stat().st_mode & 0o777 == 0o600


def test_no_json_of_few_people(sdckit, files) -> None:
    releases.original(30).write_csv(files / "few.csv")
    for original, released in (("few.csv", "release.csv"), ("original.csv", "few.csv")):
        few = (original, "--released", released, "--json", "out.json", "--kind", "distances", *FAST)
        done = sdckit("attack", *few)
        assert (done.code, done.out) == (2, "")
        assert "fewer than 50 records" in done.err
        assert not (files / "out.json").exists()
        assert sdckit("attack", *few, "--internal").code == 0
        (files / "out.json").unlink()


def test_an_assessment_makes_as_many_attempts_as_asked_for(sdckit, files) -> None:
    options = ("--released", "release.csv", "--keys", "sex,age", "--sensitive", "ill", "--seed", 1, "-q")
    for more, n in ((("--n-attacks", 25), 25), ((), 80)):  # there are 80 people, fewer than 500
        done = sdckit("assess", "original.csv", *options, "--attacks", *more, "--json", "-")
        plain = json.loads(done.out)["attacks"]["attacks"]["inference:default:ill"]
        assert plain["releases"][0]["n_attacks"]["value"] == n
    for more, words in (((), "--n-attacks is of the simulated attacks"), (("--attacks",), "1 or more")):
        done = sdckit("assess", "original.csv", *options, *more, "--n-attacks", 0)
        assert (done.code, done.out) == (2, "")
        assert words in done.err


def test_an_assessment_draws_people_by_their_id(sdckit, files) -> None:
    options = ("--released", "release.csv", "--keys", "sex,age", "--sensitive", "ill", "--id", "pid", "--seed", 1, "-q")
    done = sdckit("assess", "original.csv", *options, "--attacks", "--targets", 30, "--json", "a.json")
    assert done.code == 0, done.err
    plain = json.loads((files / "a.json").read_text())
    assert plain["attacks"]["asked"]["n_drawn"] == 30
    assert plain["attacks"]["attacks"]["inference:default:ill"]["releases"][0]["n_attacks"]["value"] == 30
    assert "--targets 30" in plain["reproduce"]["command"]
    refused = (
        (("--keys", "sex,age", "--targets", 30), "give --released"),
        (("--released", "release.csv", "--keys", "sex,age", "--targets", 30), "give --id"),
        ((*options, "--targets", 0), "--targets"),
    )
    for given, words in refused:
        done = sdckit("assess", "original.csv", *given)
        assert (done.code, done.out) == (2, "")
        assert words in done.err


REFUSED = {
    "no release": ((), "--released"),
    "release absent": (("--released", "none.csv"), "none.csv"),
    "the original itself": (("--released", "original.csv"), "is the original itself"),
    "control absent": (("--released", "release.csv", "--control", "none.csv"), "none.csv"),
    "unknown kind": (("--released", "release.csv", "--kind", "linkabilty"), "did you mean 'linkability'?"),
    "too few attempts": (("--released", "release.csv", "--n-attacks", "0"), "--n-attacks counts attempts"),
    "negative seed": (("--released", "release.csv", "--seed", "-1"), "--seed takes a whole number"),
    "wrong column": (("--released", "release.csv", "--variables", "incme"), "did you mean 'income'?"),
    "wrong target": (("--released", "release.csv", "--known", "age", "--target", "il"), "did you mean 'ill'?"),
    "wrong subgroup": (("--released", "release.csv", "--by", "sexx"), "did you mean 'sex'?"),
    "subgroup that the control lacks": (
        ("--released", "release.csv", "--control", "narrow.csv", "--by", "sex", "--variables", "age,income"),
        "narrow.csv has no column 'sex'",
    ),
    "subgroup never read": (("--released", "release.csv", "--by", "sex", "--identifiers", "sex"), "is an identifier"),
    "rows of which kind": (("--released", "release.csv", "--kind", "probabilistic-linkage"), "--aligned"),
    "json on the input": (("--released", "release.csv", "--json", "original.csv"), "the command reads this file"),
    "text as a number": (("--released", "release.csv", "--scenario", "text.toml"), "'sex'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_line(sdckit, files, case: str) -> None:
    (files / "text.toml").write_text('keys = ["age"]\nnumeric = ["sex"]\n')
    releases.original(160)[80:].drop("sex").write_csv(files / "narrow.csv")
    options, words = REFUSED[case]
    done = sdckit("attack", "original.csv", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.lines[0]
    assert len([line for line in done.lines if line.startswith("error: ")]) == 1


EVERYBODY = releases.original(160)
ORIGINAL, CONTROL = EVERYBODY[:80], EVERYBODY[80:]
RELEASED = releases.release(ORIGINAL)
NAMES = ("sex", "age", "region", "income")


def made(*, released: Any = RELEASED, control: Any = CONTROL, id: str | None = None, **given: Any) -> Any:
    """Attack as the command does."""
    wanted = read_wanted(**{"kinds": [], "known": [], "targets": [], "id": id, **given})
    files = Attacked(ORIGINAL, [released], control, AttackedColumns(NAMES), ("income",), (), id)
    with quiet():
        opened = _opened(files, wanted, None)
        return _attacked(files, opened, wanted, n_attacks=40, seed=1, steps=Steps(quiet=True))


def test_each_is_what_python_gives() -> None:
    known = [["sex", "age"], ["region"]]
    found = made(known=known, targets=["ill", "income"], id="pid", by=["sex"]).results
    both = {"control": CONTROL, "n_attacks": 40, "seed": 1, "by": ["sex"]}
    keys = ["sex", "age", "region"]
    income = {"variables": NAMES, "numeric": ["income"]}
    files = (ORIGINAL, RELEASED)
    with quiet():
        expected = {
            "singling_out:univariate": sdc.singling_out(*files, variables=NAMES, **both),
            "singling_out:multivariate": sdc.singling_out(*files, variables=NAMES, mode="multivariate", **both),
            "linkability:default": sdc.linkability(*files, known=(known[0], known[1]), numeric=[], **both),
            "probabilistic_linkage:default": sdc.probabilistic_linkage(
                *files, variables=keys, numeric=[], id="pid", seed=1
            ),
            "inference:default:ill": sdc.inference(*files, known=keys, target="ill", numeric=[], **both),
            "inference:default:income": sdc.inference(*files, known=keys, target="income", numeric=["income"], **both),
            "membership": sdc.membership(*files, **income, **both),
            "distance_to_closest_record": sdc.distance_to_closest_record(
                *files, **income, control=CONTROL, by=["sex"], seed=1
            ),
        }
    assert found.keys() == expected.keys()
    for place, one in found.items():
        assert one.to_dict() == expected[place].to_dict()
        if place != "probabilistic_linkage:default":
            assert one.by_group.rows() == expected[place].by_group.rows()


def test_linkage_that_fails_is_an_error_only_where_it_was_asked_for() -> None:
    shorter = {"released": RELEASED[:70], "known": [["sex", "age"]]}
    with pytest.raises(DataError, match="row"):
        made(**shorter, kinds=["probabilistic-linkage", "singling-out"], aligned=True)
    declared = sdc.Scenario(keys=["sex", "age"], aligned=True)
    found = made(released=RELEASED[:70], scenario=declared, control=None)
    assert {"singling_out:univariate", "singling_out:multivariate"} <= found.results.keys()
    ((place, reason),) = found.skipped
    assert place == "probabilistic_linkage:default"
    assert "row" in reason


def test_the_id_says_which_rows_belong_together() -> None:
    given = {"kinds": ["probabilistic-linkage"], "known": [["sex", "age", "region"]]}
    (plain,) = made(**given, id="pid").results.values()
    (moved,) = made(**given, id="pid", released=RELEASED.reverse()).results.values()
    assert plain.rate == pytest.approx(moved.rate)
    (wrong,) = made(**given, aligned=True, released=RELEASED.reverse()).results.values()
    assert wrong.rate < plain.rate / 2


def test_rules_of_blocking_reach_the_linkage() -> None:
    given = {"kinds": ["probabilistic-linkage"], "known": [["sex", "age", "region"]], "aligned": True}
    (found,) = made(**given, blocking=[["sex", "age"], ["region"]]).results.values()
    (whole,) = made(**given).results.values()
    assert found.n_pairs < whole.n_pairs == 80**2
    with pytest.raises(DataError, match="two rules or more"):
        made(**given, blocking=[["sex"]])


# What is shown of attacks.
