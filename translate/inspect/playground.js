// The playground around the page: a stream to write on, and what it becomes at once.
{
  const SHOWN = 200_000; // characters of the output on the page
  const { formats, examples, limit } = page.data;
  const option = (value, text = value) => make("option", { value, textContent: text });
  const labelled = (text, ...controls) => make("label", {}, make("span", { textContent: text }), ...controls);
  const number = (value) => value.toLocaleString("en");

  // one line of help to each control, and read with it
  const helped = (element, help) => {
    const control = element.matches("select, input, button") ? element : element.querySelector("select, input");
    control.setAttribute("aria-describedby", `${control.id}-help`);
    return make("div", { className: "control" }, element, make("p", { id: `${control.id}-help`, className: "hint", textContent: help }));
  };
  const example = make("select", { id: "example" }, option("", "your own"), ...examples.map(({ name, title }) => option(name, title)));
  const file = make("input", { id: "file", type: "file", hidden: true });
  const pick = make("button", { type: "button", textContent: "Open file…", onclick: () => file.click() });
  const from = make("select", { id: "src" }, option("auto", "recognise"), ...formats.map((name) => option(name)));
  const to = make("select", { id: "dst" }, ...formats.map((name) => option(name)));
  const swap = make("button", { type: "button", id: "back", textContent: "⇄ Back", title: "The output becomes the input" });
  const text = make("textarea", { id: "text", spellcheck: false, "aria-label": "The stream", placeholder: "Paste a stream, or drop a file here" });
  const chunk = make("input", { id: "chunk", type: "range", min: 0, max: 1000, value: 1000 });
  const chunkSays = make("output", { htmlFor: "chunk" });
  const cut = make("input", { id: "cut", type: "range", min: 0, max: 1000, value: 1000 });
  const cutSays = make("output", { htmlFor: "cut" });
  const carry = make("input", { id: "carry", type: "checkbox", checked: true });
  const lenient = make("input", { id: "lenient", type: "checkbox" });
  const note = make("p", { id: "note", className: "note", role: "status" });
  const empty = make("div", { id: "empty", className: "none", hidden: true },
    ...["Paste a stream on the left, drop a file there, or take an example.", "Its format is recognised; choose one under From where that goes wrong.", "Nothing leaves this machine."].map((line) => make("p", { textContent: line })));

  const download = make("a", { textContent: "Download" });
  const copy = make("button", { type: "button", id: "copy", textContent: "Copy", onclick: async () => {
    await navigator.clipboard.writeText(seen?.output ?? "");
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), 1500);
  } });
  const save = make("button", { type: "button", id: "save", textContent: "Download", onclick: () => {
    URL.revokeObjectURL(download.href);
    download.href = URL.createObjectURL(new Blob([seen?.output ?? ""]));
    download.download = `output.${to.value.replace(/-(\w+)$/, ".$1")}`;
    download.click();
  } });
  const written = make("pre", { id: "written" }), left = make("p", { className: "note" });
  $("output").append(make("div", { className: "bar" }, copy, save, left), written);

  let timer = 0, running = false, again = false, bytes = 0, seen = null, back = null;
  let targeted = true; // and the one to write
  let chosen = false; // whether the format was chosen for the text that is there

  // a slider from 1 to all, on which small numbers have as much room as large ones
  const sized = () => (Number(chunk.value) >= 1000 ? 0 : Math.max(1, Math.round(Math.max(2, bytes) ** (Number(chunk.value) / 1000))));

  // one request at a time, since the server takes them in turn; what changed meanwhile is asked next, once
  async function look() {
    again = false;
    bytes = new TextEncoder().encode(text.value).length;
    if (bytes > limit) return say(`A stream of at most ${number(limit)} bytes, please: this has ${number(bytes)}.`, true);
    if (running) { again = true; return; }
    if (!text.value.trim()) return clear("", true);
    running = true;
    const asked = {
      text: text.value, from: from.value, to: to.value, cut: Number(cut.max) ? Math.min(Number(cut.value), bytes) : 0,
      chunk: sized() || null, loss: carry.checked ? "carry" : "drop", strict: !lenient.checked,
    };
    if (fresh) asked.cut = bytes;
    try {
      const response = await fetch("/playground/view", {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(asked),
      });
      if (!response.ok) throw new Error((await response.text()).trim());
      const next = await response.json();
      if (text.value === asked.text) draw(next);
    } catch (error) {
      // what the browser itself has to say of a server that is gone is no sentence
      if (!again) say(error instanceof TypeError ? "The playground's server does not answer. Start it again, with: translate-streams playground, and open the address that it prints." : error.message, true);
    } finally {
      running = false;
    }
    if (again) look();
  }

  let fresh = true;
  function later(wait, whole = false) {
    fresh ||= whole;
    clearTimeout(timer);
    timer = setTimeout(look, wait);
  }

  // a new one each time: the page writes on what it shows
  const nothing = (format) => ({
    source: { format, units: [] }, target: { format: to.value, units: [] },
    parts: [], losses: [], guesses: [], repairs: [], error: null,
  });

  function say(words, bad = false) {
    note.textContent = words;
    note.classList.toggle("bad", bad);
  }

  function clear(problem, blank = false) {
    seen = null;
    remember();
    page.show(nothing(blank ? "no stream yet" : "not recognised"));
    chunkSays.textContent = cutSays.textContent = "";
    empty.hidden = !blank;
    say(problem, !blank);
  }

  function draw(next) {
    if (next.problem) return clear(`Not recognised: ${next.problem}. If you know better, choose a format under From.`);
    // a stream that is already in the format to write would show nothing
    if (!targeted && next.source.format === to.value) {
      const [now, shape] = [to.value, to.value.split("-").at(-1)];
      to.value = formats.find((name) => name !== now && name.endsWith(shape)) ?? now;
      targeted = true;
      return later(0, fresh);
    }
    seen = next;
    empty.hidden = true;
    if (fresh) { cut.max = next.bytes.all; cut.value = next.bytes.all; fresh = false; }
    page.show(next);
    const { size, count, same, prompt } = next.chunks;
    chunkSays.textContent = count === 1 ? "all at once" : `${number(size)} B × ${number(count)}`;
    cutSays.textContent = next.bytes.read === next.bytes.all ? `all ${number(next.bytes.all)} B` : `${number(next.bytes.read)} of ${number(next.bytes.all)} B`;
    const recognised = from.value === "auto" ? `Recognised as ${next.source.format}. ` : "";
    const chunked = prompt === null ? "" : `${same ? "Same output" : "ANOTHER OUTPUT"} in ${number(count)} chunks ${same ? "✓" : "✗"} ${number(prompt[0])} of ${number(prompt[1])} units were said with the chunk that completed the last unit they came from. `;
    say(recognised + chunked, !same);
    written.textContent = next.output.slice(0, SHOWN);
    left.textContent = next.output.length > SHOWN ? `The first ${number(SHOWN)} characters; copy or download has all.` : "";
    remember();
    if (wanted) { page.focus(...wanted, false); wanted = null; }
    if (back) { page.focus("source", back.index); back = null; }
  }

  // where a unit's JSON stands in the text: on a line of its own, after those before it
  function placeOf(index) {
    let at = 0;
    for (let each = 0; each <= index; each++) {
      const raw = seen.source.units[each].raw;
      if (!raw) continue;
      const start = text.value.indexOf(raw, at);
      if (start < 0) return null;
      at = start + raw.length;
      if (each === index) return [start, at];
    }
    return null;
  }

  page.hooks.opened = (side, index, body) => {
    if (side !== "source") return;
    const place = placeOf(index);
    if (!place) {
      body.append(make("p", { className: "note", textContent: "To change it, change the text of the stream." }));
      return;
    }
    const field = make("textarea", { id: "edit", className: "edit", spellcheck: false, "aria-label": `JSON of source unit ${index}`, value: text.value.slice(...place) });
    const apply = make("button", { type: "button", id: "apply", textContent: "Apply", onclick: () => {
      text.value = text.value.slice(0, place[0]) + field.value.replace(/[\r\n]+/g, " ") + text.value.slice(place[1]);
      back = { index };
      example.value = "";
      later(0, true);
    } });
    body.append(make("h3", { textContent: "Change it" }), field, apply);
  };

  async function take(dropped) {
    const content = await dropped.arrayBuffer();
    if (content.byteLength > limit) return say(`A stream of at most ${number(limit)} bytes, please: this has ${number(content.byteLength)}.`, true);
    try {
      text.value = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    } catch {
      return say("Not all bytes of this file are UTF-8, and a page has no place for others. Look at it with: translate-streams inspect FILE --from FORMAT", true);
    }
    from.value = "auto";
    example.value = "";
    chosen = false;
    later(0, true);
  }

  // ---- what is there, as the address has it

  const named = () => examples.find(({ name }) => name === example.value);
  let wanted = null; // the unit that is to be shown first
  let saving = 0;
  function remember() {
    clearTimeout(saving);
    saving = setTimeout(async () => {
      const own = named() ? "" : text.value, { side, index } = page.active;
      const state = {
        example: named()?.name, text: own && await link.packed(own).catch(() => "too-long"), from: named()?.source === from.value ? "" : from.value, to: to.value,
        chunk: chunk.value === chunk.max ? "" : chunk.value, cut: fresh || cut.value === cut.max ? "" : cut.value,
        carry: carry.checked ? "" : "0", lenient: lenient.checked && "1", tab: band.chosen === "drawing" ? "" : band.chosen,
        find: $("find").value, kind: $("kind").value, mark: $("mark").value, unit: side === "source" && index === 0 ? "" : `${side}-${index}`,
      };
      if (own === (named() ? "" : text.value)) link.write(state);
    }, 150);
  }

  async function restore() {
    const state = link.read(), has = (select, value) => [...select.options].some((each) => each.value === value);
    const packed = state.get("text");
    if (packed) {
      try {
        text.value = await link.unpacked(packed, limit);
      } catch {
        return say("The stream in this link cannot be read: part of it is missing, or it was too long for a link.", true);
      }
    }
    example.value = packed ? "" : has(example, state.get("example")) && state.get("example") || examples[0]?.name || "";
    const taken = named();
    if (taken) [text.value, from.value, to.value] = [taken.text, taken.source, taken.target];
    if (has(from, state.get("from"))) { from.value = state.get("from"); chosen = from.value !== "auto"; }
    else if (packed) from.value = "auto";
    if (has(to, state.get("to"))) to.value = state.get("to");
    const counted = (name, most) => (/^\d{1,9}$/.test(state.get(name) ?? "") ? Math.min(Number(state.get(name)), most) : most);
    chunk.value = counted("chunk", 1000);
    carry.checked = state.get("carry") !== "0";
    lenient.checked = state.get("lenient") === "1";
    bytes = new TextEncoder().encode(text.value).length;
    cut.max = bytes;
    cut.value = counted("cut", bytes);
    fresh = false;
    for (const name of ["kind", "mark"]) if (state.get(name)) $(name).append(option(state.get(name)));
    for (const name of ["find", "kind", "mark"]) $(name).value = state.get(name) ?? "";
    if (["drawing", "output", "message"].includes(state.get("tab"))) band.select(state.get("tab"));
    const unit = /^(source|target)-(\d{1,9})$/.exec(state.get("unit") ?? "");
    if (unit) wanted = [unit[1], Number(unit[2])];
    explain();
    look();
  }

  const explain = () => (about.textContent = named()?.shows ?? "");

  function load() {
    const taken = named();
    explain();
    if (!taken) return;
    [text.value, from.value, to.value] = [taken.text, taken.source, taken.target];
    chosen = false;
    later(0, true);
  }

  example.onchange = load;
  file.onchange = () => { if (file.files[0]) take(file.files[0]); file.value = ""; };
  from.onchange = () => { chosen = true; later(0); };
  to.onchange = () => { targeted = true; later(0); };
  carry.onchange = lenient.onchange = () => later(0);
  // another stream is recognised; where only some of it changes, what was chosen for it stands
  text.onpaste = () => { if (text.selectionEnd - text.selectionStart === text.value.length) chosen = targeted = false; };
  text.oninput = () => {
    example.value = "";
    explain();
    if (!text.value) chosen = false;
    if (!chosen) from.value = "auto";
    later(200, true);
  };
  chunk.oninput = cut.oninput = () => later(60);
  text.ondragover = (event) => { event.preventDefault(); text.classList.add("over"); };
  text.ondragleave = () => text.classList.remove("over");
  text.ondrop = (event) => {
    text.classList.remove("over");
    if (event.dataTransfer.files[0]) { event.preventDefault(); take(event.dataTransfer.files[0]); }
  };
  swap.onclick = () => {
    if (!seen?.output) return;
    [from.value, to.value, text.value, example.value] = [seen.target.format, seen.source.format, seen.output, ""];
    chosen = false;
    later(0, true);
  };

  const about = make("p", { id: "shows", className: "hint" });
  $("bench").append(
    make("div", { className: "line" }, labelled("Example", example), file, pick),
    about,
    text,
    helped(labelled("From", from), "The stream's format; recognised by what it holds."),
    helped(make("div", { className: "line" }, labelled("To", to), swap), "The format to write; Back takes the way home."),
    helped(labelled("Chunks", chunk, chunkSays), "Bytes that come at once; the output stays the same."),
    helped(labelled("Cut", cut, cutSays), "End the stream here, as a lost connection does."),
    helped(make("label", {}, carry, " Carry"), "What the target cannot say travels beside it."),
    helped(make("label", {}, lenient, " Lenient"), "Mend what has one obvious reading."),
    note,
  );
  $("bench").hidden = false;
  $("scroller").prepend(empty);
  $("from").textContent = "Playground";
  page.hooks.changed = remember;
  to.value = formats.includes("gateway-sse") ? "gateway-sse" : formats[0];
  addEventListener("hashchange", restore);
  restore();
}
