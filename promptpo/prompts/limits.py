"""Size limits of the parts of a prompt, in one table. Lengths are in characters.

Longer parts lose whole lines from their end, and say how many. Code is never shortened.
"""

CHARACTERS_PER_TOKEN = 3.5
"""A cautious average for English and Python; exact counts would need each provider's tokenizer."""

TOTAL = 10_500
"""Limit on a later request without its code; features' sections (experiments) get what the others leave. The system prompt has about
1,400 characters more, and the task's code."""

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
"""Limits of sections that have one."""

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
"""Sections to drop, in this order, if the model could not read the prompt otherwise."""

FIRST_LASTING = 9000
"""Limit on features' sections in a first prompt, which has little else."""

REPORT = 3000
"""Limit on an experiment's report on all its episodes."""

SUMMARY = 600
"""Limit on a feedback class's summary of one episode, and on its legend."""

HEADING_CHARS = 100
"""Length of a heading above a summary or a report."""

IDEA = 260
"""Limit on the change of a candidate in the last round, the idea of an experiment, or a reason: a sentence or two."""

EARLIER = 140
"""Limit on the change of an earlier candidate."""

NAMED = 12
"""Maximum number of initial states in the table of candidates, and of numbers, lengths or returns listed one by one; others are counted."""

PARTING = 4
"""Maximum number of states in which two programs decide differently."""

COLUMNS = 12
"""Maximum number of columns in a table of steps."""

SPREAD, DOUBLING = 3, 7
"""Number of steps spread over an episode, and of those at doubling distances from its end, or from the largest change of the reward if
the environment did not end it."""

PICTURE, WIDEST = 40, 32
"""Entries above which an array is shown as a picture, by its rows instead of as columns, and maximum number of its rows and columns."""

QUICK_MILLISECONDS = 1
"""Duration of a call of `act`, in milliseconds, below which it does not matter and depends mostly on the machine."""
