# Each target needs nothing but python3 and make: it builds .venv when that is
# missing or older than pyproject.toml or the constraints.
PYTHON ?= python3
VENV := .venv
# Where a virtual environment keeps its programs.
PROGRAMS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(PROGRAMS)
OLDEST := .venv-oldest
# Each rival of the benchmarks has an environment of its own, pinned to what it runs on.
RIVALS := $(patsubst benchmarks/rivals/%.txt,.venv-rivals-%,$(wildcard benchmarks/rivals/*.txt))
# Those that ask questions or for labels.
ASKERS := activeml clustering cobras
# Tables and answers of demo-label, which goes on where it was.
PRACTICE := pairlearn-demo-label
# Many small tests on few cores: one BLAS thread each is fastest. Bytecode is kept, also
# where the environment says otherwise: it saves each worker seconds.
PIN := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
export PAIRLEARN_DATA ?= $(wildcard ../shared/data)

.PHONY: help demo demo-label test coverage fuzz test-slow test-oldest lint format bench bench-accuracy bench-ask bench-people bench-gpu bench-reading bench-scale docs clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

demo: $(VENV)/cli.stamp  ## train, orient and certify a classifier from pairs alone
	$(BIN)/pairlearn demo

demo-label: $(VENV)/label.stamp  ## answer questions about practice data on a page in the browser
	@test -f $(PRACTICE)/points.csv || $(BIN)/pairlearn datasets cancer -o $(PRACTICE)
	$(BIN)/pairlearn label $(PRACTICE)/points.csv

test: $(VENV)/dev.stamp  ## the test suite (minutes)
	$(PIN) $(BIN)/python -m pytest -n auto -q

test-slow: $(VENV)/dev.stamp  ## the tests that take longer
	$(PIN) $(BIN)/python -m pytest -n auto -q -m slow

fuzz: $(VENV)/dev.stamp  ## damaged files of each kind and forged models, by the thousand (half an hour)
	$(PIN) $(BIN)/python -m tests.fuzz.flips
	$(PIN) $(BIN)/python -m tests.fuzz.forged

test-oldest: $(OLDEST)/test.stamp  ## the same tests on the oldest supported versions
	$(PIN) $(OLDEST)/$(PROGRAMS)/python -m pytest -n auto -q

coverage: $(VENV)/dev.stamp  ## which lines no test reaches; a page in .coverage-html
	$(PIN) $(BIN)/python -m pytest -n auto -q --cov=pairlearn --cov-report=html:.coverage-html --cov-report=term:skip-covered

lint: $(VENV)/dev.stamp  ## ruff, mypy strict on src, and which room imports which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

format: $(VENV)/dev.stamp  ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench.stamp $(RIVALS:%=%/rival.stamp)  ## solvers, methods and rivals; writes benchmarks/results
	$(PIN) $(BIN)/python -m benchmarks.core
	$(PIN) $(BIN)/python -m benchmarks.methods
	$(PIN) $(BIN)/python -m benchmarks.meta
	$(PIN) $(BIN)/python -m benchmarks.sgd
	$(PIN) $(BIN)/python -m benchmarks.agreement

bench-accuracy: $(VENV)/bench.stamp  ## PairClassifier on the paper's ten tables (hours; goes on where it was)
	$(PIN) $(BIN)/python -m benchmarks.accuracy
	$(PIN) $(BIN)/python -m benchmarks.accuracy --time

bench-ask: $(VENV)/bench.stamp $(ASKERS:%=.venv-rivals-%/rival.stamp)  ## which pairs to ask about: ours, random, other tools (hours; goes on where it was)
	$(PIN) $(BIN)/python -m benchmarks.ask

bench-people: $(VENV)/bench.stamp .venv-rivals-crowd-kit/rival.stamp  ## people who err differently: ours, majority, crowd-kit (hours; goes on where it was)
	$(PIN) $(BIN)/python -m benchmarks.people
	$(PIN) $(BIN)/python -m benchmarks.shared_noise

bench-gpu: $(VENV)/bench.stamp  ## the fused kernel and a whole fit on a CUDA device; writes benchmarks/results
	$(BIN)/python -m benchmarks.gpu

bench-reading: $(VENV)/bench.stamp  ## reading of tables on the command line; writes benchmarks/results
	$(PIN) $(BIN)/python -m benchmarks.reading

bench-scale: $(VENV)/bench.stamp $(RIVALS:%=%/rival.stamp)  ## time and memory against n, m and d, rivals, 40 GB on disk (hours)
	$(BIN)/python -m benchmarks.scale

docs: $(VENV)/docs.stamp  ## the documentation, as docs/_build/index.html
	$(PIN) $(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build

clean:  ## remove everything that the targets above made
	rm -rf .venv* docs/_build docs/gallery .pytest_cache .mypy_cache .ruff_cache .coverage* pairlearn-demo.png $(PRACTICE)

# One environment for all targets; each adds the extra that it needs.
$(VENV)/%.stamp: pyproject.toml constraints.txt
	@echo "building $(VENV) for $*: about a minute, once"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -qq -c constraints.txt -e ".[$*]"
	@touch $@

$(OLDEST)/%.stamp: pyproject.toml constraints-oldest.txt
	@echo "building $(OLDEST): about a minute, once"
	@$(PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/$(PROGRAMS)/pip install -qq -c constraints-oldest.txt -e ".[$*]"
	@touch $@

.venv-rivals-%/rival.stamp: benchmarks/rivals/%.txt
	@echo "building $(@D): about a minute, once"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/$(PROGRAMS)/pip install -qq -r $<
	@touch $@
