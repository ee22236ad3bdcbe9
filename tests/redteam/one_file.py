"""An assessment of one file, as an intruder reads its JSON: every chapter, and what ties the chapters together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from math import comb
from typing import Any

from redteam.puzzle import SMALL, Puzzle
from redteam.reading import count_of, number_of
from redteam.tables import EDGES, Tables, largest

Chapter = Mapping[str, Any]


def puzzle_of(
    document: Chapter, n: int, weights: Sequence[float] = (), *, but: frozenset[str] = frozenset()
) -> Puzzle:
    """Everything that a printed assessment tells somebody who holds the file, and so its records and weights.

    `but` leaves a kind of knowledge out: the "levels" of a key as cells of it, or the "weights".
    """
    puzzle = Puzzle()
    puzzle.know("n", n, n)
    reader = Reader(document, puzzle, n, weights, but)
    for intruder in document["intruders"]:
        reader.intruder(intruder)
    reader.between()
    return puzzle


def size_class(label: str, n: int) -> tuple[int, int]:
    """The sizes of a class of cells: "1", "2-4", "100+"."""
    low, _, high = label.partition("-")
    return (int(low.rstrip("+")), n if label.endswith("+") else int(high or low))


class Reader:
    """Goes through the chapters of every intruder."""

    def __init__(
        self, document: Chapter, puzzle: Puzzle, n: int, weights: Sequence[float], but: frozenset[str]
    ) -> None:
        self.puzzle, self.n = puzzle, n
        self.weights = () if "weights" in but else weights
        self.but = but
        scenario = document["scenario"]
        self.limits = scenario["thresholds"]
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

    def figure(self, name: str, leaf: Chapter | None, *, watched: bool = True) -> str | None:
        """A printed count as a number of the puzzle; None where it is not printed."""
        span = count_of(leaf)
        if span is None:
            return None
        self.puzzle.know(name, span[0], span[1])
        if watched and span[0] < SMALL and span[1] > 0:
            self.puzzle.watch(name, "printed")
        return name

    def intruder(self, one: Chapter) -> None:
        """All chapters of one intruder."""
        keys = frozenset(one["keys"])
        at = "+".join(sorted(keys))
        wild = "key_frequencies_category" in one
        table = self.tables.table(keys, watched=True)
        for fact in one["key_facts"]:
            if "levels" not in self.but:
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
        if "risky_cells" in one:
            self.risky(one["risky_cells"], at, keys)
        if "suda" in one:
            self.special(one["suda"], at, keys, table, wild=wild)
        for name in ("population_risk", "population_uniques"):
            if name in one and (
                found := self.figure(f"{at}: uniques in {name}", one[name]["sample_uniques"])
            ):
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
                puzzle.say(
                    self.tables.numbers(table, end + 1, self.n), sum(low > end for low, _ in spans), math.inf
                )
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
        if wild and (
            helped := self.figure(f"{at}: helped", one["individual_risk"].get("resting_on_missing"))
        ):
            for name in [name for name in self.puzzle.spans if name.startswith(f"{at}: resting ")]:
                self.puzzle.within(name, helped, why="helped by missing values")

    def bins(
        self, rows: Any, at: str, cells: str, total: str, above: str | None, limit: float | None
    ) -> None:
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
            names = {
                int(k): name
                for k, leaf in counts.items()
                if (name := self.figure(f"{label}: below {k}", leaf))
            }
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
        puzzle.say(
            {alone: 1.0} | {one: -1 / comb(len(keys), size) for size, one in names.items()}, high=math.inf
        )
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
                        puzzle.within(
                            name, name.replace("*", ""), why="one rule for missing values less the other"
                        )
                    else:
                        puzzle.say(
                            {name: 1.0} | {k: -v for k, v in tables.records(table, 1, level - 1).items()},
                            high=math.inf,
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
                if place == "alpha_k" and two:
                    for limit, name in names:
                        if limit < 1:
                            self.puzzle.within(two, name)

    def between(self) -> None:
        """What one intruder's figures tell of another's."""
        self.tables.nest()
        for (more, variable, kind), wide in self.below.items():
            for (fewer, other, same), narrow in self.below.items():
                if fewer < more and (variable, kind) == (other, same):
                    for level in wide.keys() & narrow.keys():
                        self.puzzle.within(narrow[level], wide[level])
