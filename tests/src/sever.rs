//! A proxy in front of a database that ends connections at a commit, as if a writer were killed there.

use anyhow::{Context as _, Result};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The point at which a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutPoint {
    /// The server is not sent the text that commits.
    Before,
    /// The server is sent the text, and commits while the connection ends, or after that, or not at all.
    During,
    /// The server has committed, and its answer is lost.
    After,
}

/// A proxy in front of a server, which ends connections once it is [armed](Self::arm).
#[derive(Debug)]
pub struct CuttingProxy {
    port: u16,
    armed: Arc<AtomicBool>,
}

impl CuttingProxy {
    /// Starts a proxy in front of the server at this address (`127.0.0.1:3306`). `commits` is a part of each text that commits. Connections
    /// must not be encrypted.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn to(server: &str, severed: CutPoint, commits: &'static str) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listening for the server")?;
        let port = listener.local_addr()?.port();
        let armed = Arc::new(AtomicBool::new(false));
        let way = CuttingProxy { port, armed: armed.clone() };
        let server = server.to_owned();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server.clone(), (severed, commits), armed.clone()));
            }
        });
        Ok(way)
    }

    /// The address at which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on each connection ends at the next such text.
    pub fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }
}

async fn pass(
    mut client: TcpStream,
    server: String,
    (severed, commits): (CutPoint, &str),
    armed: Arc<AtomicBool>,
) -> Result<()> {
    let mut server = TcpStream::connect(server).await?;
    let mut asked = vec![0; 64 << 10];
    let mut answered = vec![0; 64 << 10];
    // Keep the end of the bytes so far, because a text may come in two parts.
    let mut before = Vec::new();
    loop {
        tokio::select! {
            count = client.read(&mut asked) => {
                let chunk = &asked[..count?];
                before.extend_from_slice(chunk);
                let has = before.windows(commits.len()).any(|text| text == commits.as_bytes());
                let ends = has && armed.load(Ordering::SeqCst);
                before.drain(..before.len().saturating_sub(commits.len() - 1));
                if chunk.is_empty() || ends && severed == CutPoint::Before {
                    return Ok(());
                }
                server.write_all(chunk).await?;
                if ends {
                    drop(client);
                    // The server does not see the end before it has committed.
                    while severed == CutPoint::After && server.read(&mut answered).await? > 0 {}
                    return Ok(());
                }
            }
            count = server.read(&mut answered) => match count? {
                0 => return Ok(()),
                count => client.write_all(&answered[..count]).await?,
            },
        }
    }
}
