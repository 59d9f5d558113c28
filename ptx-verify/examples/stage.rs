fn main() {
    let a: Vec<String> = std::env::args().collect();
    let s = std::fs::read_to_string(&a[2]).unwrap();
    match a[1].as_str() {
        "lex" => { std::hint::black_box(ptx_syntax::lexer::Lexer::new(&s).count()); }
        "parse" => { std::hint::black_box(ptx_syntax::parse(&s)); }
        "lower" => { let p = ptx_syntax::parse(&s); std::hint::black_box(ptx_ir::lower::lower(&p.tree, &s)); }
        "verify" => { std::hint::black_box(ptx_verify::check(&s, &ptx_verify::Config::default())); }
        _ => panic!(),
    }
}
