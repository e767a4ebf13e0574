// The numbers of a kind's objects by state over time, as a plot and as a table.

import { overTime } from "./client.mjs";
import { Component, Refused, html } from "./view.mjs";

const STATES = ["live", "evicted", "deleted"];

const SPANS = [["24h", "a day"], ["7d", "a week"], ["30d", "30 days"], ["365d", "a year"]];

const [WIDTH, HEIGHT] = [600, 160];

const minute = (time) => time.slice(0, 16).replace("T", " ");

export class OverTime extends Component {
  constructor(props) {
    super(props);
    this.state = { isOpen: false, span: "7d", steps: null, error: null };
  }

  componentWillUnmount() {
    this.stop?.abort();
  }

  // Only when it is wanted: the database reads a key of all rows.
  load = async (span) => {
    this.stop?.abort();
    const { signal } = (this.stop = new AbortController());
    this.setState({ span, error: null });
    try {
      const steps = await overTime(this.props.kind, { from: span, steps: 60 }, signal);
      this.setState({ steps });
    } catch (error) {
      if (!signal.aborted) this.setState({ error, steps: null });
    }
  };

  toggle = ({ target: { open } }) => {
    if (open && !this.state.steps) this.load(this.state.span);
  };

  render({ kind }, { span, steps, error }) {
    return html`<details class="over-time" onToggle=${this.toggle}>
      <summary>Objects over time</summary>
      <p class="bar"><label>The last <select value=${span} onChange=${(event) => this.load(event.target.value)}>
        ${SPANS.map(([value, name]) => html`<option value=${value}>${name}</option>`)}</select></label>
        <span class="soft">of the objects that SQL still has: purged rows do not count</span></p>
      ${error && html`<${Refused} error=${error} />`}
      ${!steps && !error && html`<p role="status">loading…</p>`}
      ${steps && html`<${Plot} steps=${steps} title=${`${kind.name} objects by state, the last ${span}`} /><${Steps} steps=${steps} />`}
    </details>`;
  }
}

function Plot({ steps, title }) {
  const [first, last] = [steps[0], steps.at(-1)];
  const most = Math.max(1, ...steps.flatMap((step) => STATES.map((state) => step[state])));
  const point = (step, at, state) => `${((at / (steps.length - 1)) * WIDTH).toFixed(1)},${(HEIGHT - (step[state] / most) * HEIGHT).toFixed(1)}`;
  const change = (state) => `${state} from ${first[state]} to ${last[state]}`;
  return html`<figure class="plot">
    <div class="soft">${most.toLocaleString("en")}</div>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-labelledby="plot-title plot-desc">
      <title id="plot-title">${title}</title>
      <desc id="plot-desc">${`${STATES.map(change).join(", ")}. The table below has the numbers.`}</desc>
      ${STATES.map((state) => html`<polyline class=${state} points=${steps.map((step, at) => point(step, at, state)).join(" ")} />`)}
    </svg>
    <div class="bar ends soft"><span>${minute(first.time)}</span><span>${minute(last.time)} UTC</span></div>
    <figcaption class="bar">${STATES.map((state) => html`<span><svg class="key" viewBox="0 0 30 8" aria-hidden="true"><line class=${state} x1="0" y1="4" x2="30" y2="4" /></svg> ${state} ${last[state].toLocaleString("en")}</span>`)}</figcaption>
  </figure>`;
}

function Steps({ steps }) {
  return html`<details><summary>As a table</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Objects over time"><table>
      <thead><tr><th scope="col">Time</th>${STATES.map((state) => html`<th scope="col" class="number">${state}</th>`)}</tr></thead>
      <tbody>${steps.map((step) => html`<tr><th scope="row">${minute(step.time)}</th>${STATES.map((state) => html`<td class="number">${step[state].toLocaleString("en")}</td>`)}</tr>`)}</tbody>
    </table></div>
  </details>`;
}
