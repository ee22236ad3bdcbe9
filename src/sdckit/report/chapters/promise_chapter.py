"""Chapter on a file drawn from protected margins: what ε means in plain words, what was spent, what was kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sdckit.data.packaged import packaged
from sdckit.report.blocks import Block, Items, Paragraph, Section, TableBlock
from sdckit.report.gate.figures import Tree
from sdckit.report.view import Plain

if TYPE_CHECKING:
    from sdckit.protect.margins.promise import Promise

TITLE = "What this file promises"
NOISE = "Share of records misplaced by noise"
ALARMS = 0.01  # the rate of false alarms at which membership attacks are compared
KINDS = {"one-way": "columns by themselves", "choosing": "choosing tables", "cliques": "tables of several columns"}
PROMISE = packaged("report/chapters/promise.toml")
NOT_COVERED: list[str] = PROMISE["not_covered"]
RECORDS = "The promise is for one record; where a person has several, it is for each of them by itself."
NOISY_SIZE = "The number of records made is noisy, and covered."


def promise_tree(promise: Promise) -> dict[str, Tree]:
    """All that is public of a promise: it comes from the data through noise or rounding only."""
    change = promise.change
    given = change.parameters
    return {
        "epsilon": _finite(change.epsilon), "delta": _finite(change.delta), "rho": _finite(change.rho),
        "max_rows": given.get("max_rows"), "unit": given.get("unit"),
        "base": given.get("base"), "declared_n": given.get("n") is not None,
        "adds_up": promise.adds_up, "reason": promise.reason,
        "kept": tuple(
            {"variables": names, "error": _finite(error, 2)}
            for names, error in zip(change.kept, change.error, strict=True)
        ),
        "spent": tuple(
            {"kind": spent.kind, "variables": spent.variables, "scale": _finite(spent.scale), "rho": _finite(spent.rho)}
            for spent in change.spent
        ),
    }  # fmt: skip


def _finite(number: float, digits: int = 6) -> float | None:
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None


def promise_section(plain: Plain) -> Section:
    """The section of a document."""
    return Section(TITLE, tuple(promise_blocks(plain)))


def promise_blocks(plain: Plain) -> Iterator[Block]:
    """What ε means, what it does not cover, and the tables of what was kept and spent."""
    if plain["epsilon"] is None:
        how = "published tables" if plain["base"] is None else f"tables rounded to multiples of {plain['base']}"
        yield Paragraph(
            f"The records were drawn from {how}. That promises nothing: what the tables tell together is for "
            "joint_audit to find, and what the file tells for the measures of this document."
        )
    else:
        yield from map(Paragraph, _meaning(plain))
        yield Paragraph("It does not cover:")
        yield Items((*NOT_COVERED, *([PROMISE["declared_size"]] if plain["declared_n"] else ())))
        unjudged = f"Not judged: whether the noise adds up; {plain['reason']}."
        yield Paragraph(PROMISE["looked"] if plain["adds_up"] else unjudged)
    yield from tables(plain)


def _meaning(plain: Plain) -> list[str]:
    epsilon, delta = float(plain["epsilon"]), float(plain["delta"])
    times, rows = at_most(math.exp(epsilon)), plain["max_rows"]
    # Only a domain with a column of persons may have several rows; an older log does not say more.
    is_record = plain["unit"] == "record" or (plain["unit"] is None and rows in (None, 1))
    right = min(1.0, (math.exp(epsilon) + delta) / (math.exp(epsilon) + 1))
    caught = min(1.0, math.exp(epsilon) * ALARMS + delta)
    unit = "record" if is_record else "person"
    rows_of = "" if rows in (None, 1) else f", with up to {rows} records,"
    held = "one record holds" if is_record else f"the data of one person{rows_of} are"
    meaning = (
        f"ε = {epsilon:.4g} means: whatever {held}, and whether the {unit} is in "
        f"the original or not, whatever anybody concludes from this file is at most {times} times as likely, or as "
        f"unlikely, as without the {unit}, but for a chance of {delta:g} (δ). It holds whatever else the intruder "
        "knows, and whatever is done with the file."
    )
    intruder = (
        f"So an intruder who asks whether {'a record' if is_record else 'somebody'} is in the original, and who would "
        f"be right in 50 % of all cases by tossing a coin, is right in at most {at_most(100 * right)} % of them; and "
        f"who raises a false alarm for 1 % of the others finds at most {at_most(100 * caught)} % of the "
        f"{'records' if is_record else 'people'}."
    )
    return [meaning, *([RECORDS] if is_record else []), intruder, *([] if plain["declared_n"] else [NOISY_SIZE])]


def at_most(number: float) -> str:
    """A bound with three digits, rounded up.

    >>> at_most(2.7182), at_most(73.105), at_most(22026.5)
    ('2.72', '73.2', '22,100')
    """
    digits = 2 - math.floor(math.log10(number))
    bound = math.ceil(number * 10.0**digits - 1e-9) / 10.0**digits
    return f"{bound:,.{max(digits, 0)}f}"


def tables(plain: Plain) -> Iterator[TableBlock]:
    """What was kept, with the error that noise alone makes, and what it cost."""
    kept = [(" × ".join(entry["variables"]), _percent(entry["error"])) for entry in plain["kept"]]
    if not plain["spent"]:
        yield TableBlock("Tables kept", ("Columns",), tuple((names,) for names, _ in kept))
        return
    yield TableBlock("Tables kept", ("Columns", NOISE), tuple(kept), (1,))
    rows = [_row(kind, list(own)) for kind, own in groupby(sorted(plain["spent"], key=_kind), key=_kind)]
    yield TableBlock("Spent", ("What", "Measurements", "Scale of the noise", "ρ"), tuple(rows), (1, 2, 3))


def _kind(entry: Plain) -> str:
    return str(entry["kind"])


def _row(kind: str, own: Sequence[Plain]) -> tuple[str, ...]:
    scales = [entry["scale"] for entry in own]
    low, high = (f"{end:.3g}" for end in (min(scales), max(scales)))
    rho = math.fsum(entry["rho"] for entry in own)
    return KINDS.get(kind, kind), str(len(own)), low if low == high else f"{low} to {high}", f"{rho:.3g}"


def _percent(error: float | None) -> str:
    return "–" if error is None else f"{100 * error:.2g} %"


def promise_line(plain: dict[str, Any]) -> str:
    """The promise in a line, for a terminal."""
    if plain["epsilon"] is None:
        return "The release was drawn from protected tables; no ε is promised."
    looked = "the noise in its log adds up to it" if plain["adds_up"] else f"not judged: {plain['reason']}"
    return f"The release claims ε = {plain['epsilon']:.4g} at δ = {plain['delta']:g}: {looked}."
