#!/usr/bin/env bash
# Runs all tests: those of the crates, the data files against NVIDIA's assembler, and the pre-commit
# hooks with the real pre-commit. What needs the network is skipped, and says so, where there is none.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! bash tests/install-toolkit.sh; then
  echo "skipped: NVIDIA's compiler tools cannot be installed; the tests that ask ptxas will say so" >&2
fi
# One run shows all that fails.
cargo test --workspace --no-fail-fast
bash tests/pre-commit.sh
