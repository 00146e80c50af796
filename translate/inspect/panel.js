// The panel beside the drawing: one unit, or all that is not said natively. `on`: what it is about.
const panelOf = (on) => {
  const JUMPS = 24;
  let kind = null; // "unit", "losses", or none

  const jump = (side, index) =>
    make("button", { type: "button", className: "jump", textContent: `${side} ${index}`, onclick: () => on.focus(side, index) });

  const jumps = (side, indices) => some(indices, JUMPS, (index) => jump(side, index));

  function fill(what, title, ...content) {
    kind = what;
    $("panel-title").textContent = title;
    $("panel-body").replaceChildren(...content);
    $("panel").hidden = false;
    $("show-losses").setAttribute("aria-pressed", String(kind === "losses"));
  }

  function open(side, index, take = true) {
    const unit = on.unit(side, index), links = on.linked(side, index);
    const content = [make("p", {}, links.length ? (side === "source" ? "Became " : "Came from ") : "", ...jumps(other(side), links))];
    if (!links.length) content[0].textContent = side === "source" ? "It became no unit." : "It came from no unit.";
    for (const mark of unit.marks) content.push(make("p", {}, chip(mark), ` ${MARKS[mark] ?? ""}`));
    if (unit.time != null) content.push(make("p", { textContent: `Time: ${unit.time} ms ${on.since(unit.time)}` }));
    content.push(make("h3", { textContent: "Raw" }), make("pre", { className: "raw", textContent: unit.raw ? indented(unit.raw) : "no native unit" }));
    if (unit.carry) content.push(make("h3", { textContent: "Carry" }), make("pre", { className: "raw-carry", textContent: indented(unit.carry) }));
    const about = new Set(side === "source" ? [index] : unit.from);
    const lost = on.view().losses.filter((loss) => about.has(loss.unit));
    if (lost.length) content.push(make("h3", { textContent: "Not said natively" }), ...cards(lost));
    fill("unit", `${side === "source" ? "Source" : "Target"} unit ${index} · ${clean(unit.kind)}`, ...content);
    on.opened(side, index, $("panel-body"));
    if (take) $("panel-title").focus();
  }

  const cards = (list) => some(grouped(list, (index) => on.unit("source", index)?.part ?? null), JUMPS, ({ each, part, found }) => {
    const where = part == null ? "" : `Part ${part} (${on.view().parts[part].kind})`;
    return card(each, found.length, where, jumps("source", found));
  });

  function showLosses() {
    const content = [make("p", { textContent: `What a reader that knows only ${on.view().target.format} does not see.` })];
    if (!on.view().losses.length) content.push(make("p", { textContent: "Nothing: all is said natively." }));
    for (const [title, found] of [
      ["Content of the message", on.view().losses.filter((loss) => loss.content)],
      ["Not content", on.view().losses.filter((loss) => !loss.content)],
      ["Guessed", on.view().guesses],
      ["Repaired", on.view().repairs],
    ]) if (found.length) content.push(make("h3", { textContent: `${title}: ${found.length.toLocaleString("en")}` }), ...cards(found));
    fill("losses", "Not said natively", ...content);
    $("panel-title").focus();
  }

  function close() {
    if (!kind) return;
    const back = kind === "losses" ? $("show-losses") : on.row();
    kind = null;
    $("panel").hidden = true;
    $("show-losses").setAttribute("aria-pressed", "false");
    back?.focus({ preventScroll: true });
  }

  $("close").onclick = close;
  $("show-losses").onclick = () => (kind === "losses" ? close() : showLosses());
  return { open, close, showLosses, jump, get kind() { return kind; } };
};
