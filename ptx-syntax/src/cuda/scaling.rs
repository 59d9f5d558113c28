//! Time, stack and size for sources that nest and repeat as no human writes them.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::*;

/// A kind of source, and how to make one of a size.
type Kind = (&'static str, fn(usize) -> String);

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|index| line(index) + "\n").collect()
}

fn in_function(text: &str) -> String {
    format!("__device__ void f(int a) {{ {text} }}\n")
}

fn nested(count: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(count), close.repeat(count))
}

const KINDS: &[Kind] = &[
    ("a macro defined again and again", |n| {
        let use_it = in_function("asm(M \";\" : \"+r\"(a));");
        lines(n, |index| format!("#define M \"add.u32 %0, %0, {index};\"\n{use_it}"))
    }),
    ("a macro defined and taken back", |n| {
        let use_it = in_function("asm(M \";\" : \"+r\"(a));");
        lines(n, |index| format!("#define M \"add.u32 %0, %0, {index};\"\n{use_it}#undef M"))
    }),
    ("a keyword's macro defined and taken back", |n| {
        lines(n, |_| format!("#define A asm volatile\n{}#undef A", in_function("A(\"x;\");")))
    }),
    ("a macro used in conditions and defined again", |n| {
        lines(n, |index| format!("#define V {index}\n#if V > 3\n{}\n#endif", in_function("asm(\"x;\");")))
    }),
    ("branches of one group", |n| {
        let branches =
            lines(n, |index| format!("#elif X == {index}\n{}", in_function("asm(\"x;\" : \"+r\"(a));")));
        format!("#if X == -1\n{branches}#endif\n")
    }),
    ("branches inside a statement", |n| {
        let branches = lines(n, |index| format!("#elif X == {index}\n\"add.u32 %0, %0, 1;\""));
        in_function(&format!("asm(\"\"\n#if X == -1\n{branches}#endif\n : \"+r\"(a));"))
    }),
    ("statements left out by each other", |n| {
        in_function(&format!(
            "{}\n{}",
            nested(n, "asm(\"x;\"\n#if A\n);\n#else\n", "", ""),
            "#endif\n".repeat(n)
        ))
    }),
    ("pointers to pointers", |n| {
        format!(
            "__device__ void f(int {0}a, int b{1}) {{ asm(\"\" :: \"l\"({0}a), \"r\"(b{1})); }}",
            "*".repeat(n),
            "[1]".repeat(n)
        )
    }),
    ("nested conditions", |n| nested(n, "#if A\n", "asm(\"x;\");\n", "#endif\n")),
    ("nested conditions with braces", |n| nested(n, "#if A\nvoid f() {\n", "asm(\"x;\");\n", "#endif\n")),
    ("nested conditions inside statements", |n| {
        lines(n, |_| "#if A\nvoid f() {\nasm(\"x;\"\n#if B\n\"y;\"\n#endif\n);}".into())
            + &"#endif\n".repeat(n)
    }),
    ("a chain of macros, the last first", |n| {
        let chain = lines(n, |index| format!("#define M{index} M{}", index + 1));
        format!("{chain}#define M{n} asm(\"x;\");\n{}", in_function("M0"))
    }),
    ("a chain of macros in conditions", |n| {
        let chain = lines(n, |index| format!("#define M{index} M{} + 1", index.wrapping_sub(1)));
        format!("{chain}#if M{}\n{}\n#endif\n", n - 1, in_function("asm(\"x;\");"))
    }),
    ("parameters", |n| {
        let list =
            |prefix: &str| (0..n).map(|index| format!("{prefix}{index}")).collect::<Vec<_>>().join(", ");
        let body = (0..n).fold(String::new(), |mut text, index| {
            let _ = write!(text, "\"r\"(p{index}), ");
            text
        });
        format!(
            "#define M({}) asm(\"x;\" :: {body} \"r\"(1))\n{}",
            list("p"),
            in_function(&format!("M({});", list("a")))
        )
    }),
    ("a long macro that stands for little", |n| {
        let define = format!("#define M {} \"x;\"\n", "/* */ ".repeat(n));
        define + &in_function(&"asm(M);".repeat(n))
    }),
    ("keywords without end", |n| in_function(&"asm(".repeat(n))),
    ("keywords without end, with templates", |n| in_function(&"asm(\"x;\" : \"=r\"(a)".repeat(n))),
    ("uses without end", |n| format!("#define M(x) asm(x)\n{}", in_function(&"M(".repeat(n)))),
    ("nested uses", |n| {
        format!("#define M(x) x\n{}", in_function(&format!("asm({});", nested(n, "M(", "\"x;\"", ")"))))
    }),
    ("nested uses of a statement's macro", |n| {
        format!(
            "#define M(x) x\n#define A(x) asm(x)\n{}",
            in_function(&format!("A({});", nested(n, "M(", "\"x;\"", ")")))
        )
    }),
    ("nested uses around a statement", |n| {
        format!("#define A(x) asm(x)\n{}", in_function(&nested(n, "A(", "asm(\"x;\")", ")")))
    }),
    ("pasting", |n| {
        format!("#define M(x) asm(\"x;\" :: \"r\"(a{}))\n{}", " ## x".repeat(n), in_function("M(b);"))
    }),
    ("strings", |n| in_function(&format!("asm({});", "\"add.u32 %0, %0, 1;\\n\" ".repeat(n)))),
    ("strings without end", |n| "asm(\"\n".repeat(n)),
    ("raw strings without end", |n| lines(n, |index| format!("asm(R\"a{index}(x\");"))),
    ("operands", |n| in_function(&format!("asm(\"x;\" :: {} \"r\"(1));", "\"r\"(a), ".repeat(n)))),
    ("clobbers", |n| in_function(&format!("asm(\"x;\" ::: {} \"memory\");", "\"memory\", ".repeat(n)))),
    ("macros as constraints", |n| {
        let defines = lines(n, |index| {
            format!("#if X == {index}\n#define C{index} \"r\"\n#define C \"{index}\"\n#endif")
        });
        defines + &in_function(&format!("asm(\"x;\" :: {} \"r\"(1));", "C (a), ".repeat(n)))
    }),
    ("nested parentheses", |n| in_function(&format!("asm(\"x;\" :: \"r\"({}));", nested(n, "(", "a", ")")))),
    ("nested operators", |n| in_function(&format!("asm(\"x;\" :: \"r\"({}a));", "-~".repeat(n)))),
    ("nested conditionals", |n| in_function(&format!("asm(\"x;\" :: \"r\"({}a));", "a ? a : ".repeat(n)))),
    ("nested template arguments", |n| {
        format!("{} x; {}", nested(n, "A<", "int", ">"), in_function("asm(\"x;\");"))
    }),
    ("angles without end", |n| format!("{} x; {}", "A < ".repeat(n), in_function("asm(\"x;\");"))),
    ("angles in initializers", |n| in_function(&format!("bool b = {} a; asm(\"x;\");", "a < ".repeat(n)))),
    ("specialisations without arguments", |n| format!("{} {{ asm(\"x;\"); }}", "> ( ) ".repeat(n))),
    ("template headers", |n| {
        format!(
            "{} {}",
            "template <class T> ".repeat(n),
            in_function(&"asm(\"x;\" :: \"r\"(T(a)));".repeat(n))
        )
    }),
    ("initializers in braces", |n| format!("A::A() : {} a{{1}} {{ asm(\"x;\"); }}", "a{1}, ".repeat(n))),
    ("braces in an expression", |n| in_function(&format!("a = {} 1; asm(\"x;\");", "T{1} + ".repeat(n)))),
    ("lambdas", |n| in_function(&format!("g({} 1); asm(\"x;\");", "[](int b) { return b; }, ".repeat(n)))),
    ("bodies without heads", |n| in_function(&"a){ ".repeat(n))),
    ("nested lambdas", |n| in_function(&nested(n, "g([](int b) {", "asm(\"x;\");", "});"))),
    ("nested blocks", |n| in_function(&nested(n, "{ int b;", "asm(\"x;\" :: \"r\"(b));", "}"))),
    ("branches of branches", |n| in_function(&format!("{} asm(\"x;\");", "if (a) a = 1; else ".repeat(n)))),
    ("overloads", |n| {
        lines(n, |_| "int g(int);".into()) + &in_function(&"asm(\"x;\" :: \"r\"(g(a)));".repeat(n))
    }),
    ("statements without separator", |n| {
        in_function(&format!("M({}) {}", "a, ".repeat(n), "asm(\"x;\") ".repeat(n)))
    }),
    ("line continuations", |n| {
        format!("#define A \\\n{} asm(\"x;\")\n{}", "\\\n".repeat(n), in_function("A;"))
    }),
    ("broken words", |n| in_function(&format!("as{}m(\"x;\");", "\\\n".repeat(n)))),
    ("targets", |n| {
        in_function(&format!(
            "NV_DISPATCH_TARGET({} NV_ANY_TARGET, (;));",
            "NV_PROVIDES_SM_90, (asm(\"x;\");), ".repeat(n)
        ))
    }),
    ("includes", |n| lines(n, |index| format!("#include \"a{index}.h\"")) + &in_function("asm(\"x;\");")),
];

fn on_a_small_stack<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(work).expect("a thread");
    thread.join().expect("no panic")
}

/// Time that this thread has run: where the system does not tell it, time that has passed.
fn now(start: Instant) -> Duration {
    let scheduled = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = scheduled.and_then(|text| text.split_whitespace().next()?.parse().ok());
    ran.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// How long it takes to read a source so many times.
fn time(source: &str, times: usize) -> Duration {
    let began = Instant::now();
    let read = || {
        let file = extract(source);
        let truths = file.conditions_of(source).truths(&MacroValues::default());
        let compiled = |found: &&AsmStatement| truths.of(found.condition) == Truth::True;
        std::hint::black_box(file.statements.iter().filter(compiled).count());
    };
    let run = || {
        let start = now(began);
        (0..times).for_each(|_| read());
        now(began).saturating_sub(start)
    };
    (0..3).map(|_| run()).min().unwrap_or_default()
}

/// How many times as long the large source is as the small one.
const GROWTH: usize = 8;

#[test]
fn time_is_in_proportion_to_the_source() {
    on_a_small_stack(|| {
        let slow: Vec<String> = KINDS
            .iter()
            .filter_map(|(name, make)| {
                let (small, large) = (make(1500), make(1500 * GROWTH));
                // As much text in both: as much time, and eight times as much if it were quadratic.
                let (before, after) = (time(&small, GROWTH), time(&large, 1));
                // Clocks are coarse, some tell time in steps of 4 ms: shorter times say little.
                let ratio = after.as_secs_f64() / before.as_secs_f64().max(8e-3);
                (ratio > 3.2).then(|| format!("{name}: {before:?}, then {after:?}"))
            })
            .collect();
        assert!(slow.is_empty(), "{slow:#?}");
    });
}

#[test]
fn a_use_that_is_nested_too_deep_is_told() {
    let source = format!(
        "#define M(x) x\n{}",
        in_function(&format!(
            "asm({} : \"+r\"(a));\nasm(M(M(\"y;\")));",
            nested(700, "M(", "\"add.u32 %0, %0, 1;\"", ")")
        ))
    );
    let file = on_a_small_stack({
        let source = source.clone();
        move || extract(&source)
    });
    assert_eq!(file.statements.len(), 2);
    assert!(file.statements[0].template.has_wildcards());
    assert_eq!(file.statements[1].template.text, "y;");
    let [told] = file.unexpanded[..] else { panic!("one use: {:?}", file.unexpanded) };
    assert_eq!((told.reason, told.call.start as usize), (ExpansionLimit::Depth, source.find("M(M").unwrap()));
}

#[test]
fn macros_that_stand_for_too_much_are_told_once() {
    let mut source = format!("#define A0 asm(\"{}\");\n", "add.u32 r, r, 1;".repeat(200));
    for level in 1..=24 {
        let _ = writeln!(source, "#define A{level} A{} A{}", level - 1, level - 1);
    }
    source.push_str("void f() { A3 }\nvoid g() { A24 }\nvoid h() { A24 A2 }\n");
    let file = extract(&source);
    // Those of `f`, and that of the `#define`.
    assert_eq!(file.statements.len(), 9);
    let told: Vec<_> =
        file.unexpanded.iter().map(|told| (told.reason, told.call.text(&source), told.others)).collect();
    assert_eq!(told, [(ExpansionLimit::Size, "A24", 1), (ExpansionLimit::Size, "A2", 0)]);
}
