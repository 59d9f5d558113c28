#!/usr/bin/env bash
# Runs all tests: those of the crates, the data files against NVIDIA's assembler, and the pre-commit hooks with the
# real pre-commit. Where the network is missing, the tests that need NVIDIA's tools are shown as ignored; with CI=true
# a test that is ignored is a failure, unless it needs what no machine of CI has: a GPU, or the superuser.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! bash tests/install-toolkit.sh; then
  echo "NVIDIA's compiler tools cannot be installed: the tests that ask them are ignored" >&2
fi
mkdir -p target
# Small stacks and, in CI, little address space show what recurses over its input and what grows without bound. The
# compiler heeds the variable too, so only the test programs get it. One run shows all that fails.
cargo test --workspace --no-run
(
  [ -z "${CI:-}" ] || ulimit -v 16000000
  cargo test --workspace --no-fail-fast --config 'target."cfg(unix)".runner = ["env", "RUST_MIN_STACK=524288"]'
) 2>&1 | tee target/tests.log
bash tests/pre-commit.sh

grep --extended-regexp '^test .* \.\.\. ignored' target/tests.log |
  grep --invert-match --extended-regexp 'ignored, needs (a GPU|the superuser)' >target/ignored.log || true
if [ -n "${CI:-}" ] && [ -s target/ignored.log ]; then
  echo "tests were ignored, and CI=${CI} wants all of them to run:" >&2
  cat target/ignored.log >&2
  exit 1
fi
