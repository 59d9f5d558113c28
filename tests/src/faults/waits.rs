//! Waits for asynchronous copies that are removed one at a time. Whether a wait matters is worked out from the text: how
//! many groups may be pending where shared memory is read, with the wait and without it.

use super::text::{Function, Statement, mentions};
use super::{Fault, Kind};

/// Groups are counted so far.
const MAX_GROUPS: u32 = 16;

/// What may be in flight at a place: groups, and copies in no group yet. None where control does not come.
type Pending = Option<(u32, bool)>;

/// Each wait for groups, removed.
pub(super) fn drop_one(function: &Function<'_>) -> Vec<Fault> {
    let all = &function.statements;
    let other = |each: &Statement<'_>| {
        each.opcode.contains("cp.async.mbarrier")
            || each.opcode.contains("async.bulk")
            || each.root() == "call"
    };
    if all.iter().any(other) {
        return Vec::new();
    }
    let with = pending(function, None);
    let reads: Vec<usize> = all.iter().filter(|each| reads_shared(each)).map(|each| each.line).collect();
    // A pipeline has some groups pending wherever it reads; what is wrong is to have more.
    let allowed = reads.iter().map(|&line| weight(with[line])).max().unwrap_or(0);
    let waits = all.iter().filter(|each| each.opcode.starts_with("cp.async.wait") && !each.guarded);
    waits
        .filter_map(|wait| {
            let without = pending(function, Some(wait.line));
            let late: Vec<usize> =
                reads.iter().copied().filter(|&line| weight(without[line]) > weight(with[line])).collect();
            let leaves = |each: &&Statement<'_>| matches!(each.root(), "ret" | "exit");
            let left =
                all.iter().filter(leaves).any(|each| weight(without[each.line]) > weight(with[each.line]));
            let wrong: Vec<usize> =
                late.iter().copied().filter(|&line| weight(without[line]) > allowed).collect();
            let harmless = late.is_empty();
            // Where nothing more is read, or with no more pending than elsewhere, nobody can say whether it was needed.
            if harmless && left || !harmless && wrong.is_empty() {
                return None;
            }
            let copies = all.iter().filter(|each| starts(each)).map(|each| each.line);
            let lines: Vec<usize> = wrong.into_iter().chain(copies).collect();
            Some(function.with(Kind::DropOneWait, &lines, &[(wait.line, String::new())], harmless))
        })
        .collect()
}

fn starts(each: &Statement<'_>) -> bool {
    each.opcode.starts_with("cp.async.c") && each.has("global")
}

fn reads_shared(each: &Statement<'_>) -> bool {
    let reads = ["ldmatrix", "wmma.load", "ld.shared", "wgmma.mma_async", "tcgen05.mma"];
    reads.iter().any(|opcode| each.opcode.starts_with(opcode))
}

fn weight(pending: Pending) -> u32 {
    pending.map_or(0, |(groups, open)| 2 * groups + u32::from(open))
}

/// The most that may be in flight before each line, without the wait of a line.
fn pending(function: &Function<'_>, removed: Option<usize>) -> Vec<Pending> {
    let mut before: Vec<Pending> = vec![None; function.lines.len() + 1];
    before[function.open] = Some((0, false));
    let mut changed = true;
    while changed {
        changed = false;
        for line in function.open..function.close {
            let Some(state) = before[line] else { continue };
            let place = function.statements.binary_search_by_key(&line, |each| each.line);
            let statement = place.ok().map(|place| &function.statements[place]);
            let after =
                statement.filter(|each| Some(each.line) != removed).map_or(state, |each| behind(each, state));
            let (targets, falls) = successors(function, statement);
            let next = falls.then_some(line + 1);
            for target in targets.into_iter().chain(next) {
                let old = before[target];
                let (groups, open) = old.unwrap_or((0, false));
                let new = Some((groups.max(after.0), open || after.1));
                if new != old {
                    before[target] = new;
                    changed = true;
                }
            }
        }
    }
    before
}

/// What may be in flight after a statement.
fn behind(statement: &Statement<'_>, (groups, open): (u32, bool)) -> (u32, bool) {
    let opcode = statement.opcode;
    if starts(statement) {
        return (groups, true);
    }
    if opcode.starts_with("cp.async.commit_group") {
        return ((groups + 1).min(MAX_GROUPS), false);
    }
    if opcode.starts_with("cp.async.wait_all") {
        return (0, false);
    }
    if opcode.starts_with("cp.async.wait_group") && !statement.guarded {
        let left = statement.operands.trim().parse().unwrap_or(0);
        return (groups.min(left), open);
    }
    (groups, open)
}

/// The lines that control may go to besides the next, and whether it may go there.
fn successors(function: &Function<'_>, statement: Option<&Statement<'_>>) -> (Vec<usize>, bool) {
    let Some(statement) = statement else { return (Vec::new(), true) };
    let labelled = |name: &str| {
        let label = format!("{name}:");
        (function.open..function.close).find(|&line| function.lines[line].trim_start().starts_with(&label))
    };
    match statement.root() {
        "bra" => (labelled(statement.operands.trim()).into_iter().collect(), statement.guarded),
        "ret" | "exit" | "trap" => (Vec::new(), statement.guarded),
        // Any label may be meant.
        "brx" => {
            let is_label = |line: &usize| function.lines[*line].trim_end().ends_with(':');
            ((function.open..function.close).filter(is_label).collect(), false)
        }
        _ => (Vec::new(), true),
    }
}

/// All waits for loads of tensor memory, removed. It shows where what is computed of a result first has an effect, or
/// at a load whose results have none.
pub(super) fn drop_tensor(function: &Function<'_>) -> Vec<Fault> {
    let all = &function.statements;
    let is_entry = (0..function.open)
        .rev()
        .map(|line| function.lines[line])
        .find(|line| line.contains(".func") || line.contains(".entry"))
        .is_some_and(|line| line.contains(".entry"));
    let waits: Vec<&Statement<'_>> =
        all.iter().filter(|each| each.opcode.starts_with("tcgen05.wait::ld")).collect();
    let loads = all.iter().filter(|each| each.opcode.starts_with("tcgen05.ld"));
    let lines: Vec<usize> = loads.map(|load| first_effect(function, load).unwrap_or(load.line)).collect();
    if waits.is_empty() || lines.is_empty() || !is_entry {
        return Vec::new();
    }
    let changes: Vec<(usize, String)> = waits.iter().map(|wait| (wait.line, String::new())).collect();
    vec![function.with(Kind::DropTensorWait, &lines, &changes, false)]
}

/// The first statement after a load that does something with what is computed of its results, in order of the text.
fn first_effect(function: &Function<'_>, load: &Statement<'_>) -> Option<usize> {
    const EFFECTS: [&str; 10] =
        ["st", "red", "atom", "bra", "tcgen05", "call", "stmatrix", "ret", "exit", "mbarrier"];
    let (results, _) = sides(load.operands);
    let mut computed: Vec<&str> = registers(results);
    for each in function.statements.iter().filter(|each| each.line > load.line) {
        let guard =
            function.lines[each.line].trim_start().strip_prefix('@').and_then(|rest| rest.split(' ').next());
        let (first, rest) = sides(each.operands);
        let is_effect = EFFECTS.contains(&each.root());
        let read = if is_effect { each.operands } else { rest };
        let reads_it = registers(read).iter().any(|register| computed.contains(register))
            || guard.is_some_and(|guard| registers(guard).iter().any(|register| computed.contains(register)));
        if is_effect && reads_it && !each.opcode.starts_with("tcgen05.ld") {
            return Some(each.line);
        }
        if is_effect && !each.opcode.starts_with("tcgen05.ld") {
            continue;
        }
        for written in registers(first) {
            match (reads_it, computed.iter().position(|register| *register == written)) {
                (true, None) => computed.push(written),
                (false, Some(place)) if !each.guarded => {
                    computed.remove(place);
                }
                (true, Some(_)) | (false, _) => {}
            }
        }
    }
    None
}

/// The first operand and the others.
fn sides(operands: &str) -> (&str, &str) {
    let end = match operands.strip_prefix('{') {
        Some(_) => operands.find('}').map_or(operands.len(), |end| end + 1),
        None => operands.find(',').unwrap_or(operands.len()),
    };
    operands.split_at(end)
}

/// The registers in a text.
fn registers(text: &str) -> Vec<&str> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "%_$".contains(letter);
    text.split(|letter: char| !is_name(letter)).filter(|word| word.starts_with('%')).collect()
}

/// Fences after the first that are removed. Where nothing is written in front, none is needed.
pub(super) fn later_fences(function: &Function<'_>) -> Vec<Fault> {
    let all = &function.statements;
    let marks: Vec<&Statement<'_>> = all.iter().filter(|each| each.root() == "wgmma").collect();
    let of_fences = marks.windows(2).enumerate().filter(|(_, pair)| {
        pair[0].opcode.starts_with("wgmma.fence") && pair[1].opcode.starts_with("wgmma.mma_async")
    });
    of_fences
        .skip(1)
        .filter_map(|(index, pair)| {
            // From the last operation or fence to this one, where everything is in one piece.
            let before = marks[..index].iter().rev().find(|each| {
                each.opcode.starts_with("wgmma.mma_async") || each.opcode.starts_with("wgmma.fence")
            })?;
            let between = all.iter().filter(|each| (before.line..pair[1].line).contains(&each.line));
            let vectors = pair[1].operands.split('}').next().unwrap_or("");
            let written = between.filter_map(Statement::result).any(|name| mentions(vectors, name));
            let harmless = !written && function.straight(before.line + 1, pair[1].line);
            (written || harmless).then(|| {
                function.with(Kind::DropFence, &[pair[1].line], &[(pair[0].line, String::new())], harmless)
            })
        })
        .collect()
}
