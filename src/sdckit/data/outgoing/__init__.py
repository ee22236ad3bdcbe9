"""Removal of everything a frame holds besides its records, before it is released."""
