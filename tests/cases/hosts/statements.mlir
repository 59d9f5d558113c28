// MLIR: a statement is pure unless it has side effects, with results or without.
func.func @f(%a: i32, %p: !llvm.ptr<3>) -> i32 {
  %0 = llvm.inline_asm has_side_effects "ld.shared.u32 $0, [$1];", "=r,r" %a : (i32) -> i32
  %1 = llvm.inline_asm "ld.shared.u32 $0, [$1];", "=r,r" %a : (i32) -> i32  // warning[asm-side-effect-not-volatile]@25: reads memory that may change, and the statement is pure
  llvm.inline_asm "st.shared.u32 [$0], $0;", "r" %a : (i32) -> ()  // error[asm-side-effect-not-volatile]: writes memory, and the statement is pure
  %2 = llvm.inline_asm asm_dialect = intel "not.b32 $0, $1;", "=r,r" %a : (i32) -> i32  // error[asm-dialect]: PTX has no dialect of Intel
  %3 = llvm.inline_asm asm_dialect = att "not.b32 $0, $1;", "=r,r" %a : (i32) -> i32
  %4 = llvm.inline_asm "mov.b64 {$0, $1}, $2;", "=r,=r,l" %a : (i64) -> !llvm.struct<(i32, i32)>
  %5 = llvm.inline_asm "mov.b64 {$0, $1}, $2;", "=r,=r,l" %a : (i64) -> !llvm.struct<(i32)>  // error[asm-operand-count]: 2 constraints for outputs, and 1 result register
  %6 = "llvm.inline_asm"(%a) <{asm_string = "add.u64 $0, $1, $1;", constraints = "=r,r"}> : (i32) -> i32  // error[asm-constraint-type-mismatch]: takes a 64-bit integer here
  %7 = "llvm.inline_asm"(%a) <{asm_string = "bar.sync $0;", constraints = "r", has_side_effects}> : (i32) -> ()
  %8 = nvvm.inline_ptx "add.s32 {$w0}, {$r0}, {$r0};" ro(%a : i32) -> i32
  %9 = nvvm.inline_ptx "add.s64 {$w0}, {$r0}, {$r0};" ro(%a : i32) -> i32  // error[asm-constraint-type-mismatch]: takes a 64-bit integer here
  nvvm.inline_ptx "foo.bar {$r0};" ro(%a : i32)  // error[unknown-opcode]: PTX has no instruction `foo`
  %10 = nvvm.inline_ptx "add.s32 {$w0}, {$r1}, {$r0};" ro(%a : i32) -> i32  // error[asm-operand-reference]: names no operand
  nvvm.inline_ptx "add.s32 {$rw0}, {$r0}, 7;" ro(%a : i32) rw(%a : i32)
  nvvm.inline_ptx "add.s64 {$rw0}, {$r0}, 7;" ro(%a : i32) rw(%a : i32)  // error[asm-constraint-type-mismatch]: takes a 64-bit integer here
}
