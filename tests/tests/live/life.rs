//! The life of one object, only by commands: evicted, listed, labelled, deleted, brought back, live again.

use anyhow::{Result, ensure};
use ingester_tests::{kubectl, skipped_without_kubectl};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::eventually::eventually;
use crate::objects::{OURS, model};
use crate::on_both_api_servers;
use crate::world::World;

on_both_api_servers! { OwnServers::NOTHING =>
    an_object_lives_on_in_sql_and_comes_back
}

/// `ingester serve`, which ends with the value.
struct Server {
    process: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start(world: &World) -> Result<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let process = Command::new(env!("CARGO_BIN_EXE_ingester"))
            .args(["serve", "--insecure-loopback", &port.to_string(), "--database-url", &world.database.url])
            .arg("--kubeconfig")
            .arg(world.cluster.kubeconfig())
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Server { process, port })
    }

    async fn ready(&self) -> Result<()> {
        let connects = async || Ok(std::net::TcpStream::connect(("127.0.0.1", self.port)).is_ok());
        eventually("the server to answer", connects, |connects| *connects).await?;
        Ok(())
    }
}

/// kubectl, with the API server of a kubeconfig or the server of a URL.
struct Kubectl {
    program: PathBuf,
    place: Vec<String>,
    /// Where it keeps what it has read of servers.
    home: PathBuf,
}

impl Kubectl {
    fn run(&self, command: &str) -> Result<(bool, String)> {
        let output = Command::new(&self.program)
            .args(&self.place)
            .args(command.split(' '))
            .env_remove("KUBECONFIG")
            .env("HOME", &self.home)
            .output()?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&text).trim().to_owned()))
    }

    /// Its output; it must succeed.
    fn prints(&self, command: &str) -> Result<String> {
        let (done, text) = self.run(command)?;
        ensure!(done, "kubectl {command}: {text}");
        Ok(text)
    }
}

async fn an_object_lives_on_in_sql_and_comes_back(world: &mut World) -> Result<()> {
    let Some(program) = kubectl() else {
        skipped_without_kubectl();
        return Ok(());
    };
    world.start()?;
    let server = Server::start(world)?;
    server.ready().await?;
    let place = vec![format!("--kubeconfig={}", world.cluster.kubeconfig().display())];
    let folder = tempfile::tempdir()?;
    let home = folder.path().to_path_buf();
    let cluster = Kubectl { program: program.clone(), place, home: home.clone() };
    let sql = Kubectl { program, place: vec![format!("--server=http://127.0.0.1:{}", server.port)], home };
    let ns = world.objects.namespace.clone();
    let of_sql = async |command: String, expected: &'static str| {
        let look = async || sql.prints(&command);
        eventually(expected, look, |text| text == expected).await
    };

    world.objects.create(model("a", "final")).await?;
    world.settled().await?;
    let names = format!("get models -n {ns} -o name");
    let state = |state: &str| format!("{names} -l mirror.michelangelo.api/state={state}");
    let is_live = "model.michelangelo.api/a";
    of_sql(state("live"), is_live).await?;

    // Evicted.
    cluster.prints(&format!("annotate model a -n {ns} michelangelo/Immutable=true"))?;
    world.gone("Model", "a").await?;
    of_sql(state("evicted"), is_live).await?;
    assert_eq!(cluster.prints(&names)?, "");
    assert_eq!(sql.prints(&names)?, is_live);

    // Labelled. For a moment after its eviction the mirror still writes its row.
    let label = async || sql.run(&format!("label model a -n {ns} team=pricing --overwrite"));
    eventually("the label", label, |(done, _)| *done).await?;
    assert_eq!(sql.prints(&format!("{names} -l team=pricing"))?, is_live);

    // Deleted.
    let deleted = sql.prints(&format!("delete model a -n {ns}"))?;
    ensure!(deleted.starts_with("model.michelangelo.api \"a\" deleted"), "{deleted}");
    assert_eq!(sql.prints(&names)?, "");
    assert_eq!(sql.prints(&state("deleted"))?, is_live);

    // Brought back, as it was when it was deleted.
    let kubeconfig = world.cluster.kubeconfig();
    let ran =
        world.ingester().run(&["restore", "model", "a", "-n", &ns, "--kubeconfig", &kubeconfig.to_string_lossy()])?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "model.michelangelo.api/a restored\n"), "{ran:?}");
    let look = async || {
        cluster
            .prints(&format!("get model a -n {ns} -o jsonpath={{.metadata.labels.team}}/{{.metadata.finalizers[0]}}"))
    };
    eventually("the object", look, |text| *text == format!("pricing/{OURS}")).await?;
    of_sql(state("live"), is_live).await?;
    assert_eq!(sql.prints(&names)?, is_live);

    // Once more, by a request to the server.
    cluster.prints(&format!("annotate model a -n {ns} michelangelo/Immutable=true"))?;
    world.gone("Model", "a").await?;
    of_sql(state("evicted"), is_live).await?;
    let post = format!("create --raw /apis/michelangelo.api/v2/namespaces/{ns}/models/a/restore -f /dev/null");
    let restore = async || sql.run(&post);
    eventually("the object", restore, |(done, _)| *done).await?;
    let (done, refused) = sql.run(&post.replace("models/a/", "models/none/"))?;
    ensure!(!done && refused.contains("NotFound"), "{refused}");
    of_sql(state("live"), is_live).await?;
    assert_eq!(cluster.prints(&names)?, is_live);
    world.settled().await?;
    world.audit_is_clean()
}
