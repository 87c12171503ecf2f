# `make book` and `make test` do all their set-up themselves: a virtual environment in .venv, the
# pinned requirements, this package. Needs Python 3.11 or newer and make.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PORT   ?= 8000
SITE   := _build/html
BOOK    = $(BIN)/jupyter-book build . --all -W -n --keep-going

export PYTHONHASHSEED := 0

.PHONY: help book serve test lab bench lint clean
help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1	/'

$(VENV)/.ready: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ". Try: make $(MAKECMDGOALS) PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt -e .
	@touch $@

book: $(VENV)/.ready ## build the book; prints where to look
	$(BIN)/jupyter-book build . -W -n --keep-going
	@echo "The book: file://$(abspath $(SITE))/index.html   (or: make serve)"

serve: book ## build the book and show it on http://localhost:8000
	$(BIN)/python -m http.server --directory $(SITE) $(PORT)

lint: $(VENV)/.ready ## ruff, pyright, import-linter, chapter lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

test: lint book ## every test
	$(BIN)/python -m pytest

clean: ## remove everything that was built
	rm -rf _build
