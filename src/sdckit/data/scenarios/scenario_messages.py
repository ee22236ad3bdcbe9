"""Pydantic's complaints about a scenario, told in the words of the scenario file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from sdckit.data.nearest import did_you_mean
from sdckit.errors import ScenarioError

__all__ = ["explain"]

_ENOUGH = 8  # problems told at once; the rest is only counted

_WORDS = {
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text in quotes",
    "string_unicode": "must be text that can be written as UTF-8",
    "string_too_short": "must not be empty",
    "tuple_type": 'must be a list, such as ["sex", "age"]',
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "literal_error": "must be one of {expected}",
}


def _path(loc: Sequence[int | str], prefix: str) -> str:
    """Write a place as it stands in the TOML; list positions count from 1."""
    text = prefix
    for part in loc:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += ("." if text else "") + part
    return text


def _problem(error: Mapping[str, Any], fields: Sequence[str], prefix: str) -> str:
    kind, loc = str(error["type"]), tuple(error["loc"])
    context: Mapping[str, Any] = error.get("ctx", {})
    if kind == "value_error" and isinstance(context.get("error"), ScenarioError):
        return str(context["error"])  # our own, already complete
    if kind == "extra_forbidden":
        return f"there is no entry '{_path(loc, prefix)}'; {did_you_mean(str(loc[-1]), fields)}"
    words = _WORDS.get(kind)
    # A word of pydantic's own is safe here: hide_input_in_errors, and `msg` never holds the input.
    return (
        f"{_path(loc, prefix)} {words.format(**context) if words else 'is not valid: ' + str(error['msg'])}"
    )


def explain(error: ValidationError, fields: Sequence[str], *, prefix: str = "") -> str:
    """Tell every problem of a validation error in one message, each with its place in the TOML.

    Parameters
    ----------
    error
        What pydantic raised.
    fields
        The entries that exist, for the nearest valid name.
    prefix
        Place of the model in the file, such as ``"thresholds"``.
    """
    told = [_problem(e, fields, prefix) for e in error.errors(include_url=False, include_input=False)]
    told = list(dict.fromkeys(told))
    more = f"; and {len(told) - _ENOUGH} more" if len(told) > _ENOUGH else ""
    return "; ".join(told[:_ENOUGH]) + more
