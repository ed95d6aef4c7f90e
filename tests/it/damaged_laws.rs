//! The laws of damage, for every place of a trace at which it can be damaged: nothing is lost in silence, and damage never
//! verifies.

use crate::fuzz_bodies::readers::{jsonl as accounts, written};
use crate::laws::{answer, healthy};
use crate::support::{CHECKLIST, events, lines};
use process_integrity::model::built_in;
use process_integrity::trace::{Reading, jsonl};
use process_integrity::verdict::Verdict;

fn trace() -> Vec<u8> {
    let bytes = lines(&events(&CHECKLIST)).into_bytes();
    assert_eq!(states(&bytes).0, CHECKLIST);
    bytes
}

fn states(bytes: &[u8]) -> (Vec<String>, Reading) {
    let mut states = Vec::new();
    let reading = jsonl::read(bytes, &mut |event| states.push(event.state.into_owned()));
    (states, reading)
}

/// Where lines begin, the end of the last one included.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(breaks).collect()
}

/// Damage is told, or it is none: then exactly the events of the `whole` lines are there. And it never verifies.
fn assert_laws(bytes: &[u8], whole: &[&str], how: &str) {
    let (found, reading) = states(bytes);
    let told = reading.damage.count();
    assert!(told > 0 || found == whole, "{how}: {found:?} and nothing is told");
    // What is not on a damaged line is there, in order.
    let mut next = 0;
    let kept = whole.iter().filter(|state| {
        let at = found[next..].iter().position(|found| found == *state);
        next += at.map_or(0, |at| at + 1);
        at.is_some()
    });
    let kept = kept.count() as u64;
    assert!(kept + 2 * told >= whole.len() as u64, "{how}: {told} damaged lines, and only {kept} events");
    accounts(bytes);
    if told > 0 {
        let answer = answer(&built_in::checklist().unwrap(), bytes, &healthy());
        assert!(answer.verdict != Verdict::VerifiedSuccess, "{how}: damage is verified");
    }
}

#[test]
fn a_trace_that_is_cut_anywhere_tells_it_or_ends_between_two_lines() {
    let bytes = trace();
    let starts = starts(&bytes);
    for cut in 0..=bytes.len() {
        // A last line without its line break is whole.
        let whole = starts.iter().filter(|start| **start > 0 && **start <= cut + 1).count();
        assert_laws(&bytes[..cut], &CHECKLIST[..whole], &format!("cut at {cut}"));
    }
}

#[test]
fn a_line_that_is_cut_anywhere_is_told_and_the_others_are_read() {
    let bytes = trace();
    let starts = starts(&bytes);
    for line in 0..CHECKLIST.len() {
        let (start, end) = (starts[line], starts[line + 1] - 1);
        for cut in start + 1..end {
            // With its line break, and without: then the next record stands on the same line.
            for rest in [end, end + 1] {
                let damaged = [&bytes[..cut], &bytes[rest..]].concat();
                assert_laws(&damaged, &CHECKLIST, &format!("line {line} cut at {cut}, on from {rest}"));
            }
        }
    }
}

#[test]
fn a_piece_in_any_place_is_told_or_changes_nothing() {
    let bytes = trace();
    let pieces: [&[u8]; 9] =
        [b"\n", b"\0", b"\0\0\0\n", b"\xff", b"\xef\xbb\xbf", b"}{", b"{\"state\":\"x\"", b"\x1b[0m", b"NaN"];
    for piece in pieces {
        for at in 0..=bytes.len() {
            let mut damaged = bytes.clone();
            damaged.splice(at..at, piece.iter().copied());
            let (found, reading) = states(&damaged);
            // Within a string some pieces are text: then the names differ, and the model finds it.
            let renamed = reading.damage.count() == 0 && found.len() == CHECKLIST.len();
            if !renamed {
                assert_laws(&damaged, &CHECKLIST, &format!("{piece:?} at {at}"));
            }
        }
    }
}

#[test]
fn a_hole_of_nul_bytes_anywhere_is_told_or_is_the_very_end() {
    let bytes = trace();
    let starts = starts(&bytes);
    for from in 0..bytes.len() {
        for length in [1, 20, 137, 300] {
            let to = (from + length).min(bytes.len());
            let mut damaged = bytes.clone();
            damaged[from..to].fill(0);
            // Whole lines at the very end that became NUL bytes are lines that nobody can tell from no lines at all; so is
            // the last line break.
            let left = if to == bytes.len() {
                starts.iter().filter(|start| **start > 0 && **start <= from + 1).count()
            } else {
                CHECKLIST.len()
            };
            let (found, reading) = states(&damaged);
            assert!(
                reading.damage.count() > 0 || found == CHECKLIST[..left],
                "{length} from {from}: {found:?} and nothing is told"
            );
            accounts(&damaged);
        }
    }
}

#[test]
fn two_writers_without_a_lock_are_told_wherever_they_meet() {
    let bytes = trace();
    let starts = starts(&bytes);
    let (first, second) = (&bytes[starts[2]..starts[3]], &bytes[starts[3]..starts[4]]);
    for a in 1..first.len() - 1 {
        for b in (1..second.len()).step_by(7) {
            let middle = [&first[..a], &second[..b], &first[a..], &second[b..]].concat();
            let damaged = [&bytes[..starts[2]], &middle, &bytes[starts[4]..]].concat();
            let (found, reading) = states(&damaged);
            let how = format!("after {a} and {b} bytes: {found:?}");
            assert!(reading.damage.count() > 0, "{how}");
            assert!(
                found.starts_with(&["requirements_gathered".to_owned(), "template_generated".to_owned()])
            );
            assert!(
                found.ends_with(&["deployment_executed".to_owned(), "integration_tests_passed".to_owned()])
            );
            let lines = written(&damaged).len() as u64;
            assert!(found.len() as u64 + reading.damage.count() >= lines, "{how}");
        }
    }
}
