"""What a form needs to ask for a step: the arguments of its method, of what kind each is, and what it means."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sdckit.workflow.recipes.recipe_steps import METHODS, Method, annotation_of, method_of

Kind = Literal["column", "columns", "choice", "flag", "whole", "number", "text", "value"]
HEAD = re.compile(r"^(\w+(?:, \w+)*)(?: : .*)?$")
SECTION = "Parameters\n----------\n"
UNDERLINE = re.compile(r"\n[A-Z][A-Za-z ]*\n-{3,}\n")
SIMPLE: dict[Any, Kind] = {bool: "flag", int: "whole", float: "number", str: "text"}
INTRUDER = "One of the scenario's intruders, for a step that takes its keys or a risk from the scenario."


@dataclass(frozen=True)
class Entry:
    """An argument of a step.

    Attributes
    ----------
    name : str
    kind : {"column", "columns", "choice", "flag", "whole", "number", "text", "value"}
        A "value" is written as a recipe file writes it: a list, a table, or one of several kinds.
    choices : tuple of str
        Of a choice.
    default : value or None
        What holds where it is not given; None also where it is needed.
    needed : bool
    about : str
        What it means, as the reference says it.
    """

    name: str
    kind: Kind
    choices: tuple[str, ...]
    default: Any
    needed: bool
    about: str


@dataclass(frozen=True)
class Form:
    """A method of protection: its name, what it does in a sentence, and its arguments, those needed first."""

    method: str
    about: str
    entries: tuple[Entry, ...]


def forms() -> tuple[Form, ...]:
    """The forms of all methods.

    >>> forms()[0].method
    'recode'
    """
    return tuple(form_of(name) for name in METHODS)


def form_of(name: str) -> Form:
    """The form of a method.

    Examples
    --------
    >>> one = form_of("round_to")
    >>> [(entry.name, entry.kind, entry.needed) for entry in one.entries][:2]
    [('column', 'column', True), ('base', 'number', True)]
    """
    method = method_of(name, "form")
    doc = (inspect.getdoc(method.function) or "").replace("`", "")
    words = _told(doc)
    entries = [_entry(method, one, words.get(one, "")) for one in method.offered]
    entries.sort(key=lambda one: not one.needed)
    return Form(name, " ".join(doc.partition("\n\n")[0].split()), tuple(entries))


def _entry(method: Method, name: str, about: str) -> Entry:
    if name == "intruder":
        return Entry(name, "text", (), None, needed=False, about=INTRUDER)
    one = method.parameters[name]
    needed = one.default is one.empty
    annotation = annotation_of(method, name)
    kind, choices = _kind(annotation, named=name in method.columns)
    default = None if needed else _plain(one.default)
    return Entry(name, kind, choices, default, needed=needed, about=about)


def _kind(annotation: Any, *, named: bool) -> tuple[Kind, tuple[str, ...]]:
    """Of a union that leaves more than one kind open the general one."""
    options = [one for one in _options(annotation) if one is not type(None)]
    if len(options) > 1 and named and all(one is str or _is_list(one) for one in options):
        return "columns", ()
    if len(options) != 1:
        return "value", ()
    (only,) = options
    if typing.get_origin(only) is Literal and all(isinstance(one, str) for one in typing.get_args(only)):
        return "choice", typing.get_args(only)
    if named and only is str:
        return "column", ()
    if named and _is_list(only) and typing.get_args(only)[:1] == (str,):
        return "columns", ()
    return SIMPLE.get(only, "value"), ()


def _options(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(part for one in typing.get_args(annotation) for part in _options(one))
    return (annotation,)


def _is_list(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (Sequence, list, tuple)


def _plain(value: Any) -> Any:
    """A default as plain values."""
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value] or None
    return dict(value) if isinstance(value, Mapping) else value


def _told(doc: str) -> dict[str, str]:
    """What a docstring says of each parameter, without its type."""
    _, found, rest = doc.partition(SECTION)
    if not found:
        return {}
    body = UNDERLINE.split(rest)[0]
    told: dict[str, list[str]] = {}
    names: list[str] = []
    for line in body.splitlines():
        if line and not line.startswith(" "):
            head = HEAD.match(line)
            names = head[1].split(", ") if head else []
        elif line.strip():
            for name in names:
                told.setdefault(name, []).append(line.strip())
    return {name: " ".join(lines) for name, lines in told.items()}
