/* A minimal host for the widget tests: one page, models that tests can read and set from outside
 * as Python would. The host of the published book is bookext/assets/widget-host.js. */
window.afm = {
  models: {},
  async load(source) {
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    try {
      return await import(url);
    } finally {
      URL.revokeObjectURL(url);
    }
  },
  model(name, state) {
    const handlers = new Map();
    const model = {
      state: { ...state },
      saves: 0,
      get: (key) => model.state[key],
      set(key, value) {
        if (JSON.stringify(model.state[key]) === JSON.stringify(value)) return;
        model.state[key] = value;
        for (const callback of [...(handlers.get(`change:${key}`) ?? [])]) callback();
      },
      save_changes: () => (model.saves += 1),
      on(event, callback) {
        if (!handlers.has(event)) handlers.set(event, new Set());
        handlers.get(event).add(callback);
      },
      off: (event, callback) => handlers.get(event)?.delete(callback),
      count: () => [...handlers.values()].reduce((sum, set) => sum + set.size, 0),
    };
    return (afm.models[name] = model);
  },
  /** Mount a view of a model; `views` views stay in step. Resolves when they are drawn. */
  async mount(name, source, css, state, views = 1) {
    const style = document.createElement("style");
    style.textContent = css;
    document.head.append(style);
    const { default: widget } = await afm.load(source);
    const model = afm.models[name] ?? afm.model(name, state);
    model.cleanups = [];
    for (let i = 0; i < views; i++) {
      const el = document.createElement("div");
      el.className = `view ${name}`;
      document.querySelector("main").append(el);
      model.cleanups.push(widget.render({ model, el }));
    }
    await afm.settled();
  },
  /** Two frames: every change asked for has been drawn. */
  settled: () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
};
