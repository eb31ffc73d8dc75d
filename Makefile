# Every target makes its own virtual environment and installs what it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PRESET ?= quick
AS_ROOT = $(if $(filter 0,$(shell id -u)),,sudo)

.DEFAULT_GOAL := help
.PHONY: help setup landscape table regret demo quick test coverage check oldest newest browser fuzz interruptions bench compare forecasts docs site dist matrix clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

setup: $(READY)  ## Make .venv/ and install driftwise with its development dependencies

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $(READY)

landscape: $(READY)  ## Measure the paper's Table 1: a table, and a page with figures (PRESET=standard: longer)
	$(BIN)/driftwise landscape --preset $(PRESET)

table: $(READY)  ## Measure Table 1 for docs/landscape.md, into docs/landscape-results.json (about five minutes)
	$(BIN)/python docs/builder/landscape_results.py
	$(BIN)/python docs/generate.py

regret: $(READY)  ## Score the default learners against the best tuned ones in hindsight (PRESET=standard: longer)
	$(BIN)/driftwise regret --preset $(PRESET)

demo: $(READY)  ## Simulate the paper's learners in a switching and in a drifting environment: tables and figures
	$(BIN)/driftwise simulate examples/switching.toml --out out/switching.parquet --figure out/switching.png
	$(BIN)/driftwise simulate examples/drifting.toml --out out/drifting.parquet --figure out/drifting.png

check: $(READY)  ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The report page is tested in Chromium, driven by its own chromedriver.
browser:  ## Install Chromium and its driver for the tests, if they are missing
	@if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then \
	  if ! command -v apt-get >/dev/null; then \
	    echo "make browser: there is no apt-get here. Put chromium and chromedriver on the PATH" \
	      "(macOS: brew install --cask chromium chromedriver)." >&2; exit 1; \
	  fi; \
	  $(AS_ROOT) apt-get -q -o DPkg::Lock::Timeout=300 update; \
	  $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 \
	    install -y --no-install-recommends chromium chromium-driver || { \
	    echo "make browser: apt-get could not install chromium and chromium-driver; install them by hand." >&2; exit 1; }; \
	fi

# Tests that compile nothing, or use kernels that are compiled once and seldom change.
QUICK := tests/cli/test_cli.py tests/core/test_files.py tests/core/test_archives.py tests/core/test_numbers.py \
  tests/detectors tests/docs/test_docstrings.py tests/docs/test_glossary.py tests/docs/test_statements.py \
  tests/environments/test_environments.py tests/environments/test_noises.py tests/environments/test_paths.py \
  tests/forecasting/test_frames.py tests/forecasting/test_labelled_values.py \
  tests/forecasting/test_mixtures.py tests/package tests/regret tests/report/page/test_page.py \
  tests/report/page/test_dot_panels.py tests/report/page/test_plain_page.py tests/results/test_cell_files.py \
  tests/results/test_cell_tables.py tests/results/test_store.py tests/results/test_sweep_results.py

quick: $(READY)  ## Run the tests that take a minute: those that compile nothing, and the checks of six learners
	$(BIN)/ruff check .
	$(BIN)/python -m pytest --quiet --numprocesses 2 --dist worksteal --ignore tests/package/test_scripts.py $(QUICK)
	$(BIN)/python -m pytest --quiet --numprocesses 2 -m quick tests/checks/test_every_learner.py

test: check browser  ## Run check, then every test, then the tests of the kernels without the compiler
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --doctest-modules
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m interpreted --numprocesses 2 tests

coverage: $(READY)  ## List the lines that the tests of the kernels without the compiler do not run
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m interpreted --numprocesses 2 --cov --cov-report=term:skip-covered tests

# Each has a compiler cache of its own: Numba keeps no files of another version.
oldest: browser  ## Run every test with the oldest releases that are declared
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt --editable ".[dev]"
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/cache .venv-oldest/bin/python -m pytest --numprocesses 2 --dist worksteal --doctest-modules

newest: browser  ## Run every test with the newest releases of everything
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager --editable ".[dev]"
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-newest/cache .venv-newest/bin/python -m pytest --numprocesses 2 --dist worksteal --doctest-modules

fuzz: $(READY)  ## Try mutated sessions, streams, tables, specs, results, messages of a cluster, environments, hostile folders (an hour)
	NUMBA_BOUNDSCHECK=1 $(BIN)/python tests/helpers/fuzz_sessions.py --cases 100000
	NUMBA_DISABLE_JIT=1 $(BIN)/python tests/helpers/fuzz_sessions.py --cases 5000
	NUMBA_BOUNDSCHECK=1 $(BIN)/python tests/helpers/fuzz_python_learners.py --cases 6000
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -W error tests/helpers/fuzz_mixtures.py --cases 10000
	$(BIN)/python tests/helpers/fuzz_tables.py --cases 2000 --parquet 5000 --written 3000
	$(BIN)/python tests/helpers/fuzz_sweeps.py --cases 50000 --cluster 100
	$(BIN)/python tests/helpers/fuzz_results.py --cases 3000
	$(BIN)/python tests/helpers/fuzz_outputs.py --cases 2000
	$(BIN)/python tests/helpers/fuzz_specs.py --cases 10000
	NUMBA_BOUNDSCHECK=1 $(BIN)/python tests/helpers/fuzz_environments.py --cases 20000

interruptions: $(READY)  ## Kill sweeps and a Dask cluster at random, damage stores, and compare the results (an hour)
	$(BIN)/python benchmarks/interruptions.py size
	$(BIN)/python benchmarks/interruptions.py damage
	$(BIN)/python benchmarks/interruptions.py overhead
	$(BIN)/python benchmarks/interruptions.py together
	$(BIN)/python benchmarks/interruptions.py local --rounds 100000
	$(BIN)/python benchmarks/interruptions.py dask --rounds 100000

bench: $(READY)  ## Time the learners against C and other packages (minutes; compiles C, installs three packages)
	$(BIN)/python benchmarks/run.py

compare: $(READY)  ## Measure the regret of every learner in five environments, 100 runs each (about twenty minutes)
	$(BIN)/python benchmarks/compare.py

forecasts: $(READY)  ## Score mixtures of real forecasts beside eleven rivals; it names the packages that have the data
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/forecasts.py

docs: $(READY)  ## Build the documentation site into out/docs/, running all code on it (about five minutes)
	$(BIN)/python docs/generate.py
	$(BIN)/sphinx-build --fail-on-warning --keep-going --jobs auto docs out/docs
	@echo "The site: out/docs/index.html"

site: browser $(READY)  ## Open every page of the built site in Chromium: formulas, console, requests, width, search
	$(BIN)/python docs/builder/browser_check.py out/docs

dist: $(READY)  ## Build the wheel and the sdist into dist/, twice, and compare the bytes of both builds
	$(BIN)/python tools/dist.py

matrix: dist  ## Install the wheel with the oldest and the newest releases for every CPython found, and use it (twenty minutes)
	$(BIN)/python tools/matrix.py dist/*.whl

clean:  ## Remove all generated files
	rm -rf docs/reference docs/_pictures docs/_landscape
	rm -rf $(VENV) .venv-rivals .venv-oldest .venv-newest out build dist src/*.egg-info .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks docs examples tools -name __pycache__ -prune -exec rm -rf {} +
