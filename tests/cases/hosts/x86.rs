// Another machine's, though the words are opcodes.
use core::arch::asm;

unsafe fn f(x: u64) {
    asm!("ret");
    asm!("call {}", sym g);
    asm!("exit {0}", const 1);
    asm!("add {0}, 1", inout(reg) x => _);
}
