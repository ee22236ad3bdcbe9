"""Audit of a release together with tables published of the same people."""
