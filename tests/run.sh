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
output="$(mktemp)"
failures="$(mktemp)"
once_more="$(mktemp)"
trap 'rm -f "$output" "$failures" "$once_more"; [[ "${TMPDIR:-}" != "$memory"/ingester-* ]] || rm -rf "$TMPDIR"' EXIT

# So many tests may be run once more.
few=3

# What the failed tests of an output said: without the frames of the stack, and the beginning of each.
said() {
  awk '/^---- .* ----$/ { shown = 1; lines = 0 } /^failures:$/ || /^test result:/ { shown = 0 }
    shown && !/^ +([0-9]+: |at )/ && lines++ < 30 { print substr($0, 1, 1000) }' "$1"
}

# The tests that failed by an output, each as cargo's options for its program, a tab, and its name.
failed_tests() {
  awk '/^ +Running unittests / { of = "--lib --bins" }
    /^ +Running tests\// { of = $NF; sub(/.*deps\//, "", of); sub(/-[0-9a-f]+\)$/, "", of); of = "--test " of }
    /^ +Doc-tests / { of = "--doc" }
    /^test .* \.\.\. FAILED$/ { print of "\t" $2 }' "$1"
}

# Runs these tests once more, one after the other.
alone() {
  local test options
  for test in "$@"; do
    read -r -a options <<<"${test%%$'\t'*}"
    echo
    echo "== once more, alone: ${test##*$'\t'}"
    cargo test --workspace --locked "${options[@]}" -- --exact --include-ignored "${test##*$'\t'}" </dev/null 2>&1 | tee "$once_more" || return
    # A name that no program has is no success.
    grep -q "^test ${test##*$'\t'} \.\.\. ok$" "$once_more" || return
  done
}

# Runs a step and records how it ended: `step NAME COMMAND...`. Shows its output, and keeps it for the counts.
step() {
  local name="$1" started=$SECONDS code=0 note=""
  shift
  echo
  echo "== $name: $*"
  : >"$output"
  "$@" </dev/null 2>&1 | tee "$output" || code=$?
  # The sums of cargo test's counts over all test programs.
  if grep -q '^test result:' "$output"; then
    note="$(awk '/^test result:/ { for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) p += $(i-1); if ($i ~ /^failed/) f += $(i-1); if ($i ~ /^ignored/) g += $(i-1) } }
      END { printf ", %d passed, %d failed, %d ignored", p, f, g }' "$output")"
  fi
  local flaky=()
  if [[ $code -ne 0 ]]; then
    said "$output" >>"$failures"
    mapfile -t flaky < <(failed_tests "$output")
    # More than a few are not an accident, and neither is a program that did not compile or was killed.
    if [[ ${#flaky[@]} -gt 0 && ${#flaky[@]} -le $few ]] && ! grep -q '^error: could not compile\|(signal: ' "$output" && alone "${flaky[@]}"; then
      code=0
    else
      flaky=()
    fi
  fi
  if [[ $code -eq 0 ]]; then
    report+=("ok       $name ($((SECONDS - started)) s$note)")
  else
    report+=("FAILED   $name ($((SECONDS - started)) s$note)")
    failed=1
  fi
  for test in ${flaky[@]+"${flaky[@]}"}; do
    report+=("FLAKY    $name: ${test##*$'\t'} (failed beside the others, passed alone)")
  done
  local line
  while IFS= read -r line; do
    report+=("skipped  ${line##*skipped: }")
  done < <(grep -o 'skipped: .*' "$output" | sort -u || true)
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
step "lock files" bash -c 'for manifest in Cargo.toml tests/outside/Cargo.toml examples/dataset-operator/Cargo.toml; do cargo metadata --locked --format-version 1 --manifest-path $manifest >/dev/null || exit; done'
step "lints" cargo clippy --workspace --all-targets --locked -- -D warnings
step "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
step "tests" cargo test --workspace --locked --no-fail-fast
if [[ -d tests/outside ]]; then
  step "tests of the crate outside" cargo test --manifest-path tests/outside/Cargo.toml --target-dir target --locked --no-fail-fast
else
  report+=("skipped  tests of the crate outside (there is no tests/outside)")
fi
# It says nothing of profiles, as a user's crate does not; with those of the crate outside it shares what is compiled.
step "tests of the example crate" cargo test --manifest-path examples/dataset-operator/Cargo.toml --config tests/outside/Cargo.toml --target-dir target --locked --no-fail-fast

if [[ $all -eq 1 ]]; then
  # They are marked as ignored, so that the default set stays short; those that are run by hand have other names.
  step "live tests on PostgreSQL" cargo test --workspace --test live --locked --no-fail-fast -- --ignored ::postgres
  step "tests of a group of MySQL servers" cargo test --workspace --locked --test evolution --test live -- --ignored --test-threads=1 group:: ::group
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
