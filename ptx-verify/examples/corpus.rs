use std::collections::BTreeMap;
fn cpu() -> f64 { std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse::<f64>().unwrap()/1e9 }
fn main() {
    let mut by: BTreeMap<(String,String), (usize, Vec<String>)> = BTreeMap::new();
    let mut bytes=0; let t=std::time::Instant::now();
    let (mut tp,mut tl,mut tv)=(0.0,0.0,0.0);
    let only = std::env::var("RULE").ok();
    for f in std::env::args().skip(1) {
        let s = String::from_utf8_lossy(&std::fs::read(&f).unwrap()).into_owned();
        bytes+=s.len();
        let t=cpu(); let p = ptx_syntax::parse(&s); tp+=cpu()-t;
        let t=cpu(); let l = ptx_ir::lower::lower(&p.tree,&s); tl+=cpu()-t;
        let t=cpu(); let v = ptx_verify::verify(&l.module,&s,&ptx_verify::Config::default()); tv+=cpu()-t;
        let idx = ptx_syntax::LineIndex::new(&s);
        for d in p.diagnostics.iter().chain(&l.diagnostics).chain(&v) {
            if only.as_ref().is_some_and(|r| r!=d.rule) { continue; }
            let e = by.entry((format!("{:?}",d.severity), d.rule.to_string())).or_default();
            e.0+=1;
            let line = idx.position(d.span.start).line;
            let text = idx.line_span(line).text(&s).trim();
            if e.1.len() < 400 { e.1.push(format!("{}:{}: {} || {}", f.rsplit("corpus/").next().unwrap(), line, d.message, text)); }
        }
    }
    println!("{} MB in {:.2}s; parse {:.0} lower {:.0} verify {:.0} MB/s", bytes/1_000_000, t.elapsed().as_secs_f64(), bytes as f64/tp/1e6, bytes as f64/tl/1e6, bytes as f64/tv/1e6);
    for (k,(n,ex)) in &by { println!("== {} {}: {}", k.0,k.1,n); let lim: usize = std::env::var("N").ok().and_then(|x|x.parse().ok()).unwrap_or(4); let step=(ex.len()/lim).max(1); for e in ex.iter().step_by(step).take(lim) { println!("     {}", &e.chars().take(230).collect::<String>()); } }
}
