# `make demo` and `make test` need Python 3.11 or newer and make; the first run creates .venv from the pinned lists.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
SECONDS ?= 20
PYTEST_ARGS ?=
WEB_ARGS ?=

# Runs on one machine stay on that machine.
export ROS_AUTOMATIC_DISCOVERY_RANGE := LOCALHOST
export OMP_NUM_THREADS ?= 1

.PHONY: demo teleop test lint docs clean

demo: $(VENV)/.demo-ready
	$(BIN)/mimicik demo --seconds $(SECONDS)

teleop: $(VENV)/.web-ready
	$(BIN)/mimicik web --fake-arm $(WEB_ARGS)

test: $(VENV)/.test-ready
	$(BIN)/python -m pytest test $(PYTEST_ARGS)

lint: $(VENV)/.test-ready
	$(BIN)/ruff check .
	$(BIN)/mypy mimicik_ros/core mimicik_ros/config.py mimicik_ros/share.py

docs: $(VENV)/.test-ready
	$(BIN)/python -m mimicik_ros.cli.docs

clean:
	rm -rf $(VENV) build install log dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache demo_out

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "error: no python3 found; install Python 3.11 or newer, or set PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: the pinned lists need Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -c 'import ensurepip' \
	  || { echo "error: $(PYTHON) has no ensurepip; on Debian or Ubuntu: apt install python3-venv"; exit 2; }
	$(PYTHON) -m venv $(VENV)

# Editable, so that a change of the code needs no second installation.
$(VENV)/.demo-ready: requirements.txt setup.py mimicik_ros/__init__.py | $(BIN)/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/.web-ready: requirements-test.txt $(VENV)/.demo-ready
	$(BIN)/python -m pip install -q --disable-pip-version-check -c requirements-test.txt -e '.[web]'
	@touch $@

$(VENV)/.test-ready: requirements-test.txt $(VENV)/.demo-ready
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements-test.txt
	@touch $@
