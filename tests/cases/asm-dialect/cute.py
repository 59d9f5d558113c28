from cutlass._mlir.dialects import llvm


def values(a):
    template = "{ .reg .b32 t; not.b32 t, $1; mov.b32 $0, t; }"
    one = llvm.inline_asm(
        T.i32(),
        [a],
        template,
        "=r,r",
        asm_dialect=llvm.AsmDialect.AD_Intel,  # // error[asm-dialect]@21: PTX has no dialect of Intel
    )
    two = llvm.inline_asm(T.i32(), [a], template, "=r,r")
    # LLVM keeps the braces; not every toolchain does.
    three = llvm.inline_asm(
        T.i32(),
        [a],
        template,
        "=r,r",
        asm_dialect=llvm.AsmDialect.AD_ATT,  # // info[asm-dialect]: a dialect is named, and the template has braces
    )
    four = llvm.inline_asm(T.i32(), [a], "not.b32 $0, $1;", "=r,r", asm_dialect=llvm.AsmDialect.AD_ATT)
    # Told once a file.
    five = llvm.inline_asm(T.i32(), [a], template, "=r,r", asm_dialect=llvm.AsmDialect.AD_ATT)
    return one, two, three, four, five
