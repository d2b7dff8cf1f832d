"""What a person sees of a run that goes on: in a terminal, in a notebook's cell, as lines."""
