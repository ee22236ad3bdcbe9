"""How each measure is computed and where it comes from, for the last page of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdckit.data.scenario import Scenario
from sdckit.report.figures import Tree
from sdckit.report.protocols import IntruderLike

__all__ = ["method_notes", "release_notes"]


def method_notes(intruders: Sequence[IntruderLike], scenario: Scenario) -> tuple[Mapping[str, Tree], ...]:
    """Say how each measure is computed and where it comes from."""
    notes = [_ANONYMITY, _MISSING, _RISK_CENSUS if _is_census(scenario) else _RISK_SAMPLE]
    if any(one.key_contributions is not None for one in intruders):
        notes.append(_CONTRIBUTIONS)
    if scenario.household:
        notes.append(_HOUSEHOLD)
    if any(one.l_diversity is not None for one in intruders):
        notes.append(_L_DIVERSITY)
    notes += [
        note
        for name, note in _SPECIAL.items()
        if any(getattr(one, name, None) is not None for one in intruders)
    ]
    notes.append(_PROTECTION)
    return tuple({"name": name, "text": text, "source": source} for name, text, source in notes)


def release_notes(*, attacked: bool = False) -> tuple[Mapping[str, Tree], ...]:
    """Say how the measures of a release beside its original are computed, and the attacks where they ran."""
    notes = (*_RELEASE, _ATTACKS) if attacked else _RELEASE
    return tuple({"name": name, "text": text, "source": source} for name, text, source in notes)


def _is_census(scenario: Scenario) -> bool:
    return scenario.weight is None and scenario.sampling_fraction is None


_ANONYMITY = (
    "k-anonymity",
    (
        "A record is k-anonymous when at least k records of the file, itself included, share "
        "its combination of key values. A record that nobody shares is a sample unique."
    ),
    "Samarati (2001); Sweeney (2002)",
)
_MISSING = (
    "Missing values in keys",
    (
        'Under "wildcard" a missing value may stand for any value, so records match more often; '
        'under "category" it is a value of its own. Where keys have missing values, both are '
        "shown: the wildcard is the less cautious rule."
    ),
    "Templ, Meindl, Kowarik & Chen (2014)",
)
_RISK_SAMPLE = (
    "Individual risk",
    (
        "The probability that an intruder who meets the record's key in the population links it "
        "to the right person: the mean of 1/F given f, where f counts the records with this key "
        "in the file and F, the persons with it in the population, is unknown and estimated "
        "from the design. Its sum is the expected number of re-identifications, its mean the "
        "global risk."
    ),
    "Benedetti & Franconi (1998); Franconi & Polettini (2004)",
)
_RISK_CENSUS = (
    "Individual risk",
    (
        "The file is treated as the whole population, the most cautious assumption: the risk of "
        "a record is 1/f, where f counts the records with its key. Its sum is the expected "
        "number of re-identifications, its mean the global risk."
    ),
    "Duncan & Lambert (1989); Benedetti & Franconi (1998)",
)
_CONTRIBUTIONS = (
    "Contribution of keys",
    (
        "Every figure is computed again with one key left out. What is saved by leaving a key "
        "out shows which variable to coarsen first; savings of several keys do not add up."
    ),
    "Hundepool et al. (2012), chapter 3",
)
_HOUSEHOLD = (
    "Household risk",
    (
        "The probability that at least one member of the household is re-identified: one minus "
        "the product over its members of (1 - risk). Size and composition may identify a "
        "household even without any key."
    ),
    "Franconi & Polettini (2004); Templ, Meindl, Kowarik & Chen (2014)",
)
_L_DIVERSITY = (
    "l-diversity",
    (
        "Records that share a key protect each other only if their sensitive values differ. "
        "Distinct: number of different values; entropy: their effective number; recursive: the "
        "most frequent value is not too frequent against the rest."
    ),
    "Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007)",
)
_SPECIAL = {
    "suda": (
        "Special uniques",
        (
            "A minimal unique is a set of keys on which a record is alone while it is not on any part of the "
            "set; the fewer the keys, the higher its score. DIS is the chance that a unique match of an "
            "intruder's file is a correct one, from the uniques, the pairs and the sampling fraction."
        ),
        "Elliot, Manning & Ford (2002); Skinner & Elliot (2002)",
    ),
    "population_risk": (
        "Log-linear model of the population",
        (
            "The counts of key combinations are taken as Poisson with expectations fitted to the file; tau1 "
            "is the expected number of sample uniques that are unique in the population, tau2 the expected "
            "number of correct matches among them."
        ),
        "Skinner & Holmes (1998); Skinner & Shlomo (2008)",
    ),
    "population_uniques": (
        "Population uniques by the sizes of groups",
        (
            "Models of how many people share a key, fitted to the number of groups of each size in the file; "
            "the keys themselves are not used."
        ),
        "Zayatz (1991); Hoshino (2001); Chen & Keller-McNulty (1998); Dankar et al. (2012)",
    ),
    "risky_cells": (
        "Risky combinations",
        (
            "Tables of every one, two and three keys; a cell with so few records is unsafe. A missing value "
            "is a value of its own."
        ),
        "Hundepool et al. (2014), manual of mu-Argus",
    ),
    "outliers": (
        "Outliers",
        "Records whose value is so extreme that it may be recognised as such, variable by variable.",
        "Benschop, Machingauta & Welch (2019)",
    ),
}
_SPECIAL |= {
    "t_closeness": (
        "t-closeness",
        (
            "How far the values of a group lie from those of the file: the least share of records that would "
            "have to change, weighed by how far where the values are numbers."
        ),
        "Li, Li & Venkatasubramanian (2007)",
    ),
    "beta_likeness": (
        "β-likeness",
        "How much more likely a value becomes, relative to its share in the file, once the group is known.",
        "Cao & Karras (2012)",
    ),
    "delta_disclosure": (
        "δ-disclosure",
        "The largest change of a value's log-share between the file and a group; infinite where it is ruled out.",
        "Brickell & Shmatikov (2008)",
    ),
    "alpha_k": (
        "(α, k)-anonymity",
        "The largest share that one value has in a group.",
        "Wong, Li, Fu & Wang (2006)",
    ),
}
_ATTACKS = (
    "Simulated attacks",
    (
        "Intruders are simulated who single people out, link two parts of what is known, infer a value, or tell "
        "who was in the file; each is compared with guessing, and with the same attack on people who were never "
        "in the file, where a control file is given. What lies above that is due to the release. Where rows "
        "correspond, records are also linked by weights of agreement that are learnt from the files and forgive slips; "
        "everybody is attacked."
    ),
    "Giomi, Boenisch, Wehmeyer & Tasnádi (2023); Fellegi & Sunter (1969)",
)
_RELEASE = (
    (
        "Matching back",
        (
            "An intruder looks for the released rows that agree with what is known of a person: on every "
            "category exactly, on numbers within an interval. The chance of picking the right one of c "
            "matching rows is 1/c if it is among them, and 0 otherwise."
        ),
        "Reiter & Mitra (2009); Hornby & Hu (2021)",
    ),
    (
        "Uniques in both files",
        (
            "Records whose keys are unique in the original, whether those keys are in the release, and "
            "whether they are unique there, too. A missing value is a value of its own."
        ),
        "Raab, Nowok & Dibben (2024)",
    ),
    (
        "Record linkage",
        (
            "Each released record is linked to the original record nearest to it; ties are drawn at random. "
            "The share of right links is compared with that of links drawn by chance."
        ),
        "Domingo-Ferrer & Torra (2003)",
    ),
    (
        "Correct attribution",
        (
            "The intruder finds the released rows with the person's keys and takes the sensitive value of one "
            "of them: the chance that it is the true one. The original against itself and a guess from the "
            "margin are shown beside it; a risk is what lies above the guess."
        ),
        "Elliot (2014); Taub, Elliot, Pampaka & Smith (2018)",
    ),
    (
        "Attribute disclosure",
        (
            "A value is disclosed where all released rows with the person's keys agree on it, and correctly "
            "where it is the true one; numbers are grouped."
        ),
        "Raab, Nowok & Dibben (2024)",
    ),
    (
        "Utility",
        (
            "pMSE: how well a model tells released records from original ones. Shares of records in other "
            "values by variable, numbers in classes; two-way tables and associations for every pair; the "
            "regressions named, fitted to both files and compared by the overlap of their intervals. No single "
            "score: a release may keep every table and spoil a regression."
        ),
        "Woo et al. (2009); Snoke et al. (2018); Karr et al. (2006)",
    ),
    (
        "Prediction",
        "A model of the sensitive variable is trained on the release and applied to the keys of the original.",
        "Domingo-Ferrer & Torra (2003); Choi et al. (2017)",
    ),
)
_PROTECTION = (
    "Protection of this document",
    (
        'Counts from 1 to 4 are printed as "<5" and all others rounded to the nearest 5, more '
        "coarsely where totals, nested levels or differences would give a small count away; "
        "rates are computed from the rounded counts, so parts may not add up. Levels held by "
        "fewer than 5 records are pooled, estimates have two significant digits, and no "
        "maximum, quantile or record is shown."
    ),
    "Hundepool et al. (2012), chapter 5",
)
