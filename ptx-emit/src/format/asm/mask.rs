//! Templates as PTX.

use ptx_syntax::cuda::AsmStatement;

/// The template of a statement as PTX, byte for byte: `%_r` for `%%r`, `%_name_` for `%[name]`, `00` for `%=`. A statement
/// without colons has none of these.
pub(super) fn as_ptx(statement: &AsmStatement) -> String {
    let mut bytes = statement.template.text.clone().into_bytes();
    if statement.colons == 0 {
        return statement.template.text.clone();
    }
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'%', &bytes[at..]) {
        at += found;
        match bytes.get(at + 1) {
            Some(b'%') => bytes[at + 1] = b'_',
            Some(b'=') => bytes[at..at + 2].fill(b'0'),
            Some(b'[') => {
                let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                let end = at + 2 + bytes[at + 2..].iter().take_while(is_name).count();
                if bytes.get(end) == Some(&b']') {
                    (bytes[at + 1], bytes[end]) = (b'_', b'_');
                }
            }
            _ => {}
        }
        at += 1;
    }
    // Only ASCII was replaced, by ASCII.
    String::from_utf8(bytes).unwrap_or_else(|_| statement.template.text.clone())
}
