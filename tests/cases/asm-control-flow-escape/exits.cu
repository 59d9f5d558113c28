// Control that leaves a statement.

__device__ void stop() { asm volatile("exit;"); }

__device__ void back() { asm volatile("ret;"); }

__device__ void trap() { asm volatile("trap;"); }
