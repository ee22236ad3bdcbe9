"""Counting, summing and listing the rows within a known distance, where categories lead to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sdckit.numerics.array_types import Floats, Ints, Words
from sdckit.numerics.compiling import njit
from sdckit.numerics.encode import Metric
from sdckit.numerics.search.agreement import SLICE, number_groups, room_for
from sdckit.numerics.search.agreement_pairs import (
    Asked,
    NumberedRows,
    away,
    deal,
    differ,
    first_from,
    parts_of,
)
from sdckit.numerics.search.box_search import Limits, Visited, widened
from sdckit.numerics.search.box_steps import add, tally
from sdckit.numerics.search.column_sets import ColumnSets
from sdckit.numerics.threads import chunks, run


class _Limits(NamedTuple):
    """Those of `Limits`, the sum below which no row is, and the third limit with room for rounding."""

    near: Floats
    inner: Floats
    outer: Floats
    lowest: Floats
    reach: Floats


@njit(cache=True, nogil=True)
def _look(q, rows, query, parts, least, metric, limits, members, held):  # type: ignore[no-untyped-def]
    """Take in what one query meets, from the rows alike in the leading number on."""
    (words, sizes, first_row), numbers, lead = rows
    values, at, (closer, tied, nearest, sums, listed) = held
    near, inner, outer, _, reach = limits
    bits, weight = parts
    value, cap, squared = query.lead[q], query.cap, metric.power == 2
    middle = first_from(lead, members, value)
    for step in (-1, 1):
        i = middle - 1 if step < 0 else middle
        while 0 <= i < len(members):
            j = members[i]
            i += step
            apart = min(abs(lead[j] - value), cap)
            if least + (apart * apart if squared else apart) > reach[q]:
                break
            copies = sizes[j] - (j == query.skip[q])
            if copies == 0 or not differ(query.words[q], words[j], bits):
                continue
            total = away(query.numbers[q], numbers[j], metric, weight)
            if total > outer[q]:
                continue
            tally(q, total, near[q], inner[q], first_row[j], copies, closer, tied, nearest)
            add(q, values[j], sums)
            if len(listed) > 0:
                listed[at[q]] = j
                at[q] += 1


@njit(cache=True, nogil=True)
def _visit(rows, query, sets, fields, metric, limits, held, begin, end):  # type: ignore[no-untyped-def]
    weight, columns, kept, begins_of, _ = sets
    words, no_numbers = rows.base.words, rows.numbers.shape[1] == 0
    n_live = end - begin
    live, chosen = np.arange(begin, end), np.empty(n_live, np.int64)
    keys, number = np.empty(room_for(n_live), np.uint64), np.empty(room_for(n_live), np.int32)
    of, begins = np.empty(n_live, np.int32), np.empty(n_live + 1, np.int32)
    group_of, order = np.empty(len(words), np.int32), np.empty(len(words), np.int32)
    for c in range(len(begins_of) - 1):
        left, n = 0, 0
        for t in range(n_live):
            q = live[t]
            if weight[begins_of[c]] <= limits.reach[q]:
                live[left] = q
                left += 1
                # without numbers no row is nearer than the nearest, so none need be looked for there
                if not no_numbers or weight[begins_of[c + 1] - 1] >= limits.lowest[q]:
                    chosen[n] = q
                    n += 1
        n_live = left
        if n_live == 0:
            break
        if n == 0:
            continue
        for s in range(begins_of[c], begins_of[c + 1]):
            places = room_for(n)
            groups = number_groups(query.words, chosen, n, kept[s], keys[:places], number, of)
            deal(words, kept[s], keys[:places], number, groups, begins, group_of, order)
            parts = parts_of(columns[s], fields, metric.weights)
            for t in range(n):
                g = of[t]
                if begins[g] < begins[g + 1]:
                    members = order[begins[g] : begins[g + 1]]
                    _look(chosen[t], rows, query, parts, weight[s], metric, limits, members, held)


def visit_meeting(
    rows: NumberedRows, asked: Asked, fields: Words, sets: ColumnSets, metric: Metric, limits: Limits, *,
    values: Floats | None = None, begins: Ints | None = None, n_listed: int = 0,
) -> Visited:  # fmt: skip
    """Do as `box_search.visit` does: `values` are of `rows`, and rows of `rows` are listed."""
    n = len(asked.words)
    summed = np.empty((len(rows.lead), 0)) if values is None else values
    at = np.zeros(n, np.int64) if begins is None else begins.copy()
    out = Visited(
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, -1, np.int64), np.zeros((n, summed.shape[1])),
        np.empty(n_listed, np.int32),
    )  # fmt: skip
    lowest = widened(limits.near, -3 * metric.tolerance, metric.power)
    within = _Limits(*limits, lowest, widened(limits.outer, metric.tolerance, metric.power))

    def part(ends: tuple[int, int]) -> None:
        _visit(rows, asked, sets, fields, metric, within, (summed, at, out), *ends)

    run(part, chunks(n, minimum=SLICE))
    return out
