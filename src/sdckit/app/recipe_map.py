"""A map of recipes on a page: a picture of risk against loss to click in, its table, and the recipe that was opened."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shiny import reactive, render, ui
from shiny.ui import HTML, Tag, TagChild, TagList, tags

from sdckit.app.page_context import Kept, Room, Say
from sdckit.app.step_form import button
from sdckit.app.step_sentences import summary

Plain = Mapping[str, Any]
DID, WHY = "take a recipe of the map", "before a recipe of the map"
MARKS = (
    "The lower and the further left, the better. Round: every limit holds; square: not every one; dashed: not held "
    "against the limits. Dark, with a line: no other recipe beats it. White: a small number, drawn where it ends."
)
PASSED = {True: "every limit holds", False: "not every limit holds", None: "not held against the limits"}
LOOKS = {True: "passed", False: "failed", None: "unjudged"}


def map_panel() -> Tag:
    """Where it will stand."""
    return tags.div(*(ui.output_ui(f"map_{part}") for part in ("picture", "point", "table")), class_="recipe-map")


class RecipeMap:
    """The map of one page; made where the page is served. `more` stands below the table."""

    def __init__(self, room: Room, title: str, more: Callable[[Plain], TagChild] = lambda _: None) -> None:
        self.room, self.answer, self._at = room, Kept[dict[str, Any]](room, {}), reactive.Value(-1)

        @render.ui
        def map_picture() -> TagChild:
            if not (drawn := self._drawn()):
                return None
            return TagList(tags.h3(room.say(title)), _picture(room.say, drawn), tags.p(room.say(MARKS), class_="quiet"))

        @render.ui
        def map_point() -> TagChild:
            at, drawn = self._at.get(), self._drawn()
            return _opened(room.say, drawn, at) if drawn and 0 <= at < len(drawn["points"]) else None

        @render.ui
        def map_table() -> TagChild:
            return TagList(_table(room.say, drawn), more(self.answer.get())) if (drawn := self._drawn()) else None

    def _drawn(self) -> Plain:
        """The map; empty for none, and where it has no recipe."""
        answer = self.answer.get()
        drawn: Plain = answer.get("map") or {}
        return drawn if drawn.get("points") and answer["of"] == self._now() else {}

    def _now(self) -> tuple[Any, ...]:
        """What a map is of; of another file or other roles it is not shown."""
        work = self.room.work.get()
        return work.path, work.reading, work.scenario

    def taker(self) -> Callable[[dict[str, Any]], None]:
        """What takes the answer of a task that is started now."""
        with reactive.isolate():
            of = self._now()
        keep = self.answer.taker(lambda answer: {**answer, "of": of})

        def take(answer: dict[str, Any]) -> None:
            self._at.set(-1)
            keep(answer)

        return take

    def open(self, at: int) -> None:
        """Open the recipe of a point."""
        self._at.set(at)

    def use(self, at: int) -> Sequence[Plain]:
        """The steps of a point, for the page Protect; none where there is no such point."""
        points = self._drawn().get("points", ())
        return points[at]["steps"] if 0 <= at < len(points) else ()


def _about(say: Say, point: Plain) -> str:
    """The figures of a recipe, and whether it passes."""
    return f"{say('risk')} {point['risk']}, {say('loss')} {point['loss']}, {say(PASSED[point['passed']])}"


def _places(drawn: Plain) -> dict[tuple[Any, ...], list[int]]:
    """The recipes at each place of the picture, the one that passes first; those without a figure have none."""
    places: dict[tuple[Any, ...], list[int]] = {}
    for at, point in enumerate(drawn["points"]):
        if point["ends"] is not None and point["height"] is not None:
            places.setdefault((*point["ends"], point["height"], point["open"]), []).append(at)
    return {place: sorted(ats, key=lambda at: not drawn["points"][at]["passed"]) for place, ats in places.items()}


def ticks(low: float, high: float) -> list[float]:
    """Round numbers that part a span in about four, its ends among or beyond them.

    >>> ticks(0, 37), ticks(0.5, 0.55)
    ([0, 10, 20, 30, 40], [0.5, 0.52, 0.54, 0.56])
    """
    rough = (high - low) / 4 or max(abs(high), 1) / 4
    power = 10 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough * 0.999)
    return [round(at * step, 9) for at in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]


def _picture(say: Say, drawn: Plain) -> Tag:
    """The points as buttons over a drawing of axes, ranges and the front."""
    places = _places(drawn)
    if not places:
        return tags.p(say("No recipe has figures that can be drawn; the table has all of them."), class_="warn")
    sides = ticks(min(place[0] for place in places), max(place[1] for place in places))
    up = ticks(0, max(place[2] for place in places))

    def x(value: float) -> float:
        return 100 * (value - sides[0]) / (sides[-1] - sides[0])

    def y(value: float) -> float:
        return 100 * value / up[-1]

    shown = [
        *(f'<path d="M{x(at):.2f} 0V100" class="grid"/>' for at in sides),
        *(f'<path d="M0 {100 - y(at):.2f}H100" class="grid"/>' for at in up),
        *(f'<path d="M{x(low):.2f} {100 - y(high):.2f}H{x(end):.2f}" class="range"/>' for low, end, high, _ in places),
    ]
    buttons, front = [], []
    for (low, end, height, _), ats in places.items():
        point, at, middle = drawn["points"][ats[0]], ats[0], (low + end) / 2
        if point["front"]:
            front.append((x(middle), 100 - y(height)))
        others = f" {say('and {n} more at this place', n=len(ats) - 1)}" if ats[1:] else ""
        look = f"point {LOOKS[point['passed']]}{' front' * point['front']}{' open' * point['open']}"
        buttons.append(tags.button(
            f"{at + 1}{'+' * bool(ats[1:])}", type="button", class_=look, data_act="point", data_at=str(at),
            style=f"left:{x(middle):.2f}%;bottom:{y(height):.2f}%", aria_pressed="false",
            aria_label=f"{point['name']}{'+' * bool(ats[1:])}{others}: {_about(say, point)}",
        ))  # fmt: skip
    line = "".join(
        f"{'H' if at else 'M'}{across:.2f}{'V' if at else ' '}{down:.2f}"
        for at, (across, down) in enumerate(sorted(front))
    )
    shown.append(f'<path d="{line}" class="line"/>' if line else "")
    marks = [
        *(tags.span(say(f"{at:.4g}"), class_="tick up", style=f"bottom:{y(at):.2f}%") for at in up),
        *(tags.span(say(f"{100 * at:.4g} %"), class_="tick", style=f"left:{x(at):.2f}%") for at in sides),
    ]
    svg = HTML(f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">{"".join(shown)}</svg>')
    return tags.div(
        tags.p(f"↑ {drawn['risk']}", class_="axis"), tags.div(svg, *marks, *buttons, class_="plane"),
        tags.p(f"{drawn['loss']} →", class_="axis end"), class_="picture", role="group",
        aria_label=say("Map of risk and loss"),
    )  # fmt: skip


def _table(say: Say, drawn: Plain) -> Tag:
    """The same as a table, with what each recipe does."""
    heads = [say(text) for text in ("recipe", "What it does")] + [
        drawn["risk"],
        drawn["loss"],
        say("Limits"),
        say("front"),
    ]
    rows = (
        tags.tr(
            tags.th(button(point["name"], "point", at), scope="row"), tags.td(point["words"] or "–"),
            tags.td(point["risk"], class_="number"), tags.td(point["loss"], class_="number"),
            tags.td(say(PASSED[point["passed"]])), tags.td(say("front") if point["front"] else ""),
        )
        for at, point in enumerate(drawn["points"])
    )  # fmt: skip
    head = tags.thead(tags.tr(*(tags.th(text, scope="col") for text in heads)))
    table = tags.table(tags.caption(say("The recipes of the map")), head, tags.tbody(*rows))
    return tags.div(tags.div(table, class_="table wide"), class_="sdckit")


def _opened(say: Say, drawn: Plain, at: int) -> Tag:
    """A recipe in sentences, with its figures, and those that stand at the same place."""
    point = drawn["points"][at]
    same = next((ats for ats in _places(drawn).values() if at in ats), [])
    others = [button(drawn["points"][other]["name"], "point", other) for other in same if other != at]
    steps = (tags.li(summary(say, step["method"], step["arguments"])) for step in point["steps"])
    return tags.div(
        tags.h4(point["name"]), tags.p(point["words"]) if point["words"] else None, tags.ol(*steps),
        tags.p(_about(say, point), class_="good" if point["passed"] else "warn", role="status"),
        button(say("Use this recipe"), "use_point", at),
        tags.p(say("At the same place:"), *others, class_="buttons") if others else None,
        class_="card-box",
    )  # fmt: skip
