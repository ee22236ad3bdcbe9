"""Information loss: distance of values from the original ones."""
