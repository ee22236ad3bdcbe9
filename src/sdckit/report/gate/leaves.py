"""Printed numbers as plain leaves of a document."""

from __future__ import annotations

from typing import Any

from sdckit.report.gate.rounding import LADDER, Print, format_count

Plain = dict[str, Any]


def count_leaf(one: Print) -> Plain:
    """A printed count: its words, its value where public, its bound, and how coarsely it is rounded.

    Examples
    --------
    >>> count_leaf(Print("<10", None, 1, 9, 10, 10))
    {'text': '<10', 'value': None, 'below': 10, 'rounded_to': 10}
    """
    plain: Plain = {"text": one.text, "value": one.value}
    if one.below is not None:
        plain["below"] = one.below
    if one.base is not None and one.base > LADDER[0] and one.text != "0":
        plain["rounded_to"] = one.base
    return plain


def difference_leaf(whole: Print, part: Print) -> Plain:
    """What a printed count has more than another: as much as both prints tell.

    Examples
    --------
    >>> difference_leaf(Print("20", 20, 18, 22), Print("5", 5, 5, 7))
    {'text': 'about 15', 'value': 15, 'approximate': True}
    """
    if "withheld" in {whole.text, part.text}:
        return {"text": "withheld", "value": None}
    if part.text == "0":
        return count_leaf(whole)
    low, high = max(0.0, whole.low - part.high), whole.high - part.low
    if low == high:
        return {"text": format_count(low), "value": low}
    if low == 0:
        return {"text": f"under {format_count(high + 1)}", "value": None, "below": high + 1}
    middle = max(0.0, whole.midpoint - part.midpoint)
    return {"text": f"about {format_count(middle)}", "value": middle, "approximate": True}
