; Another machine's assembler, though it looks like ours.
target triple = "x86_64-unknown-linux-gnu"

define i32 @f(i32 %x) {
  %1 = call i32 asm "mov.u32 $0, $9;", "=r,r"(i32 %x)
  ret i32 %1
}
