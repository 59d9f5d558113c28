#!/usr/bin/env bash
# Tells the compiler what the program does most, so that it makes that fast: the programs of a release are a tenth faster for it.
#
#   rustup component add llvm-tools
#   ptx-cli/profile.sh TARGET PROFILE
#   RUSTFLAGS=-Cprofile-use=PROFILE cargo build --profile dist --package ptx-cli --target TARGET
#
# Builds the program for TARGET, which has to run here, with counters in it. That verifies and formats the files that the
# tests have, and what was counted goes to the file PROFILE (an absolute path). The same compiler has to read it, for the same
# target.
set -euo pipefail
target=$1 profile=$2
cd "$(dirname "$0")/.."
merge=$(rustc --print sysroot)/lib/rustlib/$(rustc --version --verbose | sed -n 's/^host: //p')/bin/llvm-profdata
[ -x "$merge" ] || { echo "there is no $merge; rustup component add llvm-tools" >&2; exit 1; }

counts=$(mktemp -d)
trap 'rm -rf "$counts"' EXIT
# Counters keep what would be left out, and with it the calls of a CUDA driver that is not there. Little is done in that part.
RUSTFLAGS="-Cprofile-generate=$counts" \
  cargo build --profile dist --locked --package ptx-cli --no-default-features --target "$target" --target-dir target/profile
mkdir "$counts/files"
tar --extract --file tests/corpus.tar.zst --directory "$counts/files"
for command in "verify" "format --check"; do
  status=0
  # Some of the files have findings, and none is laid out: both is told by 1.
  "target/profile/$target/dist/ptx-cli" $command --jobs 1 "$counts/files" >/dev/null 2>&1 || status=$?
  [ "$status" -le 1 ] || { echo "$command: $status" >&2; exit 1; }
done
"$merge" merge --output "$profile" "$counts"/*.profraw
