#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh virtual environment, hides Rust, and uses it there: from the command line,
# from Python, from mypy and from the real pre-commit.
#
#   tests/wheel.sh              builds the wheel into target/wheel, without waiting for the release's optimisations
#   tests/wheel.sh FOLDER       takes the wheel in FOLDER, which is optimised, and holds its speed to its bound
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$PWD/target/wheel-tools
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { echo "tests/wheel.sh: $*" >&2; exit 1; }

if ! [ -x "$tools/bin/mypy" ]; then
  if ! { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check maturin mypy; }; then
    [ -z "${CI:-}" ] || fail "maturin and mypy cannot be installed"
    echo "ignored: maturin and mypy cannot be installed, so the wheel is not tested" >&2
    exit 0
  fi
fi

if [ $# -gt 0 ]; then
  wheels=$(cd "$1" && pwd)
else
  wheels=$PWD/target/wheel
  rm -rf "$wheels"
  "$tools/bin/maturin" build --quiet --profile dev --out "$wheels"
fi
set -- "$wheels"/ptx_toolkit-*-abi3-*.whl
[ $# = 1 ] && [ -f "$1" ] || fail "there is not one wheel in $wheels"

# NVIDIA's assembler, where it is installed, for reports.
ptxas=$(compgen -G "$PWD/target/cuda-toolkit/lib/python3*/site-packages/nvidia/cu13/bin/ptxas" | sed --quiet 1p) || true
[ -z "$ptxas" ] || export PTXAS=$ptxas

source tests/no-rust.sh "$scratch/no-rust"
python=$("$tools/bin/python" -c 'import sys; print(sys._base_executable)')
"$python" -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$1"

export PATH=$scratch/venv/bin:$PATH
"$scratch/venv/bin/python" -W error -m unittest discover --start-directory tests/python --top-level-directory tests/python
"$tools/bin/mypy" --config-file= --cache-dir="$scratch/mypy" --strict --python-executable "$scratch/venv/bin/python" \
  tests/python/user.py
installed=$("$scratch/venv/bin/python" -c 'import pathlib, ptx_toolkit; print(pathlib.Path(ptx_toolkit.__file__).parents[1])')
MYPYPATH=$installed PYTHONPATH=$installed "$tools/bin/python" -m mypy.stubtest ptx_toolkit._native
"$scratch/venv/bin/python" tests/python/user.py tests/kernels/addition_256.ptx

# A build without optimisations has a figure, and no bound.
case $wheels in "$PWD"/target/wheel) bound= ;; *) bound=--bound ;; esac
"$scratch/venv/bin/python" tests/python/speed.py $bound
bash tests/pre-commit.sh "$wheels"
