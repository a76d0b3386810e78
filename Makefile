# The developer's day. Every target does the set-up that it needs itself; `make` alone lists them.

VENV := .venv
RUN_BAZEL := tools/run_bazel.sh
# The progress display is for people; in a log it is hundreds of lines.
BAZEL_FLAGS ?= $(if $(CI),--noshow_progress)
FUZZ_RUNS ?= 200000
CASES ?= 100000

.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: demo build web release release-pins wheel docs pictures benchmark-binary cpp-example test test-changed test-all test-rest test-full lint format fuzz fuzz-files bench \
        bench-compare bench-docs gpu-bundle gpu-check gpu-docs zoo setup setup-base setup-keras setup-hosts setup-torch setup-fuzzer \
        setup-browser setup-emscripten setup-web setup-speech setup-micro setup-verilog setup-fpga setup-emulators setup-cross setup-cuda setup-ray setup-docs setup-windows peers web-peers clean help

##@ See what it does

demo: setup-keras build ## convert a Keras model, run it in LiteRT, compare it with Keras and with float (first: 2 GB, minutes)

##@ Make what others use

build: setup-base ## build the plug-in and copy it into the Python package
web: setup-emscripten ## build the package for browsers and Node, in web/, and copy it to where pages take it (docs/browser.md)
release: setup-cross setup-cuda setup-emscripten setup-windows ## make wheels, source archive, hashes, SBOMs and provenance, and check them all: PYTHONS="3.11 3.12"
release-pins: ## write the versions and hashes of what builds a release anew
wheel: setup-cross setup-cuda setup-emscripten ## make wheels for x86-64 and ARM of 64 and 32 bits (on ARM only its own), for glibc 2.28 and newer, in dist/
benchmark-binary: setup-base ## build larq_benchmark_model (docs/benchmark_binary.md), for this machine
cpp-example: setup-base ## build run_model of examples/cpp (docs/deployment.md), for this machine
docs: setup-docs build web ## make the documents a site, in .build/site, with a live page
pictures: setup-base setup-browser ## draw the documents' pictures anew, from results in the repository

##@ Test a change

test: ## lint, C++ and Python tests that take minutes; says what it did not run
test-changed: ## the stages of all tests that the paths that differ from main concern
test-all: ## all tests: `make test`, TensorFlow, sanitizers, emulated CPUs, fuzzing, Windows in Wine
test-rest: ## what test-all has beyond test, without what releases alone need
test-full: ## test-all, with every case of the tests that run a sample
lint: setup-base ## check style, types and layering
format: setup-base ## correct what can be corrected of style
fuzz: setup-fuzzer ## feed FUZZ_RUNS (200000) made-up models to the plug-in under sanitizers
fuzz-files: setup-base build ## run CASES (100000) mutated model files in LiteRT, with the check and without

##@ Measure

bench: setup-base ## measure against other engines: PARTS="kernels convs models web" RESULTS=folder
bench-compare: setup-base ## compare results: B=after.json, and A=before.json or what is kept of such cores
bench-docs: setup-base ## write the kept results of benchmarks into docs/performance.md and docs/browser_performance.md
gpu-bundle: setup-hosts setup-cuda ## put all that gpu-check needs into .gpu, where there is no GPU: BASELINE=commit to compare with
gpu-check: ## ask a GPU all that only a GPU can answer: RESULTS=folder STEPS="contract peaks" SECONDS=540; after gpu-bundle
gpu-docs: ## write what gpu-check found into docs/gpu_results.md: RESULTS=folder (docs/gpu_results)
zoo: setup-hosts build ## convert the models of larq_zoo, checked against Keras; prints the tables of docs/zoo.md

##@ Keep house

setup: setup-hosts setup-torch setup-fuzzer setup-browser setup-emscripten setup-web setup-speech setup-micro setup-verilog setup-emulators setup-cross setup-cuda setup-ray setup-windows ## install all that building and testing need (quick when all is in place)
peers: ## install the engines that `make bench` compares with
web-peers: ## install those for browsers
setup-cuda: ## install NVIDIA's compiler (280 MB): then `make build` makes the kernels for GPUs as well
clean: ## remove what was built; environments, demo/, and what you copied or measured elsewhere stay
help: ## list the targets

# ---- How -----------------------------------------------------------------------------------------

setup-base setup-keras setup-hosts setup-torch setup-fuzzer setup-browser setup-emscripten setup-web setup-speech setup-micro setup-verilog setup-fpga setup-emulators setup-cross setup-cuda setup-ray setup-docs setup-windows:
	@tools/setup.sh $(@:setup-%=%)

peers web-peers:
	@tools/setup.sh $@

demo:
	@$(VENV)/bin/python examples/demo.py

build:
	@tools/build_library.sh larq_engine $(BAZEL_FLAGS)

web:
	@tools/build_web.sh $(BAZEL_FLAGS)
	@tools/copy_web_engine.sh larq_engine/web_export/engine

wheel:
	@tools/make_wheels.sh manylinux_2_28_aarch64 \
	  $(if $(filter x86_64,$(shell uname -m)),manylinux_2_28_x86_64 manylinux_2_28_armv7l)

release:
	@$(VENV)/bin/python tools/release/make_release.py $(if $(PYTHONS),--pythons $(PYTHONS))

release-pins:
	@tools/release/pin.sh

benchmark-binary:
	@$(RUN_BAZEL) build $(BAZEL_FLAGS) //larq_engine/benchmark_model:larq_benchmark_model \
	  //larq_engine/benchmark_model:larq_benchmark_model_static
	@echo "built bazel-bin/larq_engine/benchmark_model/larq_benchmark_model, and ..._static, which needs no other file"

cpp-example:
	@$(RUN_BAZEL) build $(BAZEL_FLAGS) //examples/cpp:run_model
	@echo "built bazel-bin/examples/cpp/run_model"

test:
	@tools/run_tests.py quick

test-changed test-all test-rest:
	@tools/run_tests.py $(@:test-%=%)

test-full: export LARQ_ENGINE_TEST_FULL := 1
test-full:
	@tools/run_tests.py all

lint:
	@tools/lint.sh check

format:
	@tools/lint.sh fix

fuzz:
	@tools/fuzz.sh $(FUZZ_RUNS) $(BAZEL_FLAGS)

fuzz-files:
	@echo "== Mutated files through larq_engine.Interpreter"
	@$(VENV)/bin/python -m tests.fuzz.files --cases $(CASES) --mode checked
	@echo "== Mutated files in a stock interpreter with the plug-in"
	@$(VENV)/bin/python -m tests.fuzz.files --cases $(CASES) --mode bare

bench: build $(if $(filter-out kernels,$(or $(PARTS),all)),setup-hosts peers) \
       $(if $(filter web,$(or $(PARTS),web)),setup-browser web web-peers)
	@$(RUN_BAZEL) build $(BAZEL_FLAGS) //benchmarks/kernels:bgemm_bench
	@$(VENV)/bin/python -m benchmarks $(PARTS) $(if $(RESULTS),--results $(RESULTS)) $(BENCH_FLAGS)

bench-compare:
	@$(if $(B),,$(error expected B=after.json, and A=before.json of the same name unless it is \
	  compared with what is kept of such cores; `make bench RESULTS=FOLDER` writes them))
	@$(VENV)/bin/python -m benchmarks.compare $(A) $(B)

bench-docs:
	@$(VENV)/bin/python -m benchmarks.docs
	@$(VENV)/bin/python -m benchmarks.web.docs

gpu-bundle:
	@tools/make_gpu_bundle.sh .gpu $(BASELINE)

gpu-check:
	@python3 -m benchmarks.gpu.check --bundle .gpu --results $(or $(RESULTS),.gpu/results) \
	  $(if $(STEPS),--steps $(STEPS)) $(if $(SECONDS),--seconds $(SECONDS))

gpu-docs:
	@python3 -m benchmarks.gpu.docs $(if $(RESULTS),--results $(RESULTS))

docs:
	@PYTHONPATH=. .venv-docs/bin/python tools/docs_site.py .build/site-pages
	@PYTHONPATH=. $(VENV)/bin/python tools/live_page.py .build/site-pages/live
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet --strict
	@echo "built .build/site/index.html"

pictures:
	@$(VENV)/bin/python -m benchmarks.pictures

zoo:
	@$(VENV)/bin/python -m benchmarks.zoo $(ZOO_FLAGS)

clean:
	@[ ! -e bazel-out ] || $(RUN_BAZEL) clean
	@rm -rf larq_engine/liblarq_engine.so larq_engine/liblarq_engine_cuda.so larq_engine/web_export/engine web/dist web/wasm .build dist *.egg-info .pytest_cache .mypy_cache \
	  .ruff_cache
	@find larq_engine tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +

help:
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
