# The commands of the project. Everything needed is installed into .venv by the first of them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

# embedded | docker | the DSN of a superuser: where the tests run
export PGRECALL_TEST_SERVER ?= embedded

.DEFAULT_GOAL := help
.PHONY: help setup node demo test test-all lint format generate docs bench eval soak repeat
.PHONY: test-citus lock dist release bump clean integrations recipes screenshots

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) node  ## create .venv and install everything into it

PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

$(STAMP): pyproject.toml requirements/setup.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --require-hashes -r requirements/setup.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

# The files in requirements/ name no package index.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-config --no-header --no-annotate --no-emit-package pgrecall pyproject.toml

lock:  ## resolve the dependencies anew: versions and hashes in requirements/
	$(PIP) 'uv<1'
	$(LOCK) --upgrade --extra embedded --extra dev requirements/setup.in \
	    --override requirements/override.txt -o requirements/setup.txt
	$(LOCK) --extra embedded -c requirements/setup.txt -o requirements/embedded.txt

# What examples/node needs, where there is a Node; without one its tests are skipped.
node:
	@if command -v npm >/dev/null; then \
	    cd examples/node && cmp -s package-lock.json node_modules/.installed || { \
	        npm ci --silent --no-audit --no-fund && \
	        cp package-lock.json node_modules/.installed; }; \
	fi

demo: $(STAMP)  ## import example conversations, search them, compile a context (no key, no Docker)
	@$(BIN)/pgrecall demo

# processes of the tests, each with a server and a template database; one for what ARGS select
JOBS ?= $(if $(ARGS),1,2)
PYTEST = $(BIN)/python -m pytest $(if $(filter-out 1,$(JOBS)),-n $(JOBS) --dist loadfile)

test: node
test: $(STAMP)  ## run the tests but the slow ones (PGRECALL_TEST_SERVER, ARGS for pytest)
	$(PYTEST) $(ARGS)

test-all: node
test-all: $(STAMP)  ## run all tests, the slow ones included
	$(PYTEST) --slow $(ARGS)

test-citus: $(STAMP)  ## run the contract on a Citus cluster (DSN of its coordinator)
	PGRECALL_CITUS_DSN="$(DSN)" $(BIN)/python -m pytest -v tests/citus $(ARGS)

lint: $(STAMP)  ## ruff, mypy, sqlfluff, pglast, squawk and our own rules
	$(BIN)/python .ci/lint.py

format: $(STAMP)  ## format the Python files
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

generate: $(STAMP)  ## make the blocking client, and from the catalog signatures and reference
	$(BIN)/python .ci/checksums.py
	$(BIN)/python .ci/generate.py
	$(BIN)/python .ci/catalog.py
	$(BIN)/python .ci/walks.py

docs: $(VENV)/.docs  ## build the site of docs/ into .cache/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@# pages load nothing from elsewhere
	@! grep -rEl --include='*.html' '<(script|link|img|iframe)[^>]+(src|href)="?https?:' .cache/site

$(VENV)/.docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

bench: $(STAMP)  ## run the main benchmarks (ARGS=--peers: beside mem0, LangGraph, …)
	$(BIN)/python benchmarks/run.py $(ARGS)

eval: $(STAMP)  ## measure what a model extracts (EVAL_BASE_URL, EVAL_MODEL, or ARGS)
	@$(BIN)/python benchmarks/extraction_quality.py $(ARGS)

screenshots: $(STAMP)  ## make the pictures of the inspector in docs/images anew
	PGRECALL_SCREENSHOTS=1 $(BIN)/python -m pytest --slow tests/inspect/test_demo.py

soak: $(STAMP)  ## mixed load with kills, promotions and upgrades (MINUTES=10, ARGS=--seed=7)
	PYTHONPATH=tests $(BIN)/python -m soak --minutes $(or $(MINUTES),10) $(ARGS)

integrations: $(STAMP)  ## run test suites of frameworks with our adapters (ARGS=--write)
	$(BIN)/python .ci/integrations.py $(ARGS)
	@if command -v npm >/dev/null; then $(BIN)/python .ci/mcp_suites.py; \
	else echo "the MCP suites need npm"; fi

recipes: $(STAMP)  ## run examples/recipes against their frameworks (ARGS=crewai_agent)
	$(BIN)/python .ci/recipes.py $(ARGS)

repeat: $(STAMP)  ## run the slow and concurrent tests over and over (MINUTES=10)
	@end=$$(( $$(date +%s) + 60 * $(or $(MINUTES),10) )); \
	while [ $$(date +%s) -lt $$end ]; do \
	    SOAK=1 $(BIN)/python -m pytest -q -x -m 'slow or concurrent' $(ARGS) || exit 1; \
	done

dist: VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
dist: docs  ## build the wheel, the source archive, the one-file installation and the pages
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m pgrecall.schema > dist/pgrecall-$(VERSION).sql
	tar -czf dist/pgrecall-$(VERSION)-docs.tar.gz -C .cache --transform 's,^site,pgrecall-docs,' site
	@ls -l dist

release: $(STAMP)  ## cut the version that pyproject.toml names: dist, and its fixture
	$(BIN)/python .ci/release.py $(ARGS)

bump:  ## set the version: make bump VERSION=0.2.0.dev0
	@$(PYTHON) .ci/release.py --bump "$(VERSION)"
	@$(MAKE) --no-print-directory setup generate

clean:  ## remove what was built; .venv and data stay
	rm -rf dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find python tests benchmarks .ci -name __pycache__ -type d -prune -exec rm -rf {} +
