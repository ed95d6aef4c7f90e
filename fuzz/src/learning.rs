//! Learning: traces in, a model out by which each of them conforms.

use process_integrity::conformance::{self, Observation};
use process_integrity::model::dominator;
use process_integrity::model::learn::{Golden, Wishes, learn as learn_from};
use process_integrity::model::write::{Origin, write};
use process_integrity::secrets::Secrets;
use process_integrity::trace::jsonl;

use super::whole::SEPARATOR;

/// Traces that are learned from.
const TRACES: usize = 4;
/// More states are learned from as well, but the laws on pairs would take too long.
const STATES: usize = 60;

/// Deployments of one run that learning looks at.
const DEPLOYMENTS: usize = 64;

/// One to four traces, with a record separator between them.
pub fn learn(data: &[u8]) {
    let traces: Vec<&[u8]> = data.splitn(TRACES, |byte| *byte == SEPARATOR).collect();
    let wishes = Wishes::default();
    let goldens: Vec<Golden> = traces
        .iter()
        .map(|trace| {
            let mut golden = Golden::new(wishes.deployment(None));
            jsonl::read(*trace, &mut |event| golden.observe(&event));
            golden
        })
        .collect();
    let all: Vec<&Golden> = goldens.iter().collect();
    let Ok(learned) = learn_from(&all, None, &wishes) else { return };
    let model = &learned.model;
    let turned: Vec<&Golden> = all.iter().rev().copied().collect();
    let again = learn_from(&turned, None, &wishes);
    assert_eq!(again.map(|again| again.model).as_ref(), Ok(model), "the order of the traces matters");
    let written = write(model, &Origin::default());
    assert_eq!(dominator::parse(written.as_bytes()).as_ref(), Ok(model), "{written}");
    // Of a run with more deployments than are looked at, the check may know better.
    if model.states() > STATES || all.iter().any(|golden| golden.deployments() >= DEPLOYMENTS) {
        return;
    }
    let secrets = Secrets::default();
    for trace in traces {
        let mut observation = Observation::new(model, &secrets);
        jsonl::read(trace, &mut |event| observation.observe(&event));
        let judged = conformance::judge(&observation);
        assert_eq!(judged.coverage.covered, model.essential(), "{:?}", judged.judgements);
        assert!(judged.disorders.is_empty());
    }
}
