//! Child processes that never outlive the test: folders, ports, start, stop.
//!
//! There are two lines of defence. A value stops its server when it is dropped, also by a panic. And each [`Home`] has
//! a keeper, a shell that waits for the end of its standard input: the kernel closes that pipe however the test process
//! ends, and the keeper then kills what is left and removes the folder. So it cleans up after `static` values, which
//! are never dropped, and after `kill -9`. (PR_SET_PDEATHSIG does not work here: it fires when the *thread* that
//! started the child ends, and every test is a thread.)

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::{BTreeSet, hash_map::RandomState},
    fs::{self, File},
    hash::{BuildHasher as _, Hasher as _},
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

/// The time that a server has to become ready. It is generous because the machine may be busy compiling.
pub(crate) const START_DEADLINE: Duration = Duration::from_secs(120);
/// The time that a server has to end by itself before it is killed.
const STOP_DEADLINE: Duration = Duration::from_secs(20);
/// The time that a server has to end when its data will be deleted.
const DROP_DEADLINE: Duration = Duration::from_secs(5);

/// Tries a condition, at first every few milliseconds, until it holds.
///
/// # Errors
/// When `deadline` has passed, naming `what`; and what the condition itself returns.
pub fn wait_until(what: &str, deadline: Duration, mut condition: impl FnMut() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    let mut pause = Duration::from_millis(20);
    loop {
        if condition()? {
            return Ok(());
        }
        if begin.elapsed() > deadline {
            bail!("waited {deadline:?} in vain for {what}");
        }
        thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(200));
    }
}

/// A free port of 127.0.0.1, which this process gives out only once.
///
/// It is below the range of outgoing connections on Linux (32768 and up). Otherwise a client could occupy the port when
/// its server is restarted.
///
/// # Errors
/// When none is free.
pub fn free_port() -> Result<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = lock(&GIVEN);
    for _ in 0..1000 {
        let random = RandomState::new().build_hasher().finish();
        let port = 20_000 + u16::try_from(random % 12_000)?;
        if given.contains(&port) || TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            continue;
        }
        given.insert(port);
        return Ok(port);
    }
    bail!("no free port between 20000 and 32000 on 127.0.0.1")
}

/// Returns true if this process runs as root. Database servers refuse to, unless an option allows it.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// Finds a program in PATH, or in the folders of system programs, which PATH often lacks.
///
/// # Errors
/// When it is not found; the message names the command that installs it.
pub(crate) fn find_program(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
        .with_context(|| format!("{name} is not installed; install it with: {}", crate::INSTALL))
}

/// The folder where `tests/install.sh` puts everything that is not a system package.
pub(crate) fn cache_folder() -> Result<PathBuf> {
    let home = std::env::var_os("HOME").context("HOME is not set: the testbed's programs are under ~/.cache")?;
    Ok(PathBuf::from(home).join(".cache/ingester-testbed"))
}

/// Locks a mutex. A poisoned one only means that another test panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// A temporary folder, and the keeper that removes it when this process is gone.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
    keeper: Mutex<Keeper>,
}

#[derive(Debug)]
struct Keeper {
    shell: Child,
    /// Lines `+ID` and `-ID` register and unregister process groups. Closing it tells the keeper to clean up.
    orders: Option<ChildStdin>,
}

/// Keeps the list of process groups. At the end of its input it kills them all and removes the folder `$1`.
const KEEPER: &str = r#"
trap '' INT TERM HUP
alive=' '
while read -r order; do
  group=${order#?}
  case $order in
    +*) alive="$alive$group " ;;
    -*) alive="${alive%% "$group" *} ${alive#* "$group" }" ;;
  esac
done
for group in $alive; do kill -s KILL -- "-$group" 2>/dev/null; done
# A killed process may still be writing its last file.
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf -- "$1" 2>/dev/null
  [ -e "$1" ] || break
  sleep 0.2
done
"#;

impl Home {
    /// Creates the folder, `<name>-` and random letters, in the system's folder of temporary files.
    ///
    /// # Errors
    /// When the folder cannot be created or no shell can be started.
    pub fn new(name: &str) -> Result<Arc<Self>> {
        let folder =
            tempfile::Builder::new().prefix(&format!("{name}-")).tempdir().context("making a temporary folder")?;
        fs::create_dir(folder.path().join("tmp")).context("making a temporary folder")?;
        let mut shell = Command::new("sh")
            .args(["-c", KEEPER, "sh"])
            .arg(folder.path())
            .current_dir("/")
            .stdin(Stdio::piped())
            // A reader of this process's output must not wait for the keeper.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C must reach only the test process's own group.
            .process_group(0)
            .spawn()
            .context("starting the shell that cleans up")?;
        let orders = shell.stdin.take();
        Ok(Arc::new(Self { folder, keeper: Mutex::new(Keeper { shell, orders }) }))
    }

    /// The folder in which the servers of this home keep their files.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn tell_keeper(&self, sign: char, group: u32) -> Result<()> {
        let mut keeper = lock(&self.keeper);
        let orders = keeper.orders.as_mut().context("the keeper has been let go")?;
        writeln!(orders, "{sign}{group}").context("telling the keeper about a process")
    }

    /// Runs a program to its end. Its output goes to `<name>.log` in this folder.
    ///
    /// # Errors
    /// When it cannot be started, fails (the message holds the end of its output), or takes over two minutes.
    pub(crate) fn run(self: &Arc<Self>, name: &str, command: Command) -> Result<()> {
        let process = Process::new(self, name, command);
        process.spawn()?;
        let mut status = None;
        let ended = wait_until(&format!("the end of {name}"), START_DEADLINE, || {
            status = process.exit_status()?;
            Ok(status.is_some())
        });
        if let Err(error) = ended {
            return Err(error.context(process.last_words()));
        }
        match status {
            Some(status) if status.success() => Ok(()),
            _ => bail!("{name} failed; {}", process.last_words()),
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let keeper = self.keeper.get_mut();
        // The keeper removes the folder, too, which is harmless. After this line it is gone.
        drop(keeper.orders.take());
        let _ = keeper.shell.wait();
    }
}

/// One server program, which can be started, stopped, killed and restarted with the same arguments.
///
/// It runs in its own process group, so that its children end with it. Dropping the value ends it.
#[derive(Debug)]
pub struct Process {
    name: String,
    log: PathBuf,
    /// The signal that asks it to end.
    end: &'static str,
    state: Mutex<State>,
    home: Arc<Home>,
}

#[derive(Debug)]
struct State {
    command: Command,
    child: Option<Child>,
}

impl Process {
    /// Describes a program; it does not run yet. Its output goes to `<name>.log` in the folder of `home`, and its temporary files to `tmp`
    /// there: MariaDB deletes all temporary tables that it finds at its start, even other servers'.
    pub(crate) fn new(home: &Arc<Home>, name: &str, mut command: Command) -> Self {
        command.current_dir(home.path()).env("TMPDIR", home.path().join("tmp")).stdin(Stdio::null()).process_group(0);
        Self {
            name: name.to_owned(),
            log: home.path().join(format!("{name}.log")),
            end: "TERM",
            state: Mutex::new(State { command, child: None }),
            home: Arc::clone(home),
        }
    }

    /// Returns the same program, which this signal ends instead of SIGTERM.
    pub(crate) fn ended_by(mut self, signal: &'static str) -> Self {
        self.end = signal;
        self
    }

    /// Starts the program if it does not run.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn spawn(&self) -> Result<()> {
        let mut state = lock(&self.state);
        if let Some(child) = &mut state.child {
            if child.try_wait()?.is_none() {
                return Ok(());
            }
            self.home.tell_keeper('-', child.id())?;
            state.child = None;
        }
        let log = File::options().create(true).append(true).open(&self.log).context("opening a log file")?;
        state.command.stdout(log.try_clone()?).stderr(log);
        let child = state.command.spawn().with_context(|| format!("starting {}", self.name))?;
        let told = self.home.tell_keeper('+', child.id());
        state.child = Some(child);
        told
    }

    /// Starts the program if it does not run, and waits until `ready` says so, at most two minutes.
    ///
    /// # Errors
    /// When it cannot be started, ends early, or is not ready in time; the message holds the end of its output.
    pub(crate) fn start(&self, ready: impl Fn() -> bool) -> Result<()> {
        self.spawn()?;
        wait_until(&format!("{} to be ready", self.name), START_DEADLINE, || {
            if let Some(status) = self.exit_status()? {
                bail!("{} ended while starting: {status}", self.name);
            }
            Ok(ready())
        })
        .with_context(|| self.last_words())
    }

    /// The process id, while it runs.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        let mut state = lock(&self.state);
        let child = state.child.as_mut()?;
        matches!(child.try_wait(), Ok(None)).then(|| child.id())
    }

    /// Sends SIGTERM and waits; kills the program after 20 seconds. Does nothing if it does not run.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn stop(&self) -> Result<()> {
        self.end(STOP_DEADLINE).map(drop)
    }

    /// Sends SIGTERM, waits at most `grace`, then kills the program if it still runs. Returns its exit status: a signal if it had to be
    /// killed. `None` if it does not run.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn terminate(&self, grace: Duration) -> Result<Option<ExitStatus>> {
        self.end(grace)
    }

    /// Kills the program with SIGKILL, like a crash, and waits until it is gone.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn kill(&self) -> Result<()> {
        self.end(Duration::ZERO).map(drop)
    }

    /// Suspends the program (SIGSTOP) until [`thaw`](Self::thaw), like a pause of the machine. Does nothing if it does
    /// not run. [`kill`](Self::kill) works on a frozen program; [`stop`](Self::stop) runs into its deadline.
    pub fn freeze(&self) {
        if let Some(id) = self.id() {
            signal("STOP", id);
        }
    }

    /// Resumes a frozen program (SIGCONT).
    pub fn thaw(&self) {
        if let Some(id) = self.id() {
            signal("CONT", id);
        }
    }

    /// Ends the program: with the signal that asks it to end if `grace` is not zero, then with SIGKILL.
    fn end(&self, grace: Duration) -> Result<Option<ExitStatus>> {
        let mut state = lock(&self.state);
        let Some(child) = &mut state.child else { return Ok(None) };
        let group = child.id();
        if child.try_wait()?.is_none() && !grace.is_zero() {
            signal(self.end, group);
            // If the deadline passes, the next line kills it.
            let _ = wait_until(&self.name, grace, || Ok(child.try_wait()?.is_some()));
        }
        // Signal the whole group, even if its first process has ended: it may have children. (The id of an empty group
        // could belong to another one by now, but Linux reuses ids only after at least 32768 others.)
        let children = children(group);
        signal("KILL", group);
        // PostgreSQL's children have their own groups.
        children.into_iter().for_each(|child| signal("KILL", child));
        let status = child.wait().with_context(|| format!("waiting for the end of {}", self.name))?;
        state.child = None;
        self.home.tell_keeper('-', group)?;
        Ok(Some(status))
    }

    /// The exit status, if the program has ended by itself.
    ///
    /// # Errors
    /// When it was not started, or was ended by one of these methods.
    pub fn exit_status(&self) -> Result<Option<ExitStatus>> {
        match &mut lock(&self.state).child {
            Some(child) => Ok(child.try_wait()?),
            None => bail!("{} does not run", self.name),
        }
    }

    /// The file with the output of all its runs.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The end of its output, for error messages: the folder with the rest is gone when they are read.
    pub(crate) fn last_words(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(60)..).unwrap_or_default();
        format!("the last output of {}:\n{}", self.name, tail.join("\n"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // If this fails, the keeper does the rest.
        let _ = self.end(DROP_DEADLINE);
    }
}

/// The children of a process that runs.
fn children(id: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Sends a signal to a process group. A missing group is not an error.
fn signal(signal: &str, group: u32) {
    // The shell's built-in `kill`: the program of that name is not installed everywhere.
    let _ = Command::new("sh")
        .args(["-c", r#"kill -s "$1" -- "-$2""#, "sh", signal, &group.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// Sends bytes to a port of 127.0.0.1 and returns the first bytes of the answer; `None` without an answer in time.
pub(crate) fn ask_port(port: u16, question: &[u8]) -> Option<Vec<u8>> {
    let timeout = Some(Duration::from_secs(2));
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(timeout).ok()?;
    stream.set_write_timeout(timeout).ok()?;
    stream.write_all(question).ok()?;
    let mut answer = vec![0; 1024];
    let length = stream.read(&mut answer).ok()?;
    answer.truncate(length);
    Some(answer)
}
