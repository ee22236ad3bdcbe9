"""Values drawn from models of the file."""
