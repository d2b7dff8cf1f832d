"""The report of a benchmark: sections and figures, as Markdown and as one page."""
