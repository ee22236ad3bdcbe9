"""The losses that a recipe can be searched by, each with what it is in words."""

from collections.abc import Mapping

# Of keys made coarser: figures of `generalization_loss`, of precision what it lacks to 1.
BY_COLUMN: Mapping[str, str] = {  # sums over the keys
    "loss": "share of its domain that a value stands for, mean",
    "precision": "share of their hierarchies that values went up, mean",
    "entropy_share": "share of the bits about the values that is lost",
    "entropy": "bits about the values that are lost",
    "height": "levels that the columns went up, added",
}
BY_CLASS: Mapping[str, str] = {
    "discernibility": "discernibility: the squares of the classes' sizes, added",
    "average_class_size": "records of an equivalence class, mean",
    "ambiguity": "combinations of values that a record may stand for, mean",
}
COARSENING: Mapping[str, str] = {**BY_COLUMN, **BY_CLASS}
INFORMATION, MODEL, PMSE, DIFFERING = "information", "model", "pmse", "share_changed"
LOSSES: Mapping[str, str] = {
    INFORMATION: "share of what the keys tell",
    PMSE: "how well a regression tells the release from the file",
    MODEL: "lack of overlap of the intervals of a regression",
    **COARSENING,
}
# On a map of recipes: the losses that every one of them may have.
DRAWN: Mapping[str, str] = {DIFFERING: "values that differ from the original (share)", PMSE: "pMSE", **COARSENING}
OF_CALLER = "a measure of your own"


def drawn(loss: str) -> str:
    """The loss of a map of recipes beside a search by `loss`, which may have none of every recipe.

    >>> drawn("pmse"), drawn("information")
    ('pmse', 'share_changed')
    """
    return DIFFERING if loss in (INFORMATION, MODEL) else loss
