(() => {
  const $ = id => document.getElementById(id);
  const source = $("document"), summary = JSON.parse(source.textContent);
  const most = 2000; // rows of a table, which a browser shows without delay
  const percent = share => (100 * share).toFixed(1) + "%";

  // A column has a value for each row, by which it is sorted: numbers from the largest first.
  const number = (title, value, more) => ({title, value, text: String, n: true, ...more});
  const text = (title, value, more) => ({title, value, text: printable, ...more});
  const example = text("example", row => row.example, {link: true});
  const tones = {corrupt: "error", "other-id": "error", missing: "error", "no-cfi": "warning", found: "good"};
  const signatures = [
    number("dumps", row => row.dumps), number("share", row => row.share, {text: percent}),
    text("signature", row => row.signature), text("reason", row => row.reason), example,
  ];
  const modules = [
    number("cost", row => row.cost, {tone: row => row.cost ? "error" : ""}),
    text("module", row => row.symbols ? (row.module + " " + row.debug_id).trim() : "code in no module"),
    text("symbols", row => row.symbols, {tone: row => tones[row.symbols]}),
    number("guessed", row => row.callers_frame_pointer + row.callers_scan), number("unnamed", row => row.unnamed), number("ends", row => row.ends),
    number("callers", row => row.callers), number("frames", row => row.frames), number("dumps", row => row.dumps), example,
  ];
  const verdicts = [
    number("dumps", row => row.dumps), number("errors", row => row.count), text("kind", row => row.kind), text("to blame", row => row.blame || ""),
    text("module", row => row.module), example, text("error", row => row.text),
  ];

  // link leads from the page to a dump; nothing in a name is a scheme, a query or a fragment.
  function link(dump) {
    const a = element("a", printable(dump)), path = dump.startsWith("/") ? dump : "./" + source.dataset.root + "/" + dump;
    a.href = path.replaceAll(source.dataset.separator, "/").split("/").map(encodeURIComponent).join("/");
    return a;
  }

  function cell(column, row) {
    const td = element("td", "", column.n ? "n" : ""), value = column.value(row), content = column.text(value);
    td.append(column.link && value ? link(value) : column.tone ? element("span", content, column.tone(row)) : content);
    return td;
  }

  // Table shows the rows that have a text, as many as a browser shows without delay.
  class Table {
    constructor(place, rows, columns) {
      this.columns = columns;
      this.rows = rows.map(row => ({row, text: columns.map(c => c.text(c.value(row))).join("\n").toLowerCase()}));
      const table = element("table", "", place.id), head = table.createTHead().insertRow();
      this.heads = columns.map(column => {
        const th = element("th", "", column.n ? "n" : ""), button = element("button", column.title);
        th.scope = "col";
        button.type = "button";
        button.addEventListener("click", () => this.sort(column, th));
        th.append(button);
        return th;
      });
      head.append(...this.heads);
      this.heads[0].setAttribute("aria-sort", "descending");
      this.body = table.createTBody();
      place.append(table);
      place.after(this.more = element("p", "", "dim"));
      place.hidden = !rows.length;
    }

    sort(column, head) {
      const before = head.getAttribute("aria-sort"), down = before ? before === "ascending" : !!column.n;
      for (const h of this.heads) h.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
      this.rows.sort((a, b) => order(column.value(a.row), column.value(b.row)) * (down ? -1 : 1));
      this.show();
    }

    show(text = this.searched) {
      this.searched = text;
      const found = this.rows.filter(r => r.text.includes(text));
      this.body.replaceChildren(...found.slice(0, most).map(r => {
        if (!r.node) (r.node = element("tr", "")).append(...this.columns.map(column => cell(column, r.row)));
        return r.node;
      }));
      this.more.textContent = found.length > most ? (found.length - most).toLocaleString("en") + " more: search for them, or sort by another column." : "";
      return found.length;
    }
  }

  const panel = $("verdict");
  panel.append(element("strong", printable(summary.verdict)));
  panel.classList.add(summary.holds ? "good" : "bad");
  $("dumps").textContent = `${count(summary.dumps, "dump")}: ${summary.ok} whole, ${summary.damaged} damaged, ${summary.failed} not read; ${count(summary.threads, "thread")}, ${summary.unclean} of which end too soon`;
  for (const trust of ["context", "cfi", "code", "cfi_scan", "frame_pointer", "scan"]) {
    const n = summary[trust], share = summary.frames ? percent(Math.floor(n * 1000 / summary.frames) / 1000) : "0.0%";
    const figure = element("div", "", "figure"), bar = element("span", "", "bar"), part = element("i", "", "trust " + trust), label = element("span", share + " ", "mono");
    part.style.width = share;
    bar.append(part);
    label.append(element("span", "(" + n + ")", "dim"));
    figure.append(element("span", trust, "trust " + trust), bar, label);
    $("frames").append(figure);
  }
  const tables = [new Table($("signatures"), summary.signatures, signatures), new Table($("modulecosts"), summary.modules, modules)];
  if (summary.verify) {
    const v = summary.verify;
    panel.append(element("br", ""), printable(v.conclusion));
    $("hold").textContent = `The symbols hold in ${v.hold} of ${count(v.dumps, "dump")}; ${v.counted_cfi} of ${count(v.counted, "caller")} by call frame information.`;
    $("judged").hidden = false;
    tables.push(new Table($("verdicts"), v.findings, verdicts));
  }

  const all = tables.reduce((n, table) => n + table.rows.length, 0);
  function search() {
    const found = tables.reduce((n, table) => n + table.show($("text").value.toLowerCase()), 0);
    $("shown").textContent = found.toLocaleString("en") + " of " + count(all, "row");
  }
  let timer = 0;
  $("text").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 120); });
  addEventListener("keydown", e => {
    if (e.key !== "/" || e.target.closest?.("input") || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    $("text").focus();
  });
  document.documentElement.classList.add("on");
  search();
  document.documentElement.dataset.ready = "yes";
})();
