"""Step budgets of training runs in tests."""


def total(training_steps: int) -> int:
    """All steps of a run that trains for so many: a fifth of them is for validation."""
    return training_steps + training_steps // 4
