"""How long `verify` takes for a kernel of 5 kB. With --bound, more than a millisecond is a failure."""

import statistics
import sys
import time

import ptx_toolkit

HEADER = """.version 8.6
.target sm_90
.address_size 64
.visible .entry multiply_add(.param .u64 source, .param .u64 target, .param .u32 count)
.maxntid 256
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [source];
    ld.param.u64 %rd2, [target];
    ld.param.u32 %r1, [count];
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mad.lo.s32 %r4, %r3, 256, %r2;
"""
STEP = """    setp.ge.u32 %p1, %r4, %r1;
    @%p1 bra $L_end;
    mul.wide.u32 %rd5, %r4, 4;
    add.s64 %rd5, %rd3, %rd5;
    ld.global.nc.f32 %f1, [%rd5];
    fma.rn.f32 %f2, %f1, %f1, 0f3F800000;
    st.global.f32 [%rd4], %f2;
    add.s32 %r4, %r4, 256;
    add.s64 %rd4, %rd4, 1024;
"""
FOOTER = "$L_end:\n    ret;\n}\n"


def five_kilobytes() -> str:
    """A kernel whose loop is unrolled as often as it takes."""
    times = -(-(5000 - len(HEADER) - len(FOOTER)) // len(STEP))
    return HEADER + times * STEP + FOOTER


def main() -> int:
    text = five_kilobytes()
    found = ptx_toolkit.verify(text)
    if any(finding.severity == "error" for finding in found):
        print("the kernel has errors:", *found, sep="\n")
        return 1
    times = []
    for _ in range(200):
        begin = time.perf_counter()
        ptx_toolkit.verify(text)
        times.append(1000 * (time.perf_counter() - begin))
    median = statistics.median(times)
    print(f"verify of {len(text)} bytes from Python: {median:.3f} ms (median of {len(times)}, fastest {min(times):.3f} ms)")
    return int("--bound" in sys.argv and median > 1)


if __name__ == "__main__":
    sys.exit(main())
