//! On a cubin made by hand; the tests against `ptxas` compare with `cuobjdump`.

use super::*;

/// A string table and the offsets of its strings.
fn strings(names: &[&str]) -> (Vec<u8>, Vec<u32>) {
    let mut bytes = vec![0];
    let offsets = names.iter().map(|name| {
        let offset = bytes.len() as u32;
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        offset
    });
    let offsets = offsets.collect();
    (bytes, offsets)
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// An attribute that is followed by its size and value.
fn attribute(attribute: u8, value: &[u32]) -> Vec<u8> {
    let size = (value.len() * 4) as u8;
    [vec![EIFMT_SVAL, attribute, size, 0], words(value)].concat()
}

/// A cubin with one kernel, `k`: 24 registers, blocks of at most 64 × 2 × 1, 0x210 bytes of constants.
fn cubin() -> Vec<u8> {
    cubin_with(EIATTR_MAX_THREADS)
}

/// The same with the size of blocks in this attribute.
fn cubin_with(threads: u8) -> Vec<u8> {
    let names = [".shstrtab", ".strtab", ".symtab", ".nv.info", ".nv.info.k", ".nv.constant0.k", ".text.k"];
    let (section_names, offsets) = strings(&names);
    let (symbol_names, symbol_offsets) = strings(&["k"]);
    // A global function, a kernel, in the section that is the fourth here.
    let kernel = u32::from_le_bytes([0x12, STO_CUDA_ENTRY, 4, 0]);
    let symbols = [vec![0; 24], words(&[symbol_offsets[0], kernel, 0, 0, 0, 0])].concat();
    // An attribute without a value comes before the others.
    let per_kernel = [vec![1, 0x17, 0, 0], attribute(threads, &[64, 2, 1])].concat();
    let contents = [
        (3, section_names),
        (3, symbol_names),
        (SHT_SYMTAB, symbols),
        (SHT_CUDA_INFO, attribute(EIATTR_REGCOUNT, &[1, 24])),
        (SHT_CUDA_INFO, per_kernel),
        (1, vec![0; 0x210]),
        // Five instructions: the second does nothing, nor do the last two, which fill up the end.
        (
            1,
            [0x7824, 0x7918, 0x794d, 0x7918, 0x7918]
                .iter()
                .flat_map(|&opcode| words(&[opcode, 0, 0, 0]))
                .collect(),
        ),
    ];
    let mut file = b"\x7fELF\x02\x01".to_vec();
    file.resize(64, 0);
    file[18..20].copy_from_slice(&EM_CUDA.to_le_bytes());
    let mut headers = vec![0; 64];
    for ((kind, content), name) in contents.iter().zip(offsets) {
        let link = u32::from(*kind == SHT_SYMTAB) * 2;
        let (start, size) = (file.len() as u32, content.len() as u32);
        headers.extend(words(&[name, *kind, 0, 0, 0, 0, start, 0, size, 0, link, 0, 0, 0, 0, 0]));
        file.extend_from_slice(content);
    }
    let table = file.len() as u64;
    file[0x28..0x30].copy_from_slice(&table.to_le_bytes());
    file[0x3a..0x40].copy_from_slice(&[64, 0, contents.len() as u8 + 1, 0, 1, 0]);
    file.extend(headers);
    file
}

fn unknown() -> Vec<FunctionUsage> {
    vec![FunctionUsage::unknown("k", FunctionKind::Entry), FunctionUsage::unknown("f", FunctionKind::Func)]
}

#[test]
fn figures_of_a_kernel() {
    let mut functions = unknown();
    functions[0].registers = Some(23);
    complete(&mut functions, &cubin(), &Outline::default());
    let [kernel, function] = &functions[..] else { unreachable!() };
    assert_eq!(
        (kernel.registers, kernel.max_threads, kernel.const_bytes),
        (Some(24), Some(128), Some(0x210))
    );
    assert_eq!((kernel.code_bytes, kernel.instructions), (Some(80), Some(3)));
    assert_eq!(*function, unknown()[1], "a device function has no figures of its own");
}

#[test]
fn a_required_size_of_blocks_is_the_largest_too() {
    let mut functions = unknown();
    complete(&mut functions, &cubin_with(EIATTR_REQNTID), &Outline::default());
    assert_eq!(functions[0].max_threads, Some(128));
}

#[test]
fn kernels_that_the_log_did_not_name_are_added() {
    let mut functions = Vec::new();
    complete(&mut functions, &cubin(), &Outline::default());
    assert_eq!(functions.len(), 1);
    assert_eq!((functions[0].name.as_str(), functions[0].registers), ("k", Some(24)));
    assert_eq!(kernels_of_cubin(&cubin()), Some(functions));
    assert_eq!(kernels_of_cubin(b"machine code"), None);
}

#[test]
fn only_complete_elf_files_for_cuda_are_cubins() {
    let good = cubin();
    assert!(is_cubin(&good));
    for size in 0..good.len() {
        assert!(!is_cubin(&good[..size]), "cut to {size} bytes");
    }
    let mut for_another_machine = good;
    for_another_machine[18] = 62;
    assert!(!is_cubin(&for_another_machine) && !is_cubin(b"machine code"));
}

#[test]
fn what_the_log_told_of_constants_stays() {
    let mut functions = unknown();
    functions[0].const_bytes = Some(360);
    complete(&mut functions, &cubin(), &Outline::default());
    assert_eq!(functions[0].const_bytes, Some(360));
}

#[test]
fn files_of_another_shape_change_nothing() {
    let mut header = b"\x7fELF\x02\x01".to_vec();
    header.resize(64, 0xff);
    for bytes in [&b""[..], b"\x7fELF", b"\x7fELF\x02\x01", b"not an ELF file", &header] {
        let mut functions = unknown();
        complete(&mut functions, bytes, &Outline::default());
        assert_eq!(functions, unknown());
    }
}

#[test]
fn damaged_files_never_panic() {
    arbtest::arbtest(|u| {
        let mut bytes = cubin();
        for _ in 0..u.int_in_range(1..=8)? {
            let at = u.choose_index(bytes.len())?;
            bytes[at] = u.arbitrary()?;
        }
        bytes.truncate(u.int_in_range(0..=bytes.len())?);
        complete(&mut unknown(), &bytes, &Outline::default());
        Ok(())
    })
    .budget_ms(300);
}

#[test]
fn attributes_end_where_the_section_is_cut() {
    let section = [attribute(EIATTR_MAX_THREADS, &[64, 2, 1]), vec![2, 7, 1, 0, 4, 9, 99, 0]].concat();
    let found: Vec<(u8, usize)> = attributes(&section).map(|(kind, value)| (kind, value.len())).collect();
    assert_eq!(found, [(EIATTR_MAX_THREADS, 12), (7, 0)]);
}
