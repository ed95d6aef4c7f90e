//! The words. A new finding needs an arm here; its summary is the comment on its row in [`FindingId`].

use super::Explanation;
use crate::verdict::FindingId;

/// What a finding means. Plain sentences; names stand in backticks.
pub(super) fn of(id: FindingId) -> Explanation {
    match id {
        FindingId::ResourceUnhealthy => Explanation {
            meaning: "The integration tests looked at a deployed resource or endpoint, and it did not work. \
                No process makes up for that, whatever the tests or the agent say of the whole.",
            example: "`tests.json` says `passed`, but lists `https://func-orders-dev` with `HTTP 503`.",
            remedy: "Look at the resource: its logs, its provisioning state, its configuration. The \
                deployment is not usable as it is.",
        },
        FindingId::TestsFailed => Explanation {
            meaning: "The results of the integration tests call themselves failed, or count more failed \
                tests than they list. Which check failed may not be in them.",
            example: "`tests.json` has `\"status\": \"failed\"`, or a JUnit suite has `failures=\"2\"` over \
                one failed test case.",
            remedy: "Read the results, mend what failed, and deploy again.",
        },
        FindingId::HealthContradiction => Explanation {
            meaning: "The tests report a false success themselves: they sum up to passed over a check that \
                did not pass. Everything that trusts the sum is misled.",
            example: "`tests.json` has `\"status\": \"passed\"`, and below it an endpoint that answered \
                503.",
            remedy: "Make the tests fail when a check fails. Then look at the check: it is reported as \
                well.",
        },
        FindingId::DeploymentFailed => Explanation {
            meaning: "The deployment itself did not succeed: its last attempt in the trace failed, or \
                `state.json` says so. What is there now may be the old version, or half of the new one.",
            example: "The last event of `deployment_executed` has the status `failed`.",
            remedy: "Read the deployment's own error, mend its cause, and deploy again from the first gate \
                on.",
        },
        FindingId::StoppedBeforeDeployment => Explanation {
            meaning: "A state that guards the deployment did not pass, and no deployment completed in this \
                run. Where nothing was attempted either, the gate did its job: nothing is broken by it, but \
                nothing was deployed.",
            example: "`security_gate_evaluated` is `blocked`, and the trace ends there.",
            remedy: "Mend what the gate found, and start again. If a deployment was attempted all the same, \
                find out why the gate did not keep it back.",
        },
        FindingId::StateMissing => Explanation {
            meaning: "The model says that this state is mandatory, and the run has no event of it: no \
                attempt, no failure, nothing. Either the step was skipped, or it left no trace; neither can \
                be told from success.",
            example: "The trace goes from `template_generated` to `deployment_executed`. No line has the \
                state `security_gate_evaluated`.",
            remedy: "Run the step, then deploy again if it guards the deployment. If it did run, make it \
                write its event to the trace when it ends.",
        },
        FindingId::StateFailed => Explanation {
            meaning: "Only a completed event covers a state, and the last attempt decides. This state was \
                failed, blocked, denied, skipped, unknown or only started when it counted. For a guard it \
                counts at every deployment attempt.",
            example: "`security_gate_evaluated` has the status `blocked`, and `deployment_executed` \
                follows.",
            remedy: "Find out why it did not pass, mend that, and repeat it and what depends on it. A \
                deployment that went past a gate that said no has to be reviewed.",
        },
        FindingId::StateLate => Explanation {
            meaning: "This state has to come before the deployment. When some deployment was attempted it \
                had not been attempted at all, and it completed only afterwards. It could not stop that \
                deployment.",
            example: "Line 4 is `deployment_executed`, line 5 is `security_gate_evaluated`.",
            remedy: "Review what was deployed, and make the gate a condition of deploying.",
        },
        FindingId::StateStale => Explanation {
            meaning: "The state did complete, but about something else than what was deployed: what it is \
                about was done again afterwards, or was not there yet. Its result says nothing of the \
                result that counts.",
            example: "The gate passes, the template is generated once more, and the new one is deployed \
                without asking the gate again.",
            remedy: "Repeat the state whenever what it is about has changed.",
        },
        FindingId::HealthUnknown => Explanation {
            meaning: "Nothing proves that the resources work: there are no results, or empty ones, or no \
                check in them passed, or they do not add up. Not tested never counts as healthy.",
            example: "`tests.json` has `\"status\": \"passed\"` and not a single check.",
            remedy: "Run the integration tests, and keep their results as `tests.json` in the deployment \
                folder.",
        },
        FindingId::TraceMissing => Explanation {
            meaning: "There is no trace, or it says nothing of any state, or it must not be read because it \
                lies outside of the workspace. Without a trace no step of the process is proven.",
            example: "The deployment folder holds `state.json` and `tests.json`, but no `trace.jsonl`.",
            remedy: "Make the agent append each step to `trace.jsonl` in the deployment folder. Where a log \
                of the harness has no known names in it, give it a state map.",
        },
        FindingId::TraceForeign => Explanation {
            meaning: "Events of the trace name another deployment than the one that the folder is of. They \
                are set aside and cover nothing: another run's checkpoints must not vouch for this one.",
            example: "The folder is `deploy-20261005-120000`, and line 3 has the `deployment_id` of the day \
                before.",
            remedy: "Write each deployment's trace into its own folder, with its own `deployment_id`.",
        },
        FindingId::TraceMismatch => Explanation {
            meaning: "An execution trace carries the digest of the graph that it was recorded against, and \
                the graph beside it has another one. The graph was changed after the run, or is not the \
                run's own.",
            example: "`graph.digest` of the trace is `sha256:00…`, and the digest of `execution-graph.json` \
                is `sha256:7d…`.",
            remedy: "Keep the graph that a run was recorded against unchanged beside its trace.",
        },
        FindingId::TraceTampered => Explanation {
            meaning: "Lines of the trace carry the digest of the line before them, and one does not hold: a \
                line was changed, removed, inserted or moved after the next one was written. Or the digest of the \
                last line was kept elsewhere, and the trace ends otherwise.",
            example: "A gate was recorded as blocked, the deployment went on, and somebody then wrote \
                `completed` over it. The line behind it still carries the digest of what stood there.",
            remedy: "Take nothing in the trace for proven. Find out who could write to it after the run, and \
                run the process again.",
        },
        FindingId::EvidenceContradiction => Explanation {
            meaning: "Two sources tell opposite things of one step. An artifact that the step left behind \
                denies what the trace claims, or the log of the harness never saw the step or saw it fail.",
            example: "The trace has `security_gate_evaluated` completed, and `security-gate.json` says \
                `BLOCKED`.",
            remedy: "Do not rely on the deployment before it is known which of the two is wrong. The log of \
                a harness is better evidence than what an agent writes of itself.",
        },
        FindingId::EvidenceRequired => Explanation {
            meaning: "The model, the execution graph or `evidence: require` asks for an artifact or a \
                receipt, and it is not there. The event alone does not count as proof here.",
            example: "The model asks for `approval.json` beside `deployment_authorized`, and the folder has \
                none.",
            remedy: "Make the step keep its artifact in the deployment folder, or record its receipt.",
        },
        FindingId::ModelInvalid => Explanation {
            meaning: "There is a model of the mandatory checkpoints, but it cannot be used. A built-in one \
                was used in its place, so nothing of what your own model demands was checked.",
            example: "`dominator-model.json` has a comma too many, or an empty list of essential states.",
            remedy: "Mend the model; the message says where it is wrong. Check again.",
        },
        FindingId::ResultsInvalid => Explanation {
            meaning: "There are results of the integration tests, but they cannot be read, so nothing is \
                known of the resources. Damaged results are not taken for absent ones: somebody may have \
                wanted to say something.",
            example: "`tests.json` was cut off in the middle of a line.",
            remedy: "Write the results in one of the documented shapes, in one go.",
        },
        FindingId::EvidenceUnreadable => Explanation {
            meaning: "A gate, authorization, state or metadata file lies in the folder, but cannot be read. \
                It might contradict the trace, and nobody can tell.",
            example: "`security-gate.json` is empty, or its `gate` is none of PASSED, BLOCKED and \
                OVERRIDDEN.",
            remedy: "Write the file as one JSON object, in one go.",
        },
        FindingId::ErrorEvent => Explanation {
            meaning: "Something broke during the run. The process is complete in the end, but an error that \
                an agent recovers from by itself is worth a look: it is where steps get skipped and facts \
                get made up.",
            example: "A line has the state `error` and a message such as `token expired`.",
            remedy: "Find out what broke, and how the agent went on from there.",
        },
        FindingId::ErrorThenJump => Explanation {
            meaning: "After an error the agent went straight to the deployment, while a state that guards \
                it had not completed: it recovered by skipping. The state that was jumped over is reported \
                as well.",
            example: "An `error` follows `template_generated`, and the next checkpoint is \
                `deployment_executed`.",
            remedy: "Do the steps that were jumped, and deploy again. Make recovery go on where it broke \
                off.",
        },
        FindingId::Retry => Explanation {
            meaning: "A mandatory state failed and was attempted again, and this is none of the allowed \
                loops. A gate that is simply asked again until it says yes is no gate.",
            example: "`security_gate_evaluated` is `blocked` on line 3 and `completed` on line 4, and \
                nothing was changed in between.",
            remedy: "Find out why the first attempt failed: a second one that succeeds may hide it. Mend \
                what a gate found before it is asked again.",
        },
        FindingId::OutOfOrder => Explanation {
            meaning: "Mandatory states did all complete, but two of them in an order that the model does \
                not allow.",
            example: "The model has `preflight_validated` after `security_gate_evaluated`, and the trace \
                has them the other way round.",
            remedy: "If either order is fine, take the pair out of the model's `dominates`. Else make the \
                agent keep the order.",
        },
        FindingId::IncompleteWorkflow => Explanation {
            meaning: "A complete run ends with the terminal state. Here the last checkpoint is another one: \
                the agent stopped early, or went on after the end.",
            example: "The tests passed, and then `template_generated` completes once more and nothing \
                follows.",
            remedy: "Find out why the agent did not finish, or what it still did. If the process has \
                another end, name it with `terminal-state`.",
        },
        FindingId::ShortTrace => Explanation {
            meaning: "The run has so few events that the agent may have crashed or restarted in the middle \
                of it, and the rest may be lost.",
            example: "The trace has two events, and `min-events` is 3.",
            remedy: "Look at the agent's own log. If so short a run is normal, lower `min-events`.",
        },
        FindingId::TraceCorrupt => Explanation {
            meaning: "Lines or records of the trace, or of a log beside it, could not be read, wholly or in \
                part. What can be read counts all the same; what stood in the rest nobody knows.",
            example: "The last line is cut off, or two writers wrote into one line at the same time.",
            remedy: "Append whole lines of UTF-8 JSON, each with one write, from one writer at a time.",
        },
        FindingId::ClockAnomaly => Explanation {
            meaning: "A timestamp cannot be read, lies more than a second before the one before it, or \
                times with and without a zone are mixed. Order is taken from the file, so nothing is lost; \
                but a trace whose clock runs back may have been put together afterwards.",
            example: "Line 4 is of 12:00:21, and line 5 of 11:59:58.",
            remedy: "Take times from one clock, in RFC 3339 with a zone, and write events as they happen.",
        },
        FindingId::EventSequence => Explanation {
            meaning: "Only with an execution graph. The trace is no walk through it: nodes and transitions \
                do not alternate or connect, it does not begin at the entry, or a failed one does not end \
                with a failed node.",
            example: "A transition leads from `template_generated` to `preflight_validated`, and the next \
                node is `deployment_executed`.",
            remedy: "Make the producer record every node and the transitions between them.",
        },
        FindingId::GateOverridden => Explanation {
            meaning: "A person decided to go on although the gate said no. That is allowed, and always \
                shown.",
            example: "`security-gate.json` says `OVERRIDDEN`, with an `overrideReason`.",
            remedy: "Make sure that the person was allowed to, and that the reason is written down.",
        },
        FindingId::UndeclaredState => Explanation {
            meaning: "Only with an execution graph. An extra node is harmless: it covers nothing and breaks \
                nothing.",
            example: "The trace has a node `cost_estimated`, and the graph does not know it.",
            remedy: "Declare the node if it belongs there.",
        },
        FindingId::UndeclaredTransition => Explanation {
            meaning: "Only with an execution graph. By itself it is harmless; if it leads past a mandatory \
                node, that node is reported as missing.",
            example: "A transition leads from `template_generated` straight to `deployment_executed`.",
            remedy: "Nothing by itself. Look at the other findings.",
        },
        FindingId::GateLoop => Explanation {
            meaning: "The documented loop: a gate said no, what it is about was done again, and it passed. \
                This is how it should be.",
            example: "`security_gate_evaluated` is `blocked`, `template_generated` completes anew, and the \
                gate passes.",
            remedy: "Nothing.",
        },
        FindingId::EarlierRuns => Explanation {
            meaning: "The trace holds several runs, told apart by their run ids. The run of the last event \
                was judged; the others count for nothing.",
            example: "Lines 1 to 4 have the `run_id` 1, the others have 2.",
            remedy: "Nothing. A file for each run is easier to read.",
        },
        FindingId::OtherTraces => Explanation {
            meaning: "The folder holds more traces than one. One was judged, and the others were not looked \
                into.",
            example: "`trace.jsonl` lies beside `traces/run-1.json`.",
            remedy: "Name the trace that counts with `--trace` or `trace-path`, or remove the others.",
        },
        FindingId::InvokedOnly => Explanation {
            meaning: "The harness wrote down that the step was invoked, and not how it ended. Its absence \
                would be proof; its presence is weaker.",
            example: "A Copilot log has `skill.invoked` for the skill of the security gate, and no end of \
                it.",
            remedy: "Look at what the step left behind, such as its artifact.",
        },
        FindingId::BelowFullCoverage => Explanation {
            meaning: "Mandatory states are missing, but the coverage threshold is under 100 and is met, so \
                they are forgiven. They stay listed as missing.",
            example: "Five of six states are covered, and `coverage_threshold` is 80.",
            remedy: "Raise the threshold to 100 if every essential state is mandatory.",
        },
        FindingId::EvidenceMissing => Explanation {
            meaning: "A state completed, and the artifact that usually lies beside it is not there. Without \
                it the event is all there is.",
            example: "`security_gate_evaluated` completed, and there is no `security-gate.json`.",
            remedy: "Keep the artifact in the deployment folder. `evidence: require` makes its absence a \
                violation.",
        },
        FindingId::OrderUnproven => Explanation {
            meaning: "The timestamps say nothing of the order in which things happened, so it is taken from \
                the file. That is fine for a file that is only ever appended to.",
            example: "All events bear the time at which the trace was written out, at the very end.",
            remedy: "Write the time at which each event happened.",
        },
        FindingId::UnknownStatus => Explanation {
            meaning: "An event has a status word that is not known. It counts as not completed; where that \
                matters, the state is reported as failed.",
            example: "`\"status\": \"finalized\"`.",
            remedy: "Use a word of the status table in docs/trace-format.md, such as `completed` or \
                `failed`.",
        },
    }
}
