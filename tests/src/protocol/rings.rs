//! Rings of stages that one role fills and others read.

use super::{Family, Writer};

/// Bytes of a tile: 32 threads read four each of the part of their warp.
const TILE: u32 = 1024;

pub(super) fn families() -> Vec<Family> {
    let mut all = Vec::new();
    for stages in [1, 2, 3, 4, 6, 8] {
        for (consumers, by_warp) in [(1, false), (2, true), (4, false), (3, true)] {
            if stages > 4 && consumers > 2 {
                continue;
            }
            let who = if by_warp { "warps arrive" } else { "threads arrive" };
            all.push(Family {
                name: format!("ring of bulk copies, {stages} stages, {consumers} consumers, {who}"),
                threads: 32 * (consumers + 1),
                blocks: 1,
                write: Box::new(move |writer| bulk(writer, stages, consumers, by_warp, false)),
            });
        }
    }
    for stages in [2, 4] {
        all.push(Family {
            name: format!("ring of tensor copies, {stages} stages"),
            threads: 96,
            blocks: 1,
            write: Box::new(move |writer| bulk(writer, stages, 2, true, true)),
        });
        all.push(Family {
            name: format!("ring of tcgen05, {stages} stages"),
            threads: 192,
            blocks: 1,
            write: Box::new(move |writer| tcgen05(writer, stages)),
        });
    }
    for stages in [2, 3, 4, 5] {
        for conditional in [false, true] {
            let how = if conditional { "conditional issue" } else { "rounds ahead" };
            all.push(Family {
                name: format!("ring of cp.async, {stages} stages, {how}"),
                threads: 128,
                blocks: 1,
                write: Box::new(move |writer| cp_async(writer, stages, conditional)),
            });
        }
    }
    for stages in [2, 3, 4] {
        all.push(Family {
            name: format!("ring of wgmma, {stages} stages"),
            threads: 160,
            blocks: 1,
            write: Box::new(move |writer| wgmma(writer, stages)),
        });
    }
    all
}

/// `%r10` is the stage and `%r11` the phase: both go on together.
fn advance(w: &mut Writer, stages: u32, names: [&'static str; 2]) {
    w.put("    add.u32 %r10, %r10, 1;");
    w.put(&format!("    setp.eq.u32 %p6, %r10, {stages};"));
    w.put("    @%p6 mov.u32 %r10, 0;");
    if w.plant(names[0]) {
    } else if w.plant(names[1]) {
        w.put("    xor.b32 %r11, %r11, 1;\n    xor.b32 %r11, %r11, 1;");
    } else {
        w.put("    @%p6 xor.b32 %r11, %r11, 1;");
    }
}

fn objects(w: &mut Writer, stages: u32, full: u32, empty: u32) {
    w.put("    setp.ne.u32 %p1, %r2, 0;\n    @%p1 bra MADE;");
    for stage in 0..stages {
        let place = 8 * stage;
        w.put(&format!("    mbarrier.init.shared::cta.b64 [full+{place}], {full};"));
        let empty = match stage {
            0 if w.plant("more arrivals counted than come") => empty + 1,
            0 if empty > 1 && w.plant("fewer arrivals counted than come") => 1,
            _ => empty,
        };
        w.put(&format!("    mbarrier.init.shared::cta.b64 [empty+{place}], {empty};"));
    }
    w.put("    fence.mbarrier_init.release.cluster;\nMADE:");
    if !w.plant("no barrier after init") {
        w.put("    bar.sync 0;");
    }
}

/// `by_warp`: one lane of each warp arrives; `tensor`: the copies go by a tensor map, which tells how large they are.
fn bulk(w: &mut Writer, stages: u32, consumers: u32, by_warp: bool, tensor: bool) {
    w.begin(&format!(
        "    .shared .align 128 .b8 tiles[{}];\n    .shared .align 8 .b64 full[{stages}];\n    \
         .shared .align 8 .b64 empty[{stages}];",
        TILE * stages
    ));
    objects(w, stages, 1, if by_warp { consumers } else { 32 * consumers });
    w.put("    mov.u32 %r10, 0;\n    mov.u32 %r11, 0;\n    mov.u32 %r12, 0;\n    mov.u32 %r20, tiles;");
    w.put("    mov.u32 %r21, full;\n    mov.u32 %r22, empty;\n    setp.ne.u32 %p2, %r3, 0;\n    @%p2 bra CONSUMER;");
    w.put("    setp.ne.u32 %p3, %r4, 0;\n    @%p3 bra DONE;\nPRODUCE:");
    w.put("    setp.ge.u32 %p4, %r12, %r1;\n    @%p4 bra DONE;");
    w.put("    shl.b32 %r13, %r10, 3;\n    add.u32 %r14, %r21, %r13;\n    add.u32 %r15, %r22, %r13;");
    w.put(&format!("    mad.lo.u32 %r16, %r10, {TILE}, %r20;"));
    if !w.plant("no wait for an empty stage") {
        if w.plant("producer begins with parity 0") {
            w.put("    mov.u32 %r17, %r11;");
        } else {
            w.put("    xor.b32 %r17, %r11, 1;");
        }
        w.put("WAIT_EMPTY:\n    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r15], %r17;");
        w.put("    @!%p5 bra WAIT_EMPTY;");
    }
    if w.plant("bytes not expected") {
        w.put("    mbarrier.arrive.shared::cta.b64 _, [%r14];");
    } else if w.plant("no arrival of the producer") {
        w.put(&format!("    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r14], {TILE};"));
    } else {
        let bytes = match () {
            () if !tensor && w.plant("more bytes expected") => TILE * 2,
            () if !tensor && w.plant("fewer bytes expected") => TILE / 2,
            () => TILE,
        };
        w.put(&format!("    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], {bytes};"));
    }
    for half in 0..2 {
        let (to, from) = (half * TILE / 2, half * TILE / 2);
        w.put(&format!("    add.u32 %r18, %r16, {to};\n    add.u64 %rd5, %rd1, {from};"));
        if tensor {
            w.put(
                "    cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r18], [%rd2, \
                 {%r12}], [%r14];",
            );
            continue;
        }
        w.put(&format!(
            "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r18], [%rd5], {}, [%r14];",
            TILE / 2
        ));
    }
    w.put(&format!("    add.u64 %rd1, %rd1, {TILE};\n    add.u32 %r12, %r12, 1;"));
    advance(w, stages, ["the producer's phase never turns", "the producer's phase turns twice"]);
    w.put("    bra PRODUCE;\nCONSUMER:\n    sub.u32 %r5, %r2, 32;\n    mov.f32 %f1, 0f00000000;\nCONSUME:");
    w.put("    setp.ge.u32 %p4, %r12, %r1;\n    @%p4 bra STORE;");
    w.put("    shl.b32 %r13, %r10, 3;\n    add.u32 %r14, %r21, %r13;\n    add.u32 %r15, %r22, %r13;");
    w.put(&format!(
        "    mad.lo.u32 %r16, %r10, {TILE}, %r20;\n    shl.b32 %r19, %r5, 2;\n    add.u32 %r16, %r16, %r19;"
    ));
    if w.plant("read before the wait") {
        w.put("    ld.shared.f32 %f2, [%r16];\n    add.f32 %f1, %f1, %f2;");
    }
    if !w.plant("no wait for a full stage") {
        w.put("WAIT_FULL:\n    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r14], %r11;\n    @!%p5 bra WAIT_FULL;");
    }
    let release = |w: &mut Writer| {
        if by_warp {
            w.put("    bar.warp.sync 0xffffffff;\n    setp.eq.u32 %p7, %r4, 0;");
            w.put("    @%p7 mbarrier.arrive.shared::cta.b64 _, [%r15];");
        } else {
            w.put("    mbarrier.arrive.shared::cta.b64 _, [%r15];");
        }
    };
    let early = w.plant("released before the read");
    if early {
        release(w);
    }
    w.put("    ld.shared.f32 %f2, [%r16];\n    add.f32 %f1, %f1, %f2;");
    if !early && !w.plant("never released") {
        release(w);
    }
    w.put("    add.u32 %r12, %r12, 1;");
    advance(w, stages, ["the consumer's phase never turns", "the consumer's phase turns twice"]);
    w.put("    bra CONSUME;\nSTORE:\n    mul.wide.u32 %rd3, %r5, 4;\n    add.u64 %rd3, %rd2, %rd3;");
    w.put("    st.global.f32 [%rd3], %f1;\nDONE:");
}

/// All threads copy for later rounds, and wait for groups.
fn cp_async(w: &mut Writer, stages: u32, conditional: bool) {
    w.begin(&format!("    .shared .align 128 .b8 tiles[{}];", 512 * stages));
    w.put("    mov.u32 %r20, tiles;\n    shl.b32 %r21, %r2, 2;\n    mul.wide.u32 %rd3, %r2, 4;\n    add.u64 %rd1, %rd1, %rd3;");
    // Each thread reads what its neighbour copied.
    w.put("    xor.b32 %r22, %r2, 64;\n    shl.b32 %r22, %r22, 2;\n    mov.f32 %f1, 0f00000000;\n    mov.u32 %r12, 0;");
    let copy = |w: &mut Writer, stage: &str| {
        w.put(&format!("    mad.lo.u32 %r16, {stage}, 512, %r20;\n    add.u32 %r16, %r16, %r21;"));
    };
    for _ in 0..stages - 1 {
        w.put("    setp.lt.u32 %p1, %r12, %r1;");
        copy(w, "%r12");
        w.put("    @%p1 cp.async.ca.shared.global [%r16], [%rd1], 4;");
        w.put("    cp.async.commit_group;\n    add.u64 %rd1, %rd1, 512;\n    add.u32 %r12, %r12, 1;");
    }
    w.put(&format!("    mov.u32 %r10, 0;\n    mov.u32 %r11, {};\n    mov.u32 %r13, 0;\nROUND:", stages - 1));
    w.put("    setp.ge.u32 %p2, %r13, %r1;\n    @%p2 bra STORE;");
    let pending = stages - 2;
    let missing = w.plant("no wait for the group");
    if !missing {
        let left = if w.plant("one group too many pending") { pending + 1 } else { pending };
        w.put(&format!("    cp.async.wait_group {left};"));
    }
    if !w.plant("no barrier after the wait") {
        w.put("    bar.sync 0;");
    }
    w.put("    mad.lo.u32 %r17, %r10, 512, %r20;\n    add.u32 %r17, %r17, %r22;");
    w.put("    ld.shared.f32 %f2, [%r17];\n    add.f32 %f1, %f1, %f2;");
    w.put("    setp.lt.u32 %p1, %r12, %r1;");
    if conditional {
        copy(w, "%r11");
        w.put("    @%p1 cp.async.ca.shared.global [%r16], [%rd1], 4;");
        if stages > 2 && w.plant("commit under the condition") {
            w.put("    @%p1 cp.async.commit_group;");
        } else if !w.plant("no commit") {
            w.put("    cp.async.commit_group;");
        }
    } else {
        w.put("    @!%p1 bra NONE;");
        copy(w, "%r11");
        w.put("    cp.async.ca.shared.global [%r16], [%rd1], 4;\nNONE:");
        if !w.plant("no commit") {
            w.put("    cp.async.commit_group;");
        }
    }
    w.put("    add.u64 %rd1, %rd1, 512;\n    add.u32 %r12, %r12, 1;\n    add.u32 %r13, %r13, 1;");
    for register in ["%r10", "%r11"] {
        w.put(&format!("    add.u32 {register}, {register}, 1;\n    setp.eq.u32 %p3, {register}, {stages};"));
        w.put(&format!("    @%p3 mov.u32 {register}, 0;"));
    }
    w.put("    bra ROUND;\nSTORE:\n    add.u64 %rd4, %rd2, %rd3;\n    st.global.f32 [%rd4], %f1;");
}

/// A warp that copies and a warpgroup that multiplies what was copied.
fn wgmma(w: &mut Writer, stages: u32) {
    let bytes = 4096;
    w.begin(&format!(
        "    .shared .align 1024 .b8 tiles[{}];\n    .shared .align 8 .b64 full[{stages}];\n    \
         .shared .align 8 .b64 empty[{stages}];",
        bytes * stages
    ));
    objects(w, stages, 1, 4);
    w.put("    mov.u32 %r10, 0;\n    mov.u32 %r11, 0;\n    mov.u32 %r12, 0;\n    mov.u32 %r20, tiles;");
    w.put("    mov.u32 %r21, full;\n    mov.u32 %r22, empty;\n    setp.lt.u32 %p2, %r3, 4;\n    @%p2 bra CONSUMER;");
    w.put("    setp.ne.u32 %p3, %r4, 0;\n    @%p3 bra DONE;\nPRODUCE:");
    w.put("    setp.ge.u32 %p4, %r12, %r1;\n    @%p4 bra DONE;");
    w.put("    shl.b32 %r13, %r10, 3;\n    add.u32 %r14, %r21, %r13;\n    add.u32 %r15, %r22, %r13;");
    w.put(&format!("    mad.lo.u32 %r16, %r10, {bytes}, %r20;"));
    if !w.plant("no wait for an empty stage") {
        w.put("    xor.b32 %r17, %r11, 1;");
        w.put("WAIT_EMPTY:\n    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r15], %r17;");
        w.put("    @!%p5 bra WAIT_EMPTY;");
    }
    w.put(&format!("    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], {bytes};"));
    w.put(&format!(
        "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r16], [%rd1], {bytes}, [%r14];"
    ));
    w.put("    add.u32 %r12, %r12, 1;");
    advance(w, stages, ["the producer's phase never turns", "the producer's phase turns twice"]);
    w.put("    bra PRODUCE;\nCONSUMER:");
    for accumulator in 10..14 {
        w.put(&format!("    mov.f32 %f{accumulator}, 0f00000000;"));
    }
    w.put("CONSUME:\n    setp.ge.u32 %p4, %r12, %r1;\n    @%p4 bra STORE;");
    w.put("    shl.b32 %r13, %r10, 3;\n    add.u32 %r14, %r21, %r13;\n    add.u32 %r15, %r22, %r13;");
    w.put(&format!(
        "    mad.lo.u32 %r16, %r10, {bytes}, %r20;\n    shr.u32 %r18, %r16, 4;\n    cvt.u64.u32 %rd5, %r18;"
    ));
    w.put("    and.b64 %rd5, %rd5, 0x3fff;\n    or.b64 %rd6, %rd5, 0x0000001000080000;\n    add.u64 %rd7, %rd6, 128;");
    if !w.plant("no wait for a full stage") {
        w.put("WAIT_FULL:\n    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r14], %r11;\n    @!%p5 bra WAIT_FULL;");
    }
    w.put("    wgmma.fence.sync.aligned;");
    w.put("    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f10, %f11, %f12, %f13}, %rd6, %rd7, 1, 1, 1, 0, 0;");
    w.put("    wgmma.commit_group.sync.aligned;");
    let early = w.plant("released before the multiplication is done");
    let release = "    setp.eq.u32 %p7, %r4, 0;\n    @%p7 mbarrier.arrive.shared::cta.b64 _, [%r15];";
    if early {
        w.put(release);
    }
    if w.plant("one group left pending") {
        w.put("    wgmma.wait_group.sync.aligned 1;");
    } else {
        w.put("    wgmma.wait_group.sync.aligned 0;");
    }
    if !early && !w.plant("never released") {
        w.put(release);
    }
    w.put("    add.u32 %r12, %r12, 1;");
    advance(w, stages, ["the consumer's phase never turns", "the consumer's phase turns twice"]);
    w.put("    bra CONSUME;\nSTORE:\n    wgmma.wait_group.sync.aligned 0;");
    w.put("    mul.wide.u32 %rd3, %r2, 4;\n    add.u64 %rd3, %rd2, %rd3;");
    w.put("    st.global.f32 [%rd3], %f10;\nDONE:");
}

/// A warp copies, a thread of another one multiplies, and four warps wait for the sum.
fn tcgen05(w: &mut Writer, stages: u32) {
    let bytes = 4096;
    w.target("sm_100a");
    w.begin(&format!(
        "    .shared .align 1024 .b8 tiles[{}];\n    .shared .align 8 .b64 full[{stages}];\n    \
         .shared .align 8 .b64 empty[{stages}];\n    .shared .align 8 .b64 done;\n    .shared .b32 columns;",
        bytes * stages
    ));
    w.put("    setp.eq.u32 %p8, %r3, 0;\n    @!%p8 bra ALLOCATED;");
    w.put("    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [columns], 32;\nALLOCATED:");
    w.put("    setp.eq.u32 %p1, %r2, 0;\n    @%p1 mbarrier.init.shared::cta.b64 [done], 1;");
    objects(w, stages, 1, 1);
    w.put("    tcgen05.fence::after_thread_sync;\n    ld.shared.u32 %r30, [columns];");
    w.put("    mov.u32 %r10, 0;\n    mov.u32 %r11, 0;\n    mov.u32 %r12, 0;\n    mov.u32 %r20, tiles;");
    w.put("    mov.u32 %r21, full;\n    mov.u32 %r22, empty;\n    setp.ge.u32 %p2, %r3, 2;\n    @%p2 bra WAIT_DONE;");
    w.put("    setp.ne.u32 %p3, %r4, 0;\n    @%p3 bra FREE;\n    setp.eq.u32 %p2, %r3, 1;\n    @%p2 bra MULTIPLY;\nPRODUCE:");
    w.put("    setp.ge.u32 %p4, %r12, %r1;\n    @%p4 bra FREE;");
    w.put("    shl.b32 %r13, %r10, 3;\n    add.u32 %r14, %r21, %r13;\n    add.u32 %r15, %r22, %r13;");
    w.put(&format!("    mad.lo.u32 %r16, %r10, {bytes}, %r20;"));
    if !w.plant("no wait for an empty stage") {
        w.put("    xor.b32 %r17, %r11, 1;");
        w.put("WAIT_EMPTY:\n    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r15], %r17;");
        w.put("    @!%p5 bra WAIT_EMPTY;");
    }
    w.put(&format!("    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r14], {bytes};"));
    w.put(&format!(
        "    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r16], [%rd1], {bytes}, [%r14];"
    ));
    w.put("    add.u32 %r12, %r12, 1;");
    advance(w, stages, ["the producer's phase never turns", "the producer's phase turns twice"]);
    w.put("    bra PRODUCE;\nMULTIPLY:\n    setp.ge.u32 %p4, %r12, %r1;\n    @%p4 bra LAST;");
    w.put("    shl.b32 %r13, %r10, 3;\n    add.u32 %r14, %r21, %r13;\n    add.u32 %r15, %r22, %r13;");
    w.put(&format!(
        "    mad.lo.u32 %r16, %r10, {bytes}, %r20;\n    shr.u32 %r18, %r16, 4;\n    cvt.u64.u32 %rd5, %r18;"
    ));
    w.put("    and.b64 %rd5, %rd5, 0x3fff;\n    or.b64 %rd6, %rd5, 0x0000401000080000;\n    add.u64 %rd7, %rd6, 128;");
    if !w.plant("no wait for a full stage") {
        w.put("WAIT_FULL:\n    mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r14], %r11;\n    @!%p5 bra WAIT_FULL;");
    }
    w.put("    setp.ne.u32 %p6, %r12, 0;\n    mov.u32 %r31, 0x04200490;");
    w.put("    tcgen05.mma.cta_group::1.kind::f16 [%r30], %rd6, %rd7, %r31, %p6;");
    if w.plant("an arrival in place of the commit") {
        w.put("    mbarrier.arrive.shared::cta.b64 _, [%r15];");
    } else if !w.plant("never released") {
        w.put("    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r15];");
    }
    w.put("    add.u32 %r12, %r12, 1;");
    advance(w, stages, ["the consumer's phase never turns", "the consumer's phase turns twice"]);
    w.put("    bra MULTIPLY;\nLAST:");
    if !w.plant("the end is not told") {
        w.put("    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];");
    }
    w.put("    bra FREE;\nWAIT_DONE:\n    mbarrier.try_wait.parity.shared::cta.b64 %p5, [done], 0;\n    @!%p5 bra WAIT_DONE;");
    w.put("    tcgen05.fence::after_thread_sync;\n    tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r32}, [%r30];");
    w.put(
        "    tcgen05.wait::ld.sync.aligned;\n    mul.wide.u32 %rd3, %r2, 4;\n    add.u64 %rd3, %rd2, %rd3;",
    );
    w.put("    st.global.u32 [%rd3], %r32;\n    tcgen05.fence::before_thread_sync;\nFREE:\n    bar.sync 0;");
    w.put("    @!%p8 bra DONE;\n    tcgen05.fence::after_thread_sync;");
    w.put("    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r30, 32;\nDONE:");
}
