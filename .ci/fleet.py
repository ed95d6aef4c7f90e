"""A fleet of deployments with known verdicts: planned, checked shard by shard by processes of their own, and merged.

    python3 .ci/fleet.py [FOLDERS]     10,000 where nobody says; builds the program as the tests do

Every folder is a copy of a fixture, whose case.json tells the verdict. One shard is killed half-way: its file has every report
that it told but the last one, which may be torn. What the other shards did not check either is then not validated; doing all
of it makes up for it."""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARDS = 8


def templates():
    """Fixtures that say in a file which deployment they are of, so that the name of their folder does not matter, and that
    are checked without a model of their own."""
    found = []
    for path in sorted((ROOT / "fixtures").glob("*/case.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        try:
            state = json.loads((path.parent / "state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(state, dict) and isinstance(state.get("deploymentId"), str) and "model" not in case:
            found.append((path.parent, case["expect"]["verdict"]))
    assert len({verdict for _, verdict in found}) == 4, found
    return found


def fleet(root, count):
    """So many deployment folders, and the verdict of each."""
    known = templates()
    expected = {}
    for at in range(count):
        folder, verdict = known[at % len(known)]
        path = f".azure/deployments/deploy-{at:06}"
        shutil.copytree(folder, root / path)
        expected[path] = verdict
    return expected


def reports(path):
    """Verdict by folder, and whether the last line is torn. Every other line has to be whole."""
    *whole, last = path.read_text(encoding="utf-8").split("\n")
    found = [json.loads(line) for line in whole]
    verdicts = {report["folder"]: report["verdict"] for report in found}
    assert len(verdicts) == len(found), f"{path}: a folder is there twice"
    return verdicts, last != ""


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    subprocess.run(["cargo", "build", "--locked", "--quiet"], cwd=ROOT, check=True)
    program = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/process-integrity"
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        expected = fleet(root, count)
        begun = time.monotonic()

        def start(*arguments, to=subprocess.DEVNULL):
            return subprocess.Popen([program, *arguments], cwd=root, stdin=subprocess.DEVNULL, stdout=to)

        planned = subprocess.run(
            [program, "plan", "--shards", str(SHARDS), "--output", "plan.json"], cwd=root, check=True, capture_output=True, text=True
        )
        matrix = json.loads(planned.stdout)["include"]
        assert sum(job["folders"] for job in matrix) == count, matrix
        plan = json.loads((root / "plan.json").read_text(encoding="utf-8"))
        assert {folder["path"] for shard in plan["shards"] for folder in shard["folders"]} == set(expected)

        def shard(job):
            path = root / f"shard-{job['shard']}/report.jsonl"
            path.parent.mkdir(exist_ok=True)
            return path, start("check", "--plan", "plan.json", "--shard", str(job["shard"]), "--format", "json", to=path.open("wb"))

        # One is killed half-way.
        job = matrix[0]
        path, process = shard(job)
        while path.read_bytes().count(b"\n") < job["folders"] // 2 and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "the shard was done before it was killed; take more folders"
        found, torn = reports(path)
        assert job["folders"] // 2 <= len(found) < job["folders"], (len(found), job)
        assert all(expected[folder] == verdict for folder, verdict in found.items())
        print(f"killed after {len(found)} of {job['folders']} reports, {'one torn' if torn else 'none torn'}")
        merge(program, root, {folder: found.get(folder, "not-validated") for folder in expected}, torn)

        found = {}
        for job in matrix:
            path, process = shard(job)
            assert process.wait() == 1, f"shard {job['shard']} ended with {process.returncode}"
            part, torn = reports(path)
            assert not torn and len(part) == job["folders"], job
            assert not found.keys() & part.keys(), "no folder is in two shards"
            found |= part
        wrong = {folder: (verdict, found.get(folder)) for folder, verdict in expected.items() if found.get(folder) != verdict}
        assert not wrong, wrong
        tally = merge(program, root, expected, False)
        print(f"{count} deployments in {SHARDS} shards as expected, {time.monotonic() - begun:.0f} s:", tally)


def merge(program, root, verdicts, torn):
    """One picture of all of it, from what there is: it has these verdicts, and nothing that is lost is verified."""
    files = sorted(str(path.relative_to(root)) for path in root.glob("shard-*/report.jsonl"))
    outputs = ["--markdown", "fleet.md", "--json", "fleet.json", "--html", "fleet.html"]
    command = [program, "merge", "--plan", "plan.json", *outputs, *files]
    code = subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, check=False).returncode
    assert code == 1, f"merge ended with {code}"
    assert all((root / name).stat().st_size > 0 for name in ("fleet.md", "fleet.html"))
    fleet_report = json.loads((root / "fleet.json").read_text(encoding="utf-8"))
    found = {verdict: count for verdict, count in sorted(fleet_report["tally"].items()) if count}
    assert found == dict(sorted(collections.Counter(verdicts.values()).items())), found
    assert fleet_report["deployments"] == len(verdicts) and not fleet_report["verified"], fleet_report["deployments"]
    assert fleet_report["unreadable"] == int(torn), fleet_report["unreadable"]
    return found


main()
