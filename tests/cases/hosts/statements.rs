// Rust for nvptx64: `out` is written early, `lateout` is not.
use core::arch::asm;

fn f(x: u32, q: u64) -> u32 {
    let (y, z): (u32, u32);
    unsafe {
        asm!("add.u32 {0}, {1}, {1};", lateout(reg32) y, in(reg32) x, options(pure, nomem));
        asm!("add.u64 {0}, {1}, {1};", lateout(reg32) y, in(reg32) x, options(pure, nomem)); // error[asm-constraint-type-mismatch]@23: takes a 64-bit integer here, `{0}` is `.b32`
        asm!("{{ .reg .b32 t; mov.u32 t, %clock; mov.b32 {y}, t; }}", y = out(reg32) y, options(pure)); // error[asm-side-effect-not-volatile]: reads a counter that changes by itself, and the statement is pure
        asm!("{{ .reg .b32 t; mov.u32 t, %clock; mov.b32 {y}, t; }}", y = out(reg32) y);
        asm!(
            "mul.lo.u32 {}, {2}, {2};",
            "mul.hi.u32 {}, {2}, {2};",
            lateout(reg32) y, // warning[asm-missing-early-clobber]@13: is written before the last read of
            lateout(reg32) z,
            in(reg32) x,
        );
        asm!("mul.lo.u32 {}, {2}, {2};", "mul.hi.u32 {}, {2}, {2};", out(reg32) y, lateout(reg32) z, in(reg32) x);
        asm!(r#"ld.global.u32 {0}, [{1};"#, out(reg32) y, in(reg64) q); // error[syntax]: expected
        asm!("ld.global.u32 {0}, [{1}];", out(reg32) y, in(reg64) q);
        asm!("add.u32 {0}, {0}, 1;", out(reg32) y); // error[asm-output-read-before-write]: is read here before it is written
        asm!("mov.u32 {0}, 1;", in(reg32) x); // error[asm-input-written]: is an input and is written here
        asm!("mov.u32 {0}, %laneid", "add.u32 {0}, {0}, 1;", out(reg32) y); // error[asm-missing-separator]: a `;` is missing
        asm!("mov.u32 {0}, %laneid", out(reg32) y); // error[asm-missing-separator]: a `;` is missing
        // Another machine's.
        asm!("mov {}, {}", out(reg) y, in(reg) x);
        asm!("nop");
        // One word, or none that only PTX has.
        asm!("trap;");
        asm!("brkpt"); // error[asm-missing-separator]: a `;` is missing
        asm!("pmevent {}", const 3); // error[asm-missing-separator]: a `;` is missing
        asm!("nanosleep {0};", in(reg32) x); // error[missing-modifier]: `nanosleep` lacks its modifier `.u32`
    }
    y
}
