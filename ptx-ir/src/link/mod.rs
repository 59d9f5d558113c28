//! Linking.
pub(crate) mod order;
