# Every target installs what it needs; `make help` lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALL := $(BIN)/uv pip install --quiet --constraint requirements.lock --editable .
ARGS ?=
.DEFAULT_GOAL := help
.PHONY: help install run test lint check bench eval soak docs lock clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

install: .venv/installed ## make .venv with everything the product needs

run: install ## start the service on http://127.0.0.1:8000 (ARGS="--port 9000 …")
	$(BIN)/oracle serve $(ARGS)

test: .venv/dev ## run the tests
	$(BIN)/pytest --numprocesses auto --quiet -m "not soak"

lint: .venv/dev ## ruff, mypy, import-linter
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

check: lint test ## what CI runs

bench: .venv/bench ## benchmarks, as ratios to a baseline of the same run
	$(BIN)/python -m benchmarks

eval: install ## what only a real model can show; needs ANTHROPIC_API_KEY
	$(BIN)/python -m benchmarks.eval

soak: .venv/dev ## the long forms of fuzz, load and fault tests
	$(BIN)/pytest --numprocesses auto --quiet -m soak

docs: .venv/dev ## write the generated parts of docs/ anew
	$(BIN)/python docs/generate.py

lock: .venv/bin/uv ## renew requirements.lock
	$(BIN)/uv pip compile --quiet pyproject.toml --group dev --group bench --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --upgrade --output-file requirements.lock

clean: ## remove what the other targets made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

.venv/bin/uv:
	$(PYTHON) -m venv .venv && $(BIN)/pip install --quiet --disable-pip-version-check uv==0.13.8

.venv/installed: pyproject.toml requirements.lock | .venv/bin/uv
	$(INSTALL) && touch $@

.venv/dev: pyproject.toml requirements.lock | .venv/bin/uv
	$(INSTALL) --group dev && touch $@ .venv/installed

.venv/bench: pyproject.toml requirements.lock | .venv/bin/uv
	$(INSTALL) --group dev --group bench && touch $@ .venv/installed
