"""Results of a run for people: files, pages, films and sentences."""
