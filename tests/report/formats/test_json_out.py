from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from report.fakes import FULL, assess_fake, survey
from report.real import MADE, plain as printed
from sdckit.report.chapters.document import SCHEMA_VERSION
from sdckit.report.formats.json_out import render_json
from sdckit.report.formats.write import plain_document
from tree import ROOT

SCHEMA = ROOT / "docs" / "json-schema.md"


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        render_json(plain_document(assess_fake(survey(300, missing=0.02), FULL)))
    )
    return found


def test_the_schema_is_on_top(data: dict[str, Any]) -> None:
    assert data["schema"] == "sdckit/assessment"
    assert data["schema_version"] == SCHEMA_VERSION
    assert data["protected"] is True


def test_keys_are_the_attributes_of_the_api(data: dict[str, Any]) -> None:
    one = data["intruders"][0]
    assert {"n_cells", "sample_uniques", "frequency_of_frequencies"} <= one["key_frequencies"].keys()
    assert {"violations", "violation_rates"} <= one["k_anonymity"].keys()
    assert {"global_risk", "expected_reidentifications", "n_above", "household_risk"} <= one[
        "individual_risk"
    ].keys()
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


def faults(document: Any) -> list[str]:
    """What the published schema says against a document."""
    part = "assessment" if document["schema"] == "sdckit/assessment" else "release"
    validator = jsonschema.Draft202012Validator({**schema(), "oneOf": [{"$ref": f"#/$defs/{part}"}]})
    return [f"{list(one.absolute_path)}: {one.message[:120]}" for one in validator.iter_errors(document)]


@pytest.mark.parametrize("internal", [False, True], ids=["release", "internal"])
@pytest.mark.parametrize("name", MADE)
def test_a_real_document_is_as_its_schema_says(name: str, internal: bool) -> None:
    document = json.loads(render_json(printed(name, internal=internal)))
    assert faults(document) == []
    assert jsonschema.Draft202012Validator(schema()).is_valid(document)


def test_the_schema_sees_what_is_wrong() -> None:
    document = json.loads(render_json(printed("one file")))
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
