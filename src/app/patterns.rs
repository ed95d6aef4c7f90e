//! Globs: what an argument or an input may say in place of a path.

use std::path::{Path, PathBuf};

/// A text is a pattern, and not the name of something that is there.
pub(super) fn is_pattern(root: &Path, text: &str) -> bool {
    text.contains(['*', '?', '[']) && root.join(text).symlink_metadata().is_err()
}

/// What matches a pattern, sorted: relative ones from a folder, whose own name is taken as it is. What cannot be looked into
/// matches nothing.
///
/// # Errors
/// It is no pattern; the reason.
pub(super) fn matching(root: &Path, pattern: &str) -> Result<impl Iterator<Item = PathBuf>, String> {
    let whole = if Path::new(pattern).is_absolute() {
        pattern.to_owned()
    } else {
        format!("{}/{pattern}", glob::Pattern::escape(&root.to_string_lossy()).trim_end_matches('/'))
    };
    let paths = glob::glob(&whole).map_err(|error| error.msg.to_owned())?;
    Ok(paths.flatten())
}
