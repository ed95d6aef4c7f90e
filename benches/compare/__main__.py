"""How fast the product is as a whole process, beside a peer that is measured in the same run.

    python3 benches/compare            prints the figures
    python3 benches/compare --write    writes them into docs/performance.md

Only ratios say something on another machine. Every figure is the best of a few runs on one core. It needs a Rust toolchain,
jq, sha256sum and GNU time, and 3 GB of disk for the largest input (--small leaves it out)."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
STATES = [
    "requirements_gathered",
    "template_generated",
    "security_gate_evaluated",
    "preflight_validated",
    "deployment_executed",
    "integration_tests_passed",
]
ROUNDS = 3


class Figure:
    """What one process took: seconds of processor time, and the most memory that it held, in bytes."""

    def __init__(self, seconds, memory):
        self.seconds = seconds
        self.memory = memory


def measure(command, rounds=ROUNDS, where=None):
    """Runs a command on one core a few times; the best counts. GNU time starts it, since what Python starts counts Python's
    own memory as well."""
    best = None
    core = str(min(os.sched_getaffinity(0)))
    for _ in range(rounds):
        with tempfile.NamedTemporaryFile("r") as result:
            timed = ["time", "--format=%U %S %M %x", "--output", result.name] + command
            subprocess.run(["taskset", "--cpu-list", core] + timed, cwd=where, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            user, system, memory, code = result.read().splitlines()[-1].split()
        if code not in ("0", "1"):
            raise SystemExit(f"{command} ended with {code}")
        seconds = float(user) + float(system)
        if best is None or seconds < best.seconds:
            best = Figure(seconds, int(memory) * 1024)
    return best


def line(at, total, run="r1", noise=40, short=False):
    """One event as agents write them, about 150 bytes; the six states are spread evenly over the run. A short one has only
    what has to be there."""
    step = total // len(STATES)
    state = STATES[at // step] if at % step == 0 and at // step < len(STATES) else f"tool_call_{at % noise}"
    second = at // 10
    time = f"2026-10-{1 + second // 86400:02}T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}Z"
    if short:
        return f'{{"timestamp":"{time}","state":"{state}","status":"completed"}}\n'
    return (
        f'{{"timestamp":"{time}","state":"{state}","status":"completed","agent":"git-ape",'
        f'"message":"event number {at} of the run","run_id":"{run}"}}\n'
    )


def trace(path, events, **how):
    with open(path, "w", encoding="utf-8") as file:
        for start in range(0, events, 100_000):
            file.write("".join(line(at, events, **how) for at in range(start, min(start + 100_000, events))))


def execution(path, graph_path, events):
    """An execution trace v1 of so many events, and the graph that it is bound to."""
    graph = json.loads((ROOT / "src/model/deploy-graph.json").read_text())
    first, second = graph["nodes"][0]["id"], graph["nodes"][1]["id"]
    graph["edges"].append({"from": second, "to": first, "requiredEvidence": []})
    text = json.dumps(graph)
    graph_path.write_text(text)
    receipts = {(edge["from"], edge["to"]): edge["requiredEvidence"] for edge in graph["edges"]}
    # An odd number of steps to and fro ends where it began.
    to_and_fro = (events - 15) // 2 | 1
    way = [graph["nodes"][at % 2]["id"] for at in range(to_and_fro)] + [node["id"] for node in graph["nodes"][1:]]
    entries = []
    for at, node in enumerate(way):
        time = "2026-10-05T12:00:00Z"
        if at:
            step = (way[at - 1], node)
            entries.append(
                {"id": f"t{at}", "type": "transition", "from": step[0], "to": step[1], "recordedAt": time,
                 "evidence": receipts[step]}
            )
        entries.append(
            {"id": f"n{at}", "type": "node", "node": node, "status": "completed", "recordedAt": time, "evidence": [],
             "result": None}
        )
    digest = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    document = {
        "schemaVersion": "git-ape-execution-trace/v1", "traceId": "t", "invocationId": "i", "workflow": "w",
        "producer": {"type": "workflow", "identity": "x"}, "graph": {"path": "graph.json", "digest": digest},
        "startedAt": "2026-10-05T12:00:00Z", "endedAt": "2026-10-05T12:00:00Z", "outcome": "succeeded", "events": entries,
    }
    path.write_text(json.dumps(document))
    return digest, len(entries)


def fleet(folder, count):
    """So many deployment folders as git-ape leaves them: a run of ten events, results, state, and artifacts."""
    for number in range(count):
        deployment = folder / f".azure/deployments/deploy-{number:06}"
        deployment.mkdir(parents=True)
        states = [name for at, state in enumerate(STATES) for name in ([state, f"tool_call_{at}"] if at < 4 else [state])]
        events = [line(at, 10) for at in range(10)]
        events = [json.dumps(json.loads(event) | {"state": state}) + "\n" for event, state in zip(events, states)]
        (deployment / "trace.jsonl").write_text("".join(events))
        documents = {
            "state.json": {"deploymentId": deployment.name, "status": "succeeded", "timestamp": "2026-10-05T12:08:00Z"},
            "tests.json": {
                "status": "passed",
                "resources": [{"name": "func", "type": "Microsoft.Web/sites", "provisioningState": "Succeeded"}],
                "endpoints": "\n- func: https://func.example \u2192 HTTP 200",
            },
            "security-gate.json": {"gate": "PASSED"},
            "requirements.json": {"resources": ["func"]},
            "template.json": {"resources": [{"type": "Microsoft.Web/sites", "name": "x" * 200}] * 10},
        }
        for name, document in documents.items():
            (deployment / name).write_text(json.dumps(document))
        (deployment / "preflight-report.md").write_text("# Preflight\n" * 50)


def build(folder):
    """The program as the image ships it, and a program that does nothing."""
    subprocess.run(["cargo", "build", "--profile", "dist", "--locked", "--quiet"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    empty = folder / "empty.rs"
    empty.write_text("fn main() {}\n")
    rustc = ["rustc", "-O", "-C", "target-feature=+crt-static", "-o", str(folder / "empty"), str(empty)]
    subprocess.run(rustc, check=True)
    return str(target / "dist/process-integrity"), str(folder / "empty")


def mebibytes(memory):
    return f"{memory / 2**20:.1f} MiB"


def main():
    small = "--small" in sys.argv
    for tool in ("cargo", "jq", "sha256sum", "taskset", "time"):
        if not shutil.which(tool):
            raise SystemExit(f"{tool} is needed, and not there")
    rows = []

    def row(what, goal, figure, peer, peer_figure, ratio):
        rows.append((what, goal, f"{figure.seconds:.3f} s, {mebibytes(figure.memory)}", peer, f"{peer_figure.seconds:.3f} s", ratio))
        print(" | ".join(rows[-1]), flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, empty = build(folder)

        # A normal folder.
        normal = str(ROOT / "fixtures/verified-success__fallback")
        many = ["sh", "-c", 'for i in $(seq 100); do "$@" > /dev/null; done', "sh"]
        ours, nothing = measure(many + [program, "check", normal]), measure(many + [empty])
        for figure in (ours, nothing):
            figure.seconds /= 100
        row("A normal folder, whole process", "5 ms, 8 MiB", ours, "an empty static program", nothing,
            f"{(ours.seconds - nothing.seconds) * 1e3:.1f} ms more")

        # Ten thousand of them in one process.
        fleet(folder, 10_000)
        all_of_them = ".azure/deployments/*"
        ours = measure([program, "check", "--format", "json", all_of_them], where=folder)
        peer = measure(["sh", "-c", "find .azure -type f -print0 | xargs -0 cat"], where=folder)
        row("10,000 normal folders, one process", "10 s, 64 MiB", ours, "cat of the same files", peer,
            f"{ours.seconds / peer.seconds:.1f} times")
        ours = measure([program, "plan", "--output", "plan.json", all_of_them], where=folder)
        row("Planning them", "", ours, "cat of the same files", peer, f"{ours.seconds / peer.seconds:.1f} times")

        # 100,000 events.
        events = 100_000
        path = folder / "trace.jsonl"
        trace(path, events)
        ours = measure([program, "check", "--trace", str(path)])
        states = ["--argjson", "states", json.dumps(STATES)]
        peer = measure(["jq", "-n", "--stream", *states, "-f", str(HERE / "stream.jq"), str(path)], rounds=1)
        times = peer.seconds / ours.seconds
        row("100,000 events of trace.jsonl", "30 times faster", ours, "jq --stream, a subsequence of six states", peer,
            f"{times:.0f} times faster")
        peer = measure(["jq", "-n", *states, "-f", str(HERE / "subsequence.jq"), str(path)])
        times = peer.seconds / ours.seconds
        row("100,000 events of trace.jsonl", "", ours, "jq, record by record, a subsequence of six states", peer,
            f"{times:.0f} times faster")

        v1, graph = folder / "run.json", folder / "graph.json"
        digest, count = execution(v1, graph, events)
        ours = measure([program, "check", "--trace", str(v1), "--model", str(graph)])
        jq = ["jq", "-c", "--slurpfile", "graph", str(graph), "--arg", "digest", digest, "-f", str(HERE / "codes.jq"), str(v1)]
        peer = measure(jq, rounds=1)
        row(f"{count:,} events of an execution trace v1", "100 times faster", ours, "jq, the twelve codes", peer,
            f"{peer.seconds / ours.seconds:.0f} times faster")

        # Learning.
        goldens = []
        for number in range(10):
            golden = folder / f"golden-{number}.jsonl"
            trace(golden, events, run=f"r{number}")
            goldens.append(str(golden))
        ours = measure([program, "learn", "--output", str(folder / "model.json")] + goldens)
        checks = [measure([program, "check", "--trace", golden], rounds=1) for golden in goldens]
        reading = Figure(sum(check.seconds for check in checks), max(check.memory for check in checks))
        row("Learning from 10 traces of 100,000 events", "1 s, 64 MiB", ours, "reading each of them once", reading,
            f"{ours.seconds / reading.seconds:.1f} times")

        # Growth, and noise.
        before = None
        # A trace may have 1 GiB; ten million events fit into that where they are short.
        sizes = [(10**4, False), (10**5, False), (10**6, False)] + ([] if small else [(6_800_000, False), (10**7, True)])
        for events, short in sizes:
            trace(path, events, short=short)
            rounds = 1 if events > 10**6 else ROUNDS
            ours = measure([program, "check", "--trace", str(path)], rounds=rounds)
            peer = measure(["sha256sum", str(path)], rounds=rounds)
            growth = f"; {ours.seconds / max(before, 0.01):.1f} times the row before" if before else ""
            before = ours.seconds
            size = path.stat().st_size / 1e6
            row(f"{events:,} events, {size:,.0f} MB", "2 times sha256sum, 16 MiB", ours, "sha256sum", peer,
                # GNU time counts hundredths.
                f"{ours.seconds / max(peer.seconds, 0.01):.2f} times{growth}")
        events = 10**6
        for noise in (40, 100_000):
            trace(path, events, noise=noise)
            ours = measure([program, "check", "--trace", str(path)])
            peer = measure(["sha256sum", str(path)])
            row(f"{events:,} events with {noise:,} other states", "no difference", ours, "sha256sum", peer,
                f"{ours.seconds / peer.seconds:.2f} times")

    bench = subprocess.run(["cargo", "bench", "--locked", "--quiet"], cwd=ROOT, check=True, capture_output=True, text=True)
    parts = [line for line in bench.stdout.splitlines() if " time: " in line or line.endswith(" ms")]
    print("\n".join(parts), flush=True)

    table = ["| What | Aim | Measured | Peer | Measured | Ratio |", "|---|---|---|---|---|---|"]
    table += [f"| {' | '.join(row)} |" for row in rows]
    if "--write" in sys.argv:
        page = ROOT / "docs/performance.md"
        text = page.read_text(encoding="utf-8")
        head, rest = text.split("<!-- whole processes -->\n", 1)
        _, tail = rest.split("<!-- end of whole processes -->", 1)
        text = head + "<!-- whole processes -->\n" + "\n".join(table) + "\n<!-- end of whole processes -->" + tail
        head, rest = text.split("<!-- parts -->\n", 1)
        _, tail = rest.split("<!-- end of parts -->", 1)
        block = "```text\n" + "\n".join(parts) + "\n```\n"
        page.write_text(head + "<!-- parts -->\n" + block + "<!-- end of parts -->" + tail, encoding="utf-8")


main()
