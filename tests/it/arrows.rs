//! The architecture, read from the sources: what the core may not touch, and which way the arrows point.

use std::path::{Path, PathBuf};

/// Modules by layer, from the inside out. A module may use those of its own layer and of the ones before it.
const LAYERS: [&[&str]; 9] = [
    &["message", "escape", "secrets", "json", "digest"],
    &["trace", "model", "plan"],
    &["conformance", "health", "evidence"],
    &["findings", "verdict"],
    &["report"],
    &["workspace", "runner"],
    &["github"],
    &["cli", "settings"],
    &["app", "main", "lib"],
];

/// The first layer of the shell.
const SHELL: usize = 5;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Each source file: its module's name, its path, and its text without tests and comments.
fn files() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let inside = path.strip_prefix(&root).unwrap();
        let module = inside.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        (module, path, code.join("\n"))
    };
    paths.into_iter().map(read).collect()
}

fn layer(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|layer| layer.contains(&module))
        .unwrap_or_else(|| panic!("{module} is in no layer"))
}

#[test]
fn arrows_point_inwards_only() {
    for (module, path, code) in files() {
        for part in code.split("crate::").skip(1) {
            let target: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if target.is_empty() {
                continue;
            }
            assert!(layer(&target) <= layer(&module), "{}: {module} uses {target}", path.display());
        }
    }
}

#[test]
fn the_core_touches_nothing_outside() {
    let forbidden = [
        "std::env",
        "std::fs",
        "std::net",
        "std::process",
        "std::thread",
        "SystemTime",
        "Instant::now",
        "Utc::now",
        "Local::now",
        "tokio",
        "octocrab",
        "getrandom",
        "println!",
        "eprintln!",
        "async ",
    ];
    for (module, path, code) in files().into_iter().filter(|(module, _, _)| layer(module) < SHELL) {
        for word in forbidden {
            assert!(!code.contains(word), "{}: {module} touches {word}", path.display());
        }
    }
}

#[test]
fn each_privilege_has_one_place() {
    for (module, path, code) in files() {
        let inside = path.display();
        assert!(code.lines().count() < 450, "{inside} is too long");
        if !matches!(module.as_str(), "workspace" | "runner") {
            assert!(!code.contains("std::fs"), "{inside} reads or writes files");
        }
        if module != "settings" {
            assert!(
                !code.contains("INPUT_") && !code.contains("GITHUB_"),
                "{inside} knows names of the environment"
            );
        }
        if module != "runner" {
            assert!(!code.contains("io::stdout") && !code.contains("io::stderr"), "{inside} prints");
        }
        if module != "main" {
            assert!(
                !code.contains("ExitCode") && !code.contains("process::exit"),
                "{inside} picks an exit code"
            );
        }
    }
}
