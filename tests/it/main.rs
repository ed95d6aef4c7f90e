//! The product from outside: the real binary on real folders, and the laws of the design.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::wildcard_enum_match_arm)]

mod action;
mod arrows;
mod attestation;
mod cases;
mod command;
mod comment;
mod comment_text;
mod damaged;
mod damaged_laws;
mod docs;
mod examples;
mod explain;
mod fake;
mod fleet;
// The bodies of the fuzz targets, which their own crate makes public.
#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz_bodies;
mod fuzz_targets;
mod git_ape_evals;
mod git_ape_home;
mod hostile;
mod issue;
mod junit_report;
mod laws;
mod learn;
mod learn_command;
mod learn_doubts;
mod many;
mod merge;
mod merge_laws;
mod merge_step;
mod plan;
mod pull_request;
mod quality;
mod race;
mod record;
mod refusals;
mod retries;
mod rules;
mod sarif;
mod schemas;
mod several;
mod step;
mod support;
