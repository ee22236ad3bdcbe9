"""The web app: pages over `workflow`, for people who do not program."""
