//! Each family of instructions against results that were computed by hand, and each fault against a kernel that shows
//! it and one that does not.

use super::*;

const HEAD: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n";
const REGISTERS: &str = ".reg .b64 %rd<20>; .reg .b32 %r<40>; .reg .b16 %h<10>; .reg .pred %p<10>;\n";

fn launch<'l>(threads: u32, parameters: &'l [u64], memory: &'l [Buffer]) -> Launch<'l> {
    Launch {
        kernel: "k",
        threads,
        block: 3,
        blocks: 7,
        parameters,
        memory,
        memory_is_set: false,
        seed: 99,
        steps: 200_000,
    }
}

/// What the last write of a register leaves: bits, and which of them are undefined.
fn last(body: &str, register: &str) -> (u64, u64) {
    let text = format!("{HEAD}.visible .entry k() {{ {REGISTERS} {body}; ret; }}");
    let program = Program::read(&text);
    let mut found = None;
    let mut observer = |write: &Write<'_>| {
        if write.register == register {
            found = Some((write.bits & !write.undefined, write.undefined));
        }
    };
    let outcome = execute(&program, &launch(1, &[], &[]), Schedule::Lockstep, Some(&mut observer));
    assert_eq!(outcome.end, End::Finished, "{body}");
    found.unwrap_or_else(|| panic!("{body}: nothing writes {register}"))
}

/// `%r8` and `%rd8` are never set; results are in `%r9`, `%rd9`, `%h9`, `%p9`.
fn check(cases: &[(&str, u64, u64)]) {
    for &(body, bits, undefined) in cases {
        let register = ["%rd9", "%r9", "%h9", "%p9"].into_iter().find(|name| body.contains(name)).unwrap();
        assert_eq!(last(body, register), (bits & !undefined, undefined), "{body}");
    }
}

const ALL: u64 = 0xffff_ffff;

#[test]
fn sums_and_products() {
    check(&[
        ("add.u32 %r9, 0xffffffff, 2", 1, 0),
        ("add.sat.s32 %r9, 0x7fffffff, 1", 0x7fff_ffff, 0),
        ("add.s64 %rd9, -1, 2", 1, 0),
        ("add.u16 %h9, 0xffff, 3", 2, 0),
        ("sub.u32 %r9, 3, 5", 0xffff_fffe, 0),
        ("sub.u32 %r9, %r8, %r8", 0, 0),
        ("sub.sat.s32 %r9, 0x80000000, 1", 0x8000_0000, 0),
        ("mul.lo.u32 %r9, 0x10001, 0x10001", 0x0002_0001, 0),
        ("mul.hi.u32 %r9, 0x80000000, 6", 3, 0),
        ("mul.hi.s32 %r9, -2, 3", ALL, 0),
        ("mul.hi.u64 %rd9, 0xffffffffffffffff, 16", 15, 0),
        ("mul.wide.u32 %rd9, 0xffffffff, 2", 0x1_ffff_fffe, 0),
        ("mul.wide.s32 %rd9, -3, 2", (-6_i64) as u64, 0),
        ("mul.wide.u16 %r9, 0xffff, 2", 0x1_fffe, 0),
        ("mad.lo.s32 %r9, 7, -3, 1", (-20_i32) as u32 as u64, 0),
        ("mad.hi.u32 %r9, 0x80000000, 6, 4", 7, 0),
        ("mad.wide.u32 %rd9, 0x80000000, 2, 5", 0x1_0000_0005, 0),
        ("sad.u32 %r9, 3, 10, 1", 8, 0),
        ("sad.s32 %r9, -3, 10, 1", 14, 0),
        ("div.u32 %r9, 0xffffffff, 10", 429_496_729, 0),
        ("div.s32 %r9, -7, 2", (-3_i32) as u32 as u64, 0),
        ("rem.s32 %r9, -7, 2", ALL, 0),
        ("rem.u64 %rd9, 100, 7", 2, 0),
        ("div.u32 %r9, 5, 0", 0, ALL),
        // Undefined bits: below the first one a sum and a product are known.
        ("shl.b32 %r1, %r8, 4; add.u32 %r9, %r1, 3", 3, 0xffff_fff0),
        ("and.b32 %r1, %r8, 1; add.u32 %r9, %r1, 2", 2, 1),
        ("and.b32 %r1, %r8, 1; add.u32 %r9, %r1, 1", 0, 3),
        ("mul.lo.u32 %r9, %r8, 8", 0, 0xffff_fff8),
        ("mul.lo.u32 %r9, %r8, 0", 0, 0),
        ("mul.hi.u32 %r9, %r8, 8", 0, ALL),
    ]);
}

#[test]
fn one_source() {
    check(&[
        ("abs.s32 %r9, -5", 5, 0),
        ("abs.s16 %h9, -5", 5, 0),
        ("neg.s32 %r9, 5", 0xffff_fffb, 0),
        ("not.b32 %r9, 0xf0", 0xffff_ff0f, 0),
        ("not.pred %p9, %p1", 0, 1),
        ("cnot.b32 %r9, 0", 1, 0),
        ("cnot.b32 %r9, 7", 0, 0),
        ("popc.b32 %r9, 0xf0f0", 8, 0),
        ("popc.b64 %r9, 0xffffffffffffffff", 64, 0),
        ("clz.b32 %r9, 0x00010000", 15, 0),
        ("clz.b64 %r9, 1", 63, 0),
        ("clz.b32 %r9, 0", 32, 0),
        ("brev.b32 %r9, 1", 0x8000_0000, 0),
        ("brev.b64 %rd9, 2", 0x4000_0000_0000_0000, 0),
        ("bfind.u32 %r9, 0x10", 4, 0),
        ("bfind.u32 %r9, 0", ALL, 0),
        ("bfind.shiftamt.u32 %r9, 0x10", 27, 0),
        ("bfind.s32 %r9, -1", ALL, 0),
        ("bfind.s32 %r9, -5", 2, 0),
        ("or.b32 %r1, %r8, 0x80000000; clz.b32 %r9, %r1", 0, 0),
        ("and.b32 %r1, %r8, 0xff; brev.b32 %r9, %r1", 0, 0xff00_0000),
    ]);
}

#[test]
fn logic_and_shifts() {
    check(&[
        ("and.b32 %r9, 0xff00, 0x0ff0", 0x0f00, 0),
        ("or.b64 %rd9, 0xff00000000, 1", 0xff_0000_0001, 0),
        ("xor.b32 %r9, 0xff, 0x0f", 0xf0, 0),
        ("xor.b32 %r9, %r8, %r8", 0, 0),
        ("lop3.b32 %r9, 0xf0f0, 0xcccc, 0xaaaa, 0x80", 0x8080, 0),
        ("lop3.b32 %r9, 0x0f, 0x33, 0x55, 0x96", 0x69, 0),
        ("lop3.b32 %r9, %r8, 0xff, 0, 0xc0", 0, 0xff),
        ("shl.b32 %r9, 0x80000001, 4", 0x10, 0),
        ("shl.b32 %r9, 1, 32", 0, 0),
        ("shl.b64 %rd9, 1, 40", 1 << 40, 0),
        ("shr.u32 %r9, 0x80000000, 31", 1, 0),
        ("shr.s32 %r9, 0x80000000, 31", ALL, 0),
        ("shr.s32 %r9, 0x80000000, 99", ALL, 0),
        ("shr.u64 %rd9, 0x100000000, 32", 1, 0),
        ("shf.l.wrap.b32 %r9, 0x80000000, 1, 1", 3, 0),
        ("shf.r.wrap.b32 %r9, 0x20, 1, 37", 0x0800_0001, 0),
        ("shf.r.clamp.b32 %r9, 5, 7, 40", 7, 0),
        ("shf.l.clamp.b32 %r9, 5, 7, 32", 5, 0),
        ("and.b32 %r9, %r8, 0xff", 0, 0xff),
        ("or.b32 %r9, %r8, 0xff", 0xff, 0xffff_ff00),
        ("shr.u32 %r9, %r8, 24", 0, 0xff),
        ("shr.s32 %r9, %r8, 24", 0, ALL),
        ("shl.b32 %r9, 1, %r8", 0, ALL),
        ("shl.b32 %r9, 0, %r8", 0, 0),
    ]);
}

#[test]
fn fields_and_bytes() {
    check(&[
        ("bfe.u32 %r9, 0xabcd1234, 8, 8", 0x12, 0),
        ("bfe.s32 %r9, 0x0000f000, 12, 4", ALL, 0),
        ("bfe.s32 %r9, 0x80000000, 28, 9", 0xffff_fff8, 0),
        ("bfe.u32 %r9, 0xffffffff, 40, 9", 0, 0),
        ("bfe.s32 %r9, 0x80000000, 40, 9", ALL, 0),
        ("bfe.u32 %r9, 0xffffffff, 3, 0", 0, 0),
        ("bfe.u64 %rd9, 0xff00000000, 32, 4", 0xf, 0),
        ("bfi.b32 %r9, 0xab, 0xffffffff, 8, 8", 0xffff_abff, 0),
        ("bfi.b32 %r9, 0xab, 0x11111111, 8, 0", 0x1111_1111, 0),
        ("bfi.b32 %r9, 0xff, 0, 28, 8", 0xf000_0000, 0),
        ("bfi.b64 %rd9, 1, 0, 40, 1", 1 << 40, 0),
        ("prmt.b32 %r9, 0x33221100, 0x77665544, 0x7310", 0x7733_1100, 0),
        ("prmt.b32 %r9, 0x33228000, 0, 0x9910", 0xffff_8000, 0),
        ("prmt.b32.f4e %r9, 0x33221100, 0x77665544, 1", 0x4433_2211, 0),
        ("prmt.b32.b4e %r9, 0x33221100, 0x77665544, 1", 0x6677_0011, 0),
        ("prmt.b32.rc8 %r9, 0x33221100, 0, 2", 0x2222_2222, 0),
        ("prmt.b32.ecl %r9, 0x33221100, 0, 2", 0x3322_2222, 0),
        ("prmt.b32.ecr %r9, 0x33221100, 0, 1", 0x1111_1100, 0),
        ("prmt.b32.rc16 %r9, 0x33221100, 0, 1", 0x3322_3322, 0),
        ("bfe.u32 %r9, %r8, 4, 4", 0, 0xf),
        ("bfi.b32 %r9, %r8, 0, 8, 4", 0, 0xf00),
        ("bfi.b32 %r9, 5, %r8, 8, 4", 0x500, 0xffff_f0ff),
        // Bytes that the second permutation drops.
        ("prmt.b32 %r9, 0x11, %r8, 0x3340", 0x11, 0xff00),
        ("prmt.b32 %r1, 0x11, %r8, 0x3340; prmt.b32 %r9, %r1, 0x22, 0x5540", 0x2211, 0),
        ("mov.b64 %rd1, {7, %r8}; mov.b64 {%r9, _}, %rd1", 7, 0),
        ("mov.b64 %rd1, {7, %r8}; mov.b64 {_, %r9}, %rd1", 0, ALL),
        ("mov.b32 %r9, {0x1234, 0x5678}", 0x5678_1234, 0),
        ("mov.b32 {%h1, %h9}, 0x56781234", 0x5678, 0),
        ("mov.b64 %rd9, {0x1, 0x2, 0x3, 0x4}", 0x0004_0003_0002_0001, 0),
    ]);
}

#[test]
fn conversions_and_choices() {
    check(&[
        ("cvt.u32.u16 %r9, 0xffff", 0xffff, 0),
        ("cvt.s32.s16 %r9, 0xffff", ALL, 0),
        ("cvt.s64.s32 %rd9, -2", (-2_i64) as u64, 0),
        ("cvt.u16.u32 %h9, 0x12345678", 0x5678, 0),
        ("cvt.sat.u8.s32 %r9, 300", 255, 0),
        ("cvt.sat.s8.s32 %r9, -300", 0xffff_ff80, 0),
        ("cvt.u32.u8 %r9, 0x1ff", 0xff, 0),
        ("cvt.u64.u32 %rd9, %r8", 0, ALL),
        ("cvt.u32.u8 %r9, %r8", 0, 0xff),
        ("min.s32 %r9, -1, 1", ALL, 0),
        ("min.u32 %r9, -1, 1", 1, 0),
        ("max.s32 %r9, -1, 1", 1, 0),
        ("max.u64 %rd9, 9, 4", 9, 0),
        ("and.b32 %r1, %r8, 7; min.u32 %r9, %r1, 8", 0, 7),
        ("and.b32 %r1, %r8, 7; max.u32 %r9, %r1, 8", 8, 0),
        ("setp.lt.s32 %p9, -1, 1", 1, 0),
        ("setp.lt.u32 %p9, -1, 1", 0, 0),
        ("setp.hs.s32 %p9, -1, 1", 1, 0),
        ("setp.eq.and.u32 %p9, 1, 1, %p1", 0, 1),
        ("setp.ne.and.u32 %p9, 1, 1, %p1", 0, 0),
        ("setp.eq.u32 %p1|%p9, 1, 1", 0, 0),
        ("setp.eq.or.u32 %p1, 1, 1, 0; setp.eq.and.u32 %p9, 1, 1, !%p1", 0, 0),
        ("and.b32 %r1, %r8, 7; setp.lt.u32 %p9, %r1, 8", 1, 0),
        ("and.b32 %r1, %r8, 7; setp.lt.u32 %p9, %r1, 7", 0, 1),
        ("or.b32 %r1, %r8, 7; setp.eq.u32 %p9, %r1, 8", 0, 0),
        ("setp.eq.u32 %p9, %r8, %r8", 1, 0),
        ("set.lt.u32.s32 %r9, -1, 1", ALL, 0),
        ("setp.lt.u32 %p1, 1, 2; selp.b32 %r9, 5, 6, %p1", 5, 0),
        ("setp.lt.u32 %p1, 3, 2; selp.b32 %r9, 5, 6, %p1", 6, 0),
        ("selp.b32 %r9, 5, 7, %p1", 5, 2),
        ("mov.u32 %r9, WARP_SZ", 32, 0),
        ("mov.u32 %r9, %ctaid.x", 3, 0),
        ("mov.u32 %r9, %nctaid.x", 7, 0),
        ("mov.u32 %r9, %lanemask_le", 1, 0),
        ("mov.u32 %r9, %lanemask_gt", 0xffff_fffe, 0),
    ]);
}

#[test]
fn carries() {
    check(&[
        ("add.cc.u32 %r1, 0xffffffff, 1; addc.u32 %r9, 0, 0", 1, 0),
        ("add.cc.u32 %r1, 1, 1; addc.u32 %r9, 0, 0", 0, 0),
        ("add.cc.u32 %r1, 0xffffffff, 1; addc.cc.u32 %r2, 0xffffffff, 0; addc.u32 %r9, 5, 0", 6, 0),
        ("sub.cc.u32 %r1, 1, 2; subc.u32 %r9, 5, 0", 4, 0),
        ("sub.cc.u32 %r1, 2, 2; subc.u32 %r9, 5, 0", 5, 0),
        // What an H200 does: the flag says that nothing was borrowed.
        ("sub.cc.u32 %r1, 2, 2; addc.u32 %r9, 0, 0", 1, 0),
        ("sub.cc.u32 %r1, 1, 2; addc.u32 %r9, 0, 0", 0, 0),
        ("mad.lo.cc.u32 %r1, 0xffffffff, 1, 1; madc.hi.u32 %r9, 2, 0x80000000, 0", 2, 0),
        ("add.cc.u64 %rd1, -1, 1; addc.u64 %rd9, 0, 0", 1, 0),
        ("addc.u32 %r9, 4, 0", 4, 1),
        ("and.b32 %r1, %r8, 1; add.cc.u32 %r2, %r1, 1; addc.u32 %r9, 0, 0", 0, 0),
    ]);
}

/// The faults of a kernel, in words, and the words that its threads stored in the end.
fn faults(threads: u32, schedule: Schedule, body: &str) -> (Vec<FaultKind>, Vec<u32>) {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 out, .param .u32 n) {{ {REGISTERS}\n\
         .shared .align 4 .b8 s[64]; .local .align 8 .b8 l[16];\n\
         ld.param.u64 %rd1, [out]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid;\n\
         mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n{body}\nE: ret; }}"
    );
    let program = Program::read(&text);
    let memory = [Buffer::defined(0x1_0000, vec![0; 512])];
    let outcome = execute(&program, &launch(threads, &[0x1_0000, 5], &memory), schedule, None);
    assert!(!matches!(outcome.end, End::Unknown(_) | End::Endless), "{:?}: {body}", outcome.end);
    let words =
        outcome.memory[0].bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    let mut kinds: Vec<FaultKind> = outcome.faults.iter().map(|fault| fault.kind).collect();
    kinds.dedup();
    (kinds, words.take(threads as usize).collect())
}

const SCHEDULES: [Schedule; 5] =
    [Schedule::Lockstep, Schedule::Random(0), Schedule::Random(1), Schedule::Random(2), Schedule::Random(3)];

#[track_caller]
fn shows(threads: u32, body: &str, expected: &[FaultKind]) {
    for schedule in SCHEDULES {
        assert_eq!(faults(threads, schedule, body).0, expected, "{schedule:?}: {body}");
    }
}

/// Nothing is wrong, and each thread stores this.
#[track_caller]
fn stores(threads: u32, body: &str, expected: impl Fn(u32) -> u32) {
    for schedule in SCHEDULES {
        let (found, words) = faults(threads, schedule, &format!("{body} st.global.u32 [%rd3], %r9;"));
        assert_eq!(found, [], "{schedule:?}: {body}");
        let expected: Vec<u32> = (0..threads).map(&expected).collect();
        assert_eq!(words, expected, "{schedule:?}: {body}");
    }
}

#[test]
fn collectives() {
    let odd = "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 1;";
    stores(64, &format!("{odd} vote.sync.ballot.b32 %r9, %p1, -1;"), |_| 0xaaaa_aaaa);
    stores(48, &format!("{odd} vote.sync.ballot.b32 %r9, %p1, -1;"), |t| {
        if t < 32 { 0xaaaa_aaaa } else { 0xaaaa }
    });
    stores(32, &format!("{odd} vote.sync.any.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;"), |_| 1);
    stores(32, &format!("{odd} vote.sync.all.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;"), |_| 0);
    stores(32, &format!("{odd} vote.sync.uni.pred %p2, !%p1, -1; selp.u32 %r9, 1, 0, %p2;"), |_| 0);
    stores(64, "shfl.sync.idx.b32 %r9, %r1, 5, 31, -1;", |t| t / 32 * 32 + 5);
    stores(64, "shfl.sync.bfly.b32 %r9, %r1, 16, 31, -1;", |t| t ^ 16);
    stores(32, "shfl.sync.up.b32 %r9|%p1, %r1, 1, 0, -1;", |t| t.saturating_sub(1));
    stores(32, "shfl.sync.up.b32 %r3|%p1, %r1, 1, 0, -1; selp.u32 %r9, 1, 0, %p1;", |t| u32::from(t >= 1));
    stores(32, "shfl.sync.down.b32 %r9, %r1, 4, 31, -1;", |t| if t + 4 < 32 { t + 4 } else { t });
    // Segments of eight lanes.
    stores(32, "shfl.sync.down.b32 %r9, %r1, 4, 0x181f, -1;", |t| if t % 8 < 4 { t + 4 } else { t });
    stores(32, "shfl.sync.idx.b32 %r9, %r1, 3, 0x181f, -1;", |t| t / 8 * 8 + 3);
    stores(64, "redux.sync.add.u32 %r9, %r2, -1;", |_| 496);
    stores(32, "sub.u32 %r3, %r2, 5; redux.sync.min.s32 %r9, %r3, -1;", |_| (-5_i32) as u32);
    stores(32, "redux.sync.xor.b32 %r9, %r2, -1;", |_| 0);
    stores(32, "shr.u32 %r3, %r2, 3; match.any.sync.b32 %r9, %r3, -1;", |t| 0xff << (t / 8 * 8));
    stores(32, "match.all.sync.b32 %r9|%p1, %r0, -1;", |_| u32::MAX);
    stores(32, "match.all.sync.b32 %r9|%p1, %r2, -1;", |_| 0);
    stores(64, "elect.sync %r3|%p1, -1; selp.u32 %r9, 1, 0, %p1;", |t| u32::from(t % 32 == 0));
    stores(32, "elect.sync %r9|%p1, -1;", |_| 0);
    // Both sides of a branch meet at one collective, wherever it is.
    let both = "setp.lt.u32 %p1, %r2, 7; @%p1 bra A; shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1; bra B; \
                A: shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1; B:";
    stores(32, both, |t| t ^ 1);
    // Half a warp with a mask of its own.
    let half = "mov.u32 %r9, 7; setp.lt.u32 %p1, %r2, 16; @%p1 shfl.sync.idx.b32 %r9, %r1, 0, 31, 0xffff;";
    stores(32, half, |t| if t < 16 { 0 } else { 7 });
}

#[test]
fn faults_of_collectives() {
    use FaultKind::{ExitedLane, LanesMissing, NotInMask, Undefined};
    let branch = "setp.lt.u32 %p1, %r2, 7; @%p1 bra L;";
    shows(
        32,
        &format!("{branch} shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1; L: bar.warp.sync -1;"),
        &[LanesMissing],
    );
    // Those that leave are not waited for.
    shows(32, &format!("{branch} vote.sync.any.pred %p2, %p1, -1; L:"), &[ExitedLane]);
    shows(32, &format!("{branch} bar.warp.sync -1; L:"), &[ExitedLane]);
    shows(32, "setp.eq.u32 %p1, %r0, 5; vote.sync.any.pred %p2, %p1, 0xff;", &[NotInMask]);
    shows(
        32,
        "setp.lt.u32 %p1, %r2, 7; @%p1 vote.sync.any.pred %p2, %p1, 0xff; bar.warp.sync -1;",
        &[LanesMissing],
    );
    let masks =
        "setp.lt.u32 %p1, %r2, 7; selp.b32 %r3, 0xff, -1, %p1; shfl.sync.bfly.b32 %r9, %r1, 1, 31, %r3;";
    shows(32, masks, &[LanesMissing]);
    shows(32, "shfl.sync.bfly.b32 %r9, %r1, 1, 31, %r8;", &[Undefined(Observed::Collective), NotInMask]);
}

#[test]
fn barriers() {
    use FaultKind::{Deadlock, ExitedLane, ExitedWarp, OperandsDiffer, PartOfWarp};
    let reduce = "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 1;";
    stores(96, &format!("{reduce} bar.red.popc.u32 %r9, 0, %p1;"), |_| 48);
    stores(96, &format!("{reduce} barrier.red.or.pred %p2, 0, %p1; selp.u32 %r9, 1, 0, %p2;"), |_| 1);
    stores(96, &format!("{reduce} bar.red.and.pred %p2, 0, %p1; selp.u32 %r9, 1, 0, %p2;"), |_| 0);
    // What others stored before the barrier is there after it.
    let turn = "mov.u32 %r5, s; and.b32 %r3, %r1, 15; mad.lo.u32 %r6, %r3, 4, %r5; st.shared.u32 [%r6], %r3; \
                bar.sync 0; xor.b32 %r3, %r3, 5; mad.lo.u32 %r6, %r3, 4, %r5; ld.shared.u32 %r9, [%r6];";
    stores(64, turn, |t| (t % 16) ^ 5);
    shows(64, "setp.lt.u32 %p1, %r1, 7; @%p1 bra L; bar.sync 0; L: bar.sync 0;", &[PartOfWarp]);
    shows(64, "setp.lt.u32 %p1, %r1, 7; @%p1 bar.sync 0; bar.sync 1;", &[PartOfWarp]);
    // Hardware does not wait for those that left; the manual says nothing of them.
    shows(64, "setp.lt.u32 %p1, %r1, 7; @%p1 bra E; bar.sync 0;", &[ExitedLane]);
    shows(64, "setp.lt.u32 %p1, %r1, 32; @%p1 bra L; bar.sync 0; L: bar.sync 0;", &[ExitedWarp]);
    shows(64, "setp.lt.u32 %p1, %r1, 32; @%p1 bra L; bar.sync 1; L: bar.sync 0;", &[Deadlock]);
    shows(64, "shr.u32 %r3, %r1, 5; bar.sync %r3;", &[Deadlock]);
    shows(64, "shr.u32 %r3, %r1, 4; bar.sync %r3;", &[OperandsDiffer]);
    shows(64, "setp.lt.u32 %p1, %r1, 32; @%p1 bra L; bar.sync 1, 64; bra E; L: bar.arrive 1, 64;", &[]);
    shows(64, "setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 32;", &[]);
    shows(64, "bar.sync 1, 96;", &[Deadlock]);
    // Without `.aligned` the lanes may come from different places.
    let places = "setp.lt.u32 %p1, %r1, 7; @%p1 bra L; barrier.sync 0; bra E; L: barrier.sync 0;";
    shows(64, places, &[]);
    shows(64, &places.replace("barrier.sync", "bar.sync"), &[PartOfWarp]);
    shows(64, "setp.lt.u32 %p1, %r1, 7; @%p1 barrier.sync 0; barrier.sync 1;", &[Deadlock]);
}

#[test]
fn what_is_observed() {
    use FaultKind::{CarryUnset, Misaligned, OutOfBounds, Undefined};
    shows(1, "add.u32 %r3, %r8, 1;", &[]);
    shows(1, "add.u32 %r3, %r8, 1; st.global.u32 [%rd1], %r3;", &[Undefined(Observed::Store)]);
    shows(1, "and.b32 %r3, %r8, 0xff00; st.global.u8 [%rd1], %r3;", &[]);
    shows(1, "add.u64 %rd4, %rd1, %rd8; ld.global.u32 %r3, [%rd4];", &[Undefined(Observed::Address)]);
    shows(1, "@%p1 bra E;", &[Undefined(Observed::Branch)]);
    shows(1, "@%p1 add.u32 %r3, %r8, 1;", &[Undefined(Observed::Guard)]);
    shows(1, "addc.u32 %r3, 0, 0;", &[CarryUnset]);
    shows(1, "ld.global.u32 %r3, [%rd1+2];", &[Misaligned]);
    shows(1, "ld.global.u32 %r3, [%rd1+512];", &[OutOfBounds]);
    shows(1, "ld.shared.u32 %r3, [s+64];", &[OutOfBounds]);
    shows(1, "ld.shared.u32 %r3, [s+65]; st.global.u32 [%rd1], %r3;", &[OutOfBounds, Misaligned]);
    shows(1, "mov.u32 %r4, s; add.u32 %r4, %r4, -4; ld.shared.u32 %r3, [%r4+4];", &[]);
    // The declared alignment of `s` does not suffice.
    shows(1, "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [s];", &[Misaligned]);
    // A shuffle moves what is undefined, and only who uses it observes it.
    let shuffle = "setp.eq.u32 %p1, %r2, 3; @%p1 mov.u32 %r5, 9; shfl.sync.idx.b32 %r9, %r5, 3, 31, -1;";
    stores(32, shuffle, |_| 9);
    shows(
        32,
        &format!("{} st.global.u32 [%rd3], %r9;", shuffle.replace(" 3, 31", " 4, 31")),
        &[Undefined(Observed::Store)],
    );
}

#[test]
fn calls_memory_and_jumps() {
    let text = format!(
        "{HEAD}.func (.param .b32 result) twice(.param .b32 x) {{ .reg .b32 %r<3>; ld.param.b32 %r1, [x];\n\
         add.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret; }}\n\
         .func (.reg .u32 d) next(.reg .u32 a) {{ add.u32 d, a, 1; ret; }}\n\
         .global .align 4 .u32 table[3] = {{5, 6, 7}};\n\
         .visible .entry k(.param .u64 out) {{ {REGISTERS} .local .align 8 .b8 l[16];\n\
         ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n\
         {{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call.uni (r), twice, (a); ld.param.b32 %r2, [r]; }}\n\
         call (%r3), next, (%r2);\n\
         ts: .branchtargets A, B; and.b32 %r4, %r1, 1; brx.idx %r4, ts;\n\
         A: add.u32 %r3, %r3, 100; B: mov.u64 %rd2, table; ld.global.u32 %r5, [%rd2+8]; add.u32 %r3, %r3, %r5;\n\
         mov.u64 %rd4, l; cvta.local.u64 %rd5, %rd4; st.u32 [%rd5+4], %r3; ld.local.u32 %r6, [l+4];\n\
         mad.wide.u32 %rd6, %r1, 4, %rd1; atom.global.add.u32 %r7, [%rd6], %r6; red.global.max.u32 [%rd6], 9; ret; }}"
    );
    let program = Program::read(&text);
    let memory = [Buffer::defined(0x1_0000, vec![0; 512])];
    for schedule in SCHEDULES {
        let outcome = execute(&program, &launch(40, &[0x1_0000], &memory), schedule, None);
        assert_eq!((outcome.end, outcome.faults), (End::Finished, vec![]));
        for thread in 0..40_u32 {
            let at = thread as usize * 4;
            let word = u32::from_le_bytes(outcome.memory[0].bytes[at..at + 4].try_into().unwrap());
            let sum = 2 * thread + 1 + 7 + if thread % 2 == 0 { 100 } else { 0 };
            assert_eq!(word, sum.max(9));
        }
    }
}

#[test]
fn reads_are_traced_to_their_origin() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 out) {{ {REGISTERS}\n\
         ld.param.u64 %rd1, [out];\n\
         mov.u32 %r3, %r8;\n\
         add.u32 %r4, %r3, 1;\n\
         st.global.u32 [%rd1], %r4; ret; }}"
    );
    let program = Program::read(&text);
    let memory = [Buffer::defined(0x1_0000, vec![0; 4])];
    let outcome = execute(&program, &launch(1, &[0x1_0000], &memory), Schedule::Lockstep, None);
    let [fault] = outcome.faults.as_slice() else { panic!("{:?}", outcome.faults) };
    assert_eq!(program.position(0, fault.statement), (9, 1));
    let [source] = fault.sources.as_slice() else { panic!("{fault:?}") };
    assert_eq!(source.cause, Cause::Register("%r8".to_owned()));
    assert_eq!(program.position(0, source.statement), (7, 1));
    assert_eq!(fault.describe(&program), "9:1: Undefined(Store), from Register(\"%r8\") at 7:1");
}

#[test]
fn threads_see_who_is_active() {
    let body = "setp.lt.u32 %p1, %r2, 7; @%p1 bra L; L: activemask.b32 %r9; st.global.u32 [%rd3], %r9;";
    assert_eq!(faults(32, Schedule::Lockstep, body).1, [u32::MAX; 32]);
    let inside =
        "mov.u32 %r9, 0; setp.lt.u32 %p1, %r2, 7; @%p1 activemask.b32 %r9; st.global.u32 [%rd3], %r9;";
    assert_eq!(faults(32, Schedule::Lockstep, inside).1[..8], [0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0]);
    for seed in 0..8 {
        let words = faults(32, Schedule::Random(seed), body).1;
        for (lane, mask) in words.iter().enumerate() {
            assert!(mask >> lane & 1 == 1);
            // Those that are active together see the same.
            assert!((0..32).all(|other| mask >> other & 1 == 0 || words[other] == *mask));
        }
    }
}
