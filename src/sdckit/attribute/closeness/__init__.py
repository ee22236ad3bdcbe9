"""How far the values of a group lie from those of the file."""
