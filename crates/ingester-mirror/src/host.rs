//! The host of this process.
//!
//! May use: nothing.

/// Returns the host's name, which in a pod is the name of the pod.
pub(crate) fn host_name() -> Option<String> {
    let host = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    host.map(|host| host.trim().to_owned()).filter(|host| !host.is_empty())
}
