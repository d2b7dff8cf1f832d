# make check: all that a change must pass. make test: the tests alone.
PYTHON ?= python

.PHONY: check test slow explore format lint types contracts

check: lint types contracts test

test:
	$(PYTHON) -m pytest -n logical

# Property tests on new examples, many of them; one that fails becomes an @example.
explore:
	HYPOTHESIS_PROFILE=explore $(PYTHON) -m pytest -n logical -m "hypothesis and not slow"

slow:
	$(PYTHON) -m pytest -m slow -n logical --timeout 900 --durations 25

format:
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

lint:
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

types:
	$(PYTHON) -m mypy

contracts:
	lint-imports
