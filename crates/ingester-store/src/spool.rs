//! Keeps texts in a temporary file, compressed, until their rows are written.
//!
//! InnoDB stores the rows of a table in the order of its primary key, the uid, and uids are random. Once a table is larger than the buffer
//! pool, each row that arrives in another order costs a page that is read and written for this row alone. In the order of uids, a page is
//! written once, with all of its rows. So a large fill first collects its objects in such a file.
//!
//! The file has no name: it is unlinked when it is created, with mode 0600, and ends with the process.
//!
//! May use: nothing.

use parking_lot::Mutex;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// [`SpoolFile::write_out`] is worthwhile from this many bytes on.
const CHUNK: usize = 256 << 10;

/// The most bytes of a file: with the last text, a position still fits into 32 bits.
pub const MOST: u32 = 3 << 30;

/// Where a temporary file is created, and how large it may become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolPlace {
    /// The folder.
    pub folder: PathBuf,
    /// The size in bytes at which the texts of a file are written to the database and the next file begins. 0 turns spooling off.
    pub limit: u64,
}

impl SpoolPlace {
    /// Logs that a file cannot be created or written there.
    pub fn warn(&self, error: &io::Error) {
        tracing::warn!(
            %error,
            folder = %self.folder.display(),
            "Cannot write a temporary file: the other objects are written in the order in which they arrive, which takes longer; see \
             `ingester.spool`"
        );
    }
}

/// The position of a text in a [`SpoolFile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpoolPosition {
    offset: u32,
    compressed: u32,
    length: u32,
}

impl SpoolPosition {
    /// The length of the text in bytes.
    pub fn length(self) -> usize {
        self.length as usize
    }
}

/// A temporary file without a name. Texts can be read as soon as they are added.
#[derive(Debug)]
pub struct SpoolFile {
    file: File,
    tail: Mutex<Tail>,
}

/// The end of the file, which is not written yet.
#[derive(Debug, Default)]
struct Tail {
    offset: u32,
    bytes: Vec<u8>,
}

impl SpoolFile {
    /// Creates a file in a folder.
    ///
    /// # Errors
    /// If the folder does not exist, or the process may not write there.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        // A file that never had a name gets the mode of the umask.
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(SpoolFile { file, tail: Mutex::default() })
    }

    /// Returns the size of the file in bytes, with the texts that are not written out yet.
    pub fn bytes(&self) -> u64 {
        let tail = self.tail.lock();
        u64::from(tail.offset) + tail.bytes.len() as u64
    }

    /// Adds a text, in memory. Returns `None` if the file would have more than [`MOST`] bytes with it.
    pub fn add(&self, text: &str) -> Option<SpoolPosition> {
        let compressed = lz4_flex::block::compress(text.as_bytes());
        let mut tail = self.tail.lock();
        let offset = tail.offset.checked_add(u32::try_from(tail.bytes.len()).ok()?)?;
        let length = u32::try_from(text.len()).ok()?;
        let position = SpoolPosition { offset, compressed: u32::try_from(compressed.len()).ok()?, length };
        if offset.checked_add(position.compressed).is_none_or(|end| end > MOST) {
            return None;
        }
        tail.bytes.extend_from_slice(&compressed);
        Some(position)
    }

    /// Returns true if so much was added that it should be written out.
    pub fn has_much(&self) -> bool {
        self.tail.lock().bytes.len() >= CHUNK
    }

    /// Writes to the disk what was added. This may block.
    ///
    /// # Errors
    /// If it cannot be written, for example because the disk is full. Everything that was added can still be read.
    pub fn write_out(&self) -> io::Result<()> {
        let mut tail = self.tail.lock();
        self.file.write_all_at(&tail.bytes, tail.offset.into())?;
        tail.offset += tail.bytes.len() as u32;
        tail.bytes.clear();
        Ok(())
    }

    /// Reads a text. This may block.
    ///
    /// # Errors
    /// If the disk cannot be read, or has other bytes there.
    pub fn read(&self, position: SpoolPosition) -> io::Result<String> {
        let SpoolPosition { offset, compressed, length } = position;
        let mut bytes = vec![0; compressed as usize];
        let tail = self.tail.lock();
        match offset.checked_sub(tail.offset) {
            Some(begin) => {
                let begin = begin as usize;
                let found = tail.bytes.get(begin..begin + bytes.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
                bytes.copy_from_slice(found);
            }
            None => {
                drop(tail);
                self.file.read_exact_at(&mut bytes, offset.into())?;
            }
        }
        let text = lz4_flex::block::decompress(&bytes, length as usize).map_err(io::Error::other)?;
        String::from_utf8(text).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, SpoolFile};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    #[test]
    fn texts_are_read_before_and_after_they_are_written_out() {
        let folder = tempfile::tempdir().unwrap();
        let spool = SpoolFile::create(folder.path()).unwrap();
        let mut rng = fastrand::Rng::with_seed(7);
        let mut texts = vec![(String::new(), spool.add("").unwrap())];
        for number in 0..500 {
            let text: String = (0..rng.usize(..4000))
                .map(|_| rng.char(if number % 2 == 0 { 'a'..='c' } else { '\0'..='\u{ffff}' }))
                .collect();
            let position = spool.add(&text).unwrap();
            assert_eq!(position.length(), text.len());
            texts.push((text, position));
            if spool.has_much() {
                spool.write_out().unwrap();
            }
        }
        assert!(spool.bytes() > 2 * CHUNK as u64, "some of it is on disk");
        rng.shuffle(&mut texts);
        for (text, position) in &texts {
            assert_eq!(spool.read(*position).unwrap(), *text);
        }
        spool.write_out().unwrap();
        assert!(texts.iter().all(|(text, position)| spool.read(*position).unwrap() == *text));
    }

    #[test]
    fn nobody_else_can_read_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let spool = SpoolFile::create(folder.path()).unwrap();
        spool.add("secret").unwrap();
        spool.write_out().unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "it has no name");
        let about = spool.file.metadata().unwrap();
        assert_eq!((about.permissions().mode() & 0o777, about.nlink()), (0o600, 0));
    }

    #[test]
    fn what_cannot_be_written_is_still_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("read-only");
        std::fs::write(&path, "").unwrap();
        let spool = SpoolFile { file: std::fs::File::open(path).unwrap(), tail: super::Mutex::default() };
        let position = spool.add("only in memory").unwrap();
        assert!(spool.write_out().is_err());
        assert_eq!(spool.read(position).unwrap(), "only in memory");
        let later = spool.add("later").unwrap();
        assert_eq!(spool.read(later).unwrap(), "later");
    }

    #[test]
    fn damage_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let spool = SpoolFile::create(folder.path()).unwrap();
        let position = spool.add(&"a text that is compressed ".repeat(9)).unwrap();
        spool.write_out().unwrap();
        std::os::unix::fs::FileExt::write_all_at(&spool.file, &[0xff; 20], 0).unwrap();
        assert!(spool.read(position).is_err());
        spool.file.set_len(3).unwrap();
        assert!(spool.read(position).is_err(), "it has become shorter");
    }
}
