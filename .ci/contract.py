"""Proves that GitHub's own description of its API refuses no request of the program.

The program runs as the action does. Its GitHub is the proxy in this file, which hands every request to Prism, a mock server
that checks it against the description. Prism answers with the description's examples, and the program has to be able to read
those. Only where the flow needs a state that no example has, such as a comment of our own, the proxy puts a smaller body in
place of Prism's; the request was checked all the same.
"""

import contextlib
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

CACHE = Path(".ci/cache/contract")
PACKAGE = Path(".ci/contract-package/package.json")
DESCRIPTION = CACHE / "node_modules/@octokit/openapi/generated/api.github.com.json"
PRISM = CACHE / "node_modules/@stoplight/prism-cli/dist/index.js"

# What may take how long, in seconds. Everything ends, whatever hangs.
INSTALLATION, BUILD, START, ANSWER, RUN = 300, 900, 60, 20, 45

# What the program asks of GitHub. Each has to be seen, and nothing else is known to Prism: a new one has to be added here.
REPO = "/repos/{owner}/{repo}"
ROUTES = [
    ("GET", "/user"),
    ("GET", f"{REPO}/commits"),
    ("GET", f"{REPO}/commits/{{ref}}"),
    ("GET", f"{REPO}/commits/{{commit_sha}}/pulls"),
    ("GET", f"{REPO}/pulls"),
    ("GET", f"{REPO}/issues"),
    ("POST", f"{REPO}/issues"),
    ("PATCH", f"{REPO}/issues/{{issue_number}}"),
    ("GET", f"{REPO}/issues/{{issue_number}}/comments"),
    ("POST", f"{REPO}/issues/{{issue_number}}/comments"),
    ("PATCH", f"{REPO}/issues/comments/{{comment_id}}"),
    ("DELETE", f"{REPO}/issues/comments/{{comment_id}}"),
]

REPOSITORY = "octo/orders"
OURS = f"/repos/{REPOSITORY}"
SHA = "0123456789abcdef0123456789abcdef01234567"
SKIPPED = "process-violation__gate-skipped-fallback"
VERIFIED = "verified-success__fallback"

# Requests that have to be refused, of each body at least one. While Prism lets one of them pass, it proves nothing that it
# lets ours pass: a schema that it cannot compile it skips, silently.
WRONG = [
    ("a path that there is not", "GET", f"{OURS}/issue", None),
    ("a method that there is not", "PUT", f"{OURS}/issues", {"title": "t"}),
    ("a state that there is not", "GET", f"{OURS}/pulls?state=merged", None),
    ("a page that is no number", "GET", f"{OURS}/issues?page=last", None),
    ("a parameter that there is not", "GET", f"{OURS}/issues?pages=1", None),
    ("a comment without a text", "POST", f"{OURS}/issues/5/comments", {}),
    ("a comment with a key", "POST", f"{OURS}/issues/5/comments", {"body": "b", "key": "k"}),
    ("a comment that gets no text", "PATCH", f"{OURS}/issues/comments/1", {"text": "b"}),
    ("a comment on what is no number", "POST", f"{OURS}/issues/five/comments", {"body": "b"}),
    ("labels that are no list", "POST", f"{OURS}/issues", {"title": "t", "labels": "l"}),
    ("a field that there is not", "POST", f"{OURS}/issues", {"title": "t", "label": ["l"]}),
    ("a reason that there is not", "PATCH", f"{OURS}/issues/7", {"state": "closed", "state_reason": "twice"}),
]


class Trouble(Exception):
    """The test cannot go on."""


@contextlib.contextmanager
def started(command, **options):
    """A process, and everything that it starts, which does not outlive the block."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    except OSError as error:
        raise Trouble(f"{command[0]} cannot be started: {error}") from None
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(command, seconds, **options):
    """Runs a command to its end, and gives what it printed where that is asked for."""
    with started(command, **options) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Trouble(f"not done after {seconds} s: {' '.join(map(str, command))}") from None
    if process.returncode != 0:
        shown = f"\n{output.decode(errors='replace')}" if output else ""
        raise Trouble(f"exit code {process.returncode}: {' '.join(map(str, command))}{shown}")
    return output


def install():
    node = run(["node", "--version"], ANSWER, stdout=subprocess.PIPE).decode()
    key, done = PACKAGE.read_text() + node, CACHE / "key"
    if done.is_file() and done.read_text() == key:
        return
    shutil.rmtree(CACHE, ignore_errors=True)
    CACHE.mkdir(parents=True)
    shutil.copy(PACKAGE, CACHE)
    flags = ["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    run(["npm", "install", "--prefix", str(CACHE), *flags], INSTALLATION)
    # The descriptions of other servers are 400 MB that nobody reads.
    for other in DESCRIPTION.parent.glob("*.json"):
        if other != DESCRIPTION:
            other.unlink()
    # Last, so that an installation that was cut short is done again.
    done.write_text(key)


def build():
    """Gives the program. Where it lies is cargo's to say: its target folder can be set in several ways."""
    command = ["cargo", "build", "--locked", "--message-format=json-render-diagnostics"]
    for line in run(command, BUILD, stdout=subprocess.PIPE).splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "process-integrity":
            return message["executable"]
    raise Trouble("cargo built no program")


class Description:
    """GitHub's description, cut down to our requests: Prism needs 20 s and 300 MB for the whole of it."""

    def __init__(self):
        whole = json.loads(DESCRIPTION.read_text())
        paths = {}
        for method, route in ROUTES:
            try:
                operation = whole["paths"][route][method.lower()]
            except KeyError:
                raise Trouble(f"the description does not know {method} {route}") from None
            for media in operation.get("requestBody", {}).get("content", {}).values():
                # GitHub ignores a field that it does not know, so that a misspelt one would do nothing, silently.
                media["schema"].setdefault("additionalProperties", False)
                self.mend(media["schema"])
            # Some of GitHub's examples do not fit GitHub's schemas. Requests are what is checked here.
            for response in operation["responses"].values():
                for media in response.get("content", {}).values():
                    media.pop("schema", None)
            paths.setdefault(route, {})[method.lower()] = operation
        self.paths, self.components, self.whole = paths, {}, whole
        waiting = [paths]
        while waiting:
            for reference in re.findall(r'"\$ref": "#/components/([^"]+)"', json.dumps(waiting.pop())):
                kind, name = reference.split("/")
                kept = self.components.setdefault(kind, {})
                if name not in kept:
                    kept[name] = whole["components"][kind][name]
                    waiting.append(kept[name])

    def mend(self, schema):
        """Removes "nullable" where no type stands beside it: it means nothing there, and makes Prism skip the schema."""
        if isinstance(schema, dict):
            if schema.get("nullable") is True and "type" not in schema:
                del schema["nullable"]
            schema = list(schema.values())
        if isinstance(schema, list):
            for part in schema:
                self.mend(part)

    def write(self, file):
        head = {key: self.whole[key] for key in ("openapi", "info", "servers")}
        file.write_text(json.dumps({**head, "paths": self.paths, "components": self.components}))

    def route(self, method, path):
        """The route of a path. No two of ours fit the same path."""
        for route, operations in self.paths.items():
            if method.lower() in operations and re.fullmatch(re.sub(r"{\w+}", "[^/]+", route), path):
                return route
        return None

    def unknown(self, method, path, query):
        """The parameters of a query that the description does not have; Prism lets them pass, as GitHub does."""
        route = self.route(method, path)
        if route is None:
            return []
        known = set()
        for parameter in self.paths[route][method.lower()].get("parameters", []):
            if "$ref" in parameter:
                parameter = self.components["parameters"][parameter["$ref"].split("/")[-1]]
            if parameter["in"] == "query":
                known.add(parameter["name"])
        return sorted(set(urllib.parse.parse_qs(query, keep_blank_values=True)) - known)


class Call:
    """One request, what Prism answered, and why it was refused, if it was."""

    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.path, _, self.query = target.partition("?")
        self.page = urllib.parse.parse_qs(self.query).get("page", ["1"])[0]
        self.status, self.answer, self.kind, self.refused = 502, b"", None, None

    def check(self, port, description):
        """Has it checked: by Prism, and for what Prism does not look at."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER)
        try:
            connection.request(self.method, self.target, self.body, self.headers)
            response = connection.getresponse()
            self.status, self.answer, self.kind = response.status, response.read(), response.headers["content-type"]
            violations = response.headers["sl-violations"]
        except (OSError, http.client.HTTPException) as error:
            self.refused = f"Prism does not answer: {error}"
            return
        finally:
            connection.close()
        if violations or self.status >= 400:
            answer = self.answer.decode(errors="replace")
            self.refused = f"{self.status} {violations or answer}"
        elif unknown := description.unknown(self.method, self.path, self.query):
            self.refused = f"the description has no parameter {', '.join(unknown)}"

    def __str__(self):
        headers = [f"{name}: {value}" for name, value in self.headers.items() if name.lower() != "authorization"]
        body = self.body.decode(errors="replace")
        cut = body if len(body) <= 2000 else f"{body[:2000]}… ({len(body)} characters)"
        return "\n".join(["", f"{self.method} {self.target}", *headers, "", cut, f"refused: {self.refused}", ""])


class Proxy(http.server.ThreadingHTTPServer):
    """Hands every request to Prism, remembers it, and answers for GitHub where the scenario says so."""

    daemon_threads = True

    def __init__(self, port, description):
        super().__init__(("127.0.0.1", 0), Handler)
        self.prism, self.description = port, description
        self.calls, self.answers = [], {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one(self):
        length = int(self.headers["content-length"] or 0)
        own = {"host", "connection", "content-length"}
        headers = {name: value for name, value in self.headers.items() if name.lower() not in own}
        call = Call(self.command, self.path, headers, self.rfile.read(length))
        call.check(self.server.prism, self.server.description)
        self.server.calls.append(call)
        body, link = call.answer, None
        # The answer to a refused request stays as it is: the program may not be helped over it.
        if call.refused is None and (answer := self.server.answers.get((call.method, call.path))):
            value, link = answer(call)
            body = body if value is None else json.dumps(value).encode()
        self.send_response(call.status)
        if call.kind:
            self.send_header("content-type", call.kind)
        if link:
            self.send_header("link", link)
        if call.status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if call.status != 204:
            self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_one

    def log_message(self, *_):
        """Says nothing: what matters is printed at the end."""


class Scenario:
    """One run of the action: what it finds, what GitHub says, what it has to ask for, and what has to come of it."""

    def __init__(self, name, event, inputs, answers, calls, outputs, event_file=None, folders=(SKIPPED,)):
        self.name, self.event, self.inputs, self.event_file = name, event, inputs, event_file or {}
        self.answers, self.calls, self.outputs, self.folders = answers, calls, outputs, folders

    def environment(self, root, run, port):
        workspace = root / "workspace"
        for folder in self.folders:
            shutil.copytree(Path("fixtures") / folder, workspace / ".azure/deployments" / folder)
        (root / "event.json").write_text(json.dumps(self.event_file))
        variables = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": f"http://127.0.0.1:{port}",
            "GITHUB_EVENT_NAME": self.event,
            "GITHUB_EVENT_PATH": str(root / "event.json"),
            "GITHUB_OUTPUT": str(root / "output"),
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": str(run),
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_SHA": SHA,
            "GITHUB_STEP_SUMMARY": str(root / "summary"),
            "GITHUB_WORKSPACE": str(workspace),
            "INPUT_GITHUB-TOKEN": "no-secret",
            "INPUT_COMMENT-KEY": "contract",
        }
        # Nothing of a real runner's gets through, only where the certificates are: a client without any cannot be made.
        kept = {name: os.environ[name] for name in ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ}
        return {**kept, **variables, **{f"INPUT_{name.upper()}": value for name, value in self.inputs.items()}}

    def play(self, program, proxy, run_id):
        """Runs the action, and gives what is wrong with how it went."""
        begin, proxy.answers = len(proxy.calls), self.answers
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            environment = self.environment(root, run_id, proxy.server_port)
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            log = run([program], RUN, env=environment, cwd=root / "workspace", **pipes).decode(errors="replace")
            said = [line for line in log.splitlines() if line.startswith("::")]
            outputs = dict(re.findall(r"^(\S+?)<<(?:.*)\n(.*)$", (root / "output").read_text(), re.MULTILINE))
        calls = {f"{call.method} {call.path}" for call in proxy.calls[begin:]}
        wrong = [f"{call} was not seen" for call in self.calls if call not in calls]
        for name, value in self.outputs.items():
            if outputs.get(name) != value:
                wrong.append(f"the output {name} is {outputs.get(name)}, not {value}")
        return [*wrong, *said] if wrong else []


def scenarios(proxy, account):
    """What is written in one is found in a later one, so that no marker has to be known here."""

    def written(*requests):
        """The text that the last of these requests brought."""
        sent = [call for call in proxy.calls if (call.method, call.path) in requests]
        return json.loads(sent[-1].body)["body"] if sent else None

    def page_of_pulls(sha):
        return [{"number": 5, "head": {"sha": sha}, "base": {"repo": {"full_name": REPOSITORY}}}], None

    def comment(number):
        """A comment as it is by now: as it was created, renewed or removed."""
        path = f"{OURS}/issues/comments/{number}"
        if any((call.method, call.path) == ("DELETE", path) for call in proxy.calls):
            return []
        body = written(("PATCH", path)) or written(("POST", f"{OURS}/issues/5/comments"))
        return [{"id": number, "user": account, "body": body}]

    def own_issue(_):
        body = written(("POST", f"{OURS}/issues"))
        return ([{"number": 7, "user": account, "body": body, "html_url": "issue-7"}] if body else None), None

    # The commit that the description's example of a list has, and so the one whose pull requests are asked for.
    example = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
    last = '<http://127.0.0.1/commits?page=3>; rel="last"'
    following = '<http://127.0.0.1/comments?page=2>; rel="next"'
    issue = {"comment": "never", "create-issue": "true"}
    return [
        Scenario(
            "a push to one of two folders writes a comment",
            event="push",
            inputs={},
            folders=(SKIPPED, VERIFIED),
            answers={("GET", f"{OURS}/commits/{SHA}/pulls"): lambda _: page_of_pulls(SHA)},
            calls=[
                f"GET {OURS}/commits/{SHA}",
                f"GET {OURS}/commits/{SHA}/pulls",
                f"GET {OURS}/issues/5/comments",
                f"POST {OURS}/issues/5/comments",
            ],
            outputs={"comment-status": "created", "status": "ok"},
        ),
        Scenario(
            "a run by hand renews the comment, and removes a duplicate on the second page",
            event="workflow_dispatch",
            inputs={"deployment-dir": f".azure/deployments/{VERIFIED}"},
            folders=(VERIFIED,),
            answers={
                ("GET", f"{OURS}/commits"): lambda _: (None, last),
                ("GET", f"{OURS}/commits/{example}/pulls"): lambda _: page_of_pulls(example),
                ("GET", f"{OURS}/issues/5/comments"): lambda call: (
                    (comment(11), following) if call.page == "1" else (comment(12), None)
                ),
            },
            calls=[
                f"GET {OURS}/commits",
                f"GET {OURS}/commits/{example}/pulls",
                "GET /user",
                f"PATCH {OURS}/issues/comments/11",
                f"DELETE {OURS}/issues/comments/12",
            ],
            outputs={"comment-status": "updated", "status": "ok"},
        ),
        Scenario(
            "an issue with labels and assignees is opened, and closed as there is an older one",
            event="pull_request",
            inputs={**issue, "issue-labels": "process-integrity, a b", "issue-assignees": "octocat, hubot"},
            answers={("GET", f"{OURS}/issues"): own_issue},
            # The one that is closed has the number that Prism's answer gives it.
            calls=[f"GET {OURS}/issues", f"POST {OURS}/issues", f"PATCH {OURS}/issues/1347"],
            outputs={"comment-status": "off", "issue-url": "issue-7", "status": "ok"},
        ),
        Scenario(
            "a recovery is told on the issue",
            event="pull_request",
            inputs=issue,
            folders=(VERIFIED,),
            answers={("GET", f"{OURS}/issues"): own_issue},
            calls=[f"GET {OURS}/issues/7/comments", f"POST {OURS}/issues/7/comments"],
            outputs={"issue-url": "issue-7", "status": "ok"},
        ),
        Scenario(
            "a fork's branch is looked for by a name that has to be encoded",
            event="workflow_run",
            inputs={},
            event_file={
                "workflow_run": {
                    "head_sha": SHA,
                    "head_branch": "feature/über & more",
                    "head_repository": {"owner": {"login": "fork"}},
                    "pull_requests": [],
                }
            },
            answers={("GET", f"{OURS}/pulls"): lambda _: page_of_pulls(SHA)},
            calls=[f"GET {OURS}/pulls", f"POST {OURS}/issues/5/comments"],
            outputs={"comment-status": "created", "status": "ok"},
        ),
    ]


def await_prism(process, port, description):
    """Waits until Prism answers, and gives the account that it says we are."""
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        call = Call("GET", "/user", {}, b"")
        call.check(port, description)
        if call.refused is None:
            return json.loads(call.answer)
        time.sleep(0.1)
    raise Trouble("Prism did not start")


def controls(port, description):
    """The wrong requests that were let through."""
    for name, method, target, body in WRONG:
        content = b"" if body is None else json.dumps(body).encode()
        call = Call(method, target, {"content-type": "application/json"} if content else {}, content)
        call.check(port, description)
        if call.refused is None:
            yield f"{name} is not refused: {method} {target}"


def everything():
    install()
    description = Description()
    file, log = CACHE / "description.json", CACHE / "prism.log"
    description.write(file)
    with contextlib.ExitStack() as stack:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = ["node", str(PRISM), "mock", "--host", "127.0.0.1", "--port", str(port), "--errors", str(file)]
        output = stack.enter_context(log.open("wb"))
        prism = stack.enter_context(started(command, stdout=output, stderr=subprocess.STDOUT))
        program = build()
        try:
            account = await_prism(prism, port, description)
        except Trouble as trouble:
            raise Trouble(f"{trouble}:\n{log.read_text(errors='replace')}") from None
        wrong = list(controls(port, description))
        proxy = stack.enter_context(Proxy(port, description))
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        stack.callback(proxy.shutdown)
        for number, scenario in enumerate(scenarios(proxy, account), start=1):
            problems = scenario.play(program, proxy, number)
            wrong += [f"{scenario.name}: {problem}" for problem in problems]
            print("ok     " if not problems else "FAILED ", scenario.name)
    return judge(proxy.calls, description, wrong)


def judge(calls, description, wrong):
    """Prints what was seen, and gives whether all is well."""
    # A route that is none of ours is shown as the path that it is.
    pairs = [(call.method, description.route(call.method, call.path) or call.path) for call in calls]
    refused = {pair for pair, call in zip(pairs, calls) if call.refused is not None}
    unseen = set(ROUTES) - set(pairs)
    # The refused ones come first: the rest mostly follows from them. A request may have been tried again.
    for trouble in dict.fromkeys([*(str(call) for call in calls if call.refused is not None), *wrong]):
        print(f"FAILED  {trouble}")
    passed = [pair for pair in ROUTES if pair not in refused and pair not in unseen]
    for what, group in [("ok    ", passed), ("FAILED", sorted(refused)), ("UNSEEN", sorted(unseen))]:
        for method, route in group:
            print(f"{what}  {method} {route}{'' if (method, route) in ROUTES else ' (not one of ROUTES)'}")
    failed = len(refused) + len(unseen) + len(wrong)
    print(f"contract: {len(passed)} passed, {failed} failed")
    return failed == 0


def main():
    def end(number, _):
        # Once is enough: a second signal may not end what stops the processes.
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, signal.SIG_IGN)
        sys.exit(128 + number)

    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, end)
    try:
        sys.exit(0 if everything() else 1)
    except Trouble as trouble:
        sys.exit(f"contract: {trouble}")


main()
