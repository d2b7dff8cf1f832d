"""Display a run in progress: live in a terminal, in a notebook's cell, or as plain lines."""
