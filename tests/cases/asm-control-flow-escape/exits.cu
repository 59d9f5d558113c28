// Control that leaves a statement.

__device__ void stop() { asm volatile("exit;"); }  // warning[asm-control-flow-escape]: `exit` leaves the function unknown to the compiler

__device__ void back() { asm volatile("ret;"); }  // warning[asm-control-flow-escape]: `ret` leaves the function unknown to the compiler

__device__ void trap() { asm volatile("trap;"); }
