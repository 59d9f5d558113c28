//! Lists in memory that tell where parts of something begin: what their elements are, where these rise.

use ptx_ir::ir::{Handle, Operand};

use super::decode::Operands;
use super::known::Actions;
use super::machine::Machine;
use super::program::{Action, Address};
use super::slice::Decoder;
use super::value::Value;
use crate::asynchronous::elements::list_of;

/// Lists that are told apart.
const MAX_LISTS: u8 = 31;
/// Single places of a list that an unrolled loop reads.
const MIN_PLACES: usize = 3;

impl Decoder<'_, '_> {
    /// The number of the list that a load reads an element of.
    pub(super) fn list(&mut self, load: u32) -> Option<u8> {
        let list = list_of(self.facts, load)?;
        let known = self.lists.iter().position(|known| *known == list);
        let number = known.unwrap_or_else(|| {
            self.lists.push(list);
            self.lists.len() - 1
        });
        u8::try_from(number).ok().filter(|number| *number < MAX_LISTS)
    }

    /// Takes in where elements are of lists of which one is read with the next; whether that is more than before.
    pub(super) fn ask_for_elements(&mut self, actions: &mut Actions) -> bool {
        // Unrolled loops read single places of what others go along.
        let whole: Vec<u8> = (0..self.lists.len())
            .map(|own| {
                let is_whole =
                    |other: &usize| *other != own && self.lists[own].is_within(&self.lists[*other]);
                let wider =
                    (0..self.lists.len()).filter(is_whole).min_by_key(|&other| self.lists[other].stride());
                wider.unwrap_or(own) as u8
            })
            .collect();
        // One place of a list, or two, may be what people keep before it.
        let places = |wider: u8| whole.iter().filter(|other| **other == wider).count();
        let is_unrolled: Vec<bool> = whole.iter().map(|&wider| places(wider) > MIN_PLACES).collect();
        for (_, action) in actions.iter_mut() {
            if let Action::Load { list: Some(list), .. } = action
                && is_unrolled.get(usize::from(*list)) == Some(&true)
            {
                *list = whole[usize::from(*list)];
            }
        }
        let mut rising: Vec<u8> = Vec::new();
        for (_, action) in actions.iter() {
            if let Action::Load { is_next: true, list: Some(list), .. } = action {
                rising.push(*list);
            }
        }
        let is_asked = |action: &Action| matches!(action, Action::Load { list: Some(list), from: None, .. } if rising.contains(list));
        let loads: Vec<u32> =
            actions.iter().filter(|(_, action)| is_asked(action)).map(|(load, _)| *load).collect();
        let mut is_more = false;
        for load in loads {
            let place = self.place_of_element(load);
            if let Some(Action::Load { list, from, .. }) = actions.get_mut(load) {
                // What is not known by its place is of no list.
                *list = list.filter(|_| place.is_some());
                is_more |= place.is_some();
                *from = place.map(Box::new);
            }
        }
        is_more
    }

    fn place_of_element(&mut self, load: u32) -> Option<Address> {
        let facts = self.facts;
        let instance = facts.instance(load)?;
        if let Some(Operand::Vector(_)) = facts.body.operands(Handle::new(load)).first() {
            return None;
        }
        let named = Operands::of(facts, load, instance);
        let (operand, spec) = named.addresses().next()?;
        self.address(operand, spec, spec.access?.bytes)
    }
}

impl Machine<'_> {
    /// What an element is, by its place in the list: pointers are what all parameters are.
    pub(super) fn element(&self, warp: usize, mask: u32, place: Address) -> Value {
        let begin = self.scenario.parameter;
        let (bytes, apart) = (u64::from(place.bytes).max(1), self.scenario.memory);
        let place = self.address_in(warp, place, mask);
        Value::of([&place], mask, |[place]| Some(place.checked_sub(begin)? / bytes * apart))
    }
}
