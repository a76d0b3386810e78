# The developer's day. Every target does the set-up that it needs itself; `make` alone lists them.

VENV := .venv
RUN_BAZEL := tools/run_bazel.sh
# The progress display is for people; in a log it is hundreds of lines.
BAZEL_FLAGS ?= $(if $(CI),--noshow_progress)
PYTEST_FLAGS ?= -q -rs -n auto
FUZZ_RUNS ?= 200000
CASES ?= 100000
# configuration://tests that run under it
SANITIZED_TESTS ?= asan://tests/... ubsan://tests/... tsan://tests/runtime/...
# Python tests that also run with a plug-in built under a sanitizer
ASAN_PYTHON_TESTS := tests/python/test_interpreter.py tests/python/test_unpack_weights.py \
  tests/interop/test_interop.py
TSAN_PYTHON_TESTS := tests/python/test_threads.py

.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: setup build benchmark-binary cpp-example wheel demo test test-full test-native test-arm test-python test-arm64 fuzz fuzz-files bench \
        bench-compare zoo lint format clean help setup-base setup-cross peers

setup: ## install what building and testing need (quick when all is in place)
	@tools/setup.sh hosts

setup-base:
	@tools/setup.sh base

setup-cross:
	@tools/setup.sh cross

peers: ## install the engines that `make bench` compares with
	@tools/setup.sh peers

build: setup-base ## build the plug-in and copy it into the Python package
	@tools/build_library.sh larq_engine $(BAZEL_FLAGS)

benchmark-binary: setup-base ## build larq_benchmark_model (docs/benchmark_binary.md), for this machine
	@$(RUN_BAZEL) build $(BAZEL_FLAGS) //benchmarks/model:larq_benchmark_model

cpp-example: setup-base ## build run_model of examples/cpp (docs/deployment.md), for this machine
	@$(RUN_BAZEL) build $(BAZEL_FLAGS) //examples/cpp:run_model

wheel: setup-cross ## make wheels for x86-64 and 64-bit ARM (there only its own), for glibc 2.28 and newer, in dist/
	@tools/make_wheels.sh $(if $(filter aarch64,$(shell uname -m)),,x86_64) aarch64

demo: setup build ## convert a Keras model, run it in LiteRT, compare it with Keras and with float
	@$(VENV)/bin/python examples/demo.py

test: setup build test-native test-arm test-python test-arm64 lint ## all tests (samples of the long ones) and lint
	@$(MAKE) --no-print-directory fuzz FUZZ_RUNS=10000
	@echo "make test: all passed"

test-full: export LARQ_ENGINE_TEST_FULL := 1
test-full: ## all tests, the long ones in full length
	@$(MAKE) --no-print-directory test

test-native: setup-base
	@set -e; test="$(RUN_BAZEL) test $(BAZEL_FLAGS)"; \
	echo "== C++ tests"; $$test //tests/...; \
	echo "== C++ tests on lesser CPUs, emulated"; tools/test_lesser_cpus.sh; \
	for run in $(SANITIZED_TESTS); do \
	  echo "== C++ tests under $${run%%:*}"; $$test --config=$${run%%:*} $${run#*:}; \
	done

test-arm: setup-cross ## run the C++ tests as programs for 64-bit and 32-bit ARM, emulated
ifeq ($(shell uname -m),x86_64)
	@echo "== C++ tests for 64-bit ARM, emulated"
	@LARQ_ENGINE_REQUIRE_ISA=portable,neon,dotprod \
	  $(RUN_BAZEL) test $(BAZEL_FLAGS) --config=aarch64 //tests/...
	@echo "== C++ tests on several 64-bit ARM CPUs, emulated"
	@tools/test_arm_cpus.sh
	@echo "== C++ tests for 32-bit ARM, emulated"
	@LARQ_ENGINE_REQUIRE_ISA=portable $(RUN_BAZEL) test $(BAZEL_FLAGS) --config=armv7 //tests/...
else
	@echo "== C++ tests for ARM, emulated: not run, this is no x86-64"
endif

test-python: setup build benchmark-binary cpp-example
	@echo "== Python tests"
	@$(VENV)/bin/python -m pytest $(PYTEST_FLAGS) $(if $(LARQ_ENGINE_TEST_FULL),--full)
	@if [ -e .venv-tflite-runtime/.setup-tflite-runtime ]; then \
	  echo "== Python tests in tflite_runtime"; \
	  LARQ_ENGINE_REQUIRE_HOSTS=tflite_runtime \
	    .venv-tflite-runtime/bin/python -m pytest -q -rs -p no:cacheprovider -k tflite_runtime \
	    tests/interop tests/python; \
	elif [ -n "$$LARQ_ENGINE_REQUIRE_TFLITE_RUNTIME" ]; then \
	  echo "error: tflite_runtime is required here and not installed" >&2; exit 1; \
	else \
	  echo "== Python tests in tflite_runtime: not run, no wheel for this Python"; \
	fi
	@echo "== Python tests with the plug-in under asan, in LiteRT"
	@tools/test_sanitized_plugin.sh asan $(ASAN_PYTHON_TESTS) -k "not tensorflow and not tflite_runtime"
	@echo "== Python tests with the plug-in under tsan: interpreters in four threads"
	@tools/test_sanitized_plugin.sh tsan $(TSAN_PYTHON_TESTS)

test-arm64: setup build ## test the aarch64 wheel in emulated Python
	@tools/setup.sh arm64
	@echo "== aarch64 wheel in emulated Python and LiteRT"
	@tools/test_arm64.sh $(PYTEST_FLAGS)

fuzz: setup-base ## feed FUZZ_RUNS (200000) made-up models to the plug-in under sanitizers
	@echo "== Fuzzing, $(FUZZ_RUNS) cases"
	@tools/fuzz.sh $(FUZZ_RUNS) $(BAZEL_FLAGS)

fuzz-files: setup build ## run CASES (100000) mutated model files in LiteRT, with the check and without
	@echo "== Mutated files through larq_engine.Interpreter"
	@$(VENV)/bin/python -m tests.fuzz.files --cases $(CASES) --mode checked
	@echo "== Mutated files in a stock interpreter with the plug-in"
	@$(VENV)/bin/python -m tests.fuzz.files --cases $(CASES) --mode bare

bench: setup build $(if $(filter-out kernels,$(or $(PARTS),all)),peers) ## measure against other engines: PARTS="kernels convs grid models" RESULTS=folder
	@$(RUN_BAZEL) build $(BAZEL_FLAGS) //benchmarks/kernels:bgemm_bench
	@$(VENV)/bin/python -m benchmarks $(PARTS) $(if $(RESULTS),--results $(RESULTS)) $(BENCH_FLAGS)

bench-compare: setup-base ## compare two results: A=before.json B=after.json
	@$(if $(and $(A),$(B)),,$(error expected A=before.json B=after.json, files of the same name \
	  from two folders that `make bench RESULTS=FOLDER` wrote))
	@$(VENV)/bin/python -m benchmarks.compare $(A) $(B)

zoo: setup build ## convert the models of larq_zoo, checked against Keras; prints the tables of docs/zoo.md
	@$(VENV)/bin/python -m benchmarks.zoo $(ZOO_FLAGS)

lint: setup-base ## check style, types and layering
	@tools/lint.sh check

format: setup-base ## correct what can be corrected of style
	@tools/lint.sh fix

clean: ## remove everything that was built (the environments stay)
	@[ ! -e bazel-out ] || $(RUN_BAZEL) clean
	@rm -rf larq_engine/liblarq_engine.so .build dist *.egg-info .pytest_cache .mypy_cache \
	  .ruff_cache
	@find larq_engine tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
