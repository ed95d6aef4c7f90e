//! How fast traces are read and matched. Every figure stands beside a peer that is measured in the same run, since only the
//! ratio says something on another machine: SHA-256 of the same bytes, and `serde_json` reading each line into a value.
//!
//! `cargo bench` prints the best of five rounds of each.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::io::Cursor;
use std::time::{Duration, Instant};

use process_integrity::conformance::{self, Observation};
use process_integrity::digest::digest;
use process_integrity::model::{built_in, dominator};
use process_integrity::secrets::Secrets;
use process_integrity::trace::{Event, Place, Status, git_ape, jsonl};

const EVENTS: usize = 200_000;
const ROUNDS: usize = 5;

fn main() {
    // `cargo test --benches` only wants to know that it can run.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    reading();
    document();
    matching();
}

fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    let round = |_| {
        let started = Instant::now();
        black_box(work());
        started.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

fn print(name: &str, events: usize, time: Duration, peers: &[(&str, Duration)]) {
    let rate = events as f64 / time.as_secs_f64();
    let ratios: Vec<String> = peers
        .iter()
        .map(|(peer, other)| format!("{:.2}x {peer}", time.as_secs_f64() / other.as_secs_f64()))
        .collect();
    println!("{name:<34} {rate:>12.0} events/s   time: {}", ratios.join(", "));
}

/// A trace of mostly other events, as agents write them.
fn lines() -> String {
    let states =
        ["requirements_gathered", "template_generated", "security_gate_evaluated", "preflight_validated"];
    let line = |at: usize| {
        let state = if at.is_multiple_of(100) { states[at / 100 % states.len()] } else { "tool_call" };
        format!(
            "{{\"timestamp\":\"2026-10-05T12:{:02}:{:02}Z\",\"state\":\"{state}\",\"status\":\"completed\",\"agent\":\"git-ape\",\
             \"message\":\"event number {at} of the run\",\"run_id\":\"18234\"}}\n",
            at / 60 % 60,
            at % 60
        )
    };
    (0..EVENTS).map(line).collect()
}

fn reading() {
    let secrets = Secrets::default();
    let text = lines();
    let hashing = best(|| digest(text.as_bytes()));
    let values =
        best(|| text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()).count());
    let peers = [("sha256 of the same bytes", hashing), ("serde_json values", values)];
    let reading = best(|| {
        let mut count = 0;
        jsonl::read(Cursor::new(text.as_bytes()), &mut |event| {
            count += usize::from(event.status == Status::Completed)
        });
        count
    });
    print("read trace.jsonl", EVENTS, reading, &peers);
    let Ok(model) = built_in::checklist() else { return };
    let both = best(|| {
        let mut observation = Observation::new(&model, &secrets);
        jsonl::read(Cursor::new(text.as_bytes()), &mut |event| {
            observation.clock.tick(&event);
            observation.observe(&event);
        });
        conformance::judge(&observation).coverage.covered
    });
    print("read and judge trace.jsonl", EVENTS, both, &peers);
}

fn document() {
    let node = |at: usize| {
        format!(
            "{{\"id\":\"n{at}\",\"type\":\"node\",\"node\":\"n{at}\",\"status\":\"completed\",\"recordedAt\":\"2026-10-05T12:00:00Z\",\"evidence\":[],\"result\":null}}"
        )
    };
    let nodes: Vec<String> = (0..EVENTS / 4).map(node).collect();
    let text =
        format!("{{\"schemaVersion\":\"git-ape-execution-trace/v1\",\"events\":[{}]}}", nodes.join(","));
    let values = best(|| serde_json::from_str::<serde_json::Value>(&text).is_ok());
    let reading = best(|| git_ape::read(Cursor::new(text.as_bytes())).entries.len());
    print("read a v1 document", EVENTS / 4, reading, &[("serde_json values", values)]);
}

fn matching() {
    let secrets = Secrets::default();
    let states = [
        "requirements_gathered",
        "noise",
        "template_generated",
        "security_gate_evaluated",
        "preflight_validated",
        "deployment_executed",
    ];
    let Ok(model) = built_in::checklist() else { return };
    let events: Vec<Event<'_>> = (0..EVENTS)
        .map(|at| {
            Event::new(states[at % states.len()], Status::Completed, Place { line: at as u64, offset: 0 })
        })
        .collect();
    let names = best(|| events.iter().filter(|event| model.find(&event.state).is_some()).count());
    let judging = best(|| {
        let mut observation = Observation::new(&model, &secrets);
        events.iter().for_each(|event| observation.observe(event));
        conformance::judge(&observation).coverage.covered
    });
    print("judge events that are all matched", EVENTS, judging, &[("looking their names up", names)]);
    // The worst case of the matching: 200 states in a chain, completed backwards.
    let names: Vec<String> = (0..200).map(|at| format!("s{at}")).collect();
    let Ok(chain) = dominator::parse(
        serde_json::json!({"essential_states": names, "artifact_states": []}).to_string().as_bytes(),
    ) else {
        return;
    };
    let mut observation = Observation::new(&chain, &secrets);
    for name in names.iter().rev() {
        observation.observe(&Event::new(name.as_str(), Status::Completed, Place::default()));
    }
    let dense = best(|| conformance::judge(&observation).coverage.covered);
    println!("largest set of 200 states backwards {:>10.3} ms", dense.as_secs_f64() * 1e3);
}
