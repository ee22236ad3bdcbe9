"""What was released before, kept as keyed sketches: no value of a person, and nothing without the key."""
