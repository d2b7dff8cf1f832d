"""How much a prompt tells, of everything: the one table. Lengths are in characters.

What is longer loses whole lines from its end, and says how many. Code is told whole.
"""

CHARACTERS_PER_TOKEN = 3.5
"""A cautious average for English and Python; exact counts would need each provider's tokenizer."""

TOTAL = 10_500
"""Of a later request, its code aside: what features tell (experiments) has what the other sections leave of it. The system prompt has some 1,400
characters more, and the task's code."""

SECTIONS = {
    "where": 1000,
    "candidates": 1500,
    "numbers": 400,
    "episodes": 1400,
    "steps": 1200,
    "others": 2000,
    "lasting": 6000,
    "labels": 600,
}
"""Of the sections that have a limit."""

GIVEN_UP = (
    "steps",
    "lasting",
    "others",
    "episodes",
    "labels",
    "numbers",
    "candidates",
    "ceiling",
    "where",
    "program",
)
"""Which sections are left out, the first ones first, where the model could not read the prompt otherwise."""

FIRST_LASTING = 9000
"""What features tell in a first prompt, which has little else."""

REPORT = 3000
"""What an experiment reports of all its episodes together."""

SUMMARY = 600
"""What a feedback class says of one episode, and what its labels mean."""

HEADING_CHARS = 100
"""What stands above a summary or a report."""

IDEA = 260
"""What a candidate of the last round changed, what an experiment is about, or a reason: a sentence or two."""

EARLIER = 140
"""What an earlier candidate changed."""

NAMED = 12
"""Initial states in the table of candidates, and numbers, lengths or returns that are named one by one; the others are counted."""

PARTING = 4
"""States in which two programs decide differently."""

COLUMNS = 12
"""Columns in a table of steps."""

SPREAD, IN_A_ROW = 6, 6
"""Steps that are spread over an episode, and steps in a row: its last ones where the environment ended it, else those in its
middle."""

PICTURE, WIDEST = 40, 32
"""An array of more entries is a picture, shown by its rows instead of as columns, where it has at most so many of them."""

QUICK_MILLISECONDS = 1
"""Milliseconds of a call of `act` below which its time is no matter, and mostly the machine's."""
