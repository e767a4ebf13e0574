//! A proxy before a server that counts its answers and their bytes.

use anyhow::{Context as _, Result};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Forwards everything, and counts what the server sends.
#[derive(Clone, Debug)]
pub struct CountingProxy {
    port: u16,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    bytes: AtomicU64,
    answers: AtomicU64,
}

impl CountingProxy {
    /// Listens on its own port.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn to(server: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listening for a counted server")?;
        let counted = CountingProxy { port: listener.local_addr()?.port(), counts: Arc::default() };
        let counts = counted.counts.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server, counts.clone()));
            }
        });
        Ok(counted)
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns how many bytes the server has sent.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.counts.bytes.load(Ordering::Relaxed)
    }

    /// Returns how often the server has answered: all data that it sends before the next question are one answer.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.counts.answers.load(Ordering::Relaxed)
    }
}

/// Forwards the bytes of two sides until one of them ends.
async fn pass(client: TcpStream, server: u16, counts: Arc<Counts>) -> Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await?;
    let ((mut asked, mut answered), (mut answers, mut asks)) = (client.into_split(), server.into_split());
    let is_asked = AtomicBool::new(true);
    let asking = async {
        let mut chunk = vec![0; 64 << 10];
        loop {
            let count = asked.read(&mut chunk).await?;
            if count == 0 {
                return Ok::<_, std::io::Error>(());
            }
            is_asked.store(true, Ordering::Relaxed);
            asks.write_all(&chunk[..count]).await?;
        }
    };
    let answering = async {
        let mut chunk = vec![0; 64 << 10];
        loop {
            let count = answers.read(&mut chunk).await?;
            if count == 0 {
                return Ok::<_, std::io::Error>(());
            }
            counts.bytes.fetch_add(count as u64, Ordering::Relaxed);
            counts.answers.fetch_add(u64::from(is_asked.swap(false, Ordering::Relaxed)), Ordering::Relaxed);
            answered.write_all(&chunk[..count]).await?;
        }
    };
    tokio::select! {
        done = asking => done?,
        done = answering => done?,
    }
    Ok(())
}
