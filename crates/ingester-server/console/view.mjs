// What all pages are made of. Values become text: only strings and elements are children, and every string of the server goes through `visible`.

import { Component, Fragment, createRef, h, render } from "./preact.mjs";
import htm from "./htm.mjs";
import { duration, visible } from "./text.mjs";

export { Component, Fragment, createRef, render };
export const html = htm.bind(h);

// The address of a view within the page.
export function link(parts, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  const text = new URLSearchParams(given).toString();
  return "#/" + parts.map((part) => encodeURIComponent(part)).join("/") + (text && `?${text}`);
}

export const kindLink = (kind, parameters) => link(["kinds", kind.group || "-", kind.version, kind.plural], parameters);

export const objectLink = (kind, namespace, name, parameters) =>
  link(["objects", kind.group || "-", kind.version, kind.plural, namespace || "-", name], parameters);

// The parts and parameters of an address within the page.
export function place(hash) {
  const [path, text = ""] = hash.replace(/^#/, "").split(/\?(.*)/s, 2);
  try {
    const given = [...new URLSearchParams(text)].filter(([, value]) => value !== "");
    return { parts: path.split("/").filter(Boolean).map(decodeURIComponent), parameters: Object.fromEntries(given) };
  } catch {
    return { parts: ["?"], parameters: {} };
  }
}

export function Refused({ error }) {
  const title = error.code ? `${error.code} ${error.reason}` : "No answer";
  return html`<div class="note bad" role="alert"><strong>${visible(title)}</strong> <span>${visible(error.message)}</span></div>`;
}

export function Warnings({ texts }) {
  return texts.length > 0 && html`<ul class="note warn" aria-label="Warnings">${texts.map((text) => html`<li>${visible(text)}</li>`)}</ul>`;
}

// A moment, and how long ago it was.
export function Time({ at }) {
  const moment = Date.parse(at);
  if (Number.isNaN(moment)) return html`<span>${visible(at)}</span>`;
  const ago = Date.now() - moment;
  return html`<time datetime=${new Date(moment).toISOString()}>${visible(at)} <span class="soft">(${
    ago < 0 ? `in ${duration(-ago)}` : `${duration(ago)} ago`
  })</span></time>`;
}

const STATES = new Set(["live", "evicting", "evicted", "deleted"]);

export function State({ is }) {
  return html`<span class=${`state ${STATES.has(is) ? is : ""}`}>${visible(is)}</span>`;
}

// Whether the view follows changes.
export function Live({ state }) {
  const text = {
    loading: "loading…",
    live: "following changes",
    paused: "paused while this tab is hidden",
    ended: "not following",
    still: state.why,
  }[state.is] ?? `${state.error?.message}; trying again in ${Math.ceil(state.wait / 1000)} s`;
  return html`<span class=${`follow ${state.is}`} role="status">${visible(text)}</span>`;
}

// What belongs to an object's annotations of this server.
export const shown = (metadata, name) => metadata?.annotations?.[`mirror.michelangelo.api/${name}`];
