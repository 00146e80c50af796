"use strict";
// What the page is made of: elements, words, and where units stand.
const MARKS = {
  "held": "a later unit says it: it waited for more",
  "merged": "several units became one",
  "made up": "the target needs it, though no source unit says it",
  "filled in": "the target needs values in it that no source unit says; the label names them",
  "carried": "the target has no words for it: it travels in a carry alone, unseen by native readers",
  "carry": "a carry alone, without a native unit",
  "restored": "its words came home from a carry",
  "lost": "content that nothing carries",
  "silent": "transport, such as a keep-alive: nothing to say",
  "broken": "here the stream breaks its format",
};
const SIDES = ["source", "target"];
const $ = (id) => document.getElementById(id);
const other = (side) => (side === "source" ? "target" : "source");

function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  const { dataset, ...rest } = properties;
  for (const [key, value] of Object.entries(rest)) {
    if (key.includes("-") || key === "role") element.setAttribute(key, value);
    else element[key] = value;
  }
  Object.assign(element.dataset, dataset);
  element.append(...children);
  return element;
}

const plural = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
const chip = (mark) =>
  make("span", { className: `mark ${mark.replaceAll(" ", "-")}`, textContent: mark, title: MARKS[mark] ?? "" });

// Text for one line: what would steer it is spelled out.
const STEERS = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
function clean(text) {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const spelled = (char) => short[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return String(text ?? "").replace(STEERS, spelled);
}

// Where units stand: each target unit on the line of the last source unit that it came from, or below. One that came
// from none was needed by the next that did.
function lay(source, target) {
  const slots = { source: new Array(source.length), target: new Array(target.length) };
  const causes = new Array(target.length);
  let cause = source.length - 1;
  for (let at = target.length - 1; at >= 0; at--) {
    if (target[at].from.length) cause = target[at].from.at(-1);
    causes[at] = cause;
  }
  let next = 0, at = 0, latest = -1;
  for (let index = 0; index < source.length || at < target.length; index++) {
    let line = next;
    if (index < source.length) slots.source[index] = next++;
    for (; at < target.length; line++) {
      latest = Math.max(latest, causes[at]);
      if (latest > index) break;
      slots.target[at++] = line;
    }
    next = Math.max(next, line);
  }
  return { slots, count: next };
}

// The lines that are seen: a run that is shut has one, and a line that is not kept has none. `owners`: the unit that
// each line shows, or -1; `runs`: line → run, for those that begin there.
function seen(placed, folds, shut, keep) {
  const hidden = new Uint8Array(placed.count), at = new Int32Array(placed.count).fill(-1), runs = new Map();
  folds.forEach((fold, index) => { if (shut(index)) hidden.fill(1, fold.line + 1, fold.line + fold.count); });
  let count = 0;
  for (let line = 0; line < placed.count; line++) {
    if (hidden[line]) at[line] = count - 1;
    else if (keep === null || keep.has(line)) at[line] = count++;
  }
  folds.forEach((fold, index) => { if (at[fold.line] >= 0) runs.set(at[fold.line], index); });
  const slots = {}, owners = {};
  for (const side of SIDES) {
    slots[side] = placed.slots[side].map((line) => at[line]);
    owners[side] = new Int32Array(count).fill(-1);
    for (let index = slots[side].length - 1; index >= 0; index--) if (slots[side][index] >= 0) owners[side][slots[side][index]] = index;
  }
  return { slots, owners, count, runs };
}

// The first and last line of units that are seen
function span(lines, [from, to]) {
  while (from <= to && lines[from] < 0) from++;
  while (to > from && lines[to] < 0) to--;
  return from <= to ? [lines[from], lines[to]] : [-1, -1];
}

// JSON, indented as text: numbers and escapes stay as they were written
function indented(text) {
  try { if (text.length > 200_000) return text; JSON.parse(text); } catch { return text; }
  let depth = 0, out = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === "}" || token === "]") out = out.trimEnd() + (/[{[]$/.test(out.trimEnd()) ? "" : "\n" + "  ".repeat(depth - 1));
    if (token === "}" || token === "]") depth--;
    out += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth++;
    if (token === "{" || token === "[" || token === ",") out += "\n" + "  ".repeat(depth);
  }
  return out;
}

// The first of many, and a button that opens the next ones: nothing is cut off for good.
function some(list, most, element) {
  const shown = list.slice(0, most).map(element);
  if (list.length <= most) return shown;
  const rest = list.slice(most);
  const onclick = () => {
    const [first, ...others] = some(rest, 10 * most, element);
    more.replaceWith(first, ...others);
    (first.matches("button") ? first : first.querySelector("button"))?.focus();
  };
  const more = make("button", { type: "button", className: "more", textContent: `${rest.length.toLocaleString("en")} more`, onclick });
  return [...shown, more];
}

// Findings of one reason in one part, together; those of content first, then those that are many.
function grouped(findings, partOf) {
  const groups = new Map();
  for (const each of findings) {
    const part = each.unit == null ? null : partOf(each.unit);
    const name = JSON.stringify([part, each.field, each.reason, each.content, each.carried]);
    if (!groups.has(name)) groups.set(name, { each, part, found: [] });
    if (each.unit != null) groups.get(name).found.push(each.unit);
  }
  return [...groups.values()].sort((a, b) => b.each.content - a.each.content || (a.part ?? Infinity) - (b.part ?? Infinity) || b.found.length - a.found.length);
}

function card(loss, count, where, jumps) {
  const fate = loss.carried ? "travels in the carry" : loss.content ? "content, lost" : "left out";
  return make(
    "div", { className: `loss${loss.content && !loss.carried ? " content" : ""}` },
    ...(where ? [make("span", { className: "where", textContent: `${where}: ` })] : []),
    ...(count > 1 ? [`${count.toLocaleString("en")} × `] : []),
    make("b", { textContent: clean(loss.field) }), " — ", make("bdi", { textContent: clean(loss.reason) }), " ", make("i", { textContent: `(${fate})` }),
    ...(jumps.length ? [make("div", {}, ...jumps)] : []),
  );
}
