"""The file of a privacy budget: what the runs on a dataset may spend together, and what they reserved, in ρ.

ρ adds up; whoever converts it to ε stands above. A run reserves before data are read, so that of two at once only those
go on that fit together, and what is killed counts as spent. Nothing in the file comes from the data.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sdckit.data.arguments import amount_above, text
from sdckit.data.files.whole_files import real_target, replacing
from sdckit.data.ledger.chain import Head, Link, following, head_of, locked, start
from sdckit.data.ledger.digests import Digester
from sdckit.data.scenarios.scenario_toml import read_toml, write_toml
from sdckit.errors import DataError, FileFormatError

SCHEMA, VERSION = "sdckit-budget", 1
RESERVED, DONE, WITHDRAWN, THROWN_AWAY = "reserved", "done", "withdrawn", "thrown away"
UNSPENT = (WITHDRAWN, THROWN_AWAY)
DIGESTER = Digester(b"sdckit budget")  # no secret: the chain shows accidents and older copies, not forgers


@dataclass
class Run:
    """A run that has reserved its share; it says when the first noise is drawn, as from then on the share is spent."""

    number: str
    drawn: bool = False


@dataclass(frozen=True)
class BudgetFile:
    """What a dataset may spend, and the links of those who reserved, ended, or drew back before any noise."""

    file: Path
    dataset: str
    epsilon: float
    delta: float
    rho: float
    links: tuple[Link, ...]
    head: Head

    @property
    def runs(self) -> dict[str, tuple[float, str]]:
        """ρ and state of each run by its number."""
        runs: dict[str, tuple[float, str]] = {}
        for link in self.links:
            runs[link.name] = float(link.fields.get("rho", runs.get(link.name, (0.0,))[0])), link.what
        return runs

    @property
    def spent(self) -> float:
        """The ρ of all runs that did not draw back, and that nobody declared thrown away."""
        return math.fsum(rho for rho, state in self.runs.values() if state not in UNSPENT)

    @property
    def spent_at_most(self) -> float:
        """The ρ of all runs that did not draw back, those declared thrown away included."""
        return math.fsum(rho for rho, state in self.runs.values() if state != WITHDRAWN)

    @property
    def reasons(self) -> dict[str, str]:
        """Why runs were declared thrown away, by number."""
        thrown = [name for name, (_, state) in self.runs.items() if state == THROWN_AWAY]
        return {link.name: str(link.fields.get("reason", "")) for link in self.links if link.name in thrown}

    def thrown_away(self, number: str, reason: str) -> BudgetFile:
        """Enter that nobody has or will have anything of a run: its share is not spent, by the word of who says so.

        Raises DataError: no such run, one that is spent by nobody, or no reason.
        """
        with locked(self.file.parent, self._lock):
            now = open_budget(self.file)
            if number not in now.runs:
                raise DataError(f"the budget of {now.dataset!r} has no run {number!r}; it has {len(now.runs)}",
                                argument="run")  # fmt: skip
            if now.runs[number][1] in UNSPENT:
                raise DataError(f"run {number} spends nothing as it is", argument="run")
            if not reason.strip():
                raise DataError("say why nobody has anything of it, such as an audit with coins", argument="reason")
            return now._followed(THROWN_AWAY, number, reason=reason)

    def check_dataset(self, dataset: str | None) -> None:
        """Refuse a domain of another name, or of none."""
        if dataset != self.dataset:
            other = "names no dataset" if dataset is None else f"names the dataset {dataset!r}"
            raise DataError(
                f"the budget {self.file.name} is that of {self.dataset!r}, and the domain {other}; a corrected file "
                "has the name and the budget of the first one: dataset in the domain", argument="budget"
            )  # fmt: skip

    @contextlib.contextmanager
    def reserved(self, rho: float, *, worded: Callable[[float], str] = "ρ = {:.6g}".format) -> Iterator[Run]:
        """Reserve ρ for a run; it is given back only where the run fails before it says that it drew.

        `worded` says a share of ρ in words.

        Raises DataError: more than is left, or the run was declared thrown away under way and no longer fits;
        FileFormatError: the file cannot be written.
        """
        with locked(self.file.parent, self._lock):
            now = open_budget(self.file)
            if math.fsum([now.spent, rho]) > now.rho:
                raise DataError(
                    f"the budget of {now.dataset!r} does not reach: of {worded(now.rho)} there is "
                    f"{worded(max(now.rho - now.spent, 0))} left, and this run spends {worded(rho)}; no data were read",
                    argument="budget",
                )
            run = Run(str(len(now.runs) + 1))
            now._followed(RESERVED, run.number, rho=rho)
        try:
            yield run
        except BaseException:
            if not run.drawn:
                self._end(run, WITHDRAWN)
            raise
        self._end(run, DONE)

    def _end(self, run: Run, what: str) -> None:
        with locked(self.file.parent, self._lock):
            now = open_budget(self.file)
            rho, state = now.runs[run.number]
            if what == DONE and state == THROWN_AWAY and math.fsum([now.spent, rho]) > now.rho:
                raise DataError(
                    f"run {run.number} was declared thrown away while it was under way, and others reserved its share; "
                    "what it made is not given out", argument="budget")  # fmt: skip
            now._followed(what, run.number)

    @property
    def _lock(self) -> str:
        return f"{self.file.name}.lock"

    def _followed(self, what: str, name: str, **entry: Any) -> BudgetFile:
        link = following(self.head, what, name, entry, DIGESTER)
        return replace(self, links=(*self.links, link), head=Head(self.head.number + 1, link.digest)).written()

    def written(self) -> BudgetFile:
        """Write the file, whole or not at all."""
        head = {
            "schema": SCHEMA, "schema_version": VERSION, "dataset": self.dataset, "epsilon": self.epsilon,
            "delta": self.delta, "rho": self.rho,
        }  # fmt: skip
        links = "".join(f"\n[[chain]]\n{write_toml(link.plain, ())}" for link in self.links)
        with replacing(self.file, what="the budget", private=True) as part:
            part.write_text(write_toml(head, ()) + links, encoding="utf-8")
        return self


def create_budget(file: Path, *, dataset: str, epsilon: float, delta: float, rho: float) -> BudgetFile:
    """Start a budget of ρ, which is ε at δ.

    Raises FileFormatError: the file exists, or cannot be written.
    """
    if not text(dataset, "dataset").strip():
        raise DataError("dataset is empty; give the name that the domain has", argument="dataset")
    file = real_target(file)
    exists = FileFormatError(f"{file.name} exists, and may be a budget that was spent from; name another file")
    if file.exists():  # and another's file gets no lock beside it
        raise exists
    with locked(file.parent, f"{file.name}.lock"):
        if file.exists():
            raise exists
        first = start(_about(dataset, epsilon, delta, rho), DIGESTER)
        return BudgetFile(file, dataset, epsilon, delta, rho, (), first).written()


def open_budget(file: str | Path) -> BudgetFile:
    """Open a budget whose chain is whole; of a link the file that it leads to.

    Raises FileFormatError: there is none, it was changed, or it has several names (hard links), of which one would
    become a budget of its own.
    """
    file = real_target(file)
    plain = read_toml(file, what="budget")
    if file.stat().st_nlink > 1:
        raise FileFormatError(f"{file.name} has other names (hard links), whose runs would not be counted; remove them")
    if plain.get("schema") != SCHEMA or plain.get("schema_version") != VERSION:
        raise FileFormatError(f"{file.name} is no budget that this version reads; 'sdckit budget create' starts one")
    try:
        dataset = str(plain["dataset"])
        epsilon, delta, rho = (amount_above(plain[name], name) for name in ("epsilon", "delta", "rho"))
        head, links = head_of(start(_about(dataset, epsilon, delta, rho), DIGESTER), plain.get("chain", ()), DIGESTER)
        budget = BudgetFile(file, dataset, epsilon, delta, rho, links, head)
        if not all(share >= 0 for share, _ in budget.runs.values()):
            raise ValueError
    except FileFormatError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError):
        raise FileFormatError(f"{file.name} is damaged: an entry is missing or of another kind") from None
    return budget


def _about(dataset: str, epsilon: float, delta: float, rho: float) -> str:
    return f"{dataset}\0{epsilon!r}\0{delta!r}\0{rho!r}"
