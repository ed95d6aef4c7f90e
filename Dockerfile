# The action's image: one static program and the certificates it trusts, nothing else.
#
#   docker build .                                              for the machine's own architecture, with musl
#   docker build --build-arg TARGET=x86_64-unknown-linux-gnu .  with the C library of the base image, no rustup needed
#
# No "syntax" line: it would fetch a front end from a registry before anything else, and nothing here needs a newer one.
ARG BASE=rust:1.95.0-slim-bookworm

# hadolint ignore=DL3006 # The version is in the default above.
FROM ${BASE} AS toolchain
ARG TARGETARCH
ARG TARGET
WORKDIR /build
# The C compiler for musl is for ring, which has parts in C. It cannot be pinned: Debian keeps only the newest one of a
# release. An old builder of a self-hosted runner gives no TARGETARCH, and builds for the machine that it runs on.
# hadolint ignore=DL3008
RUN set -eu; \
    target="${TARGET:-}"; \
    if [ -z "$target" ]; then \
      case "${TARGETARCH:-$(uname -m)}" in \
        amd64 | x86_64) target=x86_64-unknown-linux-musl ;; \
        arm64 | aarch64) target=aarch64-unknown-linux-musl ;; \
        *) echo "there is no target for the architecture ${TARGETARCH:-$(uname -m)}" >&2; exit 1 ;; \
      esac; \
    fi; \
    case "$target" in \
      *-musl) \
        apt-get update; \
        apt-get install --yes --no-install-recommends musl-tools; \
        rm -rf /var/lib/apt/lists/*; \
        rustup target add "$target" ;; \
    esac; \
    echo "$target" > target-triple
# Both targets are built natively, where the compiler has the same name. Nothing in the program may tell when or in which
# folder it was built: no time is asked for by Rust, but a macro in C could.
ENV CC_x86_64_unknown_linux_musl=musl-gcc \
    CC_aarch64_unknown_linux_musl=musl-gcc \
    CARGO_INCREMENTAL=0 \
    SOURCE_DATE_EPOCH=0 \
    CFLAGS="-ffile-prefix-map=/usr/local/cargo=/cargo -ffile-prefix-map=/build=/source" \
    RUSTFLAGS="-C target-feature=+crt-static --remap-path-prefix=/usr/local/cargo=/cargo --remap-path-prefix=/build=/source"

# Dependencies change far less often than sources: they are compiled with stubs in place of the sources, and kept.
FROM toolchain AS dependencies
COPY Cargo.toml Cargo.lock ./
RUN set -eu; \
    mkdir -p src benches tests/it; \
    echo '//! A stub.' > src/lib.rs; \
    for stub in src/main.rs benches/speed.rs tests/it/main.rs; do echo 'fn main() {}' > "$stub"; done; \
    cargo build --locked --profile dist --target "$(cat target-triple)" --lib

FROM dependencies AS compile
COPY src src
# Another value compiles the same sources once more, to see that the program comes out the same.
ARG ROUND=1
# The files may be older than the stubs were; a touch tells Cargo that they are others.
RUN set -eu; \
    echo "compiling, round $ROUND"; \
    touch src/lib.rs src/main.rs; \
    cargo build --locked --offline --profile dist --target "$(cat target-triple)" --bin process-integrity; \
    cp "target/$(cat target-triple)/dist/process-integrity" /process-integrity

# Only the program, for those who run it without a container: docker build --target program --output . .
FROM scratch AS program
COPY --from=compile /process-integrity /process-integrity

FROM scratch
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="process-integrity" \
      org.opencontainers.image.description="Finds false successes of deployment agents" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=toolchain /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=compile /process-integrity /process-integrity
# No USER: the runner's files belong to a user that only the runner knows, and only root may write to all of them.
ENTRYPOINT ["/process-integrity"]
