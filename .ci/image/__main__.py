"""Builds the action's image and runs it as GitHub's runner does: python3 .ci/image [--registry]

Without a registry of images the base image is made here and the program is linked with its C library; with --registry it is
built as GitHub builds it, for musl on the official base image.
"""

import argparse
import gzip
import hashlib
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Nothing is left behind in the repository.
sys.dont_write_bytecode = True

import base
import checks
from engine import DOCKER, Failure, alone, daemon, docker
from step import REPOSITORY

IMAGE = "process-integrity:test"
NOTHING = "process-integrity:nothing"
AIM, LIMIT = 3_000_000, 4_000_000
EMPTY = """
ARG BASE
FROM ${BASE} AS compile
RUN printf 'int main(void) { return 0; }' | gcc -Os -static -s -x c -o /nothing -
FROM scratch
COPY --from=compile /nothing /nothing
ENTRYPOINT ["/nothing"]
"""


def snapshot(folder):
    """What the image is made of, as it is now: somebody may be working on it while it is built twice."""
    context = pathlib.Path(folder) / "context"
    shutil.copytree(REPOSITORY / "src", context / "src")
    for name in ("Cargo.toml", "Cargo.lock", "Dockerfile", ".dockerignore"):
        shutil.copyfile(REPOSITORY / name, context / name)
    return context


def build(context, arguments, *more):
    """Builds from the Dockerfile."""
    docker("build", "--network=host", *arguments, *more, context)


def program(image, folder):
    """The program in an image, as bytes."""
    container = docker("create", image).stdout.strip()
    try:
        target = pathlib.Path(folder) / "program"
        docker("cp", f"{container}:/process-integrity", target)
        return target.read_bytes()
    finally:
        docker("rm", container)


def contents(image):
    """The names of all files in an image."""
    container = docker("create", image).stdout.strip()
    try:
        archive = subprocess.run([DOCKER, "export", container], capture_output=True, check=True).stdout
        listed = subprocess.run(["tar", "--list"], input=archive, capture_output=True, check=True).stdout.decode()
        return {name for name in listed.split() if not name.endswith("/")}
    finally:
        docker("rm", container)


def packed(image):
    """The size of an image as a registry holds it."""
    archive = subprocess.run([DOCKER, "save", image], capture_output=True, check=True).stdout
    return len(gzip.compress(archive, 6))


def inspect(test, context, arguments):
    """The image itself: its size, what is in it, and that it comes out the same when it is built again."""
    size = packed(IMAGE)
    print(f"image: {size} bytes packed", flush=True)
    test.that(f"at most {LIMIT} bytes packed", size <= LIMIT, size)
    if size > AIM:
        print(f"warning: more than the {AIM} bytes that it should have")
    # Docker itself puts these empty files under every container.
    own = {".dockerenv", "dev/console", "etc/hostname", "etc/hosts", "etc/mtab", "etc/resolv.conf"}
    files = {"process-integrity", "etc/ssl/certs/ca-certificates.crt"}
    test.same("files in the image", files, contents(IMAGE) - own)
    user = docker("image", "inspect", "--format", "{{.Config.User}}|{{.Config.Entrypoint}}", IMAGE).stdout.strip()
    test.same("user and entry point", "|[/process-integrity]", user)
    first = program(IMAGE, context.parent)
    for path in (b"/usr/local/cargo", b"/build/src", b"/root/"):
        test.that(f"no path of the build in the program: {path.decode()}", path not in first)
    begun = time.monotonic()
    build(context, arguments, "--build-arg", "ROUND=2", "--tag", f"{IMAGE}-again")
    second = program(f"{IMAGE}-again", context.parent)
    first, second = (hashlib.sha256(found).hexdigest() for found in (first, second))
    print(f"built again in {time.monotonic() - begun:.0f} s: sha256 {second}", flush=True)
    test.same("the program's sha256 when it is compiled again", first, second)


def everything(options):
    """Builds, checks, and says what came of it."""
    if options.registry:
        text = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
        name = re.search(r"^ARG BASE=(\S+)$", text, re.M)[1]
        arguments = []
    else:
        name = base.make()
        arguments = ["--build-arg", f"BASE={name}", "--build-arg", "TARGET=x86_64-unknown-linux-gnu"]
    # Docker's daemon has to see this folder too.
    with tempfile.TemporaryDirectory(prefix="process-integrity-image-") as folder:
        context = snapshot(folder)
        print(f"building on {name}", flush=True)
        begun = time.monotonic()
        build(context, arguments, "--tag", IMAGE)
        print(f"built in {time.monotonic() - begun:.0f} s", flush=True)
        docker("build", "--build-arg", f"BASE={name}", "--tag", NOTHING, "-", stdin=EMPTY)
        test = checks.Checks(folder, IMAGE)
        inspect(test, context, arguments)
        for part in (checks.empty, checks.repository, checks.outside, checks.comment, checks.signals):
            part(test)
        checks.start_up(test, NOTHING)
        begun = time.monotonic()
        count = checks.fixtures(test)
        print(f"{count} fixtures in {time.monotonic() - begun:.0f} s", flush=True)
    print(f"image: {test.passed} passed, {test.failed} failed", flush=True)
    return 0 if test.failed == 0 else 1


def main():
    """Ends with 0 only where everything held."""
    parser = argparse.ArgumentParser(prog=".ci/image", description="Builds and checks the action's image.")
    parser.add_argument("--registry", action="store_true", help="use the official base image and musl")
    options = parser.parse_args()
    # A daemon that was started here is stopped in that case too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with alone(), daemon():
            return everything(options)
    except Failure as failure:
        print(f"image: {failure}", file=sys.stderr)
        return 1


sys.exit(main())
