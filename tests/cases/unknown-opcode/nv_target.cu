// args: --target sm_80
// Of `<nv/target>` those arguments are verified that the target compiles.
#include <nv/target>

__device__ unsigned f() {
    unsigned r = 0;
    NV_IF_TARGET(NV_PROVIDES_SM_80, (asm volatile("move.u32 %0, 1;" : "=r"(r));))  // error[unknown-opcode]: PTX has no instruction `move`
    NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("move.u32 %0, 2;" : "=r"(r));))
    NV_IF_TARGET(NV_IS_EXACTLY_SM_75, (asm volatile("move.u32 %0, 3;" : "=r"(r));))
    NV_IF_TARGET(NV_IS_HOST, (asm volatile("pause" ::: "memory");))
    NV_IF_TARGET(NV_ANY_TARGET, (asm volatile("move.u32 %0, 4;" : "=r"(r));))  // error[unknown-opcode]: PTX has no instruction `move`
    NV_IF_TARGET(NV_NO_TARGET, (asm volatile("move.u32 %0, 5;" : "=r"(r));))
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90, (asm volatile("move.u32 %0, 6;" : "=r"(r));),
                      (asm volatile("move.u32 %0, 7;" : "=r"(r));))  // error[unknown-opcode]: PTX has no instruction `move`
    NV_DISPATCH_TARGET(NV_PROVIDES_SM_90, (asm volatile("move.u32 %0, 8;" : "=r"(r));),
                       NV_PROVIDES_SM_80, (asm volatile("move.u32 %0, 9;" : "=r"(r));),  // error[unknown-opcode]: PTX has no instruction `move`
                       NV_IS_DEVICE, (asm volatile("move.u32 %0, 10;" : "=r"(r));))
    NV_DISPATCH_TARGET(NV_PROVIDES_SM_90, (asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(r));),
                       NV_IS_DEVICE, (asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(r));))
    return r;
}
