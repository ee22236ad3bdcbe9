"""What an SVG of ours really shows: its size, its bars, squares and points, read from the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
PATH = re.compile(r"M([-\d.e]+),([-\d.e]+)h([-\d.e]+)v([-\d.e]+)h")
PLACE = re.compile(r"translate\(([-\d.e]+),([-\d.e]+)\)")


class Box(NamedTuple):
    """A rectangle as drawn, in pixels of its own panel."""

    left: float
    top: float
    width: float
    height: float
    fill: str


class Point(NamedTuple):
    """A point as drawn, and the panel it is drawn in."""

    panel: int
    x: float
    fill: str


def size(svg: str) -> tuple[float, float]:
    """Width and height; the box that is shown is the same."""
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", "nan")), float(root.get("height", "nan"))
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    return width, height


def _groups(svg: str, kind: str) -> Iterator[ElementTree.Element]:
    for one in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        if (one.get("class") or "").startswith(f"{kind} role-mark"):
            yield one


def boxes(svg: str) -> list[Box]:
    """Bars and squares, in the order drawn."""
    found = []
    for group in _groups(svg, "mark-rect"):
        for path in group.iter(f"{SVG}path"):
            shape = PATH.match(path.get("d", ""))
            assert shape, path.get("d")
            found.append(Box(*map(float, shape.groups()), path.get("fill", "")))
    return found


def points(svg: str) -> list[Point]:
    """Points, panel by panel."""
    found = []
    for panel, group in enumerate(_groups(svg, "mark-symbol")):
        for path in group.iter(f"{SVG}path"):
            place = PLACE.match(path.get("transform", ""))
            assert place
            found.append(Point(panel, float(place[1]), path.get("fill", "")))
    return found


def texts(svg: str) -> list[str]:
    """Everything written in it."""
    return [words_of(one) for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def words_of(element: ElementTree.Element) -> str:
    """The text of an element; one that is folded on lines is whole again, its lines have none of their own."""
    if element.tag == f"{SVG}tspan":
        return ""
    if element.tag != f"{SVG}text":
        return (element.text or "").strip()
    return " ".join(filter(None, (element.text, *(line.text for line in element.iter(f"{SVG}tspan"))))).strip()
