# The whole of it: `make run` plays, `make test` proves, `make check` reads. Python ≥ 3.11 is all that is needed.
# PYTHON= chooses the interpreter; HOST= and PORT= where `run` listens; TESTS= what `test` and `test-fast` run.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help install run engines test test-fast check bench lock clean

BIN := .venv/bin
# Tests are shared out by files among three processes: more than two cores have work for, since tests also wait. What
# fails then must pass alone: some tests watch countdowns, and take a machine that is too busy for a fault.
SHARED := -n 3 --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq install

help:
	@echo 'make run        install what is missing and serve the game (HOST, PORT)'
	@echo 'make engines    add the strong computer player'
	@echo 'make test       every test, with a real PostgreSQL and a real browser'
	@echo 'make test-fast  engine and app, no browser'
	@echo 'make check      formatting, lint, types, who imports whom, contrast, words'
	@echo 'make bench      how fast it is'
	@echo 'make install    everything a developer needs, in .venv'
	@echo 'make lock       write requirements/ anew from pyproject.toml (needs uv)'
	@echo 'make clean      away with .venv and all caches'

install: .venv/.dev

run: .venv/.runtime
	@exec $(BIN)/nardy serve

engines: .venv/.runtime
	@$(PIP) --require-hashes -r requirements/engines.txt

test: .venv/.dev
	@$(BIN)/python -m tests.support.postgres
	@sh tools/chromium.sh $(BIN)/python
	$(BIN)/python -m pytest $(SHARED) $(TESTS) || $(BIN)/python -m pytest --last-failed $(TESTS)

test-fast: .venv/.dev
	$(BIN)/python -m pytest $(SHARED) $(or $(TESTS),--ignore=tests/browser)

check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/contrast.py
	$(BIN)/python tools/words.py
	sh tools/addresses.sh
	@$(BIN)/python -m pip --disable-pip-version-check check

bench: .venv/.dev
	$(BIN)/python -m bench

lock:
	sh tools/lock.sh

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An install is done once and again only when what it was made from has changed.
.venv/bin/python:
	@python=$$(PYTHON='$(PYTHON)' sh tools/python.sh) && "$$python" -m venv --clear .venv

.venv/.runtime: requirements/build.txt requirements/runtime.txt pyproject.toml | .venv/bin/python
	@echo 'Installing the server into .venv …'
	@$(PIP) --require-hashes -r requirements/build.txt -r requirements/runtime.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

.venv/.dev: requirements/dev.txt .venv/.runtime
	@echo 'Installing what tests and checks need …'
	@$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@
