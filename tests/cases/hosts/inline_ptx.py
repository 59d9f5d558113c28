# PTX with placeholders, and that of llvmlite.
import cutlass.cute as cute
from llvmlite import ir


def kernel(desc, smem, a, b, regs, fnty):
    cute.arch.inline_ptx("mov.b64 {$w0}, {$r0};", write_only_types=[Int64], read_only_args=[desc])
    cute.arch.inline_ptx("mov.b32 {$w0}, 1;", write_only_types=[Int64])  #  // error[asm-constraint-type-mismatch]: `mov.b32` takes any 32-bit register here, `{$w0}` is `.b64`
    alias_inline_ptx(
        "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 "
        "[{$r0}], {{$r1}, {$r2}};",  #  // error[asm-operand-reference]: `{$r2}` names no operand: there are only `{$r0}` to `{$r1}`
        read_only_args=[smem, a],
    )
    prims.inline_ptx_hl("stmatrix.sync.aligned.m16n8.x1.trans.shared.b16 [{$r0}], {{$r1}};", read_only_args=regs)  // error[modifier-conflict]: `stmatrix` does not take `.m16n8` together with `.b16`
    prims.inline_ptx_hl("add.s32 {$rw0}, {$rw0}, {$r0}, {$r1};", read_write_args=[a], read_only_args=[a, b])
    nvvm.inline_ptx([T.i32()], [a], [], "mov.b32x {$w0}, {$r0};")  #  // error[unknown-modifier]: `mov` has no modifier `.b32x`
    one = ir.InlineAsm(fnty, "rsqrt.approxx.f32 $0, $1;", "=f,f", side_effect=True)  #  // error[unknown-modifier]: `rsqrt` has no modifier `.approxx`
    two = ir.InlineAsm(fnty, "add.f32 $0, $1, $3;", "=f,f,f")  #  // error[asm-operand-reference]: `$3` names no operand: there are only `$0` to `$2`
    # Types are no variables that results are stored to.
    cute.arch.inline_ptx(
        "mov.b64 {$w0}, {$r0}; mov.b64 {$w1}, {$r0};",
        write_only_types=[cutlass.Int64, cutlass.Int64],
        read_only_args=[desc],
    )
    return one, two
