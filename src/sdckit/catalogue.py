"""One row per measure: where it stands, what it needs, which way it points, where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CATALOGUE", "Measure", "measure"]

Room = Literal["identity", "attribute", "attacks", "utility"]
Direction = Literal["high = risk", "high = good"]
MissingRule = Literal["wildcard", "category"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What there is to know about a measure before it runs.

    Attributes
    ----------
    name : str
        The public function.
    question : str
        What it answers, in plain words.
    room : str
        The room its file stands in.
    needs : tuple of str
        Roles a scenario must declare for it.
    n_files : int
        Files it takes: one, or a release and its original.
    aligned : bool or None
        Whether row i of the release must have been made from row i of the original; None with one file.
    direction : str
        Whether a high figure means risk or means quality.
    range : str
        The values its main figure can take.
    missing : str
        What a missing key value means unless the caller says otherwise.
    source : str
        The paper or guide that defines it.
    """

    name: str
    question: str
    room: Room
    needs: tuple[str, ...]
    n_files: Literal[1, 2]
    aligned: bool | None
    direction: Direction
    range: str
    missing: MissingRule
    source: str


GUIDE = "Benschop, Machingauta & Welch, Statistical Disclosure Control: A Practice Guide"

CATALOGUE: tuple[Measure, ...] = (
    Measure(
        name="key_frequencies",
        question="How many records, and how many people, share each record's key?",
        room="identity",
        needs=("keys",),
        n_files=1,
        aligned=None,
        direction="high = good",
        range="1 to the number of records",
        missing="wildcard",
        source=f"{GUIDE}, section 4",
    ),
    Measure(
        name="k_anonymity",
        question="How many records share their key with fewer than k?",
        room="identity",
        needs=("keys",),
        n_files=1,
        aligned=None,
        direction="high = good",
        range="1 to the number of records",
        missing="wildcard",
        source="Samarati & Sweeney (1998), Protecting privacy when disclosing information",
    ),
    Measure(
        name="individual_risk",
        question="How likely is each record to be recognised by its key?",
        room="identity",
        needs=("keys",),
        n_files=1,
        aligned=None,
        direction="high = risk",
        range="above 0, up to 1",
        missing="wildcard",
        source="Benedetti & Franconi (1998); Franconi & Polettini (2004), Individual risk estimation",
    ),
    Measure(
        name="household_structure",
        question="Which households stand out by their size or their members?",
        room="identity",
        needs=("household", "keys"),
        n_files=1,
        aligned=None,
        direction="high = good",
        range="1 to the number of households",
        missing="category",
        source=f"{GUIDE}, note on households",
    ),
    Measure(
        name="key_contributions",
        question="Which key makes the file risky, and what would leaving it out save?",
        room="identity",
        needs=("keys",),
        n_files=1,
        aligned=None,
        direction="high = risk",
        range="0 to the number of records",
        missing="wildcard",
        source="Counts of k-anonymity and individual risk on every key but one",
    ),
    Measure(
        name="population_risk",
        question="How many of those unique in the file are unique in the population, too?",
        room="identity",
        needs=("keys",),
        n_files=1,
        aligned=None,
        direction="high = risk",
        range="0 to the number of sample uniques",
        missing="category",
        source="Skinner & Shlomo (2008), Assessing identification risk in survey microdata using log-linear models",
    ),
    Measure(
        name="population_uniques",
        question="How many people are unique in the population, judged by the sizes of the classes in the file?",
        room="identity",
        needs=("keys",),
        n_files=1,
        aligned=None,
        direction="high = risk",
        range="0 to the size of the population",
        missing="category",
        source="Zayatz (1991); Hoshino (2001); Chen & Keller-McNulty (1998); Dankar et al. (2012)",
    ),
    Measure(
        name="k_map",
        question="How many people of the population share each record's key?",
        room="identity",
        needs=("keys",),
        n_files=2,
        aligned=False,
        direction="high = good",
        range="1 to the size of the population",
        missing="category",
        source="Sweeney (2001), Computational Disclosure Control; El Emam & Dankar (2008)",
    ),
    Measure(
        name="delta_presence",
        question="How surely is a person whose key is known in the file at all?",
        room="identity",
        needs=("keys",),
        n_files=2,
        aligned=False,
        direction="high = risk",
        range="0 to 1",
        missing="category",
        source="Nergiz, Atzori & Clifton (2007), Hiding the presence of individuals from shared databases",
    ),
    Measure(
        name="risky_cells",
        question="Which combinations of a few variables do too few records have?",
        room="identity",
        needs=("keys",),
        n_files=1,
        aligned=None,
        direction="high = risk",
        range="0 to the number of cells",
        missing="category",
        source="Hundepool et al. (2014), mu-Argus user's manual, on combinations",
    ),
    Measure(
        name="suda",
        question="Which records do a few of the keys already single out, and how special are they?",
        room="identity",
        needs=("keys",),
        n_files=1,
        aligned=None,
        direction="high = risk",
        range="0 and up; DIS 0 to 1",
        missing="wildcard",
        source="Elliot, Manning & Ford (2002); Elliot & Manning (2003); Manning, Haglin & Keane (2008)",
    ),
    Measure(
        name="outliers",
        question="Which records have values so extreme that they are recognised as such?",
        room="identity",
        needs=("numeric",),
        n_files=1,
        aligned=None,
        direction="high = risk",
        range="0 to the number of records",
        missing="category",
        source=f"{GUIDE}, section on outliers; Rousseeuw & Van Driessen (1999)",
    ),
    Measure(
        name="explain",
        question="Which keys single one record out, and what is the cheapest change that ends it?",
        room="identity",
        needs=("keys",),
        n_files=1,
        aligned=None,
        direction="high = good",
        range="1 to the number of records",
        missing="wildcard",
        source="Elliot, Manning & Ford (2002), on the minimal sets of keys that make a record unique",
    ),
    Measure(
        name="l_diversity",
        question="What is learnt about somebody whose key is known, without even finding the record?",
        room="attribute",
        needs=("keys", "sensitive"),
        n_files=1,
        aligned=None,
        direction="high = good",
        range="1 to the number of values of the sensitive variable",
        missing="category",
        source="Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), l-Diversity",
    ),
)


def measure(name: str) -> Measure:
    """Find the row of a measure.

    Examples
    --------
    >>> measure("k_anonymity").room
    'identity'
    """
    for row in CATALOGUE:
        if row.name == name:
            return row
    raise KeyError(
        f"the catalogue has no measure {name!r}; it has {', '.join(row.name for row in CATALOGUE)}"
    )
