"""Special uniques, and rare combinations of a few keys."""
