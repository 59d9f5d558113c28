"""Inline PTX of CuTe's DSL: the statement is pure unless `has_side_effects` says otherwise."""

from cutlass import Float32, Int32, Int64
from cutlass._mlir.dialects import llvm
from cutlass.cutlass_dsl import T, dsl_user_op


@dsl_user_op
def load_shared(address, *, loc=None, ip=None):
    """A load of what others write."""
    return llvm.inline_asm(
        T.i32(),
        [Int32(address).ir_value(loc=loc, ip=ip)],
        "ld.shared.u32 $0, [$1];",  # // warning[asm-side-effect-not-volatile]@10: reads memory that may change, and the statement is pure
        "=r,r",
        has_side_effects=False,
        is_align_stack=False,
    )


@dsl_user_op
def load_shared_kept(address, *, loc=None, ip=None):
    """Its right twin."""
    return llvm.inline_asm(
        T.i32(),
        [Int32(address).ir_value(loc=loc, ip=ip)],
        "ld.shared.u32 $0, [$1];",
        "=r,r",
        has_side_effects=True,
    )


@dsl_user_op
def store(address, value, *, loc=None, ip=None):
    """Without results it is not volatile by itself."""
    llvm.inline_asm(None, [address, value], "st.shared.u32 [$0], $1;", "r,r")  # // error[asm-side-effect-not-volatile]: writes memory, and the statement is pure
    llvm.inline_asm(None, [address, value], "st.shared.u32 [$0], $1;", "r,r", has_side_effects=True)
    llvm.inline_asm(None, [address, value], "st.shared.u32 [$0], $1;", "r,r", has_side_effects=effects())


@dsl_user_op
def slots(address, value, *, loc=None, ip=None):
    """Constraints against values and instructions."""
    one = llvm.inline_asm(
        T.i64(),
        [Int64(address).ir_value(loc=loc, ip=ip)],  # // error[asm-constraint-type-mismatch]@10: `r` is a register of 32 bits, and the value has 64
        "cvta.to.shared.u64 $0, $1;",  # // error[asm-constraint-type-mismatch]@33: `cvta.to.shared.u64` takes a 64-bit integer here, `$1` is `.b32`
        "=l,r",
    )
    two = llvm.inline_asm(
        T.i64(),
        [Int64(address).ir_value(loc=loc, ip=ip)],
        "cvta.to.shared.u64 $0, $1;",
        "=l,l",
    )
    # An integer of 32 bits in a register for floating point is its bits.
    three = llvm.inline_asm(T.i32(), [Int32(value).ir_value()], "add.f32 $0, $1, $1;", "=f,f")
    # LLVM's ties, more than nine of them too.
    four = llvm.inline_asm(T.i32(), [value, value], "add.u32 $0, $0, $2;", "=r,0,r")
    five = llvm.inline_asm(T.i32(), [value], "add.u32 $0, $0, 1;", "+r")  # // error[asm-constraint]: LLVM has no `+` // error[asm-operand-count]: 0 constraints for inputs, and 1 value
    six = llvm.inline_asm(T.i32(), [value], "mov.b32 $0, $1;", "=x,r")  # // error[asm-constraint]: LLVM has no constraint `x` for outputs
    seven = llvm.inline_asm(T.i32(), [value], "add.u32 $0, $1, $2;", "=r,r")  # // error[asm-operand-reference]: `$2` names no operand
    eight = llvm.inline_asm(T.i32(), [], "mov.u32 $0, %laneid;", "=r")
    nine = llvm.inline_asm(T.i32(), [], "mov.u32 $0, %lanid;", "=r")  # // error[undeclared-name]: `%lanid` is not declared
    return one, two, three, four, five, six, seven, eight, nine


def pieces(value):
    """Where a template comes from."""
    lines = (
        "{\n\t"
        ".reg .b32 t;\n\t"
        "add.u32 t, $1, 1\n\t"  # // error[asm-missing-separator]: a `;` is missing
        "mov.b32 $0, t;\n\t"
        "}"
    )
    one = llvm.inline_asm(T.i32(), [value], lines, "=r,r")
    raw = textwrap.dedent(r"""
        add.u32 $0, $1, $1;
        add.u64 $0, $0, $1;
    """).strip()  # the fault is two lines above
    two = llvm.inline_asm(T.i32(), [value], "mov.b32 $0, 0; " + "mul.u32 $0, $1, 3;", "=&r,r")  # // error[missing-modifier]: `mul.u32` lacks a modifier
    three = llvm.inline_asm(T.i32(), [value], f"mov.b32 $0, {NUMBER}; add.u32.bad $0, $0, $1;", "=&r,r")  # // error[unknown-modifier]: `add`
    name = "mov.b32 $0, $1;"
    name = "mov.b64 $0, $1;"
    four = llvm.inline_asm(T.i32(), [value], name, "=r,r")  # which of the two it is is not known
    five = llvm.inline_asm(T.i32(), [value], template_of(value), "=r,r")
    six = llvm.inline_asm(T.i32(), [value], "mov.u64 $0, $1;", "=r,r")  # ptx-allow: asm-constraint-type-mismatch
    return one, two, three, four, five, six
