"""Values left out until no record is rare."""
