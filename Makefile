# The few verbs a person types. Each first makes sure that the machine has what it needs (scripts/setup).
PRESET ?= dev
BUILD  := build/$(PRESET)
JOBS   ?= $(shell nproc)

PREFIX ?= /usr/local

.PHONY: demo up reference install test test-long parse build-times tidy test-vm test-kubernetes test-chaos test-reservations test-devices test-batch test-power test-backup test-conformance bench format check build setup fuzz help binary setup-program

help:
	@echo "make demo    build the program, then measure what Mangrove does on this machine (root, 4 minutes; DEMO_FLAGS)"
	@echo "make up      build, then everything on this machine in one process (root)"
	@echo "make install optimised build into PREFIX (/usr/local): binary, kubectl plugin, man page, completions"
	@echo "make image   optimised build as an OCI image without a daemon, into build/image; make chart packs the Helm chart"
	@echo "make packages  the Debian package, into build/packages; make test-packages installs, upgrades and purges it in a fresh root"
	@echo "make release source, program, image, chart, package, SBOM and checksums, into build/release-VERSION"
	@echo "make test    build, then run every test this machine can run"
	@echo "make test-long  property tests and storms at full size"
	@echo "make test-vm tests in a QEMU guest with 16 CPUs, 2 NUMA nodes and cgroup v2"
	@echo "make test-power       LOSSES=20 of power in a QEMU guest whose API server is written to: nothing acknowledged is lost"
	@echo "make test-backup      100 backups under 1 000 writes/s, each restored and compared (a quiet machine)"
	@echo "make test-kubernetes  the roles on a real control plane and a real kubelet, built from their Go modules once"
	@echo "make test-conformance  Kubernetes' own conformance tests against up; FOCUS=pattern for some, else the table in docs is written"
	@echo "make test-chaos       MINUTES=10 of kills, hangs, lost networks, full disks and clock jumps, with invariants"
	@echo "make test-reservations  MINUTES=10 of reservations made, matched, expired and deleted beside schedulers killed with -9"
	@echo "make test-devices  MINUTES=10 of pods with cards that come and go, cards that fall ill, and a scheduler killed with -9"
	@echo "make test-batch  Spark, Flink, PyTorch and YARN for real on up, losing executors and capacity to a service (root; CASES=\"spark flink torch yarn\"; skips what is not there)"
	@echo "make bench   build optimised, then run the benchmarks into build/bench and docs/benchmarks.md (PEERS=dir: beside kube-apiserver and others)"
	@echo "make reference  write docs/commands.md, configuration.md and metrics.md from the code"
	@echo "make format  reformat the sources in place"
	@echo "make check   the checks alone: format, layers, lone files, architecture graph"
	@echo "make parse   every file by itself, without precompiled header"
	@echo "make tidy    clang-tidy over the tree"
	@echo "make build-times  what compiling costs, against the budget"
	@echo "make fuzz    run every fuzz target for FUZZ_SECONDS (default 60) each"

setup:
	@scripts/setup

setup-program:
	@scripts/setup --program

$(BUILD)/build.ninja: CMakeLists.txt CMakePresets.json | setup-program
	@cmake --preset $(PRESET) >/dev/null

build: setup $(BUILD)/build.ninja
	@scripts/build $(BUILD) $(JOBS)

# The program alone; tests are half of a build.
binary: setup-program $(BUILD)/build.ninja
	@scripts/build $(BUILD) $(JOBS) mangrove

demo: binary
	@$(BUILD)/bin/mangrove demo $(DEMO_FLAGS)

up: binary
	@$(BUILD)/bin/mangrove up

install:
	@$(MAKE) --no-print-directory PRESET=release binary
	@scripts/install build/release/bin/mangrove $(DESTDIR)$(PREFIX)

# What is shipped, into build/. BINARY chooses another program than the optimised build.
release_binary = $(if $(BINARY),,$(MAKE) --no-print-directory PRESET=release binary)
shipped_binary = $(or $(BINARY),build/release/bin/mangrove)
.PHONY: image chart packages test-packages release

image:
	@$(release_binary)
	@packaging/image $(shipped_binary) build/image

chart:
	@packaging/chart build/chart

packages:
	@$(release_binary)
	@packaging/deb $(shipped_binary) build/packages

# All of it with checksums, the same for the same commit wherever and whenever it is made.
release:
	@$(release_binary)
	@packaging/release $(shipped_binary) build/release-$(shell cat VERSION)

# In a fresh Debian root, which the first run fetches.
test-packages: packages
	@packaging/try-deb build/packages/*.deb || [ $$? -eq 77 ]

test: build
	@scripts/parse $(BUILD)
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

# Storms and property tests at full size, where `make test` plays a seeded small one.
test-long: build
	@MANGROVE_LONG=1 ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS) -L unit --timeout 3600

# Every file without precompiled header and batch. `make test` does that for files that differ from the commit in .ci/parsed.
parse: setup $(BUILD)/build.ninja
	@scripts/parse $(BUILD) --all

# Processor seconds of a cold build, of what one touched file costs in each layer, and the budget of both.
build-times: setup
	@scripts/build_times

# In one go; batches are those of the build folder. scripts/tidy takes a path to look at less.
tidy: setup $(BUILD)/build.ninja
	@scripts/setup --tidy
	@scripts/tidy $(BUILD)

# Not part of `make test`: boots a machine. Skips by name when qemu or a kernel image is missing. KERNEL=backports takes Debian's newer one.
test-vm: build
	@scripts/setup --vm
	@MANGROVE_VM_KERNEL=$(KERNEL) test/vm/run $(BUILD) || [ $$? -eq 77 ]

# A guest that loses its power under load. LOSSES, SEED.
test-power: binary
	@scripts/setup --vm
	@MANGROVE_VM_KERNEL=$(KERNEL) LOSSES=$(or $(LOSSES),20) SEED=$(or $(SEED),0) test/vm/power_loss $(BUILD) || [ $$? -eq 77 ]

# Fails when the machine is too busy for RATE writes a second.
test-backup:
	@$(MAKE) --no-print-directory PRESET=release binary
	@MANGROVE=build/release/bin/mangrove ROUNDS=$(or $(ROUNDS),100) RATE=$(or $(RATE),1000) test/e2e/apiserver_backups.sh

# Neither is this: the first run builds kube-apiserver, kubelet, containerd and others (test/kubernetes/programs). CASES chooses.
test-kubernetes: build
	@scripts/setup --kubernetes
	@test/kubernetes/programs || [ $$? -eq 77 ]
	@test/kubernetes/run $(BUILD)/bin/mangrove $(CASES) || [ $$? -eq 77 ]

# Kubernetes' conformance tests against `up`; the first run builds the suite (6 minutes of processor time). FOCUS chooses, PROCESSES at a time (2).
test-conformance: binary
	@scripts/setup --conformance
	@test/conformance/run $(BUILD)/bin/mangrove '$(FOCUS)' || [ $$? -eq 77 ]

MINUTES ?= 10
# Half of the time on our own API server, half on kube-apiserver where it is here. SEED plays a run again.
test-chaos: build
	@scripts/setup --kubernetes
	@test/kubernetes/programs kube-apiserver etcd kubectl || [ $$? -eq 77 ]
	@test/chaos/run $(BUILD)/bin/mangrove --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) || [ $$? -eq 77 ]

test-reservations: build
	@MANGROVE=$(abspath $(BUILD))/bin/mangrove SECONDS_OF=$$(($(MINUTES) * 60)) $(if $(SEED),SEED=$(SEED)) test/e2e/scheduler_reservation_storm.sh || [ $$? -eq 77 ]

test-devices: build
	@MANGROVE=$(abspath $(BUILD))/bin/mangrove SECONDS_LONG=$$(($(MINUTES) * 60)) $(if $(SEED),SEED=$(SEED)) test/e2e/scheduler_devices_kill.sh || [ $$? -eq 77 ]

# Wants java, and Spark below /opt; YARN is fetched from Maven Central.
test-batch: binary
	@MANGROVE=$(abspath $(BUILD))/bin/mangrove CASES="$(CASES)" test/batch/run

# Every suite into build/bench (JSON, table, pictures) and docs/benchmarks.* within half an hour; PEERS names a folder with kube-apiserver, etcd, … to
# compare with. SUITES chooses some, which leave the pages alone.
bench:
	@$(MAKE) --no-print-directory PRESET=release binary
	@bench/run build/release/bin/mangrove $(SUITES) $(if $(PEERS),--peers $(PEERS)) $(if $(SUITES),,--docs docs)

# After a new flag, metric or member of the configuration.
reference: binary
	@scripts/reference $(BUILD)/bin/mangrove

format: setup
	@git ls-files '*.h' '*.cc' | xargs clang-format-16 -i

check: setup $(BUILD)/build.ninja
	@ctest --test-dir $(BUILD) --output-on-failure -L check

fuzz:
	@scripts/setup --fuzz
	@scripts/fuzz
