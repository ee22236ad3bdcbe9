"""Chapters of documents: trees of typed figures before the gate, pages of blocks after it."""
