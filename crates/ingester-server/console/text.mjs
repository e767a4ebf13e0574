// Texts out of values: what is invisible made visible, YAML, differences, times. Pure: no element, no request.

// Control characters, and those that change the direction or the place of others, or have no width.
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

// The text with escapes for what could not be seen, or would make it look like another text.
export function visible(value) {
  return String(value).replace(INVISIBLE, (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));
}

// The same on one line.
export function oneLine(value) {
  return visible(value).replace(/\n/g, "\\n").replace(/\t/g, "\\t");
}

const PLAIN = /^[A-Za-z_/][A-Za-z0-9_./@+-]*( [A-Za-z0-9_./@+-]+)*$/;
// What YAML 1.1 or 1.2 would not read as a text.
const WORD = /^(y|n|yes|no|on|off|true|false|null|~|\.inf|\.nan|\.)$/i;

function quoted(text) {
  return visible(JSON.stringify(text));
}

// A text on one line of YAML.
function scalar(value) {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  return PLAIN.test(value) && !WORD.test(value) ? value : quoted(value);
}

// Whether a text is shown as a block of lines.
function isBlock(value) {
  return typeof value === "string" && value.includes("\n") && value.trim() !== "" && !/^[ \n]/.test(value) &&
    visible(value) === value && !value.includes("\t");
}

const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isEmpty = (value) => value !== null && typeof value === "object" && Object.keys(value).length === 0;

// The lines of a value in YAML: `text` with its indentation, `end` (the line after its block, if it begins one), `parent` (the line that
// begins the block it is in, or -1).
export function yaml(value) {
  const lines = [];
  const add = (depth, text, parent) => lines.push({ text: "  ".repeat(depth) + text, end: 0, parent }) - 1;
  const block = (at) => {
    if (lines.length > at + 1) lines[at].end = lines.length;
  };
  // What stands behind `start`, which is a key or a dash.
  const entry = (depth, start, value, parent) => {
    if (isEmpty(value) || value === null || typeof value !== "object") {
      if (!isBlock(value)) {
        add(depth, `${start} ${isEmpty(value) ? (Array.isArray(value) ? "[]" : "{}") : scalar(value)}`, parent);
        return;
      }
      const keep = value.endsWith("\n\n") ? "+" : value.endsWith("\n") ? "" : "-";
      const at = add(depth, `${start} |${keep}`, parent);
      const text = keep === "-" ? value : value.slice(0, -1);
      for (const line of text.split("\n")) add(line === "" ? 0 : depth + 1, line, at);
      block(at);
      return;
    }
    const at = add(depth, start, parent);
    body(Array.isArray(value) && start !== "-" ? depth : depth + 1, value, at);
    block(at);
  };
  const body = (depth, value, parent) => {
    if (!isMap(value)) {
      for (const item of value) {
        const first = lines.length;
        if (isMap(item) && !isEmpty(item)) {
          // The first key stands behind the dash.
          body(depth + 1, item, parent);
          const line = lines[first];
          line.text = "  ".repeat(depth) + "- " + line.text.slice(2 * depth + 2);
        } else {
          entry(depth, "-", item, parent);
        }
      }
      return;
    }
    for (const key of Object.keys(value)) entry(depth, `${scalar(key)}:`, value[key], parent);
  };
  if (value === null || typeof value !== "object" || isEmpty(value)) {
    entry(0, "", value, -1);
    lines[0].text = lines[0].text.trimStart();
  } else {
    body(0, value, -1);
  }
  return lines;
}

// The most single changes that a difference looks for; beyond, the lines between what is equal at both ends are all changed.
const MOST = 1500;

// What turns one list of texts into the other: `{ op: " " | "-" | "+", text }`, as few changes as there can be (Myers).
export function diff(from, to) {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start++;
  let end = 0;
  while (end < from.length - start && end < to.length - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end++;
  const same = (text) => ({ op: " ", text });
  const middle = between(from.slice(start, from.length - end), to.slice(start, to.length - end));
  return [...from.slice(0, start).map(same), ...middle, ...from.slice(from.length - end).map(same)];
}

function between(a, b) {
  const trace = [];
  let v = new Map([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, MOST); d++) {
    trace.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && v.get(k - 1) < v.get(k + 1));
      let x = down ? v.get(k + 1) : v.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      v.set(k, x);
      if (x >= a.length && x - k >= b.length) return back(a, b, trace, d);
    }
  }
  return [...a.map((text) => ({ op: "-", text })), ...b.map((text) => ({ op: "+", text }))];
}

function back(a, b, trace, depth) {
  const out = [];
  let x = a.length;
  let y = b.length;
  for (let d = depth; d > 0; d--) {
    const v = trace[d];
    const k = x - y;
    const down = k === -d || (k !== d && v.get(k - 1) < v.get(k + 1));
    const before = down ? k + 1 : k - 1;
    const px = v.get(before);
    // The equal lines behind the change.
    while (x > (down ? px : px + 1)) {
      out.push({ op: " ", text: a[--x] });
      y--;
    }
    if (down) out.push({ op: "+", text: b[--y] });
    else out.push({ op: "-", text: a[--x] });
  }
  while (x > 0) out.push({ op: " ", text: a[--x] });
  return out.reverse();
}

// The parts of a difference with this many equal lines around each change; `skipped` says how many lines are left out before a part.
export function hunks(lines, around = 3) {
  const parts = [];
  let last = -1;
  lines.forEach((line, at) => {
    if (line.op === " ") return;
    const from = Math.max(at - around, last + 1);
    if (parts.length === 0 || from > last + 1) parts.push({ skipped: from - last - 1, lines: [] });
    const to = Math.min(at + around, lines.length - 1);
    parts.at(-1).lines.push(...lines.slice(from, to + 1));
    last = Math.max(last, to);
  });
  return { parts, rest: lines.length - last - 1 };
}

// How long, as kubectl says it.
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}

// The texts of `Warning` headers.
export function warnings(header) {
  return [...(header ?? "").matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text.replace(/\\(.)/g, "$1"));
}

// The path of the field that a column of a table is made of, and the column's name, by its description.
export function columnOf(definition) {
  const [, column, path] = /^Column `([^`]+)`(?:, from (.+))?\.$/.exec(definition.description ?? "") ?? [];
  return { column, path: path?.replace(/^\./, "") };
}

// The texts that a selector may continue with: the last term of `typed` completed by a key.
export function completions(typed, keys) {
  const before = typed.slice(0, typed.lastIndexOf(",") + 1);
  const term = typed.slice(before.length).trimStart();
  return /[=!<>]/.test(term) ? [] : keys.filter((key) => key.startsWith(term)).slice(0, 50).map((key) => `${before}${key}=`);
}

// Reads JSON without changing an integer that is too large for a number.
export function exact(text) {
  return JSON.parse(text, (_key, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context.source) : value,
  );
}
