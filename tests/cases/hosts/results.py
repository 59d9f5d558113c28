"""Results in Python are new values: there is no old one that a statement could lose."""

import triton.language as tl


def kernel(ptr, mask, x):
    # Triton wants a result of every statement.
    tl.inline_asm_elementwise("bar.sync 0;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    a = tl.inline_asm_elementwise("bar.sync 0;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)  # // warning[asm-output-never-written]: `$0` is an output and is never written
    b = tl.inline_asm_elementwise(
        "{ .reg .pred p; setp.eq.s32 p, $2, 1; @p ld.global.b32 $0, [$1]; }",
        "=r,l,r",  # // info[asm-output-conditionally-written]@10: `$0` is an output and is not written on every path
        [ptr, mask],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
    c = tl.inline_asm_elementwise("add.u32 $0, $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)  # // error[asm-output-read-before-write]: `$0` is an output and is read here before it is written
    d = tl.inline_asm_elementwise("add.u32 $1, $1, 1; mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)  # // error[asm-input-written]: `$1` (`x`) is an input and is written here
    return a, b, c, d


def guarded(signal, address, rank):
    # One predicate guards the write and the read.
    llvm.inline_asm(
        None,
        [signal, address, rank],
        "{ .reg .b32 there; @$0 mapa.shared::cluster.u32 there, $1, $2; @$0 mbarrier.arrive.shared::cluster.b64 _, [there]; }",
        "b,r,r",
        has_side_effects=True,
    )
