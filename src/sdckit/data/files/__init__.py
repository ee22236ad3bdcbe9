"""Reading and writing of data files and their labels."""
