"""View of estimates from a release beside those from its original."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.data.frames import rows_of
from sdckit.report import estimates
from sdckit.report.gate.figures import Count, InternalOnly, Ledger, Part, Ratio, Share, Tree
from sdckit.report.setting import PairSetting
from sdckit.utility.models.model_design import FEWEST, RARE

OWN = "of a function of your own stand in a confidential document only: nobody can say how many records they rest on"
ENDS = {"low": estimates.WITHHELD, "high": estimates.WITHHELD}


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the estimates with their intervals, file by file; those that count records are entered as counts."""
    exact = estimates.forest_tree(result, setting)
    if result.statistic == "function":
        return {"forest": InternalOnly(exact, ()), "withheld": InternalOnly("", OWN)}
    if result.statistic == "proportion":
        rows = tuple(row for name in result.variables for row in _levels(result, setting, name))
        return {"forest": InternalOnly(exact, rows), "withheld": ""}
    if result.statistic in {"mean", "total"}:
        exact = _counts_as_counts(exact, result, setting)
    return {"forest": exact, "withheld": estimates.few_words(result)}


def _levels(result: Any, setting: PairSetting, variable: str) -> list[Tree]:
    """Enter the proportions of a variable: levels that five or more records have, the rest pooled; file by file.

    Their intervals follow from what is printed, and would tell it better.
    """
    shared = result.pair.codes(variable)
    counts, labels = shared.counts[:, 1:], shared.labels()[1:]
    common = np.flatnonzero(counts[0] >= FEWEST).tolist()
    groups = [(labels[j], [j]) for j in common]
    if rare := [j for j in range(shared.n_levels) if j not in set(common)]:
        groups.append((f"({RARE})", rare))
    known = _known(setting, variable, counts.sum(axis=1))
    exact = {(row["term"], row["file"]): row["estimate"] for row in rows_of(result.forest())}
    files = _files(result)
    parts: list[list[str]] = [[] for _ in files]
    rows: list[Tree] = []
    for label, group in groups:
        term = f"{variable}={label}"
        start = f"{setting.prefix}.{setting.place}.{term}"
        enough = counts[0, group].sum() >= FEWEST
        leaves: list[Tree] = []
        for j, file in enumerate(files):
            if result.weighted:
                share = sum(exact[f"{variable}={labels[at]}", file] for at in group)
                leaves.append(Part(share, known[j], counted=True) if enough else estimates.WITHHELD)
                continue
            n = int(counts[j, group].sum())
            parts[j].append(setting.ledger.count(f"{start}.{file}", n, f"{known[j]}.levels").name)
            leaves.append(Share(parts[j][-1], known[j]))
        if result.m > 1:
            files_too = [exact[f"{variable}={labels[at]}", "released"] for at in group]
            leaves.append(_together(setting.ledger, f"{start}.released", sum(files_too), known[1], leaves[-1]))
        rows += [
            {"label": f"{term}, {file}", "term": term, "file": file, "estimate": leaf, **ENDS}
            for file, leaf in zip((*files, "released")[: len(leaves)], leaves, strict=True)
        ]
    for name, own in zip(known, parts, strict=True):
        if own:
            setting.ledger.equal(name, *own)
    return rows


def _together(ledger: Ledger, name: str, share: float, known: str, like: Tree) -> Tree:
    """The mean over several releases, with the precision that each single one is printed with."""
    if not isinstance(like, Share):
        return Part(share, known, counted=True) if isinstance(like, Part) else like
    ledger.value(name, share * (ledger.variables[known].true or 0), known, kind="sum")
    return Ratio(name, known)


def _known(setting: PairSetting, variable: str, sizes: Sequence[int]) -> list[str]:
    """Enter the records of each file that have a value; returns the names of these counts in the ledger."""
    names = []
    for j, size in enumerate(sizes):
        whole = "n" if j == 0 else f"n.released.{j}"
        name = f"{setting.prefix}.{setting.place}.{variable}.known.{j}"
        setting.ledger.count(name, int(size), name)
        setting.ledger.nested(whole, name)
        names.append(name)
    return names


def _files(result: Any) -> list[str]:
    """Names of the files in the rows of a forest plot, without the row of the releases together."""
    return ["original", *(result.pair.names[1:] if result.m > 1 else ["released"])]


def _counts_as_counts(rows: tuple[Tree, ...], result: Any, setting: PairSetting) -> tuple[Tree, ...]:
    """Replace means and totals of 0/1 variables, which count records, by counts and shares."""
    per_term = len(rows) // max(1, len(result.variables))
    out = list(rows)
    for number, variable in enumerate(result.variables):
        values = [numbers[~np.isnan(numbers)] for numbers in result.pair.numbers(variable)]
        if not all(np.isin(value, (0.0, 1.0)).all() for value in values):
            continue
        known = _known(setting, variable, [len(value) for value in values])
        leaves = [_zero_or_one(result, setting, variable, known[j], j, numbers) for j, numbers in enumerate(values)]
        if result.m > 1:
            leaves.append(estimates.WITHHELD)  # follows from the releases
        for at, leaf in enumerate(leaves):
            row: Any = out[number * per_term + at]
            out[number * per_term + at] = {
                **row, **{part: InternalOnly(_inside(row[part]), estimates.WITHHELD) for part in ENDS},
                "estimate": InternalOnly(_inside(row["estimate"]), leaf),
            }  # fmt: skip
    return tuple(out)


def _zero_or_one(result: Any, setting: PairSetting, variable: str, known: str, j: int, values: Any) -> Tree:
    ones = setting.ledger.count(f"{known}.ones", int(values.sum()), f"{known}.ones")
    setting.ledger.nested(known, ones.name)
    if result.weighted:
        means = [float(row["estimate"]) for row in rows_of(result.forest()) if row["term"] == variable]
        return Part(means[j], ones.name, counted=True) if result.statistic == "mean" else estimates.WITHHELD
    return Share(ones.name, known) if result.statistic == "mean" else Count(ones.name)


def _inside(leaf: Tree) -> Tree:
    return leaf.content if isinstance(leaf, InternalOnly) else leaf


VIEW = estimates.UtilityView(
    estimates.USEFULNESS,
    tree,
    lambda plain, place: estimates.forest_blocks(plain[place]["forest"], withheld=plain[place]["withheld"]),
)
