; LLVM's rules: an input may be tied to an output, `~{memory}` is no register, and a call may do anything to memory
; unless an attribute says that it does not.
target triple = "nvptx64-nvidia-cuda"

define i32 @f(i32 %x, i64 %p, ptr %q) {
  %1 = call i32 asm "add.u32 $0, $0, $2;", "=r,0,r,~{memory}"(i32 %x, i32 %x) #1
  %2 = call i32 asm sideeffect "{ .reg .b32 t;\0A mov.u32 t, $1;\0A mov.u64 $0, t; }", "=r,r"(i32 %x) ; // error[asm-constraint-type-mismatch]@77: `mov.u64` takes a 64-bit integer here, `$0` is `.b32`
  %3 = call i32 asm "mov.u32 $0, %clock;", "=r"() #1 ; // error[asm-side-effect-not-volatile]@22: reads a counter that changes by itself, and the statement is pure
  %4 = call i32 asm "mov.u32 $0, %clock;", "=r"() #2
  %5 = call i32 asm sideeffect "mov.u32 $0, %clock;", "=r"()
  call void asm sideeffect "st.global.u32 [$0], $1;", "l,r"(i64 %p, i32 %x)
  call void asm sideeffect "st.global.u32 [$0], $1;", "l,r"(i64 %p) ; // error[asm-operand-count]: 2 constraints for inputs, and 1 value
  %6 = call { i32, i32 } asm "mov.b64 {$0, $1}, $2;", "=r,=r,l"(i64 %p) #1
  %7 = call i32 asm "mov.b64 {$0, $1}, $2;", "=r,=r,l"(i64 %p) #1 ; // error[asm-operand-count]: 2 constraints for outputs, and 1 result register
  %8 = call i32 asm "add.u32 $0, ${1:x}, $(1$|2$);", "=r,r"(i32 %x) #1
  %9 = call i32 asm "mov.u32 $0, $1;", "=r,r"(i64 %p) #1 ; // error[asm-constraint-type-mismatch]: `r` is a register of 32 bits, and the value has 64
  %10 = call i32 asm inteldialect "mov.u32 $0, $1;", "=r,r"(i32 %x) #1 ; // error[asm-dialect]: PTX has no dialect of Intel
  ; `=*m` is an address that is passed, and in the template the memory there.
  call void asm sideeffect "st.b32 $0, $1;", "=*m,r,~{memory}"(ptr elementtype(i32) %q, i32 %x)
  %11 = call i32 asm sideeffect "ld.u32 $0, $1;", "=r,*m"(ptr elementtype(i32) %q)
  %12 = call i32 asm sideeffect "ld.u32 $0, $1; st.u32 $2, $0;", "=&r,=*m,*m"(ptr elementtype(i32) %q, ptr elementtype(i32) %q)
  call void asm sideeffect "st.b32 $0, $1;", "=*m,r"(i32 %x) ; // error[asm-operand-count]: 2 constraints for inputs, and 1 value
  ; What a name begins with is no prefix of a string, and `${:uid}` makes a label one of its own.
  call void asm sideeffect "LOOP${:uid}: st.global.u32 [$0], $1;", "l,r"(i64 %p, i32 %x)
  call void asm sideeffect "Uoop: st.global.u32 [$0], $1;", "l,r"(i64 %p, i32 %x) ; // warning[asm-label-outside-scope]: label `Uoop` is declared outside braces
  ret i32 %1
}

attributes #1 = { nounwind memory(none) }
attributes #2 = { nounwind }
