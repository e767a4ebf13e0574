//! A proxy in front of a server that delays every answer, like a server in another zone, or a busy one.

use anyhow::{Context as _, Result};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Listens on its own port, and forwards everything: to the server at once, from the server after `delay`.
/// Returns the port.
///
/// # Errors
/// When it cannot listen.
pub async fn delayed(server: u16, delay: Duration) -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listening for the delayed server")?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(pass(client, server, delay));
        }
    });
    Ok(port)
}

/// Forwards the bytes of two sides until one of them ends.
async fn pass(client: TcpStream, server: u16, delay: Duration) -> Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let ((mut asked, mut answered), (mut answers, mut asks)) = (client.into_split(), server.into_split());
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let read = async {
        let mut chunk = vec![0; 64 << 10];
        loop {
            let count = answers.read(&mut chunk).await?;
            if count == 0 || sender.send((Instant::now() + delay, chunk[..count].to_vec())).is_err() {
                return Ok::<_, std::io::Error>(());
            }
        }
    };
    let write = async {
        while let Some((when, chunk)) = receiver.recv().await {
            sleep_until(when).await;
            answered.write_all(&chunk).await?;
        }
        Ok::<_, std::io::Error>(())
    };
    tokio::select! {
        biased;
        done = tokio::io::copy(&mut asked, &mut asks) => drop(done?),
        done = read => done?,
        done = write => done?,
    }
    Ok(())
}
