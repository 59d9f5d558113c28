//! Statements: what is set, who parts, and where all have to come.

use super::{Class, Maker, Named, Partial};

impl Maker {
    /// One statement, with what it contains.
    pub(super) fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        let deep = self.levels.len() > 3;
        match self.random.below(44) {
            0..=5 => {
                let class = self.some_class();
                self.new_value(class);
            }
            6..=8 => self.store(),
            9..=11 => self.partial(),
            12..=14 => self.read_partial(),
            15 => self.bytes(),
            16 | 17 => self.carries(),
            18..=21 if !deep => self.branch(),
            22 | 23 if !deep => self.repeat(),
            24 if !deep => self.switch(),
            25 => self.jump(),
            26 => self.leave(),
            27..=30 => self.barrier(),
            31..=33 => self.collective(),
            34 => self.first_turn(),
            35 => self.roles(),
            36 => self.both_sides(),
            37 | 38 => self.shared_memory(),
            39 if self.calls => self.call(),
            40 => self.leave_together(),
            _ => {
                let class = self.some_class();
                self.new_value(class);
            }
        }
    }

    /// Statements of a level, at least one.
    fn statements(&mut self) {
        for _ in 0..1 + self.random.below(4) {
            self.statement();
        }
    }

    /// Stores something, so that what was computed is observed.
    pub(super) fn store(&mut self) {
        let value = self.any_value(Class::Lane);
        let line = match self.random.below(5) {
            0 => format!("st.global.u8 [%rd4], {value};"),
            1 => format!("red.global.add.u32 [%rd4], {value};"),
            _ => format!("st.global.u32 [%rd4], {value};"),
        };
        self.line(&line);
    }

    /// Sets a register under a guard; on the other side too, or not.
    fn partial(&mut self) {
        let class = self.some_class();
        let (predicate, name, from) = (self.condition(class), self.register(), self.any_value(Class::Lane));
        let holds = self.random.below(2) == 0;
        let sign = |holds: bool| if holds { "" } else { "!" };
        let before = self.values.len();
        if self.chance(300) {
            let label = self.label();
            self.line(&format!("@{}{predicate} bra {label};", sign(!holds)));
            self.line(&format!("add.u32 {name}, {from}, 3;"));
            self.line(&format!("{label}:"));
        } else {
            self.line(&format!("@{}{predicate} add.u32 {name}, {from}, 3;", sign(holds)));
        }
        if self.chance(250) {
            self.line(&format!("@{}{predicate} mov.u32 {name}, 7;", sign(!holds)));
            self.defined(&name, Class::Lane);
            return;
        }
        debug_assert_eq!(before, self.values.len());
        self.partials.push(Partial { name, predicate, holds, class });
    }

    /// Reads a register that is set under a guard, mostly where it is set.
    fn read_partial(&mut self) {
        if self.partials.is_empty() {
            return self.partial();
        }
        let Partial { name, predicate, holds, class } = self.random.one_of(&self.partials).clone();
        // Predicates and registers of a level that has ended are not set here.
        if !self.predicates.iter().any(|each| each.name == predicate) && !self.risks() {
            return;
        }
        let sign = if holds != self.risks() { "" } else { "!" };
        match self.random.below(9) {
            0 | 1 => self.line(&format!("@{sign}{predicate} st.global.u32 [%rd4], {name};")),
            2 => {
                let copy = self.predicate_register();
                self.line(&format!("mov.pred {copy}, {predicate};"));
                self.line(&format!("@{sign}{copy} st.global.u32 [%rd4], {name};"));
            }
            3 => {
                let (both, other) = (self.predicate_register(), self.condition(Class::Lane));
                let turned = if sign.is_empty() { predicate } else { self.negated(&predicate) };
                self.line(&format!("and.pred {both}, {turned}, {other};"));
                self.line(&format!("@{both} st.global.u32 [%rd4], {name};"));
            }
            4 => {
                let label = self.label();
                let opposite = if sign.is_empty() { "!" } else { "" };
                self.line(&format!("@{opposite}{predicate} bra {label};"));
                self.line(&format!("st.global.u32 [%rd4], {name};"));
                self.line(&format!("{label}:"));
            }
            5 => {
                let chosen = self.register();
                let (a, b) = if sign.is_empty() { (name.as_str(), "5") } else { ("5", name.as_str()) };
                self.line(&format!("selp.b32 {chosen}, {a}, {b}, {predicate};"));
                self.line(&format!("st.global.u32 [%rd4], {chosen};"));
            }
            // A number that is 0 or 1, and the predicate again.
            6 => {
                let (flag, again) = (self.register(), self.predicate_register());
                self.line(&format!("selp.u32 {flag}, 1, 0, {predicate};"));
                let how = if sign.is_empty() { "ne" } else { "eq" };
                self.line(&format!("setp.{how}.u32 {again}, {flag}, 0;"));
                self.line(&format!("@{again} st.global.u32 [%rd4], {name};"));
            }
            // A vote on what is the same in all lanes.
            7 if class <= Class::Warp && self.context() <= Class::Warp => {
                let vote = self.predicate_register();
                let mode = *self.random.one_of(&["any", "all"]);
                self.line(&format!("vote.sync.{mode}.pred {vote}, {predicate}, -1;"));
                self.line(&format!("@{sign}{vote} st.global.u32 [%rd4], {name};"));
            }
            _ => {
                let masked = self.register();
                self.line(&format!("shl.b32 {masked}, {name}, 8;"));
                self.line(&format!("@{sign}{predicate} st.global.u32 [%rd4], {masked};"));
            }
        }
    }

    fn negated(&mut self, predicate: &str) -> String {
        let name = self.predicate_register();
        self.line(&format!("not.pred {name}, {predicate};"));
        name
    }

    /// Bytes that nothing sets, and that are dropped, mostly.
    fn bytes(&mut self) {
        let (value, undefined, result) = (self.any_value(Class::Lane), self.register(), self.register());
        let (help, wide) = (self.register(), self.wide_register());
        let careless = self.risks();
        let lines = match self.random.below(9) {
            0 => {
                let list = if careless { format!("_, {result}") } else { format!("{result}, _") };
                format!("mov.b64 {wide}, {{{value}, {undefined}}};\nmov.b64 {{{list}}}, {wide};")
            }
            1 => {
                let second = if careless { "0x5432" } else { "0x5410" };
                format!(
                    "prmt.b32 {help}, {value}, {undefined}, 0x5410;\nprmt.b32 {result}, {help}, {value}, {second};"
                )
            }
            2 => {
                let second = if careless { "0x5544" } else { "0x5410" };
                format!(
                    "prmt.b32 {help}, {value}, {undefined}, 0x3340;\nprmt.b32 {wide2}, {value}, {undefined}, 0x3341;\n\
                     prmt.b32 {result}, {help}, {wide2}, {second};\nand.b32 {result}, {result}, 0xff00ff;",
                    wide2 = self.register()
                )
            }
            3 => {
                let kept = if careless { "0x1ff00" } else { "0xff00" };
                format!("bfi.b32 {help}, {value}, {undefined}, 8, 8;\nand.b32 {result}, {help}, {kept};")
            }
            4 => {
                let count = if careless { 31 } else { 32 };
                format!("shl.b32 {help}, {undefined}, {count};\nor.b32 {result}, {help}, {value};")
            }
            5 => {
                let length = if careless { 17 } else { 16 };
                format!("shl.b32 {help}, {undefined}, 16;\nbfe.u32 {result}, {help}, 0, {length};")
            }
            6 => {
                let width = if careless { "u16" } else { "u8" };
                format!("prmt.b32 {help}, {value}, {undefined}, 0x7740;\ncvt.u32.{width} {result}, {help};")
            }
            7 => {
                let table = if careless { "0xe8" } else { "0xc0" };
                format!("lop3.b32 {result}, {value}, 0, {undefined}, {table};")
            }
            _ => {
                let size = if careless { "u32" } else { "u8" };
                format!(
                    "prmt.b32 {result}, {value}, {undefined}, 0x7770;\nst.global.{size} [%rd4], {result};\nmov.b32 {result}, {value};"
                )
            }
        };
        self.line(&lines);
        self.defined(&result, Class::Lane);
        if self.chance(500) {
            self.line(&format!("st.global.u32 [%rd4], {result};"));
        }
    }

    /// A chain of two or three words, some of it under a guard.
    fn carries(&mut self) {
        let (a, b) = (self.any_value(Class::Lane), self.any_value(Class::Lane));
        let (low, high, top) = (self.register(), self.register(), self.register());
        let guard = if self.chance(400) {
            let class = self.some_class();
            let predicate = self.condition(class);
            format!("@{predicate} ")
        } else {
            String::new()
        };
        let cc = if self.risks() { "" } else { ".cc" };
        self.line(&format!("mov.u32 {high}, 0;\nmov.u32 {top}, 0;"));
        self.line(&format!("{guard}add{cc}.u32 {low}, {a}, {b};"));
        if self.chance(400) {
            self.line(&format!("{guard}addc.cc.u32 {high}, {a}, 0;"));
            self.line(&format!("{guard}addc.u32 {top}, {b}, 0;"));
        } else if guard.is_empty() && self.chance(300) {
            let class = self.some_class();
            let (predicate, label) = (self.condition(class), self.label());
            self.line(&format!("@{predicate} bra {label};\naddc.u32 {high}, {a}, {b};\n{label}:"));
        } else {
            let guard = if self.risks() { String::new() } else { guard.clone() };
            self.line(&format!("{guard}addc.u32 {high}, {a}, {b};"));
        }
        self.defined(&high, Class::Lane);
        self.line(&format!("st.global.v2.u32 [%rd2], {{{high}, {top}}};"));
    }

    /// Whether threads of this class may part here.
    fn part(&mut self, class: Class) -> Class {
        class.max(self.context())
    }

    /// `if`, with or without `else`.
    fn branch(&mut self) {
        let class = self.some_class();
        let predicate = self.condition(class);
        let (context, sign) = (self.part(self.class_of(&predicate)), *self.random.one_of(&["", "!"]));
        let (other, end) = (self.label(), self.label());
        self.line(&format!("@{sign}{predicate} bra {other};"));
        self.level(context, end.clone(), None);
        self.statements();
        let with_else = self.chance(400);
        if with_else {
            if let Some(level) = self.levels.last_mut() {
                level.used = true;
            }
            let level = self.levels.pop();
            self.line(&format!("bra {end};"));
            self.line(&format!("{other}:"));
            if let Some(mut level) = level {
                self.values.truncate(level.values);
                self.predicates.truncate(level.predicates);
                level.context = context;
                self.levels.push(level);
            }
            self.statements();
        }
        self.leave_level();
        if !with_else {
            self.line(&format!("{other}:"));
        }
    }

    /// A loop that counts, with `break` and `continue`.
    fn repeat(&mut self) {
        let class = self.some_class();
        let (counter, bound, test) = (self.register(), self.register(), self.predicate_register());
        let (head, end, after) = (self.label(), self.label(), self.label());
        let from = self.any_value(class);
        let context = self.part(class);
        // Whom a `break` may part is decided before, so that what comes before it knows.
        let breaks = if self.chance(400) { Some(self.some_class()) } else { None };
        let inside = breaks.map_or(context, |breaks| breaks.max(context));
        let shape = self.random.below(4);
        match shape {
            // Counter and end carry the same addend.
            0 => {
                let start = self.any_value(Class::Lane);
                let turns = self.register();
                self.line(&format!("mov.u32 {counter}, {start};\nand.b32 {turns}, {from}, 3;"));
                self.line(&format!("add.u32 {bound}, {turns}, {start};"));
            }
            _ => self.line(&format!("mov.u32 {counter}, 0;\nand.b32 {bound}, {from}, 3;")),
        }
        let toggles = self.chance(200).then(|| {
            let (toggle, name) = (self.predicate_register(), self.register());
            self.line(&format!("setp.ne.u32 {toggle}, %r1, %r1;"));
            (toggle, name)
        });
        self.line(&format!("{head}:"));
        let while_loop = shape == 1;
        if while_loop {
            self.line(&format!("setp.ge.u32 {test}, {counter}, {bound};\n@{test} bra {after};"));
        }
        self.level(inside, end, Some((after.clone(), breaks.unwrap_or(Class::Block))));
        // Set in every second turn, and read in those that follow it.
        if let Some((toggle, name)) = toggles {
            let flip = *self.random.one_of(&[
                "not.pred P, P;",
                "xor.pred P, P, P;\nnot.pred P, P;",
                "setp.eq.u32 P, C, 0;",
            ]);
            let from = self.any_value(Class::Lane);
            self.line(&format!("@{toggle} st.global.u32 [%rd4], {name};"));
            self.line(&format!("@!{toggle} mov.u32 {name}, {from};"));
            self.line(&flip.replace('P', &toggle).replace('C', &counter));
        }
        self.values.push(Named { name: counter.clone(), class: inside });
        self.statements();
        if breaks.is_some() {
            self.jump();
        }
        self.leave_level();
        self.line(&format!("add.u32 {counter}, {counter}, 1;"));
        if while_loop {
            self.line(&format!("bra {head};"));
        } else {
            self.line(&format!("setp.lt.u32 {test}, {counter}, {bound};\n@{test} bra {head};"));
        }
        self.line(&format!("{after}:"));
    }

    /// To the end of a level, or out of a loop.
    fn jump(&mut self) {
        let target = self.random.below(self.levels.len());
        if target == 0 && self.levels.len() > 1 && !self.parts() {
            return;
        }
        let breaks = self.levels[target].after.clone().filter(|_| self.chance(700));
        let most = match &breaks {
            Some((_, class)) if !self.parts() => *class,
            _ => self.some_class(),
        };
        // Everybody has to come to the end of the kernel.
        let most = if target == 0 && !self.parts() { Class::Block } else { most };
        let predicate = self.condition(most);
        let class = self.class_of(&predicate);
        let label = match &breaks {
            Some((after, _)) => after.clone(),
            None => {
                self.levels[target].used = true;
                self.levels[target].end.clone()
            }
        };
        self.line(&format!("@{predicate} bra {label};"));
        for level in &mut self.levels[target..] {
            level.context = level.context.max(class);
        }
    }

    /// `brx.idx` over a few labels.
    fn switch(&mut self) {
        let class = self.some_class();
        let (index, value, end) = (self.register(), self.any_value(class), self.label());
        let count = 2 + self.random.below(3);
        let (list, labels): (String, Vec<String>) =
            (self.label(), (0..count).map(|_| self.label()).collect());
        self.line(&format!("rem.u32 {index}, {value}, {count};"));
        self.line(&format!("{list}: .branchtargets {};", labels.join(", ")));
        self.line(&format!("brx.idx {index}, {list};"));
        let context = self.part(class);
        for (turn, label) in labels.iter().enumerate() {
            self.line(&format!("{label}:"));
            let skip = self.label();
            self.level(context, skip, None);
            self.statements();
            self.leave_level();
            if turn + 1 < count {
                self.line(&format!("bra {end};"));
            }
        }
        self.line(&format!("{end}:"));
    }

    /// Some threads leave.
    fn leave(&mut self) {
        let class = self.some_class();
        if class == Class::Lane && self.chance(600) {
            return;
        }
        let predicate = self.condition(class);
        let how = *self.random.one_of(&["ret", "exit"]);
        self.left |= self.class_of(&predicate) == Class::Lane;
        self.line(&format!("@{predicate} {how};"));
    }

    /// A barrier, mostly where all come.
    fn barrier(&mut self) {
        let context = self.context();
        if context > Class::Block && !self.parts() {
            // Lanes that came from different places may meet all the same, if it is not `.aligned`.
            if self.chance(50) {
                self.line("barrier.sync 0;");
            }
            return;
        }
        let threads = self.threads;
        match (self.random.below(9), threads) {
            (0 | 1, Some(threads)) => self.line(&format!("bar.sync 1, {threads};")),
            (2, Some(threads)) if threads >= 64 => {
                let (warp, first) = (self.register(), self.predicate_register());
                let other = self.label();
                let end = self.label();
                self.line(&format!("shr.u32 {warp}, %r4, 5;\nsetp.eq.u32 {first}, {warp}, 0;"));
                self.line(&format!("@{first} bra {other};\nbar.sync 2, {threads};\nbra {end};"));
                self.line(&format!("{other}:\nbar.arrive 2, {threads};\n{end}:\nbar.sync 0;"));
            }
            (3, _) => self.line("barrier.sync 0;"),
            (4, _) => self.line("barrier.sync.aligned 0;"),
            (5, _) => {
                let (from, to) = (self.condition(Class::Lane), self.predicate_register());
                let mode = *self.random.one_of(&["and", "or"]);
                self.line(&format!("bar.red.{mode}.pred {to}, 0, {from};"));
                // Only without lanes that left, and in the whole block, do all get it.
                self.predicates.push(Named { name: to, class: Class::Block });
            }
            (6, _) => {
                let (from, to) = (self.condition(Class::Lane), self.register());
                self.line(&format!("bar.red.popc.u32 {to}, 0, {from};"));
                self.defined(&to, Class::Block);
            }
            (7, _) => {
                let id = self.register();
                self.line(&format!("mov.u32 {id}, {};\nbar.sync {id};", self.labels % 4));
            }
            _ => self.line("bar.sync 0;"),
        }
    }

    /// Lanes of a warp do something together, mostly where all of them come.
    fn collective(&mut self) {
        if self.context() > Class::Warp && !self.parts() {
            // Those that come have a mask of their own.
            if self.chance(300) {
                let (mask, name) = (self.register(), self.register());
                let value = self.any_value(Class::Lane);
                self.line(&format!("activemask.b32 {mask};\nredux.sync.add.u32 {name}, {value}, {mask};"));
            }
            return;
        }
        match self.random.below(8) {
            0 | 1 => {
                self.new_value(Class::Warp);
            }
            2 => self.line("bar.warp.sync -1;"),
            3 => {
                let (elected, label) = (self.predicate_register(), self.label());
                self.line(&format!("elect.sync _|{elected}, -1;\n@!{elected} bra {label};"));
                self.level(Class::Lane, self.levels.last().map_or_else(String::new, |_| label.clone()), None);
                self.store();
                if self.parts() {
                    self.line("bar.warp.sync -1;");
                }
                self.levels.last_mut().into_iter().for_each(|level| level.used = false);
                self.leave_level();
                self.line(&format!("{label}:"));
            }
            // Half a warp, with its mask.
            4 => {
                let (half, value, label) = (self.predicate_register(), self.register(), self.label());
                let from = self.any_value(Class::Lane);
                let mask = if self.parts() { "0xffffff" } else { "0xffff" };
                self.line(&format!(
                    "setp.lt.u32 {half}, %r5, 16;\nmov.u32 {value}, 0;\n@!{half} bra {label};"
                ));
                self.line(&format!("shfl.sync.bfly.b32 {value}, {from}, 1, 31, {mask};\n{label}:"));
                self.defined(&value, Class::Lane);
            }
            // Those for which a condition holds, with the mask that a vote found.
            5 => {
                let (predicate, mask, label) = (self.condition(Class::Lane), self.register(), self.label());
                let sign = if self.parts() { "" } else { "!" };
                self.line(&format!(
                    "vote.sync.ballot.b32 {mask}, {predicate}, -1;\n@{sign}{predicate} bra {label};"
                ));
                self.line(&format!("bar.warp.sync {mask};\n{label}:"));
            }
            6 => {
                let (predicate, value) = (self.condition(Class::Warp), self.register());
                let from = self.any_value(Class::Lane);
                self.line(&format!("mov.u32 {value}, 0;"));
                self.line(&format!("@{predicate} shfl.sync.bfly.b32 {value}, {from}, 1, 31, -1;"));
            }
            _ => {
                let name = self.register();
                let value = self.any_value(Class::Lane);
                self.line(&format!("match.any.sync.b32 {name}, {value}, -1;"));
                self.defined(&name, Class::Lane);
            }
        }
    }

    /// A register that the first turn of a loop sets.
    fn first_turn(&mut self) {
        let (counter, name, sum) = (self.register(), self.register(), self.register());
        let (first, again, head) = (self.predicate_register(), self.predicate_register(), self.label());
        let from = self.any_value(Class::Lane);
        let how = if self.risks() { "ne" } else { "eq" };
        self.line(&format!("mov.u32 {counter}, 0;\nmov.u32 {sum}, 0;\n{head}:"));
        self.line(&format!("setp.{how}.u32 {first}, {counter}, 0;\n@{first} mov.u32 {name}, {from};"));
        self.line(&format!("add.u32 {sum}, {sum}, {name};\nadd.u32 {counter}, {counter}, 1;"));
        self.line(&format!("setp.lt.u32 {again}, {counter}, 3;\n@{again} bra {head};"));
        self.line(&format!("st.global.u32 [%rd4], {sum};"));
    }

    /// Warps with different tasks: one of them elects a lane, the others go on together.
    fn roles(&mut self) {
        if self.context() > Class::Warp {
            return;
        }
        let (warp, is_worker, elected) =
            (self.register(), self.predicate_register(), self.predicate_register());
        let (workers, end, value) = (self.label(), self.label(), self.register());
        let from = self.any_value(Class::Lane);
        self.line(&format!("shr.u32 {warp}, %r4, 5;\nsetp.ne.s32 {is_worker}, {warp}, 1;"));
        self.line(&format!(
            "@{is_worker} bra {workers};\nelect.sync _|{elected}, -1;\n@!{elected} bra {end};"
        ));
        self.line(&format!("st.global.u32 [%rd2], %r4;\nbra {end};\n{workers}:"));
        self.line(&format!(
            "shfl.sync.bfly.b32 {value}, {from}, 16, 31, -1;\nst.global.u32 [%rd4], {value};"
        ));
        self.line(&format!("{end}:"));
    }

    /// The same collective on both sides of a branch, or not quite the same.
    fn both_sides(&mut self) {
        if self.context() > Class::Warp {
            return;
        }
        let predicate = self.condition(Class::Lane);
        let (other, end, value) = (self.label(), self.label(), self.register());
        let from = self.any_value(Class::Lane);
        let by = if self.parts() { "up" } else { "bfly" };
        self.line(&format!("@{predicate} bra {other};\nshfl.sync.bfly.b32 {value}, {from}, 1, 31, -1;"));
        self.line(&format!("bra {end};\n{other}:\nshfl.sync.{by}.b32 {value}, {from}, 1, 31, -1;\n{end}:"));
        self.defined(&value, Class::Lane);
    }

    /// An access at a constant offset, mostly inside and aligned.
    fn shared_memory(&mut self) {
        let (careless, variable) = (self.risks(), format!("s{}", self.variables));
        self.variables += 1;
        let (bytes, form) = *self.random.one_of(&[
            (1, "u8"),
            (2, "u16"),
            (4, "u32"),
            (4, "u32"),
            (8, "u64"),
            (8, "v2.u32"),
            (16, "v4.u32"),
        ]);
        let size = bytes * (1 + self.random.below(4));
        let mut align = (bytes << self.random.below(3)).min(128);
        let mut offset = self.random.below(size / bytes) * bytes;
        if careless {
            match self.random.below(3) {
                0 => align = 1 << self.random.below(4),
                1 => offset = self.random.below(size + 4),
                _ => offset += 1 + self.random.below(bytes),
            }
        }
        self.line(&format!(".shared .align {align} .b8 {variable}[{size}];"));
        let address = match self.random.below(4) {
            0 => format!("{variable}+{offset}"),
            1 => {
                let (base, moved) = (self.register(), self.register());
                self.line(&format!("mov.u32 {base}, {variable};\nadd.u32 {moved}, {base}, -4;"));
                format!("{moved}+{}", offset + 4)
            }
            2 => {
                let (base, moved) = (self.register(), self.register());
                self.line(&format!("mov.u32 {base}, {variable};\nadd.u32 {moved}, {base}, {offset};"));
                moved
            }
            _ => {
                let (base, back) = (self.register(), self.register());
                self.line(&format!(
                    "mov.u32 {base}, {variable}+{size};\nsub.u32 {back}, {base}, {};",
                    size - offset.min(size)
                ));
                format!("{back}+{}", offset.saturating_sub(size))
            }
        };
        let (result, other) = (self.register(), self.any_value(Class::Lane));
        let line = match form {
            "u64" => {
                format!("ld.shared.u64 {}, [{address}];\nmov.u32 {result}, {other};", self.wide_register())
            }
            "v2.u32" => format!("ld.shared.v2.u32 {{{result}, {}}}, [{address}];", self.register()),
            "v4.u32" => {
                let rest = [self.register(), self.register(), self.register()].join(", ");
                format!("ld.shared.v4.u32 {{{result}, {rest}}}, [{address}];")
            }
            form => format!("ld.shared.{form} {result}, [{address}];"),
        };
        self.line(&line);
        self.defined(&result, Class::Lane);
    }

    /// Calls a function of the module.
    fn call(&mut self) {
        let name = self.register();
        let from = self.any_value(Class::Lane);
        match self.random.below(3) {
            0 if self.context() <= Class::Warp && !self.left || self.parts() => {
                self.line(&format!("call.uni ({name}), warp_sum, ({from});"));
                self.defined(&name, Class::Warp);
            }
            1 if self.context() == Class::Block || self.parts() => self.line("call.uni wait_for_all;"),
            _ => {
                self.line("{\n.param .b32 thread;\n.param .b32 warp;\nst.param.b32 [thread], %r4;");
                self.line("call.uni (warp), number_of_warp, (thread);");
                self.line(&format!("ld.param.b32 {name}, [warp];\n}}"));
                self.defined(&name, Class::Warp);
            }
        }
    }

    /// A loop that all lanes of a warp leave together, though each has a counter of its own.
    fn leave_together(&mut self) {
        if self.context() > Class::Warp {
            return;
        }
        let (bound, counter, again) = (self.register(), self.register(), self.predicate_register());
        let (head, value, limit) = (self.label(), self.register(), self.any_value(Class::Block));
        let mask = if self.parts() { "112" } else { "96" };
        let from = self.any_value(Class::Lane);
        self.line(&format!("and.b32 {bound}, {limit}, {mask};\nmov.u32 {counter}, %r5;\n{head}:"));
        self.line(&format!("shfl.sync.bfly.b32 {value}, {from}, 4, 31, -1;\nst.global.u32 [%rd4], {value};"));
        self.line(&format!("add.u32 {counter}, {counter}, 32;"));
        if self.chance(300) {
            let (any, any_more) = (self.predicate_register(), self.predicate_register());
            let predicate = self.condition(Class::Warp);
            self.line(&format!(
                "vote.sync.any.pred {any}, {predicate}, -1;\nsetp.lt.u32 {again}, {counter}, {bound};"
            ));
            self.line(&format!("and.pred {any_more}, {again}, {any};\n@{any_more} bra {head};"));
        } else {
            self.line(&format!("setp.lt.u32 {again}, {counter}, {bound};\n@{again} bra {head};"));
        }
        self.line("bar.warp.sync -1;");
    }
}
