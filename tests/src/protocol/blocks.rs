//! Roles that meet at barriers of the block, and blocks of a cluster that deal with each other.

use super::{Family, Writer};

pub(super) fn families() -> Vec<Family> {
    let mut all = Vec::new();
    for (threads, rounds) in [(64, 1), (128, 1), (128, 2)] {
        all.push(Family {
            name: format!("two roles of {threads} threads at named barriers, {rounds} buffers"),
            threads: 2 * threads,
            blocks: 1,
            write: Box::new(move |writer| named(writer, threads, rounds)),
        });
    }
    for threads in [32, 64, 128] {
        all.push(Family {
            name: format!("exchange with a neighbour, {threads} threads"),
            threads,
            blocks: 2,
            write: Box::new(move |writer| exchange(writer, threads)),
        });
    }
    for threads in [64, 128] {
        all.push(Family {
            name: format!("remote arrivals, {threads} threads"),
            threads,
            blocks: 2,
            write: Box::new(move |writer| arrive(writer, threads)),
        });
    }
    for threads in [64, 128, 256] {
        all.push(Family {
            name: format!("tokens, {threads} threads"),
            threads,
            blocks: 1,
            write: Box::new(move |writer| tokens(writer, threads)),
        });
    }
    all
}

/// One role copies with `cp.async` what the other reads; they meet at barriers 1 (full) and 2 (empty).
fn named(w: &mut Writer, threads: u32, buffers: u32) {
    let (bytes, both) = (4 * threads, 2 * threads);
    w.begin(&format!("    .shared .align 128 .b8 tiles[{}];", bytes * buffers));
    w.put(
        "    mov.u32 %r12, 0;\n    mov.u32 %r10, 0;\n    mov.u32 %r20, tiles;\n    mov.f32 %f1, 0f00000000;",
    );
    w.put(&format!("    setp.ge.u32 %p1, %r2, {threads};\n    @%p1 bra CONSUMER;"));
    w.put(
        "    shl.b32 %r21, %r2, 2;\n    mul.wide.u32 %rd3, %r2, 4;\n    add.u64 %rd1, %rd1, %rd3;\nPRODUCE:",
    );
    w.put("    setp.ge.u32 %p2, %r12, %r1;\n    @%p2 bra DONE;\n    add.u32 %r14, %r10, 4;\n    add.u32 %r15, %r10, 8;");
    if !w.plant("no wait for an empty buffer") {
        let count = if w.plant("the producer counts fewer threads") { both - 32 } else { both };
        w.put(&format!("    bar.sync %r15, {count};"));
    }
    w.put(&format!("    mad.lo.u32 %r16, %r10, {bytes}, %r20;\n    add.u32 %r16, %r16, %r21;"));
    w.put("    cp.async.ca.shared.global [%r16], [%rd1], 4;");
    if !w.plant("no wait for the copy") {
        w.put("    cp.async.wait_all;");
    }
    if !w.plant("no arrival at the full barrier") {
        w.put(&format!("    bar.arrive %r14, {both};"));
    }
    w.put(&format!(
        "    add.u64 %rd1, %rd1, {bytes};\n    add.u32 %r12, %r12, 1;\n    add.u32 %r10, %r10, 1;"
    ));
    w.put(&format!(
        "    setp.eq.u32 %p3, %r10, {buffers};\n    @%p3 mov.u32 %r10, 0;\n    bra PRODUCE;\nCONSUMER:"
    ));
    w.put(&format!("    sub.u32 %r5, %r2, {threads};\n    xor.b32 %r6, %r5, 32;\n    shl.b32 %r21, %r6, 2;"));
    for buffer in 0..buffers {
        w.put(&format!("    bar.arrive {}, {both};", buffer + 8));
    }
    w.put("CONSUME:\n    setp.ge.u32 %p2, %r12, %r1;\n    @%p2 bra STORE;\n    add.u32 %r14, %r10, 4;\n    add.u32 %r15, %r10, 8;");
    if w.plant("the consumer does not wait") {
        w.put(&format!("    bar.arrive %r14, {both};"));
    } else {
        w.put(&format!("    bar.sync %r14, {both};"));
    }
    w.put(&format!("    mad.lo.u32 %r16, %r10, {bytes}, %r20;\n    add.u32 %r16, %r16, %r21;"));
    let early = w.plant("released before the read");
    let last = "    add.u32 %r17, %r12, BUFFERS;\n    setp.lt.u32 %p4, %r17, %r1;"
        .replace("BUFFERS", &buffers.to_string());
    let release = format!("    @!%p4 bra NEXT;\n    bar.arrive %r15, {both};\nNEXT:");
    if early {
        w.put(&format!("{last}\n{release}"));
    }
    w.put("    ld.shared.f32 %f2, [%r16];\n    add.f32 %f1, %f1, %f2;");
    if !early {
        w.put(&format!("{last}\n{release}"));
    }
    w.put("    add.u32 %r12, %r12, 1;\n    add.u32 %r10, %r10, 1;");
    w.put(&format!(
        "    setp.eq.u32 %p3, %r10, {buffers};\n    @%p3 mov.u32 %r10, 0;\n    bra CONSUME;\nSTORE:"
    ));
    w.put("    mul.wide.u32 %rd3, %r5, 4;\n    add.u64 %rd3, %rd2, %rd3;\n    st.global.f32 [%rd3], %f1;\nDONE:");
}

/// Each block writes into the other one's shared memory.
fn exchange(w: &mut Writer, threads: u32) {
    w.begin(&format!("    .shared .align 128 .b8 tile[{}];", 4 * threads));
    w.put("    mov.u32 %r20, tile;\n    shl.b32 %r21, %r2, 2;\n    add.u32 %r21, %r21, %r20;\n    mov.u32 %r5, %cluster_ctarank;");
    w.put("    xor.b32 %r6, %r5, 1;\n    mapa.shared::cluster.u32 %r22, %r21, %r6;");
    if !w.plant("no barrier before the first access") {
        w.put("    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;");
    }
    w.put("    st.shared::cluster.u32 [%r22], %r2;");
    w.put("    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;");
    w.put("    ld.shared.u32 %r23, [%r21];\n    ld.shared::cluster.u32 %r24, [%r22];\n    add.u32 %r23, %r23, %r24;");
    if !w.plant("no barrier before the end") {
        w.put("    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;");
    }
    w.put(&format!("    mad.lo.u32 %r7, %r5, {threads}, %r2;\n    mul.wide.u32 %rd3, %r7, 4;"));
    w.put("    add.u64 %rd3, %rd2, %rd3;\n    st.global.u32 [%rd3], %r23;");
}

/// The threads of each block arrive at an object of the other one.
fn arrive(w: &mut Writer, threads: u32) {
    w.begin("    .shared .align 8 .b64 bar;");
    w.put("    mov.u32 %r20, bar;\n    mov.u32 %r5, %cluster_ctarank;\n    xor.b32 %r6, %r5, 1;");
    w.put("    mapa.shared::cluster.u32 %r22, %r20, %r6;\n    mov.u32 %r12, 0;\n    mov.u32 %r11, 0;");
    w.put("    setp.ne.u32 %p1, %r2, 0;\n    @%p1 bra MADE;");
    let count = match () {
        () if w.plant("more arrivals counted than come") => threads + 32,
        () => threads,
    };
    w.put(&format!(
        "    mbarrier.init.shared::cta.b64 [%r20], {count};\n    fence.mbarrier_init.release.cluster;\nMADE:"
    ));
    if w.plant("only a barrier of the block after init") {
        w.put("    bar.sync 0;");
    } else {
        w.put("    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;");
    }
    w.put("ROUND:\n    setp.ge.u32 %p2, %r12, %r1;\n    @%p2 bra LAST;");
    if !w.plant("no arrival") {
        w.put("    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r22];");
    }
    w.put("WAIT:\n    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r20], %r11;\n    @!%p3 bra WAIT;");
    // Without it a block may be a phase ahead while another one still waits for the last.
    if !w.plant("one block runs ahead of the other") {
        w.put("    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;");
    }
    w.put("    add.u32 %r12, %r12, 1;");
    if !w.plant("the parity never turns") {
        w.put("    xor.b32 %r11, %r11, 1;");
    }
    w.put("    bra ROUND;\nLAST:");
    w.put("    mul.wide.u32 %rd3, %r2, 4;\n    add.u64 %rd3, %rd2, %rd3;\n    st.global.u32 [%rd3], %r12;");
}

/// Threads copy, arrive, and wait for the phase that their arrival has named.
fn tokens(w: &mut Writer, threads: u32) {
    w.begin(&format!("    .shared .align 128 .b8 tile[{}];\n    .shared .align 8 .b64 bar;", 4 * threads));
    w.put("    mov.u32 %r20, tile;\n    shl.b32 %r21, %r2, 2;\n    add.u32 %r16, %r20, %r21;\n    mov.f32 %f1, 0f00000000;");
    w.put("    xor.b32 %r6, %r2, 32;\n    shl.b32 %r22, %r6, 2;\n    add.u32 %r17, %r20, %r22;\n    mov.u32 %r12, 0;");
    w.put("    mul.wide.u32 %rd3, %r2, 4;\n    add.u64 %rd1, %rd1, %rd3;\n    setp.ne.u32 %p1, %r2, 0;\n    @%p1 bra MADE;");
    let count = match () {
        () if w.plant("more arrivals counted than come") => threads + 1,
        () if w.plant("fewer arrivals counted than come") => threads / 2,
        () if w.plant("no arrivals counted") => 0,
        () => threads,
    };
    if count == 0 {
        w.put("    mov.u32 %r9, 0;\n    mbarrier.init.shared::cta.b64 [bar], %r9;\nMADE:");
    } else {
        w.put(&format!("    mbarrier.init.shared::cta.b64 [bar], {count};\nMADE:"));
    }
    if !w.plant("no barrier after init") {
        w.put("    bar.sync 0;");
    }
    w.put("ROUND:\n    setp.ge.u32 %p2, %r12, %r1;\n    @%p2 bra STORE;");
    w.put("    cp.async.ca.shared.global [%r16], [%rd1], 4;");
    if !w.plant("the copy is not told") {
        w.put("    cp.async.mbarrier.arrive.shared::cta.b64 [bar];");
    }
    w.put("    mbarrier.arrive.shared::cta.b64 %rd5, [bar];");
    if !w.plant("no wait") {
        w.put("WAIT:\n    mbarrier.try_wait.shared::cta.b64 %p3, [bar], %rd5;\n    @!%p3 bra WAIT;");
    }
    w.put("    ld.shared.f32 %f2, [%r17];\n    add.f32 %f1, %f1, %f2;");
    if !w.plant("no barrier before the next copy") {
        w.put("    bar.sync 0;");
    }
    w.put(&format!(
        "    add.u64 %rd1, %rd1, {};\n    add.u32 %r12, %r12, 1;\n    bra ROUND;\nSTORE:",
        4 * threads
    ));
    w.put("    add.u64 %rd4, %rd2, %rd3;\n    st.global.f32 [%rd4], %f1;");
}
