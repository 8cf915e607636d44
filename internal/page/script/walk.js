(() => {
  const $ = id => document.getElementById(id);
  if (!$("data")) return;
  const data = JSON.parse($("data").textContent);
  const height = 26; // pixels of a row, as in the style sheet

  // A frame is an array, to keep the page small: see pageFrame in walk/report.
  const [TRUST, MODULE, OFFSET, FUNCTION, FILE, LINE, SOURCE, PC, SP, REGISTERS, WORDS, INLINES, VARIABLES] = [...Array(13).keys()];
  const base = path => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  const moduleOf = f => f[MODULE] < 0 ? "" : data.modules[f[MODULE]];
  const source = (file, line) => file ? base(data.texts[file]) + (line ? ":" + line : "") : "";
  const nameOf = f => data.texts[f[FUNCTION]] || (moduleOf(f) ? moduleOf(f) + " + 0x" : "0x") + f[OFFSET];

  // A row is a thread, a frame, or a function inlined into one: {thread, frame, inline}, -1 for none.
  let rows = [], chosen = -1, query = "";
  const open = data.threads.map((t, i) => t.crashed || i === 0), unfolded = new Set();
  const texts = data.texts.map(s => s.toLowerCase()), modules = data.modules.map(s => s.toLowerCase());
  const has = (f, q) => texts[f[FUNCTION]].includes(q) || texts[f[FILE]].includes(q) || f[MODULE] >= 0 && modules[f[MODULE]].includes(q) ||
    (f[INLINES] || []).some(x => texts[x[0]].includes(q) || texts[x[1]].includes(q));

  function list() {
    rows = [];
    let frames = 0, threads = 0;
    data.threads.forEach((t, thread) => {
      const found = query ? t.frames.map((f, i) => has(f, query) ? i : -1).filter(i => i >= 0) : [...t.frames.keys()];
      if (query && !found.length && !t.title.toLowerCase().includes(query)) return;
      threads++;
      frames += found.length;
      rows.push({thread, frame: -1, inline: -1});
      if (!open[thread] && !query) return;
      for (const frame of found) {
        const inlines = t.frames[frame][INLINES] || [];
        if (unfolded.has(thread + ":" + frame)) inlines.forEach((_, inline) => rows.push({thread, frame, inline}));
        rows.push({thread, frame, inline: -1});
      }
    });
    $("space").style.height = rows.length * height + "px";
    $("shown").textContent = frames.toLocaleString("en") + (frames === 1 ? " frame in " : " frames in ") + threads.toLocaleString("en") + (threads === 1 ? " thread" : " threads");
    chosen = Math.min(chosen, rows.length - 1);
    draw();
  }

  function span(kind, text) {
    const s = document.createElement("span");
    s.className = kind;
    s.textContent = text;
    if (text) s.title = text;
    return s;
  }

  function rowNode(r, i) {
    const node = document.createElement("div"), t = data.threads[r.thread];
    node.className = "row" + (i === chosen ? " chosen" : "");
    node.style.top = i * height + "px";
    node.dataset.row = i;
    node.setAttribute("role", "option");
    node.setAttribute("aria-selected", i === chosen);
    if (r.frame < 0) {
      node.classList.add("thread");
      const n = t.frames.length + (t.cut || 0);
      node.append(span("fold", open[r.thread] || query ? "\u25BE" : "\u25B8"), span("name", t.title),
        span("at" + (t.clean ? "" : " warning"), n.toLocaleString("en") + (n === 1 ? " frame; " : " frames; ") + t.end));
      return node;
    }
    const f = t.frames[r.frame], inlines = f[INLINES] || [];
    if (r.inline >= 0) {
      const x = inlines[r.inline];
      node.classList.add("inlined");
      node.append(span("number", ""), span("trust", "inlined"), span("name", data.texts[x[0]]), span("module", ""), span("at", source(x[1], x[2])));
      return node;
    }
    const name = span("name", nameOf(f));
    if (inlines.length) name.append(span("more", (unfolded.has(r.thread + ":" + r.frame) ? " \u25BE " : " \u25B8 ") + inlines.length + " inlined"));
    node.append(span("number", r.frame), span("trust " + data.trusts[f[TRUST]][0], data.trusts[f[TRUST]][0]), name, span("module", moduleOf(f)), span("at", source(f[FILE], f[LINE])));
    return node;
  }

  // draw makes the rows that can be seen, and some around them.
  function draw() {
    const box = $("threads"), first = Math.max(0, Math.floor(box.scrollTop / height) - 10);
    const last = Math.min(rows.length, first + Math.ceil(box.clientHeight / height) + 20);
    $("rows").replaceChildren(...rows.slice(first, last).map((r, i) => rowNode(r, first + i)));
  }

  // registers returns those of a frame: each frame has what differs from the one above.
  function registers(t, frame) {
    const all = new Map();
    for (let i = 0; i <= frame; i++) {
      for (const part of t.frames[i][REGISTERS].split(" ")) {
        const [k, v] = part.split("=");
        if (!part) continue;
        if (v) all.set(+k, v); else all.delete(+k);
      }
    }
    return [...all].sort((a, b) => a[0] - b[0]).map(([k, v]) => [data.registers[k], "0x" + v.padStart(2 * data.word, "0")]);
  }

  function stack(f) {
    const lines = [], start = BigInt("0x" + f[SP]);
    for (let i = 0; i < f[WORDS].length; i += 32) {
      const row = f[WORDS].slice(i, i + 32);
      lines.push((start + BigInt(i / 2)).toString(16).padStart(2 * data.word, "0") + "  " + row.replace(/../g, "$& ").trim());
    }
    return lines.join("\n");
  }

  function section(title, text) {
    const head = document.createElement("h3"), pre = document.createElement("pre");
    head.textContent = title;
    pre.textContent = text;
    return [head, pre];
  }

  function showDetail(r) {
    const box = $("detail"), t = data.threads[r.thread];
    if (r.frame < 0) {
      box.replaceChildren(...section(t.title, [...(t.notes || []), "end: " + t.end].join("\n")));
      return;
    }
    const f = t.frames[r.frame], parts = [];
    const lines = [nameOf(f), "found by: " + data.trusts[f[TRUST]][1], "pc 0x" + f[PC] + ", sp 0x" + f[SP]];
    if (f[MODULE] >= 0) lines.push(moduleOf(f) + " + 0x" + f[OFFSET]);
    if (f[FILE]) lines.push(data.texts[f[FILE]] + (f[LINE] ? ":" + f[LINE] : ""));
    for (const x of f[INLINES] || []) lines.push("inlined: " + data.texts[x[0]] + "  " + source(x[1], x[2]));
    parts.push(...section("Frame " + r.frame, lines.join("\n")));
    for (const x of f[INLINES] || []) if (x[3]) parts.push(...section("Source of " + data.texts[x[0]], data.sources[x[3]]));
    if (f[SOURCE]) parts.push(...section("Source", data.sources[f[SOURCE]]));
    if (f[VARIABLES]) parts.push(...section("Variables", f[VARIABLES].join("\n")));
    const regs = registers(t, r.frame);
    if (regs.length) parts.push(...section("Registers", regs.map(([k, v]) => k.padEnd(8) + v).join("\n")));
    if (f[WORDS]) parts.push(...section("Stack to the caller", stack(f)));
    box.replaceChildren(...parts);
  }

  function choose(i) {
    if (!rows.length) return;
    chosen = Math.max(0, Math.min(i, rows.length - 1));
    const box = $("threads"), top = chosen * height;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    showDetail(rows[chosen]);
    draw();
  }

  // fold opens or closes a thread, or the functions inlined into a frame.
  function fold(i, on) {
    const r = rows[i];
    if (!r) return;
    if (r.frame < 0) {
      open[r.thread] = on ?? !open[r.thread];
    } else {
      const key = r.thread + ":" + r.frame;
      if (on ?? !unfolded.has(key)) unfolded.add(key); else unfolded.delete(key);
    }
    list();
    chosen = rows.findIndex(x => x.thread === r.thread && x.frame === r.frame && x.inline < 0);
    choose(chosen);
  }

  function threadText(t) {
    const lines = [t.title];
    t.frames.forEach((f, i) => {
      const n = String(i).padStart(2);
      for (const x of f[INLINES] || []) lines.push(n + "  " + moduleOf(f) + "!" + data.texts[x[0]] + (x[1] ? " [" + source(x[1], x[2]) + "]" : "") + " (inlined)");
      lines.push(n + "  " + (f[FUNCTION] && moduleOf(f) ? moduleOf(f) + "!" : "") + nameOf(f) + (f[FILE] ? " [" + source(f[FILE], f[LINE]) + "]" : "") + "  " + data.trusts[f[TRUST]][0]);
    });
    if (t.cut) lines.push("and " + t.cut + " more");
    return lines.join("\n") + "\n";
  }

  async function copy() {
    const t = data.threads[rows[Math.max(chosen, 0)]?.thread ?? 0];
    if (!t) return;
    const text = threadText(t);
    try {
      await navigator.clipboard.writeText(text);
      $("shown").textContent = "copied " + t.title;
    } catch { // a file may not be allowed to: the text is there to be copied by hand
      $("detail").replaceChildren(...section("Copy this", text));
      getSelection().selectAllChildren($("detail").lastChild);
    }
  }

  function next() {
    for (let k = 1; k <= rows.length; k++) {
      const i = (chosen + k) % rows.length;
      if (rows[i].frame >= 0) return choose(i);
    }
  }

  function all(on) { open.fill(on); list(); choose(Math.max(chosen, 0)); }

  let timer = 0;
  $("text").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { query = $("text").value.toLowerCase(); chosen = -1; $("threads").scrollTop = 0; list(); }, 120);
  });
  $("text").addEventListener("keydown", e => { if (e.key === "Enter") next(); });
  $("next").addEventListener("click", next);
  $("open").addEventListener("click", () => all(true));
  $("close").addEventListener("click", () => all(false));
  $("copy").addEventListener("click", copy);
  $("threads").addEventListener("scroll", () => requestAnimationFrame(draw));
  addEventListener("resize", draw);
  $("rows").addEventListener("click", e => {
    const node = e.target.closest(".row");
    if (!node) return;
    const i = +node.dataset.row;
    if (rows[i].frame < 0 || e.target.closest(".more")) fold(i); else choose(i);
  });
  const keys = {
    ArrowDown: () => choose(chosen + 1), ArrowUp: () => choose(chosen - 1), PageDown: () => choose(chosen + 15), PageUp: () => choose(chosen - 15),
    Home: () => choose(0), End: () => choose(rows.length - 1), Enter: () => fold(chosen), ArrowRight: () => fold(chosen, true), ArrowLeft: () => fold(chosen, false),
  };
  $("threads").addEventListener("keydown", e => {
    if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    keys[e.key]();
  });
  const letters = {"/": () => $("text").focus(), n: next, c: copy, o: () => all(true), x: () => all(false)};
  addEventListener("keydown", e => {
    if (e.target.closest("input, select, textarea") || !letters[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    letters[e.key]();
  });

  document.documentElement.classList.add("on");
  list();
  next(); // the frame that crashed
  document.documentElement.dataset.ready = "yes";
})();
