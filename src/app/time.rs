//! The time that stands in what is written.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::SecondsFormat;

/// How finely a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// For people.
    Seconds,
    /// For events, whose order it shows.
    Millis,
}

/// Now, or the time that stands for it (seconds since 1970), in RFC 3339.
pub(super) fn now(source_date: Option<i64>, precision: Precision) -> String {
    let clock = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        chrono::DateTime::from_timestamp_millis(i64::try_from(since.as_millis()).ok()?)
    };
    let given = source_date.and_then(|seconds| chrono::DateTime::from_timestamp(seconds, 0));
    let format = match precision {
        Precision::Seconds => SecondsFormat::Secs,
        Precision::Millis => SecondsFormat::Millis,
    };
    given.or_else(clock).unwrap_or_default().to_rfc3339_opts(format, true)
}
