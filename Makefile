# Everything a user or a developer runs. `make` lists the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PACKAGES := engine ilp_agent rivals evo manaforge
# Where no bytecode is written, as in many containers, collecting the tests takes twice as long.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
COVERAGE := PYTHONDONTWRITEBYTECODE= $(BIN)/coverage
COVERED := --rcfile=tests/coverage.toml
UV_COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header
UV_LOCK := $(UV_COMPILE) pyproject.toml

IN_MODES := tests/engine tests/ilp_agent tests/rivals tests/contracts
OF_THE_COMPILER := tests/engine/test_jit.py tests/engine/test_kernel_cache.py

EDITION_PACKAGE := build/editions/25252.1
PIP_TO := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --upgrade --target
REFERENCE_PACKAGE := build/editions/53261.1

.DEFAULT_GOAL := help
.PHONY: help setup setup-extras quickstart test nightly test-modes test-heavy test-long test-faults test-browser test-reference soak check format cover bench bench-ppo published docs notebook notebooks cards lock clean planted

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; ok = (3, 11) <= sys.version_info[:2] <= (3, 13); sys.exit(0 if ok else \
	"Manaforge needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is %d.%d. Name another: make PYTHON=python3.12 ..." \
	% sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing what Manaforge needs to run into $(VENV): some 1.2 GB, one to three minutes"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.tools: requirements-dev.lock $(VENV)/.runtime
	@echo "Installing the tools of developers into $(VENV): some 0.5 GB, a minute"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

setup: $(VENV)/.tools  ## Make .venv with the package (editable), the command manaforge and all tools
	@echo "Ready. Activate with: . $(VENV)/bin/activate"

$(VENV)/.extras: requirements-extras.lock $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-extras.lock
	@touch $@

setup-extras: $(VENV)/.extras  ## Add what optional extras need to .venv: the backend scip, nevergrad, PettingZoo, OpenSpiel, Playwright
	@echo "Ready: scip, nevergrad, PettingZoo, OpenSpiel; Playwright for the tests of pages, which need a chromium"

$(VENV)/.notebook: requirements-notebook.lock $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-notebook.lock
	@touch $@

quickstart: $(VENV)/.runtime  ## Install what is needed to run, then evolve weights on decks of minions
	$(BIN)/manaforge evolve quickstart

test: $(VENV)/.tools  ## The fast test suite, in two processes
	$(PYTEST) -n 2 --dist worksteal

test-modes: $(VENV)/.tools  ## The reduced suite uncompiled, and compiled with array bounds checked
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n 2 --dist worksteal -W error::RuntimeWarning $(IN_MODES)
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -n 2 --dist worksteal $(IN_MODES)

test-heavy: $(VENV)/.tools  ## The long suites that the fast one leaves out; SOME="and not nightly" is the part in .ci/run
	$(PYTEST) -m "heavy $(SOME)" -n 2 --dist worksteal --durations=15 $(WITHOUT)

test-long: $(VENV)/.tools  ## Suites of half an hour: ten thousand turns of each class deck and backend, a hundred thousand in games, ends by programs
	$(PYTEST) -m long -s

test-faults: $(VENV)/.tools  ## Faults that must not change a result: killed drivers, workers, nodes, full disks; SOME as test-heavy
	$(PYTEST) -m "faults $(SOME)" -n 3 --dist worksteal --durations=15

test-browser: $(VENV)/.extras  ## Pages in Chromium; MANAFORGE_BROWSER_GAMES=300 plays so many games by clicks (6); SOME as test-heavy
	$(PYTEST) -m "browser $(SOME)" -n 2 --dist worksteal --durations=10

nightly: $(VENV)/.extras  ## What .ci/run leaves out (one to two hours on two cores): all modes, faults and pages, more random cases
	rm -f .coverage .coverage.*
	MANAFORGE_NIGHTLY=1 $(COVERAGE) run -m pytest -q -n 2 --dist worksteal
	$(COVERAGE) combine --quiet
	$(COVERAGE) report $(COVERED)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n 2 --dist worksteal -W error::RuntimeWarning tests/ilp_agent tests/rivals tests/contracts
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -n 2 --dist worksteal tests/engine
	MANAFORGE_NIGHTLY=1 $(MAKE) test-heavy
	MANAFORGE_NIGHTLY=1 $(MAKE) test-faults
	MANAFORGE_NIGHTLY=1 $(MAKE) test-browser

MINUTES ?= 30
soak: $(VENV)/.tools  ## Kill and suspend workers for MINUTES (30) while runs play; every run must be the same
	$(BIN)/python -m tests.faults.soak $(MINUTES)

FAULTS ?= 200
planted: $(VENV)/.tools  ## Plant the first FAULTS of 200 small changes, one by one: the share that the fast suite finds (hours; goes on if stopped)
	$(BIN)/python -m tests.planted --seed 1 --n 200 --first $(FAULTS)

check: $(VENV)/.tools  ## Lint, format, import layers, types, known vulnerabilities
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy --strict $(PACKAGES) tools
	$(BIN)/python -m tests.audit

format: $(VENV)/.tools  ## Format, and fix what can be fixed automatically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

cover: $(EDITION_PACKAGE)/.installed  ## Branch coverage of the engine: kernels as Python, their compiler compiled; fails under 95%
	rm -f .coverage .coverage.*
	NUMBA_DISABLE_JIT=1 $(COVERAGE) run -m pytest -W error::RuntimeWarning -q -n 2 --dist worksteal tests/engine tests/rivals/test_hands.py
	$(COVERAGE) run -m pytest -q -n 2 --dist worksteal -m "not nightly" $(OF_THE_COMPILER) tests/engine/test_effects_games.py
	$(COVERAGE) run -m pytest -q -n 2 -m heavy -k generator tests/engine
	$(COVERAGE) combine --quiet
	$(COVERAGE) report --include='engine/*' --fail-under=95

test-reference: $(EDITION_PACKAGE)/.installed  ## Play another engine's recorded steps in MANAFORGE_REFERENCE=DIR and compare
	@if [ -z "$(MANAFORGE_REFERENCE)" ]; then echo "SKIPPED: MANAFORGE_REFERENCE names no folder of records"; else \
	$(PIP_TO) $(REFERENCE_PACKAGE) -r requirements-reference.lock && $(BIN)/python -m tests.oracle \
		"$(MANAFORGE_REFERENCE)" --ours $(EDITION_PACKAGE) --theirs $(REFERENCE_PACKAGE); fi

bench: $(VENV)/.tools  ## Time the kernels, compiled first, one core
	$(BIN)/python -m benchmarks.engine_speed
	$(BIN)/python -m benchmarks.turn_speed
	$(BIN)/python -m benchmarks.card_speed
	$(BIN)/python -m benchmarks.card_programs
	$(BIN)/python -m benchmarks.rival_speed
	$(BIN)/python -m benchmarks.lookahead_speed

PPO_PACKAGE := build/ppo
$(PPO_PACKAGE)/.installed: requirements-ppo.lock | $(VENV)/.extras
	$(PIP_TO) $(PPO_PACKAGE) -r requirements-ppo.lock
	@touch $@

bench-ppo: $(PPO_PACKAGE)/.installed  ## MaskablePPO learns the game (installs torch into build/ppo, some 3 GB)
	PYTHONPATH=$(PPO_PACKAGE) $(BIN)/python -m benchmarks.ppo

published: $(VENV)/.tools  ## Run the published experiments not done yet, and write docs/published.md again (3 to 5 hours)
	$(BIN)/python -m benchmarks.published

docs: $(VENV)/.tools  ## Build the documentation site into site/; warnings and dead links are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict  # with --quiet it counts no warnings

ARGS ?=  # options of JupyterLab, such as --allow-root --no-browser
notebook: $(VENV)/.notebook  ## Open the notebooks in JupyterLab, which it installs with TensorBoard
	$(BIN)/jupyter lab --notebook-dir notebooks $(ARGS)

notebooks: $(VENV)/.tools  ## Run the notebooks on the committed example run and keep their outputs
	$(BIN)/python -m tests.run_notebooks

$(EDITION_PACKAGE)/.installed: requirements-edition-2018-07.lock | $(VENV)/.tools
	$(PIP_TO) $(EDITION_PACKAGE) -r requirements-edition-2018-07.lock
	@touch $@

cards: $(EDITION_PACKAGE)/.installed  ## Generate the card tables in engine/data again from hearthstone-data
	$(BIN)/python -m tools.card_tables build --edition-package $(EDITION_PACKAGE)

lock: $(VENV)/.tools  ## Resolve the lock files again, with hashes and without an index
	$(UV_LOCK) --group build -o requirements.lock
	$(UV_LOCK) --group build --group dev -c requirements.lock -o requirements-dev.lock
	$(UV_LOCK) --group build --extra scip --extra nevergrad --extra pettingzoo --extra openspiel --group browser -c requirements.lock -o requirements-extras.lock
	$(UV_COMPILE) benchmarks/ppo.in -c requirements-extras.lock -o requirements-ppo.lock
	$(UV_LOCK) --group build --extra notebook --extra tensorboard -c requirements-dev.lock -o requirements-notebook.lock

clean:  ## Remove caches and the virtual environment
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage htmlcov dist build site
