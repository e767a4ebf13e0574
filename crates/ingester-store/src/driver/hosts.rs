//! A list of servers (`host1,host2`), one of which takes the writes: finds the current one and the next one, and reads the list from a URL.
//!
//! All connections lead to one of them. A caller that finds it gone or read-only starts a search of the list.

use super::error::{class_of, electing, is_about};
use super::facts::{ErrorClass, ErrorSubject};
use super::servers::Servers;
use ingester_core::nearest::nearest;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// One server may take this long to say whether it takes writes.
const ANSWER: Duration = Duration::from_secs(2);

/// After this long without a connection, the server may be gone.
const SLOW: Duration = Duration::from_millis(500);

/// The shortest interval between two searches of the list.
const AGAIN: Duration = Duration::from_millis(500);

const UNUSABLE: &str = "No server of the list can be used";

/// One server of a list.
pub(super) trait ListedServer: Clone + Send + Sync {
    /// Returns the server's host and port.
    fn name(&self) -> String;

    /// Connects, and checks that the server takes writes, or that it answers if it is only read.
    fn probe(&self, read_only: bool) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// The servers of a list.
pub(super) struct Hosts<L> {
    read_only: bool,
    servers: Arc<Servers>,
    current: Mutex<CurrentServer<L>>,
    /// Makes new connections lead to a server.
    lead: Box<dyn Fn(&L) + Send + Sync>,
}

struct CurrentServer<L> {
    all: Vec<L>,
    place: usize,
    /// The time and the result of the last search of the list.
    looked: Option<(Instant, SearchResult)>,
}

/// The result of a search for the server to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchResult {
    /// The same server.
    Same,
    /// Another server.
    Moved,
    /// Some servers answer, but none takes writes: they may be electing a primary.
    Electing,
    /// No server answers.
    Unreachable,
}

/// Returns the index of the first server that takes writes, or that answers if they are only read. A single server is not asked.
///
/// # Errors
/// The answers of all servers.
pub(super) async fn first<L: ListedServer>(all: &[L], read_only: bool) -> Result<usize, sqlx::Error> {
    match all {
        [_] => Ok(0),
        _ => search(all, 0..all.len(), read_only).await,
    }
}

/// The answer of a server that must not be written to.
#[derive(Debug)]
struct UnsuitableServer(&'static str);

impl fmt::Display for UnsuitableServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for UnsuitableServer {}

/// Returns the error of a server that answers, but must not be written to for this reason.
pub(super) fn not_this_one(why: &'static str) -> sqlx::Error {
    std::io::Error::other(UnsuitableServer(why)).into()
}

/// Returns the error of a server that takes no writes.
pub(super) fn refuses_writes() -> sqlx::Error {
    not_this_one("it is read-only")
}

/// Returns true if a server gave an answer that may change without help.
fn has_answered(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.get_ref().is_some_and(|inner| inner.is::<UnsuitableServer>()),
        sqlx::Error::Database(_) => class_of(error) == ErrorClass::Transient,
        _ => false,
    }
}

/// Returns how long [`first`] may take for this many servers.
pub(super) fn longest_search(servers: usize) -> Duration {
    match u32::try_from(servers).unwrap_or(u32::MAX) {
        1 => Duration::ZERO,
        several => ANSWER.saturating_mul(several),
    }
}

/// Returns the first of these indexes whose server is the right one.
async fn search<L: ListedServer>(
    all: &[L],
    places: impl IntoIterator<Item = usize>,
    read_only: bool,
) -> Result<usize, sqlx::Error> {
    let mut said = Vec::new();
    let mut refused = Vec::new();
    let mut asked = 0;
    let mut answers = false;
    for place in places {
        asked += 1;
        let reason = match tokio::time::timeout(ANSWER, all[place].probe(read_only)).await {
            Ok(Ok(())) => return Ok(place),
            Ok(Err(error)) => {
                let reason = error.to_string();
                answers |= has_answered(&error);
                if class_of(&error) == ErrorClass::Operator {
                    refused.push(error);
                }
                reason
            }
            Err(_) => format!("no answer within {ANSWER:?}"),
        };
        said.push(format!("{}: {reason}", all[place].name()));
    }
    // If all servers refuse the user or the database, report that; no retry helps.
    match refused.pop() {
        Some(error) if refused.len() + 1 == asked => Err(error),
        _ => {
            let wanted = if read_only { "answers" } else { "takes writes" };
            let text = format!("none of the servers {wanted}: {}", said.join("; "));
            let is_electing = answers && !read_only;
            Err(if is_electing { electing(text) } else { std::io::Error::other(text).into() })
        }
    }
}

impl<L: ListedServer> Hosts<L> {
    /// Connections lead to the server at `place`; new ones lead to the server with which `lead` was called last.
    pub(super) fn new(
        all: &[L],
        place: usize,
        read_only: bool,
        servers: Arc<Servers>,
        lead: impl Fn(&L) + Send + Sync + 'static,
    ) -> Self {
        let current = Mutex::new(CurrentServer { all: all.to_vec(), place, looked: None });
        Hosts { read_only, servers, current, lead: Box::new(lead) }
    }

    /// Changes how each server is reached, such as the password.
    pub(super) async fn change(&self, change: impl Fn(&L) -> L) {
        let mut current = self.current.lock().await;
        current.all = current.all.iter().map(change).collect();
        (self.lead)(&current.all[current.place]);
    }

    /// Waits for a connection. If that takes long, the server may be gone, so the list is searched.
    pub(super) async fn beside<C>(&self, connection: impl Future<Output = C>) -> C {
        let mut connection = pin!(connection);
        loop {
            let slow = async {
                tokio::time::sleep(SLOW).await;
                self.look().await;
            };
            tokio::select! {
                biased;
                connection = &mut connection => return connection,
                () = slow => {}
            }
        }
    }

    /// Searches for a server that takes writes: the current one, otherwise the first in the list. New connections lead to it.
    pub(super) async fn look(&self) -> SearchResult {
        let mut current = self.current.lock().await;
        let before = current.looked.map(|(at, looked)| (at.elapsed(), looked));
        if let Some((since, looked)) = before
            && since < AGAIN
        {
            return looked;
        }
        let others = (0..current.all.len()).filter(|place| *place != current.place);
        let found = search(&current.all, std::iter::once(current.place).chain(others), self.read_only).await;
        let looked = match found {
            Ok(place) if place == current.place => SearchResult::Same,
            Ok(place) => {
                let from = current.all[current.place].name();
                let to = current.all[place].name();
                tracing::warn!(from, to, "The database has moved to another server of the list");
                current.place = place;
                (self.lead)(&current.all[place]);
                self.servers.replace_connections();
                SearchResult::Moved
            }
            Err(error) => {
                // Log once per outage: the list is searched twice a second meanwhile.
                match before {
                    Some((_, SearchResult::Electing | SearchResult::Unreachable)) => {
                        tracing::debug!(%error, "{UNUSABLE}")
                    }
                    _ => tracing::warn!(%error, "{UNUSABLE}"),
                }
                if is_about(&error, ErrorSubject::Election) {
                    SearchResult::Electing
                } else {
                    SearchResult::Unreachable
                }
            }
        };
        current.looked = Some((Instant::now(), looked));
        looked
    }
}

/// Returns the URL once for each of its hosts.
pub(super) fn each_host(url: &str) -> Vec<String> {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let start = url[start..end].rfind('@').map_or(start, |at| start + at + 1);
    url[start..end].split(',').map(|host| format!("{}{host}{}", &url[..start], &url[end..])).collect()
}

/// Returns a host without the brackets that an IPv6 address has in a URL.
pub(super) fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Returns the message about a parameter of a URL that is not one of the `known` ones. sqlx would ignore it, so a typo in the mode of
/// encryption would leave the server unverified.
pub(super) fn unknown_parameter(parameters: &str, known: &[&str]) -> Option<String> {
    let names = parameters.split('&').map(|parameter| parameter.split('=').next().unwrap_or_default());
    let unknown = names.into_iter().find(|name| !name.is_empty() && !known.contains(name))?;
    // With an `@` after it, it may be part of a password that was not percent-encoded.
    let named = if parameters.contains('@') { "a parameter".to_owned() } else { format!("the parameter `{unknown}`") };
    Some(match nearest(unknown, known) {
        Some(meant) => format!("{named} is not known: did you mean `{meant}`?"),
        None => format!("{named} is not known; there are {}", known.join(", ")),
    })
}

/// Returns the text that shows an address once it has a password, with `user` unless it names one.
///
/// # Errors
/// If it has a password already: the reason and the remedy.
pub(super) fn shown_with_password(shown: &str, user: &str) -> Result<String, (&'static str, &'static str)> {
    let (scheme, rest) = shown.split_once("://").unwrap_or(("", shown));
    let (user, rest) = rest.rsplit_once('@').unwrap_or((user, rest));
    if user.ends_with(":***") {
        return Err(("it has one already", "leave out one of the two"));
    }
    Ok(format!("{scheme}://{user}:***@{rest}"))
}

#[cfg(test)]
mod tests {
    use super::{ListedServer, first, refuses_writes};
    use crate::driver::error::{class_of, is_about};
    use crate::driver::facts::{ErrorClass, ErrorSubject};

    /// A server that gives this answer.
    #[derive(Clone)]
    struct Fake(fn() -> sqlx::Error);

    impl ListedServer for Fake {
        fn name(&self) -> String {
            "db:3306".to_owned()
        }

        async fn probe(&self, _: bool) -> Result<(), sqlx::Error> {
            Err((self.0)())
        }
    }

    #[tokio::test]
    async fn an_election_is_under_way_only_where_a_server_answers_that_may_win_it() {
        let gone = Fake(|| std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into());
        let unknown = Fake(|| std::io::Error::other("failed to lookup address information").into());
        let denied = Fake(|| sqlx::Error::Configuration("access denied".into()));
        let read_only = Fake(refuses_writes);
        for (all, class, is_electing) in [
            ([&gone, &read_only], ErrorClass::Transient, true),
            ([&read_only, &denied], ErrorClass::Transient, true),
            ([&gone, &unknown], ErrorClass::Transient, false),
            ([&gone, &denied], ErrorClass::Transient, false),
            ([&denied, &denied], ErrorClass::Operator, false),
        ] {
            let error = first(&all.map(Clone::clone), false).await.unwrap_err();
            assert_eq!((class_of(&error), is_about(&error, ErrorSubject::Election)), (class, is_electing), "{error}");
        }
    }
}
