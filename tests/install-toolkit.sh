#!/usr/bin/env bash
# Installs NVIDIA's compiler tools from PyPI (ptxas, nvcc, cuobjdump, nvdisasm, the PTX compiler library; no driver,
# no GPU) into the folder named as argument, by default target/cuda-toolkit of this repository, and prints the
# folder whose bin/ holds them. The tests that ask NVIDIA's tools find them there. A second call installs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-target/cuda-toolkit}
version=13.5.37
tools() { compgen -G "$folder/lib/python3*/site-packages/nvidia/cu13/bin/ptxas" | sed --quiet 1p; }

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
home=$PWD
# The library comes as an archive; the back end that loads it wants a shared object.
if ! [ -f lib/libnvptxcompiler.so ] && command -v g++ >/dev/null; then
  cd "$OLDPWD"
  [ -f "$home/lib/libnvptxcompiler_static.a" ] ||
    "$folder/bin/pip" install --quiet --disable-pip-version-check "nvidia-nvptxcompiler==$version" >&2
  g++ -shared -o "$home/lib/libnvptxcompiler.new" -Wl,--whole-archive "$home/lib/libnvptxcompiler_static.a" \
    -Wl,--no-whole-archive -lpthread -ldl >&2
  mv "$home/lib/libnvptxcompiler.new" "$home/lib/libnvptxcompiler.so"
fi
echo "$home"
