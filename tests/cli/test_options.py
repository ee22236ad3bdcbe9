"""From options and a scenario file to one scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cli.conftest import KEYS
from sdckit.cli.app import command_tree
from sdckit.cli.options import CoverOptions, ReleaseType, codes, make_scenario, split, split_named
from sdckit.data.packaged import packaged
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, FileFormatError, ScenarioError


def made(file: Path | None = None, **given: Any) -> Scenario:
    shared: dict[str, Any] = {"keys": None, "intruders": None, "missing_rule": None, "thresholds": {}}
    return make_scenario(file, **(shared | given))


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text('keys = ["a", "b"]\nweight = "w"\nsensitive = ["s"]\n\n[thresholds]\nk = 3\nl = 2\n')
    return path


def test_lists_are_comma_separated_and_repeatable() -> None:
    assert split(["a, b", "c", ",", ""]) == ["a", "b", "c"]
    assert split(None) == []
    assert split(['"Alter, in Jahren", sex', 'size "m"', '"open, still']) == [
        "Alter, in Jahren", "sex", 'size "m"', "open, still",
    ]  # fmt: skip


def test_an_empty_code_alone_is_a_choice() -> None:
    assert made(keys=["a"], missing_codes=codes([""])).missing_codes == ("",)
    assert made(keys=["a"], missing_codes=codes(None)).missing_codes == ()
    assert codes(["", "NA, -9"]) == codes(["NA", "-9", ""]) == ["", "NA", "-9"]
    assert codes([","]) == [""]


@pytest.mark.parametrize("text", ["neighbour", "=a,b", "neighbour="])
def test_a_named_list_needs_a_name_and_a_value(text: str) -> None:
    with pytest.raises(ScenarioError, match="--intruders takes name=value"):
        split_named([text], option="--intruders")


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(ScenarioError, match="names 'x' twice"):
        split_named(["x=a", "x=b"], option="--intruders")


def test_options_alone_make_a_scenario() -> None:
    scenario = made(keys=["a,b", "c"], weight="w", sensitive=["s"], thresholds={"k": 3, "risk": None})
    assert scenario.keys == ("a", "b", "c")
    assert (scenario.weight, scenario.sensitive) == ("w", ("s",))
    assert scenario.thresholds.declared == {"k": 3}


def test_several_intruders() -> None:
    scenario = made(intruders=["neighbour=a,b", "register=b,c"])
    assert dict(scenario.intruders) == {"neighbour": ("a", "b"), "register": ("b", "c")}


def test_keys_and_intruders_exclude_each_other() -> None:
    with pytest.raises(ScenarioError, match="not both"):
        made(keys=["a"], intruders=["x=a"])


def test_without_keys_it_says_what_to_do() -> None:
    with pytest.raises(ScenarioError, match="--keys sex,age,region, or --scenario"):
        made()


def test_an_option_wins_over_the_file(stored: Path) -> None:
    scenario = made(stored, keys=["c"], thresholds={"k": 5}, sensitive=[])
    assert scenario.keys == ("c",)
    assert scenario.thresholds.declared == {"k": 5, "l": 2}
    assert (scenario.weight, scenario.sensitive) == ("w", ("s",))


def test_a_sampling_fraction_replaces_the_weight_of_the_file(stored: Path) -> None:
    scenario = made(stored, sampling_fraction=0.1)
    assert (scenario.weight, scenario.sampling_fraction) == (None, 0.1)


def test_a_weight_replaces_the_sampling_fraction_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('keys = ["a"]\nsampling_fraction = 0.1\n')
    scenario = made(path, weight="w")
    assert (scenario.weight, scenario.sampling_fraction) == ("w", None)


def test_weight_and_sampling_fraction_together_are_refused() -> None:
    with pytest.raises(ScenarioError):
        made(keys=["a"], weight="w", sampling_fraction=0.1)


def test_one_rule_for_missing_values() -> None:
    assert made(keys=["a", "b"], missing_rule=["category"]).missing == "category"


def test_a_rule_per_key_and_one_for_the_others() -> None:
    scenario = made(keys=["a", "b"], missing_rule=["a=error,category"])
    assert scenario.missing == {"a": "error", "b": "category"}


def test_a_rule_for_one_key_leaves_the_others_alone() -> None:
    assert made(keys=["a", "b"], missing_rule=["a=category"]).missing == {"a": "category"}


def test_two_bare_rules_are_refused() -> None:
    with pytest.raises(ScenarioError, match="one rule for all keys"):
        made(keys=["a"], missing_rule=["category,error"])


# A file without weight and sampling fraction is said to be taken for the whole population, in plain words.


TAKEN = "is taken for the whole population."
SCENARIO = 'keys = ["sex", "age", "region"]\nidentifiers = ["name"]\n{more}\n[thresholds]\nk = 2\n'
RECIPE = '[[steps]]\nmethod = "local_suppression"\n'


@pytest.mark.parametrize(
    ("more", "said"), [((), True), (("--weight", "w"), False), (("--sampling-fraction", 0.1), False)]
)
def test_an_assessment_says_so(sdckit, survey: Path, more: tuple[object, ...], said: bool) -> None:
    done = sdckit("assess", survey, *KEYS, *more)
    assert (f"survey.csv {TAKEN}" in done.out) == said
    assert ("--weight W or --sampling-fraction X" in done.out) == said
    assert TAKEN not in sdckit("assess", survey, *KEYS, *more, "-q").out
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(("more", "said"), [("", True), ('weight = "w"', False), ("sampling_fraction = 1.0", False)])
def test_the_gate_and_protection_say_so(sdckit, survey: Path, tmp_path: Path, more: str, said: bool) -> None:
    scenario, recipe = tmp_path / "s.toml", tmp_path / "r.toml"
    scenario.write_text(SCENARIO.format(more=more), encoding="utf-8")
    recipe.write_text(RECIPE, encoding="utf-8")
    for call in (
        ("check", survey, "--scenario", scenario),
        ("protect", recipe, survey, "--scenario", scenario, "--out", tmp_path / "o.csv"),
    ):
        done = sdckit(*call)
        assert (TAKEN in done.out) == said, done.err
        assert ("sampling_fraction = X in the scenario" in done.out) == said
        assert done.err == ""


def test_a_guessed_scenario_says_so(sdckit, survey: Path, tmp_path: Path, frame, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "whole population" not in sdckit("scenario", "init", survey).out
    frame.drop("w").write_csv(tmp_path / "whole.csv")
    assert "whole.csv will be taken for the whole population" in sdckit(
        "scenario", "init", tmp_path / "whole.csv", "--out", "other.toml"
    ).out  # fmt: skip


# The options on the type of release: the same for every command that judges a file or takes a scenario.


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Four of a kind, twenty times, and no more than three of one kind."""
    path = tmp_path / "people.csv"
    kinds = [age for age in range(20) for _ in range(4)] + [50] * 3
    pl.DataFrame({"sex": ["f"] * len(kinds), "age": kinds}).write_csv(path)
    return path


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    said = 'keys = ["sex", "age"]\nsensitive = []\nhousehold = "none"\nmagnitudes = []\nsampling_fraction = 0.001\n'
    path.write_text(said, encoding="utf-8")
    return path


@pytest.fixture
def office(tmp_path: Path) -> Path:
    path = tmp_path / "office.toml"
    path.write_text("[release_types.public-use]\nk = 3\n\n[release_types.partners]\nk = 4\n", encoding="utf-8")
    return path


def test_options_replace_entries() -> None:
    scenario = Scenario(keys=["sex"], release="enclave")
    assert ReleaseType().of(scenario) is scenario
    found = ReleaseType(release_type="public-use").of(scenario)
    assert found is not None
    assert found.release == "public-use"
    assert ReleaseType().of(None) is None
    with pytest.raises(ScenarioError, match="need a scenario"):
        ReleaseType(release_type="public-use").of(None)


def test_check_judges_by_the_type(sdckit, people: Path, scenario: Path, office: Path) -> None:
    given = ("check", people, "--scenario", scenario)
    assert sdckit(*given).code == 2
    contract = sdckit(*given, "--release-type", "scientific-use")
    assert contract.code == 0
    assert contract.out.startswith("Type of release: scientific-use file. Its limits: k 3, individual risk 0.2.")
    assert "limit of a scientific-use file" in " ".join(contract.out.split())
    assert sdckit(*given, "--release-type", "public-use").code == 1
    assert sdckit(*given, "--release-type", "public-use", "--release-types", office).code == 0
    assert sdckit(*given, "--release-type", "enclave").code == 2  # no limit of its own
    own = sdckit(*given, "--release-type", "partners", "--release-types", office)
    assert own.code == 1
    assert "3 records are in groups of fewer than 4" in own.out


def test_what_no_type_is_called_is_told(sdckit, people: Path, scenario: Path) -> None:
    done = sdckit("check", people, "--scenario", scenario, "--release-type", "partners")
    assert (done.code, done.out) == (2, "")
    assert "--release-type must be one of 'public-use'" in done.err
    done = sdckit("check", people, "--scenario", scenario, "--release-types", scenario)
    assert done.code == 2
    assert "s.toml: there is no entry 'keys' in a file of release types" in done.err


def test_assess_writes_the_type_into_its_documents(sdckit, people: Path, office: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    given = ("assess", people, "--keys", "sex,age", "--release-type", "public-use", "--release-types", office)
    assert sdckit(*given, "--json", out, "--quiet").code == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["scenario"]["limits"]["k"] == {"value": 3, "origin": "office", "of_type": 3}
    assert found["verdicts"][0]["origin"] == "the office’s limit of a public-use file"
    assert "[release_types.public-use]" in found["reproduce"]["scenario"]
    assert (
        "Thresholds: k 3, risk 0.05, l 2, household_risk 0.05, exact_numbers 0.0\nType of release: public-use file."
        in sdckit(*given, "--dry-run").out
    )


def test_the_command_of_a_report_names_the_type(sdckit, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    given = ("assess", people, "--keys", "sex,age", "--release-type", "teaching", "--quiet", "--json", out)
    assert sdckit(*given).code == 0
    command = json.loads(out.read_text(encoding="utf-8"))["reproduce"]["command"]
    assert command == "sdckit assess FILE --keys sex,age --release-type teaching"


def test_a_recipe_takes_k_from_the_type(sdckit, people: Path, scenario: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text('[[steps]]\nmethod = "local_suppression"\n', encoding="utf-8")
    given = (recipe, people, "--scenario", scenario)
    assert sdckit("protect", *given, "--out", tmp_path / "no.csv").code == 2
    done = sdckit("protect", *given, "--release-type", "scientific-use", "--out", tmp_path / "out.csv", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert pl.read_csv(tmp_path / "out.csv").null_count().row(0) == (0, 0)
    done = sdckit("protect", *given, "--release-type", "public-use", "--out", tmp_path / "pub.csv", "--quiet")
    assert done.code == 0
    assert sum(pl.read_csv(tmp_path / "pub.csv").null_count().row(0)) > 0
    given = ("explore", *given, "--grid", "1.k=2,3", "--release-type", "teaching", "--quiet")
    assert sdckit(*given, "--out", tmp_path / "map.csv").code == 0
    done = sdckit("explore", recipe, people, "--grid", "1.k=2,3", "--release-type", "teaching")
    assert (done.code, "need a scenario" in done.err) == (2, True)


# The options that say whose a report is: given to it, refused without one, looked at before any work.


PNG = b"\x89PNG\r\n\x1a\n"


def test_what_is_given_reaches_the_report() -> None:
    given = CoverOptions(name="Survey", institution="Office", logo=Path("l.png"), language="de")
    assert given.arguments(Path("a.csv"), None, Path("b.csv")) == {
        "name": "Survey", "institution": "Office", "logo": Path("l.png"), "files": [Path("a.csv"), Path("b.csv")],
        "language": "de",
    }  # fmt: skip
    assert CoverOptions().arguments() == {
        "name": "", "institution": "", "logo": None, "files": [], "language": "en",
    }  # fmt: skip


def test_a_cover_without_a_report_is_refused(tmp_path: Path) -> None:
    CoverOptions().check(written=False)
    for given in (
        CoverOptions(name="a"),
        CoverOptions(institution="a"),
        CoverOptions(logo=tmp_path),
        CoverOptions(language="de"),
    ):
        with pytest.raises(ScenarioError, match="--language are those of a report; name it by --report"):
            given.check(written=False)


def test_a_logo_is_looked_at_before_any_work(tmp_path: Path) -> None:
    logo = tmp_path / "logo.png"
    logo.write_bytes(PNG)
    CoverOptions(logo=logo, name="a").check(written=True)
    logo.write_bytes(b"GIF89a")
    with pytest.raises(FileFormatError, match=r"no \.png or \.jpg"):
        CoverOptions(logo=logo).check(written=True)


def test_an_unknown_language_is_refused_before_any_work() -> None:
    CoverOptions(language="de").check(written=True)
    with pytest.raises(DataError, match="language 'xx' is unknown"):
        CoverOptions(language="xx").check(written=True)


# The words of options stand in a table: a row that no option asks for is one that nobody reads.


def helped(command: Any) -> set[str]:
    """The help of every option and argument below a command."""
    below = [helped(inner) for inner in getattr(command, "commands", {}).values()]
    return {str(parameter.help) for parameter in command.params}.union(*below)


def test_every_row_of_the_words_is_an_option() -> None:
    shown = helped(command_tree())
    unread = [
        f"{group}.{name}"
        for group, rows in packaged("cli/options.toml").items()
        for name, row in rows.items()
        if name != "panel" and not any(row[-1].partition("{")[0] in text for text in shown)
    ]
    assert unread == []
