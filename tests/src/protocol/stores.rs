//! Tiles that threads write and the asynchronous proxy reads.

use super::{Family, Writer};

pub(super) fn families() -> Vec<Family> {
    let mut all = Vec::new();
    for (threads, rounds) in [(32, 1), (64, 1), (128, 1), (128, 2), (256, 3)] {
        all.push(Family {
            name: format!("bulk store by {threads} threads, {rounds} buffers"),
            threads,
            blocks: 1,
            write: Box::new(move |writer| store(writer, threads, rounds)),
        });
    }
    for threads in [64, 128] {
        all.push(Family {
            name: format!("wgmma of what {threads} threads wrote"),
            threads: 128,
            blocks: 1,
            write: Box::new(move |writer| multiply(writer, threads)),
        });
    }
    all
}

/// In each round all threads write a tile, and one of them has it copied to global memory.
fn store(w: &mut Writer, threads: u32, buffers: u32) {
    let bytes = 4 * threads;
    w.begin(&format!("    .shared .align 128 .b8 tiles[{}];", bytes * buffers));
    w.put("    mov.u32 %r12, 0;\n    mov.u32 %r10, 0;\n    mov.u32 %r20, tiles;\n    shl.b32 %r21, %r2, 2;");
    w.put("    setp.eq.u32 %p1, %r2, 0;\nROUND:\n    setp.ge.u32 %p2, %r12, %r1;\n    @%p2 bra DONE;");
    w.put(&format!("    mad.lo.u32 %r16, %r10, {bytes}, %r20;\n    add.u32 %r17, %r16, %r21;\n    add.u32 %r18, %r12, %r2;"));
    let missing = w.plant("the source is filled again without a wait");
    if !missing {
        let left = if w.plant("one group too many pending") { buffers } else { buffers - 1 };
        w.put(&format!("    @%p1 cp.async.bulk.wait_group.read {left};"));
    }
    if !w.plant("no barrier after the wait") {
        w.put("    bar.sync 0;");
    }
    if w.plant("the fence is before the write") {
        w.put("    fence.proxy.async.shared::cta;\n    st.shared.u32 [%r17], %r18;\n    bar.sync 0;");
    } else {
        w.put("    st.shared.u32 [%r17], %r18;");
        if w.plant("the fence is after the barrier, in one thread") {
            w.put("    bar.sync 0;\n    @%p1 fence.proxy.async.shared::cta;");
        } else if w.plant("no barrier before the copy") {
            w.put("    fence.proxy.async.shared::cta;");
        } else if w.plant("no fence") {
            w.put("    bar.sync 0;");
        } else {
            w.put("    fence.proxy.async.shared::cta;\n    bar.sync 0;");
        }
    }
    w.put(&format!("    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r16], {bytes};"));
    if !w.plant("no commit") {
        w.put("    @%p1 cp.async.bulk.commit_group;");
    }
    w.put(&format!(
        "    add.u64 %rd2, %rd2, {bytes};\n    add.u32 %r12, %r12, 1;\n    add.u32 %r10, %r10, 1;"
    ));
    w.put(&format!(
        "    setp.eq.u32 %p3, %r10, {buffers};\n    @%p3 mov.u32 %r10, 0;\n    bra ROUND;\nDONE:"
    ));
    if !w.plant("the kernel ends before the copy") {
        w.put("    @%p1 cp.async.bulk.wait_group 0;");
    }
}

/// Threads write matrices that `wgmma` reads.
fn multiply(w: &mut Writer, threads: u32) {
    w.begin("    .shared .align 1024 .b8 tiles[4096];");
    for accumulator in 10..14 {
        w.put(&format!("    mov.f32 %f{accumulator}, 0f00000000;"));
    }
    w.put(&format!("    mov.u32 %r20, tiles;\n    setp.ge.u32 %p1, %r2, {threads};\n    mov.u32 %r12, 0;"));
    w.put("    shr.u32 %r18, %r20, 4;\n    cvt.u64.u32 %rd5, %r18;\n    and.b64 %rd5, %rd5, 0x3fff;");
    w.put("    or.b64 %rd6, %rd5, 0x0000001000080000;\n    add.u64 %rd7, %rd6, 128;\nROUND:");
    w.put("    setp.ge.u32 %p2, %r12, %r1;\n    @%p2 bra STORE;");
    let parts = 4096 / threads / 16;
    for part in 0..parts {
        w.put(&format!("    mad.lo.u32 %r17, %r2, 16, %r20;\n    @!%p1 st.shared.v4.u32 [%r17+{}], {{%r12, %r12, %r12, %r12}};", part * threads * 16));
    }
    let fence = "    fence.proxy.async;";
    if w.plant("the fence is after the barrier, in one thread") {
        w.put("    bar.sync 0;\n    setp.eq.u32 %p3, %r2, 0;\n    @%p3 fence.proxy.async;");
    } else if w.plant("no barrier before the multiplication") {
        w.put(fence);
    } else if w.plant("no fence") {
        w.put("    bar.sync 0;");
    } else {
        w.put(fence);
        w.put("    bar.sync 0;");
    }
    w.put("    wgmma.fence.sync.aligned;");
    w.put("    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f10, %f11, %f12, %f13}, %rd6, %rd7, 1, 1, 1, 0, 0;");
    w.put("    wgmma.commit_group.sync.aligned;");
    if w.plant("one group left pending") {
        w.put("    wgmma.wait_group.sync.aligned 1;");
    } else {
        w.put("    wgmma.wait_group.sync.aligned 0;");
    }
    if !w.plant("no barrier after the multiplication") {
        w.put("    bar.sync 0;");
    }
    w.put("    add.u32 %r12, %r12, 1;\n    bra ROUND;\nSTORE:\n    wgmma.wait_group.sync.aligned 0;");
    w.put("    mul.wide.u32 %rd3, %r2, 4;\n    add.u64 %rd3, %rd2, %rd3;\n    st.global.f32 [%rd3], %f10;");
}
