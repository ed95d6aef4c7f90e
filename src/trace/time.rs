//! Timestamps: RFC 3339, or a Unix time whose unit its size tells.

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde_json::Value;

/// When an event was recorded. Only distances and order are used, so the unit is microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// The record has no time.
    Absent,
    /// With a zone, or counted from the epoch: microseconds since 1970 in UTC.
    Zoned(i64),
    /// A local time without a zone: microseconds as if it were UTC.
    Naive(i64),
    /// There is something, but no time.
    Unreadable,
}

impl Time {
    /// Microseconds since 1970, where the time is readable.
    #[must_use]
    pub fn micros(self) -> Option<i64> {
        match self {
            Self::Zoned(micros) | Self::Naive(micros) => Some(micros),
            Self::Absent | Self::Unreadable => None,
        }
    }

    /// Reads a JSON value; null is absent.
    #[must_use]
    pub fn of_value(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Absent,
            Some(Value::String(text)) => Self::of_text(text),
            Some(Value::Number(number)) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(number), _, _) => Self::of_integer(number.into()),
                (None, Some(number), _) => Self::of_integer(number.into()),
                (None, None, Some(number)) => Self::of_float(number),
                (None, None, None) => Self::Unreadable,
            },
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => Self::Unreadable,
        }
    }

    /// Reads a text: RFC 3339, the same without a zone, or the digits of a Unix time.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        plain(text).unwrap_or_else(|| Self::of_any_text(text))
    }

    fn of_any_text(text: &str) -> Self {
        let text = text.trim();
        if let Ok(time) = DateTime::parse_from_rfc3339(text) {
            return Self::Zoned(time.timestamp_micros());
        }
        // What `date +%FT%T%z` writes: an offset without a colon.
        if let Ok(time) = DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z") {
            return Self::Zoned(time.timestamp_micros());
        }
        for form in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"] {
            if let Ok(time) = NaiveDateTime::parse_from_str(text, form) {
                return Self::Naive(time.and_utc().timestamp_micros());
            }
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return Self::Unreadable;
        }
        match text.parse::<i64>() {
            Ok(number) => Self::of_integer(number.into()),
            Err(_) => text.parse().map_or(Self::Unreadable, Self::of_float),
        }
    }

    /// Reads a Unix time in seconds, milli-, micro- or nanoseconds: a time after 1973 in the one unit is a time
    /// before 1973 in the next, which no deployment has.
    #[must_use]
    pub fn of_integer(number: i128) -> Self {
        let micros = match number.unsigned_abs() {
            0..100_000_000_000 => number * 1_000_000,
            100_000_000_000..100_000_000_000_000 => number * 1_000,
            100_000_000_000_000..100_000_000_000_000_000 => number,
            _ => number.div_euclid(1_000),
        };
        i64::try_from(micros).map_or(Self::Unreadable, Self::Zoned)
    }

    /// As [`Time::of_integer`], with a fraction.
    #[must_use]
    pub fn of_float(number: f64) -> Self {
        let magnitude = number.abs();
        let micros = if magnitude < 1e11 {
            number * 1e6
        } else if magnitude < 1e14 {
            number * 1e3
        } else if magnitude < 1e17 {
            number
        } else {
            number / 1e3
        };
        // A double holds whole numbers up to 2^53, far beyond any date in microseconds.
        if micros.abs() < 9e18 {
            #[allow(clippy::cast_possible_truncation)]
            Self::Zoned(micros as i64)
        } else {
            Self::Unreadable
        }
    }
}

/// Reads the forms that nearly all writers use, `2026-10-05T12:00:08`, a fraction, and `Z`, `+02:00` or nothing, at a
/// fraction of the cost of the general parser. Whatever has any other form, or is out of range, is left to that one.
fn plain(text: &str) -> Option<Time> {
    let (moment, mut rest) = text.as_bytes().split_first_chunk::<19>()?;
    let [y0, y1, y2, y3, b'-', o0, o1, b'-', d0, d1, b'T', h0, h1, b':', m0, m1, b':', s0, s1] = *moment
    else {
        return None;
    };
    let year = two(y0, y1)? * 100 + two(y2, y3)?;
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, two(o0, o1)?, two(d0, d1)?)?;
    let mut micros = 0;
    if let Some((b'.', after)) = rest.split_first() {
        let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
        let (fraction, after) = after.split_at_checked(digits)?;
        if !(1..=9).contains(&digits) {
            return None;
        }
        // Cut to microseconds, or filled up with zeros.
        let six = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(6);
        micros = six.fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
        rest = after;
    }
    let time = date.and_hms_micro_opt(two(h0, h1)?, two(m0, m1)?, two(s0, s1)?, micros)?;
    let micros = time.and_utc().timestamp_micros();
    match *rest {
        [] => Some(Time::Naive(micros)),
        [b'Z'] => Some(Time::Zoned(micros)),
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            let (hours, minutes) = (two(h0, h1)?, two(m0, m1)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let east = i64::from(hours * 60 + minutes) * 60_000_000;
            Some(Time::Zoned(if sign == b'+' { micros - east } else { micros + east }))
        }
        _ => None,
    }
}

/// The number that two digits write.
fn two(tens: u8, ones: u8) -> Option<u32> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_of_one_moment_is_the_same_moment() {
        let moment = Time::Zoned(1_791_201_600_000_000);
        for text in [
            "2026-10-05T12:00:00Z",
            "2026-10-05T12:00:00.000Z",
            "2026-10-05T14:00:00+02:00",
            "2026-10-05 12:00:00Z",
            "2026-10-05T12:00:00+0000",
            "1791201600",
            "1791201600000",
            "1791201600000000",
            "1791201600000000000",
            "1791201600.0",
        ] {
            assert_eq!(Time::of_text(text), moment, "{text}");
        }
        assert_eq!(Time::of_float(1_791_201_600.0), moment);
        assert_eq!(Time::of_text("2026-10-05T12:00:00"), Time::Naive(1_791_201_600_000_000));
    }

    #[test]
    fn what_is_no_time_is_told() {
        for text in
            ["at noon", "", "2026-13-05T12:00:00Z", "12:00", "1.2.3", "99999999999999999999999999999", "-"]
        {
            assert_eq!(Time::of_text(text), Time::Unreadable, "{text}");
        }
        assert_eq!(Time::of_integer(i128::from(u64::MAX) * 1_000_000), Time::Unreadable);
    }

    #[test]
    fn the_plain_forms_mean_what_they_mean_to_chrono_at_the_edges() {
        for date in
            ["0000-01-01", "9999-12-31", "2026-02-29", "2024-02-29", "1900-02-29", "2026-04-31", "1969-12-31"]
        {
            for time in ["00:00:00", "23:59:59", "23:59:60", "12:00:60", "24:00:00", "12:60:00"] {
                for fraction in ["", ".", ".5", ".000001", ".9999999", ".123456789", ".1234567891"] {
                    for zone in [
                        "", "Z", "z", "+00:00", "-00:00", "+23:59", "-23:59", "+24:00", "+12:60", "+0000",
                        "+01", " Z",
                    ] {
                        let text = format!("{date}T{time}{fraction}{zone}");
                        if let Some(time) = plain(&text) {
                            assert_eq!(time, Time::of_any_text(&text), "{text}");
                        }
                    }
                }
            }
        }
        for text in ["2026-10-05T12:00:08Z", "2026-10-05T12:00:08.25", "1969-12-31T23:59:59.999999+14:00"] {
            assert!(plain(text).is_some(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_plain_forms_mean_what_they_mean_to_chrono(
            text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,11})?(Z|[+-][0-2][0-9]:[0-6][0-9]|)"
        ) {
            if let Some(time) = plain(&text) {
                prop_assert_eq!(time, Time::of_any_text(&text));
            }
        }

        #[test]
        fn nothing_else_is_plain(text in "[-+0-9:.TZtz é]{0,26}") {
            if let Some(time) = plain(&text) {
                prop_assert_eq!(time, Time::of_any_text(&text));
            }
        }
    }
}
