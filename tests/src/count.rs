//! A proxy before a server that counts the bytes from the server.

use anyhow::{Context as _, Result};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Forwards everything, and counts the bytes that the server sends.
#[derive(Clone, Debug)]
pub struct Counted {
    port: u16,
    bytes: Arc<AtomicU64>,
}

impl Counted {
    /// Listens on its own port.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn to(server: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listening for a counted server")?;
        let counted = Counted { port: listener.local_addr()?.port(), bytes: Arc::default() };
        let bytes = counted.bytes.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server, bytes.clone()));
            }
        });
        Ok(counted)
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How many bytes the server has sent.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Forwards the bytes of two sides until one of them ends.
async fn pass(client: TcpStream, server: u16, bytes: Arc<AtomicU64>) -> Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await?;
    let ((mut asked, mut answered), (mut answers, mut asks)) = (client.into_split(), server.into_split());
    let answering = async {
        let mut chunk = vec![0; 64 << 10];
        loop {
            let count = answers.read(&mut chunk).await?;
            if count == 0 {
                return Ok::<_, std::io::Error>(());
            }
            bytes.fetch_add(count as u64, Ordering::Relaxed);
            answered.write_all(&chunk[..count]).await?;
        }
    };
    tokio::select! {
        done = tokio::io::copy(&mut asked, &mut asks) => drop(done?),
        done = answering => done?,
    }
    Ok(())
}
