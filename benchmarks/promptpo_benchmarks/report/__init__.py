"""What a benchmark shows: sections and figures, as Markdown and as one page."""
