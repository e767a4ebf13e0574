// The objects of a kind: the server's own table, with selectors as people write them for kubectl, page by page, and live.

import { follow, namespaces, own, path, table } from "./client.mjs";
import { Component, Live, Refused, State, Warnings, html, kindLink, objectLink, shown } from "./view.mjs";
import { OverTime } from "./plot.mjs";
import { columnOf, completions, oneLine, visible } from "./text.mjs";

// Rows of a page, unless the address says otherwise.
const PAGE = 100;

// A table that grows beyond this number of rows is no longer completed by its watch.
const MOST = 1000;

// Parameters of the address that the server does not get.
const OWN = ["namespace", "wide"];

// What a watch does not take: it is about all objects that are selected, and has no order.
const OF_LISTS = ["limit", "continue", "count", "order-by"];

const without = (parameters, names) => Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.includes(name)));

const TIMES = [
  ["created-after", "Created after"],
  ["created-before", "Created before"],
  ["deleted-after", "Deleted after"],
  ["deleted-before", "Deleted before"],
];

const uidOf = ({ object }) => object?.metadata?.uid;

// What `order-by` calls a column; nothing if rows have no such order.
function orderOf(definition) {
  const { column } = columnOf(definition);
  if (column) return column;
  return { Name: "metadata.name", Age: "create_time", Row_Age: "create_time", Deleted: "delete_time", Row_Deleted: "delete_time" }[definition.name];
}

const isNumber = ({ type }) => type === "integer" || type === "number";

export class Kind extends Component {
  constructor(props) {
    super(props);
    this.state = { rows: null, definitions: [], live: { is: "loading" }, pending: 0, warnings: [], namespaces: [], parameters: [], error: null, draft: {} };
  }

  componentDidMount() {
    this.start();
    namespaces().then((namespaces) => this.setState({ namespaces })).catch(() => {});
    if (this.props.parameters.query) {
      own("parameters").then((parameters) => this.setState({ parameters })).catch(() => {});
    }
  }

  componentDidUpdate(before) {
    if (JSON.stringify(before.parameters) === JSON.stringify(this.props.parameters)) return;
    this.setState({ draft: {} });
    this.start();
  }

  componentWillUnmount() {
    this.stop.abort();
  }

  // What the server is asked for.
  asked() {
    const { kind, parameters } = this.props;
    return { path: path(kind, parameters.namespace), parameters: without(parameters, OWN) };
  }

  start = () => {
    this.stop?.abort();
    const { signal } = (this.stop = new AbortController());
    const { path, parameters } = this.asked();
    this.setState({ error: null, pending: 0 });
    follow({
      path,
      parameters: without(parameters, OF_LISTS),
      signal,
      load: (open) => this.load(path, parameters, open),
      event: this.event,
      state: (live) => {
        if (signal.aborted) return;
        if (live.error?.code === 401) return this.props.unknown();
        this.setState(live.is === "ended" ? { live, error: live.error, rows: null } : { live });
      },
    });
  };

  // Shows the page; returns the version at which its changes begin, or null if it is not followed.
  async load(path, parameters, signal) {
    const { json, warnings } = await table(path, { limit: PAGE, ...parameters }, signal);
    const { rows, columnDefinitions: definitions, metadata } = json;
    this.setState({
      rows, definitions, warnings, pending: 0, error: null, next: metadata.continue, remaining: metadata.remainingItemCount, time: new Date(),
    });
    const why = parameters.at ? "as it was then" : !this.props.kind.watchable ? "not following: the database has no log of changes" : null;
    if (why) this.setState({ live: { is: "still", why } });
    return why ? null : metadata.resourceVersion;
  }

  // One change.
  event = (type, { rows: [row] }) => {
    row.isChanged = true;
    this.setState(({ rows, next, pending }, { parameters }) => {
      const at = rows.findIndex((other) => uidOf(other) === uidOf(row));
      if (type === "DELETED") return at < 0 ? null : { rows: rows.toSpliced(at, 1) };
      if (at >= 0) return { rows: rows.with(at, row) };
      if (next || parameters.continue || rows.length >= MOST) return { pending: pending + 1 };
      const key = ({ object: { metadata } }) => `${metadata.namespace ?? ""}\0${metadata.name}`;
      const place = parameters["order-by"] ? 0 : rows.findIndex((other) => key(other) > key(row));
      return { rows: rows.toSpliced(place < 0 ? rows.length : place, 0, row) };
    });
  };

  // What is written in the form, until it is asked for.
  input = ({ target: { name, type, checked, value } }) => {
    const written = type !== "checkbox" ? value : checked ? "true" : "";
    this.setState(({ draft }) => ({ draft: { ...draft, [name]: written } }));
  };

  submit = (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    const { query } = this.props.parameters;
    const before = location.hash;
    location.hash = kindLink(this.props.kind, { ...given, query }).slice(1);
    if (location.hash === before) this.start();
  };

  render({ kind, parameters }, { rows, live, error, pending, warnings, remaining }) {
    return html`
      <nav aria-label="Where"><a href="#/">Kinds</a></nav>
      <h1>${visible(kind.name)} <span class="soft">${visible(kind.group)}</span> <${Live} state=${live} /></h1>
      ${parameters.query && html`<p>Saved query <strong>${visible(parameters.query)}</strong>. <a href=${kindLink(kind)}>Without it</a></p>`}
      ${this.form()}
      <${OverTime} kind=${kind} />
      ${error && html`<${Refused} error=${error} />`}
      ${error?.code === 403 && !parameters.namespace && kind.namespaced && html`<p>A list of one namespace needs only the right to that namespace: name it above.</p>`}
      <${Warnings} texts=${warnings} />
      ${pending > 0 && html`<p class="note"><button type="button" onClick=${this.start}>Load again</button> ${pending} changes are about objects that are not on this page.</p>`}
      ${rows && html`${this.table()}
        <p class="bar">
          ${parameters.continue && html`<a href=${kindLink(kind, without(parameters, ["continue"]))}>First page</a>`}
          ${this.state.next && html`<a href=${kindLink(kind, { ...parameters, continue: this.state.next })}>Next page</a>`}
          <span class="soft">${rows.length} ${rows.length === 1 ? "row" : "rows"}${remaining === undefined ? "" : `, ${remaining.toLocaleString("en")} more on later pages`}, ages at ${this.state.time.toISOString().slice(11, 19)} UTC</span>
        </p>`}`;
  }

  form() {
    const { kind, parameters } = this.props;
    const { namespaces, definitions, rows, draft } = this.state;
    const value = (name) => draft[name] ?? parameters[name] ?? "";
    const isMore = TIMES.some(([name]) => parameters[name]) || ["at", "order-by", "limit", "scan", "count"].some((name) => parameters[name]);
    const paths = ["metadata.name", ...definitions.map((definition) => columnOf(definition).path).filter(Boolean)];
    const keys = [...new Set((rows ?? []).flatMap(({ object }) => Object.keys(object?.metadata?.labels ?? {})))].sort();
    const { parameters: all } = this.state;
    const ofQuery = parameters.query ? all.filter(({ spec }) => spec.query === parameters.query) : [];
    return html`
      <form class="search" role="search" aria-label="Select objects" onSubmit=${this.submit} onInput=${this.input}>
        ${kind.namespaced && html`<label>Namespace <input name="namespace" list="namespaces" value=${value("namespace")} placeholder="all" /></label>`}
        <label class="wide">Labels <input name="labelSelector" list="labels" value=${value("labelSelector")} placeholder="team=pricing,!old" spellcheck=${false} /></label>
        <label class="wide">Fields <input name="fieldSelector" list="fields" value=${value("fieldSelector")} placeholder="spec.owner.name=ada" spellcheck=${false} /></label>
        <label>State <select name="state" value=${value("state")}>${["", "live", "evicted", "deleted", "all"].map((state) => html`
          <option value=${state}>${state || "live and evicted"}</option>`)}</select></label>
        ${ofQuery.map(({ spec, metadata: { name } }) => {
          const label = spec.label.replace(/^[^/]*\//, "");
          return html`<label title=${visible(spec.description ?? "")}>${visible(name.replace(/^[^.]*\./, ""))} <input name=${label} value=${value(label)} placeholder=${visible(spec.default ?? "")} /></label>`;
        })}
        <button>Search</button>
        <details open=${isMore}>
          <summary>More</summary>
          ${TIMES.map(([name, title]) => html`<label>${title} <input name=${name} value=${value(name)} placeholder="7d, 2026-01-31" /></label>`)}
          ${kind.history && html`<label>As it was at <input name="at" value=${value("at")} placeholder="2h, 2026-01-31T08:00:00Z" /></label>`}
          <label>Order by <input name="order-by" list="orders" value=${value("order-by")} placeholder="-create_time" /></label>
          <label>Rows of a page <input name="limit" type="number" min="1" max="1000" value=${value("limit")} placeholder=${PAGE} /></label>
          <label><input name="wide" type="checkbox" value="true" checked=${value("wide") === "true"} /> All columns</label>
          <label><input name="count" type="checkbox" value="true" checked=${value("count") === "true"} /> Count, which reads all rows</label>
          <label><input name="scan" type="checkbox" value="true" checked=${value("scan") === "true"} /> Fields without a column, which reads all objects</label>
        </details>
        <${Options} id="namespaces" values=${namespaces} />
        <${Options} id="labels" values=${completions(value("labelSelector"), keys)} />
        <${Options} id="fields" values=${completions(value("fieldSelector"), paths)} />
        <${Options} id="orders" values=${definitions.map(orderOf).filter(Boolean).flatMap((name) => [name, `-${name}`])} />
      </form>`;
  }

  table() {
    const { kind, parameters } = this.props;
    const { rows, definitions } = this.state;
    const columns = definitions.map((definition, place) => ({ definition, place })).filter(({ definition }) => definition.priority === 0 || parameters.wide === "true");
    const hasNamespace = kind.namespaced && !parameters.namespace;
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label=${`${visible(kind.name)} objects`}>
        <table>
          <thead><tr>
            ${hasNamespace && html`<${Heading} of=${this.props} name="Namespace" order="metadata.namespace" hint="The object's namespace." />`}
            ${columns.map(({ definition }) => html`<${Heading} of=${this.props} name=${definition.name} order=${orderOf(definition)} hint=${definition.description} isNumber=${isNumber(definition)} />`)}
          </tr></thead>
          <tbody>
            ${rows.map((row) => html`<${Row} key=${uidOf(row)} row=${row} kind=${kind} columns=${columns} hasNamespace=${hasNamespace} at=${parameters.at} />`)}
            ${rows.length === 0 && html`<tr><td colspan=${columns.length + (hasNamespace ? 1 : 0)}>No objects match.</td></tr>`}
          </tbody>
        </table>
      </div>`;
  }
}

const Options = ({ id, values }) => html`<datalist id=${id}>${values.map((value) => html`<option value=${value} />`)}</datalist>`;

// A column's title, which orders the rows by it.
function Heading({ of: { kind, parameters }, name, order, hint, isNumber }) {
  const now = parameters["order-by"];
  const style = isNumber ? "number" : "";
  if (!order) return html`<th scope="col" class=${style} title=${visible(hint)}>${visible(name)}</th>`;
  const isUp = now === order;
  const sort = isUp ? "ascending" : now === `-${order}` ? "descending" : undefined;
  const to = kindLink(kind, { ...without(parameters, ["continue"]), "order-by": isUp ? `-${order}` : order });
  return html`<th scope="col" class=${style} title=${visible(hint)} aria-sort=${sort}><a href=${to}>${visible(name)}${sort && html`<span aria-hidden="true">${isUp ? " ▲" : " ▼"}</span>`}</a></th>`;
}

class Row extends Component {
  // Rows are many, and change one by one.
  shouldComponentUpdate(next) {
    return next.row !== this.props.row || next.columns.length !== this.props.columns.length || next.hasNamespace !== this.props.hasNamespace;
  }

  render({ row, kind, columns, hasNamespace, at }) {
    const metadata = row.object?.metadata ?? {};
    return html`<tr class=${row.isChanged ? "changed" : ""}>
      ${hasNamespace && html`<td>${oneLine(metadata.namespace ?? "")}</td>`}
      ${columns.map(({ definition, place }) => {
        const cell = row.cells[place];
        if (definition.format === "name") {
          const to = objectLink(kind, metadata.namespace, metadata.name, { uid: metadata.uid, at });
          return html`<th scope="row"><a href=${to}>${oneLine(cell ?? "")}</a></th>`;
        }
        return html`<td class=${isNumber(definition) ? "number" : ""}><${Cell} value=${cell} definition=${definition} state=${shown(metadata, "state")} /></td>`;
      })}
    </tr>`;
  }
}

function Cell({ value, definition, state }) {
  if (value === null || value === undefined) return html`<span class="soft" aria-label="no value">–</span>`;
  if (/^(Row_)*State$/.test(definition.name) && !columnOf(definition).column) return html`<${State} is=${state ?? value} />`;
  const text = oneLine(value);
  return text.length > 120 ? html`<span title=${text.slice(0, 2000)}>${text.slice(0, 120)}…</span>` : text;
}
