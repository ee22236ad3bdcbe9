"""Cells of frames that are never read as a whole."""
