#!/usr/bin/env bash
# Compiles asm_faults.cu twice: with the toolkit's headers as they are, and with a copy of them that
# `ptx-cli verify --fix` has corrected. The programs can then be run on any GPU of sm_90.
#
#   examples/asm-faults/build.sh TOOLKIT [OUTPUT]
#
# TOOLKIT is the folder with bin/nvcc and include/; OUTPUT is target/asm-faults unless given.
set -euo pipefail
toolkit=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
output=${2:-$here/../../target/asm-faults}
ptx_cli=${PTX_CLI:-$here/../../target/release/ptx-cli}
mkdir -p "$output"
output=$(realpath "$output")

# A toolkit of links, with headers and compiler driver of its own.
rm -rf "$output/fixed"
mkdir -p "$output/fixed/bin"
for entry in "$toolkit"/*; do
  name=$(basename "$entry")
  [ "$name" = bin ] || [ "$name" = include ] || ln -s "$entry" "$output/fixed/$name"
done
for entry in "$toolkit"/bin/*; do ln -s "$entry" "$output/fixed/bin/"; done
rm "$output/fixed/bin/nvcc"
cp "$toolkit/bin/nvcc" "$output/fixed/bin/"
cp -rL "$toolkit/include" "$output/fixed/include"
chmod -R u+w "$output/fixed/include"

# Only what the program shows is corrected; the rest of the findings is another matter.
for header in crt/device_functions.hpp cccl/cub/warp/specializations/warp_reduce_shfl.cuh \
  cccl/cuda/__numeric/add_overflow.h; do
  "$ptx_cli" verify --quiet --allow all --error asm-missing-early-clobber --fix "$output/fixed/include/$header"
done

compile() { "$1/bin/nvcc" -std=c++17 -arch=sm_90 -w -I "$1/include/cccl" -o "$output/$2" "${@:3}" "$here/asm_faults.cu"; }
compile "$toolkit" before
compile "$output/fixed" after '-DEARLY="&"'
