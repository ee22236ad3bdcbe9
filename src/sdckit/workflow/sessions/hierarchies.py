"""The task of the hierarchy editor: levels of a variable, built from its values, codes, bands or a file, and changed.

A hierarchy is a file of the session's folder, as recipes name it. A change writes another one, so that undo finds the
one before. The page knows of it only what the gate lets through; the rest is one line there.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from io import StringIO
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data import columns, replace
from sdckit.data.files.whole_files import write_whole
from sdckit.data.hierarchy import DELIMITERS, Band, Hierarchy, as_hierarchy, hierarchy_map, read_band, read_hierarchy
from sdckit.errors import DataError, FileFormatError
from sdckit.report.before_after import plain_picture
from sdckit.workflow.recipes.step_forms import bands_for, picture_of
from sdckit.workflow.sessions.protecting import Plain, Steps, file_before

if TYPE_CHECKING:
    from sdckit.workflow.sessions.answering import Desk, Tell

# A hierarchy as lines: a value, then its name at each level. Groups of a level stand in the order of their first line.


Lines = list[list[str]]
MOST_LEVELS = 20
MOST_SHOWN = 100  # groups of a level, and values below them
NAMED = 40  # letters of a name that is made
OTHERS = "other"  # the name of the groups that are not shown, where they are merged and nobody names them


def lines_of(made: Hierarchy) -> Lines:
    """A hierarchy as lines of texts.

    >>> lines_of(as_hierarchy({112: ["11", "1"]}))
    [['112', '11', '1']]
    """
    return [[str(name) for name in line] for line in zip(made.leaves, *made.levels, strict=True)]


def by_values(data: Any, column: str) -> Lines:
    """One level on which every value still stands for itself."""
    values = columns.distinct_values(replace.open_eager(data, {"column": [column]})[column]).values
    return [[text, text] for text in map(str, sorted(value for value in values if value is not None))]


def by_codes(data: Any, column: str) -> Lines:
    """Each level cuts one letter off the end.

    Examples
    --------
    >>> import polars as pl
    >>> by_codes(pl.DataFrame({"place": ["112", "113", "210"]}), "place")
    [['112', '11', '1'], ['113', '11', '1'], ['210', '21', '2']]
    """
    codes = [code for code, _ in by_values(data, column)]
    longest = max(map(len, codes), default=0)
    if longest < 2:
        raise DataError(f"column {column!r} has no codes of two letters or more whose ends could be cut off")
    return [[code, *(code[:length] for length in range(longest - 1, 0, -1))] for code in codes]


def by_bands(data: Any, column: str) -> Lines:
    """Bands with round edges, and on each further level every second edge.

    Examples
    --------
    >>> import polars as pl
    >>> by_bands(pl.DataFrame({"age": [18 + i % 30 for i in range(300)]}), "age")[-1]
    ['47', '46+', '46+', '42+', '34+']
    """
    from sdckit.protect.recoding.recode import recode

    frame = replace.open_eager(data, {"column": [column]})
    if not frame.schema[column].is_numeric():
        raise DataError(f"column {column!r} holds no numbers to put in bands")
    values = frame.select(column).drop_nulls().unique().sort(column)
    edges, levels = bands_for(frame, column), []
    while edges:
        whole = [int(edge) if edge.is_integer() else edge for edge in edges]
        levels.append(recode(values, column=column, bands=[None, *whole, None]).data[column].to_list())
        edges = edges[1::2]
    if not levels:
        raise DataError(f"column {column!r} has too few different numbers for bands")
    return [[str(name) for name in line] for line in zip(values[column].to_list(), *levels, strict=True)]


BUILT: Mapping[str, Callable[[Any, str], Lines]] = {"values": by_values, "codes": by_codes, "bands": by_bands}


# How the line of a value can be built again, from the number of levels and the groups of the lowest one with what is
# above them. None where it says nothing of the value.


def _in_bands(text: str, groups: Lines, levels: int) -> list[str] | None:  # noqa: ARG001 - as every rule
    """The line of a number, by the bands of the lowest level.

    >>> _in_bands("97", [["40-59", "40+"], ["60+", "40+"]], 2)
    ['97', '60+', '40+']
    """
    try:
        number = float(text)
    except ValueError:
        return None
    bands = ((read_band(group[0]), group) for group in groups)
    return next(([text, *group] for band, group in bands if band is not None and _holds(band, number)), None)


def _holds(band: Band, number: float) -> bool:
    above = band.low < number or (band.has_low and band.low == number)
    return above and (number < band.high or (band.has_high and band.high == number))


RULES: Mapping[str, Callable[[str, Lines, int], list[str] | None]] = {
    "values": lambda text, _, levels: [text] * (levels + 1),
    "codes": lambda text, _, levels: [text, *(text[:length] for length in range(levels, 0, -1))],
    "bands": _in_bands,
}


def rule_of(lines: Lines, groups: Lines) -> str:
    """The rule by which all of these lines can be built again; empty where there is none.

    >>> rule_of([["112", "11", "1"], ["210", "21", "2"]], []), rule_of([["smith", "hands"]], [["hands"]])
    ('codes', '')
    """
    for name, rule in RULES.items():
        if all(rule(line[0], groups, len(line) - 1) == line for line in lines):
            return name
    return ""


def line_counts(lines: Lines, data: Any, column: str) -> list[int]:
    """How many records have the value of each line."""
    numbered = as_hierarchy({line[0]: f"line {at}" for at, line in enumerate(lines)})
    named = hierarchy_map(numbered, 1, columns.distinct_values(data[column]).kind)
    counts = {named.get(_as_key(value)): n for value, n in data[column].value_counts().rows()}
    return [counts.get(f"line {at}", 0) for at in range(len(lines))]


def _as_key(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


# Changes of one level. What is above a group stays above it, so that levels stay nested.


def merge(lines: Lines, level: int, groups: Collection[str], name: str) -> Lines:
    """Put groups together under a name, where the first of them stands.

    Raises
    ------
    DataError
        Another group has that name.

    Examples
    --------
    >>> merge([["a", "a"], ["b", "b"], ["c", "c"]], 1, ["a", "c"], "vowel?")
    [['a', 'vowel?'], ['c', 'vowel?'], ['b', 'b']]
    """
    if any(line[level] == name and line[level] not in groups for line in lines):
        raise DataError("another group of this level has that name; tick it, too, to put them together")
    above = next((line[level + 1 :] for line in lines if line[level] in groups), [])
    return _together([[*line[:level], name, *above] if line[level] in groups else line for line in lines], level)


def split(lines: Lines, level: int, groups: Collection[str], members: Collection[str]) -> Lines:
    """Take groups apart, or single members out of theirs: each has the name then that it has one level below.

    Raises
    ------
    DataError
        A group that stays has the name of a member.

    Examples
    --------
    >>> split([["a", "x"], ["b", "x"], ["c", "x"]], 1, [], ["c"])
    [['a', 'x'], ['b', 'x'], ['c', 'c']]
    """
    apart = [line[level] in groups or line[level - 1] in members for line in lines]
    marked = list(zip(lines, apart, strict=True))
    stay = {line[level] for line, gone in marked if not gone}
    if any(gone and line[level - 1] in stay for line, gone in marked):
        raise DataError("a group of this level has the name of a part; give that group another name first")
    return [[*line[:level], line[level - 1], *line[level + 1 :]] if gone else line for line, gone in marked]


def move(lines: Lines, level: int, groups: Collection[str], by: int, shown: Sequence[str]) -> Lines:
    """Move groups one place up (`by` -1) or down (1) among those that are shown.

    >>> move([["a", "a"], ["b", "b"], ["c", "c"]], 1, ["c"], -1, ["a", "b", "c"])
    [['a', 'a'], ['c', 'c'], ['b', 'b']]
    """
    order = list(shown)
    for at in range(len(order)) if by < 0 else range(len(order) - 1, -1, -1):
        to = at + by
        if order[at] in groups and 0 <= to < len(order) and order[to] not in groups:
            order[at], order[to] = order[to], order[at]
    place = {name: at for at, name in enumerate(order)}
    return _together(sorted(lines, key=lambda line: place.get(line[level], len(order))), level)


def _together(lines: Lines, level: int) -> Lines:
    """The lines of a group behind its first one."""
    place = {name: at for at, name in enumerate(dict.fromkeys(line[level] for line in lines))}
    return sorted(lines, key=lambda line: place[line[level]])


def joint_name(names: Sequence[str]) -> str:
    """A name for groups put together: the band that bands make, else their names.

    >>> joint_name(["40-49", "30-39"]), joint_name(["60-69", "70+"]), joint_name(["cook", "smith"])
    ('30-49', '60+', 'cook + smith')
    """
    bands = sorted(band for name in names if (band := read_band(name)) is not None and band.has_low and band.has_high)
    if len(bands) == len(names) and all(low.high + 1 == high.low for low, high in pairwise(bands)):
        low, high = bands[0].low, bands[-1].high
        if math.isfinite(low) or math.isfinite(high):
            return f"{low:g}+" if math.isinf(high) else f"up to {high:g}" if math.isinf(low) else f"{low:g}-{high:g}"
    return " + ".join(names)[:NAMED].strip()


def lacking(lines: Lines, data: Any, column: str) -> list[str]:
    """The values that are in no line."""
    values = columns.distinct_values(data[column])
    known = set(hierarchy_map(_hierarchy(lines), 1, values.kind))
    return [str(key) for key in map(_as_key, values.values) if key is not None and key not in known]


def _hierarchy(lines: Lines) -> Hierarchy:
    return as_hierarchy({line[0]: line[1:] for line in lines})


# The file of a hierarchy in a folder: a name that is free, and fields that are read back as they are.


def write_hierarchy(folder: Path, about: str, lines: Lines) -> str:
    """Write a hierarchy into a folder and give its name; one of the same lines is not written twice.

    Raises
    ------
    DataError
        A value or a name could not be read back, such as one that begins with a space.
    """
    _hierarchy(lines)
    stem = "-".join(re.findall(r"\w+", about))[:NAMED] or "levels"
    texts = [text for mark in DELIMITERS if _reads_back(folder, text := _written(lines, mark), lines)]
    if not texts:
        raise DataError("a value or a name begins or ends with a space, or could not be read back; use groups instead")
    for number in count(1):
        path = folder / (f"hierarchy-{stem}-{number}.csv" if number > 1 else f"hierarchy-{stem}.csv")
        if not path.exists():
            write_whole(texts[0], path, private=True)
        elif path.read_bytes() not in [text.encode() for text in texts]:
            continue
        return path.name
    raise AssertionError


def _written(lines: Lines, mark: str) -> str:
    text = StringIO()
    csv.writer(text, delimiter=mark, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _reads_back(folder: Path, text: str, lines: Lines) -> bool:
    trial = folder / "hierarchy.trial"
    try:
        write_whole(text, trial, private=True)
        return lines_of(read_hierarchy(trial)) == lines
    except FileFormatError:
        return False
    finally:
        trial.unlink(missing_ok=True)


# The task, and what the page shows.


def edit(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, number: int, column: str, secret: str,
    hierarchy: Any = "", level: int = 1, do: Plain, exact: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Build or change the hierarchy of a variable as it is before step `number`, and show a level of it.

    Parameters
    ----------
    hierarchy
        The name of its file, or what a recipe says in place of one.
    level
        What is changed, and shown.
    do
        Its ``act``, and what that takes: ``path`` of a file; ``groups``, ``members``, ``name``, and
        whether the ``others`` that are not shown are meant, too.
    """
    tell("building a hierarchy")
    act = str(do["act"])
    data = file_before(desk, scenario, steps, number, secret, tell)
    before: Lines = []
    if act in BUILT:
        lines, level = BUILT[act](data, column), 1
    elif act == "file":
        lines, level = lines_of(read_hierarchy(do["path"])), 1
    elif not hierarchy:
        raise DataError("Choose the file of a hierarchy, or build one.")
    else:
        before = lines_of(as_hierarchy(desk.folder / hierarchy if isinstance(hierarchy, str) else hierarchy))
        level = min(max(level, 1), len(before[0]) - 1)
        lines, level = _changed(before, data, column, level, do, exact=exact)
    name = hierarchy if isinstance(hierarchy, str) else ""
    if lines != before:
        name = write_hierarchy(desk.folder, Path(str(do["path"])).stem if act == "file" else column, lines)
    return {
        "name": name, "level": level, "levels": len(lines[0]) - 1, "lacks": bool(lacking(lines, data, column)),
        **_shown(lines, data, column, level, exact=exact),
    }  # fmt: skip


def _changed(lines: Lines, data: Any, column: str, level: int, do: Plain, *, exact: bool) -> tuple[Lines, int]:
    """The lines after a change, and the level to show."""
    act, name = do["act"], str(do.get("name", "")).strip()
    if act == "look":
        return lines, level
    if act == "complete":
        return [*lines, *([text] * len(lines[0]) for text in lacking(lines, data, column))], level  # each for itself
    if act == "add_level":
        if len(lines[0]) > MOST_LEVELS:
            raise DataError(f"a hierarchy has {MOST_LEVELS} levels at most here")
        return [[*line[: level + 1], *line[level:]] for line in lines], level + 1
    if act == "remove_level":
        if len(lines[0]) == 2:
            raise DataError("it is the only level; a hierarchy has one at least")
        return [[*line[:level], *line[level + 1 :]] for line in lines], max(1, level - 1)
    shown = [row["name"] for row in _shown(lines, data, column, level, exact=exact)["rows"]]
    ticked = [group for group in shown if group in do.get("groups", ())]
    hidden = [group for group in dict.fromkeys(line[level] for line in lines) if group not in shown]
    groups = [*ticked, *(hidden if do.get("others") else ())]
    members = list(do.get("members", ()))
    if act == "split" and (groups or members):
        return split(lines, level, groups, members), level
    if act in ("up", "down") and ticked:
        return move(lines, level, ticked, -1 if act == "up" else 1, shown), level
    if act == "rename" and len(ticked) == 1 and name and not do.get("others"):
        return merge(lines, level, groups, name), level
    if act == "merge" and groups and (len(ticked) > 1 or do.get("others")):
        return merge(lines, level, groups, name or (OTHERS if do.get("others") else joint_name(ticked))), level
    raise DataError(NEEDS[act])


NEEDS = {
    "split": "tick the groups to take apart, or the parts to take out",
    "up": "tick the groups to move", "down": "tick the groups to move",
    "rename": "tick one group, and write its new name",
    "merge": "tick the groups to put together",
}  # fmt: skip


def _shown(lines: Lines, data: Any, column: str, level: int, *, exact: bool) -> dict[str, Any]:
    """The groups of a level and what stands below them, counted before and after in one document of the gate."""
    from sdckit.protect.recoding.recode import recode

    whole = _hierarchy([[line[0], *line] for line in lines])  # so that the values are a level, too
    before, after = (
        recode(data.select(column), column=column, hierarchy=whole, level=at, outside="missing").data
        for at in (level, level + 1)
    )
    plain = plain_picture(picture_of(before, after, column, levels=True), internal=exact, shown=MOST_SHOWN)
    texts = {
        side: {str(row["level"]): str(row["n"]["text"]) for row in plain[side]["rows"] if not row.get("pooled")}
        for side in ("before", "after")
    }
    parts: dict[str, dict[str, str]] = {}
    for line in lines:
        if line[level] in texts["after"]:
            part = parts.setdefault(line[level], {})
            if line[level - 1] in texts["before"]:
                part[line[level - 1]] = texts["before"][line[level - 1]]
    pooled = [str(row["n"]["text"]) for row in plain["after"]["rows"] if row.get("pooled")]
    rows = [
        {"name": name, "text": texts["after"][name],
         "members": [{"name": member, "text": text} for member, text in part.items() if [*part] != [name]]}
        for name, part in parts.items()
    ]  # fmt: skip
    return {"rows": rows, "others": pooled[0] if pooled else "", "column": column}
