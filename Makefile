# Everything runs in .venv, which is made on first use. PYTHON chooses the interpreter it is made from.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .cache/lowest/bin
CORE_TESTS := $(addprefix tests/,data cells numerics identity attribute attacks/differencing utility report/formats) \
	tests/workflow/test_check.py tests/workflow/test_assess.py tests/cli/commands tests/test_demo.py
STAMP := $(VENV)/.installed
PYTEST_ARGS ?= -n auto

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-lowest smoke wheelhouse container lint type site pages bench mutate lock clean

help: ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(STAMP) ## make .venv with the pinned requirements and this package

$(STAMP): requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "sdckit needs Python 3.11 or later; try make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP) ## assess a real survey and write demo-report.html
	@$(BIN)/sdckit demo --report demo-report.html

# Two processes share two cores: a library that divides a small product among threads spends the time waiting.
test: export OPENBLAS_NUM_THREADS := 1
test: export OMP_NUM_THREADS := 1
test: $(STAMP) ## lint, types, import rules and every test
	@mkdir -p .cache
	@# What all tests use is compiled first, where no earlier run has, and so are the tests: processes that begin at one
	@# time would each compile them all. Checks run beside it and beside the tests.
	@$(MAKE) --no-print-directory lint type > .cache/checks.txt 2>&1 & checks=$$!; \
	{ test -d tests/__pycache__ || $(BIN)/python -m pytest --collect-only -qq; } > .cache/collected.txt 2>&1 & \
	compiled=$$!; \
	$(BIN)/sdckit warm-up > .cache/warm-up.txt 2>&1; \
	wait $$compiled; \
	$(BIN)/python -m pytest $(PYTEST_ARGS); tests=$$?; \
	wait $$checks; checked=$$?; cat .cache/checks.txt; test $$tests -eq 0 && test $$checked -eq 0

test-lowest: ## the tests of data, figures and gates on the lowest versions allowed; TESTS chooses
	@mkdir -p .cache && $(PYTHON) .ci/lowest.py > .cache/lowest.txt
	@test -x $(LOWEST)/python || $(PYTHON) -m venv .cache/lowest
	@$(LOWEST)/python -m pip install --quiet --disable-pip-version-check -r .cache/lowest.txt
	@$(LOWEST)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@# Old releases warn of what later ones dropped: here a warning of theirs is no error.
	@PATH="$(CURDIR)/$(LOWEST):$$PATH" $(LOWEST)/python -m pytest -W default $(PYTEST_ARGS) $(or $(TESTS),$(CORE_TESTS))

smoke: $(STAMP) ## build wheel and sdist, install the wheel in an empty environment, run the demo
	@TOOLS=$(BIN)/python PYTHON=$(PYTHON) .ci/smoke

wheelhouse: $(STAMP) ## the wheels with their hashes in dist/air-gapped, for a machine without a network; installs from it
	@$(BIN)/python .ci/wheelhouse.py

container: ## try the steps of the Containerfile without a network, in podman where an image is there; needs wheelhouse
	@$(PYTHON) .ci/try_container.py

lint: $(STAMP) ## ruff and the import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache

type: $(STAMP) ## mypy, strict
	@$(BIN)/mypy

site: $(STAMP) ## build the documentation site into .cache/site/site
	@$(BIN)/python .ci/build_site.py

pages: $(STAMP) ## write the tables of validation.md and performance.md from their results
	@$(BIN)/python .ci/write_pages.py

bench: $(STAMP) ## the benchmarks; each prints ratios
	@for name in assess frequencies subgroups suda models matching utility utility_tables protect perturb synthesis; do \
		$(BIN)/python benchmarks/$$name.py || exit 1; done

mutate: $(STAMP) ## break the code in one place at a time and list what no test sees; ROOMS, SAMPLE, SEED choose
	@nice -n 10 $(BIN)/python .ci/mutate.py $(or $(ROOMS),report workflow protect attacks) \
		--sample $(or $(SAMPLE),50) --seed $(or $(SEED),1)

lock: $(STAMP) ## resolve the dependencies anew into requirements-dev.txt, pylock.toml and the bill of materials
	@$(BIN)/python -m pip install --quiet --dry-run --ignore-installed --report .cache/lock.json \
		--group dev --group site --group wheel -e '.[app,docx,dp,files,spark,duckdb,linkage]'
	@$(BIN)/python .ci/write_lock.py .cache/lock.json requirements-dev.txt
	@# One resolution for all systems, which pip cannot make; at the versions just pinned.
	@$(BIN)/python -m pip install --quiet --upgrade --target .cache/uv uv
	@.cache/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --format pylock.toml \
		--constraint requirements-dev.txt --extra app --extra docx --extra dp --extra duckdb --extra files \
		--output-file .cache/pylock.toml pyproject.toml
	@$(BIN)/python .ci/write_runtime_lock.py .cache/pylock.toml pylock.toml
	@$(BIN)/python .ci/write_sbom.py

clean: ## remove caches and the environment
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
