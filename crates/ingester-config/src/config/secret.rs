//! Text that is never printed.

use super::error::ConfigError;
use ingester_store::files;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

/// The longest password, in bytes. A longer one is a sign that another file, or a device, was named by mistake.
const LONGEST: u64 = 4096;

/// A password, or a URL that may contain one. It prints itself as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the text itself, for connecting.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl Secret {
    /// Reads the text of a file, such as a mounted Kubernetes Secret, without the newline at its end.
    ///
    /// # Errors
    /// If the file cannot be read, is empty, is not UTF-8, or is too long. The errors name the file, if there is one, and contain nothing
    /// of its content.
    pub(super) fn read(file: &Path) -> Result<Self, ConfigError> {
        let wrong = |what: &str| ConfigError::from_message(format!("the password file {} {what}", file.display()));
        let bytes = files::read_within(file, LONGEST).map_err(|error| match error.kind() {
            // The user may have written the password itself in the place of the file's name.
            ErrorKind::NotFound | ErrorKind::InvalidInput | ErrorKind::InvalidFilename => ConfigError::from_message(format!(
                "the password file that --password-file, MYSQL_PASSWORD_FILE, DATABASE_PASSWORD_FILE or a key `passwordFile` names does not exist (give \
                 the name of a file there, not the password): {error}"
            )),
            ErrorKind::FileTooLarge => wrong("has more than 4096 bytes, which no password has"),
            _ => wrong(&format!("cannot be read: {error}")),
        })?;
        let Ok(mut text) = String::from_utf8(bytes) else { return Err(wrong("is not UTF-8")) };
        if text.ends_with('\n') {
            text.pop();
            if text.ends_with('\r') {
                text.pop();
            }
        }
        match text.as_str() {
            "" => Err(wrong("is empty")),
            _ => Ok(Secret(text)),
        }
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Secret(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Secret(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
