#!/usr/bin/env bash
# Tests .pre-commit-hooks.yaml with the real pre-commit on a scratch repository: the hooks find what they are for, and
# pass once it is put right.
#
#   tests/pre-commit.sh             the hooks that are built from source
#   tests/pre-commit.sh FOLDER      the hooks that install a wheel, which lies in FOLDER; Rust is hidden from them
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
tools=$root/target/pre-commit
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { echo "tests/pre-commit.sh: $*" >&2; exit 1; }

if ! [ -x "$tools/bin/pre-commit" ]; then
  if ! { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check pre-commit; }; then
    [ -z "${CI:-}" ] || fail "pre-commit cannot be installed"
    echo "ignored: pre-commit cannot be installed, so the hooks are not tested" >&2
    exit 0
  fi
fi

suffix=-src
# Dependencies are built once and kept between runs of this script.
export CARGO_TARGET_DIR=$root/target/pre-commit-build
if [ $# -gt 0 ]; then
  suffix=
  PIP_FIND_LINKS=$(cd "$1" && pwd)
  # Nothing but the wheel: no index, and no compiler.
  export PIP_FIND_LINKS PIP_NO_INDEX=1
  source tests/no-rust.sh "$scratch/no-rust"
fi
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost
export GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# pre-commit takes hooks from a commit; this one holds the working tree as it is.
mkdir "$scratch/hooks"
git ls-files --cached --others --exclude-standard -z |
  while IFS= read -r -d '' file; do if [ -f "$file" ]; then printf '%s\0' "$file"; fi; done |
  tar --null --files-from=- --create --file=- | tar --extract --file=- --directory="$scratch/hooks"
git -C "$scratch/hooks" init --quiet
git -C "$scratch/hooks" add --all
git -C "$scratch/hooks" commit --quiet --message "the hooks"
revision=$(git -C "$scratch/hooks" rev-parse HEAD)

mkdir "$scratch/project"
cd "$scratch/project"
git init --quiet
cat >.pre-commit-config.yaml <<YAML
repos:
  - repo: $scratch/hooks
    rev: $revision
    hooks:
      - id: ptx-verify$suffix
      - id: ptx-verify-fix$suffix
      - id: ptx-format$suffix
      - id: ptx-report$suffix
YAML
kernel() { printf '.version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n%s\n}\n' "$1"; }
kernel $'\t.reg .b32 %r<2>;\n\tmov.u32 %r1 7;\n\tbar.sync %r1;\n\tret;' >wrong.ptx
kernel $'.reg    .b32   %r<2>;\n      mov.u32   %r1,7;\n  bar.sync %r1;\nret;' >untidy.ptx
# Modifiers in the wrong order have a fix that is certain.
kernel $'\t.reg .f32 %f<3>;\n\tmov.f32 %f1, 0f00000000;\n\tadd.ftz.rn.f32 %f2, %f1, %f1;\n\tret;' >fixable.ptx
echo 'void f(unsigned &a, unsigned b) { asm("mov.b32   %0,%1;" : "=r"(a) : "r"(b)); }' >kernel.cu
echo 'not PTX at all' >notes.txt
git add --all

show() { cat "$scratch/log" >&2; fail "$*"; }
run() { "$tools/bin/pre-commit" run --all-files "$1$suffix" --verbose >"$scratch/log" 2>&1; }
want() { grep --quiet --fixed-strings -- "$1" "$scratch/log" || show "no \`$1\` in the output"; }

# The first use of a hook installs it. With a wheel nothing is compiled, which takes minutes of the processor; all else
# takes some seconds, more on a busy machine.
export PRE_COMMIT_HOME=$scratch/home
TIMEFORMAT='%R %U %S'
if { time run ptx-verify; } 2>"$scratch/time"; then show "ptx-verify passed a file that lacks a comma"; fi
read -r took user system <"$scratch/time"
# pre-commit compiles without the lock file, so it asks the registry of crates even where all crates are here.
if [ -n "$suffix" ] && grep --quiet --extended-regexp "[Cc]ould ?n[o']t resolve host|failed to (download|query|fetch)|HTTP request" "$scratch/log"; then
  echo "ignored: the registry of crates cannot be reached, so the hooks are not built from source" >&2
  exit 0
fi
want "wrong.ptx:7:"
if grep --quiet "notes.txt\|untidy.ptx:" "$scratch/log"; then show "ptx-verify complains of good files"; fi
if [ -z "$suffix" ] && awk "BEGIN { exit !($user + $system >= 60) }"; then
  fail "the first use of a hook took $user s and $system s of the processor: it was compiled"
fi

if run ptx-format; then show "ptx-format passed an untidy file"; fi
want "files were modified by this hook"
git diff --quiet -- untidy.ptx && fail "ptx-format did not change the untidy file"
git diff --quiet -- wrong.ptx || fail "ptx-format changed a file that has syntax errors"
git diff --quiet -- kernel.cu || fail "ptx-format changed a CUDA source though nobody asked for it"

if run ptx-verify-fix; then show "ptx-verify-fix had nothing to fix"; fi
want "files were modified by this hook"
grep --quiet --fixed-strings 'add.rn.ftz.f32' fixable.ptx || show "ptx-verify-fix did not fix the order of modifiers"

sed -i 's/%r1 7/%r1, 7/' wrong.ptx
run ptx-format || true
git add --all
for hook in ptx-verify ptx-verify-fix ptx-format; do
  run $hook || show "$hook complains of the files after they were put right"
done

# Templates of asm statements are formatted where the configuration or an argument asks for it.
for asked in configuration argument; do
  git checkout --quiet -- kernel.cu .pre-commit-config.yaml
  case $asked in
    configuration) printf '[format]\nasm = true\n' >ptx.toml ;;
    argument) rm ptx.toml && sed -i "s/- id: ptx-format$suffix\$/&\n        args: [--asm]/" .pre-commit-config.yaml ;;
  esac
  if run ptx-format; then show "ptx-format passed an untidy asm template, asked for by $asked"; fi
  grep --quiet --fixed-strings 'asm("mov.b32 %0, %1;"' kernel.cu || show "ptx-format did not format an asm template"
done
git checkout --quiet -- kernel.cu .pre-commit-config.yaml

# Without NVIDIA's assembler it says what it lacks.
if env -u PTXAS -u CUDA_HOME "$tools/bin/pre-commit" run --all-files "ptx-report$suffix" >"$scratch/log" 2>&1; then
  want Passed
else
  grep --quiet 'back end is missing\|no assembler back end is available\|refused\|cannot' "$scratch/log" || show "ptx-report fails without a reason"
fi
if [ -n "${PTXAS:-}" ]; then run ptx-report || show "ptx-report refuses good files"; want registers; fi
echo "pre-commit: the hooks of \`ptx-verify$suffix\` and its siblings find what they are for; first use: $took s"
