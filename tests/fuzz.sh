#!/usr/bin/env bash
# Fuzzes all targets of tests/fuzz, guided by coverage, on the stable toolchain:
#
#     tests/fuzz.sh [--minimise] [--jobs N] [MINUTES] [TARGET…]
#
# MINUTES (10 unless told) are divided between the targets and run on as many cores as N says (all). For
# each target one line tells executions, coverage and crashes. An input that crashes, hangs or takes too
# much memory is kept in target/fuzz/crashes, and the exit status is 1.
#
# New inputs go to target/fuzz/corpus. --minimise then merges what adds coverage into tests/fuzz/corpus,
# which is in the repository and small. Needs a C++ compiler, for libFuzzer itself.
set -euo pipefail
cd "$(dirname "$0")/.."

minimise=false jobs=$(nproc) minutes=10
while [ $# -gt 0 ]; do
  case $1 in
    --minimise) minimise=true ;;
    --jobs) jobs=$2; shift ;;
    *[!0-9]* | "") break ;;
    *) minutes=$1; shift; break ;;
  esac
  shift
done
all=$(sed -n 's/^name = "\([a-z]*\)"$/\1/p' tests/fuzz/Cargo.toml)
targets=${*:-$all}
for target in $targets; do
  grep -qx "$target" <<<"$all" || { echo "fuzz.sh: no target \`$target\`; there are" $all >&2; exit 2; }
done

# Inputs longer than this find little and cost much; no run may take more memory, no input more time.
max_len=8192 memory_mib=3000 seconds_per_input=20

work=$PWD/target/fuzz
mkdir -p "$work"
host=$(rustc -vV | sed -n 's/^host: //p')
# What cargo-fuzz passes too, but for the sanitizers, which need nightly. With an explicit --target, build
# scripts and procedural macros are built without.
flags="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
RUSTFLAGS="$flags --cfg fuzzing" cargo build --quiet --release --manifest-path tests/fuzz/Cargo.toml \
  --target "$host" --target-dir "$work/build"
cargo run --quiet -p ptx-tests --bin fuzz_dictionary >"$work/ptx.dict"

# Where seeds lie besides the corpus: the repository's own programs.
seeds() {
  case $1 in
    bytes) find tests/cases tests/kernels tests/format -name '*.ptx' -size -9k ;;
    cuda) find tests/cases -name '*.cu' -size -9k ;;
  esac
}

options() {
  echo "-max_len=$max_len -rss_limit_mb=$memory_mib -timeout=$seconds_per_input -print_final_stats=1"
  case $1 in bytes | cuda | hosts | session) echo "-dict=$work/ptx.dict" ;; esac
}

# Runs one target for $2 seconds; its log and its crashes lie under its name.
fuzz() {
  local target=$1 seconds=$2 corpus=$work/corpus/$1 crashes=$work/crashes/$1
  mkdir -p "$corpus" "$crashes" "$work/seeds/$target" "tests/fuzz/corpus/$target"
  seeds "$target" | while read -r file; do cp "$file" "$work/seeds/$target/${file//\//-}"; done
  # shellcheck disable=SC2046
  "$work/build/$host/release/$target" $(options "$target") -max_total_time="$seconds" \
    -artifact_prefix="$crashes/" "$corpus" "tests/fuzz/corpus/$target" "$work/seeds/$target" \
    >"$work/$target.log" 2>&1 || true
}

merge() {
  local target=$1 kept=tests/fuzz/corpus/$1 merged
  merged=$(mktemp -d)
  mkdir -p "$kept"
  # shellcheck disable=SC2046
  "$work/build/$host/release/$target" $(options "$target") -max_len=1024 -set_cover_merge=1 "$merged" "$kept" \
    "$work/corpus/$target" >"$work/$target.merge.log" 2>&1 || true
  rm -rf "$kept"
  mkdir -p "$kept"
  # In the order in which they were chosen, which is by what they add: an eighth of a megabyte, 300 files.
  find "$merged" -type f -printf '%T@ %s %p\n' | sort -n |
    awk '{ total += $2; if (total <= 131072 && NR <= 300) print $3 }' | xargs -r cp -t "$kept"
  rm -rf "$merged"
}

count=$(wc -w <<<"$targets")
seconds=$((minutes * 60 * jobs / count))
# With more cores than targets, none runs longer than all the time there is.
[ "$seconds" -le $((minutes * 60)) ] || seconds=$((minutes * 60))
before=$(find "$work/crashes" -type f 2>/dev/null | wc -l)
running=0
for target in $targets; do
  [ "$running" -lt "$jobs" ] || { wait -n; running=$((running - 1)); }
  fuzz "$target" "$seconds" &
  running=$((running + 1))
done
wait
$minimise && for target in $targets; do merge "$target"; done

printf '%-14s %12s %9s %9s %8s %8s\n' target executions coverage features corpus crashes
for target in $targets; do
  log=$work/$target.log
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  # As in "#123 DONE cov: 4711 ft: 8150 corp: 33/12Kb …"; the last such line is the state at the end.
  state=$(grep -a ' cov: [0-9]* ft: [0-9]* corp: ' "$log" | tail -1)
  field() { sed -n "s/.* $1: \([0-9]*\).*/\1/p" <<<"$state"; }
  crashes=$(find "$work/crashes/$target" -type f | wc -l)
  printf '%-14s %12s %9s %9s %8s %8s\n' "$target" "${executions:--}" "$(field cov)" "$(field ft)" \
    "$(field corp)" "$crashes"
done
after=$(find "$work/crashes" -type f | wc -l)
if [ "$after" -gt "$before" ]; then
  echo "fuzz.sh: $((after - before)) inputs crash; they are kept in target/fuzz/crashes" >&2
  exit 1
fi
