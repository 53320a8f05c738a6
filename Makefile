# Every target installs what it needs; `make help` lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALL := $(BIN)/uv pip install --quiet --compile-bytecode --constraint requirements.lock --editable .
WEB := $(BIN)/python web/tasks.py
ARGS ?=
SMOKE := tests/oracle/cli/test_ask.py tests/oracle/cli/test_serve.py tests/oracle/llm tests/oracle/server/api \
	tests/oracle/server/process/test_protocol.py tests/oracle/runs/storage tests/oracle/features/traces \
	tests/oracle/features/openai_compatible tests/oracle/server/test_settings.py
# Without bytecode each process of the tests compiles all modules anew, those of the tests themselves among them.
export PYTHONDONTWRITEBYTECODE :=
.DEFAULT_GOAL := help
.PHONY: help install run test lint check console-tests lowest without weight bench bench-agentdojo bench-guard mutants tree-mutants eval screenshots soak docs site types lock dist clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

install: .venv/installed ## make .venv with everything the product needs

run: install ## build the console if its sources are newer, and start the service on http://127.0.0.1:8000 (ARGS="--port 9000 …")
	@$(WEB) build || echo "The service starts all the same."
	$(BIN)/oracle serve $(ARGS)

test: .venv/dev console-tests ## run the tests but the long ones; some four minutes on two cores
	@echo "Left out: most tests in a browser, of processes and of trials of trees, PostgreSQL for what the store's own tests show, process kills, faults,"
	@echo "the installed wheel, the benchmarks' own tests, and most examples of each property and of the longest lists; make check runs them"
	@echo "Running the other tests: some four minutes on two quiet cores"
	$(BIN)/pytest --numprocesses auto --dist worksteal --quiet --ignore tests/benchmarks -m "not soak and not long"

lint: .venv/dev ## ruff, mypy, import-linter; tsc, eslint, prettier
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/mypy examples web/*.py && $(BIN)/lint-imports
	$(WEB) check --if-possible

console-tests: .venv/dev # what the tests of the console need, and those of its logic
	$(WEB) build --if-possible
	$(WEB) test --if-possible
	$(WEB) browser --if-possible

check: lint console-tests ## what CI runs: the linters and all tests; some twenty minutes on two cores
	$(BIN)/pytest --numprocesses auto --dist worksteal --quiet --hypothesis-profile check --cpu-limit 3 -m "not soak"

lowest: .venv/bin/uv ## a smoke test with the oldest dependencies that pyproject.toml allows
	$(BIN)/uv venv --quiet --clear .venv/lowest
	$(BIN)/uv pip install --quiet --python .venv/lowest/bin/python --requirement .ci/lowest.lock
	$(BIN)/uv pip install --quiet --python .venv/lowest/bin/python --constraint requirements.lock hypothesis pytest pytest-asyncio pytest-xdist
	$(BIN)/uv pip install --quiet --python .venv/lowest/bin/python --no-deps --editable .
	.venv/lowest/bin/python -m pytest --numprocesses auto --quiet -m "not soak and not long" $(SMOKE)

without: .venv/dev ## delete a feature's folder from a copy, and run what is left (FEATURE=shadow; without it each in turn)
	$(BIN)/python -m benchmarks.without $(FEATURE)

weight: .venv/dev ## count the code lines of the product, of what one question loads, and of each feature's folder
	$(BIN)/python -m benchmarks.weight

bench: .venv/bench ## benchmarks, as ratios to a baseline of the same run
	$(BIN)/python -m benchmarks

bench-agentdojo: .venv/agentdojo/ready ## prompt injections: the 97 tasks and 949 attacked pairs of AgentDojo (PyPI, in an environment of its own), with scripted minds (ARGS="--suites slack")
	.venv/agentdojo/bin/python -m benchmarks.agentdojo $(ARGS)

bench-guard: .venv/dev ## what the product costs, as ratios to baselines of the same run and in code lines; fails if one is beyond its bound (ARGS="turn tick")
	$(BIN)/python -m benchmarks.guard $(ARGS)

mutants: .venv/dev ## small defects in a sample of places, and how many of them each room's tests find (ARGS="signals --sample 100")
	$(BIN)/python -m benchmarks.mutants $(ARGS)

tree-mutants: .venv/dev ## small changes of the shipped trees, and who notices them (ARGS="--sample 50 --all-noticers")
	$(BIN)/python -m benchmarks.tree_mutants $(ARGS)

eval: install ## what only a real model can show, and what it costs; needs ANTHROPIC_API_KEY (ARGS="--budget 2", ARGS="--compare OLD.json NEW.json")
	$(BIN)/python -m benchmarks.eval $(ARGS)

screenshots: .venv/dev ## pictures of every page of the console in every state, in build/screenshots (ARGS="--only chat-*"; ARGS=--documents: those of docs/pictures)
	$(BIN)/python -m tests.web.screenshots $(ARGS)

soak: .venv/dev ## the long forms of fuzz, load and fault tests, and more examples of each property
	$(BIN)/pytest --numprocesses auto --quiet --hypothesis-profile whole -m "soak or hypothesis"

docs: .venv/dev ## write the generated parts of docs/ anew
	$(BIN)/python docs/generate.py

site: .venv/dev ## build the pages of docs/ as a site in build/site
	$(BIN)/mkdocs build --quiet --strict --config-file .mkdocs.yml

types: .venv/dev ## write the types of web/ anew, from the service's own description
	$(WEB) types

lock: .venv/bin/uv ## renew requirements.lock, and .ci/uv.lock for the version of uv that is here
	$(BIN)/uv --version | sed 's/^uv \([0-9.]*\).*/uv==\1/' | $(BIN)/uv pip compile --quiet - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --output-file .ci/uv.lock
	$(BIN)/uv pip compile --quiet pyproject.toml --all-extras --group dev --group bench --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --upgrade --output-file requirements.lock
	$(BIN)/uv pip compile --quiet pyproject.toml --all-extras --resolution lowest-direct --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --upgrade --output-file .ci/lowest.lock

dist: .venv/dev ## build the sdist and the wheel with the console, in dist/; the same commit gives the same bytes
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/hatchling build

clean: ## remove what the other targets made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist oracle/console/files web/node_modules

.venv/bin/uv: .ci/uv.lock
	$(PYTHON) -m venv .venv && $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement .ci/uv.lock && touch $@

.venv/installed: pyproject.toml requirements.lock | .venv/bin/uv
	$(INSTALL) && touch $@

.venv/dev: pyproject.toml requirements.lock | .venv/bin/uv
	$(INSTALL) --group dev && touch $@ .venv/installed

.venv/agentdojo/ready: pyproject.toml | .venv/bin/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv/agentdojo
	$(BIN)/uv pip install --quiet --python .venv/agentdojo/bin/python agentdojo==0.1.35 --editable . && touch $@

.venv/bench: pyproject.toml requirements.lock | .venv/bin/uv
	$(INSTALL) --group dev --group bench && touch $@ .venv/installed
