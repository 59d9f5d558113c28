//! The type of an expression, where the declarations in sight tell it.

use super::ctype::{self, CType};
use super::declare::Reader;
use super::scan::{Kind, Token};
use super::scope::{Meaning, Scopes};

/// The type of the expression that the tokens are.
pub(super) fn type_of(source: &str, scopes: &Scopes<'_>, scope: u32, tokens: &[Token]) -> CType {
    let reader = Reader { source, tokens, scopes, scope };
    let mut parser = Parser { reader, at: 0, depth: 0 };
    let ctype = parser.assignment();
    if parser.at == tokens.len() { ctype.decayed() } else { CType::Unknown }
}

/// Whether the expression that the tokens are, of a scalar type, is certainly none that an output can be stored to: a
/// value such as `x + 1`, or an lvalue that nvcc calls compound, such as `++x`. A cast is taken where it casts to the
/// expression's own type, which is not followed.
pub(super) fn is_no_output(
    source: &str,
    scopes: &Scopes<'_>,
    scope: u32,
    tokens: &[Token],
    ctype: &CType,
) -> bool {
    let scalar = matches!(
        ctype,
        CType::Bool | CType::Integer { .. } | CType::Float { .. } | CType::Pointer(_) | CType::Enum { .. }
    );
    if !scalar {
        return false;
    }
    let reader = Reader { source, tokens, scopes, scope };
    if reader.text(0) == "(" && reader.after_group(0) == tokens.len() {
        return is_no_output(source, scopes, scope, &tokens[1..tokens.len() - 1], ctype);
    }
    if let [only] = tokens {
        return matches!(only.kind, Kind::Number | Kind::Character)
            || matches!(reader.text(0), "true" | "false" | "nullptr" | "this");
    }
    let (mut at, mut operand, mut cast) = (0, false, false);
    while at < tokens.len() {
        let text = reader.text(at);
        // What looks like a cast may make what follows an operand of its own; template arguments are not followed.
        let unclear = cast && matches!(text, "*" | "&" | "+" | "-" | "&&");
        if unclear || matches!(text, "=" | "<" | ",") {
            return false;
        }
        let assigns = text.len() > 1 && text.ends_with('=');
        if operand && (precedence(text).is_some() || text == "?" || assigns) {
            return true;
        }
        cast = false;
        if matches!(text, "(" | "[" | "{") {
            cast = text == "(" && !operand;
            operand = true;
            at = reader.after_group(at);
        } else {
            operand = tokens[at].kind != Kind::Punctuator;
            at += 1;
        }
    }
    match reader.text(0) {
        "-" | "+" | "~" | "!" | "&" | "++" | "--" | "sizeof" => true,
        "*" => false,
        _ => matches!(reader.text(tokens.len() - 1), "++" | "--"),
    }
}

/// Whether the expression that the tokens are has the same value in every execution, as far as the names in sight
/// tell: numbers, constants of the file, values of template parameters. `is_number` tells macros that are numbers.
pub(super) fn is_constant(
    source: &str,
    scopes: &Scopes<'_>,
    scope: u32,
    tokens: &[Token],
    is_number: impl Fn(&str) -> bool,
) -> bool {
    let constant = |token: &Token| {
        let text = token.span.text(source);
        match token.kind {
            Kind::Number | Kind::Character => true,
            Kind::Punctuator => !matches!(text, "." | "->" | "[" | "&" | "=" | "++" | "--"),
            Kind::Identifier => {
                matches!(
                    text,
                    "true" | "false" | "nullptr" | "sizeof" | "static_cast" | "unsigned" | "signed"
                ) || matches!(text, "int" | "long" | "short" | "char" | "bool" | "float" | "double")
                    || scopes.is_constant(scope, text, token.span.start)
                    || ctype::standard(text).is_some()
                    || is_number(text)
            }
            Kind::Text | Kind::RawText | Kind::Directive => false,
        }
    };
    !tokens.is_empty() && tokens.iter().all(constant)
}

/// The deepest nesting that is followed.
const DEEPEST: u32 = 48;

struct Parser<'r, 's> {
    reader: Reader<'r, 's>,
    at: usize,
    depth: u32,
}

impl<'s> Parser<'_, 's> {
    fn peek(&self) -> &'s str {
        self.reader.text(self.at)
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.at += usize::from(found);
        found
    }

    fn give_up(&mut self) -> CType {
        self.at = self.reader.tokens.len() + 1;
        CType::Unknown
    }

    /// Ternary and assignment; the comma operator is not followed.
    fn assignment(&mut self) -> CType {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.give_up();
        }
        let left = self.binary(0);
        let ctype = match self.peek() {
            "?" => {
                self.at += 1;
                let then = self.assignment();
                self.accept(":");
                let otherwise = self.assignment();
                if then == otherwise { then } else { then.common(&otherwise) }
            }
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => {
                self.at += 1;
                self.assignment();
                left
            }
            _ => left,
        };
        self.depth -= 1;
        ctype
    }

    fn binary(&mut self, least: u8) -> CType {
        let mut left = self.unary();
        while let Some(precedence) = precedence(self.peek()).filter(|found| *found >= least) {
            let operator = self.peek();
            self.at += 1;
            let right = self.binary(precedence + 1);
            left = combine(operator, left, &right);
        }
        left
    }

    fn unary(&mut self) -> CType {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.give_up();
        }
        let operator = self.peek();
        let ctype = match operator {
            "-" | "+" | "~" => {
                self.at += 1;
                arithmetic(self.unary().promoted())
            }
            "!" => {
                self.at += 1;
                match self.unary() {
                    CType::Unknown | CType::Record(_) => CType::Unknown,
                    _ => CType::Bool,
                }
            }
            "++" | "--" => {
                self.at += 1;
                self.unary()
            }
            "&" => {
                self.at += 1;
                self.unary().pointer()
            }
            "*" => {
                self.at += 1;
                dereferenced(self.unary())
            }
            "sizeof" | "alignof" => {
                self.at += 1;
                if self.peek() == "(" || self.peek() == "..." {
                    self.at = self.reader.after_group(self.at + usize::from(self.peek() == "..."));
                } else {
                    self.unary();
                }
                CType::integer(8, false)
            }
            "(" => self.parenthesised(),
            _ => self.postfix(),
        };
        self.depth -= 1;
        ctype
    }

    /// A cast, or an expression in parentheses.
    fn parenthesised(&mut self) -> CType {
        let next = self.reader.after_group(self.at);
        let inner = Reader { tokens: self.inside(self.at, next), ..self.reader };
        let begins_operand =
            |kind| matches!(kind, Kind::Identifier | Kind::Number | Kind::Character | Kind::Text);
        let operand = self.reader.kind(next).is_some_and(begins_operand)
            || matches!(self.reader.text(next), "(" | "&" | "*" | "~" | "!" | "-");
        if operand {
            if let Some(ctype) = inner.whole_type() {
                self.at = next;
                self.unary();
                return ctype;
            }
            if matches!(self.reader.kind(next), Some(Kind::Identifier | Kind::Number)) {
                // A cast to a type that is not known.
                self.at = next;
                self.unary();
                return CType::Unknown;
            }
        }
        self.postfix()
    }

    /// The tokens inside a group that begins at `open` and ends before `next`.
    fn inside(&self, open: usize, next: usize) -> &[Token] {
        let tokens = self.reader.tokens;
        tokens.get(open + 1..next.saturating_sub(1)).unwrap_or(&[])
    }

    fn postfix(&mut self) -> CType {
        let mut ctype = self.primary();
        loop {
            match self.peek() {
                "[" => {
                    self.at = self.reader.after_group(self.at);
                    ctype = dereferenced(ctype);
                }
                "." | "->" => {
                    let through = self.peek() == "->";
                    self.at += 1;
                    let member = self.peek();
                    let known = self.reader.kind(self.at) == Some(Kind::Identifier);
                    if !known || self.reader.text(self.at + 1) == "<" {
                        return self.give_up();
                    }
                    self.at += 1;
                    let record = if through { dereferenced(ctype) } else { ctype };
                    ctype = self.member(&record, member);
                }
                "(" => {
                    self.at = self.reader.after_group(self.at);
                    ctype = CType::Unknown;
                }
                "++" | "--" => self.at += 1,
                _ => return ctype,
            }
        }
    }

    fn member(&self, record: &CType, member: &str) -> CType {
        match record {
            CType::Record(name) => match record.vector_member(member) {
                CType::Unknown => self.reader.scopes.member(name, member),
                known => known,
            },
            _ => CType::Unknown,
        }
    }

    fn primary(&mut self) -> CType {
        let word = self.peek();
        match self.reader.kind(self.at) {
            Some(Kind::Number) => {
                self.at += 1;
                literal(word)
            }
            Some(Kind::Character) => {
                self.at += 1;
                if word.starts_with('\'') { CType::integer(1, true) } else { CType::Unknown }
            }
            Some(Kind::Text | Kind::RawText) => {
                while matches!(self.reader.kind(self.at), Some(Kind::Text | Kind::RawText)) {
                    self.at += 1;
                }
                CType::integer(1, true).pointer()
            }
            Some(Kind::Identifier) => self.name(word),
            Some(Kind::Punctuator) if word == "(" => {
                let next = self.reader.after_group(self.at);
                let tokens = self.inside(self.at, next);
                let mut inner = Parser { reader: Reader { tokens, ..self.reader }, at: 0, depth: self.depth };
                let ctype = inner.assignment();
                let complete = inner.at == tokens.len();
                self.at = next;
                if complete { ctype } else { CType::Unknown }
            }
            Some(Kind::Punctuator) if word == "::" => self.name(word),
            Some(Kind::Punctuator | Kind::Directive) | None => self.give_up(),
        }
    }

    fn name(&mut self, word: &str) -> CType {
        match word {
            "true" | "false" => {
                self.at += 1;
                return CType::Bool;
            }
            "nullptr" => {
                self.at += 1;
                return CType::Void.pointer();
            }
            "this" => {
                self.at += 1;
                return CType::Unknown.pointer();
            }
            "static_cast" | "reinterpret_cast" | "const_cast" => return self.named_cast(),
            _ => {}
        }
        if let Some(ctype) = self.enumerator(word) {
            return ctype;
        }
        // `unsigned(x)` and `uint32_t{x}`: a type before a group.
        if let Some(ctype) = self.functional_cast() {
            return ctype;
        }
        let Some((name, qualified, arguments, next)) = self.reader.path(self.at) else {
            return self.give_up();
        };
        let at = self.reader.tokens[self.at].span.start;
        self.at = next;
        let called = self.peek() == "(";
        if called {
            self.at = self.reader.after_group(self.at);
        }
        if arguments || self.peek() == "{" {
            return self.unknown_rest();
        }
        let meaning = if qualified { None } else { self.reader.scopes.look_up(self.reader.scope, name, at) };
        match (meaning, called) {
            (Some(Meaning::Value(ctype)), false) => ctype,
            (Some(Meaning::Function(returns)), true) => returns,
            (Some(Meaning::Function(_)), false) => CType::Unknown.pointer(),
            (Some(_), _) => CType::Unknown,
            (None, true) => builtin_call(name),
            (None, false) => builtin_variable(name),
        }
    }

    /// `E::A`, where `E` is an enumeration in sight.
    fn enumerator(&mut self, word: &str) -> Option<CType> {
        let named =
            self.reader.text(self.at + 1) == "::" && self.reader.kind(self.at + 2) == Some(Kind::Identifier);
        if !named || matches!(self.reader.text(self.at + 3), "::" | "<" | "(") {
            return None;
        }
        let at = self.reader.tokens[self.at].span.start;
        match self.reader.scopes.look_up(self.reader.scope, word, at)? {
            Meaning::Type(ctype @ CType::Enum { .. }) => {
                self.at += 3;
                Some(ctype)
            }
            Meaning::Type(_) | Meaning::Value(_) | Meaning::Function(_) => None,
        }
    }

    fn unknown_rest(&mut self) -> CType {
        if self.peek() == "{" {
            self.at = self.reader.after_group(self.at);
        }
        CType::Unknown
    }

    fn named_cast(&mut self) -> CType {
        let open = self.at + 1;
        let Some(next) = self.reader.after_angles(open) else { return self.give_up() };
        let inner = Reader { tokens: self.inside(open, next), ..self.reader };
        let ctype = inner.whole_type().unwrap_or_default();
        self.at = self.reader.after_group(next);
        ctype
    }

    fn functional_cast(&mut self) -> Option<CType> {
        let tokens = self.reader.tokens.get(self.at..)?;
        let end = tokens.iter().position(|token| {
            let text = token.span.text(self.reader.source);
            text == "(" || text == "{" || !(token.kind == Kind::Identifier || text == "::")
        })?;
        let follows = tokens.get(end)?.span.text(self.reader.source);
        let ctype = Reader { tokens: &tokens[..end], ..self.reader }.whole_type()?;
        if !matches!(follows, "(" | "{") {
            return None;
        }
        self.at = self.reader.after_group(self.at + end);
        Some(ctype)
    }
}

/// How tightly a binary operator of C++ binds; a larger number binds tighter.
pub(super) fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 0,
        "&&" => 1,
        "|" => 2,
        "^" => 3,
        "&" => 4,
        "==" | "!=" => 5,
        "<" | ">" | "<=" | ">=" => 6,
        "<<" | ">>" => 7,
        "+" | "-" => 8,
        "*" | "/" | "%" => 9,
        _ => return None,
    })
}

fn combine(operator: &str, left: CType, right: &CType) -> CType {
    let (left, right) = (left.decayed(), right.clone().decayed());
    match operator {
        "||" | "&&" | "==" | "!=" | "<" | ">" | "<=" | ">=" => match (&left, &right) {
            (CType::Unknown | CType::Record(_), _) | (_, CType::Unknown | CType::Record(_)) => CType::Unknown,
            _ => CType::Bool,
        },
        "<<" | ">>" => match right {
            CType::Integer { .. } | CType::Bool => arithmetic(left.promoted()),
            _ => CType::Unknown,
        },
        "+" | "-" => match (&left, &right) {
            (CType::Pointer(_), CType::Integer { .. }) => left,
            (CType::Integer { .. }, CType::Pointer(_)) if operator == "+" => right,
            (CType::Pointer(_), CType::Pointer(_)) if operator == "-" => CType::integer(8, true),
            _ => left.common(&right),
        },
        _ => left.common(&right),
    }
}

/// The type if it is one that arithmetic can give.
fn arithmetic(ctype: CType) -> CType {
    match ctype {
        CType::Integer { .. } | CType::Float { .. } => ctype,
        CType::Unknown | CType::Void | CType::Bool | CType::Enum { .. } => CType::Unknown,
        CType::Pointer(_) | CType::Array(_) | CType::Record(_) | CType::Parameter(_) => CType::Unknown,
    }
}

fn dereferenced(ctype: CType) -> CType {
    match ctype {
        CType::Pointer(to) | CType::Array(to) => *to,
        CType::Unknown | CType::Void | CType::Bool | CType::Integer { .. } => CType::Unknown,
        CType::Float { .. } | CType::Enum { .. } | CType::Record(_) | CType::Parameter(_) => CType::Unknown,
    }
}

/// The type of a number.
fn literal(text: &str) -> CType {
    let lower = text.replace('\'', "").to_ascii_lowercase();
    let hexadecimal = lower.starts_with("0x");
    let floating = lower.contains('.') || (lower.contains('e') && !hexadecimal) || lower.contains('p');
    if floating {
        return if lower.ends_with('f') { CType::Float { bytes: 4 } } else { CType::Float { bytes: 8 } };
    }
    let digits = lower.trim_end_matches(['u', 'l', 'z']);
    let suffix = &lower[digits.len()..];
    let unsigned = suffix.contains('u');
    let longs = suffix.matches('l').count();
    let value = if let Some(hexadecimal) = digits.strip_prefix("0x") {
        u64::from_str_radix(hexadecimal, 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    let Ok(value) = value else { return CType::Unknown };
    let decimal = !digits.starts_with('0') || digits.len() == 1;
    if longs == 2 {
        return CType::integer(8, !unsigned);
    }
    if longs == 1 {
        return CType::Integer { bytes: 8, signed: !unsigned, long: true };
    }
    match value {
        0..=0x7fff_ffff => CType::integer(4, !unsigned),
        0x8000_0000..=0xffff_ffff if unsigned || !decimal => CType::UNSIGNED,
        _ => CType::Integer { bytes: 8, signed: !unsigned && value <= i64::MAX as u64, long: true },
    }
}

/// What CUDA's own functions return, for those that are in operands.
fn builtin_call(name: &str) -> CType {
    match name {
        "__cvta_generic_to_shared"
        | "__cvta_generic_to_global"
        | "__cvta_generic_to_local"
        | "__cvta_generic_to_constant" => CType::integer(8, false),
        "__float_as_uint" | "__double2uint_rn" | "__activemask" | "__ballot_sync" => CType::UNSIGNED,
        "__float_as_int" | "__popc" | "__clz" | "__ffs" => CType::INT,
        "__double_as_longlong" => CType::integer(8, true),
        "__half_as_ushort" | "__bfloat16_as_ushort" => CType::integer(2, false),
        "__half_as_short" | "__bfloat16_as_short" => CType::integer(2, true),
        "__int_as_float" | "__uint_as_float" | "__half2float" => CType::Float { bytes: 4 },
        "__longlong_as_double" | "__hiloint2double" => CType::Float { bytes: 8 },
        _ => CType::Unknown,
    }
}

fn builtin_variable(name: &str) -> CType {
    match name {
        "threadIdx" | "blockIdx" => CType::Record("uint3".into()),
        "blockDim" | "gridDim" => CType::Record("dim3".into()),
        "warpSize" => CType::INT,
        _ => CType::Unknown,
    }
}
