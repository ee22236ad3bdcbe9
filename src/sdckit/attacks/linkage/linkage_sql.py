"""SQL that compares pairs of records and counts them; one text for DuckDB and Spark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FILES = ("a_original", "b_released")
ALL = "1=1"  # the rule that every pair meets
COMPARED, EVERYBODY, WEIGHED = "sdckit_compared", "sdckit_everybody", "sdckit_weighed"


@dataclass(frozen=True)
class Step:
    """A level of agreement of a variable.

    `condition` is SQL on ``v0_l``, ``v0_r``, ...; the first that holds counts, "ELSE" always does. `number` is
    -1 where a value is missing, 0 without agreement.
    """

    condition: str
    number: int


def compared_sql(variables: Sequence[Sequence[Step]], rules: Sequence[str]) -> str:
    """Compare all candidate pairs, and count those of a released record that agree alike.

    Rules are conditions on `l` and `r`. The query gives `rule`, `released`, `fresh` (1 where no rule before
    holds), `g0`, `g1`, ... (numbers of levels), `pairs` and `hits` (1 where the right pair is among them).

    Examples
    --------
    >>> print(compared_sql([[Step("v0_l = v0_r", 1), Step("ELSE", 0)]], ["l.v0 = r.v0"]))
    select rule, released, fresh, g0, count(*) as pairs, sum(hit) as hits
    from (select rule, released, fresh, hit,
    cast(case when v0_l = v0_r then 1 else 0 end as smallint) as g0
    from (select 0 as rule, r.unique_id as released, 1 as fresh,
    case when l.unique_id = r.unique_id then 1 else 0 end as hit,
    l.v0 as v0_l, r.v0 as v0_r
    from a_original l join b_released r on l.v0 = r.v0) candidates) compared
    group by rule, released, fresh, g0
    """
    levels = ", ".join(_columns(len(variables)))
    cases = ",\n".join(_level_sql(j, steps) for j, steps in enumerate(variables))
    candidates = "\nunion all ".join(_candidates_sql(k, rules, len(variables)) for k in range(len(rules)))
    return (
        f"select rule, released, fresh, {levels}, count(*) as pairs, sum(hit) as hits\n"
        f"from (select rule, released, fresh, hit,\n{cases}\n"
        f"from ({candidates}) candidates) compared\ngroup by rule, released, fresh, {levels}"
    )


def _columns(n: int) -> list[str]:
    return [f"g{j}" for j in range(n)]


def _level_sql(j: int, steps: Sequence[Step]) -> str:
    cases = " ".join(
        f"when {step.condition} then {step.number}" for step in steps if step.condition != "ELSE"
    )
    return f"cast(case {cases} else 0 end as smallint) as g{j}"


def _candidates_sql(k: int, rules: Sequence[str], n_variables: int) -> str:
    before = " or ".join(f"coalesce({rule}, false)" for rule in rules[:k])
    fresh = f"case when {before} then 0 else 1 end" if before else "1"
    values = ", ".join(f"l.v{j} as v{j}_l, r.v{j} as v{j}_r" for j in range(n_variables))
    return (
        f"select {k} as rule, r.unique_id as released, {fresh} as fresh,\n"
        f"case when l.unique_id = r.unique_id then 1 else 0 end as hit,\n{values}\n"
        f"from {FILES[0]} l join {FILES[1]} r on {rules[k]}"
    )


def patterns_sql(rule: int, n_variables: int, table: str = COMPARED) -> str:
    """Count the pairs that meet a rule by the levels of all variables."""
    levels = ", ".join(_columns(n_variables))
    return f"select {levels}, cast(sum(pairs) as bigint) as pairs from {table} where rule = {rule} group by {levels}"


def weighed_sql(prior: float, weights: Sequence[dict[int, float]]) -> str:
    """Count the candidate pairs of each released record by weight, each pair once.

    `prior` is log2 of the odds of a match before any comparison; `weights` say what each level adds, by its
    number.
    """
    terms = [_number(prior)]
    for j, levels in enumerate(weights):
        cases = " ".join(f"when {number} then {_number(weight)}" for number, weight in levels.items())
        terms.append(f"case g{j} {cases} end")
    return (
        "select released, weight, cast(sum(pairs) as bigint) as pairs, cast(sum(hits) as bigint) as hits "
        f"from (select released, pairs, hits, round({' + '.join(terms)}, 9) as weight "
        f"from {COMPARED} where fresh = 1) weighed group by released, weight"
    )


def best_sql() -> str:
    """The largest weight of each released record, and the chance that a candidate of that weight is right."""
    # Sums of the same terms in another order differ in the last digits, and are equal all the same.
    return (
        "select w.released as released, max(t.top) as weight, "
        "cast(sum(w.hits) as double) / cast(sum(w.pairs) as double) as correct "
        f"from {WEIGHED} w join (select released, max(weight) as top from {WEIGHED} group by released) t "
        "on w.released = t.released where w.weight >= t.top - 1e-8 group by w.released"
    )


def steps_sql(threshold: float) -> str:
    """Count pairs by whole-number steps of the weight, those linked at a probability of a match apart."""
    cut = _number(math.log2(threshold / (1 - threshold)) - 1e-8)
    return (
        f"select step, linked, cast(sum(pairs) as bigint) as pairs, cast(sum(hits) as bigint) as hits "
        f"from (select cast(floor(weight) as bigint) as step, case when weight >= {cut} then 1 else 0 end as linked, "
        f"pairs, hits from {WEIGHED}) steps group by step, linked"
    )


def _number(value: float) -> str:
    """A float literal: without an exponent SQL would take it for a decimal."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"
