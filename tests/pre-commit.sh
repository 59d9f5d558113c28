#!/usr/bin/env bash
# Tests .pre-commit-hooks.yaml with the real pre-commit on a scratch repository: both hooks find what they
# are for, and pass once it is put right.
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

export PRE_COMMIT_HOME=$scratch/home
# Dependencies are built once and kept between runs of this script.
export CARGO_TARGET_DIR=$root/target/pre-commit-build
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
      - id: ptx-verify
      - id: ptx-format
YAML
kernel() { printf '.version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n%s\n}\n' "$1"; }
kernel $'\t.reg .b32 %r<2>;\n\tmov.u32 %r1 7;\n\tbar.sync %r1;\n\tret;' >wrong.ptx
kernel $'.reg    .b32   %r<2>;\n      mov.u32   %r1,7;\n  bar.sync %r1;\nret;' >untidy.ptx
echo 'not PTX at all' >notes.txt
git add --all

run() { "$tools/bin/pre-commit" run --all-files "$1" --verbose >"$scratch/log" 2>&1; }
want() { grep --quiet --fixed-strings -- "$1" "$scratch/log" || { cat "$scratch/log" >&2; fail "no \`$1\` in the output"; }; }

if run ptx-verify; then cat "$scratch/log" >&2; fail "ptx-verify passed a file that lacks a comma"; fi
want "wrong.ptx:7:"
if grep --quiet "notes.txt\|untidy.ptx:" "$scratch/log"; then cat "$scratch/log" >&2; fail "ptx-verify complains of good files"; fi

if run ptx-format; then cat "$scratch/log" >&2; fail "ptx-format passed an untidy file"; fi
want "files were modified by this hook"
git diff --quiet -- untidy.ptx && fail "ptx-format did not change the untidy file"
git diff --quiet -- wrong.ptx || fail "ptx-format changed a file that has syntax errors"

sed -i 's/%r1 7/%r1, 7/' wrong.ptx
run ptx-format || true
git add --all
run ptx-verify || { cat "$scratch/log" >&2; fail "ptx-verify complains of the files after they were put right"; }
run ptx-format || { cat "$scratch/log" >&2; fail "ptx-format is not idempotent"; }
echo "pre-commit: both hooks find what they are for, and pass once it is put right"
