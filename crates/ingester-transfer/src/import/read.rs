//! The reading thread turns files into documents, objects and rows.

use super::found::{DocumentContent, LoadedDocument, named, place, render_reject};
use super::generated::GeneratedNames;
use super::spooled::SpooledDocuments;
use super::states::AnnotatedState;
use super::{Input, ObjectStates, Origin, Progress, generated, namespace, states};
use crate::moving::refuse_only_copy;
use ingester_core::kind::Kind;
use ingester_core::nearest::nearest;
use ingester_core::object::{Identity, ManagedFields, Object, ObjectError};
use ingester_core::value::Unfit;
use ingester_declare::documents::{Document, documents};
use ingester_store::Reject;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::mpsc::Sender;

/// About this many bytes are sent to the writer at once: few enough to keep a queue of several chunks small, and enough that sending costs
/// nothing.
const CHUNK_BYTES: usize = 256 * 1024;

/// The most objects that are sent to the writer at once.
const CHUNK_OBJECTS: usize = 128;

/// The options for reading objects.
#[derive(Clone, Copy)]
pub(super) struct ReadOptions<'a> {
    /// The namespace for objects without one.
    pub(super) namespace: Option<&'a str>,
    /// The source of objects' states.
    pub(super) states: ObjectStates,
    /// Gives objects with `generateName` a name.
    pub(super) generate_names: bool,
    /// Passes over objects of unknown kinds.
    pub(super) ignore_unknown: bool,
}

/// Reads all inputs to their ends, or until the receiver is gone. If objects are `spooled`, they come in the order of their uids.
pub(super) fn read(
    inputs: Vec<Input>,
    kinds: &[Kind],
    asked: ReadOptions<'_>,
    spooled: Option<SpooledDocuments>,
    progress: &Progress,
    sender: &Sender<Vec<LoadedDocument>>,
) {
    let mut reader = Reader { kinds, asked, spooled, sender, chunk: Vec::new(), bytes: 0 };
    // If the writer has failed, it reports the reason itself.
    let _ = reader.read_all(inputs, progress);
}

/// The writer is gone.
struct Gone;

/// The reading thread.
struct Reader<'a> {
    kinds: &'a [Kind],
    asked: ReadOptions<'a>,
    spooled: Option<SpooledDocuments>,
    sender: &'a Sender<Vec<LoadedDocument>>,
    /// The documents that are sent next, and their bytes.
    chunk: Vec<LoadedDocument>,
    bytes: usize,
}

impl Reader<'_> {
    fn read_all(&mut self, inputs: Vec<Input>, progress: &Progress) -> Result<(), Gone> {
        for input in inputs {
            let name: Arc<str> = input.name().into();
            let before = progress.bytes.load(Ordering::Relaxed);
            let mut documents = match input.open() {
                Ok(reader) => documents(reader),
                Err(error) => {
                    self.deliver(unreadable(&name, &error), 0)?;
                    continue;
                }
            };
            let mut names = GeneratedNames::default();
            while let Some(document) = documents.next() {
                let read = before + documents.bytes_read();
                match document {
                    Ok(document) => self.receive(&name, document, read, &mut names)?,
                    // The documents end here.
                    Err(error) => self.deliver(unreadable(&name, &error), 0)?,
                }
                progress.bytes.store(read, Ordering::Relaxed);
            }
            progress.bytes.store(before + documents.bytes_read(), Ordering::Relaxed);
            if matches!(input, Input::Stdin) && documents.bytes_read() == 0 {
                // A closed standard input reads as empty, too. The user has promised input by naming it, so the program before the pipe has
                // failed.
                let error = io::Error::other("it is empty or closed; is there a program before the `|`?");
                self.deliver(unreadable(&name, &error), 0)?;
            }
            self.send()?;
        }
        self.deliver_spooled()?;
        self.send()
    }

    /// Sends a document to the writer, now or later. `read` bytes were read so far.
    fn receive(
        &mut self,
        input: &Arc<str>,
        document: Document,
        read: u64,
        names: &mut GeneratedNames,
    ) -> Result<(), Gone> {
        let bytes = document.content.as_ref().map_or(64, String::len);
        let collects = self.spooled.as_ref().is_some_and(|spooled| spooled.collects(read));
        let text = if collects { document.content.as_ref().ok().cloned() } else { None };
        let origin = Origin { input: input.clone(), document: document.number, line: document.line };
        let loaded = load(origin, document, self.kinds, self.asked, names);
        if let (Some(spooled), Some(text), DocumentContent::Row { place, row, .. }) =
            (&mut self.spooled, &text, &loaded.found)
            && spooled.add(*place, &row.uid, &loaded.origin, text)
        {
            return if spooled.is_full() { self.deliver_spooled() } else { Ok(()) };
        }
        self.deliver(loaded, bytes)
    }

    /// Decodes the objects in the temporary file once more, and sends them.
    fn deliver_spooled(&mut self) -> Result<(), Gone> {
        let Some(spooled) = &mut self.spooled else { return Ok(()) };
        for (origin, text) in spooled.take() {
            let (loaded, bytes) = match text {
                Ok(text) => {
                    let bytes = text.len();
                    let content = Ok(text);
                    let document =
                        Document { number: origin.document, line: origin.line, content, fragment: String::new() };
                    // Objects with generated names are not collected.
                    let names = &mut GeneratedNames::default();
                    (load(origin, document, self.kinds, self.asked, names), bytes)
                }
                Err(error) => {
                    let reason = format!("cannot be read from the temporary file: {error}");
                    (LoadedDocument { origin, found: DocumentContent::Unreadable { reason } }, 0)
                }
            };
            self.deliver(loaded, bytes)?;
        }
        Ok(())
    }

    fn deliver(&mut self, loaded: LoadedDocument, bytes: usize) -> Result<(), Gone> {
        self.bytes += bytes;
        self.chunk.push(loaded);
        if self.bytes >= CHUNK_BYTES || self.chunk.len() >= CHUNK_OBJECTS { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), Gone> {
        self.bytes = 0;
        self.sender.blocking_send(std::mem::take(&mut self.chunk)).map_err(|_| Gone)
    }
}

/// Returns the problem of a file that cannot be read, or not to its end. The other files are still read.
fn unreadable(input: &Arc<str>, error: &io::Error) -> LoadedDocument {
    let origin = Origin { input: input.clone(), document: 0, line: 0 };
    LoadedDocument { origin, found: DocumentContent::Unreadable { reason: format!("cannot be read: {error}") } }
}

fn load(
    origin: Origin,
    document: Document,
    kinds: &[Kind],
    asked: ReadOptions<'_>,
    names: &mut GeneratedNames,
) -> LoadedDocument {
    let into = asked.namespace;
    let found = match document.content {
        Ok(text) if asked.ignore_unknown && is_unknown(&text, kinds) => DocumentContent::Ignored,
        Ok(text) => match into {
            Some(into) => match namespace::put(text, kinds, into) {
                Ok(text) => decode(text, kinds, asked, names),
                Err(refused) => *refused,
            },
            None => decode(text, kinds, asked, names),
        },
        Err(error) => {
            let mut identity = Identity::probe(&document.fragment);
            let recorded = into.is_none_or(|into| namespace::put_broken(&mut identity, kinds, into));
            match broken(&identity, kinds, unread(&identity, kinds, &error)) {
                // This import does not record objects of another namespace.
                DocumentContent::Rejected { place, object, reason, .. } if !recorded => {
                    DocumentContent::Rejected { place, object, reason, reject: None }
                }
                found => found,
            }
        }
    };
    LoadedDocument { origin, found }
}

/// Returns true if an object names a kind that is not in the registry. Nothing else of it needs to be valid.
fn is_unknown(text: &str, kinds: &[Kind]) -> bool {
    let identity = Identity::probe(text);
    let part = |part: Option<Box<str>>| part.filter(|text| !text.is_empty());
    match (part(identity.api_version), part(identity.kind)) {
        (Some(api_version), Some(kind)) => place(kinds, &api_version, &kind).is_none(),
        _ => false,
    }
}

fn decode(text: String, kinds: &[Kind], asked: ReadOptions<'_>, names: &mut GeneratedNames) -> DocumentContent {
    let states = asked.states;
    let (text, said) = match states {
        ObjectStates::Live => (text, AnnotatedState::default()),
        ObjectStates::Annotated | ObjectStates::Evicted(_) => match states::taken(text.clone()) {
            Ok(taken) => taken,
            Err(reason) => return broken(&Identity::probe(&text), kinds, reason),
        },
    };
    let said = match states {
        ObjectStates::Evicted(time) => said.or_evicted(time),
        ObjectStates::Live | ObjectStates::Annotated => said,
    };
    // Read the metadata first: objects of unknown kinds need no decoding, and a broken object of a known kind can be recorded under its
    // identity.
    let text = match prune_text(text, kinds) {
        Ok(text) => text,
        Err((identity, reason)) => return broken(&identity, kinds, reason),
    };
    let error = match Object::parse(text.as_str(), ManagedFields::Prune) {
        Ok(object) => return row(&object, said, kinds),
        Err(error) => error,
    };
    let identity = Identity::probe(&text);
    match (generated::find_kind(&identity, kinds), error) {
        (Some(place), ObjectError::Missing("metadata.name")) if !asked.generate_names => {
            DocumentContent::Nameless { place }
        }
        (Some(_), ObjectError::Missing("metadata.name")) => {
            let text = names.named(&text, &identity);
            match Object::parse(text.as_str(), ManagedFields::Prune) {
                Ok(object) => row(&object, said, kinds),
                Err(error) => broken(&Identity::probe(&text), kinds, error.to_string()),
            }
        }
        (_, error) => broken(&identity, kinds, error.to_string()),
    }
}

/// Returns the row of an object, in this state.
fn row(object: &Object, said: AnnotatedState, kinds: &[Kind]) -> DocumentContent {
    let Some(place) = place(kinds, object.api_version(), object.kind()) else {
        return DocumentContent::Rejected {
            place: None,
            object: named(object.kind(), &object.meta().namespace, &object.meta().name),
            reason: unknown(kinds, object.api_version(), object.kind()),
            reject: None,
        };
    };
    let meta = object.meta();
    let mut reject = Reject {
        uid: meta.uid.to_string(),
        group_ver: object.api_version().to_owned(),
        kind: object.kind().to_owned(),
        namespace: meta.namespace.to_string(),
        name: meta.name.to_string(),
        res_version: meta.resource_version.to_string(),
        reason: String::new(),
    };
    match kinds[place].row(object) {
        Ok(Some(mut row)) => {
            said.put(&mut row);
            for Unfit { column, why } in &row.unfit {
                tracing::warn!(kind = %reject.kind, namespace = %reject.namespace, name = %reject.name, %column, why,
                    "A value does not fit its column, which is NULL");
            }
            if let Err(reason) = refuse_only_copy(&kinds[place], &row) {
                reject.reason = reason;
                return rejected(place, reject);
            }
            DocumentContent::Row { place, row, reject }
        }
        Ok(None) => DocumentContent::LeftOut { place },
        Err(error) => {
            reject.reason = error.to_string();
            rejected(place, reject)
        }
    }
}

fn rejected(place: usize, reject: Reject) -> DocumentContent {
    DocumentContent::Rejected {
        place: Some(place),
        object: render_reject(&reject),
        reason: reject.reason.clone(),
        reject: Some(reject),
    }
}

/// Returns the reason why a document cannot be read. An error may quote the text, but nothing of a kind that prunes may be shown.
fn unread(identity: &Identity, kinds: &[Kind], error: &dyn std::fmt::Display) -> String {
    let part = |part: &Option<Box<str>>| part.as_deref().unwrap_or_default().to_owned();
    match place(kinds, &part(&identity.api_version), &part(&identity.kind)) {
        Some(place) if !kinds[place].prune().is_empty() => {
            "it cannot be read; its kind prunes (`prune`), so nothing of its text is stored or shown: check its syntax"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

/// Returns the text without the parts that its kind does not store, so that no message can show them. If no kind prunes, it does not read
/// the text.
///
/// # Errors
/// The readable part of the object's identity, and the reason why those parts cannot be cut out.
fn prune_text(text: String, kinds: &[Kind]) -> Result<String, (Box<Identity>, String)> {
    if kinds.iter().all(|kind| kind.prune().is_empty()) {
        return Ok(text);
    }
    let identity = Identity::probe(&text);
    let part = |part: &Option<Box<str>>| part.as_deref().unwrap_or_default().to_owned();
    let Some(place) = place(kinds, &part(&identity.api_version), &part(&identity.kind)) else { return Ok(text) };
    match kinds[place].stored_text(&text) {
        Ok(stored) => Ok(stored.into_owned()),
        Err(error) => Err((Box::new(identity), error.to_string())),
    }
}

/// Returns the problem of a text that is not an object. It is recorded if it names a known kind and has a uid or a name.
fn broken(identity: &Identity, kinds: &[Kind], reason: String) -> DocumentContent {
    let text = |text: &Option<Box<str>>| text.as_deref().unwrap_or_default().to_owned();
    let api_version = text(&identity.api_version);
    let kind = text(&identity.kind);
    let namespace = text(&identity.namespace);
    let name = text(&identity.name);
    let place = place(kinds, &api_version, &kind);
    let uid = match identity.uid.as_deref() {
        Some(uid) if !uid.is_empty() => Some(uid.to_owned()),
        // Without a name, nothing identifies the object.
        _ if name.is_empty() => None,
        _ => Some(ingester_core::object::name_based_uid(&api_version, &kind, &namespace, &name).into()),
    };
    let object = named(&kind, &namespace, &name);
    let reject = place.and(uid).map(|uid| Reject {
        uid,
        group_ver: api_version,
        kind,
        namespace,
        name,
        res_version: text(&identity.resource_version),
        reason: reason.clone(),
    });
    DocumentContent::Rejected { place, object, reason, reject }
}

/// Returns the message about an unknown kind. If only the version is unknown, it names the known one.
fn unknown(kinds: &[Kind], api_version: &str, kind: &str) -> String {
    if let Some(known) = kinds.iter().find(|known| known.kind() == kind) {
        return format!(
            "{kind} of {api_version} is not mirrored; this ingester knows {kind} of {}",
            known.api_version()
        );
    }
    let names: Vec<&str> = kinds.iter().map(Kind::kind).collect();
    let plural = kinds.iter().find(|known| known.plural().eq_ignore_ascii_case(kind)).map(Kind::kind);
    let meant =
        plural.or_else(|| nearest(kind, &names)).and_then(|name| kinds.iter().find(|known| known.kind() == name));
    let meant = match meant {
        Some(known) => format!(": did you mean {} of {}?", known.kind(), known.api_version()),
        None => ";".to_owned(),
    };
    format!("{kind} of {api_version} is not a kind that this ingester mirrors{meant} `ingester kinds` lists them")
}
