"""Synthesis: values drawn from models fitted to the file."""
