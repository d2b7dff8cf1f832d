"""One run on disk, and what it has spent."""
