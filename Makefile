# All targets also work from elsewhere: make -C path/to/checkout test

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
# Written last, so that a set-up that was interrupted is seen as such and begun anew.
STAMP := $(VENV)/.installed
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
# Packages without a wheel are built in isolation, out of reach of -c; the pinned pip knows this flag.
PINNED_BUILDS := --build-constraint constraints.txt

# TensorFlow's start-up lines would bury our own output.
export TF_CPP_MIN_LOG_LEVEL ?= 3

.DEFAULT_GOAL := help
.PHONY: help setup quickstart test bench lint format clean FORCE

help: ## show this list
	@echo "Targets (PYTHON=$(PYTHON) creates $(VENV) when it is needed):"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s%s\n", $$1, $$2 }' Makefile

setup: $(STAMP) ## create or update .venv with the pinned requirements
	@echo "$(VENV) is up to date."

quickstart: $(STAMP) ## a first look at what this package does
	$(BIN)/crtr-quickstart $(ARGS)

# Tests of one file share what they train, so a file stays with one worker.
test: $(STAMP) ## run the tests; ARGS="-m 'not slow'" for the quick ones, ARGS="-n 0" in one process
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

bench: $(STAMP) ## run the benchmarks, print a table and write bench.json
	$(BIN)/python -m benchmarks.run --out=bench.json $(ARGS)

lint: $(STAMP) ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP) ## fix what the linter can fix, and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove caches and build products; keeps .venv
	rm -rf .build build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -path ./.git -prune -o \
	  \( -name __pycache__ -o -name '*.nbi' -o -name '*.nbc' \) -prune -exec rm -rf {} +

# The stamp holds the folder it was written for: an environment does not survive being moved or
# copied with its checkout, nor the removal of the interpreter it was made from.
VENV_WORKS = [ "$$(cat $(STAMP) 2>/dev/null)" = "$(CURDIR)" ] && $(BIN)/python -c '' 2>/dev/null
ifneq ($(shell $(VENV_WORKS) && echo yes),yes)
$(STAMP): FORCE
endif

$(STAMP): setup.py constraints.txt pyproject.toml
	@$(VENV_WORKS) || { \
	  $(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' 2>/dev/null || { \
	    echo "error: '$(PYTHON)' is not a Python 3.11 or 3.12; install python3.11 or name one:" \
	      "make setup PYTHON=/path/to/python3.11" >&2; exit 1; }; \
	  echo "Creating $(VENV)."; \
	  $(PYTHON) -m venv --clear $(VENV); \
	}
	@rm -f $@
	$(PIP_INSTALL) pip setuptools wheel
	$(PIP_INSTALL) $(PINNED_BUILDS) -e '.[test,beam,lint]'
	@echo "Installing the optional two-phase cube solver."
	@$(PIP_INSTALL) $(PINNED_BUILDS) --quiet -e '.[oracle]' >/dev/null 2>&1 || \
	  echo "note: kociemba could not be installed (it needs a C compiler);" \
	    "the test against the two-phase solver will be skipped."
	@printf '%s\n' "$(CURDIR)" > $@
