//! Macros in and around asm statements.

use crate::cuda::{AsmStatement, CType, CudaFile, PieceKind, WILDCARD, extract};

/// The statements that macros stand for, where they are used.
fn used(file: &CudaFile) -> Vec<&AsmStatement> {
    file.statements.iter().filter(|statement| statement.used_at.is_some()).collect()
}

fn templates(source: &str) -> Vec<String> {
    used(&extract(source)).iter().map(|statement| statement.template.text.clone()).collect()
}

/// The template of the one statement that is not a macro's.
fn template(source: &str) -> String {
    let file = extract(source);
    let own: Vec<_> = file.statements.iter().filter(|found| found.macro_definition.is_none()).collect();
    assert_eq!(own.len(), 1, "{source}");
    own[0].template.text.clone()
}

#[test]
fn a_macro_with_a_statement_is_read_where_it_is_used() {
    let source = "#define OP(name, d, a) asm(name \".f32 %0, %1;\" : \"=f\"(d) : \"f\"(a))\n\
                  __device__ void f(float x, double y) { OP(\"neg\", x, y); if (x) OP(\"abs\", x, 1.f); }";
    let file = extract(source);
    assert_eq!(file.statements.len(), 3);
    assert_eq!(file.statements[0].template.text, format!("{WILDCARD}.f32 %0, %1;"));
    let [first, second] = used(&file)[..] else { panic!("two uses") };
    assert_eq!(
        (first.template.text.as_str(), second.template.text.as_str()),
        ("neg.f32 %0, %1;", "abs.f32 %0, %1;")
    );
    assert_eq!(first.outputs[0].expression.text(source), "x");
    assert_eq!(first.inputs[0].ctype, CType::Float { bytes: 8 });
    assert_eq!(first.used_at.map(|call| call.text(source)), Some("OP"));
    assert!(first.macro_definition.is_some() && first.function.is_some());
    // The constraint is in the macro, and so is the template but for the argument.
    assert_eq!(first.outputs[0].constraint.span.text(source), "\"=f\"");
    assert!(!first.outputs[0].constraint.from_macro);
    let map = &first.template.map;
    assert_eq!(map.span(crate::Span::new(0, 3)).text(source), "neg");
    assert_eq!(map.span(crate::Span::new(0, 7)).text(source), ".f32");
    let events = file.functions[0].statements().count();
    assert_eq!(events, 2);
}

#[test]
fn a_macro_of_branches_is_read_in_each() {
    let source = |end: &str| {
        format!(
            "#ifdef WIDE\n#define LD \"ld.global.v2\"\n#define SUF(x) \".\" #x\n#else\n#define LD \"ld\"\n\
             #define SUF(x)\n{end}void f() {{ asm(LD \".u32\" SUF(b) \" %0;\" LD : \"=r\"(a)); }}"
        )
    };
    let text = source("#endif\n");
    let file = extract(&text);
    let templates: Vec<&str> = file.statements.iter().map(|found| &*found.template.text).collect();
    assert_eq!(templates, ["ld.global.v2.u32.b %0;ld.global.v2", "ld.u32 %0;ld"]);
    let [wide, other] = &file.statements[..] else { panic!("two choices") };
    assert_eq!((wide.choices, wide.branches.len(), other.branches.len()), (2, 2, 2));
    // A third branch, or none at all, may define nothing.
    let wildcards = |text: &str| extract(text).statements[0].template.has_wildcards();
    assert!(wildcards(&source("#endif\n").replace("#else", "#elif NARROW")));
    assert!(wildcards(&source("#endif\n#ifdef THIRD\n#define LD \"st\"\n#define SUF(x) \"y\"\n#endif\n")));
    let constraint =
        "#ifdef W\n#define P \"l\"\n#else\n#define P \"r\"\n#endif\nvoid f() { asm(\"x;\" :: P(a)); }";
    assert_eq!(extract(constraint).statements.len(), 1);
}

#[test]
fn operators_of_the_preprocessor() {
    for (macros, call, expected) in [
        ("#define A(op, t) asm(#op \".\" #t \" %0;\" :: \"r\"(1))", "A(add, u32);", "add.u32 %0;"),
        (
            "#define A(n) asm(\"mov.u32 %0, %%envreg\" #n \";\" : \"=r\"(x))",
            "A(2);",
            "mov.u32 %0, %%envreg2;",
        ),
        (
            "#define S_(x) #x\n#define S(x) S_(x)\n#define W 32\n#define A(t) asm(\"add.u\" S(W) \";\")",
            "A(1);",
            "add.u32;",
        ),
        ("#define A(t) asm(\"ld.\" #t \";\")\n#define B(x) A(x ## 32)", "B(u);", "ld.u32;"),
        ("#define A(...) asm volatile(__VA_ARGS__)", "A(\"x;\" : \"=r\"(x) : \"r\"(x, 1));", "x;"),
        ("#define A(a, ...) asm volatile(a \"b;\" , ## __VA_ARGS__)", "A(\"a\");", "ab;"),
        ("#define A(...) asm(#__VA_ARGS__)", "A( mov.u32   a, \"b\\n\"[1] );", "mov.u32 a, \"b\\n\"[1]"),
        ("#define A() asm(\"e;\")", "A();", "e;"),
        ("#define A asm(\"o;\")", "A;", "o;"),
        ("#define A(x) do { asm(x \";\"); } while (0)\n#define B(y) A(y \".z\")", "B(\"n\");", "n.z;"),
    ] {
        let source = format!("{macros}\nvoid f(unsigned x) {{ {call} }}");
        assert_eq!(templates(&source), [expected], "{source}");
    }
}

#[test]
fn macros_among_the_parts_of_a_statement() {
    for (macros, statement, expected) in [
        ("#define T(x) \"mov.\" x", "asm(T(\"u32\") \" %0, 1;\" : \"=r\"(x));", "mov.u32 %0, 1;"),
        ("#define S_(x) #x\n#define S(x) S_(x)\n#define N 7", "asm(\"bar \" S(N) \";\");", "bar 7;"),
        ("#define A \"a\" B\n#define B \"b\"", "asm(A \";\");", "ab;"),
        ("#define OPS \"%0\"", "asm(\"mov.u32 \" OPS \", 1;\" : \"=r\"(x));", "mov.u32 %0, 1;"),
    ] {
        assert_eq!(template(&format!("{macros}\nvoid f(unsigned x) {{ {statement} }}")), expected);
    }
    let source = "#define PTR(p) \"l\"(p)\n#define NO_CLOBBER\nvoid f(int *q) { asm(\"ld %0;\" :: PTR(q) : NO_CLOBBER); }";
    let file = extract(source);
    let statement = &file.statements[0];
    assert!(statement.complete && statement.oddities.is_empty(), "{:?}", statement.oddities);
    assert_eq!(statement.inputs[0].ctype.size(), Some(8));
    assert!(statement.inputs[0].constraint.from_macro);
}

#[test]
fn what_is_not_known_stays_unknown() {
    for source in [
        "void f() { asm(OTHER(x) \";\"); }",
        "#if A\n#define T(x) \"a\"\n#elif B\n#define T(x) \"b\"\n#endif\nvoid f() { asm(T(1) \";\"); }",
        "#define T(x) \"a\"\n#undef T\nvoid f() { asm(T(1) \";\"); }",
        "#define T(x, y) \"a\"\nvoid f() { asm(T(1) \";\"); }",
        "void f() { asm(T(1) \";\"); }\n#define T(x) \"a\"",
        "#define T(x) g(x)\nvoid f() { asm(T(1) \";\"); }",
    ] {
        assert_eq!(template(source), format!("{WILDCARD};"), "{source}");
    }
    // A parameter hides the macro of its name.
    let file = extract("#define T \"a\"\n#define M(T) asm(T \";\")");
    assert_eq!(file.statements[0].template.text, format!("{WILDCARD};"));
}

#[test]
fn definitions_follow_each_other() {
    let source = "#define OP \"add\"\nvoid f() { asm(OP \";\"); }\n#undef OP\n#define OP \"sub\"\nvoid g() { asm(OP \";\"); }";
    let texts: Vec<_> = extract(source).statements.iter().map(|found| found.template.text.clone()).collect();
    assert_eq!(texts, ["add;", "sub;"]);
    let either = "#if __CUDA_ARCH__ >= 800\n#define M(x) asm(\"a;\" :: \"r\"(x))\n#else\n#define M(x) asm(\"b;\" :: \"r\"(x))\n#endif\n\
                  void f(int x) { M(x); }";
    assert_eq!(templates(either), ["a;", "b;"]);
    assert_eq!(
        templates(
            "#if 0\n#define M() asm(\"a;\")\n#else\n#define M() asm(\"b;\")\n#endif\nvoid f() { M(); }"
        ),
        ["b;"]
    );
}

#[test]
fn macros_may_stand_for_functions() {
    let source = "#define DEFINE(name, type, letter) \\\n\
        __device__ type name##_##type(type *p) { type r; asm(\"ld.\" #type \" %0, [%1];\" : \"=\" letter(r) : \"l\"(p)); return r; }\n\
        DEFINE(load, short, \"h\")\nDEFINE(load, float, \"f\")\n__device__ void last() { asm(\"x;\"); }";
    let file = extract(source);
    let found = used(&file);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].template.text, "ld.short %0, [%1];");
    assert_eq!(found[0].template.pieces[1].kind, PieceKind::Made);
    assert!(!found[0].template.has_wildcards());
    assert_eq!(found[0].outputs[0].constraint.text, "=h");
    assert_eq!(
        (found[0].outputs[0].ctype.size(), found[1].outputs[0].ctype.clone()),
        (Some(2), CType::Float { bytes: 4 })
    );
    assert!(file.function(found[1].function.unwrap()).qualifiers.device);
}

#[test]
fn macros_without_end_come_to_one() {
    for source in [
        "#define A A B\n#define B A asm(\"x;\")\nvoid f() { A; B; }",
        "#define A(x) A(x) asm(\"x;\")\nvoid f() { A(A(1)); }",
        "#define A(x, ...) asm(x __VA_ARGS__ #x #__VA_ARGS__ x ## x ## __VA_ARGS__)\nvoid f() { A(; A(\"a\", \"b\") A(}",
        "#define A(x) #x #\n#define B(x) ## x ##\nvoid f() { asm(A(1) B(2)); }",
        "#define A() asm(\"\"\nvoid f() { A() ); A( }",
    ] {
        let file = extract(source);
        assert!(file.statements.len() < 20, "{source}");
    }
    let mut doubling = String::from("#define M0 asm(\"x;\");\n");
    for level in 1..40 {
        doubling.push_str(&format!("#define M{level} M{} M{}\n", level - 1, level - 1));
    }
    doubling.push_str("void f() { M39 }");
    assert!(!extract(&doubling).statements.is_empty());
}
