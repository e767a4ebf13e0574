//! Selectors work as in Kubernetes: the same ones are given to a real API server and to the store that mirrors it.

use anyhow::{Context as _, Result, ensure};
use crd_specs::model::Model;
use ingester_core::Kind;
use ingester_core::schema::base;
use ingester_sql::query::{Filter, Query, parse_field_selector, parse_label_selector};
use ingester_store::query::{Limits, RequestedParts};
use ingester_store::{ConnectOptions, Store};
use kube::ResourceExt as _;
use kube::api::{Api, ListParams};
use serde_json::{Map, json};
use std::collections::{BTreeMap, BTreeSet};

use crate::objects::{model, uid};
use crate::on_own_api_servers;
use crate::settings::Settings;
use crate::world::World;

on_own_api_servers! { OwnServers::CLUSTER =>
    selectors_select_what_they_select_in_the_cluster
}

/// How many models there are.
const MODELS: usize = 500;

/// Keys of labels with their values; `None` for objects without the label. The numbers of values have no common divisor, so that
/// all of them meet in some object.
const LABELS: &[(&str, &[Option<&str>])] = &[
    ("team", &[None, Some(""), Some("pricing"), Some("Pricing"), Some("web-2_x.y")]),
    // Which numbers are compared depends on Go's reading of them.
    (
        "number",
        &[
            None,
            Some(""),
            Some("0"),
            Some("5"),
            Some("007"),
            Some("10"),
            Some("v5"),
            Some("1.5"),
            Some("1e3"),
            Some("9223372036854775808"),
            Some("9223372036854775807"),
        ],
    ),
    ("example.com/team", &[None, None, Some("pricing"), Some("")]),
    ("in", &[None, Some("notin"), Some("in")]),
    ("notin", &[None, None, None, None, Some("in"), Some("notin"), Some("")]),
    ("Team", &[None, None, None, Some("pricing"), None, None, None, None, None, Some("x"), None, None, None]),
];

/// Selectors that match some models.
///
/// `x in (a,,)` is left out: Kubernetes 1.20 refuses two commas before the end, later releases take them for an empty value.
const LABEL_SELECTORS: &[&str] = &[
    "team",
    "!team",
    " ! team ",
    "team=pricing",
    "team==pricing",
    "team = Pricing",
    "team\t==\npricing",
    "team=",
    "team==,number",
    "team!=pricing",
    "team!=",
    "team != web-2_x.y , team",
    "team in (pricing)",
    "team in (pricing,web-2_x.y)",
    "team in ( Pricing , web-2_x.y , nobody )",
    "team in (pricing,)",
    "team in ()",
    "team in (,)",
    "team notin (pricing)",
    "team notin (pricing,Pricing,)",
    "team notin ()",
    "team notin(),team",
    "team in (pricing,pricing),team!=Pricing",
    "Team=pricing",
    "!Team,team=pricing",
    "example.com/team",
    "!example.com/team",
    "example.com/team=pricing",
    "example.com/team=,team notin (pricing)",
    "example.com/team=pricing,team!=pricing",
    "number>5",
    "number > 5",
    "number<5",
    "number>007",
    "number>0,number<10",
    "number>999999999999999998",
    "number<9223372036854775807",
    "number=007",
    "number=10,!team",
    "number notin (0,5,007,10),number",
    "in",
    "in in (in)",
    "in notin (in)",
    "in=notin",
    "notin=in",
    "notin notin (notin),in,!Team",
    "in in (in,notin),notin in (in,notin)",
    "!in,!notin",
    "team,!example.com/team,number>1,notin!=in",
];

/// Selectors that match no model, or all of them.
const EXTREMES: &[&str] = &[
    "",
    "  ",
    "nobody",
    "!nobody",
    "nobody=",
    "nobody!=",
    "nobody in ()",
    "nobody notin ()",
    "nobody>0",
    "team,!team",
    "team=pricing,team=Pricing",
    "team>0",
    "number>9223372036854775807",
    "number<0",
    "other.example.com/team",
];

/// Texts that are not label selectors, or not Kubernetes'.
const BAD_LABEL_SELECTORS: &[&str] = &[
    ",",
    "team,",
    ",team",
    "team,,number",
    "!",
    "!!team",
    "!team=a",
    "!team in (a)",
    "team within (a)",
    "team in",
    "team in a",
    "team in (a",
    "team in (a b)",
    "team in (a=b)",
    "team in ((a))",
    "team in (a)number",
    "team=a b",
    "team===a",
    "team==a==b",
    "team=a||number=5",
    "team=)",
    "team (",
    "number>",
    "number>v5",
    "number>-1",
    "number>+1",
    "number>1.5",
    "number>=1",
    "number>9223372036854775808",
    "number in (-1)",
    "team='pricing'",
    "team=-pricing",
    "team=pricing.",
    "team=Māori",
    "/team",
    "example.com/",
    "example.com/team/name",
    "Example.com/team",
    "example_com/team",
    "-team",
    "te%am",
    "team=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

/// Texts that are not field selectors, or that name a field which custom resources do not have.
const BAD_FIELD_SELECTORS: &[&str] = &[
    "metadata.name",
    "!metadata.name",
    "metadata.name in a",
    "metadata.name=a=b",
    "metadata.name===a",
    r"metadata.name=\a",
    r"metadata.name=a\",
    "=a",
    "metadata.name=a, metadata.namespace=b",
    "metadata.name =a",
    "Metadata.name=a",
    "metadata.nothing=a",
    "spec.nothing=a",
];

/// Ranges and lists, which Kubernetes' field selectors do not have.
const EXTENSIONS: &[(&str, usize)] = &[
    ("metadata.name>model-98", 2),
    ("metadata.name<=model-1", 4),
    ("metadata.name in (model-7, model-8)", 4),
    ("metadata.name notin (model-7),metadata.name in (model-7, model-8)", 2),
];

/// Names by uid.
type NamesByUid = BTreeMap<String, String>;

/// The requests to both sides.
struct BothSides {
    api: Api<kube::api::DynamicObject>,
    store: Store,
}

impl BothSides {
    /// The names that the API server selects.
    async fn in_cluster(&self, params: &ListParams) -> kube::Result<NamesByUid> {
        let objects = self.api.list(params).await?.items;
        let name = |object: &kube::api::DynamicObject| {
            format!("{}/{}", object.namespace().unwrap_or_default(), object.name_any())
        };
        Ok(objects.iter().map(|object| (uid(object), name(object))).collect())
    }

    /// The names that the store selects, page by page.
    async fn in_store(&self, filters: Vec<Filter>) -> Result<NamesByUid> {
        let query = Query { filters, ..Query::default() };
        let asked = self.store.ask_about(&Kind::of::<Model>(), &query, Limits::default())?;
        let wanted = RequestedParts { places: vec![base::NAMESPACE, base::NAME], labels: false };
        let mut selected = NamesByUid::new();
        let mut token = None;
        loop {
            let page = asked.page(&wanted, 150, token.as_deref()).await?;
            for row in &page.rows {
                let name = format!("{}/{}", row.get_text(base::NAMESPACE), row.get_text(base::NAME));
                let twice = selected.insert(row.uid().to_owned(), name);
                ensure!(twice.is_none(), "{twice:?} is on two pages");
            }
            token = page.next;
            if token.is_none() {
                return Ok(selected);
            }
        }
    }

    /// The names that both select. Adds to `differences` if they differ.
    async fn select(&self, selector: &Selector<'_>, differences: &mut Vec<String>) -> Result<usize> {
        let cluster =
            self.in_cluster(&selector.params()).await.with_context(|| format!("the API server: {selector:?}"))?;
        let filters = selector.filters().with_context(|| format!("{selector:?}"))?;
        let store = self.in_store(filters).await.with_context(|| format!("the store: {selector:?}"))?;
        let without = |one: &NamesByUid, other: &NamesByUid| -> BTreeSet<String> {
            one.iter().filter(|(uid, _)| !other.contains_key(*uid)).map(|(_, name)| name.clone()).collect()
        };
        if cluster != store {
            let missing = without(&cluster, &store);
            let superfluous = without(&store, &cluster);
            differences.push(format!("{selector:?}: missing {missing:?}, superfluous {superfluous:?}"));
        }
        Ok(cluster.len())
    }

    /// Whether both refuse it. Adds to `differences` if they do not.
    async fn refuse(&self, selector: &Selector<'_>, differences: &mut Vec<String>) -> Result<()> {
        match self.in_cluster(&selector.params()).await {
            Ok(selected) => differences.push(format!("{selector:?}: the API server selects {}", selected.len())),
            Err(kube::Error::Api(status)) if status.code == 400 => {}
            Err(error) => return Err(error).with_context(|| format!("the API server: {selector:?}")),
        }
        if let Ok(filters) = selector.filters()
            && let Ok(selected) = self.in_store(filters).await
        {
            differences.push(format!("{selector:?}: the store selects {}", selected.len()));
        }
        Ok(())
    }
}

#[derive(Debug)]
enum Selector<'t> {
    Label(&'t str),
    Field(&'t str),
}

impl Selector<'_> {
    fn params(&self) -> ListParams {
        match self {
            Selector::Label(text) => ListParams::default().labels(text),
            Selector::Field(text) => ListParams::default().fields(text),
        }
    }

    fn filters(&self) -> Result<Vec<Filter>> {
        Ok(match self {
            Selector::Label(text) => parse_label_selector(text)?,
            Selector::Field(text) => parse_field_selector(text)?,
        })
    }
}

/// The labels of this model.
fn labels(number: usize) -> Map<String, serde_json::Value> {
    let label =
        |(key, values): &(&str, &[Option<&str>])| Some(((*key).to_owned(), json!(values[number % values.len()]?)));
    LABELS.iter().filter_map(label).collect()
}

async fn selectors_select_what_they_select_in_the_cluster(world: &mut World) -> Result<()> {
    // Each name is in both namespaces.
    let models = (0..MODELS).map(|number| {
        let mut object = model(&format!("model-{}", number / 2), "any");
        object["metadata"]["labels"] = labels(number).into();
        (number % 2 == 0, object)
    });
    let (here, there): (Vec<_>, Vec<_>) = models.partition(|(here, _)| *here);
    world.objects.create_all(here.into_iter().map(|(_, object)| object)).await?;
    world.elsewhere.create_all(there.into_iter().map(|(_, object)| object)).await?;
    let namespaces = vec![world.objects.namespace.clone(), world.elsewhere.namespace.clone()];
    world.start_with(&Settings { namespaces, ..world.settings() })?;
    // Rows of deleted objects stay, but are not selected.
    for name in ["model-2", "model-3"] {
        world.objects.delete("Model", name).await?;
        world.gone("Model", name).await?;
    }
    world.objects.create(model("model-3", "again")).await?;
    world.settled().await?;

    // The cluster is the test's own: no other object is in it.
    let resource = kube::core::ApiResource::erase::<Model>(&());
    let api = Api::all_with(world.objects.client.clone(), &resource);
    let store = Store::connect(&world.database.url.parse()?, ConnectOptions::default()).await?;
    let both = BothSides { api, store };
    let differences = &mut Vec::new();
    let all = MODELS - 1;
    for text in LABEL_SELECTORS {
        let selected = both.select(&Selector::Label(text), differences).await?;
        ensure!((1..all).contains(&selected), "`{text}` selects {selected} of {all}: what does it tell?");
    }
    for text in EXTREMES {
        let selected = both.select(&Selector::Label(text), differences).await?;
        ensure!(selected == 0 || selected == all, "`{text}` selects {selected} of {all}");
    }
    let here = &*world.objects.namespace;
    let there = &*world.elsewhere.namespace;
    for (text, expected) in [
        ("", all),
        (",", all),
        ("metadata.name=model-7", 2),
        ("metadata.name==model-7", 2),
        ("metadata.name!=model-7", all - 2),
        ("metadata.name=model-2", 1),
        ("metadata.name=model-3", 2),
        ("metadata.name=Model-7", 0),
        ("metadata.name= model-7", 0),
        ("metadata.name=", 0),
        ("metadata.name!=", all),
        ("metadata.name=a/b", 0),
        (r"metadata.name=a\,b", 0),
        (r"metadata.name!=a\=b\\", all),
        ("metadata.name!=model-7,metadata.name!=model-8", all - 4),
        ("metadata.name=model-7,metadata.name=model-8", 0),
        ("metadata.namespace=", 0),
        ("metadata.namespace!=", all),
        ("metadata.namespace=nowhere", 0),
        (&format!("metadata.namespace={here}"), MODELS / 2 - 1),
        (&format!("metadata.namespace!={here}"), MODELS / 2),
        (&format!("metadata.namespace!={here},metadata.namespace!={there}"), 0),
        (&format!("metadata.namespace={there},metadata.name=model-7,"), 1),
        (&format!("metadata.namespace={there},metadata.name!=model-7"), MODELS / 2 - 1),
    ] {
        let selected = both.select(&Selector::Field(text), differences).await?;
        ensure!(selected == expected, "`{text}` selects {selected}, not {expected}");
    }
    for text in BAD_LABEL_SELECTORS {
        both.refuse(&Selector::Label(text), differences).await?;
    }
    for text in BAD_FIELD_SELECTORS {
        both.refuse(&Selector::Field(text), differences).await?;
    }
    for (text, expected) in EXTENSIONS {
        let refused = both.in_cluster(&Selector::Field(text).params()).await;
        ensure!(matches!(&refused, Err(kube::Error::Api(status)) if status.code == 400), "{text}: {refused:?}");
        let selected = both.in_store(Selector::Field(text).filters()?).await?.len();
        ensure!(selected == *expected, "`{text}` selects {selected}, not {expected}");
    }
    ensure!(differences.is_empty(), "{}", differences.join("\n"));
    Ok(())
}
