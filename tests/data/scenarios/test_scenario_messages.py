"""Pydantic's complaints in our words."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from sdckit.data.scenarios.scenario_messages import explain


class Model(BaseModel):
    """A model with room for many problems."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    first: int = 0
    second: tuple[str, ...] = ()
    third: bytes = b""


def told(prefix="", **entries):
    with pytest.raises(ValidationError) as caught:
        Model(**entries)
    return explain(caught.value, list(Model.model_fields), prefix=prefix)


def test_places_and_prefix():
    assert told(second=["a", 1]) == "second[2] must be text in quotes"
    assert told(second="a", prefix="outer") == 'outer.second must be a list, such as ["sex", "age"]'
    assert told(frist=1) == "there is no entry 'frist'; did you mean 'first'?"


def test_a_kind_without_words_shows_no_input():
    assert told(first="Zyxw").startswith("first is not valid: ")
    assert "Zyxw" not in told(first="Zyxw")


def test_many_problems_are_counted():
    assert told(**{f"x{i}": 1 for i in range(11)}).endswith("; and 3 more")
