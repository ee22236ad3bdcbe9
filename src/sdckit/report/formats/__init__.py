"""Pages and figures as files: HTML, Markdown, JSON, whole or not at all."""
