//! The product from outside: the real binary on real folders, and the laws of the design.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::wildcard_enum_match_arm)]

mod action;
mod arrows;
mod cases;
mod command;
mod docs;
mod hostile;
mod laws;
mod rules;
mod support;
