"""Suppression: values made missing until no record is rare."""
