#!/usr/bin/env bash
# An instruction, a special register and a directive that do not exist, each one paragraph of one file: parsing, lowering,
# verification (what the instruction computes and what its operands are for among it), printing, the builder, `isa`, completion and the generator of the tests know them, in a copy of the
# repository to which nothing but the paragraphs is added.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

# Always the same folder, so that what an earlier run has built need not be built again.
copy=$root/target/one-paragraph
rm -rf "$copy"
mkdir -p "$copy"
git ls-files --cached --others --exclude-standard -z | tar --create --null --files-from=- | tar --extract --directory="$copy"
cd "$copy"
cat "$root/tests/one-paragraph/instruction.isa" >>ptx-ir/isa/manual/wgmma.isa
cat "$root/tests/one-paragraph/special_register.isa" >>ptx-ir/isa/manual/special_registers.isa
cat "$root/tests/one-paragraph/directive.isa" >>ptx-ir/isa/manual/directives.isa
mkdir -p tests/examples
cp "$root/tests/one-paragraph/program.rs" tests/examples/one_paragraph.rs
# In a folder of its own: to cargo the copy's crates are those of the repository, which would be made of the copy's table.
export CARGO_TARGET_DIR=$root/target/one-paragraph-build
cargo build --quiet --package ptx-tests --example one_paragraph
program=$CARGO_TARGET_DIR/debug/examples/one_paragraph

# check WHAT COMMAND… with what it has to print, on standard input: each line is somewhere in the output.
check() {
  local what=$1 output line
  shift
  output=$("$@" 2>&1) || true
  while IFS= read -r line; do
    if ! grep --quiet --fixed-strings -- "$line" <<<"$output"; then
      printf '%s: "%s" is not in\n%s\n' "$what" "$line" "$output" >&2
      exit 1
    fi
  done
  echo "$what: as expected"
}

cat >good.ptx <<'PTX'
.version 9.5
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 out) .foldrank 4, 2
{
	.reg .b32 %r<12>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<2>;
	.shared .align 8 .b64 bar;
	.shared .align 4 .b32 row[16];

	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %foldid.x;
	mov.u32 %r2, %foldid.y;
	mov.f32 %f1, 0f00000000;
	mov.f32 %f2, 0f00000000;
	mbarrier.init.shared.b64 [bar], 1;
	fold.tensor.sync.aligned.m16n8k8.f32.f16 {%f1, %f2}, {%r1, %r2}, 5, [bar];
	st.global.v2.f32 [%rd1], {%f1, %f2};
	mov.u32 %r5, 40;
	fold.tensor.sync.aligned.m16n8k8.rank.u32 %r6, %r5, 20, 5, [bar];
	mov.u32 %r7, row;
	add.u32 %r8, %r7, %r6;
	ld.shared.u32 %r9, [%r8];
	st.global.u32 [%rd1], %r9;
	ret;
}
PTX
"$program" verify --warn all good.ptx
sed 's/{%r1, %r2}, 5/{%r1, %r2, %r1}, 9/; s/foldrank 4, 2/foldrank 0 .maxclusterrank 4/' good.ptx >bad.ptx
check "verify, wrong operands and arguments" "$program" verify bad.ptx <<'EXPECTED'
`fold.tensor.sync.aligned.m16n8k8.f32.f16` takes 2 elements here, there are 3
`.foldrank` takes a number above 0
EXPECTED
sed 's/\.version 9.5/.version 8.6/' good.ptx >old.ptx
check "verify, an old version" "$program" verify old.ptx <<'EXPECTED'
needs PTX 9.3
`.foldrank`
`%foldid.x`
EXPECTED
sed 's/fold\.tensor\.sync\.aligned\.m16n8k8/fold.tensor.sync.aligned.m16n12k8/' good.ptx >unknown.ptx
check "verify, an unknown shape" "$program" verify unknown.ptx <<'EXPECTED'
.m16n12k8
EXPECTED
# What it computes flows on: the sum of 40 and 28 is 4 bytes beyond the end of `row`.
sed 's/%r5, 20, 5/%r5, 28, 5/' good.ptx >beyond.ptx
check "verify, an access that the computed number leads beyond a variable" "$program" verify beyond.ptx <<'EXPECTED'
outside of `row`
begins 4 bytes after its end
EXPECTED
# The role of its operand: nothing makes the barrier ready that it completes on.
sed '/mbarrier.init/d' good.ptx >lacking.ptx
check "verify, a barrier that nothing makes ready" "$program" verify --warn all lacking.ptx <<'EXPECTED'
mbarrier
EXPECTED
check "canonicalize" "$program" canonicalize good.ptx <<'EXPECTED'
fold.tensor.sync.aligned.m16n8k8.f32.f16
{%f1, %f2}, {%r1, %r2}, 5, [bar];
.foldrank 4, 2
EXPECTED
check "isa, an instruction" "$program" isa fold.tensor <<'EXPECTED'
fold.tensor.sync{.aligned}.shape.dtype.f16  d, a, b, [mbar]
folds a matrix, and tells the barrier
.m16n32k8
PTX 9.3
operands {d}: 2 to 8 × .f32 (read and written) with .f32; 1 to 4 × .f16x2 (read and written) else
operands [mbar]: an address in .shared, read and written
EXPECTED
check "isa, a special register" "$program" isa %foldid.x <<'EXPECTED'
.sreg
where the warp is in the fold
the same for the threads of a warp
EXPECTED
check "isa, a directive" "$program" isa .foldrank <<'EXPECTED'
no larger fold than this is started
excludes .maxclusterrank
EXPECTED
check "the builder" "$program" build <<'EXPECTED'
fold.tensor.sync.aligned.m16n8k8.f32.f16
%foldid.x
EXPECTED
check "the generator" "$program" generate <<'EXPECTED'
fold.tensor.sync
EXPECTED
check "completion" python3 "$root/tests/one-paragraph/complete.py" "$program" <<'EXPECTED'
'fold'
'%foldid'
'.foldrank'
EXPECTED
