// The first page: all kinds with their rows by state, and the saved queries.

import { own, ownList } from "./client.mjs";
import { Component, Fragment, Refused, Time, Warnings, html, kindLink, link } from "./view.mjs";
import { oneLine, visible } from "./text.mjs";

const STATES = ["live", "evicted", "deleted"];

const keyOf = (kind) => `${kind.group}/${kind.version}/${kind.plural}`;

// What was counted, for as long as the tab is open and has the same token.
let counted = null;

export const forgetCounts = () => (counted = null);

export class Kinds extends Component {
  constructor(props) {
    super(props);
    this.state = { queries: [], wanted: "", error: null };
    this.stop = new AbortController();
  }

  componentDidMount() {
    own("queries", this.stop.signal).then((queries) => this.setState({ queries })).catch(() => {});
    if (!counted) this.count();
  }

  componentWillUnmount() {
    this.stop.abort();
  }

  count = async () => {
    counted = null;
    this.setState({ error: null });
    try {
      const { items, warnings } = await ownList("counts", this.stop.signal);
      counted = { warnings, of: new Map(items.map(({ spec, status }) => [`${spec.group}/${spec.version}/${spec.resource}`, status])) };
      this.setState({});
    } catch (error) {
      if (!this.stop.signal.aborted) this.setState({ error });
    }
  };

  render({ kinds }, { queries, wanted, error }) {
    const text = wanted.toLowerCase();
    const found = kinds.filter(({ name, plural, group, shortNames }) => [name, plural, group, ...shortNames].some((word) => word.toLowerCase().includes(text)));
    return html`
      <h1>Kinds</h1>
      ${error && html`<${Refused} error=${error} />`}
      ${counted && html`<${Warnings} texts=${counted.warnings} />`}
      <p class="bar">
        <label>Find a kind <input type="search" value=${wanted} onInput=${(event) => this.setState({ wanted: event.target.value })} /></label>
        <button type="button" disabled=${!counted && !error} onClick=${this.count}>Count again</button>
      </p>
      <div class="scroll" tabindex="0" role="region" aria-label="Kinds">
        <table>
          <thead><tr><th scope="col">Kind</th><th scope="col">API</th>${STATES.map((state) => html`<th scope="col" class="number">${state}</th>`)}<th scope="col" class="number">rejects</th><th scope="col">last change</th></tr></thead>
          <tbody>${found.map((kind) => html`<${Row} key=${keyOf(kind)} kind=${kind} of=${counted ? (counted.of.get(keyOf(kind)) ?? null) : undefined} error=${error} />`)}</tbody>
        </table>
      </div>
      ${queries.length > 0 && html`<${Fragment}>
        <h2>Saved queries</h2>
        <ul class="queries">${queries.map((query) => html`<${Query} query=${query} kinds=${kinds} />`)}</ul>
      <//>`}`;
  }
}

// The numbers of a kind: undefined before they are known, null without the right to them.
function Row({ kind, of, error }) {
  const unknown =
    of === undefined ? html`<span class="soft" role="img" aria-label="not counted yet">${error ? "?" : "…"}</span>`
    : of === null ? html`<abbr title=${`the right to list ${kind.plural} in all namespaces is missing`}>no right</abbr>`
    : html`<abbr title=${visible(of.error ?? "the server does not show it")}>?</abbr>`;
  const number = (name, href) => {
    const count = of?.[name];
    if (count === undefined) return unknown;
    return count === 0 ? html`<span class="soft">0</span>` : html`<a href=${href} aria-label=${`${count} ${name}`}>${count.toLocaleString("en")}</a>`;
  };
  return html`<tr>
    <th scope="row"><a href=${kindLink(kind)}>${visible(kind.name)}</a></th>
    <td>${visible(kind.group ? `${kind.group}/${kind.version}` : kind.version)}</td>
    ${STATES.map((state) => html`<td class="number">${number(state, kindLink(kind, { state }))}</td>`)}
    <td class="number">${number("rejects", link(["mirror"], { kind: kind.name }))}</td>
    <td>${of?.lastChange && html`<${Time} at=${of.lastChange} />`}</td>
  </tr>`;
}

function Query({ query, kinds }) {
  const name = query.metadata.name;
  const kind = kinds.find((kind) => kind.name === query.spec?.kind && (!query.spec?.apiVersion || query.spec.apiVersion === `${kind.group}/${kind.version}`));
  return html`<li>${kind ? html`<a href=${kindLink(kind, { query: name })}>${visible(name)}</a>` : visible(name)} <span class="soft">${oneLine(query.spec?.description ?? "")}</span></li>`;
}
