# The Backward Pass. `make course` is all that a learner needs; `make` alone lists the rest.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
# Tried in this order; PYTHONS=/path/to/python names one of your own.
PYTHONS ?= python3.13 python3.12 python3.11 python3
# For pip, jupyter lab and pytest: LAB_ARGS=--no-browser, PYTEST_ARGS=tests/test_build.py
PIP_ARGS ?=
LAB_ARGS ?=
PYTEST_ARGS ?= -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder
# In a container one is often root, and JupyterLab asks for this then.
ALLOW_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.DEFAULT_GOAL := help
.PHONY: help setup course test demo build check constraints components

help:
	@echo "make course       set up, then open JupyterLab on notebooks/"
	@echo "make setup        set up alone: $(VENV)/ with all packages and the command $(BIN)/autograder"
	@echo "make test         set up, then run all tests"
	@echo "make demo         set up, then grade a made-up class and show the marks"
	@echo "make build        make release/ and notebooks/ from source/"
	@echo "make check        is everything built, formatted and typed as it should be?"
	@echo "make constraints  write constraints.txt from what is installed in $(VENV)/"

setup: $(STAMP)
	@echo "Set up: $(BIN)/autograder"

$(STAMP): pyproject.toml constraints.txt
	@bash .ci/venv "$(VENV)" $(PYTHONS)
	@echo "Installing the packages of constraints.txt into $(VENV)/ (the first time a few minutes) ..."
	@"$(BIN)/python" -m pip install --disable-pip-version-check $(PIP_ARGS) -c constraints.txt -e ".[test]"
	@echo "Making the instructor's notebooks from source/ ..."
	@"$(BIN)/autograder" build --instructor-only
	@touch "$@"

course: setup
	@echo "Opening JupyterLab on notebooks/. To stop it, press Ctrl-C here."
	@PATH="$(CURDIR)/$(BIN):$$PATH" jupyter lab --log-level=WARN --LabApp.default_url=/lab/tree/start.ipynb \
		$(ALLOW_ROOT) $(LAB_ARGS) notebooks/

# Tests of the sandbox need bubblewrap; tests of what a learner sees need Chromium, and npm brings axe-core.
components:
	@bash .ci/components

test: setup components
	@echo "Running the tests ..."
	@"$(BIN)/python" -m pytest $(PYTEST_ARGS)

demo: setup
	@"$(BIN)/autograder" demo

build: setup
	@"$(BIN)/autograder" build

check: setup
	@"$(BIN)/autograder" build --check
	@"$(BIN)/ruff" check .
	@"$(BIN)/ruff" format --check .
	@"$(BIN)/mypy"

constraints: setup
	@echo "# What is known to work together; written by \`make constraints\`." > constraints.txt
	@"$(BIN)/python" -m pip freeze --all --exclude-editable --disable-pip-version-check \
		| sed -e '/^pip==/d' -e 's/+cpu$$//' >> constraints.txt
	@touch "$(STAMP)"
	@echo "Wrote constraints.txt from what is installed in $(VENV)/."
