"""The Docker daemon: the one that is there, else one that is started here and stopped again."""

import contextlib
import fcntl
import os
import pathlib
import subprocess
import tempfile
import time

# The client of the daemon's own package. A newer one may come first on PATH and lack the plugin that builds.
DOCKER = "/usr/bin/docker"
DAEMON = "/usr/sbin/dockerd"
# What a machine may refuse: a stacked file system, then rules for packets and a bridge.
FALLBACKS = (
    [],
    ["--storage-driver=vfs"],
    ["--iptables=false", "--bridge=none"],
    ["--storage-driver=vfs", "--iptables=false", "--bridge=none"],
)
PATIENCE = 30


class Failure(Exception):
    """Something that ends the run; its text says what."""


def run(*command, environment=None, check=True, text=True, stdin=None):
    """Runs a command quietly; what it printed is shown only where it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL if stdin is None else None,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=text,
        env=environment,
        check=False,
    )
    if check and done.returncode != 0:
        shown = done.stdout + done.stderr if text else done.stderr.decode(errors="replace")
        raise Failure(f"{' '.join(map(str, command[:4]))} … ended with {done.returncode}:\n{shown[-6000:]}")
    return done


def docker(*arguments, **options):
    """Runs the client."""
    environment = {**os.environ, "DOCKER_BUILDKIT": "1", **options.pop("environment", {})}
    return run(DOCKER, *arguments, environment=environment, **options)


def install(*packages):
    """Installs Debian packages."""
    print(f"installing {', '.join(packages)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run("apt-get", "update", environment=environment)
    run("apt-get", "install", "--yes", "--no-install-recommends", *packages, environment=environment)


def answers():
    """Whether a daemon answers."""
    return os.path.exists(DOCKER) and docker("info", check=False).returncode == 0


@contextlib.contextmanager
def alone():
    """One such run at a time on a machine: they would stop each other's daemon."""
    with open(pathlib.Path(tempfile.gettempdir()) / "process-integrity-image.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def daemon():
    """A daemon that answers, for as long as the block runs."""
    if not answers() and not (os.path.exists(DAEMON) and os.path.exists(DOCKER)):
        # Where services are started with their package, there is a daemon after this.
        install("docker.io")
    if answers():
        yield
        return
    with tempfile.NamedTemporaryFile(mode="w+", prefix="dockerd-", suffix=".log") as log:
        process = start(log)
        try:
            yield
        finally:
            stop(process)


def start(log):
    """Starts a daemon in the mildest way that works."""
    for options in FALLBACKS:
        # A group of its own, so that a Ctrl-C does not end it before its containers are gone.
        process = subprocess.Popen(
            [DAEMON, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        end = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < end:
            if answers():
                print(f"started a docker daemon {' '.join(options)}".rstrip(), flush=True)
                return process
            time.sleep(0.2)
        stop(process)
    log.seek(0)
    raise Failure(f"the docker daemon does not start:\n{log.read()[-6000:]}")


def stop(process):
    """Stops the daemon that was started here."""
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
