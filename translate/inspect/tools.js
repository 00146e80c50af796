// What finds units among many: a search, filters, and a strip of time that can be played again.
const tools = (() => {
  const KINDS = 100, WIDE = 1000;
  let texts = new WeakMap(), wait = 0;

  function options(select, title, found) {
    const before = select.value;
    select.replaceChildren(make("option", { value: "", textContent: title }), ...found.slice(0, KINDS).map((value) => make("option", { value, textContent: clean(value) })));
    select.value = found.includes(before) ? before : "";
  }

  function fill(units) {
    const all = [...units.source, ...units.target];
    options($("kind"), "every kind", [...new Set(all.map((unit) => unit.kind))]);
    options($("mark"), "every mark", Object.keys(MARKS).filter((mark) => all.some((unit) => unit.marks.includes(mark))));
  }

  function textOf(unit) {
    if (!texts.has(unit)) texts.set(unit, [unit.kind, unit.label, unit.raw, unit.carry].join("\n").toLowerCase());
    return texts.get(unit);
  }

  // What is looked for, as a question to each unit; null where nothing is.
  function wanted() {
    const [text, kind, mark] = [$("find").value.toLowerCase(), $("kind").value, $("mark").value];
    if (!text && !kind && !mark) return null;
    return (unit) => (!text || textOf(unit).includes(text)) && (!kind || unit.kind === kind) && (!mark || unit.marks.includes(mark));
  }

  function clear() {
    const had = wanted() !== null;
    for (const name of ["find", "kind", "mark"]) $(name).value = "";
    return had;
  }

  function start(changed, first) {
    $("find").oninput = () => { clearTimeout(wait); wait = setTimeout(changed, 60); };
    $("kind").onchange = $("mark").onchange = changed;
    $("find").onkeydown = (event) => {
      if (event.key === "Enter") { clearTimeout(wait); changed(); first(); }
      if (event.key === "Escape" && clear()) { event.stopPropagation(); changed(); }
    };
  }

  // ---- time: when each unit came, and when each could be said

  function times(units) {
    const chunks = units.source.some((unit) => unit.chunk != null), found = { unit: chunks ? "chunks" : "ms", source: [], target: [] };
    let last = chunks ? 0 : units.source.find((unit) => unit.time != null)?.time;
    if (last == null) return null;
    for (const unit of units.source) found.source.push((last = Math.max(last, (chunks ? unit.chunk : unit.time) ?? last)));
    let next = found.source.at(-1);
    for (let at = units.target.length - 1; at >= 0; at--) {
      const cause = units.target[at].from.at(-1);
      found.target[at] = next = (chunks ? units.target[at].chunk : null) ?? (cause == null ? next : found.source[cause]);
    }
    [found.first, found.last] = [found.source[0], Math.max(found.source.at(-1), found.target.at(-1) ?? 0)];
    return found.last > found.first ? found : null;
  }

  function strip(view, found, hidden) {
    $("time").hidden = !found || hidden;
    if (!found) return;
    const at = (time) => Math.round((time - found.first) / (found.last - found.first) * WIDE);
    const ticks = (side, top) => [...new Set(found[side].map(at))].map((x) => `M${x} ${top}v9`).join("");
    let longest = null;
    const waits = new Map();
    view.target.units.forEach((unit, index) => {
      if (!unit.from.length) return;
      const from = found.source[unit.from[0]], wait = found.target[index] - from;
      if (wait <= 0) return;
      waits.set(at(from), Math.max(waits.get(at(from)) ?? 0, at(found.target[index])));
      if (!longest || wait > longest.wait) longest = { wait, unit };
    });
    const shape = (className, d) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("class", className);
      path.setAttribute("d", d);
      return path;
    };
    const bars = [...waits].map(([x, to]) => `M${x} 17H${Math.max(to, x + 1)}v7H${x}z`).join("");
    $("strip").replaceChildren(shape("wait", bars), shape("came", ticks("source", 3)), shape("went", ticks("target", 16)), shape("now", "M0 0v28"));
    const total = (found.last - found.first).toLocaleString("en");
    const said = longest ? `the longest wait is ${longest.wait.toLocaleString("en")}, for ${clean(longest.unit.kind)} ${longest.unit.index}` : "nothing waits";
    $("span").textContent = `${total} ${found.unit}; ${said}`;
    $("strip").setAttribute("aria-label", `Above: when units came; below: when each could be said. ${$("span").textContent}`);
    $("replay").hidden = found.unit === "chunks";
  }

  const now = (found, time) =>
    ($("strip").lastElementChild.style.transform = `translateX(${(time - found.first) / (found.last - found.first) * WIDE}px)`);

  return { fill, wanted, clear, start, times, strip, now };
})();
