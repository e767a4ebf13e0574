// One object: as it is, as it was at any moment, its versions and what differs between them, and its restore.

import { ask, follow, path, query, refusal, table } from "./client.mjs";
import { Related } from "./related.mjs";
import { Component, Live, Refused, State, Time, Warnings, createRef, html, kindLink, objectLink, shown } from "./view.mjs";
import { diff, duration, hunks, oneLine, visible, yaml } from "./text.mjs";

// Lines of YAML that are shown at first, and more at each request.
const LINES = 1000;

// Characters of a line that are shown at first.
const LINE = 2000;

const OURS = "mirror.michelangelo.api/";

// The object less what the server adds for this answer.
function stored(object) {
  const metadata = Object.entries(object.metadata ?? {}).map(([field, value]) => {
    const isCut = field === "annotations" && value !== null && typeof value === "object";
    return [field, isCut ? Object.fromEntries(Object.entries(value).filter(([name]) => !name.startsWith(OURS))) : value];
  });
  const isEmpty = ([field, value]) => field === "annotations" && Object.keys(value ?? {}).length === 0;
  return { ...object, metadata: Object.fromEntries(metadata.filter((entry) => !isEmpty(entry))) };
}

const isFormer = (object) => ["evicted", "deleted"].includes(stateOf(object));

const stateOf = ({ metadata }) => shown(metadata, "state") ?? "live";

export class ObjectPage extends Component {
  constructor(props) {
    super(props);
    this.state = { object: null, error: null, live: { is: "loading" }, warnings: [], isGone: false };
  }

  componentDidMount() {
    this.start();
  }

  componentDidUpdate(before) {
    if (JSON.stringify(before.parameters) !== JSON.stringify(this.props.parameters)) this.start();
  }

  componentWillUnmount() {
    this.stop.abort();
  }

  start = () => {
    this.stop?.abort();
    const { signal } = (this.stop = new AbortController());
    const { kind, namespace, name, parameters: { uid } } = this.props;
    const one = { fieldSelector: `metadata.name=${name}`, ...(uid && { uid }) };
    this.setState({ object: null, error: null });
    follow({
      path: path(kind, namespace),
      parameters: one,
      signal,
      load: (open) => this.load(one, open),
      event: () => this.get(signal).catch((error) => !signal.aborted && this.setState({ error })),
      state: (live) => {
        if (signal.aborted) return;
        if (live.error?.code === 401) return this.props.unknown();
        this.setState(live.is === "ended" ? { live, error: live.error, object: null } : { live });
      },
    });
  };

  // Shows the object; returns the version at which its changes begin, or null if it is not followed.
  async load(one, signal) {
    const { kind, namespace, parameters: { at, version } } = this.props;
    const isFollowed = kind.watchable && !at && !version;
    // The position of a list: the object's own version may have left the log of changes.
    const list = isFollowed && await table(path(kind, namespace), { ...one, limit: 1, includeObject: "None" }, signal);
    await this.get(signal);
    if (isFollowed) return list.json.metadata.resourceVersion;
    this.setState({ live: { is: "still", why: at || version ? "as it was then" : "not following: the database has no log of changes" } });
    return null;
  }

  async get(signal) {
    const { kind, namespace, name, parameters: { uid, at, version } } = this.props;
    const of = path(kind, namespace, name);
    const asked = version ? `${of}/history${query({ version, ...(uid && { uid }) })}` : of + query({ ...(uid && { uid }), ...(at && { at }) });
    const { json, warnings } = await ask(asked, { signal });
    this.setState({ object: json, warnings, error: null, isGone: await this.isGone(json, signal) });
  }

  // Whether the object of a former version has left the cluster: only then it can be restored.
  async isGone({ metadata: { uid } }, signal) {
    const { kind, namespace, name, parameters: { at, version } } = this.props;
    if (!kind.restore || !(at || version)) return false;
    try {
      const { json } = await ask(path(kind, namespace, name) + query({ uid, state: "all" }), { signal });
      return isFormer(json);
    } catch (error) {
      if (error.code === 404) return true;
      throw error;
    }
  }

  // Goes to the object at another moment.
  at = (event) => {
    event.preventDefault();
    const { kind, namespace, name, parameters: { uid } } = this.props;
    location.hash = objectLink(kind, namespace, name, { uid, at: event.target.elements.at.value }).slice(1);
  };

  render({ kind, namespace, name, parameters }, { object, error, live, warnings, isGone }) {
    const isPast = parameters.at || parameters.version;
    const uid = object?.metadata?.uid ?? parameters.uid;
    return html`
      <nav aria-label="Where">
        <a href="#/">Kinds</a> › <a href=${kindLink(kind)}>${visible(kind.name)}</a>
        ${namespace && html` › <a href=${kindLink(kind, { namespace })}>${visible(namespace)}</a>`}
      </nav>
      <h1>${visible(name)} ${object && html`<${State} is=${stateOf(object)} />`} <${Live} state=${live} /></h1>
      ${isPast && html`<p class="note">As it was ${parameters.at ? html`at <strong>${visible(parameters.at)}</strong>` : html`in version <strong>${visible(parameters.version)}</strong>`}. <a href=${objectLink(kind, namespace, name, { uid: parameters.uid })}>As it is now</a></p>`}
      ${kind.history && html`<form key=${parameters.at} class="search" aria-label="At a moment" onSubmit=${this.at}>
        <label>As it was at <input name="at" defaultValue=${parameters.at ?? ""} placeholder="2h, 2026-01-31T08:00:00Z" /></label><button>Show</button>
      </form>`}
      ${error && html`<${Refused} error=${error} />`}
      <${Warnings} texts=${warnings} />
      ${object && html`<${Facts} of=${this.props} object=${object} />`}
      ${object && kind.restore && (isPast ? isGone : isFormer(object)) && html`<${Restore} key=${[uid, parameters.at, parameters.version].join()} of=${this.props} uid=${uid} />`}
      ${uid && object && html`<${Related} key=${uid} of=${this.props} uid=${uid} version=${object.metadata?.resourceVersion} />`}
      ${object && html`<h2>Object</h2><${Yaml} value=${stored(object)} title="the object" />`}
      ${kind.history && uid && html`<${History} key=${uid} of=${this.props} uid=${uid} version=${object?.metadata?.resourceVersion} />`}`;
  }
}

function Facts({ of: { kinds }, object: { metadata = {} } }) {
  const moments = [["Created", metadata.creationTimestamp], ["Terminating since", metadata.deletionTimestamp], ["Evicted", shown(metadata, "evicted-at")],
    ["Deleted", shown(metadata, "deleted-at")], ["Valid from", shown(metadata, "valid-from")], ["Valid to", shown(metadata, "valid-to")]];
  const texts = [["Began by", shown(metadata, "change")], ["Changed", shown(metadata, "changed")], ["Not stored", shown(metadata, "pruned")], ["uid", metadata.uid],
    ["resourceVersion", metadata.resourceVersion]];
  const labels = Object.entries(metadata.labels ?? {});
  const owners = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  return html`<dl class="facts">
    ${moments.filter(([, at]) => at).map(([name, at]) => html`<dt>${name}</dt><dd><${Time} at=${at} /></dd>`)}
    ${texts.filter(([, text]) => text).map(([name, text]) => html`<dt>${name}</dt><dd>${oneLine(text)}</dd>`)}
    ${labels.length > 0 && html`<dt>Labels</dt><dd>${labels.map(([key, value]) => html`<span class="label">${oneLine(key)}=${oneLine(value)}</span> `)}</dd>`}
    ${owners.length > 0 && html`<dt>Owners</dt><dd>${owners.map((owner) => html`<${Owner} kinds=${kinds} owner=${owner} namespace=${metadata.namespace} /> `)}</dd>`}
  </dl>`;
}

function Owner({ kinds, owner, namespace }) {
  const text = `${oneLine(owner.kind)} ${oneLine(owner.name)}`;
  const kind = kinds.find((kind) => kind.name === owner.kind && (kind.group ? `${kind.group}/${kind.version}` : kind.version) === owner.apiVersion);
  if (!kind) return html`<span>${text}</span>`;
  return html`<a href=${objectLink(kind, kind.namespaced ? namespace : "", String(owner.name), { uid: owner.uid })}>${text}</a>`;
}

// YAML with blocks that fold, and a search that unfolds what it finds.
class Yaml extends Component {
  constructor(props) {
    super(props);
    this.state = { lines: yaml(props.value), folded: new Set(), whole: new Set(), shown: LINES, wanted: "", at: 0 };
  }

  code = createRef();

  static getDerivedStateFromProps({ value }, state) {
    const text = JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part));
    return text === state.text ? null : { text, lines: yaml(value), folded: new Set(), whole: new Set() };
  }

  fold = (at) => {
    const folded = new Set(this.state.folded);
    if (!folded.delete(at)) folded.add(at);
    this.setState({ folded });
  };

  search = (wanted) => this.go(this.found(wanted), 0, wanted);

  found(wanted) {
    const text = wanted.toLowerCase();
    return text ? this.state.lines.flatMap((line, at) => (line.text.toLowerCase().includes(text) ? [at] : [])) : [];
  }

  go(found, at, wanted = this.state.wanted) {
    const folded = new Set(this.state.folded);
    for (let line = found[at]; line !== undefined && line >= 0; line = this.state.lines[line].parent) if (line !== found[at]) folded.delete(line);
    this.setState({ wanted, at, folded, shown: Math.max(this.state.shown, (found[at] ?? 0) + 50) }, () =>
      this.code.current?.querySelector(".current")?.scrollIntoView({ block: "nearest" }));
  }

  render({ title }, { lines, folded, whole, shown, wanted, at }) {
    const found = this.found(wanted);
    const isFound = new Set(found);
    const all = [];
    for (let line = 0; line < lines.length; line = folded.has(line) ? lines[line].end : line + 1) all.push(line);
    return html`<div class="yaml">
      <form class="bar" role="search" aria-label=${`Search in ${title}`} onSubmit=${(event) => {
        event.preventDefault();
        if (found.length) this.go(found, (at + 1) % found.length);
      }}>
        <label>Search <input type="search" value=${wanted} onInput=${(event) => this.search(event.target.value)} /></label>
        <button disabled=${found.length === 0}>Next</button>
        <span class="soft" role="status">${wanted && (found.length ? `${at + 1} of ${found.length}` : "not found")}</span>
        <button type="button" onClick=${() => this.setState({ folded: new Set(lines.flatMap((line, at) => (line.end && line.parent >= 0 ? [at] : []))) })}>Fold</button>
        <button type="button" onClick=${() => this.setState({ folded: new Set() })}>Unfold</button>
      </form>
      <div class="code scroll" ref=${this.code} tabindex="0" role="region" aria-label=${`YAML of ${title}`}>
        ${all.slice(0, shown).map((line) => {
          const { text, end } = lines[line];
          const isFolded = folded.has(line);
          const isLong = text.length > LINE && !whole.has(line);
          return html`<div key=${line} class=${`line ${isFound.has(line) ? "found" : ""} ${line === found[at] ? "current" : ""}`}>
            ${end ? html`<button type="button" class="fold" aria-expanded=${String(!isFolded)} aria-label=${`${oneLine(text).trim().slice(0, 80)} block`} onClick=${() => this.fold(line)}>${isFolded ? "▸" : "▾"}</button>` : html`<span class="fold"></span>`}
            <span>${visible(isLong ? text.slice(0, LINE) : text)}${isFolded && html`<span class="soft"> … ${end - line - 1} lines</span>`}</span>
            ${isLong && html` <button type="button" onClick=${() => this.setState({ whole: new Set(whole).add(line) })}>${(text.length - LINE).toLocaleString("en")} characters more</button>`}
          </div>`;
        })}
      </div>
      ${all.length > shown && html`<p><button type="button" onClick=${() => this.setState({ shown: shown + LINES })}>Show ${Math.min(LINES, all.length - shown).toLocaleString("en")} more of ${all.length.toLocaleString("en")} lines</button></p>`}
    </div>`;
  }
}

// The versions of an object, the latest first, and what differs between two of them.
class History extends Component {
  constructor(props) {
    super(props);
    this.state = { versions: [], next: undefined, error: null, from: 1, to: 0, isLoading: true };
    this.stop = new AbortController();
  }

  componentDidMount() {
    this.load();
  }

  componentDidUpdate(before) {
    // The object is another one now.
    if (before.version && before.version !== this.props.version && !this.props.of.parameters.version && !this.props.of.parameters.at) this.load();
  }

  componentWillUnmount() {
    this.stop.abort();
  }

  async load(next) {
    const { of: { kind, namespace, name }, uid } = this.props;
    try {
      const { json } = await ask(`${path(kind, namespace, name)}/history${query({ uid, ...(next && { continue: next }) })}`, { signal: this.stop.signal });
      const versions = next ? [...this.state.versions, ...json.items] : json.items;
      const chosen = next ? {} : { from: Math.min(1, versions.length - 1), to: 0 };
      this.setState({ versions, next: json.metadata.continue, error: null, isLoading: false, ...chosen });
    } catch (error) {
      if (!this.stop.signal.aborted) this.setState({ error, isLoading: false });
    }
  }

  render({ of: { kind, namespace, name }, uid }, { versions, next, error, from, to, isLoading }) {
    return html`<section class="history" aria-labelledby="history">
      <h2 id="history">History</h2>
      ${error && html`<${Refused} error=${error} />`}
      ${isLoading && html`<p role="status">loading…</p>`}
      <${TimeLine} versions=${versions} from=${from} to=${to} />
      <ol reversed class="versions">${versions.map((version, at) => html`
        <${Version} key=${at} version=${version} at=${at} chosen=${{ from, to }} choose=${(choice) => this.setState(choice)}
          href=${objectLink(kind, namespace, name, { uid, version: version.metadata.resourceVersion })} />`)}</ol>
      ${next && html`<p><button type="button" onClick=${() => this.load(next)}>Earlier versions</button></p>`}
      ${versions.length > 1 && html`<${Difference} from=${versions[from]} to=${versions[to]} />`}
    </section>`;
  }
}

// How long each version was there, from the left to the right; the list below has the same as text.
function TimeLine({ versions, from, to }) {
  const spans = versions.map(({ metadata }) => [Date.parse(shown(metadata, "valid-from")), Date.parse(shown(metadata, "valid-to") ?? new Date().toISOString())]);
  const [first, last] = [Math.min(...spans.map(([begin]) => begin)), Math.max(...spans.map(([, end]) => end))];
  if (versions.length < 2 || !(last > first)) return null;
  const place = (moment) => ((moment - first) / (last - first)) * 1000;
  return html`<svg class="timeline" viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label=${`${versions.length} versions in ${duration(last - first)}`}>
    ${spans.map(([begin, end], at) => html`<rect class=${`${stateOf(versions[at])} ${at === from || at === to ? "chosen" : ""}`} x=${place(begin)} y="0"
      width=${Math.max(1, place(end) - place(begin) - 1)} height="20"><title>${`${oneLine(versions[at].metadata.resourceVersion)}: ${duration(end - begin)}`}</title></rect>`)}
  </svg>`;
}

function Version({ version: { metadata }, at, chosen, choose, href }) {
  const [begin, end] = [shown(metadata, "valid-from"), shown(metadata, "valid-to")];
  const length = Date.parse(end ?? new Date().toISOString()) - Date.parse(begin);
  const of = (which) => html`<label><input type="radio" name=${which} checked=${chosen[which] === at} onChange=${() => choose({ [which]: at })} /> ${which}</label>`;
  return html`<li>
    <span class="choice">${of("from")} ${of("to")}</span>
    <a href=${href}>${oneLine(metadata.resourceVersion)}</a> <${State} is=${stateOf({ metadata })} /> ${oneLine(shown(metadata, "change") ?? "")}
    <span> ${oneLine(begin ?? "")}${end ? ` to ${oneLine(end)}` : " until now"}${Number.isNaN(length) ? "" : `, ${duration(length)}`}</span>
    ${shown(metadata, "changed") && html`<div class="soft">${oneLine(shown(metadata, "changed")).slice(0, 500)}</div>`}
  </li>`;
}

class Difference extends Component {
  shouldComponentUpdate(next) {
    return next.from !== this.props.from || next.to !== this.props.to;
  }

  render({ from, to }) {
    const texts = [from, to].map((version) => yaml(stored(version)).map((line) => line.text));
    const { parts, rest } = hunks(diff(...texts));
    const skipped = (lines) => lines > 0 && html`<div class="line soft">… ${lines} equal lines</div>`;
    const title = `From version ${oneLine(from.metadata.resourceVersion)} to ${oneLine(to.metadata.resourceVersion)}`;
    return html`<h3>${title}</h3>
      ${parts.length === 0 ? html`<p>Nothing differs.</p>` : html`<div class="code scroll difference" tabindex="0" role="region" aria-label=${title}>
        ${parts.map(({ skipped: before, lines }) => html`${skipped(before)}${lines.map(({ op, text }) => html`
          <div class=${`line ${{ "+": "added", "-": "removed", " ": "" }[op]}`}><span class="op">${op}</span><span>${visible(text.slice(0, LINE))}${text.length > LINE ? "…" : ""}</span></div>`)}`)}
        ${skipped(rest)}
      </div>`}`;
  }
}

// The restore of an object into the cluster: first whether the caller may, then what would be created, then the restore itself.
class Restore extends Component {
  constructor(props) {
    super(props);
    this.state = { missing: undefined, tried: null, done: null, error: null, warnings: [], isBusy: false };
    this.stop = new AbortController();
  }

  async componentDidMount() {
    const { of: { kind, namespace, name } } = this.props;
    try {
      const rights = [["create", ""], ["get", name], ["delete", name], ...(this.version() ? [["update", name]] : [])];
      const { signal } = this.stop;
      const refusals = await Promise.all(rights.map(async ([verb, name]) => [verb, await refusal(kind, verb, namespace, name, signal)]));
      this.setState({ missing: refusals.filter(([, why]) => why !== null).map(([verb]) => verb) });
    } catch (error) {
      if (!this.stop.signal.aborted) this.setState({ error });
    }
  }

  componentWillUnmount() {
    this.stop.abort();
  }

  // What names a former version; nothing for the last one.
  version() {
    const { at, version } = this.props.of.parameters;
    return version ? { version } : at ? { at } : null;
  }

  async post(parameters, which) {
    const { of: { kind, namespace, name }, uid } = this.props;
    this.setState({ isBusy: true, error: null });
    try {
      // Not bound to this view: a restore that has begun is finished.
      const { json, warnings } = await ask(`${path(kind, namespace, name)}/restore${query({ uid, ...this.version(), ...parameters })}`, { method: "POST" });
      this.setState({ [which]: json, warnings, isBusy: false });
    } catch (error) {
      this.setState({ error, isBusy: false });
    }
  }

  render({ of: { kind, namespace, name } }, { missing, tried, done, error, warnings, isBusy }) {
    return html`<section class="restore" aria-labelledby="restore">
      <h2 id="restore">Restore</h2>
      ${error && html`<${Refused} error=${error} />`}
      ${missing?.length > 0 && html`<p>You may not restore it: the right to ${missing.join(" and ")} ${visible(kind.plural)} is missing.</p>`}
      ${missing?.length === 0 && !tried && !done && html`<p><button type="button" disabled=${isBusy} onClick=${() => this.post({ dryRun: "All" }, "tried")}>Show what would be restored</button></p>`}
      <${Warnings} texts=${warnings} />
      ${tried && !done && html`
        <p>${this.version() ? "This version would be restored: created in the cluster, or written into the row of an evicted object" : "This would be created in the cluster"}; nothing has changed yet.</p>
        <${Yaml} value=${tried} title="what would be restored" />
        <p class="bar">
          <button type="button" class="primary" disabled=${isBusy} onClick=${() => this.post({}, "done")}>${this.version() ? "Restore this version" : "Restore it into the cluster"}</button>
          <button type="button" disabled=${isBusy} onClick=${() => this.setState({ tried: null, warnings: [] })}>Leave it</button>
        </p>`}
      ${done && html`<p class="note" role="status">Restored. <a href=${objectLink(kind, namespace, name, { uid: done.metadata?.uid })}>The new object</a></p>`}
    </section>`;
  }
}
