(() => {
  const $ = id => document.getElementById(id);
  const tables = [...document.querySelectorAll("table.searched")];
  const rows = tables.flatMap(t => [...t.tBodies[0].rows]).map(node => ({node, text: node.textContent.toLowerCase()}));

  function filter() {
    const q = $("text").value.toLowerCase();
    let shown = 0;
    for (const r of rows) {
      const on = r.text.includes(q);
      if (r.node.hidden === on) r.node.hidden = !on;
      if (on) shown++;
    }
    $("shown").textContent = shown.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + (rows.length === 1 ? " row" : " rows");
  }

  // A column of numbers is sorted from the largest first, one of texts from the first.
  function sort(table, column) {
    const heads = [...table.tHead.rows[0].cells], head = heads[column], number = head.classList.contains("n");
    const before = head.getAttribute("aria-sort"), down = before ? before === "ascending" : number;
    for (const h of heads) h.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => number ? parseFloat(row.cells[column].textContent) : row.cells[column].textContent;
    const order = (a, b) => number ? key(a) - key(b) : key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => down ? order(b, a) : order(a, b)));
  }

  for (const table of tables) {
    [...table.tHead.rows[0].cells].forEach((th, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = th.textContent;
      button.addEventListener("click", () => sort(table, column));
      th.replaceChildren(button);
    });
  }
  let timer = 0;
  $("text").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(filter, 120); });
  addEventListener("keydown", e => {
    if (e.key !== "/" || e.target.closest("input") || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    $("text").focus();
  });
  document.documentElement.classList.add("on");
  filter();
  document.documentElement.dataset.ready = "yes";
})();
