"""Estimates from two files: printed to two digits, and withheld where they rest on few records."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdckit.data.frames import rows_of
from sdckit.data.packaged import packaged
from sdckit.report.blocks import Block, ChartBlock, Paragraph, TableBlock
from sdckit.report.charts import has_interval
from sdckit.report.common_blocks import bars, figure, share_leaf, value_leaf
from sdckit.report.gate.figures import InternalOnly, Ledger, Tree
from sdckit.report.gate.rounding import format_number
from sdckit.report.setting import PairSetting, guard_by_changes, variables_of
from sdckit.report.shares import pair_notes_blocks, pair_notes_tree
from sdckit.report.view import Plain, View

USEFULNESS = "What is it still good for?"
MOST_TERMS = 40
MOST_DRAWN = 12
ROUNDED = "intervals are not drawn, since their ends are rounded here"
FEW = "withheld: those that fewer than 5 records carry, or that would tell such ones"
STEPS = "rounded to what five records change, as they count records"
WITHHELD: Mapping[str, Tree] = {"text": "withheld", "value": None}


@dataclass(frozen=True)
class UtilityView(View):
    """The view of a utility measure.

    `part`: where its tree goes in the overview of an assessment: "" merges its figures, a name appends it to that list;
    None leaves it out.
    """

    part: str | None = None


def estimate_leaf(ledger: Ledger, name: str, true: float | None, *, few: bool, otherwise: float | None = None) -> Tree:
    """Enter an estimate; one that rests on few records is withheld except in a confidential document.

    `otherwise` is the number that every other document prints, where it differs.
    """
    leaf = value_leaf(ledger, name, true)
    if few:
        return InternalOnly(leaf, WITHHELD)
    if otherwise is None or true is None or otherwise == true or not math.isfinite(true):
        return leaf
    return InternalOnly(leaf, value_leaf(ledger, f"{name}.told", otherwise))


def few_words(result: Any) -> Tree:
    """Note that estimates are withheld or rounded in steps, where some are; "" otherwise."""
    words = [FEW] * any(result.few_spread) + [STEPS] * any(result.steps)
    return InternalOnly("", "; ".join(words)) if words else ""


def term_rows(result: Any, write: Callable[[int, Tree], tuple[Tree, ...]], names: Sequence[str]) -> tuple[Tree, ...]:
    """Rows of every term; terms that rest on few records and share a public name appear once outside.

    `write` makes the rows of a term from its number and its public name.
    """
    rows: list[Tree] = []
    seen: set[str] = set()
    for number, (name, shown_name) in enumerate(zip(names, result.told, strict=True)):
        own = write(number, name if name == shown_name else InternalOnly(name, shown_name))
        if shown_name in seen and result.few[number]:
            own = tuple(InternalOnly(row) for row in own)
        seen.add(shown_name)
        rows += own
    return tuple(rows)


def forest_tree(result: Any, setting: PairSetting) -> tuple[Tree, ...]:
    """Enter the estimates and intervals of a forest plot, term by term and file by file."""
    rows = rows_of(result.forest())
    files = len(rows) // max(1, len(result.told))
    names = [str(row["term"]) for row in rows[:: max(1, files)]]
    otherwise = result.told_drawn
    most = max(1, 2 * MOST_TERMS // max(1, files))

    def write(number: int, term: Tree) -> tuple[Tree, ...]:
        if number >= most:
            return ()
        few, wide = result.few[number], result.few_spread[number]
        return tuple(
            forest_row(
                setting, f"forest.{at}", rows[at], term=term, file=str(rows[at]["file"]), few=few, wide=wide,
                otherwise=otherwise[at],
            )
            for at in range(number * files, (number + 1) * files)
        )  # fmt: skip

    return term_rows(result, write, names)


def forest_row(
    setting: PairSetting, name: str, row: Mapping[str, Any], *, term: Tree, file: str, few: bool = False,
    wide: bool = False,
    otherwise: tuple[float | None, ...] = (None, None, None),
) -> dict[str, Tree]:  # fmt: skip
    """Enter an estimate and its interval in one file; only a confidential document prints them exactly.

    `few`, `wide`: the estimate, or its interval, rests on few records. `otherwise`: estimate and ends as any document
    that is not confidential prints them, where they differ.
    """
    start = f"{setting.prefix}.{setting.place}.{name}"
    leaves = {
        part: estimate_leaf(
            setting.ledger, f"{start}.{part}", row[part], few=few or (wide and part != "estimate"), otherwise=public
        )
        for part, public in zip(("estimate", "low", "high"), otherwise, strict=True)
    }
    return {"label": _label(term, file), "term": term, "file": file, **leaves, "exact": InternalOnly(True)}


def forest_block(rows: Sequence[Plain], about: str) -> list[Block]:
    """Forest plot of estimates, one axis for each term; with intervals where these are printed exactly."""
    shown = [row for row in rows if row["estimate"]["text"] != WITHHELD["text"]]
    terms = list(dict.fromkeys(row["term"] for row in shown))
    if not terms:
        return []
    drawn = [row for row in shown if row["term"] in terms[:MOST_DRAWN]]
    caption = f"Estimates and intervals: {about}" if any(map(has_interval, drawn)) else f"Estimates: {about}; {ROUNDED}"
    more = f" (the first {MOST_DRAWN} of {len(terms)})" if len(terms) > MOST_DRAWN else ""
    return [ChartBlock("forest", {"rows": drawn}, caption + more)]


def forest_blocks(rows: Sequence[Plain], about: str = "every term, file by file", withheld: str = "") -> list[Block]:
    """Forest plot and table of estimates with their intervals."""
    note: list[Block] = [Paragraph(f"Estimates {withheld}.", "note")] if withheld else []
    chart = forest_block(rows, about)
    if not chart:
        return note
    ends = ("low", "high") if any(row["low"]["text"] != WITHHELD["text"] for row in rows) else ()
    texts = tuple((row["label"], *(row[part]["text"] for part in ("estimate", *ends))) for row in rows)
    digits = "" if any(map(has_interval, rows)) else ", to two digits" if ends else ""
    heads = ("Term and file", "Estimate", *("From", "To")[: len(ends)])
    caption = f"Estimates and intervals{digits}" if ends else "Estimates"
    return [*chart, TableBlock(caption, heads, texts, tuple(range(1, len(heads))), behind=True), *note]


def _label(term: Tree, file: str) -> Tree:
    if isinstance(term, InternalOnly):
        return InternalOnly(f"{term.content}, {file}", f"{term.otherwise}, {file}")
    return f"{term}, {file}"


def figures_view(
    words: Mapping[str, str], by_variable: str = "", caption: str = "", *, shares: Sequence[str] = (),
    drawn: Sequence[str] = (),
) -> UtilityView:  # fmt: skip
    """Make the view of a utility measure: a table of its figures, `words` being their labels.

    The chart shows `by_variable`, a figure of every variable, under its caption, or else the figures in `drawn`;
    `shares` are figures that stand for numbers of records (share times n).
    """

    def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
        ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}"
        pair = result if hasattr(result, "n_changed") else getattr(result, "pair", None)
        variables = variables_of(result)
        leaves: dict[str, Tree] = {
            name: guard_by_changes(
                (share_leaf if name in shares else value_leaf)(ledger, f"{start}.{name}", getattr(result, name)),
                setting, pair, variables, name,
            )
            for name in words
        }  # fmt: skip
        if by_variable:
            write = share_leaf if by_variable in shares else value_leaf
            leaves["variables"] = {
                name: guard_by_changes(write(ledger, f"{start}.variable.{name}", value), setting, pair, variables)
                for name, value in _named(getattr(result, by_variable)).items()
            }
        return {**leaves, **pair_notes_tree(result)}

    def blocks(plain: Plain, place: str) -> list[Block]:
        figures = plain[place]
        rows = tuple((label, figures[name]["text"]) for name, label in words.items())
        head = "The release as a whole"
        laid: list[Block] = [TableBlock(head, ("Figure", "Release"), rows, (1,))]
        if by_variable and figures["variables"]:
            texts = tuple((name, leaf["text"]) for name, leaf in figures["variables"].items())
            table = TableBlock(caption, ("Variable", "Figure"), texts, (1,))
            laid += figure(bars(caption, "", figures["variables"].items()), table)
        else:
            laid.append(bars(head, "", ((words[name], figures[name]) for name in drawn), aside=True))
        return [*laid, *pair_notes_blocks(figures)]

    return UtilityView(USEFULNESS, tree, blocks)


def _named(by_variable: Any) -> dict[str, float]:
    """A figure by variable from a mapping or a frame, without undefined ones."""
    if not isinstance(by_variable, Mapping):
        by_variable = {row["variable"]: row["importance"] for row in rows_of(by_variable)}
    return {str(name): float(value) for name, value in by_variable.items() if math.isfinite(value)}


# Models of the population: what each assumes, how it fits, and which one is recommended.


RISK, UNIQUES = "population_risk", "population_uniques"
LOG_LINEAR = "Log-linear model"
POPULATION = packaged("report/population_models.toml")
MODELS: dict[str, str] = POPULATION["models"]
SUPPOSES: dict[str, str] = POPULATION["supposes"]
FIT: dict[str, str] = POPULATION["fit"]


def recommendation_block(plain: Plain) -> Paragraph | None:
    """Recommend one of the population models that ran; None where nothing is modelled.

    The log-linear model where it fits, since it uses the keys themselves; else the model of class sizes that fits the
    file's classes best, if it is close and the file large enough; else none.
    """
    risk, sizes = plain.get(RISK), plain.get(UNIQUES)
    if risk and risk["state"] == "census":
        return None
    if risk and "fitted_to" in risk:
        return Paragraph(POPULATION["weighed"], "lead")
    if risk and risk["recommended"]:
        return Paragraph(_log_linear(risk) + (POPULATION["individual"] if plain.get("individual_risk") else ""), "lead")
    if sizes and sizes["recommended"]:
        name = sizes["recommended"]
        uniques = sizes["estimates"][name]["uniques"]["text"]
        misfit = f" The log-linear model does not fit: {FIT[risk['state']]}." if risk else ""
        return Paragraph(
            f"To be trusted first, with caution: {MODELS[name]}, which comes closest to the sizes of the file's "
            f"groups: {uniques} people expected to be unique in the population.{misfit}",
            "lead",
        )
    return None if sizes and not risk and _settled(sizes) else Paragraph(POPULATION["none"], "lead")


def _log_linear(risk: Plain) -> str:
    why = "it shows no sign of misfit" if risk["state"] == "fits" else "it expects the file's own groups closely"
    tau1, tau2, people = risk["tau1"]["text"], risk["tau2"]["text"], people_of(risk)
    unique = f", and {people} people unique in the population" if people else ""
    return (
        f"To be trusted first: the log-linear model, since it uses the keys themselves and {why}. It expects {tau1} "
        f"of the records alone to be unique in the population, {tau2} correct matches among them{unique}. What other "
        "models say stands beside it to compare."
    )


def people_of(risk: Plain) -> str:
    """Expected population uniques: printed tau1 over a declared sampling fraction; else "".

    Examples
    --------
    >>> people_of({"tau1": {"text": "25", "value": 25}, "sampling_fraction": 0.01})
    '2,500'
    """
    if risk.get("population_uniques") is not None:  # of a confidential document
        return f"{risk['population_uniques']:,.0f}"
    tau1, fraction = risk["tau1"]["value"], risk["sampling_fraction"]
    return format_number(tau1 / fraction) if tau1 and fraction else ""


def _settled(sizes: Plain) -> bool:
    """Whether nothing had to be modelled."""
    return {estimate["status"] for estimate in sizes["estimates"].values()} <= {"census", "no_uniques"}


def supposed_table(plain: Plain) -> list[Block]:
    """Table of the assumption of every model, and its fit."""
    rows: list[tuple[str, ...]] = []
    if risk := plain.get(RISK):
        rows.append((LOG_LINEAR, SUPPOSES[LOG_LINEAR], _fit_words(FIT[risk["state"]], risk, risk["recommended"])))
    if sizes := plain.get(UNIQUES):
        first = not (risk and risk["recommended"])
        for name, estimate in sizes["estimates"].items():
            if name in SUPPOSES:
                named = first and name == sizes["recommended"]
                rows.append((MODELS[name], SUPPOSES[name], _fit_words(estimate["fit"], estimate, named)))
    return [TableBlock("What each model supposes, and how it fits", ("Model", "Supposes", "Fit"), tuple(rows))]


def _fit_words(words: str, tree: Plain, named: bool) -> str:
    apart = tree.get("dissimilarity")
    exact = "" if apart is None else f" ({100 * apart:.3g} % of another size)"
    return f"{words}{exact}{'; trusted first' if named else ''}"
