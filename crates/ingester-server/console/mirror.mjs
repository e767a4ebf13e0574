// What the mirror does: its units, what its rules move, and what it could not store.

import { ownList } from "./client.mjs";
import { Component, Refused, Time, Warnings, html, link } from "./view.mjs";
import { oneLine, visible } from "./text.mjs";

const LISTS = ["units", "policies", "rejects"];

// What SQL does not know: the question, the metric, the panel, the command.
const ELSEWHERE = [
  ["How far SQL was behind the cluster, over time", "ingester_sync_lag_seconds", "operators: Lag by kind", ""],
  ["Which member's Lease names which unit", "ingester_replica_units", "operators: Units by member", "ingester members"],
  ["Which objects a rule would move, and what hinders others", "ingester_policy_objects", "operators: Objects of policies", "ingester policies"],
];

const number = (count) => count?.toLocaleString("en") ?? "–";

const Count = ({ of }) => html`<td class="number">${number(of)}</td>`;

// A table with a title and its rows; it says so when there are none.
function Table({ name, heads, rows, none }) {
  if (rows.length === 0) return html`<p>${none}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${name}><table>
    <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${rows}</tbody>
  </table></div>`;
}

function Units({ units }) {
  const heads = ["Kind", "Namespace", "Member", "Phase", "Lag", "Waiting", "Live", "Held", "Rejects", "Last audit", "Heartbeat"];
  return html`<${Table} name="Units" heads=${heads} none="No unit has reported within a day." rows=${units.map(({ metadata, spec, status }) => html`
    <tr key=${metadata.name} class=${status.stale ? "stale" : ""}>
      <th scope="row">${oneLine(spec.kind)} <span class="soft">${oneLine(spec.group)}</span></th>
      <td>${oneLine(spec.namespace) || html`<span class="soft">all</span>`} ${spec.shard && html`<span class="soft">part ${oneLine(spec.shard)}</span>`}</td>
      <td>${oneLine(status.member)}</td>
      <td><span class=${`phase ${status.phase}`}>${visible(status.phase)}</span>${status.stale && html` <strong>stale</strong>`}</td>
      <td class="number">${number(status.lagSeconds)} s</td>
      <${Count} of=${status.waiting} /><${Count} of=${status.live} /><${Count} of=${status.held} />
      <td class="number">${status.rejects > 0 ? html`<a href=${link(["mirror"], { kind: spec.kind })}>${number(status.rejects)}</a>` : number(status.rejects)}</td>
      <td>${status.audit ? html`${number(status.audit.differences)} ${status.audit.differences === 1 ? "difference" : "differences"}, <${Time} at=${status.audit.time} />` : html`<span class="soft">none</span>`}</td>
      <td><${Time} at=${status.heartbeat} /></td>
    </tr>`)} />`;
}

function Policies({ policies }) {
  const heads = ["Kind", "Rule", "Mode", "Objects that match", "Waiting", "Moved in the last round", "Last round"];
  return html`<${Table} name="Policies" heads=${heads} none="No rule was judged within a day." rows=${policies.map(({ metadata, spec, status }) => html`
    <tr key=${metadata.name}>
      <td>${oneLine(spec.kind)} <span class="soft">${oneLine(spec.group)}</span></td>
      <th scope="row">${oneLine(spec.rule)}</th>
      <td>${spec.mode === "dry" ? "dry run" : visible(spec.mode)}${!status.judged && html` <strong>not judged: the log says why</strong>`}</td>
      <${Count} of=${status.matches} /><${Count} of=${status.waiting} /><${Count} of=${status.moved} />
      <td><${Time} at=${status.round} /></td>
    </tr>`)} />`;
}

function Rejects({ rejects }) {
  return html`<${Table} name="Rejects" heads=${["Kind", "Namespace", "Name", "Last tried", "Reason"]} none="Every object could be stored." rows=${rejects.map(({ spec }) => html`
    <tr key=${spec.uid}>
      <td>${oneLine(spec.kind)}</td><td>${oneLine(spec.namespace)}</td><th scope="row">${oneLine(spec.name)}</th>
      <td><${Time} at=${spec.time} /></td><td class="text">${visible(spec.reason)}</td>
    </tr>`)} />`;
}

export class Mirror extends Component {
  constructor(props) {
    super(props);
    this.state = {};
    this.stop = new AbortController();
  }

  componentDidMount() {
    this.load();
  }

  componentWillUnmount() {
    this.stop.abort();
  }

  // Each list is shown as soon as it is there: the right to one of them is not a right to the others.
  load = () => {
    const { signal } = this.stop;
    for (const plural of LISTS) {
      this.setState({ [plural]: null });
      ownList(plural, signal).then((list) => this.setState({ [plural]: list })).catch((error) => {
        if (signal.aborted) return;
        if (error.code === 401) return this.props.unknown();
        this.setState({ [plural]: { error } });
      });
    }
  };

  // A part of the page about one list, of all kinds or of one.
  part(plural, title, about, one, Shown) {
    const { kind } = this.props.parameters;
    const { items, warnings, error } = this.state[plural] ?? {};
    const shown = items?.filter(({ spec }) => !kind || spec.kind === kind);
    return html`<h2>${title}</h2>
      <p>${about}</p>
      ${error && html`<${Refused} error=${error} />`}
      ${warnings && html`<${Warnings} texts=${warnings} />`}
      ${!items && !error && html`<p role="status">loading…</p>`}
      ${shown && html`<p class="soft" role="status">${number(shown.length)} ${shown.length === 1 ? one : plural}</p>
        <${Shown} ...${{ [plural]: shown }} />`}`;
  }

  render({ parameters: { kind } }) {
    return html`
      <nav aria-label="Where"><a href="#/">Kinds</a></nav>
      <h1>Mirror</h1>
      <p class="bar"><button type="button" onClick=${this.load}>Load again</button>
        ${kind && html`<span>Of the kind <strong>${visible(kind)}</strong>. <a href=${link(["mirror"])}>Of all kinds</a></span>`}</p>
      ${this.part("units", "Units", "What each unit of the mirror does. It reports at each change of its phase, and every 30 seconds.", "unit", Units)}
      ${this.part("policies", "Policies", "What rules move out of the cluster, or would move if they were not dry runs.", "policy", Policies)}
      ${this.part("rejects", "Rejects", "Objects that could not be stored. An object is tried again when it changes. You see those of the kinds and namespaces in which you may list objects.", "reject", Rejects)}
      <h2>What SQL does not know</h2>
      <p>These are in the metrics of <code>ingester run</code>, on its dashboards, and in commands.</p>
      <${Table} name="What SQL does not know" heads=${["Question", "Metric", "Dashboard: panel", "Command"]} rows=${ELSEWHERE.map(([question, metric, panel, command]) => html`<tr>
        <th scope="row">${question}</th><td><code>${metric}</code></td><td>${panel}</td><td>${command && html`<code>${command}</code>`}</td>
      </tr>`)} />`;
  }
}
