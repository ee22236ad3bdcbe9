"""What a session decided: plain values that the server may hold, since no record is among them; undo and redo."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any

DECIDED = ("scenario", "steps")  # what undo takes back
DEEPEST = 200  # decisions kept


@dataclass(frozen=True)
class Step:
    """A step of protection; one that is off stands in the list and is not carried out."""

    method: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    on: bool = True


@dataclass(frozen=True)
class Work:
    """A session's decisions.

    `facts` is what opening the file told, `release` what protecting told; both are aggregates and paths. `secret`
    draws every run of the recipe alike, and is written nowhere but in the log.
    """

    path: str = ""
    name: str = ""
    reading: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] | None = None
    scenario: Mapping[str, Any] | None = None
    steps: tuple[Step, ...] = ()
    secret: str = field(default="", repr=False)
    release: Mapping[str, Any] | None = None
    control: str = ""
    exact: bool = False
    language: str = "en"

    def recipe(self) -> list[dict[str, Any]]:
        """The steps that are on, as tasks take them."""
        return [{"method": one.method, "arguments": dict(one.arguments)} for one in self.steps if one.on]

    def digest(self) -> str:
        """One text for file, scenario and recipe: what is made from them holds while it stays the same.

        >>> Work(name="a").digest() == Work(name="a", language="de").digest() != Work(name="b").digest()
        True
        """
        told = [self.path, self.name, dict(self.reading), self.scenario, self.recipe()]
        return sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()

    def saved(self) -> dict[str, Any]:
        """What may be kept on disk between two starts: scenario and recipe, no data and no secret."""
        return {"name": self.name, "scenario": self.scenario, "steps": [asdict(one) for one in self.steps]}

    def taken_up(self, saved: Mapping[str, Any]) -> Work:
        """The same with the scenario and the recipe that were saved.

        >>> work = Work(name="a.csv", scenario={"keys": ["sex"]}, steps=(Step("round_values", {"base": 10}),))
        >>> Work().taken_up(work.saved()).steps == work.steps
        True
        """
        steps = tuple(Step(one["method"], one["arguments"], one["on"]) for one in saved["steps"])
        name = self.name or str(saved.get("name", ""))
        return replace(self, name=name, scenario=saved["scenario"], steps=steps)


@dataclass
class History:
    """Decisions before and after the present ones.

    >>> history, first = History(), Work(steps=(Step("round_values"),))
    >>> second = replace(first, steps=())
    >>> history.keep(first)
    >>> history.undo(second).steps == first.steps, history.redo(first).steps == second.steps
    (True, True)
    """

    before: list[dict[str, Any]] = field(default_factory=list)
    after: list[dict[str, Any]] = field(default_factory=list)

    def keep(self, work: Work) -> None:
        """Remember decisions that are about to change; what was undone cannot be done again."""
        self.before = [*self.before, _decided(work)][-DEEPEST:]
        self.after = []

    def undo(self, work: Work) -> Work:
        """The decisions before the last change; the same where there was none."""
        return self._step(self.before, self.after, work)

    def redo(self, work: Work) -> Work:
        """The decisions that were undone last; the same where none were."""
        return self._step(self.after, self.before, work)

    def clear(self) -> None:
        """Forget all, as another file asks for."""
        self.before, self.after = [], []

    @staticmethod
    def _step(source: list[dict[str, Any]], target: list[dict[str, Any]], work: Work) -> Work:
        if not source:
            return work
        target.append(_decided(work))
        return replace(work, **source.pop())


def _decided(work: Work) -> dict[str, Any]:
    return {name: getattr(work, name) for name in DECIDED}
