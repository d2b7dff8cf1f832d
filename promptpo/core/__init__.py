"""The search loop and its decisions; it knows no feature by name."""
