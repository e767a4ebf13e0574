//! The ingester as a process: its configuration file, its log, its HTTP server and its end.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{
    http,
    process::{Home, Process, free_port, wait_until},
};

/// Variables that would override the configuration file.
const REMOVED: [&str; 8] = [
    "RUST_LOG",
    "DATABASE_URL",
    "MYSQL_HOST",
    "MYSQL_PORT",
    "MYSQL_USER",
    "MYSQL_PASSWORD",
    "MYSQL_DB_NAME",
    "KUBERNETES_SERVICE_HOST",
];

/// The time limit for another command of the program.
const COMMAND_DEADLINE: Duration = Duration::from_secs(120);

/// `ingester run`, as its own process. Dropping it ends it.
#[derive(Debug)]
pub struct Ingester {
    process: Process,
    home: Arc<Home>,
    program: Program,
    port: u16,
}

/// The program, and the arguments and environment of every run.
#[derive(Debug)]
struct Program {
    binary: PathBuf,
    config: PathBuf,
    kubeconfig: PathBuf,
    environment: Vec<(String, String)>,
}

/// The result of [`Ingester::stop`].
#[derive(Clone, Copy, Debug)]
pub struct StopResult {
    /// The exit status; a signal if it had to be killed.
    pub status: ExitStatus,
    /// The time from the signal to the end.
    pub took: Duration,
}

/// The result of another command of the program.
#[derive(Clone, Debug)]
pub struct CommandResult {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl Ingester {
    /// Starts `<binary> run --config <file>` and returns at once; see [`wait_ready`](Self::wait_ready).
    ///
    /// `config` is the YAML of the file; the section `server`, with the address of a free port, is added to it. `kubeconfig` goes into
    /// `KUBECONFIG`. All variables that the program reads are unset, except the ones in `environment`.
    ///
    /// # Errors
    /// When the file cannot be written or the program cannot be started.
    pub fn start(binary: &Path, config: &str, kubeconfig: &Path, environment: &[(&str, &str)]) -> Result<Self> {
        let home = Home::new("ingester")?;
        let port = free_port()?;
        let volume = home.path().join("config");
        fs::create_dir(&volume).context("making the volume of the configuration")?;
        mount(&volume, config, port)?;
        let file = volume.join(CONFIG);
        symlink(Path::new(DATA).join(CONFIG), &file).context("linking the configuration")?;
        let program = Program {
            binary: binary.to_owned(),
            config: file,
            kubeconfig: kubeconfig.to_owned(),
            environment: environment.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
        };
        let process = Process::new(&home, "ingester", program.command(&["run"]));
        process.spawn()?;
        Ok(Self { process, home, program, port })
    }

    /// Changes the configuration file like kubelet after a change of a ConfigMap: the file is a link into a folder that is replaced by
    /// another one.
    ///
    /// # Errors
    /// When files cannot be written.
    pub fn reconfigure(&self, config: &str) -> Result<()> {
        let volume = self.program.config.parent().context("a file is in a folder")?;
        let before = fs::read_link(volume.join(DATA)).context("reading the link of the configuration")?;
        mount(volume, config, self.port)?;
        fs::remove_dir_all(volume.join(before)).context("removing the former configuration")
    }

    /// Its process.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Returns everything that it wrote since its first start, across restarts.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn logs(&self) -> Result<String> {
        let log = fs::read(self.process.log()).context("reading the log of the ingester")?;
        Ok(String::from_utf8_lossy(&log).into_owned())
    }

    /// The text of `/metrics`.
    ///
    /// # Errors
    /// When there is no answer, or not with 200.
    pub fn metrics(&self) -> Result<String> {
        let (status, body) = http::request(self.port, "GET", "/metrics", "")?;
        ensure!(status == 200, "/metrics answered {status}: {body}");
        Ok(body)
    }

    /// The status of a probe such as `/readyz`.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn probe(&self, path: &str) -> Result<u16> {
        Ok(http::request(self.port, "GET", path, "")?.0)
    }

    /// The text of a page such as `/readyz?verbose`.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn page(&self, path: &str) -> Result<String> {
        Ok(http::request(self.port, "GET", path, "")?.1)
    }

    /// Waits until `/readyz` answers 200.
    ///
    /// # Errors
    /// When it ends, or is not ready in time; the message holds the end of its output.
    pub fn wait_ready(&self, deadline: Duration) -> Result<()> {
        wait_until("the ingester to be ready", deadline, || {
            if let Some(status) = self.process.exit_status()? {
                bail!("the ingester ended: {status}");
            }
            Ok(self.probe("/readyz").is_ok_and(|status| status == 200))
        })
        .with_context(|| self.process.last_words())
    }

    /// Waits until it exits by itself, and returns its status.
    ///
    /// # Errors
    /// When it still runs after `deadline`; the message holds the end of its output.
    pub fn wait_end(&self, deadline: Duration) -> Result<ExitStatus> {
        let mut status = None;
        wait_until("the ingester to end", deadline, || {
            status = self.process.exit_status()?;
            Ok(status.is_some())
        })
        .with_context(|| self.process.last_words())?;
        status.context("it ended")
    }

    /// Sends SIGTERM and waits for the end; kills it after a minute.
    ///
    /// # Errors
    /// When it does not run.
    pub fn stop(&self) -> Result<StopResult> {
        let begin = Instant::now();
        let status = self.process.terminate(Duration::from_secs(60))?.context("the ingester does not run")?;
        Ok(StopResult { status, took: begin.elapsed() })
    }

    /// Kills it at once (SIGKILL) and waits until it is gone.
    ///
    /// # Errors
    /// When signals cannot be sent.
    pub fn kill(&self) -> Result<()> {
        self.process.kill()
    }

    /// Starts it again with the same configuration, and stops it first if it runs. Returns at once.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn restart(&self) -> Result<()> {
        self.process.terminate(Duration::from_secs(60))?;
        self.process.spawn()
    }

    /// Runs another command, such as `["audit", "Model"]`, to its end, with the same configuration file and
    /// environment. The ingester itself need not be running.
    ///
    /// # Errors
    /// When it cannot be started, or takes over two minutes.
    pub fn run(&self, arguments: &[&str]) -> Result<CommandResult> {
        self.run_within(COMMAND_DEADLINE, arguments)
    }

    /// [`run`](Self::run) with another deadline.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_within(&self, deadline: Duration, arguments: &[&str]) -> Result<CommandResult> {
        let name = arguments.join(" ");
        let files = tempfile::tempdir_in(self.home.path()).context("making a folder")?;
        let out = files.path().join("out");
        let err = files.path().join("err");
        let mut command = self.program.command(arguments);
        command.current_dir(self.home.path()).stdin(Stdio::null());
        let child = command.stdout(File::create(&out)?).stderr(File::create(&err)?).spawn();
        let mut child = child.with_context(|| format!("starting ingester {name}"))?;
        let mut status = None;
        let ended = wait_until(&format!("the end of ingester {name}"), deadline, || {
            status = child.try_wait()?;
            Ok(status.is_some())
        });
        if ended.is_err() {
            child.kill()?;
            child.wait()?;
        }
        let text = |file: &Path| fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let ran = CommandResult { code: status.and_then(|status| status.code()), out: text(&out)?, err: text(&err)? };
        match ended {
            Ok(()) => Ok(ran),
            Err(error) => Err(error.context(format!("its output: {}{}", ran.out, ran.err))),
        }
    }
}

/// The configuration file, in the folder to which [`DATA`] leads.
const CONFIG: &str = "config.yaml";

/// The link that kubelet swaps.
const DATA: &str = "..data";

/// Puts a configuration into a volume, as kubelet does.
fn mount(volume: &Path, config: &str, port: u16) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("..").tempdir_in(volume).context("making a folder")?.keep();
    fs::write(folder.join(CONFIG), format!("{}\nserver:\n  address: 127.0.0.1:{port}\n", config.trim_end()))
        .context("writing the configuration")?;
    let name = folder.file_name().context("a folder has a name")?;
    let link = volume.join("..data_tmp");
    symlink(name, &link).context("linking the configuration")?;
    fs::rename(&link, volume.join(DATA)).context("swapping the configuration")
}

impl Program {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        for variable in REMOVED {
            command.env_remove(variable);
        }
        command
            .args(arguments)
            .arg("--config")
            .arg(&self.config)
            .env("KUBECONFIG", &self.kubeconfig)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}
