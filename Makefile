# What a newcomer does, on Debian 12 or later or Ubuntu 24.04 or later: `make demo`, `make test`.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup modules build test soak lint demo bench clean

export PATH := $(PATH):$(HOME)/.cargo/bin
# Tests make network namespaces and poll devices, so they run as root.
HOST = $(shell PATH="$(PATH)" rustc -vV 2>/dev/null | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
AS_ROOT = $(if $(filter-out 0,$(shell id -u)),CARGO_TARGET_$(HOST)_RUNNER='sudo -E')

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what is missing: Debian packages, the Rust target of the modules
	@tests/setup.sh

modules: setup ## Build the modules into target/modules
	@tests/modules.sh build

build: setup modules ## Build weftd and weft for use, into target/release
	cargo build --release -p daemon -p api-cli -p weft-tests --bins

test: setup modules ## Run every test
	cargo build --workspace --bins --tests
	$(AS_ROOT) cargo test --workspace

soak: setup ## Compare the engine with its slow twin on many millions of packets
	WEFT_TWIN_CASES=100000 cargo test --release -p dataplane --test engine_twin --test parse_twin

lint: setup ## Check format, clippy, documentation and licences
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@tests/modules.sh clippy
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps
	@tests/deny.sh

demo: build ## Two namespaces, a firewall module over the API, a swap under load
	@examples/demo/demo.sh

bench: build ## Measure: the engine, a stage beside its native twin, one worker; PEERS=DIR beside its peers
	cargo bench -p dataplane -p wasm
	cargo build --release -p weft-bench
	$(if $(filter-out 0,$(shell id -u)),sudo) target/release/weft-bench p2p $(if $(PEERS),--peers $(PEERS))

clean: ## Remove what was built
	cargo clean
