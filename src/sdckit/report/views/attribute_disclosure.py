"""View of attribute disclosure: records whose sensitive value the release discloses, and correctly."""

from sdckit.report import shares

SHARES = (
    shares.Figure("disclosive_in_original", "in original groups with one value only"),
    shares.Figure("keys_in_released", "records whose keys are in the release"),
    shares.Figure("disclosed", "value disclosed by the release", inside="keys_in_released"),
    shares.Figure("correctly_disclosed", "value disclosed, and correctly", inside="disclosed"),
    shares.Figure(
        "disclosed_and_disclosive", "disclosed, correctly, and already in the original", inside="correctly_disclosed"
    ),
)
VIEW = shares.share_view(shares.LEARNING, "Disclosure of {}", SHARES, "attribute_disclosure")
