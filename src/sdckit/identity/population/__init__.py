"""Population uniqueness: from models of the population, or from a population file."""
