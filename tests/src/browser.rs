//! chromedriver, through which tests use Debian's chromium.

use crate::process::{Home, Process, find_program, free_port};
use crate::skipped;
use anyhow::Result;
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;

/// chromedriver, as its own process. Dropping it ends it and the browsers that it has started.
#[derive(Debug)]
pub struct ChromeDriver {
    _process: Process,
    port: u16,
}

impl ChromeDriver {
    /// Starts it. `None`, after a message, if chromium or chromedriver is not installed.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start() -> Result<Option<Self>> {
        let (Ok(program), Ok(_)) = (find_program("chromedriver"), find_program("chromium")) else {
            skipped("no chromium");
            return Ok(None);
        };
        let home = Home::new("chromedriver")?;
        let port = free_port()?;
        let mut command = Command::new(program);
        // chromium keeps its profile and caches there.
        command.arg(format!("--port={port}")).env("HOME", home.path());
        let process = Process::new(&home, "chromedriver", command);
        process.start(|| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok())?;
        Ok(Some(Self { _process: process, port }))
    }

    /// The address that WebDriver's clients use.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}
