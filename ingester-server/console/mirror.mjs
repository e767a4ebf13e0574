// What the mirror could not store, and where to look for what SQL does not know of it.

import { ownList } from "./client.mjs";
import { Component, Refused, Time, Warnings, html, link } from "./view.mjs";
import { oneLine, visible } from "./text.mjs";

// What only the mirror's own metrics say: the question, the metric, the panel, the command.
const ELSEWHERE = [
  ["How far SQL is behind the cluster", "ingester_sync_lag_seconds", "operators: Lag by kind", ""],
  ["How many changes wait", "workqueue_depth", "operators: Waiting objects", ""],
  ["Which kinds are suspended", "ingester_suspended", "data: Suspended kinds", ""],
  ["Which replica works on which unit", "ingester_replica_units", "operators: Members", "ingester members"],
  ["What rules would move", "ingester_policy_objects", "", "ingester policies"],
];

export class Mirror extends Component {
  constructor(props) {
    super(props);
    this.state = { rejects: null, warnings: [], error: null };
    this.stop = new AbortController();
  }

  componentDidMount() {
    this.load();
  }

  componentWillUnmount() {
    this.stop.abort();
  }

  load = async () => {
    const { signal } = this.stop;
    this.setState({ rejects: null, error: null });
    try {
      const { items: rejects, warnings } = await ownList("rejects", signal);
      this.setState({ rejects, warnings });
    } catch (error) {
      if (signal.aborted) return;
      if (error.code === 401) return this.props.unknown();
      this.setState({ error });
    }
  };

  render({ parameters: { kind } }, { rejects, warnings, error }) {
    const shown = rejects?.filter(({ spec }) => !kind || spec.kind === kind);
    return html`
      <nav aria-label="Where"><a href="#/">Kinds</a></nav>
      <h1>Mirror</h1>
      <h2>Rejects</h2>
      <p>Objects that could not be stored. An object is tried again when it changes. You see those of the kinds and namespaces in which you may list objects.</p>
      ${kind && html`<p>Of the kind <strong>${visible(kind)}</strong>. <a href=${link(["mirror"])}>Of all kinds</a></p>`}
      ${error && html`<${Refused} error=${error} />`}
      <${Warnings} texts=${warnings} />
      ${!rejects && !error && html`<p role="status">loading…</p>`}
      ${shown && html`<p class="bar"><button type="button" onClick=${this.load}>Load again</button> <span class="soft" role="status">${shown.length.toLocaleString("en")} ${shown.length === 1 ? "reject" : "rejects"}</span></p>`}
      ${shown?.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Rejects"><table>
        <thead><tr>${["Kind", "Namespace", "Name", "Last tried", "Reason"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${shown.map(({ spec }) => html`<tr key=${spec.uid}>
          <td>${oneLine(spec.kind)}</td><td>${oneLine(spec.namespace)}</td><th scope="row">${oneLine(spec.name)}</th>
          <td><${Time} at=${spec.time} /></td><td class="text">${visible(spec.reason)}</td>
        </tr>`)}</tbody>
      </table></div>`}
      <h2>What SQL does not know</h2>
      <p>These are in the metrics of <code>ingester run</code>, on its dashboards, and in commands.</p>
      <div class="scroll" tabindex="0" role="region" aria-label="What SQL does not know"><table>
        <thead><tr>${["Question", "Metric", "Dashboard: panel", "Command"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${ELSEWHERE.map(([question, metric, panel, command]) => html`<tr>
          <th scope="row">${question}</th><td><code>${metric}</code></td><td>${panel}</td><td>${command && html`<code>${command}</code>`}</td>
        </tr>`)}</tbody>
      </table></div>`;
  }
}
