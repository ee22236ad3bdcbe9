"""View of attribute disclosure: records whose sensitive value the release discloses, and correctly."""

from sdckit.report import shares

VIEW = shares.share_view("attribute_disclosure", shares.LEARNING, "Disclosure of {}")
SHARES = VIEW.shares
