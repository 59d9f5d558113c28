#!/usr/bin/env bash
# Runs the tests and tells which took longest.
#
#   tests/run.sh          those of the crates, and the data files against NVIDIA's assembler
#   tests/run.sh --all    and those of them that take longest; besides the wheel, used from Python and by the real
#                         pre-commit; the book; the hooks of pre-commit that are built from source; the extension for
#                         Visual Studio Code; the language server in a real Neovim; the table, with what does not exist
#                         added to it
#
# Where the network is missing, the tests that need NVIDIA's tools, and packages of PyPI, are shown as ignored; with
# CI=true that is a failure. What needs a GPU, the superuser, tmux, Neovim, node or npm's registry is shown as ignored
# and is never a failure, for machines of CI may lack it.
set -euo pipefail
cd "$(dirname "$0")/.."

all=
case ${1:-} in
  "") ;;
  --all) all=1 ;;
  *) echo "usage: tests/run.sh [--all]" >&2; exit 2 ;;
esac

if ! bash tests/install-toolkit.sh; then
  echo "NVIDIA's compiler tools cannot be installed: the tests that ask them are ignored" >&2
fi
mkdir -p target
# To keep what a later build can use takes a fifth of the time of a build. So nothing is kept where nobody has built by
# other means than this script.
[ -d target/debug/incremental ] || export CARGO_INCREMENTAL=0
# Small stacks and, in CI, little address space show what recurses over its input and what grows without bound. The
# compiler heeds the variable too, so only the test programs get it, and with it leave to tell how long each test took.
# One run shows all that fails.
runner='target."cfg(unix)".runner = ["env", "RUST_MIN_STACK=524288", "RUSTC_BOOTSTRAP=1"]'
test() {
  [ -z "${CI:-}" ] || ulimit -v 16000000
  cargo test --workspace --no-fail-fast --config "$runner" "$@"
}
timed=(-Zunstable-options --report-time)
# A sixth of the time of all the others together, and only about NVIDIA's compilers.
long=(
  asm_oracle::nvcc_agrees_about_every_part
  assembler::figures_are_those_of_the_machine_code
  inline::kernels_compute_the_same_with_parts_as_functions
  inline::kernels_compute_the_same_without_calls
)
if [ -z "$all" ]; then
  for name in "${long[@]}"; do
    timed+=(--skip "$name")
  done
fi
cargo test --workspace --no-run
failed=()
(test --tests -- "${timed[@]}") 2>&1 | tee target/tests.log || failed+=("cargo test --tests")
(test --doc) 2>&1 | tee --append target/tests.log || failed+=("cargo test --doc")
part() {
  printf '\n-- %s\n' "$*"
  local begin=$SECONDS
  if bash "$@" 2>&1 | tee --append target/tests.log; then
    echo "test $* ... ok <$((SECONDS - begin)).0s>" >>target/tests.log
  else
    failed+=("$1")
  fi
}
if [ -n "$all" ]; then
  part tests/wheel.sh
  part tests/book.sh target/wheel
  part tests/vscode.sh
  part tests/neovim.sh
  part tests/one-paragraph.sh
  part tests/dependent.sh
  part tests/pre-commit.sh
fi

echo
echo "The tests that took longest:"
sed --quiet --regexp-extended 's/^test (.*) \.\.\. ok <([0-9.]+)s>$/\2 s  \1/p' target/tests.log | sort --general-numeric-sort --reverse | sed --quiet 1,12p

if [ -n "$all" ]; then
  for name in "${long[@]}"; do
    grep --quiet "^test $name \.\.\. " target/tests.log || failed+=("$name, which no program has")
  done
else
  printf 'test %s ... ignored, takes long: tests/run.sh --all runs it\n' "${long[@]}" | tee --append target/tests.log
fi
grep '^ignored: ' target/tests.log >&2 || true
grep --extended-regexp '^test .* \.\.\. ignored' target/tests.log |
  grep --invert-match --extended-regexp 'ignored, (needs (a GPU|the superuser)|takes long)' >target/ignored.log || true
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
if [ -n "${CI:-}" ] && [ -s target/ignored.log ]; then
  echo "tests were ignored, and CI=${CI} wants all of them to run:" >&2
  cat target/ignored.log >&2
  exit 1
fi
