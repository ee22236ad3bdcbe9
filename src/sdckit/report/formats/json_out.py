"""The protected figures as JSON, keys named as the attributes of the API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def render_json(plain: Mapping[str, Any]) -> str:
    r"""Render a protected assessment as JSON; never NaN, always UTF-8, one line at the end.

    Examples
    --------
    >>> render_json({"n": {"text": "<5", "value": None, "below": 5}})
    '{\n  "n": {\n    "text": "<5",\n    "value": null,\n    "below": 5\n  }\n}\n'
    """
    return json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
