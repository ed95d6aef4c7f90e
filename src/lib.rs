//! Finds **false successes**: an agent that deployed infrastructure says it succeeded; did the process really happen, and
//! do the resources really work?
//!
//! One crate, library plus binary: a pure core and a thin shell. Arrows point inwards only; `tests/it/arrows.rs` reads the
//! sources and keeps it so.
//!
//! ```text
//!  shell    main → app → cli, settings → github → runner, workspace
//!             ↓
//!  core     report → findings, verdict → conformance, health, evidence → trace, model, plan
//!                                                                          ↓
//!           for all: message, escape, secrets, json, digest
//! ```
//!
//! # The way of one check
//!
//! [`app::check`] is the order of steps. A reader of [`trace`] turns the bytes of a file into a stream of events; a
//! [`trace::run::RunFilter`] lets those of the last run and of this deployment through; a
//! [`conformance::Observation`] takes them one by one and keeps what grows with the [`model`] only. [`conformance::judge`]
//! gives every essential state a judgement; [`findings::all`] applies every rule to the facts; [`verdict::Verdict::of`] takes
//! the worst class. [`report::Report`] is the one view that every output reads. Where the trace is the agent's own, the logs
//! of its harness that lie beside it are read as well, each by a [`conformance::witness::Witness`], and compared with it.
//!
//! # The way of one lesson
//!
//! `app::learn` reads golden traces by the same way, each into a [`model::learn::Golden`]; [`model::learn::learn`] makes a
//! model of them, and each trace is then checked by it, as any deployment is, before the model is written.
//! [`report::learning::Learning`] is the view of that.
//!
//! # The way of a proof
//!
//! `app::record` appends a [`trace::write::NewEvent`] to a trace, by [`runner::append`], chained by [`trace::chain`] to the line
//! before it; the reader of the trace follows that chain. [`evidence::about`] holds what an artifact names against what was
//! deployed. [`report::attestation`] makes a statement of the report and of the digests of all that was read for it, taken when it
//! was read.
//!
//! # The way of many
//!
//! `app::many` checks the folders of a command and `app::classify` those of a step, several at once by `app::parallel`, which
//! gives the results in their order. `app::plan` spreads folders over the shards of a [`plan::Plan`], which other machines check.
//! [`report::several::Told`] is what a step tells GitHub of them.
//!
//! # The picture of a fleet
//!
//! `app::merge` reads the reports of many shards back; [`report::fleet::Fleet`] is the view of them, and of the plan that says
//! which reports there have to be.
//!
//! # Rules of the house
//!
//! - The core touches no file, clock, environment, network or async. It takes bytes and gives structs; the same input gives
//!   the same bytes.
//! - Nothing is an error that can be a finding: any bytes whatever have a verdict.
//! - Text from files is hostile. A [`message::Message`] keeps it apart from our own words; [`secrets`] blanks it; [`escape`]
//!   has one function a sink. Only [`runner`] prints and writes, only [`workspace`] opens files to read, only [`settings`]
//!   knows the names of inputs and of the runner's variables, only [`github`] talks to a network.
//! - Closed sets are enums with exhaustive matches: [`trace::TraceFormat`], [`verdict::FindingId`],
//!   [`conformance::StateStatus`]. A new rule is a row in `FindingId`, one place in [`findings`],
//!   an explanation in [`findings::explain`], and a folder in `fixtures/`.

pub mod app;
pub mod cli;
pub mod conformance;
pub mod digest;
pub mod escape;
pub mod evidence;
pub mod findings;
pub mod github;
pub mod health;
pub mod json;
pub mod message;
pub mod model;
pub mod plan;
pub mod report;
pub mod runner;
pub mod secrets;
pub mod settings;
pub mod trace;
pub mod verdict;
pub mod workspace;
