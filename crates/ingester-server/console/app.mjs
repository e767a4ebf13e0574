// The page: which view an address means, the kinds that there are, and the token.

import { discover, hasToken, useToken } from "./client.mjs";
import { Kind } from "./kind.mjs";
import { Kinds, forgetCounts } from "./kinds.mjs";
import { Mirror } from "./mirror.mjs";
import { ObjectPage } from "./object.mjs";
import { Component, Refused, html, place, render } from "./view.mjs";

class App extends Component {
  constructor(props) {
    super(props);
    this.state = { kinds: null, error: null, asks: false, hash: location.hash };
  }

  componentDidMount() {
    addEventListener("hashchange", () => {
      this.setState({ hash: location.hash });
      scrollTo(0, 0);
    });
    this.load();
  }

  componentDidUpdate(_, before) {
    const { parts } = place(this.state.hash);
    document.title = [...(parts[0] === "mirror" ? ["Mirror"] : parts.slice(3).reverse()), "Ingester"].filter((part) => part !== "-").join(" · ");
    // A reader of the screen hears that the view is another one.
    if (place(before.hash).parts.join("/") !== parts.join("/")) document.querySelector("main")?.focus({ preventScroll: true });
  }

  load = async () => {
    try {
      this.setState({ kinds: await discover(), error: null, asks: false });
    } catch (error) {
      this.setState({ error, asks: error.code === 401 });
    }
  };

  // A token that the server does not take any more.
  unknown = () => this.setState({ asks: true, error: null });

  use = (token) => {
    useToken(token);
    forgetCounts();
    this.setState({ kinds: null });
    this.load();
  };

  render(_, { kinds, error, asks, hash }) {
    return html`
      <a class="skip" href="#main" onClick=${(event) => {
        event.preventDefault();
        document.querySelector("main").focus();
      }}>To the content</a>
      <header>
        <nav class="bar" aria-label="Pages"><a class="home" href="#/">Ingester</a> <a href="#/mirror">Mirror</a></nav>
        ${hasToken() && html`<button type="button" onClick=${() => this.use("")}>Forget the token</button>`}
      </header>
      <main id="main" tabindex="-1">${this.view(kinds, error, asks, hash)}</main>`;
  }

  view(kinds, error, asks, hash) {
    if (asks) return html`<${Token} use=${this.use} error=${hasToken() && error} />`;
    if (!kinds) {
      return error
        ? html`<h1>Ingester</h1><${Refused} error=${error} /><p><button type="button" onClick=${this.load}>Try again</button></p>`
        : html`<p role="status">loading…</p>`;
    }
    const { parts: [page, group, version, plural, namespace, name, ...more], parameters } = place(hash);
    const kind = kinds.find((kind) => (kind.group || "-") === group && kind.version === version && kind.plural === plural);
    if (!page) return html`<${Kinds} kinds=${kinds} />`;
    if (page === "mirror" && group === undefined) return html`<${Mirror} parameters=${parameters} unknown=${this.unknown} />`;
    const props = { key: [page, group, version, plural, namespace, name].join("/"), kind, kinds, parameters, unknown: this.unknown };
    if (kind && page === "kinds" && namespace === undefined) return html`<${Kind} ...${props} />`;
    if (kind && page === "objects" && name !== undefined && more.length === 0) {
      return html`<${ObjectPage} ...${props} namespace=${namespace === "-" ? "" : namespace} name=${name} />`;
    }
    return html`<h1>Not found</h1><p>The address means no view of this server. <a href="#/">All kinds</a></p>`;
  }
}

class Token extends Component {
  submit = (event) => {
    event.preventDefault();
    this.props.use(event.target.elements.token.value);
  };

  render({ error }) {
    return html`
      <h1>Who are you?</h1>
      <p>The server shows what your token may read in the cluster. It is kept in the memory of this tab until you close or reload it.</p>
      ${error && html`<${Refused} error=${error} />`}
      <form class="token" onSubmit=${this.submit}>
        <label>Bearer token <input name="token" type="password" autocomplete="off" spellcheck=${false} required autofocus /></label>
        <button>Use it</button>
      </form>
      <p class="soft">For example: <code>kubectl create token NAME -n NAMESPACE</code></p>`;
  }
}

// The address that `ingester ui` prints. On other hosts a link must not decide who the user is.
if (["127.0.0.1", "localhost"].includes(location.hostname) && location.hash.startsWith("#secret=")) {
  useToken(location.hash.slice("#secret=".length));
  history.replaceState(null, "", "#/");
}

render(html`<${App} />`, document.body);
