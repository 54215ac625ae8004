# One word, one job; each target sets up what it needs. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two processes of pytest, each with whole files: `make test SIDE_BY_SIDE=` has one.
SIDE_BY_SIDE := -n 2 --dist loadgroup --no-loadscope-reorder
# What `make develop` builds, found before the installed wheel, and by every process started.
DEVELOPED := target/developed
WITH_DEVELOPED := PYTHONPATH=$(CURDIR)/$(DEVELOPED)
# Links against the C library of older systems.
ZIG := 0.17.1
# A check draws fewer cases of those that are drawn at random, and asks smaller relations.
FEWER := PROPTEST_CASES=64 LODE_PROGRAMS=8 LODE_ROWS=100
# Each of these tests, named by a part of its name, takes some ten seconds alone: not in a check.
SLOW_IN_RUST := crashes::after_every_crash a_changed_byte_is_seen tactics_change_no_contents \
  mirror::kills::killed_while mirror::crashes::with_one_copy every_operation_of_19 \
  no_answer_depends_on_substitution a_constant_of_the_other_type spilling_changes_no_answer \
  storing_a_relation_spills every_client_leaves_what
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
PYTHON_SOURCES := $(shell find python -type f -not -name '*.pyc' -not -name '*.so') pyproject.toml

.DEFAULT_GOAL := help
.PHONY: run test fast fast-rust fast-python check develop format lint types bench calibrate \
  torture chance fuzz miri wheel wheel-older lode clean help

run: $(VENV)/.installed ## set everything up, run the default benchmark, write the report
	$(BIN)/loadstone run

test: $(VENV)/.installed $(VENV)/.tools ## run all tests of both languages
	PROPTEST_RNG_SEED=1983 cargo test --workspace --locked --quiet
	$(BIN)/python -m pytest $(SIDE_BY_SIDE)

check: format lint types fast ## format, lint, types, fast: before each commit

# Both languages side by side: either waits for disks and processes for a third of its time.
fast: develop ## run all tests but those that are slow
	$(MAKE) --no-print-directory --jobs 2 --output-sync=target fast-rust fast-python

fast-rust:
	PROPTEST_RNG_SEED=1983 $(FEWER) cargo test --workspace --locked --quiet --lib --tests \
	  -- $(addprefix --skip ,$(SLOW_IN_RUST))

fast-python:
	$(WITH_DEVELOPED) $(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not slow" --prepared

# Always: what is stale Cargo decides, and no file's time. The old build goes first, so that
# where this one fails no test finds another.
develop: $(VENV)/.tools ## build what the tests of a check run on, quicker than the wheel
	rm -rf $(DEVELOPED)
	$(BIN)/maturin build --profile develop --locked --quiet --auditwheel skip \
	  --compression-method stored --out $(DEVELOPED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --target $(DEVELOPED) $(DEVELOPED)/*.whl

format: $(VENV)/.tools ## check the formatting
	cargo fmt --all --check
	$(BIN)/ruff format --check .

lint: $(VENV)/.tools ## run clippy and ruff; warnings are errors
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	cargo clippy -p loadstone-python --no-default-features --locked --quiet -- -D warnings
	$(BIN)/ruff check .

types: develop ## run mypy, and compare the stub with the binary
	$(BIN)/mypy
	$(WITH_DEVELOPED) $(BIN)/python -m mypy.stubtest loadstone._core

bench: $(VENV)/.installed $(VENV)/.tools ## measure our speed beside our peers'
	$(BIN)/python selfbench/bench.py

calibrate: $(VENV)/.installed $(VENV)/.tools ## plant differences, and count those found
	$(BIN)/python selfbench/calibrate.py

torture: ## test lode: a million histories, 300,000 crashes, 10,000 programs, all tactics
	LODE_HISTORIES=1000000 LODE_MIRRORED_HISTORIES=100000 \
	  cargo test -p lode --release --locked --lib simulation:: -- --nocapture
	LODE_CRASH_IMAGES=100000 LODE_MIRROR_IMAGES=10000 LODE_MIRROR_KILLS=30 LODE_RUNS=5000 \
	  cargo test -p lode --release --locked \
	  --test reliability --test transactions --test mapped -- --include-ignored --show-output
	cargo test -p loadstone-clients --release --locked --test rhino -- --include-ignored
	LODE_PROGRAMS=5000 cargo test -p lode-query --release --locked --test differential \
	  -- --show-output

chance: develop ## run the tests that draw at random, with fresh seeds
	cargo test --workspace --locked --quiet
	$(WITH_DEVELOPED) $(BIN)/python -m pytest -m random --seed random --tries 2000 --kills 30

fuzz: ## run each fuzz target for a minute (needs a nightly toolchain and cargo-fuzz)
	cd fuzz && for target in $$(cargo +nightly fuzz list | grep -v canary); do \
	  cargo +nightly fuzz run $$target -- -max_total_time=60 || exit 1; done

miri: ## hold lode's pages against Rust's memory model (needs a nightly toolchain with miri)
	cargo +nightly miri test -p lode --lib --locked -- \
	  buffer::tests::frames view::tests disk::destination

wheel: $(VENV)/.base ## build the wheel into dist/
	$(BIN)/maturin build --release --locked --out dist

lode: $(VENV)/.base ## build the wheel of lode alone, which needs no other package, into dist/
	cd embedded && ../$(BIN)/maturin build --release --locked --out ../dist

wheel-older: $(VENV)/.base ## build the wheel for systems from glibc 2.28 on, linked by zig
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang==$(ZIG)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --locked --zig \
	  --compatibility manylinux_2_28 --out dist

clean: ## remove all build outputs (records and reports in runs/ stay)
	rm -rf $(VENV) target dist

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The environment: runtime libraries first, so that `make run` installs no developer's tools.
$(VENV)/.base: requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11+ is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@touch $@

$(VENV)/.tools: $(VENV)/.base requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	@touch $@

$(VENV)/.installed: $(VENV)/.base $(RUST_SOURCES) $(PYTHON_SOURCES)
	rm -rf target/wheels
	@touch $@.begun
	$(BIN)/maturin build --release --locked --quiet --out target/wheels
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
	  target/wheels/*.whl
	@mv $@.begun $@  # what changed meanwhile is newer
