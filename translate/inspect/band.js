// What stands around the drawing: the band on top, the tabs, and the message as each side's reader has it.
const band = (() => {
  const TABS = { drawing: "Drawing", output: "Output", message: "Message" };
  const POLICIES = { carry: "carry what is not said natively", drop: "drop what is not said natively", raise: "stop where content would be lost" };
  let chosen = "drawing", changed = () => {};

  function fact(name, value) {
    return value ? [make("div", {}, make("dt", { textContent: name }), make("dd", {}, make("bdi", { textContent: clean(value) })))] : [];
  }

  function draw(view, { jump, focus }) {
    const about = view.about ?? {};
    const date = about.time == null ? "" : new Date(about.time).toISOString().slice(0, 16).replace("T", " ") + " UTC";
    $("from").textContent = view.source.format;
    $("to").textContent = view.target.format;
    $("facts").replaceChildren(
      ...fact("File", about.file), ...fact("Policy", about.loss && `${POLICIES[about.loss] ?? about.loss}${about.strict ? "" : ", lenient"}`),
      ...fact("Model", about.model), ...fact("Version", about.version && `translate-streams ${about.version}`), ...fact("Date", date),
    );
    $("summary").textContent = `${plural(view.source.units.length, "unit")} became ${plural(view.target.units.length, "unit")}`;
    $("fate").textContent = view.fate ?? "";
    $("heads").replaceChildren(...SIDES.map((side) => make("span", { textContent: `${side === "source" ? "Came in" : "Went out"}: ${view[side].format}` })));
    $("show-losses").textContent = `Not said natively ${view.losses.length.toLocaleString("en")}`;
    const carries = view.target.units.filter((unit) => unit.carry).length;
    $("show-carries").textContent = `Carries ${carries.toLocaleString("en")}`;
    $("error").hidden = !view.error;
    if (view.error) {
      const at = view.error.unit != null ? ` (unit ${view.error.unit}${view.error.offset != null ? `, byte ${view.error.offset}` : ""})` : "";
      $("error").replaceChildren(make("b", { textContent: clean(view.error.type) }), ": ", make("bdi", { textContent: clean(view.error.message) }), at);
      if (view.source.units[view.error.unit]) $("error").append(jump("source", view.error.unit));
    }
    const marks = [...marked(view)].sort((a, b) => Object.keys(MARKS).indexOf(a[0]) - Object.keys(MARKS).indexOf(b[0]));
    $("legend").replaceChildren(...marks.map(([mark, found]) => {
      let turn = 0;
      const onclick = () => focus(...found[turn++ % found.length]);
      return make("button", { type: "button", className: `mark ${mark.replaceAll(" ", "-")}`, title: MARKS[mark] ?? "", textContent: `${mark} ${found.length.toLocaleString("en")}`, onclick });
    }));
    const has = { drawing: true, output: view.output != null, message: view.message != null };
    for (const name of Object.keys(TABS)) $(`tab-${name}`).hidden = !has[name];
    $("tabs").hidden = !has.output && !has.message;
    $("message").replaceChildren(...(view.message ? SIDES.map((side) => reader(side, view)) : []));
    if (!has[chosen]) select("drawing");
  }

  function marked(view) {
    const where = new Map();
    for (const side of SIDES) for (const [index, unit] of view[side].units.entries()) for (const mark of unit.marks) {
      if (!where.has(mark)) where.set(mark, []);
      where.get(mark).push([side, index]);
    }
    return where;
  }

  // ---- the message

  function reader(side, view) {
    const { model, parts, end } = view.message[side];
    const title = side === "source" ? `What a reader of ${view.source.format} has` : `What a reader of ${view.target.format} alone has`;
    return make("section", {},
      make("h2", { textContent: title }),
      make("p", { className: "note", textContent: `${model ? `${clean(model)}, ` : ""}${plural(parts.length, "part")}` }),
      ...some(parts, 200, part),
      make("p", { className: "note" }, "End: ", make("bdi", { textContent: clean(end ?? "none has come") })),
    );
  }

  function part({ kind, name, id, mime_type, text, image, whole, notes }) {
    const called = [name, id && `(${id})`, mime_type].filter(Boolean).join(" ");
    const body = image
      ? make("img", { src: `data:${mime_type};base64,${image}`, alt: `${kind}: ${text}` })
      : make("pre", { textContent: text.replace(STEERS, (char) => ("\n\t".includes(char) ? char : clean(char))) });
    return make("article", { className: "part", dataset: { kind } },
      make("h3", {}, make("span", { className: "kind", textContent: clean(kind) }), " ", make("bdi", { textContent: clean(called) })),
      body,
      ...(whole ? [] : [make("p", { className: "note", textContent: "not whole" })]),
      ...some(notes, 20, (note) => make("p", { className: "note" }, make("bdi", { textContent: clean(note) }))),
    );
  }

  // ---- tabs

  function select(name, take = false) {
    chosen = name;
    for (const each of Object.keys(TABS)) {
      const tab = $(`tab-${each}`);
      tab.setAttribute("aria-selected", String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      $(each).hidden = each !== name;
      if (take && each === name) tab.focus();
    }
    changed();
  }

  function start() {
    for (const [name, title] of Object.entries(TABS)) {
      $("tabs").append(make("button", {
        type: "button", id: `tab-${name}`, role: "tab", textContent: title, "aria-controls": name, onclick: () => select(name),
      }));
      $(name).setAttribute("role", "tabpanel");
      $(name).setAttribute("aria-labelledby", `tab-${name}`);
    }
    $("tabs").addEventListener("keydown", (event) => {
      const names = Object.keys(TABS).filter((name) => !$(`tab-${name}`).hidden), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) select(names.at((names.indexOf(chosen) + step) % names.length), true);
    });
    select("drawing");
  }

  // Dark or light: as the system has it, until one is chosen.
  function scheme() {
    const system = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
    const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
    const name = () => ($("theme").textContent = isDark() ? "Light" : "Dark");
    name();
    system.addEventListener("change", name);
    $("theme").onclick = () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); };
  }

  start();
  scheme();
  return { draw, select, get chosen() { return chosen; }, set onchange(call) { changed = call; } };
})();
