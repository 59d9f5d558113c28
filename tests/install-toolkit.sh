#!/usr/bin/env bash
# Installs NVIDIA's compiler tools from PyPI (ptxas, nvcc, cuobjdump, nvdisasm; no driver, no GPU) into
# the folder named as argument, by default target/cuda-toolkit of this repository, and prints the folder
# whose bin/ holds them. The tests that ask ptxas for its verdict find them there. A second call installs
# nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-target/cuda-toolkit}
version=13.5.37
tools() { compgen -G "$folder/lib/python3*/site-packages/nvidia/cu13/bin/ptxas" | head -n 1; }

if [ -z "$(tools)" ]; then
  python3 -m venv "$folder" >&2
  "$folder/bin/pip" install --quiet --disable-pip-version-check \
    "nvidia-cuda-nvcc==$version" "nvidia-nvvm==$version" "nvidia-cuda-crt==$version" \
    "nvidia-cuda-runtime==$version" "nvidia-cuda-cccl==13.3.5.0.6" \
    "nvidia-cuda-cuobjdump==$version" "nvidia-cuda-nvdisasm==$version" >&2
fi
ptxas=$(tools)
[ -x "$ptxas" ] || { echo "$0: the packages came without ptxas" >&2; exit 1; }
cd "$(dirname "$ptxas")/.."
pwd
