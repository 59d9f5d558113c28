# Constraints of which the program makes the letters: there is one operand for each result and value.
import triton.language as tl

@core.extern
def load(ptr, suffix, _semantic=None):
    c = _constraint(suffix)
    return tl.inline_asm_elementwise(
        asm=f"ld.globl.v2.{suffix.value} {{$0,$1}}, [$2];",  # // error[unknown-modifier]: `ld` has no modifier `.globl`
        constraints=(f"={c.value},={c.value},l"),
        args=[ptr],
        dtype=(val_type, val_type),
        is_pure=False,
        pack=1,
        _semantic=_semantic,
    )

@core.extern
def store(ptr, val0, val1, suffix, _semantic=None):
    c = _constraint(suffix)
    return tl.inline_asm_elementwise(
        asm=f"""
        st.global.v2.{suffix.value} [$1], {{$2,$3}};
        mov.u64 $0, 0;  // error[asm-constraint-type-mismatch]: `mov.u64` takes a 64-bit integer here, `$0` is `.b32`
        """,
        constraints=(f"=r,l,{c.value},{c.value}"),
        args=[ptr, val0, val1],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )

@core.extern
def lists(ptr, outs, _semantic=None):
    # How many these are is not known.
    return tl.inline_asm_elementwise(
        asm="mov.b32 $0, $5;",
        constraints=f"{outs},l",
        args=[ptr],
        dtype=(tl.int32, tl.int32, tl.int32, tl.int32, tl.int32),
        is_pure=False,
        pack=1,
    )
