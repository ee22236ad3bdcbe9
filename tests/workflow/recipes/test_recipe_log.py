"""The log: public without what undoes the protection, whole for internal eyes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sdckit as sdc
from recipes import SECRET, STEPS, scenario, survey
from sdckit.errors import FileFormatError
from sdckit.workflow.recipes.recipe_log import RecipeLog, plain, versions_here

INTERNAL = ("seed", "keys", "secret", "recipe", "scenario")


@pytest.fixture
def log() -> RecipeLog:
    steps = [{"method": "new_ids", "column": "name"}, *STEPS]
    return sdc.Recipe(steps).apply(survey(), scenario=scenario(), seed=77, secret=SECRET, watch=False).log


def test_what_may_go_out(log: RecipeLog) -> None:
    found = log.to_dict()
    text = json.dumps(found)
    assert not set(INTERNAL) & set(found)
    assert all("secret" not in step for step in found["steps"])
    assert log.keys[1] not in text
    assert not [one for one in (log.secret, str(log.mixed.of_step(3)), '"seed"') if one in text + repr(log)]
    assert found["versions"] == versions_here()
    assert set(found["versions"]) == {"sdckit", "numpy", "polars", "python"}
    assert log.keys[1] not in repr(log)


def test_what_stays(log: RecipeLog) -> None:
    found = log.to_dict(internal=True)
    assert set(INTERNAL) <= set(found)
    assert (found["seed"], found["secret"]) == ("77", SECRET.hex())
    assert found["confidential"].startswith("contains what would help to undo the protection: secret,")
    assert [one["secret"]["seed"] for one in found["steps"][2:4]] == [log.mixed.of_step(n) for n in (3, 4)]
    assert found["steps"][2]["secret"]["matrix"]
    assert found["keys"] == {"1": log.keys[1]}
    assert "person 3" not in json.dumps(found)


def test_without_secrets_it_says_what_there_is_and_not_which(log: RecipeLog) -> None:
    bare = log.without_secrets()
    assert bare.to_dict() == log.to_dict()
    assert (bare.secret, bare.seed, bare.keys) == ("", 0, {})
    for change, full in zip(bare.steps, log.steps, strict=True):
        assert list(change.secret) == list(full.secret)
        assert set(change.secret.values()) <= {None}
    assert log.keys[1] not in str(bare.to_dict(internal=True))


def test_written_and_read(tmp_path: Path, log: RecipeLog) -> None:
    path = log.write(tmp_path / "log.json")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["log.json"]
    back = RecipeLog.read(path)
    assert back.to_dict(internal=True) == log.to_dict(internal=True)
    assert back.keys == log.keys
    assert (back.secret, back.seed, back.mixed) == (log.secret, 77, log.mixed)


def test_steps_in_another_place_or_of_another_form_are_refused(tmp_path: Path, log: RecipeLog) -> None:
    document = log.to_dict(internal=True)
    first, *others = document["steps"]
    for steps in ([*others, first], [{**first, "schema_version": "9"}, *others], [{**first, "method": [1]}]):
        (tmp_path / "log.json").write_text(json.dumps({**document, "steps": steps}), encoding="utf-8")
        with pytest.raises(FileFormatError, match="is damaged"):
            RecipeLog.read(tmp_path / "log.json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        ("[]", "not the internal log"),
        ('{"format": "sdckit/recipe-log"}', "not the internal log"),
        ('{"format": "sdckit/recipe-log", "seed": "1", "format_version": "9"}', "a log of another version than 2"),
        ('{"format": "sdckit/recipe-log", "seed": "1", "format_version": "1"}', "another version"),
        ('{"format": "sdckit/recipe-log", "seed": "1"}', "another version"),
        ('{"format": "sdckit/recipe-log", "seed": "1", "format_version": "2"}', "damaged"),
    ],
)
def test_no_log(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "log.json").write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=said):
        RecipeLog.read(tmp_path / "log.json")
    with pytest.raises(FileFormatError, match="there is no log"):
        RecipeLog.read(tmp_path / "other.json")


def test_anything_is_plain() -> None:
    found = plain({"a": np.arange(3), "b": {1: (np.float64(0.5), None)}, "c": {True}, "d": object()})
    assert found == {"a": [0, 1, 2], "b": {"1": [0.5, None]}, "c": [True], "d": "object"}
    json.dumps(found, allow_nan=False)
