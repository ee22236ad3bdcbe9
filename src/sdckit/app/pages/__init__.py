"""The pages, one Shiny module each."""
