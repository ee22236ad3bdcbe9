"""View of attribute disclosure: records whose sensitive value the release discloses, and correctly."""

from sdckit.report.shares import LEARNING, Figure, share_view
from sdckit.report.view import Note

SHARES = (
    Figure("disclosive_in_original", "in original groups with one value only"),
    Figure("keys_in_released", "records whose keys are in the release"),
    Figure("disclosed", "value disclosed by the release", inside="keys_in_released"),
    Figure("correctly_disclosed", "value disclosed, and correctly", inside="disclosed"),
    Figure(
        "disclosed_and_disclosive", "disclosed, correctly, and already in the original",
        inside="correctly_disclosed",
    ),
)  # fmt: skip
DISCLOSED = Note(
    "Attribute disclosure",
    "A value is disclosed where all released rows with the person's keys agree on it, and correctly where it is the "
    "true one; numbers are grouped.",
    "Raab, Nowok & Dibben (2024)",
)
VIEW = share_view(LEARNING, "Disclosure of {}", SHARES, DISCLOSED)
