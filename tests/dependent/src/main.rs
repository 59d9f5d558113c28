//! Uses each of the libraries.

use ptx_toolkit::{Config, Module};

fn main() {
    let source = ".version 8.0\n.target sm_80\n.visible .entry k() { ret; }\n";
    let module = Module::parse(source).ok().expect("the source has no fault");
    let (text, found) = module.check(&Config::default());
    assert!(found.is_empty());
    assert_eq!(ptx_emit::format(&text).expect("it is PTX").text, text);
    assert_eq!(ptx_syntax::parse(&text).errors.len(), 0);
    assert!(ptx_verify::check(&text, &Config::default()).is_empty());
    assert_eq!(module.functions.len(), 1);
    assert!(ptx_ir::target::Target::parse("sm_80").is_some());
    let kind = ptx_toolkit::project::Kind::Ptx;
    let source = ptx_toolkit::project::Source::new("k.ptx".into(), kind, text.clone().into_bytes());
    assert!(ptx_toolkit::project::verify(&source, &Default::default(), 1).is_empty());
    println!("{text}");
}
