# SPDX-License-Identifier: MIT
# usage: make [target] [PYTHON=python3.12] [DEVICE=lavapipe] [JOBS=2]
#   setup      system packages (where missing), .venv with guestgpu and all it needs; nothing when all is right
#   demo       setup, then the main experiment in its quick form (the default)
#   check      C tests, lint, and the tests that are not slow: about two minutes
#   test       everything but the deep tests, as CI runs it
#   test-deep  test, then the tests that take minutes each and longer fuzzing
#   format     rewrites C and Python files in the project's style
#   docs       HTML into docs/_build/html
#   clean      removes what was built; .venv stays. distclean removes .venv as well
# Parts of test: test-c, test-fuzz, lint, test-python. SYSTEM=skip leaves system packages alone.

# The distribution's Python goes with its packages; the one on PATH when that is too old for us.
recent = import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell /usr/bin/python3 -c '$(recent)' 2>/dev/null && echo /usr/bin/python3 || echo python3)
DEVICE ?= lavapipe
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 5
FUZZ_LONG ?= 60
SYSTEM ?= install
venv := .venv
bin := $(venv)/bin
pip := $(bin)/python -m pip --disable-pip-version-check --no-input --quiet
c := $(MAKE) --no-print-directory -C csrc -j$(JOBS) CLANG_FORMAT=$(CURDIR)/$(bin)/clang-format

.PHONY: demo setup system meshes check test test-c test-fuzz lint test-python test-deep format docs clean distclean
.DEFAULT_GOAL := demo

demo: setup
	$(bin)/guestgpu run layout_compare --quick

setup: system $(venv)/built
	@echo "setup: ready; . $(bin)/activate puts guestgpu on the PATH"

# Real meshes for the tests, out of a distribution package; nothing when they are there.
meshes:
	@scripts/fetch-meshes.sh

system:
ifneq ($(SYSTEM),skip)
	@scripts/setup-system.sh --check || scripts/setup-system.sh
endif

$(venv)/installed: pyproject.toml setup.py | system
	@$(PYTHON) -c '$(recent)' || { echo "setup: $(PYTHON) is older than Python 3.11; set PYTHON" >&2; exit 1; }
	@echo "setup: $(venv) with $$($(PYTHON) --version); the first time pip takes a minute or two"
	@[ -x $(bin)/python ] || $(PYTHON) -m venv $(venv)
	@$(pip) install 'setuptools>=77' 'cffi>=1.16'
	@$(pip) install --no-build-isolation --editable '.[all]'
	@touch $@ $(venv)/built

# Editing C, a header or the build rebuilds the extensions only; installing has just built them.
inputs := python/ffi_build.py setup.py csrc/Makefile csrc/gpu_libs.sh \
    $(wildcard include/guestgpu/*.h csrc/*/*.[ch] csrc/*/*.def csrc/*/*/*.def)
$(venv)/built: $(venv)/installed $(inputs)
	@[ -e $@ ] && [ -z "$$(find $(inputs) -newer $@)" ] || { echo "setup: building the extensions" && \
	    $(bin)/python setup.py --quiet build_ext --inplace && touch $@; }

check: setup meshes lint
	@$(c) check
	GUESTGPU_REQUIRE_DEVICE=$(DEVICE) $(bin)/pytest -q -m 'not deep and not slow'

test: setup lint test-c test-fuzz test-python
	@echo "test: all passed"

test-c:
	@for cc in gcc clang; do for config in debug release; do \
	    echo "test-c: $$config $$cc"; $(c) config=$$config CC=$$cc all check || exit 1; done; done
	@echo "test-c: tsan gcc"; $(c) config=tsan CC=gcc check

test-fuzz:
	@$(c) fuzz-run SECONDS=$(FUZZ_SECONDS) LONG=$(FUZZ_LONG)

lint: setup
	@$(c) format-check
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/mypy

# The sanitizers' run of the C tests is one of these: tests/test_c.py.
test-python: setup meshes
	GUESTGPU_REQUIRE_DEVICE=$(DEVICE) $(bin)/pytest -q

test-deep: test
	@$(c) fuzz-run SECONDS=120 LONG=600
	GUESTGPU_REQUIRE_DEVICE=$(DEVICE) $(bin)/pytest -q -m deep

format: setup
	@$(c) format
	$(bin)/ruff check --fix --quiet .
	$(bin)/ruff format .

docs: setup
	$(bin)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs: docs/_build/html/index.html"

clean:
	rm -rf build dist csrc/build docs/_build python/guestgpu/*.so $(venv)/built
distclean: clean
	rm -rf $(venv) python/*.egg-info
