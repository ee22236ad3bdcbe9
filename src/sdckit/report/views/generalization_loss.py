"""View of what generalising and suppressing lost."""

from sdckit.report.estimates import figures_view

VIEW = figures_view(
    {
        "precision": "precision: 1 less the share of their hierarchies that values went up, mean",
        "loss": "loss: the share of its domain that a value stands for, mean",
        "entropy_share": "entropy: the share of the bits about the values that is lost",
        "height": "levels that the columns went up, added",
        "average_class_size": "records of an equivalence class, mean",
        "discernibility": "discernibility: the squares of the classes' sizes, added",
        "ambiguity": "combinations of values that a record may stand for, mean",
    },
    "column_losses",
    "Share of its domain that a value stands for, by variable",
    shares=("precision", "loss", "entropy_share", "column_losses"),
)
