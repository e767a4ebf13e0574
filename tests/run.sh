#!/usr/bin/env bash
# The test command: installs the servers that the tests need, checks format, lints and documentation, and runs every test.
#
#   bash tests/run.sh          the default set
#   bash tests/run.sh --all    also what takes longer: live tests on PostgreSQL; a group of MySQL servers; what cargo-deny and the oldest
#                              Rust say, where they are installed
#
# It continues after a failure, so that one run shows all of them. A few tests that failed beside the others run once more, alone: servers
# on busy cores can be slower than a test's deadline. If they pass then, the step has not failed, and the list names them as flaky: each is
# a mistake to mend, in the test or in the program. It ends with what the failed tests said, and with a list of what ran,
# failed and was skipped, and exits with 0 only if nothing failed.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Everything is compiled once here, so what the compiler would write down for a next time is only in the way.
export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"

# A failed test says where it failed without it, and compiling takes less time.
export CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-0}"

# Most tests wait for servers, not for a core.
export RUST_TEST_THREADS="${RUST_TEST_THREADS:-5}"

# Where the servers of the tests have their data: in memory, where that is large enough. Tables are made in two thirds of the time there, because
# MariaDB and MySQL wait for the disk with each of them.
memory=/dev/shm
if [[ -z "${TMPDIR:-}" && -w $memory && "$(df --output=avail "$memory" | tail -n 1)" -gt 8000000 ]] &&
  [[ "$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)" -gt 12000000 ]]; then
  TMPDIR="$(mktemp -d "$memory/ingester-XXXXXX")"
  # Servers that refuse to run as root run as nobody.
  chmod 755 "$TMPDIR"
  export TMPDIR
fi

all=0
for argument in "$@"; do
  case "$argument" in
    --all) all=1 ;;
    *)
      echo "unknown argument \`$argument\`; known: --all" >&2
      exit 2
      ;;
  esac
done

# One line per step, for the list at the end.
report=()
failed=0
folder="$(mktemp -d)"
output="$folder/output"
failures="$folder/failures"
trap 'rm -rf "$folder"; [[ "${TMPDIR:-}" != "$memory"/ingester-* ]] || rm -rf "$TMPDIR"' EXIT

# So many tests may be run once more.
few=3

# Records how a step ended: `record NAME CODE SECONDS NOTE`.
record() {
  if [[ $2 -eq 0 ]]; then
    report+=("ok       $1 ($3 s$4)")
  else
    report+=("FAILED   $1 ($3 s$4)")
    failed=1
  fi
  local line
  while IFS= read -r line; do
    report+=("skipped  ${line##*skipped: }")
  done < <(grep -o 'skipped: .*' "$output" | sort -u || true)
}

# Runs a step and records how it ended: `step NAME COMMAND...`.
step() {
  local name="$1" started=$SECONDS code=0
  shift
  echo
  echo "== $name: $*"
  "$@" </dev/null 2>&1 | tee "$output" || code=$?
  record "$name" $code $((SECONDS - started)) ""
}

# Runs test programs with these arguments of cargo, then `--`, and those of the programs.
run_tests() {
  CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$PWD/tests/runner.sh" CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$PWD/tests/runner.sh" \
    cargo test --locked --no-fail-fast "$@" -Z unstable-options --format json --report-time </dev/null 2>&1 |
    "$report_tests" "$folder" | tee "$output"
}

# A step of tests: `tests NAME ARGUMENTS... -- ARGUMENTS...`. A few that failed run once more, alone.
tests() {
  local name="$1" started=$SECONDS code=0 note test flaky=() programs=()
  shift
  echo
  echo "== $name: cargo test $*"
  : >"$folder/counts"
  run_tests "$@" || code=$?
  note="$(awk '{ printf ", %d passed, %d failed, %d ignored", $1, $2, $3 }' "$folder/counts")"
  if [[ $code -ne 0 ]]; then
    mapfile -t flaky <"$folder/failed"
    cat "$folder/said" >>"$failures"
    # More than a few are not an accident, and neither is a program that did not compile or was killed.
    if [[ ${#flaky[@]} -eq 0 || ${#flaky[@]} -gt $few ]] || grep -q '^error: could not compile\|ended without a result$' "$output"; then
      flaky=()
    else
      code=0
      while [[ $# -gt 0 && $1 != -- ]]; do
        programs+=("$1")
        shift
      done
      for test in "${flaky[@]}"; do
        echo
        echo "== once more, alone: $test"
        run_tests "${programs[@]}" -- --exact --include-ignored "$test" || code=$?
        # A name that no program has is no success.
        [[ "$(cut -d ' ' -f 1 "$folder/counts")" -gt 0 ]] || code=1
      done
    fi
  fi
  record "$name" $code $((SECONDS - started)) "$note"
  [[ $code -eq 0 ]] || return 0
  for test in ${flaky[@]+"${flaky[@]}"}; do
    report+=("FLAKY    $name: $test (failed beside the others, passed alone)")
  done
}

# The two rustup components that are needed in addition to the compiler.
for component in fmt clippy; do
  if ! cargo "$component" --version >/dev/null 2>&1; then
    echo "cargo $component is missing; install it with: rustup component add ${component/#fmt/rustfmt}" >&2
    failed=1
  fi
done
[[ $failed -eq 0 ]] || exit 1

step "servers" bash tests/install.sh
step "format" cargo fmt --all --check
step "lock files" bash -c 'for manifest in Cargo.toml tests/outside/Cargo.toml examples/dataset-operator/Cargo.toml; do cargo metadata --locked --all-features --format-version 1 --manifest-path $manifest >/dev/null || exit; done'
step "lints" cargo clippy --workspace --all-targets --locked -- -D warnings
step "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
step "what reports tests and texts" cargo build --profile test --workspace --bin report --bin english --locked
report_tests="$PWD/target/debug/report"
step "English (a report)" target/debug/english
tests "tests" --workspace --tests --
step "examples in the documentation of code" cargo test --workspace --doc --locked --no-fail-fast
# Its tests start them, and `--tests` builds no examples.
step "examples of the crate outside" cargo build --profile test --locked --manifest-path tests/outside/Cargo.toml --target-dir target --examples
tests "tests of the crate outside" --manifest-path tests/outside/Cargo.toml --target-dir target --tests --
# It says nothing of profiles, as a user's crate does not; with those of the crate outside it shares what is compiled.
tests "tests of the example crate" --manifest-path examples/dataset-operator/Cargo.toml --config tests/outside/Cargo.toml --target-dir target --tests --
# The program with a feature that is off by default. The steps before it test the program that users build.
tests "spans over OTLP" --workspace --features ingester/otlp --test otlp --

if [[ $all -eq 1 ]]; then
  # They are marked as ignored, so that the default set stays short; those that are run by hand have other names.
  tests "live tests on PostgreSQL" --workspace --test live -- --ignored ::postgres
  tests "tests of a group of MySQL servers" --workspace --test schema --test live -- --ignored --test-threads=1 group:: ::group
  # `tests/tests/packages.rs` checks licences and sources. The rest of deny.toml is for those who have the tool.
  if cargo deny --version >/dev/null 2>&1; then
    step "dependencies" cargo deny --locked check licenses bans sources
  else
    report+=("skipped  cargo deny (not installed; licences and sources of dependencies were checked by a test)")
  fi
  oldest="$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)"
  toolchain="$(rustup toolchain list 2>/dev/null | grep -o "^$oldest[.0-9]*" | head -n 1 || true)"
  if [[ -n "$toolchain" ]]; then
    step "oldest Rust ($oldest)" cargo "+$toolchain" check --workspace --locked --target-dir "target/$oldest"
  else
    report+=("skipped  compiling with Rust $oldest (not installed; clippy checks that nothing newer of the library is used)")
  fi
fi

if [[ -s "$failures" ]]; then
  echo
  echo "== failures"
  cat "$failures"
fi
echo
echo "== summary"
printf '%s\n' "${report[@]}"
echo "total: $SECONDS s"
exit "$failed"
