//! Parses and checks single values. Each function takes the text as written; its error says what is allowed.

use ingester_core::KindNames;
use ingester_core::duration::Bounds;
use ingester_core::marks::check_prefix;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The bounds of a duration.
pub(super) const DURATION: Bounds = Bounds::new("0s", "365d");

/// The bounds of the time for which changes are collected.
pub(super) const SETTLE: Bounds = Bounds::new("0s", "1h");

/// The bounds of a time in which something must be done.
pub(super) const TIME: Bounds = Bounds::new("1s", "365d");

/// The bounds of the time for which a marked row stays. The shortest lets a person react.
pub(super) const GRACE: Bounds = Bounds::new("1m", "36500d");

/// The prefixes of names that the ingester uses itself in `ingester_settings`.
const OWN_SETTINGS: [&str; 11] = [
    "view:",
    "definition/",
    "recipes/",
    "stays/",
    "types/",
    "sweep/",
    "filter/",
    "evict/",
    "marks/",
    "unit/",
    "policy/",
];

/// Complete names that the ingester uses itself.
const OWN_NAMES: [&str; 3] = ["changes", "cluster", "members"];

/// Reads a text. An empty text counts as no value.
pub(super) fn read_text(text: &str) -> Result<Option<String>, String> {
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Reads the path of a file. An empty text counts as no value.
pub(super) fn path(text: &str) -> Result<Option<PathBuf>, String> {
    Ok((!text.is_empty()).then(|| PathBuf::from(text)))
}

/// Reads `true` or `false`, in any of YAML 1.1's spellings.
pub(super) fn truth(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "y" => Ok(true),
        "false" | "no" | "off" | "n" => Ok(false),
        _ => Err("use true or false".into()),
    }
}

/// Reads a whole number in `range`.
pub(super) fn whole<N: FromStr + PartialOrd + Display>(range: RangeInclusive<N>) -> impl Fn(&str) -> Result<N, String> {
    move |text| match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("use a number from {} to {}", range.start(), range.end())),
    }
}

/// Reads a number of bytes up to `most`, as Kubernetes writes a quantity of memory.
pub(super) fn bytes(most: u64) -> impl Fn(&str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 6] =
        [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30), ("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    move |text| {
        let in_unit = |(unit, size): &(&str, u64)| Some((text.strip_suffix(unit)?, *size));
        let (number, size) = UNITS.iter().find_map(in_unit).unwrap_or((text, 1));
        let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(size));
        let expected = || format!("use a number of bytes up to {}Mi, such as `512Mi` or `1Gi`", most >> 20);
        bytes.filter(|bytes| *bytes <= most).ok_or_else(expected)
    }
}

/// The bounds of a pause.
pub(super) const PAUSE: Bounds = Bounds::new("100ms", "365d");

/// Reads a duration within `bounds`.
pub(super) fn duration(bounds: Bounds) -> impl Fn(&str) -> Result<Duration, String> {
    move |text| bounds.read(text).map_err(|expected| format!("use {expected}"))
}

/// Reads a duration up to the longest of `bounds`; zero means never.
pub(super) fn or_never(bounds: Bounds) -> impl Fn(&str) -> Result<Option<Duration>, String> {
    let read = duration(bounds.or_never());
    move |text| read(text).map(|duration| (!duration.is_zero()).then_some(duration))
}

/// Reads a duration within `bounds`, or `none`, which is zero.
pub(super) fn or_none(bounds: Bounds) -> impl Fn(&str) -> Result<Option<Duration>, String> {
    move |text| match text {
        "none" => Ok(Some(Duration::ZERO)),
        text => bounds.read(text).map(Some).map_err(|expected| format!("use `none`, or {expected}")),
    }
}

/// Reads one of a few words, in upper or lower case, with `_` or `-`.
pub(super) fn choice<T: Copy>(words: &'static [(&'static str, T)]) -> impl Fn(&str) -> Result<T, String> {
    move |text| {
        let folded = text.to_ascii_lowercase().replace('_', "-");
        words.iter().find(|(word, _)| word.eq_ignore_ascii_case(&folded)).map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            format!("use one of {}", words.join(", "))
        })
    }
}

/// Reads the name of a namespace: an RFC 1123 label, as Kubernetes requires ("Object KindNames and IDs").
pub(super) fn namespace(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || text.len() > 63 || !text.chars().all(inner) || text.starts_with('-') || text.ends_with('-') {
        return Err("use the name of a namespace: at most 63 lower-case letters, digits and `-`".into());
    }
    Ok(text.to_owned())
}

/// Reads the prefix of the names of Leases, which leaves room for the parts that are added.
pub(super) fn lease_name(text: &str) -> Result<String, String> {
    match namespace(text) {
        Ok(name) if name.len() <= 40 => Ok(name),
        _ => Err("use up to 40 lower-case letters, digits and hyphens".into()),
    }
}

/// Reads the prefix of the names of finalizers and annotations.
pub(super) fn prefix(text: &str) -> Result<String, String> {
    check_prefix(text).map(|()| text.to_owned())
}

/// Reads the name of an audience of tokens.
pub(super) fn audience(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("use the name of an audience".into()) } else { Ok(text.to_owned()) }
}

/// Reads a program, an argument of a program, or the value of a variable.
pub(super) fn argument(text: &str) -> Result<String, String> {
    if text.contains('\0') { Err("use a text without NUL".into()) } else { Ok(text.to_owned()) }
}

/// Reads the name of an environment variable.
pub(super) fn variable(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(['=', '\0']) {
        return Err("use the name of an environment variable, without `=`".into());
    }
    Ok(text.to_owned())
}

/// Reads one of `kinds`, and returns the name that is used for it.
pub(super) fn kind(kinds: &KindNames) -> impl Fn(&str) -> Result<String, String> {
    |text| kinds.find(text).map(str::to_owned)
}

/// Reads the name of a setting that views read. The ingester uses some names in `ingester_settings` itself.
pub(super) fn setting_name(text: &str) -> Result<String, String> {
    if OWN_SETTINGS.iter().any(|own| text.starts_with(own)) || OWN_NAMES.contains(&text) {
        return Err("the ingester itself keeps a value of this name; give the view's setting another one".into());
    }
    if text.is_empty() || text.len() > 64 || text.contains(|c: char| c == '\\' || c.is_control()) {
        return Err("use the name of a setting: 1 to 64 bytes, no backslashes and no control characters".into());
    }
    Ok(text.to_owned())
}

/// Reads the value of a setting that views read. An empty text removes the setting.
pub(super) fn setting_value(text: &str) -> Result<String, String> {
    match text.chars().count() {
        0..=256 => Ok(text.to_owned()),
        _ => Err("use a text of at most 256 characters".into()),
    }
}

/// Reads an address to listen on: a host and a port. An empty text counts as no value. As in Go, `:8080` means all addresses of the
/// machine. An address that is not available fails only when the server listens.
pub(super) fn listen(text: &str) -> Result<Option<String>, String> {
    match text.rsplit_once(':') {
        None if text.is_empty() => Ok(None),
        Some((host, port)) if port.parse::<u16>().is_ok() && !host.contains(['/', ' ']) => Ok(Some(text.to_owned())),
        _ => Err("use an address and a port such as `0.0.0.0:8080`, or \"\" for none".into()),
    }
}

/// Reads an address to listen on, which must not be empty.
pub(super) fn address(text: &str) -> Result<String, String> {
    listen(text)?.ok_or_else(|| "use an address and a port such as `0.0.0.0:8443`".to_owned())
}

/// Reads the name or address of a server, or a list of them with commas, where each may have its own port. An empty text counts as no
/// value.
pub(super) fn host(text: &str) -> Result<Option<String>, String> {
    let several = text.contains(',');
    for host in text.split(',').map(str::trim) {
        let port = host.rsplit_once(':').filter(|(name, _)| !name.contains(':') || name.ends_with(']'));
        match port {
            Some((_, port)) if !several && port.parse::<u16>().is_ok() => {
                return Err("use the name alone; the port is a key of its own".into());
            }
            Some((name, port)) if several && (name.is_empty() || port.parse::<u16>().is_err()) => {
                return Err(format!("`{host}` is not a host with a port such as `db-1:3306`"));
            }
            _ => {}
        }
        if host.is_empty() && several {
            return Err("use hosts with commas between, such as `db-1,db-2`: one is empty".into());
        }
        if host.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '@')) {
            return Err("use a host name or an IP address; a URL belongs into `metadataStorage.databaseURL`".into());
        }
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}
