"""Step budgets of training runs in tests."""


def total(training_steps: int) -> int:
    """Return the step budget of a run that trains for this many steps; a fifth of it is for validation."""
    return training_steps + training_steps // 4
