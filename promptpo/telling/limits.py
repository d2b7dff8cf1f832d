"""How long the parts of a prompt may be, in characters: the one table.

What is longer loses whole lines from its end, and says how many. Code is told whole.
"""

TOTAL = 10_500
"""Of a later request, its code aside: experiments have what the other sections leave of it. The system prompt has some 1,400
characters more, and the task's code."""

SECTIONS = {
    "where": 1000,
    "candidates": 1500,
    "numbers": 400,
    "episodes": 1400,
    "steps": 1200,
    "last steps": 500,
    "parting": 600,
    "others": 1000,
    "experiments": 6000,
    "labels": 600,
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
