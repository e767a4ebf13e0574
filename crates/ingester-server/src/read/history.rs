//! The versions of an object, and of the objects that had its name before: GET of `<name>/history`.

use super::{Cost, LISTS, PAGE, json, limits_of, refused, resource};
use crate::answer::{self, ListTrailer, Renderer};
use crate::request::accept::Form;
use crate::request::parameters::{Include, Parameters};
use crate::status::Status;
use axum::body::Body;
use http::Response;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_sql::query::{Query, States};
use ingester_store::Store;
use ingester_store::query::{
    AskError, FoundRow, HistoryPage, Life, Limits, ObjectVersion, RequestedParts, VersionError, VersionOf,
};

/// The most versions of a page.
const MOST: usize = 100;

/// The object whose history is requested.
pub(crate) struct HistoryOf<'r> {
    pub(crate) user: &'r str,
    pub(crate) kind: &'r Kind,
    pub(crate) name: &'r str,
    /// The visible objects of this name.
    pub(crate) objects: Query,
}

/// Answers with a list of the versions, the latest first, in pages; or with the requested version alone.
///
/// # Errors
/// 404 if no object has had the name, or the version does not exist; 400 for a broken token, and if several versions have the number;
/// otherwise the [`Status`] of the failure.
pub(crate) async fn history(
    store: &Store,
    of: HistoryOf<'_>,
    parameters: &Parameters,
    limits: Limits,
) -> Result<Response<Body>, Status> {
    let HistoryOf { user, kind, name, objects } = of;
    let resource = resource(kind);
    let failed = |error: AskError| refused(error, resource.as_resource());
    let limits = limits_of(Cost::Keyed, limits.bytes(limits.bytes.min(PAGE)));
    let share = LISTS.reading(user, Cost::Keyed).await;
    let renderer = Renderer::new(*kind, Form::Objects, Include::default(), States::ALL, Vec::new());
    let wanted = renderer.wanted();
    if let Some(number) = parameters.of_version {
        let row = version(store, (kind, name), &objects, VersionOf::Version(number), &wanted, limits).await?;
        let (version, before) = store.dated(kind, row, limits).await.map_err(failed)?;
        let changed =
            before.map(|before| answer::changed(before.get_text(base::JSON), version.row.get_text(base::JSON)));
        let text = answer::version(kind, &version, &changed.unwrap_or_default());
        return Ok(json(Body::from(share.hold(text))));
    }
    let lives = store.lives(kind, &objects, limits).await.map_err(failed)?;
    let Some(last) = lives.first() else { return Err(Status::not_found(resource.as_resource(), name)) };
    let limit = parameters.limit.map_or(MOST, |limit| limit.min(MOST));
    let (life, token) = match parameters.token.as_deref() {
        None => (last, None),
        Some(token) => begin(&lives, token).ok_or_else(|| {
            Status::bad_request("continue: the token belongs to another history: start again without it")
        })?,
    };
    let page = store.history(kind, &life.uid, &wanted, (limit, token), limits).await.map_err(failed)?;
    // The last version of this page is compared with the first version of the next page.
    let after = match page.next.as_deref() {
        Some(next) => store.history(kind, &life.uid, &wanted, (1, Some(next)), limits).await.map_err(failed)?.versions,
        None => Vec::new(),
    };
    let (mut text, mut rest) =
        (renderer.begin(), ListTrailer { next: next(&lives, life, &page), ..ListTrailer::default() });
    for (place, version) in page.versions.iter().enumerate() {
        let json = |version: &ObjectVersion| version.row.get_text(base::JSON).to_owned();
        let before = page.versions.get(place + 1).or(after.first()).map(json);
        let changed =
            before.map(|before| answer::changed(&before, version.row.get_text(base::JSON))).unwrap_or_default();
        text.push_str(if place == 0 { "" } else { "," });
        text.push_str(&answer::version(kind, version, &changed));
        rest.see(&version.row);
    }
    text.push_str(&renderer.end(&rest));
    Ok(json(Body::from(share.hold(text))))
}

/// Returns one version of the visible objects with a name.
///
/// # Errors
/// 404 if no object has had the name, or the version does not exist; 400 if several versions match; otherwise the [`Status`] of the
/// failure.
pub(crate) async fn version(
    store: &Store,
    (kind, name): (&Kind, &str),
    objects: &Query,
    of: VersionOf,
    wanted: &RequestedParts,
    limits: Limits,
) -> Result<FoundRow, Status> {
    let resource = resource(kind);
    let failed = |error: AskError| refused(error, resource.as_resource());
    let lives = store.lives(kind, objects, limits).await.map_err(failed)?;
    if lives.is_empty() {
        return Err(Status::not_found(resource.as_resource(), name));
    }
    store.version(kind, &lives, of, wanted, limits).await.map_err(|error| match error {
        VersionError::Ask(error) => failed(error),
        error @ (VersionError::Several(..) | VersionError::Ambiguous { .. }) => {
            Status::bad_request(error.to_string()).about(resource.as_resource(), name)
        }
        error => {
            let mut status = Status::not_found(resource.as_resource(), name);
            status.message = format!("{}: {error}", status.message);
            status
        }
    })
}

/// Returns the place where a page begins: `TOKEN@UID`, with an empty token at the beginning of an object.
fn begin<'l, 't>(lives: &'l [Life], token: &'t str) -> Option<(&'l Life, Option<&'t str>)> {
    let (token, uid) = token.split_once('@')?;
    let life = lives.iter().find(|life| &*life.uid == uid)?;
    Some((life, Some(token).filter(|token| !token.is_empty())))
}

/// Returns the token of the next page: for the same object, or for the object that had the name before.
fn next(lives: &[Life], life: &Life, page: &HistoryPage) -> Option<String> {
    if let Some(token) = &page.next {
        return Some(format!("{token}@{}", life.uid));
    }
    let place = lives.iter().position(|other| other.uid == life.uid)?;
    lives.get(place + 1).map(|before| format!("@{}", before.uid))
}
