"""Who is tried next, with what."""
