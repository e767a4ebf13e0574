// Requests to the server's own API: discovery, lists, objects, watches. The token is in this tab's memory and nowhere else.

import { exact, warnings } from "./text.mjs";

// The server's root, also behind a prefix.
const BASE = location.pathname.replace(/\/ui\/.*$/, "");

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// The server's own resources.
const OWN = "/apis/mirror.michelangelo.api/v1";

const PAUSE = { least: 1000, most: 30000 };

let token = "";

export function useToken(text) {
  // A token has no other characters, and one that is copied from lines may have breaks.
  token = text.replace(/[^\x21-\x7e]/g, "");
}

export const hasToken = () => token !== "";

// A refusal of the server, as its `Status` says it; with the code 0, no answer.
export class Failure extends Error {
  constructor(code, reason, message) {
    super(message);
    this.code = code;
    this.reason = reason;
  }

  get isTransient() {
    return this.code === 0 || this.code === 429 || this.code >= 500;
  }
}

function failure(code, text) {
  try {
    const status = JSON.parse(text);
    return new Failure(status.code ?? code, status.reason ?? "", status.message ?? text);
  } catch {
    return new Failure(code, "", text.slice(0, 1000) || `the server answered ${code}`);
  }
}

async function send(path, { method = "GET", accept = "application/json", body, signal } = {}) {
  const headers = { Accept: accept };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(BASE + path, {
      method, headers, signal, body: body && JSON.stringify(body), cache: "no-store", credentials: "same-origin", redirect: "error",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "", "the server does not answer");
  }
  if (!response.ok) throw failure(response.status, await read(response));
  return response;
}

async function read(response) {
  try {
    return await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "", "the server broke off its answer");
  }
}

// A request, and its answer with the server's warnings.
export async function ask(path, options) {
  const response = await send(path, options);
  return { json: exact(await read(response)), warnings: warnings(response.headers.get("Warning")) };
}

export const query = (parameters) => {
  const text = new URLSearchParams(parameters).toString();
  return text && `?${text}`;
};

// The kinds that are served, by their names.
export async function discover(signal) {
  const documents = await Promise.all(["/api", "/apis"].map((path) => ask(path, { accept: DISCOVERY, signal })));
  const kinds = [];
  for (const { metadata, versions } of documents.flatMap(({ json }) => json.items)) {
    for (const { version, resources } of versions) {
      for (const { resource, responseKind, scope, verbs, shortNames, subresources = [] } of resources) {
        const has = (name) => subresources.some(({ subresource }) => subresource === name);
        // The server's own resources have no status.
        if (!has("status")) continue;
        kinds.push({
          group: metadata.name ?? "", version, plural: resource, name: responseKind.kind, shortNames: shortNames ?? [],
          namespaced: scope === "Namespaced", watchable: verbs.includes("watch"), history: has("history"), restore: has("restore"),
        });
      }
    }
  }
  return kinds.sort((a, b) => a.name.localeCompare(b.name) || a.group.localeCompare(b.group));
}

// The path of a kind's objects, or of one of them.
export function path(kind, namespace, name) {
  const parts = kind.group ? ["apis", kind.group, kind.version] : ["api", kind.version];
  if (namespace) parts.push("namespaces", namespace);
  parts.push(kind.plural);
  if (name) parts.push(name);
  return "/" + parts.map(encodeURIComponent).join("/");
}

export const table = (path, parameters, signal) => ask(path + query(parameters), { accept: TABLE, signal });

// The server's own objects of this plural, with its warnings.
export const ownList = (plural, signal) =>
  ask(`${OWN}/${plural}`, { signal }).then(({ json, warnings }) => ({ items: json.items, warnings }));

export const own = (plural, signal) => ownList(plural, signal).then(({ items }) => items);

let selectable;

async function readSelectable(kinds) {
  const documents = new Set(kinds.map(({ group, version }) => (group ? `apis/${group}/${version}` : `api/${version}`)));
  const fields = new Map();
  for (const { json } of await Promise.all([...documents].map((document) => ask(`/openapi/v3/${document}`)))) {
    for (const schema of Object.values(json.components.schemas)) {
      for (const { group, version, kind } of schema["x-kubernetes-group-version-kind"] ?? []) {
        fields.set(`${group}/${version}/${kind}`, (schema["x-kubernetes-selectable-fields"] ?? []).map(({ fieldPath }) => fieldPath));
      }
    }
  }
  return ({ group, version, name }) => fields.get(`${group}/${version}/${name}`) ?? [];
}

// The fields by which the objects of a kind can be selected, as a function of the kind; read once for this tab.
export function fieldsOf(kinds) {
  selectable ??= readSelectable(kinds).catch((error) => {
    selectable = undefined;
    throw error;
  });
  return selectable;
}

// A field selector for one value.
export const isField = (field, value) => `${field}=${String(value).replace(/[\\,=]/g, "\\$&")}`;

// How many objects of a kind were in each state, over time.
export const overTime = (kind, parameters, signal) =>
  ask(`${OWN}/counts/${encodeURIComponent(kind.group ? `${kind.plural}.${kind.group}` : kind.plural)}${query(parameters)}`, { signal }).then(({ json }) => json.status.steps);

export const namespaces = (signal) =>
  ask("/api/v1/namespaces", { signal }).then(({ json }) => json.items.map(({ metadata }) => metadata.name));

// Why the caller may not do this; null if they may.
export async function refusal(kind, verb, namespace, name, signal) {
  const resourceAttributes = { group: kind.group, version: kind.version, resource: kind.plural, verb, namespace, name };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } };
  const { json } = await ask("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { method: "POST", body, signal });
  return json.status.allowed ? null : json.status.reason || `the right to ${verb} ${kind.plural} is missing`;
}

// The events of a watch, one by one, until it ends. Begins at this version.
async function watch(path, parameters, version, event, signal) {
  const all = { ...parameters, watch: true, allowWatchBookmarks: true, resourceVersion: version };
  const response = await send(path + query(all), { accept: TABLE, signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines.filter((line) => line.trim())) {
        const { type, object } = exact(line);
        if (type === "ERROR") throw new Failure(object.code, object.reason, object.message);
        event(type, object);
      }
    }
  } catch (error) {
    if (error instanceof Failure || error.name === "AbortError") throw error;
    throw new Failure(0, "", "the server broke off its answer");
  }
}

const pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener("online", end);
    signal.addEventListener("abort", end);
  });

// Until the tab is seen.
const seen = (signal) =>
  new Promise((resolve) => {
    if (!document.hidden || signal.aborted) return resolve();
    document.addEventListener("visibilitychange", resolve, { once: true });
    signal.addEventListener("abort", resolve, { once: true });
  });

// What is aborted when the tab is hidden, or `signal` is.
function whileSeen(signal) {
  const open = new AbortController();
  document.addEventListener("visibilitychange", () => document.hidden && open.abort(), { signal: open.signal });
  signal.addEventListener("abort", () => open.abort(), { signal: open.signal });
  return open;
}

// Loads a view, and follows its changes while the tab is seen: `load` returns the version at which to watch (null: not to be watched), `event`
// gets each change, `state` what is shown about it. A server that is gone is asked again after pauses that grow; a version that is no longer
// known is loaded again.
export async function follow({ path, parameters, load, event, state, signal }) {
  let version;
  let failures = 0;
  while (!signal.aborted) {
    if (document.hidden) {
      state({ is: "paused" });
      await seen(signal);
      continue;
    }
    const began = Date.now();
    const open = whileSeen(signal);
    try {
      if (version === undefined) {
        state({ is: "loading" });
        version = await load(open.signal);
        if (version === null) return;
      }
      state({ is: "live" });
      await watch(path, parameters, version, (type, object) => {
        failures = 0;
        version = object.metadata?.resourceVersion || version;
        if (type !== "BOOKMARK") event(type, object);
      }, open.signal);
      // A watch that ends at once is not begun again at once.
      if (Date.now() - began < PAUSE.least) await pause(PAUSE.least, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error.name === "AbortError") continue;
      if (error.code === 410) {
        version = undefined;
      } else if (!error.isTransient) {
        // Who may list may lack the right to watch, and some lists cannot be watched.
        const isShown = version !== undefined;
        state(isShown ? { is: "still", why: `not following: ${error.message}`, error } : { is: "ended", error });
        return;
      }
      if (Date.now() - began > PAUSE.most) failures = 0;
      const wait = Math.min(PAUSE.most, PAUSE.least * 2 ** failures++) * (0.75 + Math.random() / 2);
      state({ is: "waiting", error, wait });
      await pause(wait, signal);
    } finally {
      open.abort();
    }
  }
}
