//! PTX modules in strings.

const MODULE: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, 1;
    add.u32 %r2, %r1, %f3;  // error[undeclared-name]@23: `%f3`
    ret;
}
";

const RAW: &str = r#".version 8.0
.target sm_80
.address_size 64
.visible .entry k() { bad; ret; } // error[unknown-opcode]: `bad`
"#;

const BYTES: &[u8] = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { worse; ret; }\n"; // error[unknown-opcode]: `worse`
const PARTS: &str = concat!(
    ".version 8.0\n",
    ".target sm_80\n.address_size 64\n",
    ".visible .entry k() { ret }", // error[syntax]: expected an operand
);

fn many(target: &str) -> Vec<String> {
    let one = format!(".version 8.0\n.target {target}\n.visible .entry k() {{ bad; }}");
    let two = ".version 8.0\n.target sm_80\n.visible .entry k() { bad; }".replace("bad", "ret");
    let three = ".version 8.0\n.target sm_80\n.visible .entry k() {".to_owned() + target + "}";
    // No module, but a sentence about one: ".version 8.0 .target sm_80"
    vec![one, two, three, "Write .version and .target at the head.".to_owned()]
}
