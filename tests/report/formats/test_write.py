from __future__ import annotations

import errno
import json
import os
import stat
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from full_disk import DISK_FULL, fill_disk
from report.fakes import FULL, FakeAssessment, assess_fake, survey
from report.real import MADE, plain as printed
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, FileFormatError
from sdckit.report.chapters.document import SCHEMA_VERSION
from sdckit.report.formats import write as module
from sdckit.report.formats.write import plain_document, render_json, write_json, write_report
from tree import ROOT


@pytest.fixture(scope="module")
def assessment() -> FakeAssessment:
    return assess_fake(survey(200), FULL)


def test_the_ending_chooses_the_format(assessment: FakeAssessment, tmp_path: Path) -> None:
    assert write_report(assessment, tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE")
    assert write_report(assessment, str(tmp_path / "a.md")).read_text(encoding="utf-8").startswith("# ")
    with pytest.raises(FileFormatError, match=r"\.docx or \.md"):
        write_report(assessment, tmp_path / "a.odt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.md"]


def test_json_goes_to_a_file_or_to_standard_output(
    assessment: FakeAssessment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_json(assessment, tmp_path / "a.json")
    assert path is not None
    assert write_json(assessment, "-") is None
    assert json.loads(capsys.readouterr().out) == json.loads(path.read_text(encoding="utf-8"))


def test_a_confidential_file_is_the_owners_alone(assessment: FakeAssessment, tmp_path: Path) -> None:
    private = write_report(assessment, tmp_path / "a.html", internal=True)
    write_json(assessment, tmp_path / "a.json", internal=True)
    public = write_report(assessment, tmp_path / "b.html")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o600
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(public.stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("where", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_nothing_behind(
    where: str, assessment: FakeAssessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "disk full at a path that must not be told")

    if where == "write":
        fill_disk(monkeypatch)
    elif where == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileFormatError, match=f"could not write the report: {DISK_FULL}") as error:
        write_report(assessment, tmp_path / "a.html")
    assert "path" not in str(error.value)
    assert error.value.__cause__ is None
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_a_failure_keeps_the_older_report(
    assessment: FakeAssessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text("older", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileFormatError, match="could not write the JSON"):
        write_json(assessment, path)
    assert path.read_text(encoding="utf-8") == "older"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_a_folder_that_is_not_there(assessment: FakeAssessment, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="No such file or directory"):
        write_report(assessment, tmp_path / "nowhere" / "a.html")


def test_a_broken_pipe_is_a_clear_error(assessment: FakeAssessment, monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def write(self, _: str) -> int:
            raise BrokenPipeError(errno.EPIPE, "closed")

        def flush(self) -> None:
            raise BrokenPipeError(errno.EPIPE, "closed")

    monkeypatch.setattr("sys.stdout", Closed())
    with pytest.raises(FileFormatError, match="could not write the JSON"):
        write_json(assessment, "-")


def test_a_small_file_gives_no_document(tmp_path: Path) -> None:
    small = assess_fake(survey(20), Scenario(keys=["sex"]))
    with pytest.raises(DataError, match="fewer than 50"):
        write_report(small, tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []
    assert write_report(small, tmp_path / "a.html", internal=True).exists()


def test_a_pipe_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: Any, **__: Any) -> Any:
        raise AssertionError("work began")

    monkeypatch.setattr("sdckit.report.formats.write.plain_document", work)
    unread: Any = None
    for name, write in (("a.html", write_report), ("a.json", write_json)):
        os.mkfifo(tmp_path / name)
        with pytest.raises(FileFormatError, match="not a regular file"):
            write(unread, tmp_path / name)
        assert stat.S_ISFIFO((tmp_path / name).stat().st_mode)


def test_a_report_behind_a_link(assessment: FakeAssessment, tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    assert write_report(assessment, tmp_path / "link.html") == tmp_path / "link.html"
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text(encoding="utf-8").startswith("<!DOCTYPE")


def test_an_assessment_is_protected_once_for_all_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, times = assess_fake(survey(60), FULL), []

    def counted(*given: Any, **options: Any) -> Any:
        times.append(options)
        return protect(*given, **options)

    protect = module.protect_beside
    monkeypatch.setattr(module, "protect_beside", counted)
    write_report(found, tmp_path / "a.html")
    write_json(found, tmp_path / "a.json")
    first = plain_document(found)
    assert times == [{"internal": False}]
    first["n"]["text"] = "somebody wrote into it"
    assert plain_document(found)["n"]["text"] == "60"
    write_json(found, tmp_path / "exact.json", internal=True)
    assert times == [{"internal": False}, {"internal": True}]


SCHEMA = ROOT / "docs" / "json-schema.md"


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render_json(plain_document(assess_fake(survey(300, missing=0.02), FULL))))
    return found


def test_the_schema_is_on_top(data: dict[str, Any]) -> None:
    assert data["schema"] == "sdckit/assessment"
    assert data["schema_version"] == SCHEMA_VERSION
    assert data["protected"] is True


def test_keys_are_the_attributes_of_the_api(data: dict[str, Any]) -> None:
    one = data["intruders"][0]
    assert {"n_cells", "sample_uniques", "frequency_of_frequencies"} <= one["key_frequencies"].keys()
    assert {"violations", "violation_rates"} <= one["k_anonymity"].keys()
    assert {"global_risk", "expected_reidentifications", "n_above", "household_risk"} <= one["individual_risk"].keys()
    assert {"n_households", "unique_compositions"} <= one["household_structure"].keys()
    assert {"uniques", "table"} <= one["key_contributions"].keys()


def test_a_hidden_count_is_null_with_its_bound(data: dict[str, Any]) -> None:
    def hidden(plain: Any) -> list[dict[str, Any]]:
        if isinstance(plain, dict):
            own = [plain] if plain.get("text") == "<5" else []
            return own + [leaf for part in plain.values() for leaf in hidden(part)]
        return [leaf for part in plain for leaf in hidden(part)] if isinstance(plain, list) else []

    found = hidden(data)
    assert found
    assert all(leaf == {"text": "<5", "value": None, "below": 5} for leaf in found)


def test_undefined_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        render_json({"x": float("nan")})


def test_the_documentation_names_every_key(data: dict[str, Any]) -> None:
    text = SCHEMA.read_text(encoding="utf-8")
    one = data["intruders"][0]
    names = [*data, *one, *(key for part in one.values() if isinstance(part, dict) for key in part)]
    for name in names:
        assert name in FULL.sensitive or f"`{name}`" in text, name


@cache
def schema() -> dict[str, Any]:
    text = files("sdckit.report").joinpath("words", "document.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


PARTS = ("assessment", "release")


def of_part(part: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**schema(), "oneOf": [{"$ref": f"#/$defs/{part}"}]})


def faults(document: Any) -> list[str]:
    """What the published schema says against a document."""
    part = PARTS[document["schema"] != "sdckit/assessment"]
    return [f"{list(one.absolute_path)}: {one.message[:120]}" for one in of_part(part).iter_errors(document)]


@pytest.mark.parametrize("internal", [False, True], ids=["release", "internal"])
@pytest.mark.parametrize("name", MADE)
def test_a_real_document_is_as_its_schema_says(name: str, internal: bool) -> None:
    document = json.loads(render_json(printed(name, internal=internal)))
    assert faults(document) == []
    # The schema wants exactly one of its parts: where the own one finds no fault, the other has to.
    assert not of_part(PARTS[document["schema"] == "sdckit/assessment"]).is_valid(document)


def test_the_schema_sees_what_is_wrong() -> None:
    document = json.loads(render_json(printed("one file")))
    assert jsonschema.Draft202012Validator(schema()).is_valid(document)
    for wrong in (
        {"n": {"text": "600"}}, {"n": {"text": "600", "value": 600, "exact": 601}}, {"passed": "yes"},
        {"intruders": []}, {"person": "p17"}, {"schema_version": "0"},
    ):  # fmt: skip
        assert faults({**document, **wrong}), wrong
    hidden = {
        **document["intruders"][0],
        "k_anonymity": {"violations": {"3": {"text": "<5", "value": None, "true": 3}}},
    }
    assert faults({**document, "intruders": [hidden]})


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["oneOf"] == [{"$ref": f"#/$defs/{part}"} for part in PARTS]
