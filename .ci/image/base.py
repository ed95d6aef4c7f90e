"""A stand-in for the Dockerfile's base image, for where no image registry can be reached.

It is made of Debian's own packages and of this machine's Rust toolchain, at the places where the official image has them.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from engine import DOCKER, Failure, docker, install, run

NAME = "process-integrity-base"
PACKAGES = "gcc,libc6-dev,ca-certificates"
SUITE = "bookworm"
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
# What a compiler needs; the documentation is larger than all of the rest.
PARTS = ("bin", "lib", "libexec")
SETTINGS = (
    "ENV CARGO_HOME=/usr/local/cargo RUSTUP_HOME=/usr/local/rustup",
    "ENV PATH=/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    # The crates come the way that this machine's own Cargo gets them, by the authorities that this machine trusts.
    # The bundle that goes into the image is another one: Debian's, as in the official base image.
    "ENV CARGO_HTTP_CAINFO=/usr/local/cargo/ca.crt",
)


def make():
    """The name of the base image, which is made where it is not there yet."""
    compiler = run("rustc", "-vV").stdout
    recipe = "\n".join([SUITE, PACKAGES, *PARTS, *SETTINGS, compiler]).encode() + CERTIFICATES.read_bytes()
    name = f"{NAME}:{hashlib.sha256(recipe).hexdigest()[:16]}"
    if docker("image", "inspect", name, check=False).returncode == 0:
        return name
    if shutil.which("debootstrap") is None:
        install("debootstrap")
    print(f"making the base image: Debian {SUITE} and {compiler.splitlines()[0]}", flush=True)
    with tempfile.TemporaryDirectory(prefix="base-image-") as folder:
        root = pathlib.Path(folder) / "root"
        mirrors = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Identifier: Packages", check=False)
        mirror = mirrors.stdout.split()[:1]
        run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, root, *mirror)
        toolchain(root)
        load(root, name)
    return name


def toolchain(root):
    """Copies the machine's Rust toolchain and the settings of its Cargo."""
    system = pathlib.Path(run("rustc", "--print", "sysroot").stdout.strip())
    there = root / "usr/local/rustup/toolchains/local"
    for part in PARTS:
        if (system / part).exists():
            shutil.copytree(system / part, there / part, symlinks=True)
    home = root / "usr/local/cargo"
    (home / "bin").mkdir(parents=True)
    for program in ("cargo", "rustc"):
        (home / "bin" / program).symlink_to(pathlib.Path("/usr/local/rustup/toolchains/local/bin") / program)
    own = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")) / "config.toml"
    if own.is_file():
        shutil.copyfile(own, home / "config.toml")
    shutil.copyfile(os.environ.get("SSL_CERT_FILE", CERTIFICATES), home / "ca.crt")


def load(root, name):
    """Hands the folder over to the daemon as an image."""
    changes = [part for setting in SETTINGS for part in ("--change", setting)]
    archive = subprocess.Popen(
        ["tar", "--create", "--numeric-owner", "--directory", root, "--exclude=./var/cache/apt/archives/*.deb", "."],
        stdout=subprocess.PIPE,
    )
    done = subprocess.run(
        [DOCKER, "import", *changes, "-", name], stdin=archive.stdout, capture_output=True, text=True, check=False
    )
    if archive.wait() != 0 or done.returncode != 0:
        raise Failure(f"the base image cannot be imported: {done.stderr}")
