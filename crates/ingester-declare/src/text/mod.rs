//! Files that people write and want reports about: configurations, kinds, saved queries.
//!
//! A text becomes a tree whose values know their lines. Each sort of file asks a [`TreeNode`] value for the keys and values that it expects;
//! everything else becomes [`Faults`], each with its line and its path.
//!
//! | file | what it has |
//! |---|---|
//! | `tree.rs` | documents of YAML or JSON as trees |
//! | `located.rs` | a value and its path, and what is expected of it |
//! | `keys.rs` | the keys of a map, taken one by one: those that are left are unknown |
//! | `fault.rs` | what is wrong, and where |
//!
//! May use: ingester-core, documents.
//! Must not: open files, know which keys a file has.

mod fault;
mod keys;
mod located;
mod tree;

pub use fault::{Fault, Faults, Mistake};
pub use keys::{Keys, UnknownKey};
pub use located::TreeNode;
pub use tree::{Content, Tree, read, read_documents};

use ingester_core::place::shortened;

/// Returns a value for a message: one short line. The text before an `@` may contain a password.
pub fn without_password(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, host)) => format!("***@{}", shortened(host)),
        None => shortened(text),
    }
}

/// The special rules of one sort of file.
#[derive(Debug)]
pub struct Syntax {
    /// The file may have passwords. Then every value is the text that is written, because a password may look like a number; anchors,
    /// aliases and tags are refused, because a password may look like one; and no fault that is found here repeats a value that is not
    /// [public](TreeNode::public), or more of a key than its first word.
    pub passwords: bool,
    /// The remedy for an unknown key that people know from elsewhere.
    pub hint: fn(&str) -> Option<&'static str>,
}

impl Syntax {
    /// A key as faults repeat it. In YAML, `password:hunter2` without a blank is a key.
    fn render_key(&self, key: &str) -> String {
        if !self.passwords {
            return shortened(key);
        }
        let behind = key.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'));
        behind.map_or_else(|| shortened(key), |at| format!("{}***", shortened(&key[..at])))
    }
}
