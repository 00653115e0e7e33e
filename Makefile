# make demo and make test work on a machine that has only Python 3.11+ and Java 17+: each first makes .venv and installs what the locks name.

SHELL    := bash
VENV     := .venv
BIN      := $(VENV)/bin
PYTHON   ?=
NAME     ?=
LOCKS    := requirements/build.lock requirements/all.lock
STAMP    := $(VENV)/.installed
PEERS    := $(VENV)/.peers-installed
INSTALL  := $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off
# pip says a lot; this keeps what takes time
PROGRESS := awk '/Downloading .* MB\)/ { print "  fetching", $$2, $$3, $$4; fflush() } \
                 /Building wheel for .* started/ { print "  building", $$4; fflush() } \
                 /^Installing collected/ { print "  unpacking"; fflush() }'

# two processes, of which one has all tests that need Spark
TOGETHER := --numprocesses 2 --dist loadscope --no-loadscope-reorder

# hashes of every platform's files, and no index address: the user's own pip configuration says where packages come from
LOCK_OPTIONS := --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock"

.PHONY: help demo style quick test test-long bench lock

help:
	@echo "make demo       run a query on Spark over three small streams and show its matches; make demo NAME=stocks, NAME=tsunami, NAME=city, NAME=viewers: others"
	@echo "make test       style, types, layers, then all tests"
	@echo "make quick      the same without Spark and without random cases, in three minutes"
	@echo "make test-long  the same with many more random cases, kills and a cluster (THENCE_CASES=20000 make test-long)"
	@echo "make bench      measure"
	@echo "make lock       renew the locks from pyproject.toml"

demo: $(STAMP)
	@$(BIN)/thence demo $(NAME)

style: $(STAMP)
	@echo "ruff" && $(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
	@echo "mypy" && $(BIN)/mypy --no-error-summary
	@echo "import-linter" && $(BIN)/lint-imports --no-logo

quick: style
	@echo "pytest, without Spark and random cases"
	@$(BIN)/python -m pytest $(TOGETHER) --quick

test: style
	@echo "pytest, compiled code with bounds checked"
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/numba-boundscheck $(BIN)/python -m pytest $(TOGETHER) -m numba
	@echo "pytest"
	@$(BIN)/python -m pytest $(TOGETHER)

test-long:
	@THENCE_CASES=$${THENCE_CASES:-2000} $(MAKE) --no-print-directory test

bench: $(STAMP) $(PEERS)
	@set -e; for script in bench/*.py; do echo "$$script"; $(BIN)/python $$script; done

lock: $(STAMP)
	@$(INSTALL) --quiet "uv>=0.9"
	@printf 'pip\nsetuptools>=77\n' | $(BIN)/uv pip compile - $(LOCK_OPTIONS) -o requirements/build.lock
	@$(BIN)/uv pip compile pyproject.toml --extra spark --extra dev $(LOCK_OPTIONS) -o requirements/all.lock
	@$(BIN)/uv pip compile pyproject.toml --extra spark --extra dev --extra bench --constraint requirements/all.lock $(LOCK_OPTIONS) -o requirements/bench.lock

$(STAMP): pyproject.toml $(LOCKS) | $(BIN)/pip
	@echo "Installing into $(VENV): a minute or two the first time (Spark alone is 400 MB)"
	@$(INSTALL) --quiet --require-hashes -r requirements/build.lock
	@# no build isolation: Spark comes as source, and is built by the setuptools that the lock names, not by whatever is newest
	@set -o pipefail; $(INSTALL) --require-hashes --no-build-isolation -r requirements/all.lock | $(PROGRESS)
	@$(INSTALL) --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# what only make bench needs: systems to be measured beside
$(PEERS): requirements/bench.lock | $(STAMP)
	@$(INSTALL) --quiet --require-hashes --no-build-isolation -r requirements/bench.lock
	@touch $@

$(BIN)/pip:
	@python=; for candidate in $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python); do \
	  if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "Thence needs Python 3.11 or later and found none. Install one, or name it: make demo PYTHON=/path/to/python3.12" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$($$python --version)"; \
	$$python -m venv $(VENV) || { \
	  echo "Python's venv module is incomplete here. On Debian and Ubuntu: sudo apt-get install python3-venv" >&2; exit 1; \
	}
