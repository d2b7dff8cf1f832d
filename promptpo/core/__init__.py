"""The loop, and what it decides by; it knows no feature by name."""
