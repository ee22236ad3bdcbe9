"""The measures of the room `attacks`: simulated intruders."""

from __future__ import annotations

from sdckit.catalogue.row import Measure

__all__ = ["ATTACKS"]

UNIFIED = "Giomi, Boenisch, Wehmeyer & Tasnádi (2023), A unified framework for quantifying privacy risk"

ATTACKS: tuple[Measure, ...] = (
    Measure(
        name="singling_out",
        question="Can the release be used to write down something that is true of exactly one person?",
        room="attacks",
        needs=(),
        n_files=2,
        aligned=False,
        direction="high = risk",
        range="0 to 1",
        missing="category",
        source=UNIFIED,
    ),
    Measure(
        name="linkability",
        question="Can two pieces of knowledge of one person be joined through the release?",
        room="attacks",
        needs=("known",),
        n_files=2,
        aligned=False,
        direction="high = risk",
        range="0 to 1",
        missing="category",
        source=UNIFIED,
    ),
    Measure(
        name="inference",
        question="Can an unknown value of a person be guessed from the most similar released row?",
        room="attacks",
        needs=("known", "target"),
        n_files=2,
        aligned=False,
        direction="high = risk",
        range="0 to 1",
        missing="category",
        source=UNIFIED,
    ),
    Measure(
        name="membership",
        question="Can it be told who was in the file?",
        room="attacks",
        needs=("control",),
        n_files=2,
        aligned=False,
        direction="high = risk",
        range="0 to 1",
        missing="category",
        source="Shokri, Stronati, Song & Shmatikov (2017), Membership inference attacks; Yeom et al. (2018)",
    ),
    Measure(
        name="distance_to_closest_record",
        question="Are released records nearer to the people in the file than to others?",
        room="attacks",
        needs=(),
        n_files=2,
        aligned=False,
        direction="neither",
        range="distances and shares 0 to 1; ratio 0 and up; losses -1 to 1",
        missing="category",
        source="Park et al. (2018); Platzer & Reutterer (2021); Yale et al. (2020); Yoon et al. (2020)",
    ),
    Measure(
        name="canaries",
        question="Does a synthesizer remember records that were planted in its training file?",
        room="attacks",
        needs=(),
        n_files=1,
        aligned=None,
        direction="high = risk",
        range="0 to 1; 0.5 without memory",
        missing="category",
        source="Carlini et al. (2019), The secret sharer",
    ),
    Measure(
        name="probabilistic_linkage",
        question="Could somebody link released records to people in spite of slips and changes?",
        room="attacks",
        needs=("variables",),
        n_files=2,
        aligned=True,
        direction="high = risk",
        range="0 to 1",
        missing="wildcard",
        source="Fellegi & Sunter (1969), A theory for record linkage; computed by splink",
    ),
)
