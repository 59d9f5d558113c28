#!/usr/bin/env bash
# Builds the book into target/book, which checks its links, and runs its examples.
#
#   tests/book.sh              with target/debug/ptx-cli, which is built by then; examples in Python are ignored
#   tests/book.sh FOLDER       with the program and the module of the wheel that lies in FOLDER
#
# BLESS=1 writes into the pages what the examples print.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
tools=$root/target/book-tools
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { echo "tests/book.sh: $*" >&2; exit 1; }

python=python3
if [ $# -gt 0 ]; then
  wheels=$(cd "$1" && pwd)
  set -- "$wheels"/ptx_toolkit-*-abi3-*.whl
  [ $# = 1 ] && [ -f "$1" ] || fail "there is not one wheel in $wheels"
  python3 -m venv "$scratch/venv"
  "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$1"
  export PTX_CLI=$scratch/venv/bin/ptx-cli PTX_PYTHON=$scratch/venv/bin/python
fi
export PTX_CLI=${PTX_CLI:-$root/target/debug/ptx-cli}
[ -x "$PTX_CLI" ] || fail "there is no $PTX_CLI: build it, or name another one in PTX_CLI"
if [ -z "${PTXAS:-}" ]; then
  ptxas=$(compgen -G "$root/target/cuda-toolkit/lib/python3*/site-packages/nvidia/cu13/bin/ptxas" | sed --quiet 1p) || true
  [ -z "$ptxas" ] || export PTXAS=$ptxas
fi

find docs/pages -name '*.md' -print0 | sort --zero-terminated |
  xargs --null "$python" docs/examples.py ${BLESS:+--bless}

# MkDocs, because a Python with pip is on every machine that tests the wheel; mdBook would have to be compiled there.
if ! cmp --quiet docs/requirements.txt "$tools/requirements.txt"; then
  if ! { "$python" -m venv --clear "$tools" &&
    "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement docs/requirements.txt; }; then
    [ -z "${CI:-}" ] || fail "MkDocs cannot be installed"
    echo "ignored: MkDocs cannot be installed, so the book is not built" >&2
    exit 0
  fi
  cp docs/requirements.txt "$tools/requirements.txt"
fi
rm -rf target/book
# Not --quiet: warnings that are not told do not count. The theme's authors advertise on standard error.
if ! NO_MKDOCS_2_WARNING=1 "$tools/bin/mkdocs" build --strict --config-file docs/mkdocs.yml >target/book.log 2>&1; then
  cat target/book.log >&2
  fail "the book has faults"
fi
pages=$(find target/book/rules -mindepth 2 -name index.html | wc -l)
rules=$("$PTX_CLI" rules | wc -l)
[ "$pages" = "$rules" ] || fail "the book has $pages pages of rules, the program $rules rules"
echo "the book is in target/book: $(find target/book -name index.html | wc -l) pages"
