//! A command that prints a password, for tokens of databases that expire.

use super::password::PasswordText;
use ingester_core::place::is_obeyed;
use ingester_core::value::Micros;
use ingester_core::wire;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time limit of the command.
pub(super) const LIMIT: Duration = Duration::from_secs(15);

/// The most bytes that it may print: tokens have less than 4 KiB.
const LONGEST: u64 = 64 * 1024;

/// The most characters of its error output that an error repeats.
const SHOWN: usize = 300;

/// The interval at which a command that prints nothing more is checked for its end.
const LOOK: Duration = Duration::from_millis(5);

/// A command that prints a password. It runs without a shell. Its output is the password, without the newline at the end, or `{"password":
/// "...", "expirationTimestamp": "2026-01-01T00:00:00Z"}`. Its standard input is empty, and it inherits the environment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PasswordCommand {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub command: String,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Environment variables in addition to the ones of this process.
    pub env: BTreeMap<String, String>,
}

/// Leaves out the parts that may be secret: arguments and values of variables.
impl fmt::Debug for PasswordCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} and {} arguments", self.command, self.args.len())
    }
}

/// The output of a command that does not print the password alone.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct PasswordReply {
    password: String,
    expiration_timestamp: Option<wire::Time>,
}

/// The status and the output of a command that has ended.
struct EndedCommand {
    status: ExitStatus,
    printed: Vec<u8>,
    complaint: Vec<u8>,
}

impl PasswordCommand {
    /// Runs the command within `limit`. Blocks.
    ///
    /// # Errors
    /// If it cannot be run, fails, or prints no password. The errors name the command, and contain nothing of a password.
    pub(super) fn run(&self, limit: Duration) -> Result<PasswordText, String> {
        let name = &self.command;
        let ended = self.ended(limit).map_err(|what| format!("the password command `{name}` {what}"))?;
        password(&ended.printed).map_err(|what| format!("the password command `{name}` {what}"))
    }

    fn ended(&self, limit: Duration) -> Result<EndedCommand, String> {
        let mut command = Command::new(&self.command);
        command.args(&self.args).envs(&self.env).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("cannot be run: {error}"))?;
        let EndedCommand { status, printed, complaint } = within(child, limit).map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => format!("has not ended within {limit:?}: it was killed"),
            _ => format!("cannot be read: {error}"),
        })?;
        // A command that prints too much fails because its pipe was closed; its output is judged below.
        if !status.success() && printed.len() as u64 <= LONGEST {
            let said = redact_output(&complaint, &printed);
            let said = if said.is_empty() { "and says nothing on standard error".to_owned() } else { said };
            return Err(format!("has failed ({status}): {said}"));
        }
        Ok(EndedCommand { status, printed, complaint })
    }
}

/// Waits for a command's output and end. A command that takes too long, or prints too much, is killed.
fn within(mut child: Child, limit: Duration) -> io::Result<EndedCommand> {
    let deadline = Instant::now() + limit;
    // Threads, because a full pipe would stop the command, and a pipe that a descendant keeps open would stop us.
    let printed = read(child.stdout.take());
    let complaint = read(child.stderr.take());
    let ended = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => thread::sleep(LOOK),
            Ok(None) => break Err(io::ErrorKind::TimedOut.into()),
            ended => break ended,
        }
    };
    let left = || deadline.saturating_duration_since(Instant::now()).max(LOOK);
    let take =
        |bytes: &Receiver<Vec<u8>>| bytes.recv_timeout(left()).map_err(|_| io::Error::from(io::ErrorKind::TimedOut));
    let whole = ended.and_then(|status| {
        let status = status.ok_or(io::ErrorKind::TimedOut)?;
        let printed = take(&printed)?;
        // Once the password has arrived, do not wait for a pipe that a descendant keeps open.
        let complaint = if status.success() { Vec::new() } else { complaint.recv_timeout(left()).unwrap_or_default() };
        Ok(EndedCommand { status, printed, complaint })
    });
    if whole.is_err() {
        // It may have ended on its own.
        let _ = child.kill();
        let _ = child.wait();
    }
    whole
}

/// Reads the output from a pipe up to one byte more than allowed, then closes the pipe.
fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // After an error, judge the bytes that were read so far.
            let _ = pipe.take(LONGEST + 1).read_to_end(&mut bytes);
        }
        // The receiver is gone if the command took too long.
        let _ = sender.send(bytes);
    });
    receiver
}

/// Returns a command's error output on one line, without the password that it may have printed.
fn redact_output(complaint: &[u8], printed: &[u8]) -> String {
    let complaint = String::from_utf8_lossy(complaint);
    let printed = String::from_utf8_lossy(printed);
    let line = complaint.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let line: String = line.chars().map(|c| if is_obeyed(c) { ' ' } else { c }).take(SHOWN).collect();
    let secrets = printed.split_whitespace().filter(|word| word.len() >= 4);
    secrets.fold(line, |line, secret| line.replace(secret, "***"))
}

/// Returns the password that was printed.
fn password(printed: &[u8]) -> Result<PasswordText, String> {
    if printed.len() as u64 > LONGEST {
        return Err(format!("has printed more than {LONGEST} bytes, which no password has"));
    }
    let text = std::str::from_utf8(printed).map_err(|_| "has printed text that is not UTF-8".to_owned())?;
    if !text.trim_start().starts_with('{') {
        let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
        return if text.is_empty() { Err("has printed no password".into()) } else { Ok(PasswordText::lasting(text)) };
    }
    // A parser's message may repeat its input, which is secret.
    let wrong =
        "has printed JSON that is not {\"password\": \"...\", \"expirationTimestamp\": \"2026-01-01T00:00:00Z\"}";
    let PasswordReply { password, expiration_timestamp } = serde_json::from_str(text).map_err(|_| wrong.to_owned())?;
    if password.is_empty() {
        return Err("has printed an empty password".into());
    }
    let expires = expiration_timestamp.map(|time| {
        let micros = time.micros().0.saturating_sub(Micros::now().0);
        Instant::now() + Duration::from_micros(u64::try_from(micros).unwrap_or(0)).min(FAR)
    });
    Ok(PasswordText { expires, ..PasswordText::lasting(&password) })
}

/// Longer than any process lives. An [`Instant`] cannot represent every time.
const FAR: Duration = Duration::from_secs(10 * 365 * 86_400);

#[cfg(test)]
mod tests {
    use super::{LONGEST, PasswordCommand, password};
    use std::time::{Duration, Instant};

    fn command(command: &str, args: &[&str]) -> PasswordCommand {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        PasswordCommand { command: command.to_owned(), args, env: [("TOKEN".to_owned(), "hunter2".to_owned())].into() }
    }

    /// Returns a command that runs this script.
    fn script(text: &str) -> PasswordCommand {
        command("sh", &["-c", text])
    }

    const PATIENT: Duration = Duration::from_secs(60);

    #[test]
    fn the_output_is_the_password_or_json_with_its_end() {
        for (printed, expected) in
            [("hunter2", "hunter2"), ("hunter2\n", "hunter2"), (" a b\r\n", " a b"), ("a\nb", "a\nb")]
        {
            let given = password(printed.as_bytes()).unwrap();
            assert_eq!((given.text.as_str(), given.expires), (expected, None));
        }
        let given = password(br#"{"password": "hunter2\n", "expirationTimestamp": "2999-01-01T00:00:00Z", "kind": 1}"#)
            .unwrap();
        assert_eq!(given.text, "hunter2\n");
        assert!(given.expires.unwrap() > Instant::now() + PATIENT);
        let past =
            password(br#" {"password": "hunter2", "expirationTimestamp": "1999-01-01T00:00:00+01:00"}"#).unwrap();
        assert!(past.expires.unwrap() <= Instant::now());
        assert!(password(br#"{"password": "hunter2"}"#).unwrap().expires.is_none());
        for (printed, part) in [
            (&b""[..], "no password"),
            (b"\n", "no password"),
            (b"hunter2\xff", "not UTF-8"),
            (&[b'x'; LONGEST as usize + 1], "more than 65536 bytes"),
            (br#"{"password": ""}"#, "empty password"),
            (br#"{"token": "hunter2"}"#, "JSON that is not"),
            (br#"{"password": "hunter2", "expirationTimestamp": "hunter2"}"#, "JSON that is not"),
            (br#"{"password": "hunter2""#, "JSON that is not"),
        ] {
            let error = password(printed).err().unwrap();
            assert!(error.contains(part) && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn no_shell_reads_a_command_and_its_variables_are_set() {
        let given = command("printf", &["%s", "$TOKEN; `id`"]).run(PATIENT).unwrap();
        assert_eq!(given.text, "$TOKEN; `id`");
        assert_eq!(script("echo $TOKEN").run(PATIENT).unwrap().text, "hunter2");
    }

    #[test]
    fn a_command_that_fails_is_named_without_the_password() {
        for (command, parts) in [
            (command("no/such/command", &["hunter2"]), &["`no/such/command` cannot be run: No such file"][..]),
            (
                script("echo hunter2; echo first >&2; echo \"not logged in: hunter2\" >&2; exit 3"),
                &["`sh` has failed", "3", ": not logged in: ***"],
            ),
            (script("exit 1"), &["says nothing on standard error"]),
            (script("yes hunter2"), &["`sh` has printed more than 65536 bytes"]),
            (script("true"), &["`sh` has printed no password"]),
        ] {
            let error = command.run(PATIENT).err().unwrap();
            assert!(parts.iter().all(|part| error.contains(part)) && !error.contains("hunter2"), "{error}");
        }
        assert_eq!(format!("{:?}", command("aws", &["hunter2"])), "aws and 1 arguments");
    }

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        let begin = Instant::now();
        let error = command("sleep", &["600"]).run(Duration::from_millis(200)).err().unwrap();
        assert_eq!(error, "the password command `sleep` has not ended within 200ms: it was killed");
        // A descendant that keeps the pipe open does not keep us waiting.
        let error = script("sleep 600 & echo hunter2").run(Duration::from_millis(200)).err().unwrap();
        assert!(error.contains("has not ended") && begin.elapsed() < PATIENT, "{error}");
    }
}
