"""``sdckit assess``: tables, JSON, report, plan, and what each option changes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

KEYS = ("--keys", "sex,age,region")
MARKER = "Zq7Qx"
PROGRAM = Path(sys.executable).with_name("sdckit")


def test_the_answer_stands_on_top(sdckit, survey: Path) -> None:
    done = sdckit("assess", survey, *KEYS, "--weight", "w", "--k", 3)
    assert (done.code, done.err) == (0, "")
    head = [line for line in done.out.splitlines() if line.strip()]
    assert head[0] == "survey.csv"
    assert head[1].startswith("Disclosure risk of 240 records")
    assert head[2].startswith("Not within the declared limits: The only limit is exceeded.")
    assert head[3] == "The answer"
    assert "Records alone with their combination" in done.out
    assert "What to do next" in head
    assert len(head) < 40
    full = sdckit("assess", survey, *KEYS, "--weight", "w", "--k", 3, "--full").out
    assert full.count("\n") > 2 * done.out.count("\n")
    assert "Cells by number of records" in full


def test_without_thresholds_it_is_a_description(sdckit, survey: Path) -> None:
    assert "No limit was declared" in sdckit("assess", survey, *KEYS).out


def test_within_every_threshold(sdckit, survey: Path) -> None:
    assert "Within every declared limit" in sdckit("assess", survey, "--keys", "sex", "--k", 2).out


def test_the_verdict_does_not_change_the_exit_code(sdckit, survey: Path) -> None:
    assert sdckit("assess", survey, *KEYS, "--k", 1000).code == 0


def test_subgroups_have_tables_here_and_in_no_protected_document(sdckit, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = sdckit("assess", survey, "--keys", "sex,age", "--by", "region", "--json", out)
    assert done.code == 0
    assert "By region, the riskiest first" in done.out
    (one,) = json.loads(out.read_text(encoding="utf-8"))["intruders"]
    assert one["subgroups"]["individual_risk"] == {"by": ["region"]}
    done = sdckit("assess", survey, "--keys", "sex,age", "--by", "regoin")
    assert done.code == 2
    assert "regoin" in done.err


def test_it_reads_well_in_80_columns(sdckit, survey: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = sdckit(
        "assess", survey, *KEYS, "--weight", "w", "--household", "hh", "--sensitive", "income",
        "--k", 3, "--risk", 0.05, "--l", 2, "--full",
    )  # fmt: skip
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    for title in (
        "exceeded",
        "Keys",
        "Who can be recognised",
        "Cells by number of records",
        "One key left out",
        "Households",
        "What would be learnt",
    ):
        assert title in done.out


def test_no_value_of_a_record_in_the_tables(sdckit, survey: Path) -> None:
    done = sdckit("assess", survey, *KEYS, "--sensitive", "income", "--household", "hh", "--k", 2)
    assert MARKER not in done.out + done.err


def test_several_intruders_side_by_side(sdckit, survey: Path) -> None:
    done = sdckit(
        "assess", survey, "--intruders", "neighbour=sex,age", "--intruders", "register=sex,age,region", "--full"
    )
    assert done.code == 0
    assert "Intruders side by side" in done.out
    told = " ".join(done.out.split())
    assert "Intruder “neighbour” Known to the intruder: sex and age." in told
    assert "Intruder “register” Known to the intruder: sex, age and region." in told


def test_missing_keys_are_shown_under_both_rules(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    gaps = pl.when(pl.int_range(pl.len()) % 10 == 0).then(None).otherwise(pl.col("region")).alias("region")
    frame.with_columns(gaps).write_csv(survey)
    done = sdckit("assess", survey, *KEYS, "--full")
    assert done.code == 0
    for rule in ("wildcard", "category"):
        assert f"missing as {rule}" in done.out


def test_json_to_standard_output_is_only_json(sdckit, survey: Path) -> None:
    done = sdckit("assess", survey, *KEYS, "--weight", "w", "--json", "-")
    assert (done.code, done.err) == (0, "")
    assert isinstance(json.loads(done.out), dict)
    assert MARKER not in done.out


def test_json_to_a_file_beside_the_tables(sdckit, survey: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = sdckit("assess", survey, *KEYS, "--json", target)
    assert "Disclosure risk of 240 records" in done.out
    assert isinstance(json.loads(target.read_text(encoding="utf-8")), dict)


def test_protected_and_internal_json_differ(sdckit, survey: Path) -> None:
    outside = sdckit("assess", survey, *KEYS, "--json", "-").out
    inside = sdckit("assess", survey, *KEYS, "--json", "-", "--internal").out
    assert outside != inside


def test_the_report_is_written_and_named(sdckit, survey: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("an older one")
    done = sdckit("assess", survey, *KEYS, "--report", target)
    assert (done.code, done.err) == (0, "")
    assert "Report written: report.html" in done.out
    assert target.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    assert MARKER not in target.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "survey.csv"]


def test_an_internal_report_is_for_the_owner_only(sdckit, survey: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    assert sdckit("assess", survey, *KEYS, "--report", target, "--internal").code == 0
    assert target.stat().st_mode & 0o777 == 0o600
    assert "confidential" in target.read_text(encoding="utf-8")


def test_quiet_says_nothing(sdckit, survey: Path, tmp_path: Path) -> None:
    done = sdckit("assess", survey, *KEYS, "--report", tmp_path / "r.html", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "r.html").exists()


def test_a_dry_run_reads_no_data_and_writes_nothing(sdckit, survey: Path, tmp_path: Path, monkeypatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("the data were read")

    monkeypatch.setattr("sdckit.data.files.readers.read_file", forbidden)
    done = sdckit("assess", survey, *KEYS, "--sensitive", "income", "--report", tmp_path / "r.html", "--dry-run")
    assert (done.code, done.err) == (0, "")
    for part in ("Would read 4 of 7 columns", "would run  l_diversity", "would not  household_structure", "MB"):
        assert part in done.out
    assert not (tmp_path / "r.html").exists()


def test_a_scenario_file_and_an_option_that_wins(sdckit, survey: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text('keys = ["sex", "age", "region"]\nweight = "w"\n\n[thresholds]\nk = 100\n')
    assert "exceeded" in sdckit("assess", survey, "--scenario", scenario).out
    assert "Within every" in sdckit("assess", survey, "--scenario", scenario, "--keys", "sex", "--k", 2).out


def test_an_identifier_is_never_read(sdckit, survey: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdckit.data.files import readers

    asked: list[tuple[str, ...]] = []
    read_file = readers.read_file

    def watched(path: Path, **options: object) -> pl.DataFrame:
        asked.append(options["columns"])
        return read_file(path, **options)

    monkeypatch.setattr(readers, "read_file", watched)
    assert sdckit("assess", survey, *KEYS, "--identifiers", "name").code == 0
    assert asked == [("sex", "age", "region")]


def test_codes_for_missing_values(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    coded = pl.when(pl.int_range(pl.len()) % 6 == 0).then(pl.lit("-9")).otherwise(pl.col("age")).alias("age")
    frame.with_columns(coded).write_csv(survey)
    assert "16.7 %" in sdckit("assess", survey, *KEYS, "--missing=-9", "--full").out


@pytest.mark.parametrize(
    ("separator", "options"), [(";", ()), ("\t", ()), ("|", ("--delimiter", "|"))], ids=["semicolon", "tab", "pipe"]
)
def test_other_delimiters(sdckit, survey: Path, frame: pl.DataFrame, separator: str, options) -> None:
    frame.write_csv(survey, separator=separator)
    assert "240 records" in sdckit("assess", survey, *KEYS, *options).out


def test_parquet_gives_the_same_tables(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    parquet = survey.with_name("survey.parquet")
    frame.write_parquet(parquet)
    answers = [sdckit("assess", path, *KEYS, "--weight", "w").out for path in (survey, parquet)]
    assert answers[0].replace("survey.csv", "survey.parquet") == answers[1]


def test_the_program_in_a_pipe(survey: Path) -> None:
    done = subprocess.run(
        [PROGRAM, "assess", survey, *KEYS, "--json", "-", "--quiet"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    json.loads(done.stdout)


def test_a_reader_that_leaves_early_gets_no_traceback(survey: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [PROGRAM, "assess", survey, *KEYS, "--json", "-"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_further_measures_are_named(sdckit, survey: Path) -> None:
    done = sdckit("assess", survey, *KEYS, "--measures", "suda", "--measures", "risky_cells,outliers")
    assert (done.code, done.err) == (0, "")
    assert "Minimal uniques by the number of keys" in done.out
    assert "Unsafe cells by number of variables" in done.out
    assert re.search(r"Outliers +outliers +the scenario names no numeric", done.out)
    assert "Minimal uniques" not in sdckit("assess", survey, *KEYS).out


def test_all_measures_in_tables_and_json(sdckit, survey: Path, tmp_path: Path) -> None:
    roles = (*KEYS, "--sampling-fraction", 0.1, "--numeric", "w", "--measures", "all")
    done = sdckit("assess", survey, *roles, "--json", tmp_path / "all.json")
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80
    one = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["intruders"][0]
    assert {"suda", "population_risk", "population_uniques", "risky_cells", "outliers"} <= one.keys()
    assert MARKER not in done.out + json.dumps(one)


def test_a_measure_that_does_not_exist_is_told_before_reading(sdckit, survey: Path) -> None:
    survey.unlink()
    done = sdckit("assess", survey, *KEYS, "--measures", "sudda")
    assert (done.code, done.out) == (2, "")
    assert done.lines == ["error: --measures: no further measure 'sudda'; did you mean 'suda'?"]


def test_a_dry_run_names_further_measures(sdckit, survey: Path) -> None:
    done = sdckit("assess", survey, *KEYS, "--measures", "all", "--dry-run")
    assert "would run  suda" in done.out
    assert "would not  outliers: the scenario names no numeric variable" in done.out
    assert "k_map" not in done.out


def test_earlier_documents_are_audited_together_with_the_new_one(sdckit, survey: Path, tmp_path: Path) -> None:
    folder = tmp_path / "earlier"
    folder.mkdir()
    assert sdckit("assess", survey, *KEYS, "--json", folder / "first.json").code == 0
    assert json.loads((folder / "first.json").read_text(encoding="utf-8"))["quantities"]
    new = ("--json", tmp_path / "new.json", "--beside", folder)
    assert sdckit("assess", survey, "--keys", "sex,age", *new).code == 0
    (folder / "odd.json").write_text("[]", encoding="utf-8")
    done = sdckit("assess", survey, "--keys", "sex,age", *new)
    assert done.code == 2
    assert "odd.json is no protected JSON document" in done.err


def test_a_report_in_another_language(sdckit, survey: Path, tmp_path: Path) -> None:
    """The report is German, the terminal English; a language without a report is refused."""
    path = tmp_path / "bericht.md"
    done = sdckit("assess", survey, *KEYS, "--k", 3, "--report", path, "--language", "de")
    assert done.code == 0
    assert "## Was als Nächstes zu tun ist" in path.read_text(encoding="utf-8")
    assert "Not within the declared limits" in done.out
    refused = sdckit("assess", survey, *KEYS, "--language", "de")
    assert refused.code == 2
    assert "name it by --report" in " ".join(refused.err.split())


def test_what_no_column_is_can_be_said_on_the_command_line(sdckit, survey: Path, tmp_path: Path) -> None:
    roles = ["--keys", "sex", "--weight", "w", "--identifiers", "name", "--insensitive", "age,region*"]
    none = ["--sensitive", "none", "--magnitudes", "none", "--household", "none"]
    why = ["--insensitive-because", "looked through by the office"]
    done = sdckit("assess", survey, *roles, *none, *why, "--insensitive", "income,hh", "--release-type", "public-use")
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "Within every declared limit." in said
    assert "1 column of 6 covered by a pattern as insensitive: looked through by the office" in said
    assert "could not be judged" not in said
    open_ = sdckit("assess", survey, *roles, *why, "--insensitive", "income,hh", "--release-type", "public-use")
    assert "does not say which columns are sensitive" in " ".join(open_.out.split())
    (tmp_path / "s.toml").write_text('keys = ["sex"]\nsensitive = ["income"]\nmagnitudes = ["w"]\nhousehold = "hh"\n')
    given = ["--scenario", tmp_path / "s.toml", "--insensitive", "age,region,income,hh,w"]
    done = sdckit("assess", survey, *given, *none, "--identifiers", "name", "--release-type", "public-use")
    assert "Within every declared limit." in " ".join(done.out.split()), done.err


def test_a_column_named_insensitive_must_be_there_and_a_pattern_need_not(sdckit, survey: Path, tmp_path: Path) -> None:
    done = sdckit("assess", survey, "--keys", "sex", "--insensitive", "reggion")
    assert (done.code, done.err) == (
        2, "error: the file has no column 'reggion' (declared as insensitive); did you mean 'region'?\n"
    )  # fmt: skip
    assert sdckit("assess", survey, "--keys", "sex", "--insensitive", "q*", "--insensitive-because", "x").code == 0
    pl.read_csv(survey).drop("region").with_columns(added=pl.lit(1)).write_csv(tmp_path / "r.csv")
    release = ["--released", tmp_path / "r.csv", "--seed", 1]
    assert sdckit("assess", survey, *release, "--keys", "sex", "--insensitive", "region,added").code == 0
