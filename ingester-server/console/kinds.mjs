// The first page: all kinds with their rows by state, and the saved queries.

import { count, own } from "./client.mjs";
import { Component, Fragment, Refused, html, kindLink } from "./view.mjs";
import { oneLine, visible } from "./text.mjs";

const STATES = ["live", "evicted", "deleted"];

const keyOf = (kind) => `${kind.group}/${kind.version}/${kind.plural}`;

// What was counted, for as long as the tab is open and has the same token.
const counted = new Map();

export const forgetCounts = () => counted.clear();

export class Kinds extends Component {
  constructor(props) {
    super(props);
    this.state = { queries: [], wanted: "" };
    this.stop = new AbortController();
  }

  componentDidMount() {
    own("queries", this.stop.signal).then((queries) => this.setState({ queries })).catch(() => {});
    this.count();
  }

  componentWillUnmount() {
    this.stop.abort();
  }

  // One after the other, because the server reads all rows that it counts.
  async count() {
    const { signal } = this.stop;
    for (const kind of this.props.kinds) {
      const missing = STATES.map((state) => [state, `${keyOf(kind)} ${state}`]).filter(([, key]) => !counted.has(key));
      try {
        for (const [state, key] of missing) {
          counted.set(key, { number: await count(kind, state, signal) });
          this.setState({});
        }
      } catch (error) {
        if (signal.aborted) return;
        for (const [, key] of missing) if (!counted.has(key)) counted.set(key, { error });
        this.setState({});
      }
    }
  }

  again = () => {
    counted.clear();
    this.stop.abort();
    this.stop = new AbortController();
    this.setState({});
    this.count();
  };

  render({ kinds, failed }, { queries, wanted }) {
    const text = wanted.toLowerCase();
    const found = kinds.filter(({ name, plural, group, shortNames }) => [name, plural, group, ...shortNames].some((word) => word.toLowerCase().includes(text)));
    return html`
      <h1>Kinds</h1>
      ${failed && html`<${Refused} error=${failed} />`}
      <p class="bar">
        <label>Find a kind <input type="search" value=${wanted} onInput=${(event) => this.setState({ wanted: event.target.value })} /></label>
        <button type="button" onClick=${this.again}>Count again</button>
      </p>
      <div class="scroll" tabindex="0" role="region" aria-label="Kinds">
        <table>
          <thead><tr><th scope="col">Kind</th><th scope="col">API</th>${STATES.map((state) => html`<th scope="col" class="number">${state}</th>`)}</tr></thead>
          <tbody>${found.map((kind) => html`<tr key=${keyOf(kind)}>
            <th scope="row"><a href=${kindLink(kind)}>${visible(kind.name)}</a></th>
            <td>${visible(kind.group ? `${kind.group}/${kind.version}` : kind.version)}</td>
            ${STATES.map((state) => html`<td class="number"><${Number} of=${counted.get(`${keyOf(kind)} ${state}`)} kind=${kind} state=${state} /></td>`)}
          </tr>`)}</tbody>
        </table>
      </div>
      ${queries.length > 0 && html`<${Fragment}>
        <h2>Saved queries</h2>
        <ul class="queries">${queries.map((query) => html`<${Query} query=${query} kinds=${kinds} />`)}</ul>
      <//>`}`;
  }
}

function Number({ of, kind, state }) {
  if (!of) return html`<span class="soft" aria-label="not counted yet">…</span>`;
  if (of.error) return html`<abbr title=${visible(of.error.message)}>${of.error.code === 403 ? "no right" : "?"}</abbr>`;
  return of.number === 0 ? html`<span class="soft">0</span>` : html`<a href=${kindLink(kind, { state })} aria-label=${`${of.number} ${state}`}>${of.number.toLocaleString("en")}</a>`;
}

function Query({ query, kinds }) {
  const name = query.metadata.name;
  const kind = kinds.find((kind) => kind.name === query.spec?.kind && (!query.spec?.apiVersion || query.spec.apiVersion === `${kind.group}/${kind.version}`));
  return html`<li>${kind ? html`<a href=${kindLink(kind, { query: name })}>${visible(name)}</a>` : visible(name)} <span class="soft">${oneLine(query.spec?.description ?? "")}</span></li>`;
}
