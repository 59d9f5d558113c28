//! Extraction, feature by feature, with examples of our own and those of NVIDIA's guide in our own words.

use super::*;

fn one(source: &str) -> (CudaFile, AsmStatement) {
    let file = extract(source);
    assert_eq!(file.statements.len(), 1, "statements of {source}");
    let statement = file.statements[0].clone();
    (file, statement)
}

fn template(source: &str) -> String {
    one(source).1.template.text
}

fn body(statements: &str) -> String {
    format!("__device__ void f(int i, int j, int k) {{ {statements} }}")
}

fn count(source: &str) -> usize {
    extract(source).statements.len()
}

fn types(source: &str) -> Vec<String> {
    let file = extract(source);
    file.statements.iter().flat_map(AsmStatement::operands).map(|operand| operand.ctype.name()).collect()
}

fn oddities(statement: &str) -> Vec<OddityKind> {
    one(&body(statement)).1.oddities.iter().map(|oddity| oddity.kind).collect()
}

// ---- keywords and surroundings ------------------------------------------------------------------------------

#[test]
fn every_keyword_and_qualifier_is_known() {
    for keyword in ["asm", "__asm__", "__asm"] {
        assert!(!one(&body(&format!("{keyword}(\"membar.gl;\");"))).1.volatile);
        for qualifier in ["volatile", "__volatile__", "__volatile"] {
            assert!(one(&body(&format!("{keyword} {qualifier} (\"membar.gl;\");"))).1.volatile);
        }
    }
    assert!(one(&body("asm inline(\"x;\");")).1.after_qualifiers > 0);
    let (_, statement) = one(&body("asm volatile goto(\"bra %l0;\" :::: away); away:;"));
    assert!(statement.goto && statement.volatile);
    assert_eq!((statement.labels.len(), statement.colons), (1, 4));
}

#[test]
fn macros_that_stand_for_the_keyword() {
    let (_, statement) = one("#define asm asm volatile\n__device__ void f() { asm(\"membar.gl;\"); }");
    assert!(statement.volatile);
    let file = extract(
        "#define VOL __asm__ __volatile__\nvoid f() { VOL(\"x;\"); }\n#undef VOL\nvoid g() { VOL(\"y;\"); }",
    );
    assert_eq!(file.statements.len(), 1);
    assert_eq!(file.non_statements.len(), 1);
    assert_eq!(file.non_statements[0].kind, NonStatementKind::Alias);
}

#[test]
fn what_is_no_statement() {
    assert_eq!(
        count("// asm(\"a\");\n/* asm(\"b\"); */ const char *s = \"asm(\\\"c\\\")\"; char c = 'asm';"),
        0
    );
    let kinds = |source: &str| -> Vec<NonStatementKind> {
        extract(source).non_statements.iter().map(|found| found.kind).collect()
    };
    assert_eq!(kinds("extern \"C\" int clock(void) __asm__(\"clock32\");"), [NonStatementKind::SymbolName]);
    assert_eq!(kinds("void f() { register int x asm(\"eax\") = 1; }"), [NonStatementKind::SymbolName]);
    assert_eq!(kinds("void f() { __asm { mov eax, 1 } __asm int 3 }").len(), 2);
    assert_eq!(kinds("int x = node.asm(1) + tool->asm(2) + ns::asm(3);"), [NonStatementKind::Name; 3]);
    assert!(kinds("int my_asm(int); int asmx = my_asm(1);").is_empty());
}

#[test]
fn statements_are_found_wherever_they_stand() {
    for source in [
        "asm(\".global .b32 x;\");",
        "template <class T> struct S { template <int N> __device__ static T f() { asm(\"x;\"); } };",
        "#if 0\nvoid f() { asm(\"x;\"); }\n#endif",
        "void f() { if (a) asm(\"x;\"); else b(); }",
        "void f() { auto g = [&](int x) { asm(\"x;\"); }; }",
        "void f() { for (;;) while (1) do asm(\"x;\"); while (0); }",
        "void f() { NV_IF_TARGET(NV_PROVIDES_SM_90, (asm(\"x;\");), (g();)) }",
        "void f() { MACRO(a, { asm(\"x;\"); }, b) }",
        "void f() { UNROLL asm(\"x y;\"); }",
        "} ) ] ; asm(\"x;\");",
        "int x = ({ asm(\"x;\"); 1; });",
        "S::S() : a{1}, b(2) { asm(\"x;\"); }",
        "#define M(x) do { asm(\"x;\"); } while (0)",
        "void f() { struct L { void g() { asm(\"x;\"); } }; }",
    ] {
        assert_eq!(count(source), 1, "{source}");
    }
}

#[test]
fn a_missing_brace_in_one_branch_loses_nothing() {
    let source = "#if A\nvoid f(int a) {\n#else\nvoid f(long a) {\n#endif\n asm(\"x;\" :: \"r\"(a)); }\n\
                  void g(short b) { asm(\"y;\" :: \"h\"(b)); }";
    let file = extract(source);
    assert_eq!(file.statements.len(), 2);
    let name = |index: usize| file.statements[index].function.map(|id| file.function(id).name.text(source));
    assert_eq!((name(0), name(1)), (Some("f"), Some("g")));
}

// ---- templates ----------------------------------------------------------------------------------------------

#[test]
fn strings_are_joined_and_decoded() {
    assert_eq!(
        template(&body(
            r#"asm("mov.u32" /* d */ " %0,\n\t" // s
        "%1;" : "=r"(i) : "r"(j));"#
        )),
        "mov.u32 %0,\n\t%1;"
    );
    assert_eq!(template(&body("asm(R\"ptx({\n  ret;\n})ptx\");")), "{\n  ret;\n}");
    assert_eq!(template(&body("asm(u8\"a\" \"b\\\nc\");")), "abc");
}

#[test]
fn the_map_leads_back_through_escapes_and_pieces() {
    let source = body(r#"asm("{\n\t" "add.u32 %0, " "%1;" "}" : "=r"(i) : "r"(j));"#);
    let (_, statement) = one(&source);
    let at = statement.template.text.find("%1").map(|at| at as u32).unwrap_or_default();
    assert_eq!(statement.template.map.span(Span::new(at, at + 2)).text(&source), "%1");
    assert_eq!(statement.template.map.byte(1).text(&source), "\\n");
    assert_eq!(statement.template.pieces.len(), 4);
}

use crate::Span;

#[test]
fn macro_parts_become_wildcards() {
    let source = "#define OP(name, T) asm(\"{ \" STR(name) \".\" #T \" %0;}\" : \"=r\"(x))";
    let (file, statement) = one(source);
    assert_eq!(statement.template.text, format!("{{ {WILDCARD}.{WILDCARD} %0;}}"));
    let kinds: Vec<_> = statement.template.pieces.iter().map(|piece| piece.kind.clone()).collect();
    assert_eq!(kinds[1], PieceKind::Wildcard);
    assert_eq!(kinds[3], PieceKind::Stringified);
    assert_eq!(statement.template.pieces[1].source.text(source), "STR(name)");
    assert_eq!(file.macros[0].statements.len(), 1);
    assert_eq!(file.macro_definition(statement.macro_definition.expect("a macro")).name.text(source), "OP");
}

#[test]
fn string_macros_of_the_file_are_replaced() {
    let source =
        "#define PTR \"l\"\n#define BAR \"bar.sync \"\nvoid f(int *p) { asm(BAR \"0;\" :: PTR (p)); }";
    let (_, statement) = one(source);
    assert_eq!(statement.template.text, "bar.sync 0;");
    assert_eq!(
        (statement.inputs[0].constraint.text.as_str(), statement.inputs[0].constraint.from_macro),
        ("l", true)
    );
    assert!(statement.complete);
    let either = "#if A\n#define PTR \"r\"\n#define T \"a;\"\n#else\n#define PTR \"l\"\n#define T \"b;\"\n#endif\n\
                  void f(int *p) { asm(T :: PTR(p)); }";
    let statements = extract(either).statements;
    let texts: Vec<_> = statements.iter().map(|found| found.template.text.as_str()).collect();
    assert_eq!(texts, ["a;", "b;"]);
    assert!(statements.iter().all(|found| found.inputs[0].constraint.text == "l"));
    let within = format!(
        "{}#define F(t) void f(int *p) {{ asm(\"ld.\" T #t \" x;\"); }}\n#if B\nF(u8)\n#endif\n",
        "#if A\n#define T \"a.\"\n#else\n#define T \"b.\"\n#endif\n"
    );
    let statements = extract(&within).statements;
    let texts: Vec<_> = statements.iter().map(|found| found.template.text.as_str()).collect();
    assert_eq!(&texts[texts.len() - 2..], ["ld.a.u8 x;", "ld.b.u8 x;"]);
    assert!(!one("void f() { asm(\"x;\" : OUTPUTS : \"r\"(1)); }").1.complete);
    assert!(!one("#define ASM(...) asm volatile(__VA_ARGS__)").1.complete);
}

#[test]
fn branches_inside_a_statement_make_variants() {
    let source = "void f(int a) { asm(\"mov\"\n#if X\n\".u32\"\n#elif Y\n\".s32\"\n#else\n\".b32\"\n#endif\n\" %0, 1;\" : \"=r\"(a)\n\
                  #ifdef Z\n: : \"memory\"\n#endif\n); asm(\"ret;\"); }";
    let file = extract(source);
    let texts: Vec<_> = file.statements.iter().map(|found| found.template.text.as_str()).collect();
    assert_eq!(texts, ["mov.u32 %0, 1;", "mov.s32 %0, 1;", "mov.b32 %0, 1;", "ret;"]);
    assert_eq!(file.statements[0].clobbers.len() + file.statements[1].clobbers.len(), 1);
    let either =
        "void f() {\n#if X\n asm volatile(\"a;\"\n#else\n asm(\"b;\"\n#endif\n :: \"n\"(1)); asm(\"c;\"); }";
    let file = extract(either);
    let seen: Vec<_> = file.statements.iter().map(|s| (s.template.text.as_str(), s.inputs.len())).collect();
    assert_eq!(seen, [("a;", 1), ("b;", 1), ("c;", 0)]);
}

// ---- operands -----------------------------------------------------------------------------------------------

#[test]
fn operands_with_names_modifiers_and_nested_expressions() {
    let source = body(
        "asm(\"x;\" : [out] \"=&r\" (i), \"+r\"(a[b(1, 2)].c) : \"r\"(x ? std::f(y) : z) : \"memory\", \"cc\");",
    );
    let (_, statement) = one(&source);
    let first = &statement.outputs[0];
    assert_eq!(first.name.map(|name| name.text(&source)), Some("out"));
    assert!(
        first.constraint.is_write()
            && first.constraint.is_early_clobber()
            && !first.constraint.is_read_write()
    );
    assert_eq!(first.constraint.letters(), "r");
    assert_eq!(statement.outputs[1].expression.text(&source), "a[b(1, 2)].c");
    assert_eq!(statement.inputs[0].expression.text(&source), "x ? std::f(y) : z");
    assert!(statement.clobbers_memory());
    assert_eq!((statement.clobbers.len(), statement.colons), (2, 3));
    assert!(statement.oddities.is_empty());
}

#[test]
fn double_colons_are_two() {
    let (_, statement) = one(&body("asm(\"x;\" ::\"r\"(i):\"memory\");"));
    assert_eq!((statement.outputs.len(), statement.inputs.len(), statement.clobbers.len()), (0, 1, 1));
    let (_, statement) = one(&body("asm(\"x;\" :\"=r\"(i)::\"memory\");"));
    assert_eq!((statement.outputs.len(), statement.inputs.len(), statement.clobbers.len()), (1, 0, 1));
    assert_eq!(one(&body("asm(\"x;\" ::::);")).1.colons, 4);
}

#[test]
fn odd_lists_are_recorded() {
    assert_eq!(oddities("asm(\"x;\" :: \"r\"(i) \"r\"(j));"), [OddityKind::MissingComma]);
    assert_eq!(oddities("asm(\"x;\" :: \"r\"(i), );"), [OddityKind::TrailingComma]);
    assert_eq!(oddities("asm(\"x;\" :: \"r\", \"r\"(j));"), [OddityKind::MissingExpression]);
    assert_eq!(oddities("asm(\"x;\" :: (i));"), [OddityKind::MissingConstraint]);
    assert_eq!(oddities("asm(\"x;\" :: \"r\"());"), [OddityKind::EmptyExpression]);
    assert_eq!(oddities("asm();"), [OddityKind::MissingTemplate]);
    assert_eq!(oddities("asm(\"x;\" ::::: );"), [OddityKind::ExtraColon]);
    assert_eq!(oddities("asm(\"x;\", i);"), [OddityKind::Unexpected]);
    assert_eq!(oddities("asm volatile volatile(\"x;\");"), [OddityKind::RepeatedQualifier]);
    assert_eq!(oddities("asm(\"x;\" :: \"r\"(i);"), [OddityKind::Unterminated]);
    let source = body("asm(\"x;\" :: \"r\"(i) \"r\"(j));");
    let (_, statement) = one(&source);
    assert_eq!(statement.oddities[0].span.text(&source), " ");
    assert_eq!(statement.inputs.len(), 2);
}

#[test]
fn an_open_parenthesis_hides_no_other_statement() {
    assert_eq!(count("void f() { asm(\"x;\" :: \"r\"(i); }\nvoid g() { asm(\"y;\"); }"), 2);
}

// ---- types --------------------------------------------------------------------------------------------------

#[test]
fn types_come_from_declarations_in_sight() {
    let source = "typedef unsigned int word; using wide = uint64_t; enum Kind { A };\n\
        struct P { short s; word w; };\n\
        template <class T> struct Q { float *m; T t; __device__ void f(const uint16_t &h, wide q, P p, T *any, double (&d)[2]) {\n\
          unsigned char c; long long a[4], *b; auto u = 1; Kind kind; uint4 v; const void *ptr; char x = 'x';\n\
          asm(\"\" :: \"r\"(h), \"r\"(q), \"r\"(p.s), \"r\"(p.w), \"r\"(any), \"r\"(t), \"r\"(m), \"r\"(*m), \"r\"(d[1]),\n\
              \"r\"(c), \"r\"(a[1]), \"r\"(b), \"r\"(u), \"r\"(kind), \"r\"(v.x), \"r\"(ptr), \"r\"(x), \"r\"(a), \"r\"(nowhere));\n\
        } };";
    let expected = "unsigned short,unsigned long long,short,unsigned int,pointer,unknown,float *,float,double,\
        unsigned char,long long,long long *,int,enum,unsigned int,void *,signed char,long long *,unknown";
    assert_eq!(types(source).join(","), expected);
}

#[test]
fn types_of_expressions() {
    let typed = |expression: &str| {
        let source = format!(
            "__device__ uint16_t half(float); __device__ void f(int i, unsigned u, char c, float x, double d, long l, int *p) {{ \
             asm(\"\" :: \"r\"({expression})); }}"
        );
        types(&source).join(",")
    };
    for (expression, expected) in [
        ("1", "int"),
        ("1u", "unsigned int"),
        ("0x80000000", "unsigned int"),
        ("2147483648", "long"),
        ("1ull", "unsigned long long"),
        ("1.0f", "float"),
        ("1e3", "double"),
        ("(unsigned short)i", "unsigned short"),
        ("(unsigned long long)(p + 1)", "unsigned long long"),
        ("static_cast<uint32_t>(d)", "unsigned int"),
        ("*reinterpret_cast<const unsigned short *>(&x)", "unsigned short"),
        ("reinterpret_cast<unsigned int&>(x)", "unsigned int"),
        ("uint64_t(i)", "unsigned long long"),
        ("i + u", "unsigned int"),
        ("c + c", "int"),
        ("i * d", "double"),
        ("i < 3", "bool"),
        ("l << 2", "long"),
        ("-c", "int"),
        ("&x", "float *"),
        ("p[2]", "int"),
        ("*p", "int"),
        ("p + i", "int *"),
        ("i ? u : u", "unsigned int"),
        ("sizeof(int)", "unsigned long long"),
        ("half(x)", "unsigned short"),
        ("__cvta_generic_to_shared(p)", "unsigned long long"),
        ("threadIdx.x", "unsigned int"),
        ("(uint32_t)__cvta_generic_to_shared(p)", "unsigned int"),
        ("true", "bool"),
        ("c", "signed char"),
        ("(i)", "int"),
        ("Foo<int>(i)", "unknown"),
        ("elsewhere(i)", "unknown"),
        ("(Foo)i", "unknown"),
        ("(Foo *)p", "pointer"),
        ("i, u", "unknown"),
    ] {
        assert_eq!(typed(expression), expected, "{expression}");
    }
}

#[test]
fn an_inner_name_hides_an_outer_one() {
    assert_eq!(types("int x; void f() { auto x = g(); asm(\"\" :: \"r\"(x)); }"), ["unknown"]);
    assert_eq!(types("int x; void f() { { float x; } asm(\"\" :: \"r\"(x)); }"), ["int"]);
    assert_eq!(types("int x; template <class T> void f(T x) { asm(\"\" :: \"r\"(x)); }"), ["unknown"]);
    assert_eq!(types("int x; void f() { Some::Type<int> x(1); asm(\"\" :: \"r\"(x)); }"), ["unknown"]);
    assert_eq!(types("int a; void f() { auto [a, b] = g(); asm(\"\" :: \"r\"(a)); }"), ["unknown"]);
    assert_eq!(
        types("void f() {\n#if A\nint x;\n#else\nlong x;\n#endif\nasm(\"\" :: \"r\"(x)); }"),
        ["unknown"]
    );
    assert_eq!(types("void f() { for (short i = 0; ; ) asm(\"\" :: \"r\"(i)); }"), ["short"]);
    assert_eq!(types("void f() { auto g = [](float y) { asm(\"\" :: \"r\"(y)); }; }"), ["float"]);
}

// ---- conditions ---------------------------------------------------------------------------------------------

fn compiled(source: &str, sm: u32, feature: Feature) -> Truth {
    let (file, statement) = one(source);
    let values = MacroValues { sm: Some(sm), feature, toolkit: Some((13, 0)), ptx_version: Some(900) };
    file.conditions_of(source).truths(&values).of(statement.condition)
}

#[test]
fn conditions_know_the_target() {
    let source = "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\nvoid f() { asm(\"x;\"); }\n#endif";
    assert_eq!(compiled(source, 80, Feature::Base), Truth::False);
    assert_eq!(compiled(source, 90, Feature::Base), Truth::True);
    let source = "#if __CUDA_ARCH__ < 800\n#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)\nvoid f() { asm(\"x;\"); }\n#else\n#endif";
    assert_eq!(compiled(source, 75, Feature::Base), Truth::False);
    assert_eq!(compiled(source, 90, Feature::Base), Truth::False);
    assert_eq!(compiled(source, 90, Feature::Architecture), Truth::True);
    let source = "#ifdef SOMETHING\nvoid f() { asm(\"x;\"); }\n#endif";
    assert_eq!(compiled(source, 90, Feature::Base), Truth::Unknown);
    let source = "#if 0\nvoid f() { asm(\"x;\"); }\n#endif";
    assert_eq!(compiled(source, 90, Feature::Base), Truth::False);
    let source = "#ifndef __CUDA_ARCH__\nvoid f() { asm(\"pause\"); }\n#endif";
    assert_eq!(compiled(source, 90, Feature::Base), Truth::False);
    let source = "#if CUDA_VERSION >= 12080 || FOO\nvoid f() { asm(\"x;\"); }\n#endif";
    assert_eq!(compiled(source, 90, Feature::Base), Truth::True);
}

#[test]
fn conditions_follow_macros_of_the_file() {
    let source = "#if __CUDA_ARCH__ >= 900\n#define ENABLED 1\n#endif\nvoid f() {\n#if defined(ENABLED)\nasm(\"x;\");\n#endif\n}";
    assert_eq!(compiled(source, 80, Feature::Base), Truth::False);
    assert_eq!(compiled(source, 90, Feature::Base), Truth::True);
    let source = "#define LOOP LOOP2\n#define LOOP2 LOOP\n#if LOOP\nvoid f() { asm(\"x;\"); }\n#endif";
    assert_eq!(compiled(source, 90, Feature::Base), Truth::Unknown);
}

#[test]
fn target_macros_are_conditions() {
    let source =
        "void f() { NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (int a = 1; asm(\"x;\" :: \"r\"(a));), (g();)) }";
    assert_eq!(compiled(source, 75, Feature::Base), Truth::False);
    assert_eq!(compiled(source, 80, Feature::Base), Truth::True);
    assert_eq!(types(source), ["int"]);
    let source =
        "void f() { NV_DISPATCH_TARGET(NV_PROVIDES_SM_80, (g();), NV_PROVIDES_SM_70, (asm(\"x;\");)) }";
    assert_eq!(compiled(source, 80, Feature::Base), Truth::False);
    assert_eq!(compiled(source, 70, Feature::Base), Truth::True);
    let source = "void f() { NV_IF_TARGET(NV_IS_HOST, (g();), (asm(\"x;\");)) }";
    assert_eq!(compiled(source, 80, Feature::Base), Truth::True);
}

#[test]
fn macros_of_the_platform_are_known() {
    for (condition, expected) in [
        ("defined(__LP64__)", Truth::True),
        ("defined(_WIN64) || defined(__x86_64__)", Truth::True),
        ("defined(_WIN64) || defined(_M_X64) || defined(__LP64__)", Truth::True),
        ("!defined(__LP64__)", Truth::False),
        ("defined(__i386__)", Truth::False),
        ("defined(_WIN32)", Truth::Unknown),
        ("defined(__x86_64__)", Truth::Unknown),
        ("defined(__aarch64__)", Truth::Unknown),
    ] {
        let source = format!("#if {condition}\nvoid f() {{ asm(\"x;\"); }}\n#endif");
        assert_eq!(compiled(&source, 90, Feature::Base), expected, "{condition}");
    }
    let windows = "#ifndef __x86_64__\nvoid f() { asm(\"x;\"); }\n#endif";
    let (file, statement) = one(windows);
    let truths = file.conditions_of(windows).truths(&MacroValues::default());
    assert!(truths.is_for_windows(statement.condition));
}

#[test]
fn a_definition_in_sight_outdoes_what_came_before() {
    let source = "#define V 1\n#undef V\n#define V 2\n#if V == 2\nvoid f() { asm(\"x;\"); }\n#endif";
    assert_eq!(compiled(source, 90, Feature::Base), Truth::True);
    let perhaps = source.replace("#define V 2\n", "#ifdef A\n#define V 2\n#endif\n");
    assert_eq!(compiled(&perhaps, 90, Feature::Base), Truth::Unknown);
}

#[test]
fn targets_with_features_are_conditions() {
    let source = |target: &str| format!("void f() {{ NV_IF_TARGET({target}, (asm(\"x;\");)) }}");
    for (target, sm, feature, expected) in [
        ("NV_HAS_FEATURE_SM_120f", 120, Feature::Family, Truth::True),
        ("NV_HAS_FEATURE_SM_120f", 120, Feature::Base, Truth::False),
        ("NV_HAS_FEATURE_SM_120f", 90, Feature::Architecture, Truth::False),
        ("NV_HAS_FEATURE_SM_120f", 121, Feature::Family, Truth::Unknown),
        ("NV_IS_EXACTLY_SM_90", 90, Feature::Base, Truth::True),
        ("NV_IS_DEVICE", 90, Feature::Base, Truth::True),
    ] {
        assert_eq!(compiled(&source(target), sm, feature), expected, "{target} {sm}");
    }
}

// ---- functions, regions, the stream -------------------------------------------------------------------------

fn stream(source: &str) -> String {
    let file = extract(source);
    let mut out = String::new();
    for event in &file.functions[0].events {
        let word = match event.kind {
            EventKind::Asm(id) => file.statement(id).template.text.clone(),
            EventKind::Call => format!("{}()", event.span.text(source)),
            EventKind::Label => "label".into(),
            EventKind::Jump => event.span.text(source).into(),
            EventKind::Enter(region) => format!("{:?}<", file.region(region).kind),
            EventKind::Leave(_) => ">".into(),
        };
        out.push_str(&word);
        out.push(' ');
    }
    out.trim_end().into()
}

#[test]
fn a_body_is_one_stream() {
    let source = "__device__ __forceinline__ void f(int a) { asm(\"1\"); if (a) { asm(\"2\"); return; } else asm(\"3\");\n\
        #pragma unroll\n for (int i = 0; i < 4; i++) asm(\"4\"); g(a); here: asm(\"5\"); while (h()) { break; }\n\
        if constexpr (N) asm(\"6\"); }";
    assert_eq!(
        stream(source),
        "1 Then< 2 return > Else< 3 > For { unrolled: true }< 4 > g() label 5 While< h() break > Constexpr< 6 >"
    );
    let file = extract(source);
    assert!(file.functions[0].qualifiers.force_inline && file.functions[0].qualifiers.device);
    assert_eq!(file.functions[0].parameters.len(), 1);
    assert_eq!(file.functions[0].statements().count(), 6);
}

#[test]
fn names_of_functions() {
    for (source, expected) in [
        (
            "template <class T, int N = (1 > 0)> __global__ void __launch_bounds__(128) kernel(T *p) { asm(\"\"); }",
            "kernel",
        ),
        ("CUTE_HOST_DEVICE static void fma(float &d, float const (&a)[2]) { asm(\"\"); }", "fma"),
        ("_API_TEMPLATE(class T) _REQUIRES(X<T>) auto get(T t) noexcept(true) -> int { asm(\"\"); }", "get"),
        ("struct S { S(int a) : x(a), y{a} { asm(\"\"); } };", "S"),
        ("struct S { bool operator()(int a) const { asm(\"\"); } };", "operator"),
        ("struct R f(int a) { asm(\"\"); }", "f"),
        ("extern \"C\" { namespace n { unsigned int (g)(int); void h() { asm(\"\"); } } }", "h"),
        ("class __align__(16) A final : public B<int(3)> { void m() { asm(\"\"); } };", "m"),
        ("void A<int>::n() { asm(\"\"); }", "n"),
    ] {
        let (file, statement) = one(source);
        let id = statement.function.unwrap_or_else(|| panic!("no function in {source}"));
        assert_eq!(file.function(id).name.text(source), expected);
    }
}

// ---- the guide's own examples -------------------------------------------------------------------------------

#[test]
fn examples_of_the_guide() {
    for (statement, outputs, inputs, colons) in [
        ("asm(\"membar.gl;\");", 0, 0, 0),
        ("asm(\"add.s32 %0, %1, %2;\" : \"=r\"(i) : \"r\"(j), \"r\"(k));", 1, 2, 2),
        ("asm(\"add.s32 %0, %1, %1;\" : \"=r\"(i) : \"r\"(k));", 1, 1, 2),
        ("asm(\"mov.s32 %0, 2;\" : \"=r\"(i));", 1, 0, 1),
        ("asm(\"mov.s32 r1, %0;\" :: \"r\"(i));", 0, 1, 2),
        ("asm(\"mov.u32 %0, %%clock;\" : \"=r\"(x));", 1, 0, 1),
        ("asm(\"add.s32 %0, %0, %1;\" : \"+r\"(i) : \"r\" (j));", 1, 1, 2),
        ("asm(\"add.u32 %0, %0, %1;\" : \"=r\"(x) : \"n\"(42));", 1, 1, 2),
        ("asm volatile (\"mov.u32 %0, %%clock;\" : \"=r\"(x) :: \"memory\");", 1, 0, 3),
        ("asm (\"st.u32 [%0], %1;\" : : \"l\"(p), \"r\"(x) : \"memory\");", 0, 2, 3),
    ] {
        let (_, found) = one(&body(statement));
        assert_eq!(
            (found.outputs.len(), found.inputs.len(), found.colons),
            (outputs, inputs, colons),
            "{statement}"
        );
        assert!(found.oddities.is_empty(), "{statement}");
    }
    let cube = "__device__ int cube(int x) { int y; asm(\".reg .u32 t1;\\n\\t\" // temp\n \" mul.lo.u32 t1, %1, %1;\\n\\t\" \
                \" mul.lo.u32 %0, t1, %1;\" : \"=r\"(y) : \"r\" (x)); return y; }";
    assert_eq!(types(cube), ["int", "int"]);
    let carry = "uint32_t a, b, c; void f() { asm(\"add.cc.u32 %0, %0, %1;\": \"+r\"(a):\"r\"(b)); asm(\"addc.u32 %0, 0, 0;\": \"=r\"(c)); }";
    assert_eq!(types(carry), ["unsigned int"; 3]);
    let words = "typedef unsigned long long uint64; typedef unsigned int uint32; uint64 f(uint64 x) { volatile register uint32 m[4];\
        asm(\"x\" : \"+r\"(m[0]) : \"r\"(((uint32 *)&x)[0]), \"r\"(((uint32 *)&x)[1])); return x; }";
    assert_eq!(types(words), ["unsigned int"; 3]);
    let aggregate = "void f(int j) { int4 i4; char ci; float fi; asm(\"\" : \"=r\"(i4), \"=r\"(ci), \"=r\"(fi) : \"rf\"(j)); }";
    assert_eq!(types(aggregate), ["int4", "signed char", "float", "int"]);
}

#[test]
fn no_bytes_make_it_panic() {
    let seeds = [
        "asm volatile(\"mov %0, 1;\" : \"=r\"(x) : [n] \"r\"(y) : \"memory\");",
        "template <class T> __device__ void f(T (&a)[2]) { if (a) { for (;;) asm(\"x\\n\" \"y\"); } }",
        "#if X\n#define M(a, ...) asm(#a __VA_ARGS__)\n#else\n#endif\nNV_IF_TARGET(A, (asm(\"\");), (b))",
        "R\"d(asm)d\" '\\'' /* \\\n // {[(<>)]} :: -> operator() enum class struct using typedef",
    ];
    let property = |u: &mut arbtest::arbitrary::Unstructured<'_>| {
        let mut text = String::from("asm");
        for _ in 0..u.int_in_range(0..=6)? {
            let seed = u.choose(&seeds)?;
            let (a, b) = (u.int_in_range(0..=seed.len())?, u.int_in_range(0..=seed.len())?);
            text.push_str(seed.get(a.min(b)..a.max(b)).unwrap_or(""));
            text.push_str(u.choose(&[
                "", " ", "\n", "(", ")", "{", "}", "\"", "<", ">", "#", "\\", "é", "asm(", ";", ":",
            ])?);
        }
        let file = extract(&text);
        for statement in &file.statements {
            assert!(statement.span.end as usize <= text.len());
            let _ = file.conditions_of(&text).truths(&MacroValues::default()).of(statement.condition);
            for at in 0..=statement.template.text.len() as u32 {
                assert!(statement.template.map.byte(at).end as usize <= text.len());
            }
        }
        Ok(())
    };
    arbtest::arbtest(property).budget_ms(300);
    for text in ["(".repeat(40_000), "{".repeat(40_000), "if(".repeat(20_000), "[](){".repeat(9_000)] {
        assert_eq!(count(&format!("void f() {{ {text} asm(\"x;\");")), 1);
        assert_eq!(count(&format!("{text} asm(\"x;\");")), 1);
    }
    assert_eq!(extract(&format!("#if {}1\nasm(\"x;\");\n#endif", "(!".repeat(50_000))).statements.len(), 1);
    types(&format!("void f() {{ asm(\"\" :: \"r\"({}1)); }}", "-(".repeat(30_000)));
}

#[test]
fn bytes_outside_utf_8_keep_their_places() {
    let bytes = b"// caf\xe9\nasm(\"x;\");";
    let text = decode(bytes);
    assert_eq!(text.len(), bytes.len());
    assert_eq!(count(&text), 1);
}

#[test]
fn a_statement_after_one_without_an_end_is_read_once() {
    let sources = [
        "#if X\nasm (\n#else\nasm (\"a;\" :: );\n#endif\n",
        "asm (\n#if X\nasm (\"a;\" :: );\n#else\n\"b;\" :: );\n#endif\n",
        "#if X\nasm (\n#elif Y\nasm (\n#else\nasm (\"a;\" :: );\n#endif\n",
    ];
    for source in sources {
        let file = extract(source);
        let mut all: Vec<_> = file.statements.iter().map(|each| (each.keyword.start, each.variant)).collect();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count, "{source}");
    }
}
