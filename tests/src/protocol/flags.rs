//! A block that sets a flag when its data is there, and one that waits for it.

use super::{Family, Writer};

pub(super) fn families() -> Vec<Family> {
    let mut all = Vec::new();
    for (threads, bulk) in [(1, false), (32, false), (64, false), (1, true), (32, true)] {
        let how = if bulk { "read by a bulk copy" } else { "read by loads" };
        all.push(Family {
            name: format!("a flag between blocks of {threads} threads, {how}"),
            threads,
            blocks: 1,
            write: Box::new(move |writer| flag(writer, threads, bulk)),
        });
    }
    all
}

/// Block 0 writes and sets the flag, which lies in front of the output, and block 1 reads.
fn flag(w: &mut Writer, threads: u32, bulk: bool) {
    w.begin("    .shared .align 128 .b8 tile[128];\n    .shared .align 8 .b64 bar;");
    w.put("    mov.u32 %r5, %ctaid.x;\n    mul.wide.u32 %rd3, %r2, 4;\n    add.u64 %rd4, %rd2, 128;\n    add.u64 %rd5, %rd4, %rd3;");
    w.put("    setp.ne.u32 %p1, %r5, 0;\n    @%p1 bra READER;\n    st.global.u32 [%rd5], %r2;");
    if threads > 1 {
        w.put("    bar.sync 0;\n    setp.ne.u32 %p2, %r2, 0;\n    @%p2 bra DONE;");
    }
    if threads == 1 && w.plant("the flag is set with .relaxed") {
        w.put("    st.relaxed.gpu.global.u32 [%rd2], 1;");
    } else {
        w.put("    st.release.gpu.global.u32 [%rd2], 1;");
    }
    w.put("    bra DONE;\nREADER:");
    if w.plant("a plain load waits") {
        w.put("    ld.global.u32 %r6, [%rd2];");
    } else if w.plant("the scope is the block") {
        w.put("    ld.acquire.cta.global.u32 %r6, [%rd2];");
    } else {
        w.put("    ld.acquire.gpu.global.u32 %r6, [%rd2];");
    }
    w.put("    setp.eq.u32 %p3, %r6, 0;\n    @%p3 bra READER;");
    if bulk {
        if !w.plant("no fence of the proxy after the flag") {
            w.put("    fence.proxy.async;");
        }
        w.put(
            "    setp.ne.u32 %p2, %r2, 0;\n    @%p2 bra DONE;\n    mbarrier.init.shared::cta.b64 [bar], 1;",
        );
        w.put("    fence.mbarrier_init.release.cluster;\n    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;");
        w.put("    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd4], 128, [bar];\nFULL:");
        w.put("    mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0;\n    @!%p4 bra FULL;\n    ld.shared.u32 %r7, [tile];");
    } else {
        w.put("    ld.global.u32 %r7, [%rd5];");
    }
    w.put("    add.u32 %r7, %r7, 1;\n    st.global.u32 [%rd5+256], %r7;\nDONE:");
}
