# What a person or CI runs. Written for GNU make 3.81 (macOS has no newer one) and a POSIX sh.
# `build` needs cargo and cc, `demo` and `test` python3 with pip too; whatever else is needed is fetched into .deps/.

.DEFAULT_GOAL := help
.PHONY: help build demo test bench fmt lint check clean

# The paths below are this project's own: a target chosen for all of the user's builds would move them.
unexport CARGO_BUILD_TARGET CARGO_TARGET_DIR

CARGO ?= cargo
SUFFIX := $(if $(filter Darwin,$(shell uname -s)),dylib,so)
# The features need folders of their own: in one folder each switch builds the crate again.
CORE := --no-default-features --target-dir target/core
# Not those of others that must run as they are written.
LUA_FILES := benches build.lua examples lua plugin tests/editor tests/fixtures/codecompanion tests/support

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-24s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo '  FILTER=text                   for test and bench: only those with the text in their name'

build: ## Build lua/lathe_core.so (release); needs only cargo and cc
	$(CARGO) rustc --locked --lib --release --target-dir target --crate-type cdylib
	@sh scripts/install-library.sh target/release/liblathe_core.$(SUFFIX) lua

demo: build ## Run the offline demo: in a terminal as a chat, else as a printed transcript
	@sh scripts/demo.sh

test: ## Run every test in a debug build; FILTER=text picks some
	$(CARGO) build --locked --lib --target-dir target
	@sh scripts/install-library.sh target/debug/liblathe_core.$(SUFFIX) target/nvim-test/lua
	@nvim=$$(sh scripts/find-nvim.sh) || exit 1; \
	LATHE_NVIM=$$nvim; LATHE_LIBRARY=$(CURDIR)/target/nvim-test; export LATHE_NVIM LATHE_LIBRARY; \
	if $(CARGO) nextest --version >/dev/null 2>&1; \
	then set -- nextest run; else set -- test --no-fail-fast; fi; \
	echo "$(CARGO) $$* $(CORE) $(FILTER)"; \
	$(CARGO) "$$@" --locked $(CORE) $(FILTER)

bench: build ## Measure the release build in Neovim; fails on ratios, growth and loop gaps only
	@sh scripts/install-library.sh target/release/liblathe_core.$(SUFFIX) target/nvim-bench/lua
	@nvim=$$(sh scripts/find-nvim.sh) || exit 1; \
	LATHE_NVIM=$$nvim LATHE_LIBRARY=$(CURDIR)/target/nvim-bench \
	$(CARGO) bench --locked --profile dev $(CORE) --bench editor -- $(FILTER)

fmt: ## Format Rust and Lua
	$(CARGO) fmt
	@sh scripts/stylua.sh $(LUA_FILES)

lint: ## Check formats, clippy, rustdoc, stylua and luacheck
	$(CARGO) fmt --check
	@sh scripts/stylua.sh --check $(LUA_FILES)
	@sh scripts/luacheck.sh $(LUA_FILES)
	$(CARGO) clippy --locked --target-dir target --all-targets -- -D warnings
	$(CARGO) clippy --locked $(CORE) --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --no-deps --target-dir target

check: lint test ## All that CI runs

clean: ## Remove what was built and fetched
	rm -rf target .deps lua/lathe_core.so doc/tags
