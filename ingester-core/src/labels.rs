//! Which keys and values Kubernetes' grammar allows for labels and annotations, and which names for objects and namespaces.
//!
//! May use: nothing.

/// A mistake in a name: its position in bytes from the beginning, and the reason.
pub type LabelFault = (usize, String);

/// Bytes of a label's value, and of its key after the prefix.
const NAME_LENGTH: usize = 63;
/// Bytes of a key's prefix.
const PREFIX_LENGTH: usize = 253;

/// Checks a label's key: `[prefix/]name`. The key of an annotation may have capital letters in its prefix, too.
///
/// # Errors
/// Where it is wrong, and why.
pub fn check_label_key(key: &str) -> Result<(), LabelFault> {
    let Some((prefix, name)) = key.split_once('/') else {
        return check_name("a key", key);
    };
    check_prefix(prefix)?;
    let behind = prefix.len() + 1;
    if let Some(at) = name.find('/') {
        return Err((behind + at, "a key has one `/` at most".into()));
    }
    if name.is_empty() {
        return Err((behind, "a key has a name behind its `/`".into()));
    }
    check_name("the name in a key", name).map_err(|(at, what)| (behind + at, what))
}

/// Checks an annotation's key: as a label's key, except that its prefix may have capital letters.
///
/// # Errors
/// Where it is wrong, and why.
pub fn check_annotation_key(key: &str) -> Result<(), LabelFault> {
    match key.split_once('/') {
        Some((prefix, _)) if prefix.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            check_label_key(&key.to_ascii_lowercase())
        }
        _ => check_label_key(key),
    }
}

/// Checks a label's value, which may be empty.
///
/// # Errors
/// Where it is wrong, and why.
pub fn check_label_value(value: &str) -> Result<(), LabelFault> {
    if value.is_empty() { Ok(()) } else { check_name("a label's value", value) }
}

/// Checks the name of an object of this `apiVersion`.
///
/// A custom resource has a DNS subdomain as its name, and so has nearly everything else. In a few groups (`ANY_SEGMENT`) some kinds take
/// whatever can be a segment of a path, such as the role `system:node`.
///
/// # Errors
/// Why it is wrong.
pub fn check_object_name(api_version: &str, name: &str) -> Result<(), &'static str> {
    if is_dns_subdomain(name.as_bytes()) {
        return Ok(());
    }
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if ANY_SEGMENT.iter().any(|of| group == *of || group.strip_suffix(of).is_some_and(|rest| rest.ends_with('.'))) {
        return match name {
            "." | ".." => Err("a name is not `.` or `..`"),
            _ if name.contains(['/', '%']) => Err("a name has neither `/` nor `%`"),
            _ => Ok(()),
        };
    }
    Err(
        "a name has lower-case letters, digits, `-` and `.`, 253 at most, and each part between dots begins and ends with a letter or a digit",
    )
}

/// Groups, with those below them, whose kinds may have other names than DNS subdomains: roles (`system:node`), API services (`v1.`), trust
/// bundles, users of OpenShift (`kube:admin`).
const ANY_SEGMENT: [&str; 2] = ["k8s.io", "openshift.io"];

/// Checks the name of a namespace; empty for objects without one.
///
/// # Errors
/// Why it is wrong.
pub(crate) fn check_namespace(namespace: &str) -> Result<(), &'static str> {
    match namespace.is_empty() || namespace.len() <= NAME_LENGTH && is_dns_label(namespace.as_bytes()) {
        true => Ok(()),
        false => Err(
            "a namespace has lower-case letters, digits and `-`, 63 at most, and begins and ends with a letter or a digit",
        ),
    }
}

/// Returns true for letters in lower case, digits and hyphens, without a hyphen at either end.
fn is_dns_label(label: &[u8]) -> bool {
    !label.contains(&b'.') && is_dns_subdomain(label)
}

/// Returns true for DNS labels with points between them. A plain loop: it runs for the name of each object.
fn is_dns_subdomain(name: &[u8]) -> bool {
    let mut before = b'.';
    for byte in name {
        match (before, byte) {
            (_, b'a'..=b'z' | b'0'..=b'9') => {}
            (b'.', _) | (b'-', b'.') => return false,
            (_, b'-' | b'.') => {}
            _ => return false,
        }
        before = *byte;
    }
    !matches!(before, b'.' | b'-') && name.len() <= PREFIX_LENGTH
}

/// Returns true for a valid name. A plain loop: it runs for each label of each object.
fn is_name(name: &[u8]) -> bool {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return false };
    if name.len() > NAME_LENGTH || !first.is_ascii_alphanumeric() || !last.is_ascii_alphanumeric() {
        return false;
    }
    for byte in name {
        if !matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.') {
            return false;
        }
    }
    true
}

fn check_name(of: &str, name: &str) -> Result<(), LabelFault> {
    if is_name(name.as_bytes()) {
        return Ok(());
    }
    if name.len() > NAME_LENGTH {
        return Err((0, format!("{of} has {NAME_LENGTH} characters at most")));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some(at) = name.find(|c| !allowed(c)) {
        return Err((at, format!("{of} has letters, digits, `-`, `_` and `.`")));
    }
    ends_with_letters_or_digits(of, name)
}

/// A DNS subdomain, in lower case.
fn check_prefix(prefix: &str) -> Result<(), LabelFault> {
    if prefix.is_empty() {
        return Err((0, "a key has a prefix before its `/`".into()));
    }
    if prefix.len() > PREFIX_LENGTH {
        return Err((0, format!("the prefix of a key has {PREFIX_LENGTH} characters at most")));
    }
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if let Some(at) = prefix.find(|c| !allowed(c)) {
        return Err((at, "the prefix of a key has lower-case letters, digits, `-` and `.`".into()));
    }
    let mut behind = 0;
    for part in prefix.split('.') {
        if part.is_empty() {
            return Err((behind, "each part of a key's prefix has a character at least".into()));
        }
        ends_with_letters_or_digits("each part of a key's prefix", part).map_err(|(at, what)| (behind + at, what))?;
        behind += part.len() + 1;
    }
    Ok(())
}

/// `name` is not empty and ASCII.
fn ends_with_letters_or_digits(of: &str, name: &str) -> Result<(), LabelFault> {
    for at in [0, name.len().saturating_sub(1)] {
        if !name.as_bytes().get(at).is_some_and(u8::is_ascii_alphanumeric) {
            return Err((at, format!("{of} begins and ends with a letter or a digit")));
        }
    }
    Ok(())
}
