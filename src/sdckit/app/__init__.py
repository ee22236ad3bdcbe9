"""The web app, thin: pages and a guard in the server, all work on data in one process per session."""
