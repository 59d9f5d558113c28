use std::time::Instant;
use std::collections::HashMap;
fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let (mut bad, mut tot, mut tp, mut tl) = (0, 0usize, 0.0, 0.0);
    let (mut none, mut unk, mut n)=(0usize,0usize,0usize);
    let mut hist: HashMap<String,usize> = HashMap::new();
    for f in &files {
        let bytes = std::fs::read(f).unwrap();
        let s = String::from_utf8_lossy(&bytes).into_owned();
        let t=Instant::now();
        let p = ptx_syntax::parse(&s);
        tp+=t.elapsed().as_secs_f64();
        let t=Instant::now();
        let l = ptx_ir::lower::lower(&p.tree, &s);
        tl+=t.elapsed().as_secs_f64();
        tot+=s.len();
        for (_,func) in l.module.functions.iter() { if let Some(b)=&func.body { for (h,i) in b.instructions.iter() { n+=1; if i.instance.is_none() { none+=1; let sp=&l.module.spellings[i.spelling]; if sp.resolved.problem.is_some() {unk+=1} else { *hist.entry(format!("{} | {}", sp.text, b.span(h).text(&s))).or_default()+=1; } } } } }
        if !l.diagnostics.is_empty() { bad+=1; let d=&l.diagnostics[0]; println!("{f}: {:?} {} {}", ptx_syntax::LineIndex::new(&s).position(d.span.start), d.message, l.diagnostics.len()); }
    }
    println!("bad {bad} of {}; parse {:.0} MB/s lower {:.0} MB/s; instr {n} without instance {none} spelling problem {unk}", files.len(), tot as f64/tp/1e6, tot as f64/tl/1e6);
    let mut v: Vec<_> = hist.into_iter().collect(); v.sort_by_key(|x| std::cmp::Reverse(x.1));
    for (k,c) in v.iter().take(60) { println!("{c} {k}"); }
}
