//! Queries in Rust's terms: the kind is a type, and so are its columns.

use super::ask::{AskError, Limits, RequestedParts};
use super::found::FoundRow;
use super::when::{TimedQuery, TimedReader};
use crate::store::Store;
use futures::future;
use futures::stream::{self, BoxStream, Stream, StreamExt as _, TryStreamExt as _};
use ingester_core::query::{Handle, PartOf, Predicate, Sort};
use ingester_core::schema::base;
use ingester_core::value::{Micros, Value};
use ingester_core::{Ingestable, Kind, json};
use ingester_sql::query::{Filter, Query, SelectorError, States, Test, parse_field_selector, parse_label_selector};
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// A query for objects of the type `K`. By default it asks for everything that exists, in the order of Kubernetes.
///
/// ```no_run
/// # use ingester_core::Ingestable;
/// # #[derive(Ingestable, serde::Deserialize)]
/// # #[ingest(group = "example.com", version = "v1", kind = "House", namespaced = false)]
/// # struct House {
/// #     #[index]
/// #     colour: String,
/// # }
/// # async fn example(store: &ingester_store::Store) -> Result<(), ingester_store::query::AskError> {
/// use futures::TryStreamExt as _;
///
/// let query = store.query::<House>().namespace("town").label("street", "main").filter(House::colour().eq("red"));
/// let mut houses = std::pin::pin!(query.order_by(House::create_time().desc()).limit(50).stream());
/// while let Some(house) = houses.try_next().await? {
///     println!("{} {}", house.name, house.object.colour);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a query does nothing until it is asked"]
pub struct TypedQuery<'s, K> {
    store: &'s Store,
    query: Query,
    limits: Limits,
    limit: Option<usize>,
    after: Option<String>,
    of: PhantomData<fn() -> K>,
}

/// An object as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored<T> {
    /// The object.
    pub object: T,
    /// The object's uid.
    pub uid: Box<str>,
    /// The object's namespace; empty if it is in none.
    pub namespace: Box<str>,
    /// The object's name.
    pub name: Box<str>,
    /// The stored resourceVersion.
    pub res_version: u64,
    /// The time of its creation.
    pub create_time: Option<Micros>,
    /// The time at which its row was written.
    pub update_time: Option<Micros>,
    /// The time of its deletion.
    pub delete_time: Option<Micros>,
    /// The time at which it was moved from etcd to SQL.
    pub evict_time: Option<Micros>,
}

/// A page of objects.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedPage<T> {
    /// The objects, in the query's order.
    pub items: Vec<Stored<T>>,
    /// The token of the next page; `None` if this is the last one.
    pub next: Option<String>,
}

/// The indexes of the columns that are read of each row.
const PLACES: [usize; 8] = [
    base::NAMESPACE,
    base::NAME,
    base::RES_VERSION,
    base::CREATE_TIME,
    base::UPDATE_TIME,
    base::DELETE_TIME,
    base::EVICT_TIME,
    base::JSON,
];

impl Store {
    /// Begins a query for objects of a kind.
    pub fn query<K: Ingestable>(&self) -> TypedQuery<'_, K> {
        let query = Query::default();
        let limits = Limits::default();
        TypedQuery { store: self, query, limits, limit: None, after: None, of: PhantomData }
    }
}

impl<'s, K: Ingestable> TypedQuery<'s, K> {
    /// Selects objects of this namespace, in addition to others that were named.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.query.namespaces.push(namespace.into());
        self
    }

    /// Selects objects of this name, in addition to others that were named. Several objects may have had it, one after the other.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.query.names.push(name.into());
        self
    }

    /// Selects the object of this uid, in addition to others that were named.
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.query.uids.push(uid.into());
        self
    }

    /// Selects objects in these states, instead of live and evicted.
    pub fn states(mut self, states: States) -> Self {
        self.query.states = states;
        self
    }

    /// Selects objects with this label.
    pub fn label(self, key: impl Into<String>, value: &str) -> Self {
        self.matching(Filter::label(key, Test::Equal(Value::text(value))))
    }

    /// Selects objects by a label selector of Kubernetes: `team in (a, b), !legacy`.
    ///
    /// # Errors
    /// [`SelectorError`] with the place, when it is not a selector.
    pub fn label_selector(mut self, selector: &str) -> Result<Self, SelectorError> {
        self.query.filters.extend(parse_label_selector(selector)?);
        Ok(self)
    }

    /// Selects objects by a field selector of Kubernetes: `spec.owner.name=ann,status.state!=FAILED`. If a field has no column, the query
    /// is refused.
    ///
    /// # Errors
    /// [`SelectorError`] with the place, when it is not a selector.
    pub fn field_selector(mut self, selector: &str) -> Result<Self, SelectorError> {
        self.query.filters.extend(parse_field_selector(selector)?);
        Ok(self)
    }

    /// Selects objects whose columns satisfy this condition.
    pub fn filter<S: PartOf<K>>(self, predicate: Predicate<S>) -> Self {
        self.matching(predicate.into())
    }

    /// Selects objects that match a filter, which can be built at run time.
    pub fn matching(mut self, filter: Filter) -> Self {
        self.query.filters.push(filter);
        self
    }

    /// Reads fields without a column from the stored JSON. No key serves them, so every row is read.
    pub fn scan(mut self) -> Self {
        self.query.scan = true;
        self
    }

    /// Orders by this, after the orders that were set before.
    pub fn order_by<S: PartOf<K>>(mut self, sort: Sort<S>) -> Self {
        self.query.order.push(sort.into());
        self
    }

    /// Returns at most this many objects.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Continues after a page, by its token.
    pub fn after(mut self, token: impl Into<String>) -> Self {
        self.after = Some(token.into());
        self
    }

    /// Sets these limits, instead of the usual ones.
    pub fn within(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Selects objects as they were at a moment, by the database's clock. The kind must keep its history. `update_time` is then the time at
    /// which that version began. The history has no keys for labels and annotations, so a query for them has to [scan](Self::scan).
    pub fn at(mut self, moment: Micros) -> Self {
        self.query.at = Some(moment.into());
        self
    }

    fn asked(&self) -> Result<TimedQuery<'s>, AskError> {
        Ok(self.store.ask_when(&Kind::of::<K>(), &self.query, self.limits)?)
    }

    /// Returns the objects, one after the other. Only a few are in memory at a time, however many there are. An object that cannot be read
    /// as a `K` is an error of its own, and the others follow.
    pub fn stream(self) -> impl Stream<Item = Result<Stored<K>, AskError>> + use<'s, K>
    where
        K: DeserializeOwned,
    {
        self.stream_json().map(|stored| stored.and_then(Stored::read))
    }

    /// Like [`TypedQuery::stream`], with each object as its stored JSON.
    pub fn stream_json(self) -> impl Stream<Item = Result<Stored<Box<str>>, AskError>> + use<'s, K> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let begin = self.asked().and_then(|asked| Ok(asked.reader(&wanted(), self.after.as_deref())?));
        let portions = |reader: TimedReader<'s>| -> BoxStream<'s, Result<FoundRow, AskError>> {
            stream::try_unfold(reader, async |mut reader| {
                // On the heap: otherwise the nested types of the futures below would be too deep for the compiler.
                let rows = Box::pin(reader.next()).await?;
                let portion = stream::iter(rows.into_iter().map(Ok::<_, AskError>));
                Ok::<_, AskError>((portion.size_hint().0 > 0).then_some((portion, reader)))
            })
            .try_flatten()
            .boxed()
        };
        let rows = stream::once(future::ready(begin)).map_ok(portions).try_flatten();
        rows.take(limit).map_ok(|row| Stored::from_row(&row)).boxed()
    }

    /// Returns a page of objects up to the limit, or up to 1,000 without one.
    ///
    /// # Errors
    /// [`AskError`] when the query cannot be asked, the database fails or takes too long, or an object cannot be read as a `K`.
    pub async fn page(self) -> Result<TypedPage<K>, AskError>
    where
        K: DeserializeOwned,
    {
        let limit = self.limit.unwrap_or(usize::MAX);
        let page = self.asked()?.page(&wanted(), limit, self.after.as_deref()).await?;
        let items = page.rows.iter().map(|row| Stored::from_row(row).read()).collect::<Result<_, _>>()?;
        Ok(TypedPage { items, next: page.next })
    }

    /// Returns the first object; `None` if there is none.
    ///
    /// # Errors
    /// As [`TypedQuery::page`].
    pub async fn first(self) -> Result<Option<Stored<K>>, AskError>
    where
        K: DeserializeOwned,
    {
        Ok(self.limit(1).page().await?.items.pop())
    }

    /// Returns the number of objects. All their keys are read.
    ///
    /// # Errors
    /// [`AskError`] when the query cannot be asked, or the database fails or takes too long.
    pub async fn count(self) -> Result<u64, AskError> {
        self.asked()?.count().await
    }

    /// Returns the present number of objects for each value of a column, the most frequent value first; at most 1,000 values.
    ///
    /// # Errors
    /// As [`TypedQuery::count`]; and if the query names a moment.
    pub async fn count_by<S: PartOf<K>, V>(self, column: Handle<S, V>) -> Result<Vec<(Value, u64)>, AskError> {
        let asked = self.store.ask_about(&Kind::of::<K>(), &self.query, self.limits)?;
        let place = asked.checked().place(column.column())?;
        asked.count_by(place, self.limit.unwrap_or(1000)).await
    }
}

fn wanted() -> RequestedParts {
    RequestedParts { places: PLACES.to_vec(), labels: false }
}

impl Stored<Box<str>> {
    fn from_row(row: &FoundRow) -> Self {
        let res_version = match row.get(base::RES_VERSION) {
            Some(Value::UInt(version)) => *version,
            _ => 0,
        };
        Stored {
            object: row.get_text(base::JSON).into(),
            uid: row.uid().into(),
            namespace: row.get_text(base::NAMESPACE).into(),
            name: row.get_text(base::NAME).into(),
            res_version,
            create_time: row.time(base::CREATE_TIME),
            update_time: row.time(base::UPDATE_TIME),
            delete_time: row.time(base::DELETE_TIME),
            evict_time: row.time(base::EVICT_TIME),
        }
    }

    /// Reads the object, as tolerantly as the mirror does: a null, for example, is the default.
    ///
    /// # Errors
    /// [`AskError::Object`] with its name and uid.
    pub fn read<T: DeserializeOwned>(self) -> Result<Stored<T>, AskError> {
        let Stored { object, uid, namespace, name, res_version, create_time, update_time, delete_time, evict_time } =
            self;
        match json::from_str(&object) {
            Ok(object) => Ok(Stored {
                object,
                uid,
                namespace,
                name,
                res_version,
                create_time,
                update_time,
                delete_time,
                evict_time,
            }),
            Err(error) => Err(AskError::Object { object: format!("{namespace}/{name}"), uid: uid.into(), error }),
        }
    }
}
