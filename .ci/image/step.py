"""A step of a job as GitHub's runner starts it: its folders, its mounts, its environment and its command files."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import uuid

from engine import DOCKER

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# The user that a hosted runner works as, where this may give files away. The container is root all the same.
OWNER = (1001, 121) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
SHA = "0123456789abcdef0123456789abcdef01234567"
FILES = ("add_path", "save_state", "set_env", "set_output", "step_summary")


def defaults():
    """The inputs of action.yml with their defaults, as the runner gives them where the workflow says nothing."""
    text = (REPOSITORY / "action.yml").read_text(encoding="utf-8")
    block = text.split("\ninputs:\n", 1)[1].split("\noutputs:\n", 1)[0]
    found = {}
    for name, body in re.findall(r"^  ([a-z-]+):\n((?:    .*\n|\n)+)", block, re.M):
        value = re.search(r"^    default: (.*)$", body, re.M)
        found[name] = value[1].strip("'\"") if value else ""
    # The runner evaluates the expression; by default these steps have no token, so that nothing is asked of a network.
    found["github-token"] = ""
    return found


class Step:
    """One step, in a work folder of its own."""

    def __init__(self, root, image):
        self.image = image
        self.name = f"process-integrity-{uuid.uuid4().hex[:12]}"
        self.work = pathlib.Path(root) / self.name
        self.workspace = self.work / "orders/orders"
        self.temp = self.work / "_temp"
        self.folders = {
            "/github/runner_temp": self.temp,
            "/github/home": self.temp / "_github_home",
            "/github/workflow": self.temp / "_github_workflow",
            "/github/file_commands": self.temp / "_runner_file_commands",
            "/github/workspace": self.workspace,
        }
        for folder in self.folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        self.commands = {}
        for kind in FILES:
            name = f"{kind}_{uuid.uuid4()}"
            self.commands[kind] = self.folders["/github/file_commands"] / name
            self.commands[kind].touch()
        self.inputs = defaults()
        self.network = []
        self.variables = {}
        self.event("push", {"ref": "refs/heads/main", "repository": {"full_name": "octo/orders"}})
        self.seconds = 0.0

    def event(self, name, payload):
        """Says what started the workflow."""
        self.variables["GITHUB_EVENT_NAME"] = name
        file = self.folders["/github/workflow"] / "event.json"
        file.write_text(json.dumps(payload), encoding="utf-8")

    def deployment(self, fixture):
        """Puts a fixture into the workspace, as a deployment leaves it there."""
        shutil.copytree(fixture, self.workspace / ".azure/deployments" / fixture.name)

    def own(self):
        """Gives everything to the runner's user."""
        for path in [self.work, *self.work.rglob("*")]:
            os.chown(path, *OWNER, follow_symlinks=False)

    def environment(self):
        """What the runner hands over to the container."""
        inside = "/github/file_commands"
        own = {
            "HOME": "/github/home",
            "GITHUB_ACTION": "__self",
            "GITHUB_ACTION_REPOSITORY": "",
            "GITHUB_ACTOR": "mona",
            "GITHUB_API_URL": "https://api.github.com",
            "GITHUB_BASE_REF": "",
            "GITHUB_ENV": f"{inside}/{self.commands['set_env'].name}",
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_GRAPHQL_URL": "https://api.github.com/graphql",
            "GITHUB_HEAD_REF": "",
            "GITHUB_JOB": "process-integrity",
            "GITHUB_OUTPUT": f"{inside}/{self.commands['set_output'].name}",
            "GITHUB_PATH": f"{inside}/{self.commands['add_path'].name}",
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_REF_NAME": "main",
            "GITHUB_REF_TYPE": "branch",
            "GITHUB_REPOSITORY": "octo/orders",
            "GITHUB_REPOSITORY_OWNER": "octo",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": "42",
            "GITHUB_RUN_NUMBER": "7",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_SHA": SHA,
            "GITHUB_STATE": f"{inside}/{self.commands['save_state'].name}",
            "GITHUB_STEP_SUMMARY": f"{inside}/{self.commands['step_summary'].name}",
            "GITHUB_TRIGGERING_ACTOR": "mona",
            "GITHUB_WORKFLOW": "Deploy",
            "GITHUB_WORKSPACE": "/github/workspace",
            "RUNNER_ARCH": "X64",
            "RUNNER_ENVIRONMENT": "github-hosted",
            "RUNNER_NAME": "GitHub Actions 1",
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": "/github/runner_temp",
            "RUNNER_TOOL_CACHE": "/opt/hostedtoolcache",
            "RUNNER_WORKSPACE": str(self.workspace.parent),
        }
        own |= {f"INPUT_{name.upper().replace(' ', '_')}": value for name, value in self.inputs.items()}
        return own | self.variables

    def command(self):
        """The runner's command line. Values are in the client's environment, so that none shows in a list of processes."""
        names = [part for name in self.environment() for part in ("-e", name)]
        mounts = [part for inside, folder in self.folders.items() for part in ("-v", f"{folder}:{inside}")]
        return [
            *(DOCKER, "run", "--name", self.name, "--label", "1f2e3d", "--workdir", "/github/workspace", "--rm"),
            *names,
            *("-e", "GITHUB_ACTIONS=true", "-e", "CI=true"),
            *self.network,
            *("-v", "/var/run/docker.sock:/var/run/docker.sock"),
            *mounts,
            self.image,
        ]

    def start(self):
        """Starts it, without a terminal and without anything to read."""
        # The client keeps its own settings; HOME belongs to the container.
        client = {"PATH": os.environ["PATH"], "DOCKER_CONFIG": str(self.work / "no-settings"), **self.environment()}
        return subprocess.Popen(
            self.command(),
            env=client,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def outputs(self):
        """The outputs as the runner reads them: the last one of a name counts."""
        lines = iter(self.commands["set_output"].read_text(encoding="utf-8").splitlines())
        found = {}
        for line in lines:
            name, _, delimiter = line.partition("<<")
            value = []
            for part in lines:
                if part == delimiter:
                    break
                value.append(part)
            found[name] = "\n".join(value)
        return found

    def summary(self):
        """The job summary."""
        return self.commands["step_summary"].read_text(encoding="utf-8")

    def files(self):
        """All files with what could change of them, but the outputs and the summary."""
        own = {self.commands["set_output"], self.commands["step_summary"]}
        return {str(path.relative_to(self.work)): state(path) for path in self.work.rglob("*") if path not in own}


def state(path):
    """What can be seen of a file from outside."""
    found = path.lstat()
    # A folder's time says the same as the list of what is in it.
    time = 0 if path.is_dir() else found.st_mtime_ns
    return (found.st_mode, found.st_uid, found.st_gid, found.st_size if time else 0, time)
