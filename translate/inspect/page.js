// Draws a view: two rails of units, what each became, and what was not said. All text of a stream goes in as text.
const page = (() => {
  const OVERSCAN = 8, MANY = 60;
  const FOLDED = 40; // units above which runs are folded at first

  let view = null;
  let units = { source: [], target: [] };
  let slots = { source: [], target: [] }; // the line that each unit stands on
  let owners = { source: [], target: [] }; // and the unit of each line, or -1
  let count = 0, began = null;
  let placed = { slots, count: 0 }, folds = [], runs = new Map(), opened = new Set(), folding = false, before = false, kept = null;
  let times = null, until = Infinity; // when units came and went, and up to when they are seen
  let rows = { source: new Map(), target: new Map() };
  let active = { side: "source", index: 0 };
  let cause = null; // { side, index }: whose counterparts are lit
  let origin = null, waiting = 0, said = 0;
  let hooks = { opened: () => {}, changed: () => {} };

  // ---- runs of units that are alike, folded into one line

  const runAt = (side, index) => folds[runs.get(slots[side][index])];
  const isShut = (number) => folding && kept === null && !opened.has(number);
  const owner = (side, index) => owners[side][slots[side][index]] ?? -1;
  // the units that a row stands for
  function together(side, index) {
    const run = isShut(runs.get(slots[side][index])) ? runAt(side, index)?.[side] : null;
    return run ? Array.from({ length: run[1] - run[0] + 1 }, (_, at) => run[0] + at) : [index];
  }
  function linked(side, index) {
    const of = (each) => units[side][each]?.[side === "source" ? "to" : "from"] ?? [];
    const all = together(side, index);
    return all.length === 1 ? of(index) : [...new Set(all.flatMap(of))];
  }

  function arrange() {
    ({ slots, owners, count, runs } = seen(placed, folds, isShut, kept));
    $("canvas").style.setProperty("--slots", count);
    for (const side of SIDES) { rows[side].clear(); $(side).replaceChildren(); }
    $("fold").hidden = !folds.length || kept !== null;
    $("fold").setAttribute("aria-pressed", String(folding));
  }

  // the active unit is one that is seen
  function settle() {
    if (owner(active.side, active.index) === active.index) return;
    const there = owner(active.side, active.index);
    const side = owners[active.side].some((each) => each >= 0) ? active.side : other(active.side);
    active = { side, index: Math.max(0, there >= 0 && side === active.side ? there : owners[side].find((each) => each >= 0) ?? 0) };
  }

  function unfold(on) {
    folding = on;
    opened.clear();
    arrange();
    settle();
    render();
  }

  function toggle(side, index) {
    const number = folds.findIndex((fold) => fold[side] && fold[side][0] <= index && index <= fold[side][1]);
    if (number < 0 || kept !== null) return;
    folding = true;
    if (!opened.delete(number)) opened.add(number);
    arrange();
    focus(side, folds[number][side][0]);
  }

  function look() {
    const wanted = tools.wanted(), matches = { source: [], target: [] };
    kept = wanted ? new Set() : null;
    for (const side of wanted ? SIDES : []) {
      units[side].forEach((unit, index) => {
        if (!wanted(unit)) return;
        matches[side].push(index);
        kept.add(placed.slots[side][index]);
        for (const each of unit[side === "source" ? "to" : "from"]) kept.add(placed.slots[other(side)][each]);
      });
    }
    const number = matches.source.length + matches.target.length, all = units.source.length + units.target.length;
    $("found").textContent = wanted ? `${number.toLocaleString("en")} of ${plural(all, "unit")}` : "";
    arrange();
    settle();
    cause = null;
    render();
    hooks.changed();
    return matches;
  }

  function firstFound() {
    const { source, target } = look();
    if (source.length) focus("source", source[0]);
    else if (target.length) focus("target", target[0]);
  }

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
    const many = together(side, index).length;
    const why = unit.marks.map((mark) => `${mark}: ${MARKS[mark] ?? mark}`).join("; ");
    return `${many > 1 ? `with ${many - 1} more like it, ` : ""}${links.length ? `${verb} ${names(other(side), links)}` : nothing}${why ? `. ${why}` : ""}`;
  }

  function row(side, index) {
    const unit = units[side][index], all = together(side, index), run = runAt(side, index);
    const label = all.length > 1 ? run.labels[SIDES.indexOf(side)] : unit.label;
    const element = make("div", {
      id: `${side}-${index}`, className: "unit", role: "option", tabIndex: -1, dataset: { kind: kindOf(unit), side, index },
      "aria-posinset": index + 1, "aria-setsize": units[side].length, "aria-selected": "false",
    });
    element.style.setProperty("--slot", slots[side][index]);
    element.append(
      ...(run?.[side]?.[0] === index && kept === null ? [make("span", { className: "fold", textContent: all.length > 1 ? "▸" : "▾", title: "f", "aria-hidden": "true" })] : []),
      make("span", { className: "index", textContent: all.length > 1 ? `${index}-${all.at(-1)}` : index }),
      make("bdi", { className: "kind", textContent: clean(unit.kind) + (all.length > 1 ? ` ×${all.length.toLocaleString("en")}` : "") }),
      make("bdi", { className: "label", textContent: clean(label), dir: "auto" }),
    );
    element.classList.toggle("later", isLater(side, index));
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

  const isLater = (side, index) => times !== null && times[side][index] > until;

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
      if (active.side === side && owner(side, active.index) === active.index) wanted.add(active.index);
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
      if (!range) continue;
      const [slot, end] = span(slots[side], range);
      if (slot < 0 || slot > last || end < first) continue;
      const element = make("div", { className: `bracket${part.native ? "" : " foreign"}`, dataset: { kind: part.kind } });
      element.title = `part ${index}: ${part.kind}${part.native ? "" : ", only in the carry"}`;
      element.style.setProperty("--slot", slot);
      element.style.setProperty("--length", end - slot + 1);
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
      lit[cause.side].add(owner(cause.side, cause.index));
      for (const index of linked(cause.side, cause.index)) lit[other(cause.side)].add(owner(other(cause.side), index));
    }
    for (const side of SIDES) {
      for (const [index, element] of rows[side]) {
        element.classList.toggle("lit", lit[side].has(index));
        element.classList.toggle("later", isLater(side, index));
        const mine = active.side === side && active.index === index;
        element.tabIndex = mine ? 0 : -1;
        element.setAttribute("aria-selected", String(mine));
      }
    }
    threads(first, last);
  }

  function threads(first, last) {
    const width = gutter, paths = [], drawnAlready = new Set();
    const draw = (source, target, lit) => {
      const key = [slots.source[source], slots.target[target], lit, units.target[target].carried.includes(source)].join();
      if (slots.source[source] < 0 || slots.target[target] < 0 || isLater("target", target) || drawnAlready.has(key)) return;
      drawnAlready.add(key);
      const from = (slots.source[source] - first + 0.5) * size, to = (slots.target[target] - first + 0.5) * size;
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", `M0 ${from} C${width / 2} ${from} ${width / 2} ${to} ${width} ${to}`);
      path.setAttribute("class", `${lit ? "lit" : ""} ${units.target[target].carried.includes(source) ? "carried" : ""}`);
      paths.push(path);
    };
    const drawn = (links) => (links.length > MANY ? [...links.slice(0, MANY / 2), ...links.slice(-MANY / 2)] : links);
    for (let slot = first; slot <= last; slot++) {
      const source = owners.source[slot], target = owners.target[slot];
      if (source >= 0) for (const one of drawn(together("source", source))) for (const each of drawn(units.source[one].to)) draw(one, each, false);
      if (target < 0) continue;
      for (const each of drawn(linked("target", target))) {
        if (slots.source[each] < first || slots.source[each] > last) draw(each, target, false);
      }
    }
    if (cause) {
      for (const one of drawn(together(cause.side, cause.index))) {
        for (const each of drawn(units[cause.side][one][cause.side === "source" ? "to" : "from"])) {
          if (cause.side === "source") draw(one, each, true);
          else draw(each, one, true);
        }
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
    if (slots[side][index] < 0) { tools.clear(); look(); }
    if (owner(side, index) !== index) {
      opened.add(folds.findIndex((fold) => fold[side] && fold[side][0] <= index && index <= fold[side][1]));
      arrange();
    }
    active = { side, index };
    $("open").disabled = false;
    const scroller = $("scroller"), top = slots[side][index] * size;
    if (top < scroller.scrollTop + size) scroller.scrollTop = Math.max(0, top - 3 * size);
    else if (top > scroller.scrollTop + scroller.clientHeight - 2 * size) scroller.scrollTop = top - scroller.clientHeight + 4 * size;
    render();
    if (take) rows[side].get(index).focus({ preventScroll: true });
    light({ side, index });
    hooks.changed();
    if (panel.kind === "unit") panel.open(side, index, false);
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

  // so many rows further, of those that are seen
  function stepped(side, index, steps) {
    const all = units[side].length, way = Math.sign(steps);
    for (let at = index + way; steps && at >= 0 && at < all; at += way) {
      if (owner(side, at) === at) { index = at; steps -= way; }
    }
    return index;
  }

  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !event.target.classList.contains("unit")) return;
    const { side, index } = active, all = units[side].length;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -all, End: all };
    if (event.key in steps) focus(side, stepped(side, index, steps[event.key]));
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      if ((side === "source") === (event.key === "ArrowRight")) cross(side, index);
    } else if (event.key === "Enter" || event.key === " ") panel.open(side, index);
    else if (event.key === "f") toggle(side, index);
    else if (event.key === "l") $("show-losses").click();
    else if (event.key === "c") $("show-carries").click();
    else return;
    event.preventDefault();
  }

  const panel = panelOf({
    view: () => view, unit: (side, index) => units[side][index], row: () => rows[active.side].get(active.index),
    opened: (...about) => hooks.opened(...about), linked, since, focus,
  });
  const replay = replayOf({
    times: () => times,
    begin: () => { if (tools.clear()) look(); before = folding; unfold(false); },
    show: (at, index) => { until = at; $("scroller").scrollTop = slots.source[index] * size - $("scroller").clientHeight + 3 * size; render(); },
    end: () => { until = Infinity; $("scroller").scrollTop = 0; unfold(before); },
  });

  // ---- the whole

  function show(next) {
    replay.stop();
    const place = { ...active, top: $("scroller").scrollTop, kept: view?.folds?.length === next.folds?.length };
    view = next;
    units = { source: view.source.units, target: view.target.units };
    const broken = units.source[view.error?.unit];
    if (broken && !broken.failed) broken.marks.push("broken");
    began = [...units.source, ...units.target].find((unit) => unit.time != null)?.time ?? null;
    placed = lay(units.source, units.target);
    folds = view.folds ?? [];
    if (!place.kept) { opened.clear(); folding = units.source.length > FOLDED; }
    tools.fill(units);
    times = tools.times(units);
    tools.strip(view, times, false);
    for (const side of SIDES) {
      const format = view[side].format, size = plural(units[side].length, "unit");
      $(side).setAttribute("aria-label", `${side === "source" ? "Source" : "Target"}: ${format}, ${size}`);
    }
    band.draw(view, { jump: panel.jump, focus });
    active = units[place.side][place.index] ? { side: place.side, index: place.index } : { side: "source", index: 0 };
    $("open").disabled = !units[active.side].length;
    look();
    $("scroller").scrollTop = place.top;
    render();
    if (panel.kind === "losses") panel.showLosses();
    else panel.close();
  }

  function start() {
    $("marks").replaceChildren(...Object.entries(MARKS).flatMap(([mark, about]) => [
      make("dt", {}, chip(mark)), make("dd", { textContent: about }),
    ]));
    $("fold").onclick = () => unfold(!folding);
    tools.start(look, firstFound);
    band.onchange = () => { resized(); hooks.changed(); };
    $("show-help").onclick = () => $("help").showModal();
    $("show-carries").onclick = () => {
      const on = document.body.classList.toggle("carries");
      $("show-carries").setAttribute("aria-pressed", String(on));
      rows.target.clear();
      const held = document.activeElement?.closest?.("#target") != null;
      $("target").replaceChildren();
      render();
      if (held) rows.target.get(active.index)?.focus({ preventScroll: true });
    };
    $("open").onclick = () => panel.open(active.side, active.index);
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
      $(side).addEventListener("click", (event) => { if (event.target.classList.contains("fold")) toggle(side, Number(unitOf(event).dataset.index)); });
      $(side).addEventListener("dblclick", (event) => { if (unitOf(event)) panel.open(active.side, active.index); });
      $(side).addEventListener("keydown", key);
    }
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, select, textarea");
      if (event.key === "?" && !typing && !$("help").open) { event.preventDefault(); $("help").showModal(); }
      if (event.key === "Escape" && !$("help").open) panel.close();
    });
    const later = () => { if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; if (view) render(); }); };
    $("scroller").addEventListener("scroll", later, { passive: true });
    new ResizeObserver(() => { resized(); later(); }).observe($("scroller"));
    measure();
  }

  start();
  const data = JSON.parse($("data").textContent);
  if (data.source) show(data);
  return { show, focus, hooks, data, get active() { return active; } };
})();
