"""What a mechanism is worth: two versions of the code on the same recorded answers, and the table of what came of it."""
