"""PTX modules and CUDA C++ in strings."""

import cupy

MODULE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 1;
    add.u32 %r2, %r1, %f3;  // error[undeclared-name]@23: `%f3`
    ret;
}
"""

BYTES = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { bad; ret; }\n"  # // error[unknown-opcode]@80: `bad`
PARTS = ".version 8.0\n" ".target sm_80\n.address_size 64\n" ".visible .entry k() { ret }"  # // error[syntax]@88: expected an operand
FORMAT = f".version 8.0\n.target {target}\n.visible .entry k() {{ bad; }}"  # // error[unknown-opcode]@67: `bad`
MADE = f"""
.version {version}
.target sm_90
.address_size 64
.visible .entry k{number}(.param .u64 p)
{{
    .reg .b32 %r<{count}>;
    .reg .pred %p1;
    {prologue}
    @%r1 ret;  // error[guard-not-a-predicate]@5: a guard is a predicate
    add.u32 %r{number}, %r1, 1;
    add.{kind} %r1, %r2, %f3;
    mov.b64 %r1, %made;
    mov.b64 %r1, 1;  // error[operand-type]@13: `mov.b64` takes any 64-bit register
    ld.param.v2.u32 {{%r1, %r{number}}}, [p];
    st.shared.v2.b32 [%r2], {{%r1, %r3, %r4}};  // error[vector-length]@29: 
    ret;
}}
"""
HELP = "write .version and .target at the head: .version 8.0 .target sm_80"

KERNEL = cupy.RawKernel(
    r'''
    extern "C" __global__ void k(int *p) {
        asm volatile("st.global.s32 [%0], %1;" :: "l"(p), "f"(1.0f));  // error[asm-constraint-type-mismatch]: takes an integer
        asm volatile("st.global.s32 [%0], %1;" :: "l"(p), "r"(1));
    }
    ''',
    "k",
)

# What a program goes on with, and patterns, are no modules.
HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
"""
NAMELESS = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry"
WORDS = ".version VERSION\n.target TARGET\n.visible .entry k() { bad; }"
PERCENT = ".version 8.0\n.target %s\n.visible .entry k() { bad; }"
FORMATTED = ".version 8.0\n.target sm_80\n.visible .entry {name}() {{ bad; }}"
REPLACED = ".version 8.0\n.target sm_80\n.visible .entry k() { bad; }".replace("bad", "ret")
GLOBAL = ".version 8.0\n.target sm_80\n.address_size 64\n.global .bad x;"  # // error[declaration]@66: `.bad` is no type
