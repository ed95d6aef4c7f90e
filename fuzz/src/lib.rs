//! What the fuzz targets assert. `tests/it/fuzz_targets.rs` runs the same bodies over the fixtures and over damaged copies of
//! them, so that they are exercised where there is no fuzzer.

pub mod inputs;
pub mod learning;
pub mod readers;
pub mod whole;

/// What a target does with one input. It panics where a law is broken.
pub type Body = fn(&[u8]);

/// Every target, by its name.
pub const BODIES: [(&str, Body); 12] = [
    ("jsonl", readers::jsonl),
    ("git_ape", readers::git_ape),
    ("otlp", readers::otlp),
    ("copilot", readers::copilot),
    ("claude", readers::claude),
    ("codex", readers::codex),
    ("model", inputs::model),
    ("results", inputs::results),
    ("state_map", inputs::state_map),
    ("plan", inputs::plan),
    ("learn", learning::learn),
    ("check", whole::check),
];
