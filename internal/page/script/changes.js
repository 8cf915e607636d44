(() => {
  const $ = id => document.getElementById(id);
  if (!$("kind")) return;
  document.documentElement.classList.add("on");
  const changes = [...document.querySelectorAll(".change")].map(node => ({
    node, kind: node.dataset.kind, what: node.dataset.what.split(" "), worse: node.classList.contains("worse"),
    name: node.querySelector(".name").textContent.toLowerCase(), list: node.parentNode,
  }));
  const lists = [...document.querySelectorAll(".list")];
  const unlisted = [...document.querySelectorAll(".unlisted")].flatMap(node => JSON.parse(node.textContent));
  const number = n => n.toLocaleString("en");

  function filter() {
    const kind = $("kind").value, what = $("what").value, text = $("text").value.toLowerCase(), worse = $("worse").checked;
    const seen = new Set();
    let shown = 0;
    for (const c of changes) {
      const on = (!kind || c.kind === kind) && (!what || c.what.includes(what)) && (!worse || c.worse) && c.name.includes(text);
      if (c.node.hidden === on) c.node.hidden = !on;
      if (on) { shown++; seen.add(c.list); }
    }
    for (const list of lists) list.hidden = !seen.has(list);
    $("shown").textContent = number(shown) + " of " + number(changes.length) + (changes.length === 1 ? " entry" : " entries") + leftOut(text);
  }

  // leftOut says which changes have a text in their names, of those that the page has no room for.
  function leftOut(text) {
    const found = text ? unlisted.filter(name => name.toLowerCase().includes(text)) : [], most = 5;
    if (!found.length) return "";
    return "; " + number(found.length) + " of those left out: " + found.slice(0, most).join(", ") + (found.length > most ? ", ..." : "");
  }

  // openAll opens what is shown; a browser would be busy with more at a time.
  const most = 200;
  function openAll(open) {
    let n = 0;
    for (const c of changes) {
      if (c.node.localName !== "details" || c.node.hidden || c.node.open === open) continue;
      if (open && ++n > most) break;
      c.node.open = open;
    }
  }

  let timer = 0;
  $("text").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(filter, 120); });
  for (const id of ["kind", "what", "worse"]) $(id).addEventListener("change", filter);
  $("open").addEventListener("click", () => openAll(true));
  $("close").addEventListener("click", () => openAll(false));
  filter();
})();
