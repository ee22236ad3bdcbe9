"""A map of recipes on a page: a picture of risk against loss to click in, its table, and the recipe that was opened."""

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
ABOUT = "The lower and the further left, the better. Every number is a recipe: choose one to see its steps."
LOOKS = {  # how a recipe is marked, and what that means
    "passed": "every limit holds", "failed": "not every limit holds",
    "unjudged": "not held against the limits, or left open by the printed figures",
    "best": "the least loss of those with which every limit holds", "current": "the recipe here",
    "front": "no other recipe is better in both", "open": "a small risk, drawn where it ends",
    "range": "the loss lies within the line", "several": "more recipes at the same place",
}  # fmt: skip
OF = {True: "passed", False: "failed", None: "unjudged"}
USE = {"use_point": "Use this recipe"}


def map_panel() -> Tag:
    """Where it will stand."""
    parts = (tags.div(ui.output_ui(f"map_{part}")) for part in ("picture", "point", "table"))
    return tags.div(*parts, class_="recipe-map")


class RecipeMap:
    """The map of one page; made where the page is served. `acts` are the buttons of the recipe that is open, `at`."""

    def __init__(self, room: Room, title: str, acts: Mapping[str, str] = USE) -> None:
        self.room, self.answer, self.at = room, Kept[dict[str, Any]](room, {}), reactive.Value(-1)
        say = room.say

        @render.ui
        def map_picture() -> TagChild:
            return _picture(say, title, drawn) if (drawn := self.drawn()) else None

        @render.ui
        def map_point() -> TagChild:
            at, drawn = self.at.get(), self.drawn()
            return _opened(say, drawn["points"], at, acts) if drawn and 0 <= at < len(drawn["points"]) else None

        @render.ui
        def map_table() -> TagChild:
            return _table(say, drawn) if (drawn := self.drawn()) else None

    def drawn(self) -> Plain:
        """The map with the looks of its points; empty for none, and where it is of another file or other roles."""
        drawn: Plain = self.answer.get().get("map", {})
        if not drawn.get("points") or self.answer.get()["of"] != self._now():
            return {}
        return {**drawn, "points": seen(drawn["points"], self.room.work.get().recipe())}

    def _now(self) -> tuple[Any, ...]:
        work = self.room.work.get()
        return work.path, work.reading, work.scenario

    def taker(self) -> Callable[[dict[str, Any]], None]:
        """What takes the answer of a task that is started now."""
        with reactive.isolate():
            of = self._now()
        return self.answer.taker(lambda answer: {**answer, "of": of})

    def steps(self, at: int) -> Sequence[Plain]:
        """The steps of a point; none where there is no such point."""
        points = self.drawn().get("points", ())
        return points[at]["steps"] if 0 <= at < len(points) else ()


def seen(points: Sequence[Plain], here: Sequence[Plain]) -> list[dict[str, Any]]:
    """The points with their looks, beside the recipe that is in use.

    >>> one = {"passed": True, "front": True, "open": False, "ends": [0.1, 0.2], "height": 4.0, "steps": []}
    >>> [point["looks"] for point in seen([one, {**one, "passed": None, "ends": None}], [{"method": "pram"}])]
    [['passed', 'best', 'front', 'range'], ['unjudged', 'front']]
    """
    ranks = [(sum(dot["ends"] or [math.inf]) / 2, math.inf if (y := dot["height"]) is None else y) for dot in points]
    best = min((rank for rank, point in zip(ranks, points, strict=True) if point["passed"]), default=(math.inf,))
    made = []
    for rank, point in zip(ranks, points, strict=True):
        named = [{name: step.get(name) for name in ("method", "arguments")} for step in point["steps"]]
        marks = {
            "best": point["passed"] and rank == best and math.isfinite(best[0]), "current": named == list(here),
            "front": point["front"], "open": point["open"] and point["height"] is not None,
            "range": point["ends"] is not None and point["ends"][0] < point["ends"][1],
        }  # fmt: skip
        made.append({**point, "looks": [OF[point["passed"]], *(look for look, is_so in marks.items() if is_so)]})
    return made


def ticks(low: float, high: float) -> list[float]:
    """Round numbers that part a span in about four, its ends among or beyond them.

    >>> ticks(0, 37), ticks(0.5, 0.55)
    ([0.0, 10.0, 20.0, 30.0, 40.0], [0.5, 0.52, 0.54, 0.56])
    """
    rough = max(high - low, 0.1 * abs(high)) / 4 or 0.25
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(at * step, 9) for at in range(first, max(last, first + 1) + 1)]


def _places(points: Sequence[Plain]) -> dict[tuple[Any, ...], list[int]]:
    """The recipes at each place of the picture, the recipe here and those that pass first."""
    places: dict[tuple[Any, ...], list[int]] = {}
    order = sorted(enumerate(points), key=lambda entry: ("current" not in entry[1]["looks"], not entry[1]["passed"]))
    for at, point in order:
        if point["ends"] is not None and point["height"] is not None:
            places.setdefault((*point["ends"], point["height"], point["open"]), []).append(at)
    return places


def _picture(say: Say, title: str, drawn: Plain) -> TagChild:
    """The points as buttons over a drawing of axes, ranges and the front, with a legend of the marks in it."""
    points, places = drawn["points"], _places(drawn["points"])
    if not places:
        return TagList(tags.h3(say(title)), tags.p(say("No recipe has figures that can be drawn."), class_="warn"))
    sides = ticks(min(place[0] for place in places), max(place[1] for place in places))
    up = ticks(0, max(place[2] for place in places))

    def x(value: float) -> float:
        return round(100 * (value - sides[0]) / (sides[-1] - sides[0]), 2)

    def y(value: float) -> float:
        return round(100 * value / up[-1], 2)

    lines = [f'<path d="M{x(at)} 0V100" class="grid"/>' for at in sides]
    lines += [f'<path d="M0 {100 - y(at)}H100" class="grid"/>' for at in up]
    lines += [f'<path d="M{x(low)} {100 - y(at)}H{x(end)}" class="range"/>' for low, end, at, _ in places]
    front = sorted((x((low + end) / 2), 100 - y(height)) for (low, end, height, _), ats in places.items()
                   if points[ats[0]]["front"])  # fmt: skip
    steps = (f"{'H' if at else 'M'}{across}{'V' if at else ' '}{down}" for at, (across, down) in enumerate(front))
    lines.append(f'<path d="{"".join(steps)}" class="line"/>')
    svg = f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">{"".join(lines)}</svg>'
    marks = [tags.span(say(f"{at:.4g}"), class_="tick up", style=f"bottom:{y(at)}%") for at in up]
    marks += [tags.span(say(f"{100 * at:.4g} %"), class_="tick", style=f"left:{x(at)}%") for at in sides]
    buttons, used = [], set()
    for (low, end, height, _), ats in places.items():
        looks = [*points[ats[0]]["looks"], *(["several"] if ats[1:] else [])]
        used.update(looks)
        buttons.append(tags.button(
            f"{ats[0] + 1}{'+' * bool(ats[1:])}", type="button", class_=f"point {' '.join(looks)}", data_act="point",
            data_at=str(ats[0]), style=f"left:{x((low + end) / 2)}%;bottom:{y(height)}%", aria_pressed="false",
            aria_label=f"{_name(say, ats[0])}{'+' * bool(ats[1:])}: {_about(say, points[ats[0]], looks)}",
        ))  # fmt: skip
    legend = (
        tags.li(tags.span(tags.span(class_=f"point {look}"), class_="sample", aria_hidden="true"), say(LOOKS[look]))
        for look in LOOKS
        if look in used
    )
    return TagList(
        tags.h3(say(title)), tags.p(say(ABOUT), class_="quiet"),
        tags.div(
            tags.p(f"↑ {say(drawn['risk'])}", class_="axis"), tags.div(HTML(svg), *marks, *buttons, class_="plane"),
            tags.p(f"{say(drawn['loss'])} →", class_="axis end"), class_="drawn", role="group", aria_label=say(title),
        ),
        tags.ul(*legend, class_="legend"),
        tags.p(say("Recipes without a printed risk or loss stand in the table only."), class_="quiet")
        if sum(map(len, places.values())) < len(points) else None,
    )  # fmt: skip


def _name(say: Say, at: int) -> str:
    return say("recipe {n}", n=at + 1)


def _about(say: Say, point: Plain, looks: Sequence[str]) -> str:
    """The figures of a recipe, and what its marks mean."""
    figures = f"{say('risk')} {say(point['risk'])}, {say('loss')} {say(point['loss'])}"
    return "; ".join([figures, *(say(LOOKS[look]) for look in looks)])


def _does(say: Say, points: Sequence[Plain], point: Plain) -> str:
    """What a recipe does; of steps, those that not all recipes have."""
    own = [step for step in point["steps"] if not all(step in other["steps"] for other in points)]
    return point.get("words") or "; ".join(summary(say, step["method"], step["arguments"]) for step in own) or "–"


def _table(say: Say, drawn: Plain) -> Tag:
    """The same as a table."""
    points = drawn["points"]
    heads = (say("recipe"), say("What it does"), say(drawn["risk"]), say(drawn["loss"]), say("What its marks mean"))
    rows = (
        tags.tr(
            tags.th(button(_name(say, at), "point", at), scope="row"), tags.td(_does(say, points, point)),
            tags.td(say(point["risk"]), class_="number"), tags.td(say(point["loss"]), class_="number"),
            tags.td("; ".join(say(LOOKS[look]) for look in point["looks"] if look not in ("open", "range"))),
        )
        for at, point in enumerate(points)
    )  # fmt: skip
    head = tags.thead(tags.tr(*(tags.th(text, scope="col") for text in heads)))
    parts = tags.caption(say("The recipes of the map")), head, tags.tbody(*rows)
    return tags.div(tags.div(tags.table(*parts), class_="table wide", tabindex="0"), class_="sdckit")


def _opened(say: Say, points: Sequence[Plain], at: int, acts: Mapping[str, str]) -> Tag:
    """A recipe in sentences, with its figures, and those that stand at the same place."""
    point = points[at]
    same = next((ats for ats in _places(points).values() if at in ats), [])
    others = [button(_name(say, other), "point", other) for other in same if other != at]
    steps = (tags.li(summary(say, step["method"], step["arguments"])) for step in point["steps"])
    buttons = (button(say(text), act, at, disabled="current" in point["looks"]) for act, text in acts.items())
    return tags.div(
        tags.h4(_name(say, at)), tags.p(point["words"]) if point.get("words") else None,
        tags.p(_about(say, point, point["looks"]), class_="good" if point["passed"] else "warn", role="status"),
        tags.ol(*steps), tags.span(*buttons, class_="buttons"),
        tags.p(say("At the same place:"), *others, class_="buttons") if others else None, class_="card-box",
    )  # fmt: skip
