//! `ingester proto decode`: prints an object's `proto` column as JSON.

use super::chosen;
use crate::arguments::ProtoDecode;
use crate::ending::{Ending, Failure};
use crate::output;
use anyhow::anyhow;
use ingester_core::Kind;
use ingester_core::protobuf::DecodeError;
use ingester_core::schema::base;
use ingester_core::value::Value;

pub(crate) async fn decode(arguments: ProtoDecode, kinds: &'static [Kind]) -> Result<Ending, Failure> {
    let kind = chosen(kinds, std::slice::from_ref(&arguments.kind))?[0];
    let name = kind.name();
    let Some(protobuf) = kind.protobuf() else {
        return Err(Failure::Usage(anyhow!(
            "{name} has no protobuf message: name one with #[ingest(protobuf = \"...\")]"
        )));
    };
    let (descriptors, message) = protobuf.get().map_err(|error| Failure::Usage(anyhow!(error)))?;
    let store = arguments.target.database(kinds)?.open_existing().await?;
    let stored = store.read_stored(kind.table(), &[&arguments.uid]).await?;
    store.close().await;
    let Some(row) = stored.first() else {
        return Err(Failure::Work(anyhow!(
            "there is no {name} with the uid {}; `ingester get {} NAME -o yaml` prints the uid of one",
            arguments.uid,
            kind.plural()
        )));
    };
    let Value::Bytes(bytes) = &row.values[base::PROTO] else {
        return Err(Failure::Work(anyhow!(
            "the {name} has no bytes yet: `ingester backfill {name} --column proto` fills them"
        )));
    };
    let broken = |error: DecodeError| {
        let uid = &arguments.uid;
        anyhow!("the bytes of {name} {uid}: {error}; `ingester backfill {name} --column proto` writes them again")
    };
    let text = descriptors.decode(message, bytes).map_err(broken)?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(anyhow::Error::from)?;
    output::print(&(serde_json::to_string_pretty(&value).map_err(anyhow::Error::from)? + "\n"))?;
    Ok(Ending::Done)
}
