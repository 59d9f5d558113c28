#!/usr/bin/env bash
# Builds and runs tests/dependent, a package outside of the workspace that depends on the libraries by their paths, as if
# there were no CUDA on this machine: `cust`, which wants it, has to stay a matter of a feature.
set -euo pipefail
cd "$(dirname "$0")/dependent"
fail() { echo "tests/dependent.sh: $*" >&2; exit 1; }

unset CUDA_PATH CUDA_ROOT CUDA_TOOLKIT_ROOT_DIR CUDA_LIBRARY_PATH CUDA_HOME
# Versions as everywhere else; what only the workspace needs goes by itself.
cp ../../Cargo.lock .
export CARGO_TARGET_DIR=$PWD/../../target/dependent
if ! cargo fetch --quiet 2>/dev/null && ! cargo fetch --quiet --offline; then
  [ -z "${CI:-}" ] || fail "the packages cannot be fetched"
  echo "ignored: the packages cannot be fetched, so no dependent is built" >&2
  exit 0
fi
cargo tree --quiet --edges normal,build --prefix none | grep -E '^(cust|find_cuda_helper) ' &&
  fail "a dependent builds cust without having asked for it"
printed=$(cargo run --quiet)
grep -q '^.visible .entry k()$' <<< "$printed" || fail "the dependent does not print its module"
# What is off by default is tested where it is on.
runner='target."cfg(unix)".runner = ["env", "RUST_MIN_STACK=524288"]'
cargo test --quiet --config "$runner"
