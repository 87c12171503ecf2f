// @ts-check
/**
 * The static widget host: runs the widgets of a page that has no kernel and no network.
 *
 * It implements the Anywidget Front-End Module specification (AFM, as of anywidget 0.11) on the saved
 * state: it imports each widget module and calls `initialize` once per model, `render` once per view.
 * What it cannot mount keeps its static picture and gets one line that says why.
 *
 * A classic script, and modules from blob: URLs, because browsers refuse module scripts on file:// pages.
 *
 * @typedef {{ state: Record<string, any>, model_name?: string,
 *   buffers?: { path: (string | number)[], data: string }[],
 *   shared?: Record<string, string> }} SavedModel  `shared`: which trait has which of the page's
 *   `texts`, where several models have the same long one (bookext/widgets.py)
 * @typedef {{ name: string, callback: Function, owner: AbortSignal }} Handler
 * @typedef {{ initialize?: Function, render?: Function }} Widget
 */
(() => {
  "use strict";
  // A page may list its scripts twice; its widgets live once.
  if ("attnWidgets" in window) return;

  const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
  const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';
  const SAY = {
    broken: "This widget could not start on this page.",
    kernel: "This control needs a running notebook.",
    lost: "The saved state of this widget is missing on this page.",
    remote: "This widget wants code from another site, and this page loads nothing from there.",
    message: "Part of what this widget does needs a running notebook.",
  };
  /** A module that is an address, or that imports from one. */
  const REMOTE = /^\s*https?:\/\/|\b(?:from|import)\s*\(?\s*["'`]https?:\/\//i;
  const REMOTE_CSS = /^\s*https?:\/\/|(?:@import|url\()[^;)]*\/\//i;
  const PATIENCE = 10_000; // ms for a model to become ready: the reference host's own limit

  /** An error whose cause the reader is told in these words. */
  class Refusal extends Error {}

  // ---------------------------------------------------------------------------------- the models

  /**
   * Deep, as in Jupyter's models: to set an equal list is no change.
   * @param {any} a @param {any} b @returns {boolean}
   */
  function equal(a, b) {
    if (Object.is(a, b)) return true;
    if (!a || !b || typeof a !== "object" || typeof b !== "object") return false;
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (ArrayBuffer.isView(a) || a instanceof ArrayBuffer) {
      const [x, y] = [a, b].map((v) => new Uint8Array(v.buffer ?? v, v.byteOffset ?? 0, v.byteLength));
      return x.length === y.length && x.every((byte, i) => byte === y[i]);
    }
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
    );
  }

  class Model {
    /** @type {Handler[]} */ handlers = [];
    life = new AbortController();
    /** @type {Set<Element>} */ places = new Set();
    /** @type {any} what `initialize` gave to other widgets */ exports;
    /** @type {Promise<Widget> | undefined} */ #ready;
    #changing = false;
    #pending = false;

    /** @param {SavedModel} saved @param {Record<string, string>} texts */
    constructor(saved, texts) {
      this.kind = saved.model_name ?? saved.state._model_name;
      this.data = { ...saved.state };
      for (const [name, key] of Object.entries(saved.shared ?? {})) this.data[name] = texts[key];
      for (const { path, data } of saved.buffers ?? []) {
        const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
        // The kernel may have replaced a container since: a path that leads nowhere is stale.
        const holder = path.slice(0, -1).reduce((at, key) => at?.[key], this.data);
        if (holder) holder[path[path.length - 1]] = new DataView(bytes.buffer);
      }
    }

    get mountable() {
      return typeof this.data._esm === "string";
    }

    /**
     * As Backbone does: `change:name` for each trait that really changed, then one `change`, also
     * when a handler sets further traits.
     * @param {string | Record<string, any>} name @param {any} [value]
     */
    set(name, value) {
      const news = typeof name === "object" ? name : { [name]: value };
      const changed = Object.keys(news).filter((key) => !equal(this.data[key], news[key]));
      for (const key of changed) this.data[key] = news[key];
      const outermost = !this.#changing;
      this.#changing = true;
      if (changed.length) this.#pending = true;
      for (const key of changed) this.#fire(`change:${key}`);
      if (!outermost) return;
      while (this.#pending) {
        this.#pending = false;
        this.#fire("change");
      }
      this.#changing = false;
    }

    /** @param {string} event */
    #fire(event) {
      for (const { name, callback, owner } of [...this.handlers]) {
        if (name !== event || owner.aborted) continue;
        // One view's mistake must not keep the other views from following.
        try {
          callback();
        } catch (error) {
          reportError(error);
        }
      }
    }

    /** Load the module and call `initialize`, once. */
    ready() {
      this.#ready ??= this.#start();
      return this.#ready;
    }

    async #start() {
      const { signal } = this.life;
      const module = await load(this.data._esm);
      // `export function render` without a default is anywidget's old form; it still honours it.
      let widget = module.render ? { render: module.render } : module.default;
      if (typeof widget === "function") widget = await widget();
      if (!widget || typeof widget !== "object") {
        throw new TypeError("A widget module exports a default object, or a function that gives one.");
      }
      style(this.data._css);
      const given = await widget.initialize?.({ model: proxy(this, signal), signal, experimental });
      if (typeof given === "function") whenOver(this.life, given);
      else this.exports = given ?? undefined;
      return widget;
    }
  }

  /** @type {Map<string, Model>} */
  const models = new Map();

  /** @param {unknown} ref a model's id, `IPY_MODEL_<id>` or `anywidget:<id>` */
  function find(ref) {
    const model = typeof ref === "string" && models.get(ref.replace(/^(IPY_MODEL_|anywidget:)/, ""));
    if (!model) throw new Refusal(SAY.lost, { cause: `no model ${JSON.stringify(ref)} on this page` });
    return model;
  }

  /**
   * The model as a widget sees it. Handlers belong to `owner`: `off()` drops only its own ones, and
   * they all go when the view does.
   * @param {Model} model @param {AbortSignal} owner
   */
  function proxy(model, owner) {
    /** @param {(handler: Handler) => boolean} dropped */
    const drop = (dropped) => {
      model.handlers = model.handlers.filter((h) => h.owner !== owner || !dropped(h));
    };
    owner.addEventListener("abort", () => drop(() => true), { once: true });
    return {
      get: (/** @type {string} */ name) => model.data[name],
      set: (/** @type {any} */ name, /** @type {any} */ value) => model.set(name, value),
      save_changes() {}, // `set` has told every view, and there is no kernel to tell
      on(/** @type {string} */ names, /** @type {Function} */ callback) {
        for (const name of names.split(/\s+/)) model.handlers.push({ name, callback, owner });
      },
      off(/** @type {string | null} */ names, /** @type {Function | null} */ callback) {
        const gone = names?.split(/\s+/);
        drop((h) => (!gone || gone.includes(h.name)) && (!callback || callback === h.callback));
      },
      send() {
        for (const place of model.places) say(place, SAY.message);
      },
      widget_manager: {
        get_model: async (/** @type {string} */ ref) => proxy(find(ref), owner),
      },
    };
  }

  const experimental = {
    invoke: async (/** @type {string} */ name) => {
      throw new Error(`experimental.invoke(${JSON.stringify(name)}) needs a running notebook.`);
    },
  };

  /** ipywidgets' jslink and jsdlink live in the browser, so they live here too. */
  function link(/** @type {Model} */ { kind, data, life }) {
    if (kind !== "LinkModel" && kind !== "DirectionalLinkModel") return;
    const [[a, from], [b, to]] = [data.source, data.target];
    const [source, target] = [find(a), find(b)];
    const follow = () => target.set(to, source.data[from]);
    proxy(source, life.signal).on(`change:${from}`, follow);
    follow();
    if (kind === "DirectionalLinkModel") return;
    proxy(target, life.signal).on(`change:${to}`, () => source.set(from, target.data[to]));
  }

  // ----------------------------------------------------------------------------- modules and styles

  /** @type {Map<string, Promise<any>>} */
  const modules = new Map();

  /** Import a module once, however many models have it. @param {string} source */
  function load(source) {
    let module = modules.get(source);
    if (!module) {
      module = REMOTE.test(source)
        ? Promise.reject(new Refusal(SAY.remote))
        : (async () => {
            const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
            return import(url).finally(() => URL.revokeObjectURL(url));
          })();
      modules.set(source, module);
    }
    return module;
  }

  /** @type {Set<string>} */
  const styles = new Set();

  /** @param {unknown} css */
  function style(css) {
    if (typeof css !== "string" || !css || styles.has(css)) return;
    styles.add(css);
    if (REMOTE_CSS.test(css)) {
      console.warn("A widget's style sheet wants a file from another site: left out.");
      return;
    }
    document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  }

  // ----------------------------------------------------------------------------------- the views

  /**
   * Call a widget's cleanup function at the end of its life; the signal comes after it, says AFM.
   * @param {AbortController} life @param {Function} cleanup
   */
  function whenOver(life, cleanup) {
    const run = async () => {
      try {
        await cleanup();
      } catch (error) {
        console.warn("A widget's cleanup failed.", error);
      }
    };
    if (life.signal.aborted) run();
    else cleanups.set(life, [...(cleanups.get(life) ?? []), run]);
  }
  /** @type {WeakMap<AbortController, (() => void)[]>} */
  const cleanups = new WeakMap();

  /** @param {AbortController} life */
  function end(life) {
    for (const run of cleanups.get(life) ?? []) run();
    cleanups.delete(life);
    life.abort();
  }

  /** Reject when `promise` is not settled in time. @template T @param {Promise<T>} promise */
  async function patiently(promise) {
    let timer = 0;
    const late = new Promise((_, reject) => {
      timer = window.setTimeout(reject, PATIENCE, new Error("The widget did not become ready in time."));
    });
    return /** @type {Promise<T>} */ (Promise.race([promise, late])).finally(() => clearTimeout(timer));
  }

  /**
   * Render one view of a model into `el`; it ends with `parent`.
   * @param {Model} model @param {HTMLElement} el @param {AbortSignal} parent
   */
  async function render(model, el, parent) {
    const widget = await patiently(model.ready());
    const life = new AbortController();
    if (parent.aborted || !widget.render) return Boolean(widget.render);
    parent.addEventListener("abort", () => end(life), { once: true });
    const { signal } = life;
    try {
      const props = { model: proxy(model, signal), el, signal, host: host(signal), experimental };
      const cleanup = await widget.render(props);
      if (typeof cleanup === "function") whenOver(life, cleanup);
    } catch (error) {
      end(life);
      throw error;
    }
    return true;
  }

  /** For widgets that hold widgets, as of anywidget 0.11. */
  function host(/** @type {AbortSignal} */ signal) {
    return {
      getModel: async (/** @type {string} */ ref) => proxy(find(ref), signal),
      async getWidget(/** @type {string} */ ref) {
        const model = find(ref);
        if (!model.mountable) throw new Refusal(SAY.kernel);
        await patiently(model.ready());
        return {
          exports: model.exports,
          async render(/** @type {{ el: HTMLElement, signal?: AbortSignal }} */ { el, signal: own }) {
            await render(model, el, own ?? signal);
          },
        };
      },
    };
  }

  /** Add a line under a widget, once. @param {Element} place @param {string} text */
  function say(place, text) {
    if ([...place.children].some((child) => child.textContent === text)) return;
    place.append(Object.assign(document.createElement("p"), { className: "attn-note", textContent: text }));
  }

  /** What any Jupyter widget may have: a layout, classes; and a name, for screen readers. */
  function dress(/** @type {HTMLElement} */ el, /** @type {Record<string, any>} */ data) {
    const layout = models.get(String(data.layout).replace("IPY_MODEL_", ""));
    for (const [name, value] of Object.entries(layout ? layout.data : {})) {
      if (value && name[0] !== "_") el.style.setProperty(name.replaceAll("_", "-"), value);
    }
    el.classList.add(...(data._dom_classes ?? []));
    const title = [data.description, data._title, data.title].find((t) => t && typeof t === "string");
    if (!title) return; // a group without a name would only be noise
    el.setAttribute("role", "group");
    el.setAttribute("aria-label", title);
  }

  /** @type {Map<HTMLElement, { script: Element, life: AbortController }>} */
  const mounted = new Map();

  /** @param {Element} script a view script */
  async function mountView(script) {
    let place = /** @type {HTMLElement | null} */ (script.closest(".attn-widget"));
    if (!place) {
      place = Object.assign(document.createElement("div"), { className: "attn-widget" });
      script.replaceWith(place);
      place.append(script);
    }
    if (mounted.get(place)?.script === script) return;
    unmountPlace(place);
    const life = new AbortController();
    mounted.set(place, { script, life });
    const el = Object.assign(document.createElement("div"), { className: "attn-mount" });
    const show = () => life.signal.aborted || (place.dataset.attnState = "live");
    let timer = 0;
    try {
      const model = find(JSON.parse(script.textContent ?? "").model_id);
      if (!model.mountable) throw new Refusal(SAY.kernel);
      // Laid out unseen where the picture stands (widget-host.css), so its width is the real one.
      place.dataset.attnState = "loading";
      place.append(el);
      dress(el, model.data);
      model.places.add(place);
      life.signal.addEventListener("abort", () => model.places.delete(place));
      // A `render` that waits for the reader must not wait behind the picture.
      timer = window.setTimeout(() => el.hasChildNodes() && show(), 2_000);
      if (!(await render(model, el, life.signal))) throw new TypeError("The widget has no `render`.");
      show();
    } catch (error) {
      el.remove();
      if (life.signal.aborted) return; // unmounted meanwhile: the place is not this view's any more
      end(life);
      place.dataset.attnState = "static";
      say(place, error instanceof Refusal ? error.message : SAY.broken);
      if (!(error instanceof Refusal)) console.error(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** End the view in `place` and show its picture again. @param {HTMLElement} place */
  function unmountPlace(place) {
    const view = mounted.get(place);
    if (!view) return;
    mounted.delete(place);
    end(view.life);
    for (const old of place.querySelectorAll(":scope > .attn-mount, :scope > .attn-note")) old.remove();
    place.dataset.attnState = "static";
  }

  /** @type {WeakSet<Element>} */
  const readScripts = new WeakSet();

  function readStates() {
    /** @type {Model[]} */
    const fresh = [];
    for (const script of document.querySelectorAll(STATE)) {
      if (readScripts.has(script)) continue;
      readScripts.add(script);
      try {
        const { state, texts = {} } = JSON.parse(script.textContent ?? "");
        for (const [id, saved] of Object.entries(state)) {
          if (models.has(id)) continue; // the same state may stand in the page twice
          const model = new Model(saved, texts);
          models.set(id, model);
          fresh.push(model);
        }
      } catch (error) {
        console.error("The saved widget state cannot be read.", error);
      }
    }
    for (const model of fresh) {
      try {
        link(model);
      } catch (error) {
        console.warn("A link between two widgets leads nowhere.", error);
      }
      // As in a notebook, `initialize` also runs for a model that only other widgets refer to; a
      // failure is told where the model is shown.
      if (model.mountable) model.ready().catch(() => {});
    }
  }

  /** Mount what is not mounted yet. Calling it twice changes nothing. */
  function mount(/** @type {ParentNode} */ root = document) {
    readStates();
    for (const script of root.querySelectorAll(VIEW)) mountView(script);
  }

  function unmount(/** @type {Node} */ root = document) {
    for (const place of [...mounted.keys()]) if (root.contains(place)) unmountPlace(place);
  }

  // A page in the back-forward cache comes back as it was: its widgets stay alive.
  addEventListener("pagehide", (event) => {
    if (event.persisted) return;
    unmount();
    for (const model of models.values()) end(model.life);
  });

  Object.assign(window, { attnWidgets: { mount, unmount } });
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => mount());
  else mount();
})();
