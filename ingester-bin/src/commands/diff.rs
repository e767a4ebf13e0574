//! `ingester diff`: the differences between two versions of an object.

use super::history::{asked, lives};
use super::tree::tree;
use super::{failed, with_tables};
use crate::arguments::{Diff, DiffFormat};
use crate::ending::{Ending, Failure};
use crate::output::{has_colours, note, print};
use crate::program::Program;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_printers::{name, yaml};
use ingester_server::answer;
use ingester_store::Store;
use ingester_store::query::{FoundRow, Life, Limits, RequestedParts, VersionError, VersionOf};
use similar::TextDiff;

pub(crate) async fn run(arguments: Diff, program: Program) -> Result<Ending, Failure> {
    let (kind, query) = asked(&arguments.object, program.kinds)?;
    let [from, to] = [("--from", &arguments.from), ("--to", &arguments.to)].map(|(flag, text)| {
        let parsed = text.as_deref().map(VersionOf::parse).transpose();
        parsed.map_err(|error| Failure::Usage(anyhow!("{flag}: {error}")))
    });
    let from = from?;
    let to = to?;
    let database = arguments.target.database(program.kinds)?;
    let store = with_tables(&database, program, &[kind]).await?;
    let lives = lives(&store, &kind, &query).await?;
    let versions = match lives.as_slice() {
        [] => None,
        lives => Some(versions(&store, &kind, lives, from, to).await?),
    };
    store.close().await;
    let Some([from, to]) = versions else { return Ok(Ending::Problem) };
    let [old, new] = [&from, &to].map(|row| answer::object(&kind, row));
    let text = match arguments.output {
        Some(DiffFormat::Json) => {
            serde_json::to_string_pretty(&answer::patch(&old, &new)).map_err(anyhow::Error::from)? + "\n"
        }
        None => {
            let old = document(&from, &old)?;
            let new = document(&to, &new)?;
            let diff = TextDiff::from_lines(&old, &new);
            let heads = [&from, &to].map(|row| head(&kind, row));
            let text = diff.unified_diff().header(&heads[0], &heads[1]).to_string();
            if has_colours(&std::io::stdout()) { coloured(&text) } else { text }
        }
    };
    print(&text)?;
    if old == new {
        note("the versions do not differ");
    }
    Ok(Ending::Done)
}

/// The two versions to compare.
async fn versions(
    store: &Store,
    kind: &Kind,
    lives: &[Life],
    from: Option<VersionOf>,
    to: Option<VersionOf>,
) -> Result<[FoundRow; 2], Failure> {
    let wanted = &RequestedParts { places: [&[base::RES_VERSION], &answer::STATE_PLACES[..]].concat(), labels: false };
    let find = async |of| store.version(kind, lives, of, wanted, Limits::default()).await;
    let to = match (to, lives.first()) {
        (None, Some(last)) => {
            let wanted =
                RequestedParts { places: [&wanted.places[..], &[base::NAME, base::JSON]].concat(), labels: false };
            let last = store.history(kind, &last.uid, &wanted, (1, None), Limits::default()).await.map_err(failed)?;
            last.versions.into_iter().next().map(|version| version.row)
        }
        (to, _) => match to {
            Some(to) => Some(find(to).await.map_err(|error| no_version("--to", error))?),
            None => None,
        },
    };
    let to = to.ok_or_else(|| Failure::Work(anyhow!("the object was purged meanwhile")))?;
    let from = match from {
        Some(from) => find(from).await.map_err(|error| no_version("--from", error))?,
        None => {
            let began = to.time(base::UPDATE_TIME).unwrap_or(Micros(0));
            // Another object may have the name by then. The version before belongs to the same object, unless this is its first version.
            let own = lives.iter().position(|life| &*life.uid == to.uid() && life.began < began);
            let lives = own.map_or(lives, |own| &lives[own..=own]);
            let before = VersionOf::At(Micros(began.0 - 1).into());
            store.version(kind, lives, before, wanted, Limits::default()).await.map_err(|error| match error {
                error @ (VersionError::Ask(_) | VersionError::Ambiguous { .. }) => no_version("--from", error),
                _ => Failure::Work(anyhow!(
                    "no version is known before the one of {}: name another with --from or --to (`ingester history` lists them)",
                    began.rfc3339()
                )),
            })?
        }
    };
    Ok([from, to])
}

/// The failure when the version of an option was not found.
pub(super) fn no_version(flag: &str, error: VersionError) -> Failure {
    match error {
        VersionError::Ask(error) => failed(error),
        error @ VersionError::Ambiguous { .. } => Failure::Work(anyhow!("{flag}: {error} (`--uid`)")),
        error => Failure::Work(anyhow!("{flag}: {error} (`ingester history` lists the versions)")),
    }
}

fn document(row: &FoundRow, object: &str) -> Result<String, Failure> {
    let tree = tree(object);
    let tree = tree.map_err(|error| Failure::Work(anyhow!("the version of {} is not JSON: {error}", row.uid())))?;
    Ok(yaml::document(&tree))
}

/// `run.example.com/nightly 12 2026-01-02T02:00:00Z u1`
fn head(kind: &Kind, row: &FoundRow) -> String {
    let name = name::qualified(kind.kind(), kind.group(), row.get_text(base::NAME));
    let number = match row.get(base::RES_VERSION) {
        Some(Value::UInt(number)) => *number,
        _ => 0,
    };
    let began = row.time(base::UPDATE_TIME).map(Micros::rfc3339).unwrap_or_default();
    format!("{name} {number} {began} {}", row.uid())
}

/// A unified diff as git colours it.
fn coloured(diff: &str) -> String {
    let mut is_head = true;
    let colour = |line: &str| {
        is_head &= !line.starts_with("@@");
        let code = match line.as_bytes().first() {
            _ if is_head => "1",
            Some(b'@') => "36",
            Some(b'-') => "31",
            Some(b'+') => "32",
            _ => return format!("{line}\n"),
        };
        format!("\x1b[{code}m{line}\x1b[m\n")
    };
    diff.lines().map(colour).collect()
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn lines_have_the_colours_that_git_gives_them() {
        let diff = "--- a\n+++ b\n@@ -1 +1 @@\n same\n-- list\n+new\n";
        let expected = "\x1b[1m--- a\x1b[m\n\x1b[1m+++ b\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n same\n\x1b[31m-- list\x1b[m\n\x1b[32m+new\x1b[m\n";
        assert_eq!(coloured(diff), expected);
    }
}
