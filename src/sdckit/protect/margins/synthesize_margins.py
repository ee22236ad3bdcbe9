"""Records drawn from protected margins: noisy under differential privacy, rounded, or published already."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from sdckit.data import arguments, frames
from sdckit.data.columns import float_values
from sdckit.data.domain import Domain
from sdckit.data.files import domain_files, readers
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import table_html
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.change import Change, Protected
from sdckit.protect.margins import clique_tree, consistent_margins
from sdckit.protect.margins.budget_ledger import BudgetLedger, reserving
from sdckit.protect.margins.privacy_budget import SPLIT, Spent, check_promise, epsilon_of, rho_of
from sdckit.result import json_ready

How = Literal["dp", "coarsen"]
COUNT = "n"  # the column of counts
MOST_CELLS = 10_000_000  # of a published table
APART = 1e-3  # of the records: a margin that misses by more is told of
UNCONVERGED = "the fit of {} did not converge: a margin that tables share still misses by {:.2g} of the records"
PRIVATE = ("epsilon", "delta", "budget")


@dataclass(frozen=True)
class MarginsChange(Change):
    """What was protected, how exactly it was kept, and what it cost; nothing of it is of a record.

    Attributes
    ----------
    n : int
        Records made: a noisy or rounded number, or the declared one.
    changed : dict
        Empty: no value is one of the data.
    spent : tuple of Spent
        Under differential privacy, each measurement: its kind, variables, scale of the noise and ρ.
    kept : tuple of tuple of str
        The relations kept: the variables of each table that records were drawn from.
    error : tuple of float
        For each of these its expected total variation from noise alone, 0 to 1; NaN without noise.
    epsilon, delta, rho : float
        What all measurements spent together: ε at δ, and ρ. NaN without differential privacy.
    """

    spent: tuple[Spent, ...] = ()
    kept: tuple[tuple[str, ...], ...] = ()
    error: tuple[float, ...] = ()
    epsilon: float = math.nan
    delta: float = math.nan
    rho: float = math.nan

    @property
    def given(self) -> dict[str, Any]:
        """All parameters: nothing of them is counted."""
        return self.parameters

    def to_dict(self, *, internal: bool = False) -> dict[str, Any]:
        """The change ready for JSON; what was spent and kept is public."""
        kept = [{"variables": list(names), "error": error} for names, error in zip(self.kept, self.error, strict=True)]
        document = {**super().to_dict(internal=internal), "kept": json_ready(kept)}
        if not self.spent:
            return document
        spent = [{"kind": s.kind, "variables": list(s.variables), "scale": s.scale, "rho": s.rho} for s in self.spent]
        return {**document, "spent": spent, "epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}

    def _repr_html_(self) -> str:
        title = f"{self.method}: ε = {self.epsilon:.6g} at δ = {self.delta:g}" if self.spent else self.method
        errors = ["" if math.isnan(error) else f"{error:.3f}" for error in self.error]
        rows = [[" × ".join(names), error] for names, error in zip(self.kept, errors, strict=True)]
        return table_html(["tables kept", "expected error by noise"], rows, title=title)


@dataclass(frozen=True, eq=False)
class Margins:
    """Protected tables in the order in which records are drawn, and how many records there are."""

    cliques: Sequence[consistent_margins.Clique]
    n: int
    scales: Sequence[float] = ()
    spent: Sequence[Spent] = ()


def private_margins(
    codes: Any, domain: Domain, *, rho: float, cliques: Sequence[Sequence[int]] | None, max_cells: int, n: int | None
) -> Margins:
    """Tables measured under differential privacy, with ρ for all; `codes`: shape (variables, n)."""
    measuring = clique_tree.Measuring(codes, domain.names, domain.sizes, domain.max_rows)
    alone = not (clique_tree.attachable(domain.sizes, max_cells) if cliques is None else cliques)
    first = rho if alone else rho * SPLIT["one-way"]
    measuring.one_way(first, n)
    left = rho - sum(spent.rho for spent in measuring.spent)
    if cliques is not None:
        measuring.declared(cliques, left)
    else:
        measuring.choose(left, max_cells)
    return Margins(measuring.cliques, measuring.n, measuring.scales, measuring.spent)


def rounded_margins(
    codes: Any, sizes: Sequence[int], cliques: Sequence[Sequence[int]], base: int, n: int | None
) -> Margins:
    """Declared tables with counts rounded to multiples of a base; halves up."""

    def rounded(counts: Ints) -> Floats:
        return (base * ((2 * counts + base) // (2 * base))).astype(np.float64)

    total = n or max(1, int(rounded(np.array([codes.shape[1]]))[0]))
    single = [_to_total(rounded(clique_tree.count_cells(codes, sizes, [v])), total) for v in range(len(sizes))]
    alone = set(range(len(sizes))) - {v for clique in cliques for v in clique}
    done = [consistent_margins.Clique((), (v,), single[v]) for v in sorted(alone)]
    for separator, variables in clique_tree.tree_order(cliques):
        shared = clique_tree.shared_margin(done, separator, total)
        counts = _to_total(rounded(clique_tree.count_cells(codes, sizes, variables)), total)
        done.append(consistent_margins.consistent(counts, separator, variables, shared, single))
    return Margins(done, total)


def check_tree(cliques: Sequence[Sequence[int]], names: Sequence[str], argument: str) -> None:
    """Refuse tables that overlap in a circle.

    Raises DataError: they do, and which.
    """
    if circle := clique_tree.in_a_circle(cliques):
        raise DataError(
            f"{', '.join(names[i] for i in circle)} overlap in a circle, and records are drawn down a tree (running-"
            "intersection property); leave one out, or join them to one table", argument=argument)  # fmt: skip


def read_tables(given: Any, domain: Domain) -> list[tuple[tuple[int, ...], Floats, Any]]:
    """Each table as the places of its variables in the domain, its counts, and its frame.

    Raises ColumnError or DataError: no count, a variable or value that the domain has not, counts below 0 or missing,
    a variable in no table, tables that are no tree.
    """
    if isinstance(given, Mapping):
        named = {str(name): table for name, table in given.items()}
    else:
        listed = arguments.several(given, "tables", "are data frames or paths")
        named = {Path(t).name if isinstance(t, str | Path) else f"table {i}": t for i, t in enumerate(listed, 1)}
    out = [_read(name, table, domain) for name, table in named.items()]
    if not out:
        raise DataError("tables= names no table", argument="tables")
    if absent := set(range(len(domain.sizes))) - {v for variables, _, _ in out for v in variables}:
        raise ColumnError(f"no table has {domain.names[min(absent)]!r}; take it out of the domain", argument="tables")
    check_tree([variables for variables, _, _ in out], list(named), "tables")
    return out


def _read(name: str, table: Any, domain: Domain) -> tuple[tuple[int, ...], Floats, Any]:
    frame = frames.open_frame(readers.read_file(table) if isinstance(table, str | Path) else table)
    columns = frames.column_names(frame)
    if COUNT not in columns:
        raise ColumnError(f"{name} has no column {COUNT!r} of counts", argument="tables")
    variables = [column for column in columns if column != COUNT]
    arguments.present(variables, domain.names, "tables", argument="tables", within="the domain")
    places = tuple(domain.names.index(column) for column in variables)
    shape = tuple(domain.sizes[place] for place in places)
    if not places or math.prod(shape) > MOST_CELLS:
        raise DataError(f"{name} has no variable, or more than {MOST_CELLS:,} cells", argument="tables")
    part = replace(domain, columns=tuple(domain.columns[place] for place in places), person=None, max_rows=1)
    codes = part.encode(table if not isinstance(table, str | Path) else frame.to_native())
    for column, own, size in zip(variables, codes.T, shape, strict=True):
        if (own == size - 2).any():
            raise DataError(f"{name}: values of {column!r} are not in the domain; leave totals out, or declare them",
                            argument="tables")  # fmt: skip
    counts = float_values(frame[COUNT], "column")
    if not (np.isfinite(counts) & (counts >= 0)).all() or counts.sum() <= 0:
        raise DataError(f"{name}: counts are missing, below 0 or all 0; fill suppressed cells", argument="tables")
    summed = np.bincount(np.ravel_multi_index(tuple(codes.T), shape), counts, math.prod(shape)).astype(np.float64)
    return places, summed.reshape(shape), frame


def published_margins(read: Sequence[tuple[tuple[int, ...], Floats, Any]], n: int | None) -> tuple[Any, Margins]:
    """The first table's frame, and all tables, as places of variables and counts, fitted where they overlap."""
    tables = [(variables, counts) for variables, counts, _ in read]
    total = n or max(1, round(float(np.mean([counts.sum() for _, counts in tables]))))
    single: dict[int, Floats] = {}
    for variables, counts in tables:
        for axis, variable in enumerate(variables):
            others = tuple(set(range(counts.ndim)) - {axis})
            single.setdefault(variable, _to_total(counts.sum(axis=others), total))
    done: list[consistent_margins.Clique] = []
    by_set = {frozenset(variables): (variables, counts) for variables, counts in tables}
    for separator, variables in clique_tree.tree_order([variables for variables, _ in tables]):
        named, counts = by_set[frozenset(variables)]
        shared = clique_tree.shared_margin(done, separator, total)
        turned = _to_total(np.transpose(counts, [named.index(variable) for variable in variables]), total)
        done.append(consistent_margins.consistent(turned, separator, variables, shared, single))
    return read[0][2], Margins(done, total)


def _to_total(counts: Floats, total: float) -> Floats:
    """Counts in proportion, with the total; all alike where there is none."""
    if counts.sum() <= 0:
        return np.full(counts.shape, total / counts.size)
    out: Floats = counts * (total / counts.sum())
    return out


def synthesize_margins(
    data: Any = None,
    *,
    domain: Domain | str | Path,
    epsilon: float | None = None,
    delta: float | None = None,
    protect: How = "dp",
    base: int | None = None,
    tables: Sequence[Any] | Mapping[str, Any] | None = None,
    cliques: Sequence[Sequence[str]] | None = None,
    max_cells: int = 3000,
    n: int | None = None,
    budget: BudgetLedger | str | Path | None = None,
    scenario: Scenario | None = None,
) -> Protected:
    """Draw a file from protected margins: under differential privacy, rounded by an office, or published already.

    Parameters
    ----------
    data : data frame or path
        The original, of any engine; None with `tables`. Only its header is looked at before everything else is
        checked: no value decides whether the call runs or what it says. A file named by its path is read by the domain,
        so that no record decides the type of another; in a frame that was done before.
    domain : Domain or path
        The values that the columns may have, declared and not read from the data. What is outside of it counts as
        `other`.
    epsilon, delta : float
        With ``protect="dp"``: the release is (ε, δ)-differentially private for adding or removing a person with up to
        ``domain.max_rows`` rows. ε above 0; δ above 0 and below 1, well below 1 over the number of people. No default.
    protect : {"dp", "coarsen"}
        Noise under differential privacy; or no promise: counts rounded to `base`, or `tables` published already.
    base : int, optional
        With "coarsen": counts are rounded to its nearest multiple, 2 or more.
    tables : sequence or mapping of data frames or paths, optional
        Published tables, a row per cell, with their counts in the column ``n``; a cell without a row has no records.
        Where they overlap they must form a tree (running-intersection property).
    cliques : sequence of sequences of str, optional
        The tables to be kept, by their variables, which form a tree. Without them they are chosen under differential
        privacy, of up to three variables; "coarsen" needs them.
    max_cells : int
        Cells of a table at most.
    n : int, optional
        Records to be made, a number that is public; default ``domain.records``, else a noisy or rounded number.
    budget : BudgetLedger or path, optional
        The ledger in which ρ is added up for ``domain.dataset``; what goes beyond its total is refused before the data
        are read.
    scenario : Scenario, optional
        Its identifiers may not be in the domain.

    Returns
    -------
    Protected
        ``data``, whose columns, types and levels follow from the domain alone, and ``change``, with what was ``spent``,
        ``kept`` and the expected ``error``.

    Raises
    ------
    ColumnError
        The data or a table lacks a column, a clique names one that the domain has not, an identifier is in the domain.
    DataError
        An argument is out of range or does not go with another; tables or cliques that are no tree; OpenDP is absent.

    References
    ----------
    McKenna, R., Miklau, G. and Sheldon, D. (2021). Winning the NIST contest: a scalable and general approach to
    differentially private synthetic data. Journal of Privacy and Confidentiality 11. Canonne, C., Kamath, G. and
    Steinke, T. (2020). The discrete Gaussian for differential privacy. Bun, M. and Steinke, T. (2016). Concentrated
    differential privacy.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit import Domain, DomainColumn, synthesize_margins
    >>> yes_no = [DomainColumn(name, levels=("yes", "no")) for name in ("smokes", "drinks")]
    >>> people = pl.DataFrame({"smokes": ["yes", "no"] * 500, "drinks": ["yes", "yes", "no", "no"] * 250})
    >>> made, change = synthesize_margins(people, domain=Domain(tuple(yes_no)), protect="coarsen", base=10,
    ...                                   cliques=[["smokes", "drinks"]])
    >>> made.shape, change.kept
    ((1000, 2), (('smokes', 'drinks'),))
    """
    declared = _domain(domain)
    arguments.choice(protect, "protect", get_args(How))
    arguments.count(max_cells, "max_cells", "is the cells of a table at most", at_least=4)
    if n is not None:
        arguments.count(n, "n", "is the number of records to be made")
    given = {"epsilon": epsilon, "delta": delta, "budget": budget, "base": base, "tables": tables, "cliques": cliques}
    (_check_private if protect == "dp" else _check_coarse)(given)
    if (tables is None) == (data is None):
        raise DataError(
            "published tables take the place of the data: give tables=, and None as data" if tables is not None
            else "no data; give the original, or the tables that are published", argument="data")  # fmt: skip
    if (named := arguments.scenario_or_none(scenario)) is not None:
        _refuse_identifiers(declared, named)
    places = _places(cliques, declared, max_cells)
    n = n or declared.records
    if tables is not None:
        like, margins = published_margins(read_tables(tables, declared), n)
    else:
        file = domain_files.DomainFile(Path(data)) if isinstance(data, str | Path) else data
        like = None if isinstance(file, domain_files.DomainFile) else frames.open_frame(data)
        declared.check_columns(file.columns if like is None else frames.column_names(like))
        rho = rho_of(float(epsilon or 0), float(delta or 0)) if protect == "dp" else 0.0
        with reserving(budget, declared, rho) as run:
            codes = np.ascontiguousarray(declared.encode(file.read(declared) if like is None else data).T)
            run.drawn = True  # from here on the share is spent, whatever happens
            if protect == "dp":
                margins = private_margins(codes, declared, rho=rho, cliques=places, max_cells=max_cells, n=n)
            else:
                margins = rounded_margins(codes, declared.sizes, places or (), int(base or 0), n)
        del codes
    rng = np.random.default_rng()  # it draws from what is protected already; there is no seed to be guessed
    made = consistent_margins.draw_records(margins.cliques, len(declared.columns), margins.n, rng)
    out = declared.decode(made.T, backend=_backend(like))
    parameters = {
        "protect": protect, "epsilon": epsilon, "delta": delta, "base": base, "max_cells": max_cells,
        "cliques": cliques if cliques is None else [list(clique) for clique in cliques],
        "tables": None if tables is None else len(tables), "n": n, "dataset": declared.dataset,
        "max_rows": declared.max_rows if protect == "dp" else None,
        "unit": None if protect != "dp" else "record" if declared.person is None else "person",
    }  # fmt: skip
    return Protected.declared(out, _change(declared, margins, parameters, rng))


def _domain(domain: Any) -> Domain:
    if isinstance(domain, Domain):
        return domain
    if not isinstance(domain, str | Path):
        raise DataError("domain= is a Domain, or the path of its file", argument="domain")
    return Domain.from_toml(domain)


def _check_private(given: Mapping[str, Any]) -> None:
    """What a promise needs, and what it excludes.

    Raises DataError: ε or δ is absent or out of range, or the argument of another protection is there.
    """
    for name in ("base", "tables"):
        if given[name] is not None:
            raise DataError(
                f'{name}= promises nothing of differential privacy, and protect is "dp"; leave it out, or give '
                'protect="coarsen"', argument=name)  # fmt: skip
    for name in ("epsilon", "delta"):
        if given[name] is None:
            raise DataError(f'{name} has no default under protect="dp"; give one, such as '
                            f'{"epsilon=1" if name == "epsilon" else "delta=1e-6"}', argument=name)  # fmt: skip
    check_promise(given["epsilon"], given["delta"])


def _check_coarse(given: Mapping[str, Any]) -> None:
    """What rounding and published tables need, and what they exclude.

    Raises DataError: ε, δ or a budget is there, or neither base and cliques nor tables are.
    """
    for name in PRIVATE:
        if given[name] is not None:
            raise DataError(f'{name}= belongs to protect="dp"; rounding and tables promise no ε', argument=name)
    if given["tables"] is not None:
        for name in ("base", "cliques"):
            if given[name] is not None:
                raise DataError(f"{name}= does not go with tables=, which are what they are", argument=name)
        return
    if given["base"] is None:
        raise DataError('protect="coarsen" rounds counts; give base=, such as base=10, or tables=', argument="base")
    arguments.count(given["base"], "base", "is what counts are rounded to", at_least=2)
    if given["cliques"] is None:
        raise DataError('protect="coarsen" keeps the tables you name; give cliques=', argument="cliques")


def _refuse_identifiers(domain: Domain, scenario: Scenario) -> None:
    if named := [name for name in domain.names if name in scenario.identifiers]:
        raise ColumnError(f"the domain has {named[0]!r}, an identifier of the scenario; take it out", argument="domain")


def _places(
    cliques: Sequence[Sequence[str]] | None, domain: Domain, max_cells: int
) -> tuple[tuple[int, ...], ...] | None:
    """The columns of declared cliques by their place.

    Raises ColumnError or DataError: a column that the domain has not or twice, too many cells, no tree.
    """
    if cliques is None:
        return None
    out = []
    for clique in arguments.several(cliques, "cliques", "are lists of columns"):
        names = arguments.names(clique, "cliques") or ()
        arguments.present(names, domain.names, "cliques", argument="cliques", within="the domain")
        out.append(tuple(domain.names.index(name) for name in names))
        if (cells := math.prod(domain.sizes[place] for place in out[-1])) > max_cells:
            raise DataError(f"the table of {', '.join(names)} has {cells:,} cells, more than max_cells = {max_cells:,}",
                            argument="cliques")  # fmt: skip
    if not all(out):
        raise DataError("a clique names one column or more", argument="cliques")
    check_tree(out, ["×".join(domain.names[place] for place in clique) for clique in out], "cliques")
    return tuple(out)


def _backend(frame: Any) -> str:
    if frame is None:
        return "polars"
    engine = frame.implementation
    return "pandas" if engine.is_pandas_like() else "pyarrow" if engine.is_pyarrow() else "polars"


def _change(domain: Domain, margins: Margins, parameters: dict[str, Any], rng: np.random.Generator) -> MarginsChange:
    scales = margins.scales or [math.nan] * len(margins.cliques)
    error = tuple(
        math.nan if math.isnan(scale) else consistent_margins.expected_error(clique, scale, rng)
        for clique, scale in zip(margins.cliques, scales, strict=True)
    )
    kept = tuple(tuple(domain.names[v] for v in clique.variables) for clique in margins.cliques)
    apart = {names: clique.apart for names, clique in zip(kept, margins.cliques, strict=True)}
    slow = [" × ".join(names) for names, gap in apart.items() if gap > APART * margins.n]
    notes = {"converged": UNCONVERGED.format("; ".join(slow), max(apart.values()) / margins.n)} if slow else {}
    private: dict[str, Any] = {}
    if margins.spent:
        rho, delta = math.fsum(spent.rho for spent in margins.spent), float(parameters["delta"])
        private = {"rho": rho, "delta": delta, "epsilon": epsilon_of(rho, delta)}
    return MarginsChange(
        "synthesize_margins", margins.n, {}, {name: value for name, value in parameters.items() if value is not None},
        spent=tuple(margins.spent), error=error, kept=kept, notes=notes, **private,
    )  # fmt: skip
