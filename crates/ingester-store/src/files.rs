//! Reads and writes all files that people name.
//!
//! The reader follows links. It reads pipes, such as the shell's `<(command)`, and standard input; refuses devices, because their content
//! may have no end, or because opening them may do something; and reads no more than [`MOST`]. The writer replaces regular files only. A
//! command that writes a folder uses [`replace_within`], which writes nothing outside of that folder.
//!
//! May use: nothing.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The most bytes of a file that is read whole.
pub const MOST: u64 = 64 << 20;

/// The permissions of [`Readers::Owner`].
const OWNER: u32 = 0o600;

/// The most links in a row, as on Linux.
const LINKS: usize = 40;

/// The names of standard input. It may be a device, such as a terminal, or a socket, which cannot be opened by name.
const STDIN: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// The kind of file that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A folder.
    Folder,
    /// A pipe, which can be read once.
    Pipe,
    /// The device without content, `/dev/null`.
    Null,
    /// Another device, or a socket.
    Device,
}

impl FileKind {
    /// Returns the kind of a file.
    pub fn from_metadata(about: &Metadata) -> Self {
        let is_null = |device: u64| Path::new("/dev/null").metadata().is_ok_and(|null| null.rdev() == device);
        match FileKind::of_mode(about.mode()) {
            FileKind::Device if is_null(about.rdev()) => FileKind::Null,
            kind => kind,
        }
    }

    /// Returns the kind for the type of file in `st_mode`.
    fn of_mode(mode: u32) -> Self {
        match mode & 0o170_000 {
            0o100_000 => FileKind::Regular,
            0o040_000 => FileKind::Folder,
            0o010_000 => FileKind::Pipe,
            // Character and block devices, sockets, and types that only some systems have.
            _ => FileKind::Device,
        }
    }

    fn name(self) -> &'static str {
        match self {
            FileKind::Regular => "a regular file",
            FileKind::Folder => "a folder",
            FileKind::Pipe => "a pipe",
            FileKind::Null | FileKind::Device => "a device",
        }
    }
}

/// Returns the error for a device, which is not read.
pub fn device() -> io::Error {
    io::Error::other("it is a device, not a file")
}

/// Returns the content of a file. A pipe is read once, and has the same content for the rest of the process.
///
/// # Errors
/// If it cannot be read, is a device, or has more than [`MOST`] bytes.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_within(path, MOST)
}

/// Like [`read`], as text.
///
/// # Errors
/// As [`read`], and if it is not UTF-8. That error names the line, and contains nothing of the text.
pub fn read_text(path: &Path) -> io::Result<String> {
    read(path).and_then(utf8)
}

/// Returns the text of these bytes.
///
/// # Errors
/// If they are not UTF-8. The error names the line, and contains nothing of the text.
fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        let what = format!("line {line} is not UTF-8; convert it: iconv -f LATIN1 -t UTF-8 FILE > FILE.utf8");
        io::Error::new(io::ErrorKind::InvalidData, what)
    })
}

/// Like [`read`], with another limit.
///
/// # Errors
/// As [`read`].
pub fn read_within(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let is_pipe = is_pipe(path);
    if let Some(content) = pipes().get(path).filter(|_| is_pipe) {
        return Ok(content.to_vec());
    }
    let content = read_once(path, most)?;
    if is_pipe {
        pipes().insert(path.to_owned(), content.as_slice().into());
    }
    Ok(content)
}

/// Returns the content of each pipe, by path. A file is read several times: a configuration first for the kinds that it names, then for
/// their settings, and again to find changes.
fn pipes() -> parking_lot::MutexGuard<'static, BTreeMap<PathBuf, Arc<[u8]>>> {
    static PIPES: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());
    PIPES.lock()
}

fn read_once(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if is_stdin(path) {
        return bounded(io::stdin().lock(), most);
    }
    match FileKind::from_metadata(&path.metadata()?) {
        FileKind::Null => Ok(Vec::new()),
        FileKind::Device => Err(device()),
        FileKind::Regular | FileKind::Folder | FileKind::Pipe => bounded(File::open(path)?, most),
    }
}

fn bounded(reader: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    reader.take(most + 1).read_to_end(&mut content)?;
    match content.len() as u64 > most {
        true => Err(too_large(most)),
        false => Ok(content),
    }
}

fn too_large(most: u64) -> io::Error {
    let most = if most >= 1 << 20 { format!("{} MiB", most >> 20) } else { format!("{most} bytes") };
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most}, which is more than is read"))
}

fn is_stdin(path: &Path) -> bool {
    STDIN.iter().any(|name| path == Path::new(name))
}

/// Returns true if a path leads to a pipe or to standard input. Its content can be read only once, and it is in no folder.
pub fn is_pipe(path: &Path) -> bool {
    is_stdin(path) || path.metadata().is_ok_and(|about| FileKind::from_metadata(&about) == FileKind::Pipe)
}

/// Returns the folder of the files that a file names: its own folder, or the current one for a pipe.
pub fn folder(path: &Path) -> &Path {
    match is_pipe(path) {
        true => Path::new(""),
        false => path.parent().unwrap_or(Path::new("")),
    }
}

/// Returns the files of a folder whose names end in one of these extensions, sorted. Hidden files and folders are passed over.
/// Any other path is returned: reading it reports a link that leads nowhere.
///
/// # Errors
/// If the folder cannot be read.
pub fn in_folder(folder: &Path, extensions: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_of_these = path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known));
        if is_of_these && !is_hidden && !path.is_dir() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Checks a file before a library reads it without a limit. The library reports a missing file itself.
///
/// # Errors
/// If it is a device, or has more than [`MOST`] bytes.
pub fn check(path: &Path) -> io::Result<()> {
    let Ok(about) = path.metadata() else { return Ok(()) };
    match FileKind::from_metadata(&about) {
        FileKind::Device => Err(device()),
        FileKind::Regular if about.len() > MOST => Err(too_large(MOST)),
        _ => Ok(()),
    }
}

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Those who could read the file before; for a new file, those that the umask allows.
    AsBefore,
    /// Only its owner: the content has a password, or is the place for one.
    Owner,
}

/// Replaces a file atomically: it has either the former content or this one. Links are followed, and the file keeps its permissions.
///
/// # Errors
/// If it cannot be written, or something else than a regular file has its name.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_for(path, content, Readers::AsBefore)
}

fn replace_for(path: &Path, content: &[u8], readers: Readers) -> io::Result<()> {
    let target = target(path)?;
    let mut next = target.clone().into_os_string();
    next.push(".next");
    let next = PathBuf::from(next);
    // A former process may have left this file behind. It may also be a link, which must not be followed.
    match fs::remove_file(&next) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = write_new(&next, content, &target, readers).and_then(|()| fs::rename(&next, &target));
    if written.is_err() {
        // The first error is the more useful one.
        let _ = fs::remove_file(&next);
    }
    written
}

/// Replaces or creates a file in a folder, and creates the folders on the way. Links are followed, but not out of the folder.
///
/// # Errors
/// Those of [`replace`], if a folder cannot be created, and if the name leads out of the folder.
pub fn replace_within(folder: &Path, name: &str, content: &[u8], readers: Readers) -> io::Result<()> {
    let steps = steps_of(name)?;
    fs::create_dir_all(folder)?;
    let root = folder.canonicalize()?;
    let mut at = root.clone();
    for step in steps.parent().into_iter().flat_map(Path::components) {
        at.push(step);
        match fs::create_dir(&at) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        // It may be a link.
        at = at.canonicalize()?;
        check_within(&root, &at)?;
    }
    let target = target(&at.join(steps.file_name().ok_or_else(outside)?))?;
    check_within(&root, &target.parent().ok_or_else(outside)?.canonicalize()?)?;
    replace_for(&target, content, readers)
}

/// Removes a file from a folder. A missing file is not an error.
///
/// # Errors
/// If it cannot be removed, or the name leads out of the folder.
pub fn remove_within(folder: &Path, name: &str) -> io::Result<()> {
    let file = folder.join(steps_of(name)?);
    let removed = (|| {
        check_within(&folder.canonicalize()?, &file.parent().ok_or_else(outside)?.canonicalize()?)?;
        fs::remove_file(&file)
    })();
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The relative path of a file below a folder.
fn steps_of(name: &str) -> io::Result<&Path> {
    let path = Path::new(name);
    match path.components().all(|step| matches!(step, Component::Normal(_))) {
        true => Ok(path),
        false => Err(outside()),
    }
}

fn check_within(root: &Path, folder: &Path) -> io::Result<()> {
    if folder.starts_with(root) { Ok(()) } else { Err(outside()) }
}

fn outside() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is outside of the folder that the command writes")
}

fn write_new(next: &Path, content: &[u8], former: &Path, readers: Readers) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let permissions = match readers {
        Readers::Owner => Some(fs::Permissions::from_mode(OWNER)),
        Readers::AsBefore => former.metadata().ok().map(|about| about.permissions()),
    };
    if readers == Readers::Owner {
        // From the beginning: a reader who opens it before the permissions are set would keep it open.
        options.mode(OWNER);
    }
    let mut file = options.open(next)?;
    file.write_all(content)?;
    permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))
}

/// Follows all links to the file that a writer replaces. The file need not exist.
///
/// # Errors
/// If something else than a regular file has its name.
pub fn target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        let about = match target.symlink_metadata() {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(error),
        };
        if about.is_symlink() {
            let link = fs::read_link(&target)?;
            target = target.parent().unwrap_or(Path::new("")).join(link);
            continue;
        }
        return match FileKind::from_metadata(&about) {
            FileKind::Regular => Ok(target),
            other => {
                let reason = format!("it is {}, and only a regular file is written: name another file", other.name());
                Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
            }
        };
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a link that leads to itself"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    fn pipe(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn a_kind_of_file_is_read_off_its_mode() {
        for (mode, kind) in [
            (0o100_644, FileKind::Regular),
            (0o040_755, FileKind::Folder),
            (0o010_600, FileKind::Pipe),
            (0o020_666, FileKind::Device),
            (0o060_660, FileKind::Device),
            (0o140_777, FileKind::Device),
        ] {
            assert_eq!(FileKind::of_mode(mode), kind, "{mode:o}");
        }
        assert_eq!(FileKind::from_metadata(&Path::new("/dev/null").metadata().unwrap()), FileKind::Null);
    }

    #[test]
    fn a_pipe_is_read_once_and_has_its_content_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("pipe");
        let linked = folder.path().join("link");
        pipe(&named);
        symlink("pipe", &linked).unwrap();
        let write = std::thread::spawn({
            let named = named.clone();
            move || fs::write(named, "kinds: []\n")
        });
        assert_eq!(read_text(&linked).unwrap(), "kinds: []\n");
        write.join().unwrap().unwrap();
        assert_eq!(read_text(&linked).unwrap(), "kinds: []\n", "without a writer");
        assert_eq!(super::folder(&linked), Path::new(""));
        assert_eq!(super::folder(&folder.path().join("a.yaml")), folder.path());
    }

    #[test]
    fn what_has_no_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (endless, socket, large) =
            (folder.path().join("pipe"), folder.path().join("socket"), folder.path().join("large"));
        pipe(&endless);
        let write = std::thread::spawn({
            let endless = endless.clone();
            move || -> io::Result<()> {
                let mut file = OpenOptions::new().write(true).open(endless)?;
                // The loop ends once the reader has left.
                loop {
                    file.write_all(&[b'x'; 4096])?;
                }
            }
        });
        let error = read_within(&endless, 10_000).unwrap_err().to_string();
        assert!(error.contains("more than 10000 bytes"), "{error}");
        assert!(write.join().unwrap().is_err());
        let _listener = UnixListener::bind(&socket).unwrap();
        assert!(read(&socket).unwrap_err().to_string().contains("device"));
        File::create(&large).unwrap().set_len(MOST + 1).unwrap();
        for refused in [read(&large).err(), check(&large).err(), check(&socket).err()] {
            assert!(refused.is_some());
        }
        assert!(read(Path::new("/dev/zero")).unwrap_err().to_string().contains("it is a device"));
        assert_eq!(read(Path::new("/dev/null")).unwrap(), b"");
        assert_eq!(read(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(check(&folder.path().join("none")).is_ok());
    }

    #[test]
    fn a_regular_file_is_replaced_behind_its_links_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/file"), "before").unwrap();
        fs::set_permissions(at("deep/file"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("deep/file", at("link")).unwrap();
        symlink("link", at("second")).unwrap();
        symlink("deep/new", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        // A former process left this link, or someone put it there.
        symlink("/dev/null", at("deep/file.next")).unwrap();
        replace(&at("second"), b"after").unwrap();
        assert_eq!(fs::read_to_string(at("deep/file")).unwrap(), "after");
        assert_eq!(at("deep/file").metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert!(at("second").is_symlink() && at("link").is_symlink());
        replace(&at("dangling"), b"new").unwrap();
        assert_eq!(fs::read_to_string(at("deep/new")).unwrap(), "new");
        pipe(&at("pipe"));
        symlink("pipe", at("to a pipe")).unwrap();
        for (name, says) in [("pipe", "a pipe"), ("to a pipe", "a pipe"), ("deep", "a folder"), ("circle", "itself")] {
            let error = replace(&at(name), b"x").unwrap_err().to_string();
            assert!(error.contains(says), "{name}: {error}");
        }
        assert!(target(Path::new("/dev/null")).unwrap_err().to_string().contains("it is a device"));
        let left = folder.path().join("deep").read_dir().unwrap().count();
        assert_eq!(left, 2, "nothing else is left");
    }

    #[test]
    fn a_link_that_leads_nowhere_is_a_file_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["b.yaml", ".hidden.yaml", "other.txt"] {
            fs::write(path(name), "").unwrap();
        }
        fs::create_dir(path("folder.yaml")).unwrap();
        symlink(path("folder.yaml"), path("link.yaml")).unwrap();
        symlink("none", path("a.yaml")).unwrap();
        let found = in_folder(folder.path(), &["yaml"]).unwrap();
        assert_eq!(found, [path("a.yaml"), path("b.yaml")]);
        assert_eq!(read(&found[0]).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_name_or_a_link_that_leads_out_of_the_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let out = at("out");
        fs::create_dir_all(at("out/inner")).unwrap();
        fs::write(at("theirs"), "theirs").unwrap();
        symlink("../theirs", at("out/file")).unwrap();
        symlink("..", at("out/up")).unwrap();
        symlink("inner", at("out/same")).unwrap();
        let absolute = at("theirs").display().to_string();
        for name in
            ["../theirs", "inner/../../theirs", "./../theirs", "up/theirs", "up/new/file", "file", "", "..", &absolute]
        {
            let error = replace_within(&out, name, b"ours", Readers::AsBefore).unwrap_err().to_string();
            assert!(error.contains("outside of the folder"), "{name}: {error}");
        }
        for name in ["../theirs", "up/theirs", &absolute] {
            let error = remove_within(&out, name).unwrap_err().to_string();
            assert!(error.contains("outside of the folder"), "{name}: {error}");
        }
        assert_eq!(fs::read_to_string(at("theirs")).unwrap(), "theirs");
        assert!(!at("new").exists());
        for (name, real) in [("a", "out/a"), ("deep/er/a", "out/deep/er/a"), ("same/a", "out/inner/a")] {
            replace_within(&out, name, b"ours", Readers::AsBefore).unwrap();
            assert_eq!(fs::read_to_string(at(real)).unwrap(), "ours", "{name}");
            remove_within(&out, name).unwrap();
            assert!(!at(real).exists(), "{name}");
        }
        remove_within(&out, "none/none").unwrap();
    }
    #[test]
    fn a_file_with_a_password_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| folder.path().join(name).metadata().unwrap().mode() & 0o777;
        fs::write(folder.path().join("open"), "before").unwrap();
        fs::set_permissions(folder.path().join("open"), fs::Permissions::from_mode(0o644)).unwrap();
        for name in ["open", "new"] {
            replace_within(folder.path(), name, b"password", Readers::Owner).unwrap();
            assert_eq!(mode(name), 0o600, "{name}");
        }
    }
}
