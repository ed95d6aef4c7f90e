"""What has to be so when the action runs in its container."""

import concurrent.futures
import json
import os
import pathlib
import signal
import statistics
import subprocess
import time

from engine import DOCKER, run
from github import GitHub
from step import OWNER, REPOSITORY, Step, state

SKIPPED = "process-violation__gate-skipped-fallback"
VERIFIED = "verified-success__fallback"
LEVELS = {"verified-success": "notice", "deployment-failure": "error"}
WORKERS = 3


class Checks:
    """Counts what held and says what did not."""

    def __init__(self, root, image):
        self.root, self.image = pathlib.Path(root), image
        self.passed = self.failed = 0

    def that(self, what, holds, got=""):
        """One check."""
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED  {what}: {got}", flush=True)

    def same(self, what, expected, got):
        """One check of two values."""
        self.that(what, expected == got, f"expected {expected!r}, got {got!r}")

    def step(self, *fixtures):
        """A step with these deployments."""
        step = Step(self.root, self.image)
        for name in fixtures:
            step.deployment(REPOSITORY / "fixtures" / name)
        return step

    def run(self, step, new=()):
        """Runs a step as a job does, and checks what is true of every run. Returns what it printed."""
        step.own()
        before = step.files()
        begun = time.monotonic()
        process = step.start()
        printed, complained = process.communicate(timeout=120)
        step.seconds = time.monotonic() - begun
        self.same(f"{step.name}: exit code ({complained})", 0, process.returncode)
        after = step.files()
        self.same(f"{step.name}: files left behind", set(new), set(after) - set(before))
        changed = {name for name, seen in before.items() if after.get(name) != seen}
        self.same(f"{step.name}: files changed", set(), changed)
        return printed

    def annotations(self, what, printed, verdict):
        """The verdict is the first annotation, on its level, and the runner drops none."""
        commands = [line for line in printed.splitlines() if line.startswith("::")]
        levels = [line[2:].split(" ")[0] for line in commands]
        level, title = LEVELS.get(verdict, "warning"), verdict.upper().replace("-", " ")
        first = f"::{level} title=Process Integrity%3A {title}::"
        self.that(f"{what}: annotation", any(line.startswith(first) for line in commands), commands)
        self.that(f"{what}: ten annotations of a type", all(levels.count(kind) <= 10 for kind in levels), levels)
        self.that(f"{what}: known commands", set(levels) <= {"error", "warning", "notice"}, levels)


def fixture(checks, folder):
    """A fixture gives, as an action, what its case.json expects."""
    case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    expected, what = case["expect"], folder.name
    step = checks.step(what)
    if "model" in case:
        step.inputs["model-path"] = f".azure/deployments/{what}/{case['model']}"
    printed = checks.run(step)
    outputs = step.outputs()
    checks.same(f"{what}: verdict", expected["verdict"], outputs.get("verdict"))
    if "covered" in expected and "essential" in expected:
        checks.same(f"{what}: coverage", f"{expected['covered']}/{expected['essential']}", outputs.get("coverage"))
    if "missing" in expected:
        checks.same(f"{what}: missing states", ",".join(expected["missing"]), outputs.get("missing-states"))
    if "false_success" in expected:
        checks.same(f"{what}: false success", str(expected["false_success"]).lower(), outputs.get("false-success"))
    for name in ("health", "claim"):
        if name in expected:
            checks.same(f"{what}: {name}", expected[name], outputs.get(name))
    checks.that(f"{what}: summary", "### Process Integrity" in step.summary(), step.summary()[:200])
    checks.annotations(what, printed, expected["verdict"])


def fixtures(checks):
    """All of them."""
    folders = sorted(path.parent for path in (REPOSITORY / "fixtures").glob("*/case.json"))
    checks.that("there are fixtures", len(folders) >= 89, len(folders))
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda folder: fixture(checks, folder), folders))
    return len(folders)


def git(workspace, *arguments):
    """Runs git in a workspace, without the settings of whoever runs this."""
    quiet = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"]}
    owner = ("-c", "safe.directory=*", "-c", "user.name=mona", "-c", "user.email=mona@users.example")
    return run("git", "-C", workspace, *owner, *arguments, environment=quiet).stdout.strip()


def repository(checks):
    """A checked out repository of two deployments: the newest is judged, a report is written, nothing else changes."""
    step = checks.step(SKIPPED, VERIFIED)
    newest = step.workspace / ".azure/deployments" / VERIFIED / "state.json"
    newest.write_text(newest.read_text("utf-8").replace("2026-10-05T12:08:00Z", "2026-10-06T12:08:00Z"), "utf-8")
    git(step.workspace, "init", "--quiet", "--initial-branch=main")
    git(step.workspace, "add", ".")
    git(step.workspace, "commit", "--quiet", "--message", "Deploy")
    step.variables["GITHUB_SHA"] = git(step.workspace, "rev-parse", "HEAD")
    step.inputs["report-path"] = "reports/integrity.json"
    checks.run(step, ["orders/orders/reports", "orders/orders/reports/integrity.json"])
    checks.same("repository: verdict", "verified-success", step.outputs().get("verdict"))
    checks.same("repository: report-path", "reports/integrity.json", step.outputs().get("report-path"))
    checks.that("repository: commit", step.variables["GITHUB_SHA"] in step.summary(), step.summary()[-400:])
    report = step.workspace / "reports/integrity.json"
    for path in (report, report.parent):
        found = path.stat()
        checks.same(f"repository: owner of {path.name}", OWNER, (found.st_uid, found.st_gid))
    checks.same("repository: report", "verified-success", json.loads(report.read_text("utf-8"))["verdict"])
    checks.same("repository: git status", "?? reports/", git(step.workspace, "status", "--porcelain"))


def outside(checks):
    """What is bound into the container beside the workspace is neither judged nor written to."""
    step = checks.step()
    folder = checks.root / "outside"
    (folder / "deployment").mkdir(parents=True)
    (folder / "deployment/trace.jsonl").write_text('{"state":"requirements_gathered","status":"completed"}\n', "utf-8")
    (step.workspace / ".azure/deployments").mkdir(parents=True)
    (step.workspace / ".azure/deployments/linked").symlink_to("/outside/deployment")
    (step.workspace / "out").symlink_to("/outside")
    step.folders["/outside"] = folder
    step.inputs["deployment-dir"] = ".azure/deployments/linked\n/outside/deployment"
    step.inputs["report-path"] = "out/report.json"
    before = {path: state(path) for path in folder.rglob("*")}
    printed = checks.run(step)
    checks.same("outside: untouched", before, {path: state(path) for path in folder.rglob("*")})
    checks.same("outside: verdict", "process-violation", step.outputs().get("verdict"))
    checks.same("outside: coverage", "0/6", step.outputs().get("coverage"))
    checks.that("outside: the report is refused", "report cannot be written" in printed, printed[-600:])


def empty(checks):
    """A job that forgot to check out still gets an answer."""
    step = checks.step()
    printed = checks.run(step)
    checks.same("empty: verdict", "process-violation", step.outputs().get("verdict"))
    checks.that("empty: finding", "trace-missing" in printed, printed[-600:])


def comment(checks):
    """A comment is posted over TLS, by an authority in the workspace; without it, the failure is a warning."""
    for trusted in (True, False):
        step = checks.step(SKIPPED)
        with GitHub(checks.root) as github:
            step.network = ["--network", "host"]
            step.inputs["github-token"] = "the-very-token"
            step.event("pull_request", {"action": "opened", "number": 7, "pull_request": {"number": 7}})
            step.variables |= {
                "GITHUB_API_URL": github.address,
                "GITHUB_GRAPHQL_URL": f"{github.address}/graphql",
                "GITHUB_REF": "refs/pull/7/merge",
            }
            if trusted:
                (step.workspace / "authority.pem").write_bytes(github.certificate.read_bytes())
                step.variables["SSL_CERT_FILE"] = "/github/workspace/authority.pem"
            printed = checks.run(step)
            outputs = step.outputs()
            checks.same("comment: verdict", "process-violation", outputs.get("verdict"))
            if trusted:
                checks.same("comment: status", "created", outputs.get("comment-status"))
                checks.same("comment: posted once", 1, len(github.comments))
                checks.that("comment: body", "PROCESS VIOLATION" in github.comments[0]["body"] if github.comments else False)
            else:
                # Built with the authorities in the image, the client stands, and refuses this one.
                checks.that("comment: refused", outputs.get("comment-status") in ("error", "server-error"), outputs)
                checks.same("comment: nothing posted", 0, len(github.comments))
            checks.that("comment: the token is not shown", "the-very-token" not in printed + step.summary(), printed)


def signals(checks):
    """As PID 1 it ends at once and with 0 when the job is cancelled: the runner signals its client, which passes it on."""
    for number in (signal.SIGINT, signal.SIGTERM):
        step = checks.step(SKIPPED)
        # Nobody reads from this pipe, so that the step is not over before the signal comes.
        step.commands["set_output"].unlink()
        os.mkfifo(step.commands["set_output"])
        step.own()
        process = step.start()
        end = time.monotonic() + 20
        name = ("container", "inspect", "--format", "{{.State.Running}}", step.name)
        while time.monotonic() < end and run(DOCKER, *name, check=False).stdout.strip() != "true":
            time.sleep(0.05)
        time.sleep(0.7)
        checks.that(f"{number.name}: it still runs", process.poll() is None)
        begun = time.monotonic()
        process.send_signal(number)
        try:
            printed, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            run(DOCKER, "kill", step.name, check=False)
            printed, _ = process.communicate()
        checks.that(f"{number.name}: at once", time.monotonic() - begun < 3, f"{time.monotonic() - begun:.1f} s")
        checks.same(f"{number.name}: exit code", 0, process.returncode)
        checks.that(f"{number.name}: it says so", "cancelled" in printed, printed[-400:])


def start_up(checks, nothing, rounds=15):
    """The time of a step beside that of an image whose program does nothing, since either says as much of the machine."""
    ours, others = [], []
    for _ in range(rounds):
        for image, times in ((checks.image, ours), (nothing, others)):
            step = checks.step(VERIFIED)
            step.image = image
            begun = time.monotonic()
            process = step.start()
            process.communicate(timeout=60)
            times.append(time.monotonic() - begun)
            checks.same("start-up: exit code", 0, process.returncode)
    ours, others = statistics.median(ours) * 1000, statistics.median(others) * 1000
    print(f"start-up: {ours:.0f} ms for a whole step, {others:.0f} ms for an image that does nothing (medians of {rounds})")
    checks.that("start-up: under a second more than nothing", ours - others < 1000, f"{ours - others:.0f} ms")
