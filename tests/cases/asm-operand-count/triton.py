import triton
import triton.language as tl


@triton.jit
def counts(x, y, z):
    # An output too many, and the right twin.
    a = tl.inline_asm_elementwise("and.b32 $0, $1, 15;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    b = tl.inline_asm_elementwise(
        "and.b32 $0, $2, 15; mov.b32 $1, 0;",
        "=&r,=r,r",  # // error[asm-operand-count]@10: 2 constraints for outputs, and 1 result register
        [x],
        dtype=tl.int32,
        is_pure=True,
        pack=1,
    )
    # A value too few.
    c = tl.inline_asm_elementwise(
        "add.u32 $0, $1, $2;",
        "=r,r,r",  # // error[asm-operand-count]: 2 constraints for inputs, and 1 value
        [x],
        dtype=tl.int32,
        is_pure=True,
        pack=1,
    )
    d = tl.inline_asm_elementwise("add.u32 $0, $1, $2;", "=r,r,r", [x, y], tl.int32, True, 1)
    return a, b, c, d


@triton.jit
def packed(x, y):
    # Two halves share a register.
    a = tl.inline_asm_elementwise(
        "add.rn.f16x2 $0, $2, $3; mov.b16 $1, 0;",
        "=r,=h,r,r",  # // error[asm-operand-count]: 1 result register: 2 elements of `float16` share one
        [x, y],
        dtype=tl.float16,
        is_pure=True,
        pack=2,
    )
    b = tl.inline_asm_elementwise("add.rn.f16x2 $0, $1, $2;", "=r,r,r", [x, y], tl.float16, True, 2)
    # Four bytes share one; three do not fill it.
    c = tl.inline_asm_elementwise("and.b32 $0, $1, 0x1F1F1F1F;", "=r,r", [x], tl.int8, True, 4)
    d = tl.inline_asm_elementwise(
        "and.b32 $0, $1, $2;",
        "=r,r,r",  # // error[asm-operand-count]: 6 elements of 8 bits do not fill registers of 32 bits
        [x],
        dtype=(tl.int8,),
        is_pure=True,
        pack=6,
    )
    # Elements of 32 bits have one each.
    e = tl.inline_asm_elementwise("mov.b32 $0, $2; mov.b32 $1, $3;", "=&r,=r,r,r", [x], tl.int32, True, 2)
    # How many there are is computed.
    f = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", values(x), result(y), True, PACK)
    g = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [*values], tl.int32, True, 1)
    return a, b, c, d, e, f, g
