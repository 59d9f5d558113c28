//! Turns the grammar into a parser.

fn main() {
    println!("cargo:rerun-if-changed=src/grammar.lalrpop");
    if let Err(error) = lalrpop::process_src() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
