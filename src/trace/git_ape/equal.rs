//! However a document is read, it is the same document.

use std::io::BufReader;

use proptest::prelude::*;

use super::*;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// What the slow reader says, which needs nothing but bytes.
fn slowly(bytes: &[u8]) -> Execution {
    match bytes.strip_prefix(MARK) {
        Some(rest) => read_bytes(rest, 3),
        None => read_bytes(bytes, 0),
    }
}

fn quickly(bytes: &[u8]) -> Option<Execution> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.strip_prefix('\u{feff}').map_or_else(|| read_text(text, 0), |rest| read_text(rest, 3))
}

const KEYS: [&str; 14] = [
    "type",
    "node",
    "status",
    "result",
    "from",
    "to",
    "evidence",
    "recordedAt",
    "id",
    "x",
    "ty\\u0070e",
    "\\u0078",
    "",
    "\\\"",
];

const VALUES: [&str; 28] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1791201600",
    "18446744073709551615",
    "18446744073709551616",
    "1791201600.5",
    "1e999",
    r#""node""#,
    r#""transition""#,
    r#""n\u006fde""#,
    r#""completed""#,
    r#""""#,
    r#""2026-10-05T12:00:00Z""#,
    r#""\ud83d""#,
    r#""\ud83d\ude00 é\n""#,
    "[]",
    "[ ]",
    "{}",
    r#"["r","s"]"#,
    r#"["r",1,null,["t"],{"u":"v"},"\u0077"]"#,
    r#"{"a":1,"b":{"a":[{}]}}"#,
    r#"{"a":[{"b":1,"b":2}]}"#,
    r#"{"a":1,"\u0061":{"c":"}"}}"#,
    "[1,]",
    r#"{"type":"node","node":"n"}"#,
];

const SPACES: [&str; 6] = ["", "", "", " ", "\r\n\t", "\n\n  "];

fn space() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&SPACES[..])
}

fn object(keys: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    let pair = (proptest::sample::select(keys), proptest::sample::select(&VALUES[..]), space(), space());
    (proptest::collection::vec(pair, 0..most), space()).prop_map(|(pairs, end)| {
        let pairs = pairs.iter().map(|(key, value, a, b)| format!("{a}\"{key}\"{b}:{a}{value}{b}"));
        format!("{{{}{end}}}", pairs.collect::<Vec<_>>().join(","))
    })
}

/// An entry: mostly one that is as it should be.
fn one_entry() -> impl Strategy<Value = String> {
    let good = (space(), space(), "[a-c]?").prop_map(|(a, b, name)| {
        format!(
            "{{{a}\"type\":\"node\",{b}\"node\":\"a{name}\",\"status\":\"completed\",\"result\":null,\"evidence\":[\"{name}\"]}}"
        )
    });
    let between = Just(
        r#"{"id":"t1","type":"transition","from":"a","to":"b","recordedAt":"2026-10-05T12:00:00Z","evidence":["r"]}"#,
    );
    prop_oneof![
        6 => good,
        3 => between.prop_map(str::to_owned),
        2 => object(&KEYS, 6),
        1 => proptest::sample::select(&VALUES[..]).prop_map(str::to_owned),
    ]
}

fn document() -> impl Strategy<Value = String> {
    let fields = ["schemaVersion", "producer", "graph", "startedAt", "outcome", "more", "ev\\u0065nts"];
    let field = (proptest::sample::select(fields.to_vec()), proptest::sample::select(&VALUES[..]));
    let fields = || proptest::collection::vec(field.clone(), 0..2);
    let entry = (one_entry(), space(), space());
    (fields(), proptest::collection::vec(entry, 0..6), fields(), space()).prop_map(
        |(first, entries, last, a)| {
            let write = |(key, value): &(&str, &str)| format!("\"{key}\"{a}:{value}");
            let entries: Vec<_> = entries.iter().map(|(entry, a, b)| format!("{a}{entry}{b}")).collect();
            let events = format!("\"events\":{a}[{}]", entries.join(","));
            let all = first.iter().map(write).chain([events]).chain(last.iter().map(write));
            format!("{a}{{{a}{}{a}}}{a}", all.collect::<Vec<_>>().join(","))
        },
    )
}

/// What becomes of a document on its way.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let change = (0..6_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>());
    let changes = prop_oneof![3 => Just(0..1_usize), 2 => Just(1..2), 1 => Just(2..4)]
        .prop_flat_map(move |count| proptest::collection::vec(change.clone(), count));
    (document(), any::<bool>(), changes).prop_map(|(text, mark, changes)| {
        let mut bytes = text.into_bytes();
        for (what, at, to, byte) in changes {
            let (at, to) = (at.index(bytes.len() + 1), to.index(bytes.len() + 1));
            let (from, to) = (at.min(to), at.max(to));
            match what {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, byte),
                2 => bytes.insert(at, b"{}[]\",:\\\n0"[usize::from(byte) % 10]),
                3 => drop(bytes.drain(from..to)),
                4 => bytes.extend_from_within(from..to),
                _ => {
                    if let Some(own) = bytes.get_mut(at) {
                        *own = byte;
                    }
                }
            }
        }
        if mark { [MARK, &bytes].concat() } else { bytes }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_quick_reader_reads_what_the_slow_one_reads(bytes in damaged(), capacity in 1_usize..40) {
        let slow = slowly(&bytes);
        if let Some(quick) = quickly(&bytes) {
            prop_assert_eq!(&quick, &slow);
        }
        prop_assert_eq!(&read(bytes.as_slice()), &slow);
        prop_assert_eq!(&read(BufReader::with_capacity(capacity, bytes.as_slice())), &slow);
    }
}

#[test]
fn a_document_that_is_as_it_should_be_is_read_quickly() {
    let bytes = include_bytes!("../../../fixtures/verified-success__git-ape-v1/traces/run-1.json");
    for bytes in [bytes.to_vec(), [MARK, bytes].concat()] {
        let quick = quickly(&bytes).unwrap();
        assert_eq!(quick.entries.len(), 17);
        assert_eq!(quick, slowly(&bytes));
    }
    let strange = r#"{"events":[{ "" :{"{":0},"type":"\u006eode","n\u006fde":"a"} ,"#;
    let strange = format!("{strange}\n\n{{\r\n\"evidence\":{{}},\"type\":7}}],\"x\":[{{}}]}}");
    assert_eq!(quickly(strange.as_bytes()).unwrap(), slowly(strange.as_bytes()));
}

#[test]
fn an_entry_that_does_not_tell_its_place_is_left_to_the_slow_reader() {
    for entry in ["{}", "[]", "1", "null", r#""a""#, r#"{"\u0074ype":"node","node":"a"}"#] {
        let text = format!("{{\"events\":[\n{entry}]}}");
        assert_eq!(quickly(text.as_bytes()), None, "{text}");
        let read = read(text.as_bytes());
        assert_eq!((read.whole, read.entries.len(), read.entries[0].place.line), (true, 1, 2), "{text}");
    }
}

#[test]
fn an_input_that_fails_keeps_what_it_gave() {
    let text = b"{\"events\":[{\"type\":\"transition\"},{\"type\":\"transition\"}]}";
    for (given, entries, offset) in [(text.len(), 2, text.len()), (40, 1, 40), (3, 0, 3)] {
        let broken = || Broken(Some(std::io::ErrorKind::Other.into()));
        let read = read(BufReader::with_capacity(5, text[..given].chain(broken())));
        assert_eq!((read.whole, read.entries.len(), read.reading.damage.count()), (false, entries, 1));
        let damage = &read.reading.damage.kept()[0];
        assert_eq!(
            (damage.place.offset, damage.reason.as_str()),
            (offset as u64, "the file could not be read any further")
        );
    }
}
