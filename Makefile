# make help this list (make alone also prints it)
# make demo      a word index in OCaml that a Rust program owns; FILES="README.md" reads other files
#
# Tests:
# make quick     unit tests in C, the safe crate, the model: two minutes, when they are built
# make test      all tests
# make core      those tests of the crates and of the C library that depend most on OCaml's version
# make one       T=name: all tests of this name
# make examples  every program in examples/, by the command in its first comment
# make clients   other crates and programs that use our crates: ONLY=interop, async, leak; projects
#                that use the installed or packaged library: ONLY=c, ocaml, rust, drop-in; and with
#                ONLY=libraries the OCaml libraries of Debian 12 and 13, each bound as a whole
# make lint      formatting, lints, warnings of two C compilers, documents, generated bindings
#
# Longer tests:
# make campaign  all versions of OCaml (an hour)
# make builds    compilers, optimisation, LTO, static, bytecode, the oldest Rust: ONLY=links, copies,
#                closures, msrv; ONLY=compile-time prints how long rustc takes for bindings
# make platforms other systems and processors: ONLY=musl, arm64, arm64-rust, riscv64, s390x,
#                ppc64el, windows, cross
# make fuzz      random histories of the allocator, on a fake runtime: OPERATIONS of them, then
#                FUZZ_SECONDS of libFuzzer
# make model     models of the concurrent parts, checked exhaustively (ten minutes)
# make stress    random walks over the whole C interface, under OCaml
# make mutants   breaks the allocator in one place at a time, and expects a test to fail:
#                ONLY=named takes the rules that have a name
# make sanitize  tests under tools that check every step: ONLY=debug (OCaml's debug runtime),
#                address, threads, memcheck, miri
#
# Figures and documents:
# make bench     the benchmarks, one by one under criterion, or two in turn
# make report    the benchmarks, side by side: tables and plots in docs/benchmarks/
# make bench-check         checks that every benchmark runs, and that every implementation is right
# make bench-instructions  checks that no fast path takes more instructions
# make doc       the Rust reference, in target/doc
# make book      the user guide, as HTML in target/book
#
# OCAML=5.3.0 picks a version of OCaml. Without it, the first ocamlopt from $OCAMLOPT, PATH,
# ocamlfind or opam is used. If there is none, .ci/toolchain builds one outside of this folder.

OCAML ?=
FILES ?=
ONLY ?=
UPDATE ?=
FILTER ?=
# The number of times that `make campaign` runs each test of ending domains.
RUNS ?= 200

# The versions of OCaml that `make campaign` tests.
VERSIONS = 4.13.1 4.14.1 5.1.0 5.3.0 5.4.1 5.5.2

# Used as $(call need_rust,91), for Rust 1.91. It comes first, so that OCaml is not installed for
# nothing.
need_rust = cargo --version 2>/dev/null | awk -F'[ .]' '{ new = $$2 > 1 || $$3 >= $(1) } END { exit !new }' || \
  { echo "make $@: cargo 1.$(1) or later must be on PATH; https://rustup.rs has it" >&2; exit 1; }

# Used as $(with_ocaml) COMMAND.
with_ocaml = OCAMLOPT="$$(.ci/toolchain $(OCAML))" && export OCAMLOPT &&

# Used as $(call with_python,WHAT) COMMAND; provides OCaml. Without python3, it says that WHAT is not tested.
with_python = command -v python3 >/dev/null || { echo "make $@: without python3, these are not tested: $(1)" >&2; exit 0; }; \
  $(with_ocaml)

.PHONY: help demo test core quick one examples clients builds platforms bench bench-check bench-instructions report lint model fuzz mutants campaign sanitize stress doc book clean

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

demo:
	@$(call need_rust,84)
	@$(with_ocaml) cargo run --release --manifest-path examples/wordindex/Cargo.toml --target-dir target/examples -- $(FILES)

# Other projects' crates are not optimised in the release build: the tests use one of them, but cargo compiles all.
test: core
	@$(with_ocaml) cargo test --release --config 'profile.release.package."*".opt-level=0' --test safe
	@$(call with_python,copies and closures in C; documents) \
	.ci/builds.py copies closures && .ci/documents.py --compile
	@$(MAKE) --no-print-directory examples clients OCAML=$(OCAML)
	@$(MAKE) --no-print-directory mutants ONLY=named OCAML=$(OCAML)

core:
	@$(call need_rust,91)
	@$(with_ocaml) cargo test --workspace --exclude ocaml-boxroot --exclude boxroot-bindgen
	@$(with_ocaml) cargo test -p ocaml-boxroot --features link-runtime,ndarray
	@$(with_ocaml) cargo test --features debug-checks --test safe
	@$(with_ocaml) $(MAKE) --no-print-directory -C boxroot-c check

quick:
	@echo "make quick: the unit tests of C, the safe crate's tests, the model: two minutes at most, when they are built"
	@$(call need_rust,91)
	@$(with_ocaml) $(MAKE) --no-print-directory -C boxroot-c check-c
	@$(with_ocaml) cargo test --test safe --test model

one:
	@$(with_ocaml) .ci/one.py "$(T)"

# `interop` builds the published crates ocaml-interop (for OCaml 5 only) and ocaml on our ocaml-boxroot-sys, and compares ours
# with the published one, item by item. `async` runs programs that use tokio, axum and hyper; `leak` puts one of them under load
# for a minute. `libraries` uses Debian's OCaml, and compares with tables in docs/libraries.md, which UPDATE=1 replaces;
# SUITE=trixie picks one Debian, and FILTER=re,lwt.unix packages. The other parts need cmake, pkg-config and python3, and dune 3
# or apt.
clients: $(addprefix clients-,$(or $(ONLY),interop async))
clients-interop:
	@$(with_ocaml) case "$$("$$OCAMLOPT" -version)" in 4.*) skip="--exclude boxroot-test-ocaml-interop";; esac && \
	cargo test --workspace $$skip --manifest-path tests/users/interop/Cargo.toml --target-dir target/interop
	@$(call with_python,what 0.4.0 has) .ci/packages.py drop-in
clients-async:
	@$(with_ocaml) cargo test --manifest-path tests/users/async/Cargo.toml --target-dir target/async
clients-leak:
	@$(with_ocaml) LOAD_SECONDS=60 CARGO_PROFILE_RELEASE_DEBUG=1 \
	cargo test --release --manifest-path tests/users/async/Cargo.toml --target-dir target/async --test leak
clients-c clients-ocaml clients-rust clients-drop-in: clients-%:
	@$(with_ocaml) .ci/packages.py $*
clients-libraries:
	@for suite in $(or $(SUITE),bookworm trixie); do \
	  FILTER="$(FILTER)" UPDATE="$(UPDATE)" .ci/debian $$suite .ci/libraries.py || exit 1; \
	done

examples:
	@$(with_ocaml) .ci/examples

# The ways to compile and to link. Needs clang, lld, mold, python3 and rustup.
builds:
	@$(with_ocaml) .ci/builds.py $(ONLY)

# Other systems and processors. .ci/platforms.py lists the needs of each.
platforms:
	@$(with_ocaml) .ci/platforms.py $(ONLY)

# boxroot-c/test/fuzz/README.md. Needs clang, and OCaml 5.
fuzz:
	@$(with_ocaml) $(MAKE) --no-print-directory -C boxroot-c fuzz

# The benchmark programs under criterion, all or FILTER=perm_count/boxroot. FILTER=perm_count/boxroot,peer runs two in turn for
# a minute (DURATION). Parameters of the programs: N=8 make bench FILTER=perm_count. See docs/benchmarks/README.md.
bench:
	@$(with_ocaml) cargo bench -q --bench compare -- $(FILTER)

# One test for every implementation that is compared, and a small run of everything. The measured code is optimised in any
# profile. The code around it is not, so that `make test` has compiled it already.
bench-check:
	@$(with_ocaml) cargo bench -q --profile dev --bench check

# The tables, plots and data of docs/benchmarks/, in half an hour. ONLY picks parts; QUICK=1 takes two minutes.
report:
	@$(with_ocaml) ONLY="$(ONLY)" cargo run -q --release -p boxroot-report

# Exact instruction counts, compared with docs/instructions/; UPDATE=1 replaces them. ONLY=roots takes the fast paths,
# ONLY=border calls and conversions, with our crate and with two others, of which FILTER=list picks some. Needs valgrind and
# python3.
bench-instructions: $(addprefix instructions-,$(or $(ONLY),roots border))
instructions-roots:
	@$(with_ocaml) UPDATE="$(UPDATE)" .ci/instructions
instructions-border:
	@$(with_ocaml) UPDATE="$(UPDATE)" FILTER="$(FILTER)" .ci/border.py

# Breaks the allocator in one place at a time, and expects a test to fail. ONLY=named takes the patches of boxroot-c/test/mutants,
# or those that FILTER picks: three minutes. Otherwise .ci/mutants makes faults, first on OCaml 5; faults that survive, or are not
# compiled there, are tried on OCaml 4. That takes half an hour on two cores, and with COUNT=all more than two hours.
# .ci/mutants/__main__.py explains the settings.
mutants: mutants-$(or $(ONLY),made)
mutants-named:
	@$(call with_python,mutants) FILTER="$(FILTER)" python3 .ci/mutants --named
mutants-made:
	@OCAMLOPT="$$(.ci/toolchain 5.3.0)" FILES="$(FILES)" python3 .ci/mutants || true
	@OCAMLOPT="$$(.ci/toolchain 4.14.1)" FILES="$(FILES)" AFTER=5.3.0 python3 .ci/mutants

# Every version of OCaml that is supported: all tests, debug runtime, ending domains. 4.13.1 needs
# root, or must be installed.
campaign:
	@.ci/campaign $(RUNS) $(VERSIONS)

# Needs spin; not OCaml. FILTER picks lines of `.ci/model.py --list`: make model FILTER=fork
model:
	@.ci/model.py "$(FILTER)"

lint:
	@$(with_ocaml) .ci/lint

sanitize: $(addprefix sanitize-,$(or $(ONLY),debug address threads memcheck miri))

# The tests on OCaml's debug runtime, with the heap verified in every cycle.
sanitize-debug:
	@$(with_ocaml) BOXROOT_RUNTIME_VARIANT=d OCAMLRUNPARAM=V=1,v=0 cargo test

# Under the address and undefined-behaviour sanitizers: the tests, in Rust and in the C of this project, then the unit tests and
# the walk. Needs a nightly compiler, and clang. Leaks are not reported, because values that live roots keep would count as
# leaks. OCaml 5 gives each thread a signal stack, which the sanitizer would treat as its own (use_sigaltstack). OCaml 4's
# Tag_val has an index that is negative and unsigned (pointer-overflow). Seven tests are left out. They are about signal stacks
# (one of them on OCaml 4 only), about the size of the process (one of them makes a core file), and about running out of memory,
# which aborts the process there.
sanitize = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
  $(if $(filter 4.%,$(OCAML)),-fno-sanitize=pointer-overflow)
sanitize-address:
	@$(with_ocaml) export ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0 && RUSTFLAGS=-Zsanitizer=address CC=clang \
	  CFLAGS="$(sanitize)" cargo +nightly test \
	  --target $$(rustc -vV | sed -n 's/^host: //p') --target-dir target/asan \
	  --test c_api --test safe --test model -- \
	  --skip rust_handles_stack_overflows_again --skip a_hundred_thousand_short_threads \
	  --skip weak_roots_where_memory_runs_out --skip gdb_lists_live_roots \
	  --skip boxes_that_do_not_fit_into_a_buffer --skip pool_jobs_leave_no_memory $(if $(filter 4.%,$(OCAML)),--skip stack_overflow_in_ocaml) && \
	$(MAKE) --no-print-directory -C boxroot-c BUILD=build/asan CFLAGS="-g -O1 $(sanitize)" LDFLAGS="$(sanitize)" \
	  check-c stress

# The unit tests and the walk under the thread sanitizer: OCaml is configured for it, and the
# allocator is compiled with the same flags. The only suppressions are for races of OCaml's runtime.
sanitize-threads:
	@OCAMLOPT="$$(.ci/toolchain 5.3.0+tsan)" && export OCAMLOPT && \
	export TSAN_OPTIONS="history_size=7 suppressions=$(CURDIR)/boxroot-c/test/stress/tsan.supp" && \
	with="BUILD=build/5.3.0+tsan CFLAGS=-g" && \
	$(MAKE) --no-print-directory -C boxroot-c $$with CC="$$("$$OCAMLOPT" -config-var native_c_compiler)" \
	  check-c stress

# The unit tests and the walk under valgrind's memory checker. ONLY=address covers the Rust tests: if a thread other than the
# first runs OCaml 5, its changes of stack confuse valgrind.
sanitize-memcheck:
	@$(with_ocaml) $(MAKE) --no-print-directory -C boxroot-c check-c stress \
	  RUN="valgrind -q --error-exitcode=9 --trace-children=yes --max-stackframe=65536"

# Rust's unit tests that need no OCaml, under Miri. Needs a nightly compiler with it.
sanitize-miri:
	@DOCS_RS=1 cargo +nightly miri test -p ocaml-boxroot --lib --target-dir target/miri

# Random walks over the whole C interface; settings as in boxroot-c/Makefile, for instance
# make stress OCAML=5.3.0 SEED=7 OPERATIONS=100000000 DOMAINS=4 RUNTIME_VARIANT=d.
stress:
	@$(with_ocaml) $(MAKE) --no-print-directory -C boxroot-c stress

# Needs no OCaml.
FEATURES = build,debug-checks
doc:
	DOCS_RS=1 cargo doc --no-deps -p ocaml-boxroot-sys -p ocaml-boxroot --no-default-features --features "$(FEATURES)"

# Needs no OCaml.
book:
	@command -v mdbook >/dev/null || { echo "make book: mdbook must be on PATH: cargo install mdbook --locked" >&2; exit 1; }
	mdbook build docs/guide
	@.ci/documents.py --book target/book

clean:
	cargo clean
	$(MAKE) -C boxroot-c clean
