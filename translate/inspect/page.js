// Draws a view: two rails of units, what each became, and what was not said. All text of a stream goes in as text.
const page = (() => {
  const OVERSCAN = 8, MANY = 60, JUMPS = 24;
  const linked = (side, index) => units[side][index]?.[side === "source" ? "to" : "from"] ?? [];

  let view = null;
  let units = { source: [], target: [] };
  let slots = { source: [], target: [] }; // the line that each unit stands on
  let owners = { source: [], target: [] }; // and the unit of each line, or -1
  let count = 0, began = null;
  let rows = { source: new Map(), target: new Map() };
  let active = { side: "source", index: 0 };
  let cause = null; // { side, index }: whose counterparts are lit
  let panel = null, origin = null, waiting = 0, said = 0;
  let hooks = { opened: () => {} };

  // ---- rows

  let size = 30, gutter = 84; // as the style has them; asked for once, since that makes the browser lay out
  let height = 0; // of what is seen of the rows
  function measure() {
    size = parseFloat(getComputedStyle($("canvas")).getPropertyValue("--row"));
    gutter = $("threads").clientWidth;
  }

  // the active unit stays where it is seen, and else the first one, whatever the rows' new height and number
  function resized() {
    const scroller = $("scroller"), before = size, top = scroller.scrollTop, slot = slots[active.side][active.index];
    measure();
    const at = slot * before - top, inside = slot !== undefined && at >= 0 && at < height;
    if (inside) scroller.scrollTop = slot * size - Math.max(0, Math.min(at, scroller.clientHeight - 2 * size));
    else scroller.scrollTop = (top / before) * size;
    height = scroller.clientHeight;
  }

  const kindOf = (unit) => view.parts[unit.part]?.kind ?? unit.kind;
  const since = (time) => (time == null || began == null ? "" : `+${((time - began) / 1000).toFixed(3)} s`);

  function names(side, indices) {
    const shown = indices.slice(0, 6).join(", ") + (indices.length > 6 ? ` … ${indices.at(-1)}` : "");
    return `${side} unit${indices.length === 1 ? "" : "s"} ${shown}`;
  }

  function relation(side, index) {
    const unit = units[side][index], links = linked(side, index);
    const verb = side === "source" ? "became" : "came from";
    const nothing = side === "source" ? "became no unit" : "came from no unit";
    const why = unit.marks.map((mark) => `${mark}: ${MARKS[mark] ?? mark}`).join("; ");
    return `${links.length ? `${verb} ${names(other(side), links)}` : nothing}${why ? `. ${why}` : ""}`;
  }

  function row(side, index) {
    const unit = units[side][index];
    const element = make("div", {
      id: `${side}-${index}`, className: "unit", role: "option", tabIndex: -1, dataset: { kind: kindOf(unit), side, index },
      "aria-posinset": index + 1, "aria-setsize": units[side].length, "aria-selected": "false",
    });
    element.style.setProperty("--slot", slots[side][index]);
    element.append(
      make("span", { className: "index", textContent: index }),
      make("bdi", { className: "kind", textContent: clean(unit.kind) }),
      make("bdi", { className: "label", textContent: clean(unit.label), dir: "auto" }),
    );
    if (unit.carry && document.body.classList.contains("carries")) {
      element.append(make("span", { className: "aside", textContent: `carry ${clean(unit.carry)}` }));
    }
    const stamp = unit.chunk != null ? `chunk ${unit.chunk + 1}` : since(unit.time);
    if (stamp) element.append(make("span", { className: "time", textContent: stamp }));
    element.append(make("span", { className: "marks" }, ...unit.marks.map(chip)));
    // after what is seen, so that the name of a row begins with it
    element.append(make("span", { className: "unseen", textContent: `. ${side} unit ${index}, ${relation(side, index)}` }));
    element.classList.toggle("broken", unit.failed || unit.marks.includes("broken"));
    return element;
  }

  function shown() {
    const top = $("scroller").scrollTop;
    return [
      Math.max(0, Math.floor(top / size) - OVERSCAN),
      Math.min(count - 1, Math.ceil((top + $("scroller").clientHeight) / size) + OVERSCAN),
    ];
  }

  function render() {
    const [first, last] = shown();
    for (const side of SIDES) {
      const wanted = new Set();
      for (let slot = first; slot <= last; slot++) if (owners[side][slot] >= 0) wanted.add(owners[side][slot]);
      // the focus must not fall off a page that scrolls
      if (active.side === side && units[side].length) wanted.add(active.index);
      for (const [index, element] of rows[side]) {
        if (!wanted.has(index)) { element.remove(); rows[side].delete(index); }
      }
      let place = $(side).firstElementChild;
      for (const index of [...wanted].sort((a, b) => a - b)) {
        const there = rows[side].get(index);
        if (there) { place = there.nextElementSibling; continue; }
        const element = row(side, index);
        rows[side].set(index, element);
        $(side).insertBefore(element, place);
      }
      brackets(side, first, last);
    }
    paint(first, last);
  }

  function brackets(side, first, last) {
    const found = [];
    for (const [index, part] of view.parts.entries()) {
      const range = part[side];
      if (!range || slots[side][range[0]] > last || slots[side][range[1]] < first) continue;
      const slot = slots[side][range[0]];
      const element = make("div", { className: `bracket${part.native ? "" : " foreign"}`, dataset: { kind: part.kind } });
      element.title = `part ${index}: ${part.kind}${part.native ? "" : ", only in the carry"}`;
      element.style.setProperty("--slot", slot);
      element.style.setProperty("--length", slots[side][range[1]] - slot + 1);
      // a long name may break after its parts
      element.append(make("span", {}, ...part.kind.split(/(?<=_)/).flatMap((piece) => [piece, make("wbr")])));
      found.push(element);
    }
    $(`${side}-parts`).replaceChildren(...found);
  }

  // ---- what is lit

  function paint(first, last) {
    if (first === undefined) [first, last] = shown();
    const lit = { source: new Set(), target: new Set() };
    if (cause && units[cause.side][cause.index]) {
      lit[cause.side].add(cause.index);
      for (const index of linked(cause.side, cause.index)) lit[other(cause.side)].add(index);
    }
    for (const side of SIDES) {
      for (const [index, element] of rows[side]) {
        element.classList.toggle("lit", lit[side].has(index));
        const mine = active.side === side && active.index === index;
        element.tabIndex = mine ? 0 : -1;
        element.setAttribute("aria-selected", String(mine));
      }
    }
    threads(first, last);
  }

  function threads(first, last) {
    const width = gutter, paths = [];
    const draw = (source, target, lit) => {
      const from = (slots.source[source] - first + 0.5) * size, to = (slots.target[target] - first + 0.5) * size;
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", `M0 ${from} C${width / 2} ${from} ${width / 2} ${to} ${width} ${to}`);
      path.setAttribute("class", `${lit ? "lit" : ""} ${units.target[target].carried.includes(source) ? "carried" : ""}`);
      paths.push(path);
    };
    const drawn = (links) => (links.length > MANY ? [...links.slice(0, MANY / 2), ...links.slice(-MANY / 2)] : links);
    for (let slot = first; slot <= last; slot++) {
      const source = owners.source[slot], target = owners.target[slot];
      if (source >= 0) for (const each of drawn(units.source[source].to)) draw(source, each, false);
      if (target < 0) continue;
      for (const each of drawn(units.target[target].from)) {
        if (slots.source[each] < first || slots.source[each] > last) draw(each, target, false);
      }
    }
    if (cause) {
      for (const each of drawn(linked(cause.side, cause.index))) {
        if (cause.side === "source") draw(cause.index, each, true);
        else draw(each, cause.index, true);
      }
    }
    const svg = $("threads");
    svg.style.top = `${first * size}px`;
    svg.style.height = `${Math.max(0, last - first + 1) * size}px`;
    svg.replaceChildren(...paths);
  }

  function light(next) {
    if (next?.side === cause?.side && next?.index === cause?.index) return;
    cause = next;
    paint();
    if (!cause) return;
    const { side, index } = cause;
    const text = `${side === "source" ? "Source" : "Target"} unit ${index}, ${clean(units[side][index].kind)}, ${relation(side, index)}.`;
    // one who only passes over hears nothing
    clearTimeout(said);
    said = setTimeout(() => ($("status").textContent = text), 80);
  }

  // ---- moving

  function focus(side, index, take = true) {
    if (!units[side][index]) return;
    active = { side, index };
    $("open").disabled = false;
    const scroller = $("scroller"), top = slots[side][index] * size;
    if (top < scroller.scrollTop + size) scroller.scrollTop = Math.max(0, top - 3 * size);
    else if (top > scroller.scrollTop + scroller.clientHeight - 2 * size) scroller.scrollTop = top - scroller.clientHeight + 4 * size;
    render();
    if (take) rows[side].get(index).focus({ preventScroll: true });
    light({ side, index });
    if (panel?.kind === "unit") open(side, index, false);
  }

  function cross(side, index) {
    const links = linked(side, index);
    if (!links.length) {
      $("status").textContent = `No counterpart: ${side} unit ${index} ${relation(side, index)}.`;
      return;
    }
    // back to where one came from, where that is a way
    const back = origin && origin.side === other(side) && links.includes(origin.index);
    const next = back ? origin.index : links[0];
    origin = { side, index };
    focus(other(side), next);
  }

  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !event.target.classList.contains("unit")) return;
    const { side, index } = active, all = units[side].length;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -all, End: all };
    if (event.key in steps) focus(side, Math.min(all - 1, Math.max(0, index + steps[event.key])));
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      if ((side === "source") === (event.key === "ArrowRight")) cross(side, index);
    } else if (event.key === "Enter" || event.key === " ") open(side, index);
    else if (event.key === "l") $("show-losses").click();
    else if (event.key === "c") $("show-carries").click();
    else return;
    event.preventDefault();
  }

  // ---- the panel

  const jump = (side, index) =>
    make("button", { type: "button", className: "jump", textContent: `${side} ${index}`, onclick: () => focus(side, index) });

  const jumps = (side, indices) => some(indices, JUMPS, (index) => jump(side, index));

  function fill(kind, title, ...content) {
    panel = { kind };
    $("panel-title").textContent = title;
    $("panel-body").replaceChildren(...content);
    $("panel").hidden = false;
    $("show-losses").setAttribute("aria-pressed", String(kind === "losses"));
  }

  function open(side, index, take = true) {
    const unit = units[side][index], links = linked(side, index);
    const content = [make("p", {}, links.length ? (side === "source" ? "Became " : "Came from ") : "", ...jumps(other(side), links))];
    if (!links.length) content[0].textContent = side === "source" ? "It became no unit." : "It came from no unit.";
    for (const mark of unit.marks) content.push(make("p", {}, chip(mark), ` ${MARKS[mark] ?? ""}`));
    if (unit.time != null) content.push(make("p", { textContent: `Time: ${unit.time} ms ${since(unit.time)}` }));
    content.push(make("h3", { textContent: "Raw" }), make("pre", { className: "raw", textContent: unit.raw ? indented(unit.raw) : "no native unit" }));
    if (unit.carry) content.push(make("h3", { textContent: "Carry" }), make("pre", { className: "raw-carry", textContent: indented(unit.carry) }));
    const about = new Set(side === "source" ? [index] : unit.from);
    const lost = view.losses.filter((loss) => about.has(loss.unit));
    if (lost.length) content.push(make("h3", { textContent: "Not said natively" }), ...cards(lost));
    fill("unit", `${side === "source" ? "Source" : "Target"} unit ${index} · ${clean(unit.kind)}`, ...content);
    hooks.opened(side, index, $("panel-body"));
    if (take) $("panel-title").focus();
  }

  const cards = (list) => some(grouped(list, (index) => units.source[index]?.part ?? null), JUMPS, ({ each, part, found }) => {
    const where = part == null ? "" : `Part ${part} (${view.parts[part].kind})`;
    return card(each, found.length, where, jumps("source", found));
  });

  function showLosses() {
    const content = [make("p", { textContent: `What a reader that knows only ${view.target.format} does not see.` })];
    if (!view.losses.length) content.push(make("p", { textContent: "Nothing: all is said natively." }));
    for (const [title, found] of [
      ["Content of the message", view.losses.filter((loss) => loss.content)],
      ["Not content", view.losses.filter((loss) => !loss.content)],
      ["Guessed", view.guesses],
      ["Repaired", view.repairs],
    ]) if (found.length) content.push(make("h3", { textContent: `${title}: ${found.length.toLocaleString("en")}` }), ...cards(found));
    fill("losses", "Not said natively", ...content);
    $("panel-title").focus();
  }

  function close() {
    if (!panel) return;
    const back = panel.kind === "losses" ? $("show-losses") : rows[active.side].get(active.index);
    panel = null;
    $("panel").hidden = true;
    $("show-losses").setAttribute("aria-pressed", "false");
    back?.focus({ preventScroll: true });
  }

  // ---- the whole

  function legend() {
    const where = new Map();
    for (const side of SIDES) for (const [index, unit] of units[side].entries()) for (const mark of unit.marks) {
      if (!where.has(mark)) where.set(mark, []);
      where.get(mark).push([side, index]);
    }
    return where;
  }

  function show(next) {
    const place = { ...active, top: $("scroller").scrollTop };
    view = next;
    units = { source: view.source.units, target: view.target.units };
    const broken = units.source[view.error?.unit];
    if (broken && !broken.failed) broken.marks.push("broken");
    began = [...units.source, ...units.target].find((unit) => unit.time != null)?.time ?? null;
    ({ slots, owners, count } = lay(units.source, units.target));
    for (const side of SIDES) {
      rows[side].clear();
      const format = view[side].format, size = plural(units[side].length, "unit");
      $(side).replaceChildren();
      $(side).setAttribute("aria-label", `${side === "source" ? "Source" : "Target"}: ${format}, ${size}`);
    }
    $("from").textContent = view.source.format;
    $("to").textContent = view.target.format;
    $("heads").replaceChildren(...SIDES.map((side) => make("span", { textContent: `${side === "source" ? "Came in" : "Went out"}: ${view[side].format}` })));
    $("summary").textContent = `${plural(units.source.length, "unit")} became ${plural(units.target.length, "unit")}`;
    $("show-losses").textContent = `Not said natively ${view.losses.length.toLocaleString("en")}`;
    const carries = units.target.filter((unit) => unit.carry).length;
    $("show-carries").textContent = `Carries ${carries.toLocaleString("en")}`;
    $("error").hidden = !view.error;
    if (view.error) {
      const at = view.error.unit != null ? ` (unit ${view.error.unit}${view.error.offset != null ? `, byte ${view.error.offset}` : ""})` : "";
      $("error").replaceChildren(make("b", { textContent: clean(view.error.type) }), ": ", make("bdi", { textContent: clean(view.error.message) }), at);
      if (units.source[view.error.unit]) $("error").append(jump("source", view.error.unit));
    }
    const marks = [...legend()].sort((a, b) => Object.keys(MARKS).indexOf(a[0]) - Object.keys(MARKS).indexOf(b[0]));
    $("legend").replaceChildren(...marks.map(([mark, found]) => {
      let turn = 0;
      const onclick = () => focus(...found[turn++ % found.length]);
      return make("button", { type: "button", className: `mark ${mark.replaceAll(" ", "-")}`, title: MARKS[mark] ?? "", textContent: `${mark} ${found.length.toLocaleString("en")}`, onclick });
    }));
    $("canvas").style.setProperty("--slots", count);
    active = units[place.side][place.index] ? { side: place.side, index: place.index } : { side: "source", index: 0 };
    cause = null;
    $("open").disabled = !units[active.side].length;
    $("scroller").scrollTop = place.top;
    render();
    if (panel?.kind === "losses") showLosses();
    else if (panel) close();
  }

  function theme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    $("theme").textContent = dark ? "Light" : "Dark";
  }

  function start() {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (document.documentElement.dataset.theme ?? (scheme.matches ? "dark" : "light")) === "dark";
    const name = () => ($("theme").textContent = isDark() ? "Light" : "Dark");
    name();
    scheme.addEventListener("change", name);
    $("theme").onclick = () => theme(!isDark());
    $("marks").replaceChildren(...Object.entries(MARKS).flatMap(([mark, about]) => [
      make("dt", {}, chip(mark)), make("dd", { textContent: about }),
    ]));
    $("show-help").onclick = () => $("help").showModal();
    $("show-losses").onclick = () => (panel?.kind === "losses" ? close() : showLosses());
    $("show-carries").onclick = () => {
      const on = document.body.classList.toggle("carries");
      $("show-carries").setAttribute("aria-pressed", String(on));
      rows.target.clear();
      const held = document.activeElement?.closest?.("#target") != null;
      $("target").replaceChildren();
      render();
      if (held) rows.target.get(active.index)?.focus({ preventScroll: true });
    };
    $("close").onclick = close;
    $("open").onclick = () => open(active.side, active.index);
    const unitOf = (event) => event.target.closest?.(".unit");
    const placeOf = (element) => ({ side: element.dataset.side, index: Number(element.dataset.index) });
    for (const side of SIDES) {
      $(side).addEventListener("pointerover", (event) => { if (unitOf(event)) light(placeOf(unitOf(event))); });
      $(side).addEventListener("pointerleave", () => { light(unitOf({ target: document.activeElement }) ? active : null); });
      $(side).addEventListener("focusin", (event) => {
        const place = unitOf(event) && placeOf(unitOf(event));
        if (place && (place.side !== active.side || place.index !== active.index)) focus(place.side, place.index);
        else if (place) light(place);
      });
      $(side).addEventListener("dblclick", (event) => { if (unitOf(event)) open(active.side, active.index); });
      $(side).addEventListener("keydown", key);
    }
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, select, textarea");
      if (event.key === "?" && !typing && !$("help").open) { event.preventDefault(); $("help").showModal(); }
      if (event.key === "Escape" && !$("help").open) close();
    });
    const later = () => { if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; if (view) render(); }); };
    $("scroller").addEventListener("scroll", later, { passive: true });
    new ResizeObserver(() => { resized(); later(); }).observe($("scroller"));
    measure();
  }

  start();
  const data = JSON.parse($("data").textContent);
  if (data.source) show(data);
  return { show, focus, hooks, data };
})();
