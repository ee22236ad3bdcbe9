"""Frequencies of key combinations when a missing key value matches any value (wildcards), of cells and margins."""
