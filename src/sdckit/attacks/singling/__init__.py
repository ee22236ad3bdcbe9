"""Singling-out attack: queries that isolate one person."""
