"""How long the parts of a prompt may be, in characters: the one table.

What is longer loses whole lines from its end, and says how many. Code is told whole.
"""

TOTAL = 12_000
"""Of a later prompt, its code aside: experiments have what the other sections leave of it."""

SECTIONS = {
    "where": 1500,
    "candidates": 1800,
    "numbers": 500,
    "episodes": 1500,
    "steps": 1200,
    "last steps": 700,
    "parting": 900,
    "others": 1500,
    "experiments": 6000,
    "labels": 700,
}
"""Of the sections that have a limit."""

GIVEN_UP = (
    "steps",
    "parting",
    "others",
    "experiments",
    "faster",
    "episodes",
    "labels",
    "numbers",
    "candidates",
    "where",
    "program",
)
"""Which sections are left out, the first ones first, where the model could not read the prompt otherwise."""

FIRST_EXPERIMENTS = 9000
"""All experiments in a first prompt, which has little else."""

REPORT = 3000
"""What an experiment reports of all its episodes together."""

SUMMARY = 600
"""What a feedback class says of one episode."""

LEGEND = 600
"""What its labels mean."""

CHANGE, EARLIER = 260, 140
"""What a candidate of the last round changed, in words, and one of an earlier round."""

STARTS, COLUMNS = 12, 10
"""Starts in the table of candidates, and columns in a table of steps."""
