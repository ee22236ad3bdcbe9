"""Canaries: artificial records planted before a release is made."""
