//! The requests of an ingester to the API server's model.

use super::api_server::{PAGE, Streams, is_of};
use super::dependents::PART;
use super::streams::{CUT_OFF, OpenStream, OpenWatch};
use super::things::FakeObject;
use super::world::{Client, Service};
use crate::cluster::{
    ApiError, Cluster, Deletion, ListEvent, ListPosition, ListStream, MetadataPage, Page, PartialObjectMeta, Watch,
};
use crate::dependents::Uids;
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use ingester_core::Kind;
use ingester_core::object::Meta;
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

fn error(doing: &str) -> impl Fn(u16) -> ApiError {
    move |code| ApiError::status(doing, code)
}

impl Cluster for Client {
    fn list<'a>(&'a self, limit: u32, next: Option<&'a str>) -> BoxFuture<'a, Result<Page, ApiError>> {
        async move {
            let token = next.map(str::to_owned);
            let who = self.name();
            let namespace = self.namespace;
            let key = format!("list {limit} {}", next.unwrap_or_default());
            let page = self.request(Service::ApiServer, key, move |world| {
                let (version, next, items) =
                    world.page(namespace, limit as usize, token.as_deref(), FakeObject::render_json)?;
                world.note(&who, &format!("list v{version}: {} objects, next {next:?}", items.len()));
                Ok(Page { version, next, items, ..Page::default() })
            });
            let page = page.await.map_err(error("list"))?;
            self.learns(None);
            Ok(page)
        }
        .boxed()
    }

    fn list_metadata<'a>(&'a self, next: Option<&'a str>) -> BoxFuture<'a, Result<MetadataPage, ApiError>> {
        async move {
            let token = next.map(str::to_owned);
            let who = self.name();
            let namespace = self.namespace;
            let key = format!("list metadata {}", next.unwrap_or_default());
            let page = self.request(Service::ApiServer, key, move |world| {
                let item = |thing: &FakeObject| serde_json::from_value::<PartialObjectMeta>(thing.metadata());
                let (version, next, items) = world.page(namespace, PAGE, token.as_deref(), item)?;
                world.note(&who, &format!("list metadata v{version}: {} objects", items.len()));
                let items = items.into_iter().collect::<Result<_, _>>().map_err(|_| 500_u16)?;
                Ok(MetadataPage { version, next, items })
            });
            let page = page.await.map_err(error("list metadata"))?;
            self.learns(None);
            Ok(page)
        }
        .boxed()
    }

    fn stream(&self) -> BoxFuture<'_, Result<Option<ListStream<Box<str>>>, ApiError>> {
        self.open_list("stream", Streams::CutOff, Ok).boxed()
    }

    fn stream_metadata(&self) -> BoxFuture<'_, Result<Option<ListStream<PartialObjectMeta>>, ApiError>> {
        let metadata = |text: Box<str>| {
            let mut object: Value = serde_json::from_str(&text).map_err(|_| 500_u16)?;
            serde_json::from_value(object["metadata"].take()).map_err(|_| 500_u16)
        };
        self.open_list("stream metadata", Streams::Missing, metadata).boxed()
    }

    fn position(&self) -> BoxFuture<'_, Result<ListPosition, ApiError>> {
        async move {
            let version = self.request(Service::ApiServer, "version".into(), |world| {
                world.server.answers()?;
                let objects = Some(world.server.things.len() as u64);
                Ok(ListPosition { version: world.server.version, objects })
            });
            version.await.map_err(error("version"))
        }
        .boxed()
    }

    fn watch(&self, version: u64) -> BoxFuture<'_, Result<Watch, ApiError>> {
        async move {
            let who = self.name();
            let ingester = self.ingester;
            let open = self.request(Service::ApiServer, "watch".into(), move |world| {
                // A server that is starting does not know the kind.
                world.server.changes()?;
                world.note(&who, &format!("watch from v{version}"));
                if version < world.server.window {
                    return Err(410);
                }
                let weather = world.weather;
                let now = Instant::now();
                let dies = world.chance(weather.watch).then(|| now + world.up_to(60_000));
                let ingesters = world.ingesters.len();
                let behind = world.more.lags && world.dice.u32(..3) == 0;
                world.server.again.listed(ingester, ingesters);
                let lag = Duration::from_millis(if behind { world.dice.u64(1..20_000) } else { 0 });
                Ok(OpenWatch {
                    lag,
                    position: version,
                    epoch: world.server.epoch,
                    begin: now,
                    bookmark: now,
                    dies,
                    ended: false,
                })
            });
            let watching = open.await.map_err(error("watch"))?;
            let events = futures::stream::unfold((self.clone(), watching), |(client, mut watching)| async {
                let event = watching.next(&client).await?;
                Some((event.map_err(error("watch")), (client, watching)))
            });
            Ok(events.boxed())
        }
        .boxed()
    }

    fn owners_among<'a>(
        &'a self,
        kind: &'a Kind,
        namespace: Option<&'a str>,
        uids: &'a Uids,
    ) -> BoxFuture<'a, Result<Uids, ApiError>> {
        async move {
            let key = format!("owners {} {}", kind.name(), namespace.unwrap_or_default());
            let kind = kind.kind();
            let namespace = namespace.map(str::to_owned);
            let uids = uids.clone();
            let asker = self.asker();
            let listed = self.request(Service::ApiServer, key, move |world| {
                // The other kind is served all the time.
                let answer = world.server.answers();
                answer.or_else(|code| if code == 404 && kind == PART.kind() { Ok(()) } else { Err(code) })?;
                Ok(world.list_owners(kind, namespace.as_deref(), &uids, asker))
            });
            listed.await.map_err(error("owners"))
        }
        .boxed()
    }

    fn look<'a>(&'a self, _namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Option<Box<str>>, ApiError>> {
        async move {
            let name = name.to_owned();
            let who = self.name();
            let key = format!("look {name}");
            let look = self.request(Service::ApiServer, key, move |world| {
                world.server.answers()?;
                let found = world.found(&name);
                let told = found.map_or_else(|| format!("no {name}"), FakeObject::told);
                let text = found.map(FakeObject::render_json);
                world.note(&who, &format!("look: {told}"));
                Ok(text)
            });
            look.await.map_err(error("look"))
        }
        .boxed()
    }

    fn namespaces<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<Box<str>>, ApiError>> {
        // No rule of a seed selects namespaces.
        async { Ok(Vec::new()) }.boxed()
    }

    fn patch<'a>(
        &'a self,
        _namespace: &'a str,
        name: &'a str,
        patch: &'a Value,
    ) -> BoxFuture<'a, Result<Box<str>, ApiError>> {
        async move {
            let of = name.to_owned();
            let patch = patch.clone();
            let who = self.name();
            let key = format!("patch {name} v{}", patch[1]["value"].as_str().unwrap_or_default());
            let patched = self.request(Service::ApiServer, key, move |world| world.patch(&who, &of, &patch)).await;
            if patched.is_err() {
                self.refused(name);
            }
            patched.map_err(error("patch"))
        }
        .boxed()
    }

    fn delete<'a>(&'a self, meta: &'a Meta) -> BoxFuture<'a, Result<Deletion, ApiError>> {
        async move {
            let name = meta.name.to_string();
            let uid = meta.uid.to_string();
            let version = meta.resource_version;
            let who = self.name();
            let ingester = self.ingester;
            let life = self.life;
            let key = format!("delete {name} v{version}");
            self.sim.world().before_sending_deletion(ingester, meta);
            let deleted = self.request(Service::ApiServer, key, move |world| {
                let deletion = world.delete_version(&who, &name, &uid, version)?;
                if world.more.crashes && !world.calm && world.dice.u32(..3) == 0 {
                    world.kill(ingester, life);
                }
                Ok(deletion)
            });
            let deleted = deleted.await;
            if deleted.is_err() {
                self.refused(&meta.name);
            }
            deleted.map_err(error("delete"))
        }
        .boxed()
    }
}

impl Client {
    /// Opens a streamed list of what `read` returns for each object's text. It is `cut` off if the server cuts streams off.
    async fn open_list<T: 'static>(
        &self,
        key: &'static str,
        cut: Streams,
        read: fn(Box<str>) -> Result<T, u16>,
    ) -> Result<Option<ListStream<T>>, ApiError> {
        let who = self.name();
        let namespace = self.namespace;
        let open = self.request(Service::ApiServer, key.into(), move |world| {
            world.server.answers()?;
            if world.server.streams == Streams::Missing {
                return Ok(None);
            }
            let weather = world.weather;
            let dies = world.chance(weather.watch).then(|| Instant::now() + world.up_to(100));
            let goes_on = world.rng.bool();
            let pause = if world.calm { 20 } else { [20, 20, 2000][world.rng.usize(..3)] };
            let server = &world.server;
            let sent = |thing: &FakeObject| (thing.uid.clone(), thing.name.clone(), thing.render_json());
            let things = server.things.values().filter(|thing| is_of(namespace, thing.namespace));
            let objects: VecDeque<_> = things.map(sent).collect();
            let streaming = OpenStream {
                key,
                version: server.version,
                until: (!goes_on).then_some(server.version),
                epoch: server.epoch,
                left: (server.streams == cut).then_some(CUT_OFF),
                dies,
                pause,
                ended: false,
                objects,
            };
            let told = if goes_on { ", and what happens meanwhile" } else { "" };
            let told = format!("{key} v{}: {} objects{told}", streaming.version, streaming.objects.len());
            world.note(&who, &told);
            Ok(Some(streaming))
        });
        let Some(streaming) = open.await.map_err(error(key))? else { return Ok(None) };
        let listed = futures::stream::unfold((self.clone(), streaming), move |(client, mut streaming)| async move {
            let listed = streaming.next(&client).await?;
            let listed = listed.and_then(|listed| match listed {
                ListEvent::Object(text) => read(text).map(ListEvent::Object),
                ListEvent::Deleted(text) => read(text).map(ListEvent::Deleted),
                ListEvent::End(version) => Ok(ListEvent::End(version)),
            });
            Some((listed.map_err(error(key)), (client, streaming)))
        });
        Ok(Some(listed.boxed()))
    }
}
