"""The chapters that an analyst asks for, or that need a role: households, small tables, minimal uniques, diversity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, pairwise
from math import comb
from typing import Any

from programmes import SMALL
from redteam.puzzle import Puzzle
from redteam.reading import count_of, sum_of
from redteam.tables import Tables

Chapter = Mapping[str, Any]


class Chapters:
    """What each of these chapters says of the tables of cells."""

    puzzle: Puzzle
    tables: Tables
    n: int
    below: dict[tuple[frozenset[str], str, str], dict[int, str]]

    def figure(self, name: str, leaf: Chapter | None, *, watched: bool = True) -> str | None:
        """A printed count as a number of the puzzle; None where it is not printed."""
        span = count_of(leaf)
        if span is None:
            return None
        self.puzzle.know(name, span[0], span[1])
        if watched and span[0] < SMALL and span[1] > 0:
            self.puzzle.watch(name, "printed")
        return name

    def households(self, found: Chapter, at: str) -> None:
        """Households by size make the households, their members the file."""
        puzzle = self.puzzle
        names = ("n_households", "unique_sizes", "rare_sizes")
        total, one, rare = (self.figure(f"households: {name}", found[name]) for name in names)
        alone = self.figure(f"{at}: unique compositions", found["unique_compositions"])
        if not (total and one and rare and alone):
            return
        puzzle.within(alone, total, why="households")
        puzzle.within(one, rare, why="households")
        puzzle.within(one, alone)
        sizes, members = {total: -1.0}, {}
        other = None
        for row in found["sizes"]:
            name = self.figure(f"households of {row['level']}", row["n"])
            if name is None:
                return
            sizes[name] = 1.0
            if row.get("pooled"):
                other = name
            else:
                members[name] = float(row["level"])
                if puzzle.spans[name][0] < SMALL <= puzzle.spans[name][1]:
                    puzzle.know(name, SMALL)
        puzzle.say(sizes)
        shown = {int(size) for size in members.values()}
        free = next(size for size in range(1, self.n) if size not in shown)
        if other is None:
            puzzle.say(members, self.n, self.n)
            return
        puzzle.say(members | {other: float(free)}, -math.inf, self.n)
        # One size held by one household, another by two: together they are among the others.
        puzzle.say({other: 1.0, rare: -2.0, one: 1.0}, high=math.inf)

    def followed(self, found: Chapter, at: str, table: str, *, wild: bool) -> None:
        """Whoever has more rows is among those who have fewer; shares of people are sums over them."""
        puzzle = self.puzzle
        known: list[str] = []
        people = self.figure("people", found["persons"])
        if people:
            puzzle.within(people, "n")
        for row in found["releases"][0]:
            points = int(row["points"])
            those = self.figure(f"people with {points} rows", row["persons"])
            if those is None:
                return
            if known:
                puzzle.within(those, known[-1], why="people with so many rows and no more")
            elif people:
                puzzle.within(those, people)
            known.append(those)
            sums = {name: sum_of(row[name]) for name in ("alone", "below_k", "expected") if name in row}
            parts = {
                name: puzzle.know(f"{at}: {points} rows, {name}", *span, whole=False)
                for name, span in sums.items()
                if span is not None
            }
            for part in parts.values():
                puzzle.within(part, those)
            alone = parts.get("alone")
            for whole in (parts[name] for name in ("below_k", "expected") if alone and name in parts):
                puzzle.within(str(alone), whole)
            if alone and "expected" in parts:  # whoever is not alone is one of two or more
                puzzle.say({those: 0.5, alone: 0.5, parts["expected"]: -1.0}, -1e-6, math.inf)
            if alone and points == 1 and not wild:  # who is alone without any of them is alone with one
                puzzle.say({alone: 1.0, those: -1.0, self.tables.cells(table, (1, 1)): -1.0}, -self.n - 1e-6, math.inf)

    def amounts(self, found: Chapter, *, wild: bool) -> None:
        """Of a file by itself every amount goes out as it is; the largest of few dominates its group."""
        puzzle, tables, groups = self.puzzle, self.tables, found["groups"]
        most = int(found["k"]) - 1
        (release,) = found["releases"]
        for column in release["columns"]:
            start = f"{column['column']} by {'+'.join(sorted(groups))}"
            names = [self.figure(f"{start}: {name}", column[name]) for name in ("dominating", "exact")]
            if None in names:
                continue
            dominating, exact = map(str, names)
            puzzle.same(dominating, exact)
            if groups and not wild:
                table = tables.table(groups)
                few, largest = tables.numbers(table, 1, most), tables.numbers(table, 2 * most + 1, self.n)
                small = tables.records(table, 1, 2 * most)
                puzzle.say({dominating: 1.0} | {name: -factor for name, factor in few.items()}, high=math.inf)
                upper = small | {name: 2.0 * most * factor for name, factor in largest.items()}
                puzzle.say({dominating: -1.0} | upper, high=math.inf)

    def risky(self, found: Chapter, at: str, keys: frozenset[str]) -> None:
        """Unsafe cells of small tables are the small cells of tables of fewer keys."""
        tables, puzzle = self.tables, self.puzzle
        affected = self.figure(f"{at}: unsafe records", found["records_affected"])
        limits = {int(d): limit for d, limit in found["thresholds"].items()}
        totals: dict[int, dict[str, float]] = {}
        everything: dict[str, float] = {}
        for size, limit in limits.items():
            totals[size] = {}
            for chosen in combinations(sorted(keys), size):
                table = tables.table(chosen)
                totals[size] |= tables.numbers(table, 1, limit)
                records = tables.records(table, 1, limit)
                everything |= records
                if affected:
                    puzzle.say({affected: 1.0} | {k: -v for k, v in records.items()}, high=math.inf)
            if total := self.figure(f"{at}: unsafe {size}", found["unsafe_cells"][str(size)]):
                tables.is_sum(total, totals[size])
        for row in found["table"]:
            table, limit = tables.table(row["variables"]), limits[len(row["variables"])]
            label = "+".join(sorted(row["variables"]))
            if name := self.figure(f"{label}: unsafe cells up to {limit}", row["n_unsafe"]):
                tables.is_sum(name, tables.numbers(table, 1, limit))
            if name := self.figure(f"{label}: records up to {limit}", row["records"]):
                tables.is_sum(name, tables.records(table, 1, limit))
        if affected and everything:
            puzzle.say({affected: -1.0} | everything, high=math.inf)
            rare = tables.records(tables.table(keys), 1, max(limits.values()))
            puzzle.say({affected: -1.0} | rare, high=math.inf)

    def special(self, found: Chapter, at: str, keys: frozenset[str], table: str, *, wild: bool) -> None:
        """Minimal uniques: alone on a set of keys and on no part of it."""
        tables, puzzle = self.tables, self.puzzle
        if name := self.figure(f"{at}: pairs", found["pairs"]):
            tables.is_sum(name, tables.records(table, 2, 2))
        if name := self.figure(f"{at}: special uniques", found["sample_uniques"]):
            tables.is_sum(name, tables.records(table, 1, 1))
        ones = {
            chosen: tables.cells(tables.table(chosen), (1, 1))
            for size in range(1, len(keys) + 1)
            for chosen in combinations(sorted(keys), size)
        }
        alone = ones[tuple(sorted(keys))]
        names = {}
        for size, leaf in found["msu_counts"].items():
            name = self.figure(f"{at}: minimal uniques of {size}", leaf)
            if name is None:
                continue
            names[int(size)] = name
            if wild:  # a missing value makes nobody special
                continue
            here = [chosen for chosen in ones if len(chosen) == int(size)]
            puzzle.say({name: -1.0} | {ones[chosen]: 1.0 for chosen in here}, high=math.inf)
            least = {name: 1.0} | {ones[chosen]: -1.0 for chosen in here}
            if int(size) > 1:
                for chosen in combinations(sorted(keys), int(size) - 1):
                    least[ones[chosen]] = least.get(ones[chosen], 0.0) + len(keys) - int(size) + 1
            puzzle.say(least, high=math.inf)
        puzzle.say({alone: 1.0} | {one: -1 / comb(len(keys), size) for size, one in names.items()}, high=math.inf)
        if not wild and len(keys) in names and len(names) == len(keys):
            puzzle.say({alone: -1.0} | dict.fromkeys(names.values(), 1.0), high=math.inf)

    def diversity(self, one: Chapter, at: str, keys: frozenset[str], table: str, *, wild: bool) -> None:
        """Groups without enough values: small cells are among them."""
        puzzle, tables = self.puzzle, self.tables
        for place, star in (("l_diversity", ""), ("l_diversity_wildcard", "*")):
            for variable, found in one.get(place, {}).items():
                start = f"{at}: {variable}{star}"
                kinds: dict[str, dict[int, str]] = {}
                for kind, levels in found["violations"].items():
                    kinds[kind] = {
                        int(level): name
                        for level, leaf in levels.items()
                        if (name := self.figure(f"{start} {kind} {level}", leaf))
                    }
                    for (_, fewer), (_, more) in pairwise(sorted(kinds[kind].items())):
                        puzzle.within(fewer, more, why="between two levels of l")
                for level, name in kinds["distinct"].items():
                    for kind in ("entropy", "recursive"):
                        if level in kinds.get(kind, {}):
                            puzzle.within(name, kinds[kind][level], why="between two kinds of l")
                    if star:
                        puzzle.within(name, name.replace("*", ""), why="one rule for missing values less the other")
                    else:
                        puzzle.say(
                            {name: 1.0} | {k: -v for k, v in tables.records(table, 1, level - 1).items()}, high=math.inf
                        )
                        self.below.setdefault((keys, variable, "distinct"), {})[level] = name
                if not star:
                    self._single_values(start, found, kinds["distinct"].get(2), table)
                    self._shares(one, at, variable, kinds["distinct"].get(2))

    def _single_values(self, start: str, found: Chapter, two: str | None, table: str) -> None:
        alike = self.figure(f"{start} groups of one value", found["homogeneous"])
        if alike is None or two is None:
            return
        ones = self.tables.cells(table, (1, 1))
        self.puzzle.say({two: 1.0, ones: -1.0, alike: -2.0}, high=math.inf)
        self.puzzle.say({two: 1.0, ones: -1.0, alike: -float(self.n)}, low=-math.inf)
        self.puzzle.say(self.tables.numbers(table, 2, self.n) | {alike: -1.0}, high=math.inf)

    def _shares(self, one: Chapter, at: str, variable: str, two: str | None) -> None:
        """Whoever shares one single value is beyond every share below one; a wider limit is beyond a narrower one."""
        for place in ("alpha_k", "t_closeness", "beta_likeness", "delta_disclosure"):
            for kind, limits in one.get(place, {}).get("variables", {}).get(variable, {}).items():
                names = [
                    (float(limit), name)
                    for limit, row in limits.items()
                    if (name := self.figure(f"{at}: {variable} {place} {kind} {limit}", row["n"]))
                ]
                for (_, narrow), (_, wide) in pairwise(sorted(names)):
                    self.puzzle.within(wide, narrow, why="between two limits")
                for limit, name in names if two else ():
                    # a group of one value lacks every other value of the file
                    if (place == "alpha_k" and limit < 1) or kind == "delta":
                        self.puzzle.within(str(two), name)
