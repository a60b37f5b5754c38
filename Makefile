# Margay. CMake does the work (presets in CMakePresets.json); this file names the jobs. `make help` lists them.
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
DESTDIR ?=
CTEST_FLAGS ?=

generator := $(if $(shell command -v ninja 2>/dev/null),-G Ninja,)
# Configures a folder once, or again when there is something to add; CMake looks after changes by itself.
configure = test -z "$(3)" -a -f $(1)/CMakeCache.txt || \
	cmake --preset $(2) -B $(1) $(if $(wildcard $(1)/CMakeCache.txt),,$(generator)) $(3)
ctest = ctest --test-dir $(1) --output-on-failure -j $(JOBS) $(CTEST_FLAGS)
.PHONY: all setup demo test test-all test-asan test-tsan bench gpu build-gpu bench-gpu test-gpu tune-gpu results install deb wheel clean \
	help docs

all: ## build into build/; installs nothing (this is plain `make`)
	@$(call configure,$(BUILD),default)
	@cmake --build $(BUILD) -j $(JOBS)

setup: ## install what is missing: Debian packages, nvcc
	@tools/setup.sh build $(BUILD)

demo: setup ## set up, build, and profile examples/transpose.cu
	@$(call configure,$(BUILD),default)
	@cmake --build $(BUILD) -j $(JOBS) --target margay mg_cudart_12 mg_cudart_13
	$(BUILD)/margay profile --launches 3 --html $(BUILD)/demo.html examples/transpose.cu
	@echo
	@echo "The same as a page, with source, PTX and pictures of every access: open $(abspath $(BUILD)/demo.html) in a browser."

# Labels of tests: `all`, too long for `make test`; `engine`, for the engine that MARGAY_ENGINE names (compiled, unless told);
# `foreign`, whose time is that of other people's programs: not under sanitizers.
test: ## set up, build and pass a test of everything: five to ten minutes with two processors
	@tools/setup.sh test $(BUILD)
	@$(call configure,$(BUILD),default,-DMARGAY_TESTS=ON)
	@cmake --build $(BUILD) -j $(JOBS)
	$(call ctest,$(BUILD)) -LE '^all$$'

test-all: test ## `make test`, then all tests that it leaves out, each engine over all, the quick ones under sanitizers: three quarters of an hour
	@cmake --build $(BUILD) -j $(JOBS) --target tests_all
	$(call ctest,$(BUILD)) -L '^all$$'
	@! test -e $(BUILD)/lib/libmargay_jit.so || MARGAY_ENGINE=interp $(call ctest,$(BUILD)) -L '^engine$$'
	@MARGAY_TWIN=$(abspath $(BUILD)) $(MAKE) --no-print-directory test-asan LONG= # nvcc's work is the same there

test-asan: LONG ?= tests_all
test-asan: ## all tests under the address and undefined-behaviour sanitizers, in build-asan/; the quick ones with LONG=
	@$(call configure,$(BUILD)-asan,asan,-DMARGAY_TESTS=ON)
	@cmake --build $(BUILD)-asan -j $(JOBS) --target all $(LONG)
	$(call ctest,$(BUILD)-asan) -LE '^(foreign$(if $(LONG),,|all))$$'

# Addresses of more random bits than gcc's libtsan knows of (vm.mmap_rnd_bits above 28, as on Ubuntu 24.04) end it at once.
fixed_addresses = $(shell setarch $$(uname -m) -R true 2>/dev/null && echo setarch $$(uname -m) -R)
test-tsan: ## all tests under the thread sanitizer, in build-tsan/
	@$(call configure,$(BUILD)-tsan,tsan,-DMARGAY_TESTS=ON)
	@cmake --build $(BUILD)-tsan -j $(JOBS) --target all tests_all
	$(fixed_addresses) $(call ctest,$(BUILD)-tsan) -LE '^foreign$$'

bench: ## set up, build, and run the benchmarks: verified, then timed against named peers
	@tools/setup.sh bench $(BUILD)
	@$(call configure,$(BUILD),default,-DMARGAY_BENCH=ON)
	@cmake --build $(BUILD) -j $(JOBS) --target bench_engine bench_matrix
	bench/run.sh $(BUILD)

# ---- on a machine with a GPU ----
RESULTS ?= bench/results
device = $$(build-gpu/margay-bench --device)

gpu: ## on a machine with a GPU: all four of build-gpu, bench-gpu, test-gpu and tune-gpu, each for a bounded time
	tools/gpu.sh $(RESULTS)

build-gpu: kernels/CMakeLists.txt
	@cmake -S kernels -B build-gpu $(if $(wildcard build-gpu/CMakeCache.txt),,$(generator)) -DMARGAY_KERNELS_PEERS=ON
	@cmake --build build-gpu -j $(JOBS) --target all margay-tune

bench-gpu: build-gpu ## on a machine with a GPU: the ladders beside cuBLAS and CUB, into bench/results/ and docs/results.md
	@mkdir -p $(RESULTS)
	build-gpu/margay-bench --json $(RESULTS)/$(device).json
	@$(MAKE) --no-print-directory results

test-gpu: build-gpu ## on a machine with a GPU: the collection's tests, and again under compute-sanitizer
	@mkdir -p $(RESULTS)
	tests/kernels/gpu.sh build-gpu $(RESULTS)/$(device).tests.txt $(JOBS)

tune-gpu: build-gpu ## on a machine with a GPU: the shapes behind the best rungs, into bench/results/ and docs/tuning/
	@mkdir -p $(RESULTS)
	build-gpu/margay-tune | tee $(RESULTS)/$(device).tune.md
	@$(MAKE) --no-print-directory results

results: ## make docs/results.md and the tables in docs/tuning/ from bench/results/
	@if command -v python3 >/dev/null; then tools/gen_results.py . $(RESULTS); \
	    else echo "no python3: docs/results.md was not made; tools/gen_results.py makes it from $(RESULTS)"; fi

docs: ## make the reference pages from the tables again
	@$(call configure,$(BUILD),default,-DMARGAY_TESTS=ON)
	@cmake --build $(BUILD) -j $(JOBS) --target metrics_doc gen_isa_doc
	$(BUILD)/metrics_doc > docs/metrics.md
	$(BUILD)/gen_isa_doc > docs/isa.md
	tools/gen_api_doc --write
	tools/gen_check_doc.py .
	tools/gen_advise_doc.py .
	tools/gen_kernels_doc.py .

wheel: all ## the Python package as a wheel, in dist/
	@if cmake --build $(BUILD) --target help | grep -q margay_jit_alone; then \
	    cmake --build $(BUILD) -j $(JOBS) --target margay_jit_alone; fi
	@tools/wheel.py $(BUILD) dist

install: all ## install into DESTDIR and PREFIX (/usr/local unless told)
	DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)

deb: all ## a Debian package of the command and its libraries, in build/
	@tools/deb.sh $(BUILD)

clean: ## remove the build folders, but for nvcc's wheels in build/cuda
	rm -rf $(BUILD)-asan $(BUILD)-tsan build-gpu
	@if test -d $(BUILD); then find $(BUILD) -mindepth 1 -maxdepth 1 ! -name cuda -exec rm -rf {} +; fi

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'
