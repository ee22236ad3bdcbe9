"""What the rows with a person's keys give away."""
