// What is mirrored beside an object: its Events, and the objects that it owns. Only kinds with a column for that are asked.

import { ask, fieldsOf, isField, path, query, table } from "./client.mjs";
import { Component, Refused, State, Time, html, objectLink, shown } from "./view.mjs";
import { oneLine, visible } from "./text.mjs";

// The most Events, and the most owned objects of each kind.
const MOST = 50;

// The fields of an Event with the uid of its object, in both API groups.
const ABOUT = { "": "involvedObject.uid", "events.k8s.io": "regarding.uid" };

// The column with the uids of an object's owners.
const OWNER = "owner_uid";

const lastOf = ({ series, lastTimestamp, deprecatedLastTimestamp, eventTime, metadata }) =>
  series?.lastObservedTime ?? lastTimestamp ?? deprecatedLastTimestamp ?? eventTime ?? metadata?.creationTimestamp ?? "";

export class Related extends Component {
  constructor(props) {
    super(props);
    this.state = { events: null, owned: null };
    this.stop = new AbortController();
  }

  componentDidMount() {
    this.load();
  }

  componentDidUpdate(before) {
    if (before.version !== this.props.version) this.load();
  }

  componentWillUnmount() {
    this.stop.abort();
  }

  async load() {
    const { kinds, namespace } = this.props.of;
    const { signal } = this.stop;
    const where = (kind) => (kind.namespaced ? namespace : "");
    const set = (list) => (found) => signal.aborted || this.setState({ [list]: found });
    try {
      const of = await fieldsOf(kinds);
      const ofEvents = kinds.filter((kind) => kind.name === "Event" && of(kind).includes(ABOUT[kind.group]));
      const ofOwned = kinds.filter((kind) => of(kind).includes(OWNER));
      await Promise.all([
        ofEvents.length > 0 && this.events(ofEvents, where).then(set("events")),
        ofOwned.length > 0 && this.owned(ofOwned, where).then(set("owned")),
      ]);
    } catch (error) {
      if (!signal.aborted) this.setState({ error });
    }
  }

  // What each of these kinds has, and why those that were refused have nothing.
  async all(kinds, one) {
    const errors = [];
    const answers = await Promise.all(kinds.map((kind) => one(kind).catch((error) => {
      if (error.name !== "AbortError") errors.push(error);
      return null;
    })));
    return { errors, answers };
  }

  async events(kinds, where) {
    const { uid } = this.props;
    const { errors, answers } = await this.all(kinds, (kind) => {
      const parameters = { fieldSelector: isField(ABOUT[kind.group], uid), state: "all", "order-by": "-create_time", limit: MOST };
      return ask(path(kind, where(kind)) + query(parameters), { signal: this.stop.signal });
    });
    const items = answers.flatMap((answer) => answer?.json.items ?? []);
    items.sort((one, other) => String(lastOf(other)).localeCompare(String(lastOf(one))));
    return { errors, items: items.slice(0, MOST), isCut: items.length > MOST || answers.some((answer) => answer?.json.metadata.continue) };
  }

  async owned(kinds, where) {
    const { uid } = this.props;
    const { errors, answers } = await this.all(kinds, async (kind) => {
      const { json } = await table(path(kind, where(kind)), { fieldSelector: isField(OWNER, uid), state: "all", limit: MOST }, this.stop.signal);
      return { kind, json };
    });
    const items = answers.flatMap((answer) => answer?.json.rows.map(({ object }) => ({ kind: answer.kind, metadata: object?.metadata ?? {} })) ?? []);
    return { errors, items, isCut: answers.some((answer) => answer?.json.metadata.continue) };
  }

  render(_, { events, owned, error }) {
    return html`
      ${error && html`<${Refused} error=${error} />`}
      ${events && html`<${Events} ...${events} />`}
      ${owned && html`<${Owned} ...${owned} />`}`;
  }
}

function List({ title, none, heads, items, errors, isCut, row }) {
  return html`<h2>${title}</h2>
    ${errors.map((error) => html`<${Refused} error=${error} />`)}
    ${items.length === 0 && errors.length === 0 && html`<p>${none}</p>`}
    ${items.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label=${title}><table>
      <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${items.map(row)}</tbody>
    </table></div>`}
    ${isCut && html`<p class="soft">There are more.</p>`}`;
}

const text = (value) => oneLine(value ?? "");

function Events(found) {
  return html`<${List} title="Events" none="No Event about this object is in SQL." heads=${["Type", "Reason", "Message", "Count", "Last"]} ...${found} row=${(event) => html`
    <tr key=${event.metadata?.uid}>
      <td>${text(event.type)}</td><th scope="row">${text(event.reason)}</th>
      <td class="text">${visible(String(event.message ?? event.note ?? "").slice(0, 2000))}</td>
      <td class="number">${text(event.series?.count ?? event.count ?? event.deprecatedCount ?? 1)}</td>
      <td><${Time} at=${String(lastOf(event))} /></td>
    </tr>`} />`;
}

function Owned(found) {
  return html`<${List} title="Owned objects" none="It owns no object that is in SQL." heads=${["Kind", "Namespace", "Name", "State"]} ...${found} row=${({ kind, metadata }) => html`
    <tr key=${metadata.uid}>
      <td>${visible(kind.name)}</td><td>${text(metadata.namespace)}</td>
      <th scope="row"><a href=${objectLink(kind, metadata.namespace, metadata.name, { uid: metadata.uid })}>${text(metadata.name)}</a></th>
      <td><${State} is=${shown(metadata, "state") ?? "live"} /></td>
    </tr>`} />`;
}
