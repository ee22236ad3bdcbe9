"""Matching and linkage: released records traced back to the records they were made from."""
