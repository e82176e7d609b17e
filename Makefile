# `make` lists the targets. STACK=<env>-<region> selects another stack than the default.
STACK ?= dev-westus2
BASE ?= origin/main
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The environment is as new as the pins it was made from.
READY := $(VENV)/.ready
# Each run starts dozens of Python processes. Container images that set this would make each of them compile its modules.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help up preview pr-preview down status test test-profile test-deep deep unit property coverage host simulator lint policies format types
.PHONY: bench figures docs docs-serve docs-reference part clean pins

help: ## list the targets
	@echo "make TARGET [STACK=<env>-<region>], by default $(STACK)"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# REQUIREMENTS=requirements-deploy.txt installs what `physai` needs, without the packages for development.
REQUIREMENTS ?= requirements-dev.txt
DISTRIBUTIONS := pyproject.toml workbench/pyproject.toml simulator/pyproject.toml
# The program comes first of the three: an older one in the environment has the command that the workbench brings now, and
# takes it along when it is replaced.
$(READY): $(REQUIREMENTS) $(DISTRIBUTIONS)
	@$(PYTHON) -c 'import sys; sys.exit(f"Python 3.11 or newer is needed; {sys.executable} is {sys.version.split()[0]}. Try: make PYTHON=python3.12 …" if sys.version_info < (3, 11) else 0)'
	@echo "making the Python environment $(VENV), once" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m simulator.tools --packages $(REQUIREMENTS) $(if $(WITH_TOOLS),,--no-tools)
	@echo "installing physai from this checkout" >&2
	@for own in . workbench simulator; do \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable $$own || exit 1; done
	@conflicts=$$($(BIN)/python -m pip --disable-pip-version-check check) || { echo "$$conflicts" >&2; exit 1; }
	@touch $@

# The engine and the control plane need no Python packages, so they are installed beside these; a failure is reported by
# the command that needs them.
up preview simulator: WITH_TOOLS := yes

# A workflow on two platforms, which the default stack has.
SAMPLE := workbench/osmo/samples/train-and-evaluate.yaml

up: $(READY) ## deploy STACK into the simulator, run a workflow on the default one, and show it
	@$(BIN)/physai up $(STACK) $(if $(filter dev-westus2,$(STACK)),--run $(SAMPLE))

preview: $(READY) ## show what `make up` would change
	@$(BIN)/physai preview $(STACK)

pr-preview: $(READY) ## what the checkout does to each stack it affects, from BASE on, as in a comment on GitHub
	@$(BIN)/physai pr-preview --base $(BASE)

down: $(READY) ## destroy the simulated STACK; the cache and .venv stay
	@$(BIN)/physai down $(STACK)

status: $(READY) ## show the simulated STACK
	@$(BIN)/physai status $(STACK)

# Tests share clusters and recordings within a worker, and the longest begin first. Many wait for real processes, so
# there are more workers than cores where those are among them.
PYTEST := $(BIN)/python -m pytest --dist loadgroup --no-loadscope-reorder

test: $(READY) ## every check, types among them, and every behaviour tested once (minutes)
	@$(MAKE) --no-print-directory --jobs=4 --output-sync=target lint docs tools
	@$(PYTEST) tests -n 3

test-profile: $(READY) ## the tests of `make test`, and which of them take its processor time (minutes)
	@$(PYTEST) tests -n 2 -p tests.support.cpu_profile

test-deep: test deep ## `make test`, then what it leaves out (an hour)

deep: $(READY) ## what `make test` leaves out: all examples, rare failures, and faults that tests have to find
	@$(PYTEST) tests/host tests/simulator -n 3 -m deep
	@$(PYTEST) tests/unit tests/property -n 2 -m "" --hypothesis-profile deep
	@$(BIN)/python -m tests.mutations

unit: $(READY) ## unit tests (a minute)
	@$(PYTEST) tests/unit tests/test_imports.py -n 2

property: $(READY) ## property tests (a minute)
	@$(PYTEST) tests/property -n 2

# Percent of lines and branches that unit and property tests have to reach in each package that decides or declares.
FLOOR := 97
COVERED := components parts physical_ai/catalog workbench/policies physical_ai/settings

coverage: $(READY) ## unit and property tests, and what they leave out; each package has to reach the floor (minutes)
	@$(PYTEST) tests/unit tests/property -n 2 --cov --cov-report=term
	@for package in $(COVERED); do \
	  $(BIN)/coverage report --include="$$package/*" --format=total | sed "s/$$/ % of $$package/"; \
	  $(BIN)/coverage report --include="$$package/*" --fail-under=$(FLOOR) >/dev/null || \
	    { echo "the floor is $(FLOOR) %" >&2; exit 1; }; done

host: $(READY) ## tests with real processes: the GRID agent on separate nodes (as root), the shutdown helper
	@$(PYTEST) tests/host -n 4

simulator: $(READY) tools ## tests with the real engine and a real API server
	@$(PYTEST) tests/simulator -n 3

.PHONY: wheels
wheels: $(READY) ## build the wheels of the three distributions into dist/
	@for own in . workbench simulator; do (cd $$own && $(CURDIR)/$(BIN)/python -m hatchling build -t wheel -d $(CURDIR)/dist) || exit 1; done

# TAG=v1.2.3 where the tag has been made: then nothing may be left to write.
.PHONY: release version
release: $(READY) ## rehearse a release: its files into dist/, nothing published, and what is left to write
	@$(BIN)/python -m docs.generator.release $(if $(OUTPUT),--output $(OUTPUT)) $(if $(TAG),--tag $(TAG))

version: $(READY) ## write VERSION=1.2.3 into all places that have the version [DAY=2026-12-31: the day of its release]
	@[ -n "$(VERSION)" ] || { echo 'write make version VERSION=1.2.3' >&2; exit 2; }
	@$(BIN)/python -m docs.generator.release --version $(VERSION) $(if $(DAY),--day $(DAY))

.PHONY: tools
tools: $(READY) ## build the commands that the simulator runs, and Prometheus for the tests, once
	@$(BIN)/physai tools --telemetry

# Commands that a deployment from this machine runs, in one folder for PATH.
AZURE := $(CURDIR)/$(VENV)/azure
.PHONY: azure-tools
azure-tools: $(READY) ## Pulumi with its plugins, and kubelogin, from verified archives: for a deployment from this machine
	@$(BIN)/python .github/scripts/pulumi_programs.py record
	@pulumi=$$($(BIN)/python .github/scripts/pulumi_programs.py install $(VENV)/pulumi) \
	  && others=$$($(BIN)/physai tools --delivery) && mkdir -p $(AZURE) \
	  && for folder in $$pulumi $$others; do ln -sf "$$(realpath $$folder)"/* $(AZURE)/ || exit 1; done \
	  && ln -sf $(CURDIR)/$(BIN)/physai $(AZURE)/
	@echo 'export PATH="$(AZURE):$$PATH"'

lint: $(READY) ## style
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/shellcheck .ci/run agents/nccl_ranks/start.sh $$(grep -lE '^#!/bin/sh|shellcheck shell=sh' tests/host/fakes/*)
	@$(BIN)/python -m tests.support.lint_github_workflows
	@$(BIN)/python -m tests.support.lint_docstrings
	@$(BIN)/python -m tests.support.lint_language

policies: $(READY) ## hold the policies to what every stack declares
	@for file in stacks/Pulumi.*.yaml; do \
	  stack=$${file#stacks/Pulumi.}; $(BIN)/physai policy $${stack%.yaml} || exit 1; done

format: $(READY) ## put every file into the one format
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format --quiet .

types: $(READY) ## types, of the files that may have changed since they passed
	@$(BIN)/python -m tests.type_check

bench: $(READY) ## the benchmarks, minutes each
	@for file in tests/benchmarks/bench_*.py; do $(BIN)/python $$file || exit 1; done

# Files that the pages link to, other than pages.
LINKED := values/*.md agents/*/*.md tests/fixtures/osmo/README.md \
  workbench/osmo/samples/*.yaml stacks/layers/*/*.yaml stacks/*.yaml physical_ai/catalog/data/charts/*.yaml \
  physical_ai/telemetry/data/dashboards/*.json
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs

# The script that draws diagrams, fetched once for an environment.
MERMAID := $(VENV)/mermaid.min.js
$(MERMAID): docs/generator/site_script.py | $(READY)
	@$(BIN)/python -m docs.generator.site_script $@

docs: $(READY) site-source $(MERMAID) ## build the pages as a local site, .site/html/index.html; fails on broken links
	@$(MKDOCS) build --quiet --strict
	@[ ! -e $(MERMAID) ] || cp $(MERMAID) .site/html/assets/
	@echo "$(CURDIR)/.site/html/index.html"

docs-serve: docs ## serve the site at http://127.0.0.1:8000, with search
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory .site/html 8000

figures: $(READY) ## print the sizes of distributions, parts and packages, the imports between them, and the time of each part's tests (minutes)
	@$(BIN)/python -m docs.generator.package_numbers --tests

part: $(READY) ## write the skeleton of an optional part, NAME=fluent_bit VERSION=1.2.3 [CHART=fluent-bit], or list its faults
	@[ -n "$(NAME)" ] || { echo 'write make part NAME=fluent_bit VERSION=1.2.3' >&2; exit 2; }
	@$(BIN)/python -m docs.generator.part_skeleton $(NAME) $(if $(CHART),--chart $(CHART)) $(if $(VERSION),--version $(VERSION))

docs-reference: $(READY) ## regenerate the pages, drawings and schemas from the code
	@$(BIN)/python -m docs.generator
	@$(BIN)/python -m docs.generator.dashboards
	@$(BIN)/python -m tests.support.grid_agent_states
	@$(BIN)/python -m tests.host.document
	@$(BIN)/physai schema

.PHONY: site-source
site-source:
	@rm -rf .site/source && mkdir -p .site/source
	@cp -r --parents *.md LICENSE docs $(LINKED) .site/source && rm -rf .site/source/docs/generator

NOT_OURS := --no-emit-package physical-ai --no-emit-package physical-ai-simulator
pins: ## resolve requirements*.txt again from the three pyproject.toml
	@$(PYTHON) -m venv $(VENV)-pins && $(VENV)-pins/bin/pip install --quiet uv==0.13.9
	@$(VENV)-pins/bin/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 pyproject.toml -o requirements.txt
	@$(VENV)-pins/bin/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 $(DISTRIBUTIONS) --extra dev --extra build $(NOT_OURS) --constraints requirements.txt -o requirements-dev.txt
	@$(VENV)-pins/bin/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 $(DISTRIBUTIONS) --extra build $(NOT_OURS) --constraints requirements-dev.txt -o requirements-deploy.txt
	@rm -rf $(VENV)-pins

clean: ## remove the Python environment; `make down` removes simulations
	@rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .site .coverage
