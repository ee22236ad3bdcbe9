"""An assessment of one file, as an intruder reads its JSON: every chapter, and what ties the chapters together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from programmes import SMALL
from redteam.chapters import Chapter, Chapters
from redteam.puzzle import Puzzle
from redteam.reading import number_of
from redteam.tables import EDGES, Tables, largest


def puzzle_of(document: Chapter, n: int, weights: Sequence[float] = ()) -> Puzzle:
    """Everything that a printed assessment tells somebody who holds the file, and so its records and weights."""
    puzzle = Puzzle()
    puzzle.know("n", n, n)
    reader = Reader(document, puzzle, n, weights)
    for intruder in document["intruders"]:
        reader.intruder(intruder)
    reader.between()
    return puzzle


def size_class(label: str, n: int) -> tuple[int, int]:
    """The sizes of a class of cells: "1", "2-4", "100+"."""
    low, _, high = label.partition("-")
    return (int(low.rstrip("+")), n if label.endswith("+") else int(high or low))


class Reader(Chapters):
    """Goes through the chapters of every intruder."""

    def __init__(self, document: Chapter, puzzle: Puzzle, n: int, weights: Sequence[float]) -> None:
        self.puzzle, self.n, self.weights = puzzle, n, weights
        scenario = document["scenario"]
        self.limits = {name: one["value"] for name, one in scenario["limits"].items()}
        self.verdicts = document["verdicts"]
        fraction = scenario["sampling_fraction"]
        self.census = fraction is None and scenario["weight"] is None
        self.fraction = None if scenario["weight"] else fraction or 1.0
        self.tables = Tables(puzzle, n, self._ends(document))
        self.below: dict[tuple[frozenset[str], str, str], dict[int, str]] = {}
        self.plain: list[frozenset[str]] = []
        self.affected: dict[frozenset[str], str] = {}

    def _ends(self, document: Chapter) -> set[int]:
        ends = {int(self.limits.get("k") or 2) - 1}
        if self.fraction is not None:
            ends |= {largest(edge, self.fraction, self.n) for edge in EDGES[1:]}
            if limit := self.limits.get("risk"):
                ends.add(largest(limit, self.fraction, self.n, strictly=True))
        return {end for end in ends if 0 < end < self.n}

    def intruder(self, one: Chapter) -> None:
        """All chapters of one intruder."""
        keys = frozenset(one["keys"])
        at = "+".join(sorted(keys))
        wild = "key_frequencies_category" in one
        table = self.tables.table(keys, watched=True)
        for fact in one["key_facts"]:
            self.levels(fact)
        self.frequencies(one, at, table, wild=wild)
        self.anonymity(one, at, table, wild=wild)
        self.risks(one, at, table, wild=wild)
        if not wild:
            self.plain.append(keys)
        if "key_contributions" in one:
            self.contributions(one["key_contributions"], at, keys, wild=wild)
        if "household_structure" in one:
            self.households(one["household_structure"], at)
        if "known_points" in one:
            self.followed(one["known_points"], at, table, wild=wild)
        if "exact_numbers" in one:
            self.amounts(one["exact_numbers"], wild=wild)
        if "risky_cells" in one:
            self.risky(one["risky_cells"], at, keys)
        if "suda" in one:
            self.special(one["suda"], at, keys, table, wild=wild)
        for name in ("population_risk", "population_uniques"):
            if name in one and (found := self.figure(f"{at}: uniques in {name}", one[name]["sample_uniques"])):
                self.tables.is_sum(found, self.tables.records(table, 1, 1))
        self.diversity(one, at, keys, table, wild=wild)

    def levels(self, fact: Chapter) -> None:
        """The levels of a key are the cells of a table of one key."""
        key = fact["name"]
        table, puzzle = self.tables.table([key]), self.puzzle
        missing = self.figure(f"{key} missing", fact["n_missing"])
        if missing is None or puzzle.spans[missing][1] == math.inf:
            return
        shown, spans, others = [], [], []
        for row in fact["level_counts"]:
            name = self.figure(f"{key} is {row['level']}", row["n"])
            if name is None:
                return
            if row.get("pooled") or puzzle.spans[name][1] < SMALL:
                others.append(name)
            else:
                puzzle.know(name, SMALL)
                shown.append(name)
                spans.append(puzzle.spans[name])
        whole = dict.fromkeys([*shown, missing, *others], 1.0)
        puzzle.say(whole, self.n, self.n)
        n_large = fact["levels_of_5_or_more"]
        if n_large != len(shown):
            return
        few, many = self.tables.records(table, 1, SMALL - 1), self.tables.numbers(table, SMALL, self.n)
        low, high = puzzle.spans[missing]
        rest = dict.fromkeys(others, -1.0)
        if high < SMALL:
            puzzle.say(few | {missing: -1.0} | rest)
            puzzle.say(many, n_large, n_large)
        elif low >= SMALL:
            puzzle.say(few | rest)
            puzzle.say(many, n_large + 1, n_large + 1)
            spans.append((low, high))
        else:
            puzzle.say(few | rest, high=self.n)
            puzzle.say(many, n_large, n_large + 1)
        for _, end in self.tables.parts[:-1]:
            if end >= SMALL:
                puzzle.say(self.tables.numbers(table, end + 1, self.n), sum(low > end for low, _ in spans), math.inf)
                certain = sum(high <= end for _, high in spans)
                puzzle.say(self.tables.numbers(table, SMALL, end), certain, math.inf)

    def frequencies(self, one: Chapter, at: str, table: str, *, wild: bool) -> None:
        """Records alone, and cells by their size."""
        found, tables = one["key_frequencies"], self.tables
        for row in found["frequency_of_frequencies"]:
            low, high = size_class(row["size"], self.n)
            # How many larger cells there are follows from their records: no small group.
            name = self.figure(f"{at}: cells of class {row['size']}", row["n_cells"], watched=high < SMALL)
            if name:
                tables.is_sum(name, tables.numbers(table, low, high))
        own = self.figure(f"{at}: alone{'*' if wild else ''}", found["sample_uniques"])
        strict = found if not wild else one["key_frequencies_category"]
        alone = self.figure(f"{at}: alone", strict["sample_uniques"])
        if alone:
            tables.is_sum(alone, tables.records(table, 1, 1))
        if wild and own and alone:
            resting = self.figure(f"{at}: resting 2", found.get("resting_on_missing"))
            self.rest(own, alone, resting)

    def rest(self, own: str, strict: str, resting: str | None) -> None:
        """A wildcard only adds records; those held by others' missing values are alone for the stricter rule."""
        self.puzzle.within(own, strict, why="one rule for missing values less the other")
        if resting:
            self.puzzle.say({strict: 1.0, own: -1.0, resting: -1.0}, high=math.inf)

    def anonymity(self, one: Chapter, at: str, table: str, *, wild: bool) -> None:
        """Records in groups of fewer than k: those in smaller cells."""
        tables, puzzle = self.tables, self.puzzle
        strict = one["k_anonymity_category" if wild else "k_anonymity"]["violations"]
        found: dict[int, str] = {}
        for k in sorted(map(int, strict)):
            name = self.figure(f"{at}: below {k}", strict[str(k)])
            if name:
                found[k] = name
                tables.is_sum(name, tables.records(table, 1, k - 1))
        for (_, fewer), (_, more) in pairwise(found.items()):
            puzzle.within(fewer, more, why="between two levels of k")
        if not wild:
            return
        own: dict[int, str] = {}
        for k, leaf in one["k_anonymity"]["violations"].items():
            name = self.figure(f"{at}: below {k}*", leaf)
            if name is None:
                continue
            own[int(k)] = name
            if int(k) in found:
                resting = self.figure(f"{at}: resting {k}", one["k_anonymity"]["resting_on_missing"][k])
                self.rest(name, found[int(k)], resting)
        for (_, fewer), (_, more) in pairwise(sorted(own.items())):
            puzzle.within(fewer, more, why="between two levels of k")
        if 2 in own and f"{at}: alone*" in puzzle.spans:
            puzzle.same(own[2], f"{at}: alone*")

    def risks(self, one: Chapter, at: str, table: str, *, wild: bool) -> None:
        """The expected number, the records above the limit, the bins."""
        places = [("individual_risk_category" if wild else "individual_risk", "", table)]
        if wild:
            places.append(("individual_risk", "*", ""))
        for place, star, cells in places:
            found = one[place]
            span = number_of(found["expected_reidentifications"], cells=self.census)
            name = self.puzzle.know(f"{at}: expected{star}", *(span or (0.0, math.inf)), whole=False)
            if cells and self.fraction is not None:
                self.tables.expected(name, cells, self.fraction)
            elif cells and self.weights:
                self.tables.weighted(name, cells, self.weights)
            above = self.figure(f"{at}: above{star}", found.get("n_above"))
            limit = found.get("threshold")
            if above and cells and self.fraction is not None:
                most = largest(limit, self.fraction, self.n, strictly=True)
                self.tables.is_sum(above, self.tables.records(cells, 1, most))
            self.bins(found["distribution"], f"{at}{star}", cells, name, above, limit)
        if wild and (helped := self.figure(f"{at}: helped", one["individual_risk"].get("resting_on_missing"))):
            for name in [name for name in self.puzzle.spans if name.startswith(f"{at}: resting ")]:
                self.puzzle.within(name, helped, why="helped by missing values")

    def bins(self, rows: Any, at: str, cells: str, total: str, above: str | None, limit: float | None) -> None:
        """Records by risk; risk follows from the size of a cell where the fraction is known."""
        names, least, most = [], {total: 1.0}, {total: 1.0}
        beyond: dict[str, float] = {}
        for row in rows:
            name = self.figure(f"{at}: risk {row['from']:g} to {row['to']:g}", row["n"])
            if name is None:
                return
            names.append(name)
            least[name], most[name] = -row["from"], -row["to"]
            beyond[name] = 1.0 if limit is not None and row["from"] > limit else 0.0
            if cells and self.fraction is not None:
                top = largest(row["from"], self.fraction, self.n) if row["from"] > 0 else self.n
                bottom = largest(row["to"], self.fraction, self.n) if row["to"] < 1 else 0
                self.tables.is_sum(name, self.tables.records(cells, bottom + 1, top))
        self.puzzle.say(dict.fromkeys(names, 1.0), self.n, self.n)
        self.puzzle.say(least, -1e-6, math.inf)
        self.puzzle.say(most, -math.inf, 1e-6)
        if above:
            self.puzzle.say({above: 1.0} | {k: -v for k, v in beyond.items() if v}, high=math.inf)

    def contributions(self, found: Chapter, at: str, keys: frozenset[str], *, wild: bool) -> None:
        """The same file with a key left out, or a step coarser."""
        star = "*" if wild else ""
        rows = [(frozenset(row["variables"]), "", row) for row in found["table"]]
        rows += [(frozenset(row["variables"]), " coarser", row) for row in found["coarsenings"]]
        for dropped, coarser, row in rows:
            rest = keys - dropped
            label = f"{at} but {'+'.join(sorted(dropped))}{coarser}{star}"
            table = self._reduced(keys, dropped, coarser)
            counts = {"2": row["uniques_without"]} | row["violations_without"]
            names = {int(k): name for k, leaf in counts.items() if (name := self.figure(f"{label}: below {k}", leaf))}
            for k, name in names.items():
                whole = f"{at}: below {k}{star}"
                records = self.tables.records(table, 1, k - 1)
                if not wild:
                    self.tables.is_sum(name, records)
                else:
                    self.puzzle.say({name: -1.0} | records, high=math.inf)
                if whole in self.puzzle.spans and (not wild or coarser or len(rest) == 1):
                    self.puzzle.within(name, whole, why="saved by a key" if k == 2 else "")
            for (_, fewer), (_, more) in pairwise(sorted(names.items())):
                self.puzzle.within(fewer, more, why="between two levels of k")

    def _reduced(self, keys: frozenset[str], dropped: frozenset[str], coarser: str) -> str:
        if not coarser:
            return self.tables.table(keys - dropped)
        (key,) = dropped
        label = f"{key} a step coarser"
        table = self.tables.table([*(keys - dropped), label])
        self.tables.finer(self.tables.table(keys), table)
        return table

    def between(self) -> None:
        """What one intruder's figures tell of another's."""
        self.tables.nest()
        for (more, variable, kind), wide in self.below.items():
            for (fewer, other, same), narrow in self.below.items():
                if fewer < more and (variable, kind) == (other, same):
                    for level in wide.keys() & narrow.keys():
                        self.puzzle.within(narrow[level], wide[level])
