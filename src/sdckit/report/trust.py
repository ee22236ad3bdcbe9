"""Which of several estimates of the population to trust: what each supposes, how it fits, and one named."""

from __future__ import annotations

from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.gate.rounding import format_number
from sdckit.report.view import Plain

RISK, UNIQUES = "population_risk", "population_uniques"
LOG_LINEAR = "Log-linear model"
MODELS = {
    "zayatz": "Zayatz",
    "pitman": "Pitman",
    "snb": "Slide negative binomial",
    "snb3": "Slide negative binomial, classes fitted as well",
    "dankar": "Dankar's rule",
}
SUPPOSES = {
    LOG_LINEAR: "a combination is as frequent as the frequencies of its keys, and of the pairs in the model, make it",
    "zayatz": "groups in the population have the sizes that groups in the file have",
    "pitman": "sizes follow Pitman's formula: new combinations keep turning up as the file grows",
    "snb": "sizes are one plus a negative binomial number; how many groups there are is estimated first",
    "snb3": "the same, the number of groups fitted as well",
    "dankar": "no model: Pitman in a tenth of the population or less, else the smaller of two others",
}
FIT = {
    "census": "nothing is modelled: the file is the population",
    "fits": "no sign of misfit",
    "close": "close: z2 says too simple, yet the sizes of the file's groups are as expected but for 3 % at most",
    "too simple": "the model is too simple for this file: tau1 and tau2 are probably too high",
    "overfitted": "the model may be overfitted: tau1 and tau2 may be too low",
    "not judged": "cannot be judged",
}
INDIVIDUAL = (
    " The individual risk judges each combination by its own records alone; in simulated populations the sum of it was "
    "1.1 to 4.2 times too low, most in small samples."
)
NONE = (
    "No model fits this file: none of these figures is to be trusted before the others. Recode keys with many levels, "
    "or have pairs of keys searched for (select=True, --select), and look again."
)


def trust_block(one: Plain) -> Paragraph | None:
    """Name the figures to be trusted, of the models of the population that ran; None where nothing is modelled.

    The log-linear model comes first where it fits: it uses the keys themselves. Else the model of sizes that comes
    closest to the file's groups, where it is close and the file large enough; else none.
    """
    risk, sizes = one.get(RISK), one.get(UNIQUES)
    if risk and risk["state"] == "census":
        return None
    if risk and risk["recommended"]:
        return Paragraph(_log_linear(risk) + (INDIVIDUAL if one.get("individual_risk") else ""), "lead")
    if sizes and sizes["recommended"]:
        name = sizes["recommended"]
        told = sizes["estimates"][name]["uniques"]["text"]
        misfit = f" The log-linear model does not fit: {FIT[risk['state']]}." if risk else ""
        return Paragraph(
            f"To be trusted first, with caution: {MODELS[name]}, which comes closest to the sizes of the file's "
            f"groups: {told} people expected to be unique in the population.{misfit}",
            "lead",
        )
    if sizes and not risk and _settled(sizes):
        return None
    return Paragraph(NONE, "lead")


def _log_linear(risk: Plain) -> str:
    why = (
        "it shows no sign of misfit"
        if risk["state"] == "fits"
        else "it expects the file's own groups closely"
    )
    tau1, tau2, people = risk["tau1"]["text"], risk["tau2"]["text"], people_of(risk)
    unique = f", and {people} people unique in the population" if people else ""
    return (
        f"To be trusted first: the log-linear model, since it uses the keys themselves and {why}. It expects {tau1} "
        f"of the records alone to be unique in the population, {tau2} correct matches among them{unique}. What other "
        "models say stands beside it to compare."
    )


def people_of(risk: Plain) -> str:
    """Uniques expected in the population: tau1, as printed, over a fraction that everybody knows; else "".

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
    return {found["status"] for found in sizes["estimates"].values()} <= {"census", "no_uniques"}


def supposed_table(one: Plain) -> list[Block]:
    """What every model supposes in a sentence, and how it fits."""
    rows: list[tuple[str, ...]] = []
    if risk := one.get(RISK):
        rows.append(
            (LOG_LINEAR, SUPPOSES[LOG_LINEAR], _fit_words(FIT[risk["state"]], risk, risk["recommended"]))
        )
    if sizes := one.get(UNIQUES):
        first = not (risk and risk["recommended"])
        for name, found in sizes["estimates"].items():
            if name in SUPPOSES:
                named = first and name == sizes["recommended"]
                rows.append((MODELS[name], SUPPOSES[name], _fit_words(found["fit"], found, named)))
    return [
        TableBlock("What each model supposes, and how it fits", ("Model", "Supposes", "Fit"), tuple(rows))
    ]


def _fit_words(words: str, tree: Plain, named: bool) -> str:
    apart = tree.get("dissimilarity")
    exact = "" if apart is None else f" ({100 * apart:.3g} % of another size)"
    return f"{words}{exact}{'; trusted first' if named else ''}"
