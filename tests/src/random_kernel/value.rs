//! Values and conditions, in the many spellings that programs have for them.

use super::{Class, INPUT_WORDS, Maker, Named};

/// Numbers that conditions compare with; parameters and memory hold the same ones.
pub const NUMBERS: [u32; 12] = [0, 1, 2, 3, 4, 5, 7, 16, 31, 32, 33, 64];

impl Maker {
    fn number(&mut self) -> u32 {
        *self.random.one_of(&NUMBERS)
    }

    /// The name of some value of at most a class.
    pub(super) fn any_value(&mut self, most: Class) -> String {
        let fitting: Vec<&Named> = self.values.iter().filter(|value| value.class <= most).collect();
        // What is new is used sooner.
        let back = self.random.below(fitting.len()).min(self.random.below(fitting.len()));
        fitting[fitting.len() - 1 - back].name.clone()
    }

    pub(super) fn defined(&mut self, name: &str, class: Class) {
        self.values.push(Named { name: name.to_owned(), class });
    }

    /// A new value of at most a class.
    pub(super) fn new_value(&mut self, most: Class) -> String {
        let converged = self.context() <= Class::Warp || self.parts();
        let name = match (most, self.random.below(10)) {
            (Class::Block, 0..=2) => self.constant(),
            (Class::Block, 3) => self.loaded(Class::Block),
            (Class::Warp, 0..=4) => self.warp_number(),
            (Class::Warp, 5 | 6) if converged => self.agreed(),
            (Class::Lane, 0 | 1) => self.loaded(Class::Lane),
            (Class::Lane, 2) if converged => self.shuffled(),
            _ => self.computed(most),
        };
        self.defined(&name, most);
        name
    }

    fn constant(&mut self) -> String {
        let (name, number) = (self.register(), self.number());
        match self.random.below(6) {
            0 => self.line(&format!("mov.u32 {name}, WARP_SZ;")),
            1 => self.line(&format!("mov.u32 {name}, %ctaid.x;")),
            2 => self.line(&format!("mov.u32 {name}, %ntid.x;")),
            3 => {
                let one = self.register();
                self.line(&format!("mov.u32 {one}, 1;"));
                self.line(&format!("shl.b32 {name}, {one}, {};", number & 7));
            }
            _ => self.line(&format!("mov.u32 {name}, {number};")),
        }
        name
    }

    /// A word of `in`, from one place or from each lane's own.
    fn loaded(&mut self, class: Class) -> String {
        let name = self.register();
        if class == Class::Block {
            let word = self.random.below(INPUT_WORDS);
            self.line(&format!("ld.global.u32 {name}, [%rd1+{}];", word * 4));
            return name;
        }
        let (index, offset, address) = (self.register(), self.wide_register(), self.wide_register());
        let from = self.any_value(class);
        self.line(&format!("and.b32 {index}, {from}, {};", INPUT_WORDS - 1));
        self.line(&format!("mul.wide.u32 {offset}, {index}, 4;"));
        self.line(&format!("add.u64 {address}, %rd1, {offset};"));
        self.line(&format!("ld.global.u32 {name}, [{address}];"));
        name
    }

    /// Something that is the same in all lanes of a warp, by the number of the thread.
    fn warp_number(&mut self) -> String {
        let (name, help) = (self.register(), self.register());
        let lines = match self.random.below(20) {
            0 | 1 => format!("shr.u32 {name}, %r4, 5;"),
            2 => format!("mov.u32 {help}, WARP_SZ;\ndiv.u32 {name}, %r4, {help};"),
            3 => format!("and.b32 {name}, %r4, -32;"),
            4 => format!("bfe.u32 {name}, %r4, 5, 3;"),
            5 => format!("and.b32 {help}, %r4, 31;\nsub.u32 {name}, %r4, {help};"),
            6 => format!("xor.b32 {name}, %r4, %r5;"),
            7 => format!("or.b32 {name}, %r4, 31;"),
            8 => format!("bfi.b32 {name}, 0, %r4, 0, 5;"),
            9 => format!("shf.r.clamp.b32 {name}, %r4, 0, 5;"),
            10 => format!("lop3.b32 {name}, %r4, 31, 0, 0x30;"),
            11 => format!("mul.hi.u32 {name}, %r4, 0x8000000;"),
            12 => format!("mov.u32 {help}, 5;\nshr.u32 {name}, %r4, {help};"),
            13 => format!("shl.b32 {help}, -1, 5;\nand.b32 {name}, %r4, {help};"),
            14 => format!("sub.u32 {name}, %r4, %r5;"),
            15 => format!("rem.u32 {help}, %r4, 32;\nsub.u32 {name}, %r4, {help};"),
            16 => {
                let (a, b) = (self.wide_register(), self.wide_register());
                format!("cvt.u64.u32 {a}, %r4;\nshr.u64 {b}, {a}, 5;\ncvt.u32.u64 {name}, {b};")
            }
            17 => format!("shr.s32 {help}, %r4, 5;\nadd.u32 {name}, {help}, %r1;"),
            18 => format!("and.b32 {help}, %r4, 31;\nsub.u32 {name}, {help}, %r5;"),
            _ => format!("mov.u32 {help}, %tid.x;\nshr.u32 {name}, {help}, 6;"),
        };
        self.line(&lines);
        name
    }

    /// Something that the lanes of a warp find out together.
    fn agreed(&mut self) -> String {
        let name = self.register();
        let from = self.any_value(Class::Lane);
        match self.random.below(7) {
            0 => {
                let predicate = self.condition(Class::Lane);
                self.line(&format!("vote.sync.ballot.b32 {name}, {predicate}, -1;"));
            }
            1 => self.line(&format!("redux.sync.add.u32 {name}, {from}, -1;")),
            2 if !self.left => {
                self.line(&format!("shfl.sync.idx.b32 {name}, {from}, {}, 31, -1;", self.labels % 2 * 3));
            }
            3 if !self.left => {
                let mut sum = from;
                for distance in [16, 8, 4, 2, 1] {
                    let (other, next) = (self.register(), self.register());
                    self.line(&format!("shfl.sync.bfly.b32 {other}, {sum}, {distance}, 31, -1;"));
                    self.line(&format!("add.u32 {next}, {sum}, {other};"));
                    sum = next;
                }
                self.line(&format!("mov.b32 {name}, {sum};"));
            }
            4 => self.line(&format!("match.all.sync.b32 {name}, {from}, -1;")),
            _ => {
                let (predicate, any) = (self.condition(Class::Lane), self.predicate_register());
                let mode = *self.random.one_of(&["any", "all", "uni"]);
                self.line(&format!("vote.sync.{mode}.pred {any}, {predicate}, -1;"));
                self.predicates.push(Named { name: any.clone(), class: Class::Warp });
                self.line(&format!("selp.u32 {name}, 1, 0, {any};"));
            }
        }
        name
    }

    fn shuffled(&mut self) -> String {
        let name = self.register();
        let from = self.any_value(Class::Lane);
        // After lanes have left, each lane keeps what it has.
        let by = if self.left { 0 } else { *self.random.one_of(&[1, 2, 16]) };
        self.line(&format!("shfl.sync.bfly.b32 {name}, {from}, {by}, 31, -1;"));
        name
    }

    fn computed(&mut self, most: Class) -> String {
        let (a, b, name) = (self.any_value(most), self.any_value(most), self.register());
        let number = self.number();
        let line = match self.random.below(14) {
            0 => format!("add.u32 {name}, {a}, {b};"),
            1 => format!("sub.u32 {name}, {a}, {b};"),
            2 => format!("xor.b32 {name}, {a}, {b};"),
            3 => format!("and.b32 {name}, {a}, {number};"),
            4 => format!("mad.lo.u32 {name}, {a}, {number}, {b};"),
            5 => format!("shr.u32 {name}, {a}, {};", number & 7),
            6 => format!("min.u32 {name}, {a}, {number};"),
            7 => format!("max.s32 {name}, {a}, {b};"),
            8 => format!("lop3.b32 {name}, {a}, {b}, {number}, 0xe8;"),
            9 => format!("rem.u32 {name}, {a}, {};", number.max(1)),
            10 => format!("prmt.b32 {name}, {a}, {b}, 0x5410;"),
            11 => {
                let predicate = self.condition(most);
                format!("selp.b32 {name}, {a}, {b}, {predicate};")
            }
            12 => format!("popc.b32 {name}, {a};"),
            _ => format!("add.u32 {name}, {a}, {number};"),
        };
        self.line(&line);
        name
    }

    /// A predicate of at most a class: one that is there, or a new one.
    pub(super) fn condition(&mut self, most: Class) -> String {
        let fitting: Vec<String> =
            self.predicates.iter().filter(|each| each.class <= most).map(|each| each.name.clone()).collect();
        if !fitting.is_empty() && self.chance(350) {
            return self.random.one_of(&fitting).clone();
        }
        let name = self.predicate_register();
        let how = *self.random.one_of(&["eq", "ne", "lt", "le", "gt", "ge"]);
        let ty = *self.random.one_of(&["u32", "s32"]);
        let line = match self.random.below(12) {
            0 if !fitting.is_empty() => format!("not.pred {name}, {};", self.random.one_of(&fitting)),
            1 if !fitting.is_empty() => {
                let (a, b) = (self.random.one_of(&fitting).clone(), self.random.one_of(&fitting).clone());
                format!("{}.pred {name}, {a}, {b};", *self.random.one_of(&["and", "or", "xor"]))
            }
            2 if !fitting.is_empty() => {
                let (other, value) = (self.random.one_of(&fitting).clone(), self.any_value(most));
                format!("setp.{how}.and.{ty} {name}, {value}, {}, {other};", self.number())
            }
            3 if !fitting.is_empty() => format!("mov.pred {name}, {};", self.random.one_of(&fitting)),
            4 if self.chance(300) => format!("setp.{how}.{ty} {name}, {}, {};", self.number(), self.number()),
            5 => {
                let (a, b) = (self.any_value(most), self.any_value(most));
                format!("setp.{how}.{ty} {name}, {a}, {b};")
            }
            6 => {
                let (value, bit) = (self.any_value(most), self.register());
                let place = self.random.below(7);
                self.line(&format!("and.b32 {bit}, {value}, {};", 1 << place));
                format!("setp.{how}.u32 {name}, {bit}, 0;")
            }
            _ => {
                let value = self.any_value(most);
                format!("setp.{how}.{ty} {name}, {value}, {};", self.number())
            }
        };
        self.line(&line);
        self.predicates.push(Named { name: name.clone(), class: most });
        name
    }

    /// The class of a predicate, as far as it is known.
    pub(super) fn class_of(&self, predicate: &str) -> Class {
        self.predicates.iter().find(|each| each.name == predicate).map_or(Class::Lane, |each| each.class)
    }

    /// A class for a condition: mostly one that parts no threads that have to stay together.
    pub(super) fn some_class(&mut self) -> Class {
        *self.random.one_of(&[Class::Block, Class::Block, Class::Warp, Class::Warp, Class::Lane, Class::Lane])
    }
}
