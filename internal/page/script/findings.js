// filterFindings hides the rows that are not asked for.
function filterFindings(section) {
  const table = section.querySelector("table.findings");
  if (!table) return;
  const rule = section.querySelector(".rule"), severity = section.querySelector(".severity"), search = section.querySelector(".search"), shown = section.querySelector(".shown");
  const rows = [...table.tBodies[0].rows], texts = rows.map(row => row.textContent.toLowerCase());
  const apply = () => {
    const text = search.value.toLowerCase();
    let n = 0;
    rows.forEach((row, i) => {
      row.hidden = !!(rule.value && row.dataset.rule !== rule.value || severity.value && row.dataset.severity !== severity.value || text && !texts[i].includes(text));
      if (!row.hidden) n++;
    });
    shown.textContent = n + " of " + rows.length;
  };
  for (const control of [rule, severity, search]) control.addEventListener("input", apply);
  apply();
}

// sortable makes the heads of a table buttons that sort it.
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0], rows = [...body.rows];
  const key = (row, i) => {
    const text = row.cells[i].textContent;
    if (!heads[i].classList.contains("n")) return text;
    const address = /address|end/.test(heads[i].textContent);
    const digits = (address ? /^[0-9a-f]+/ : /^\d+/).exec(text);
    return digits ? BigInt((address ? "0x" : "") + digits[0]) : -1n;
  };
  heads.forEach((th, i) => {
    const button = element("button", th.textContent);
    button.type = "button";
    th.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = th.getAttribute("aria-sort") !== "descending";
      heads.forEach(h => h.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = rows.map((row, n) => ({row, n, key: key(row, i)}));
      keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * (down ? -1 : 1) || a.n - b.n);
      body.replaceChildren(...keyed.map(k => k.row));
    });
  });
}

// loadMap makes a file's map, once. A browser that cannot read the data keeps the
// picture.
function loadMap(section) {
  section.loading ??= Promise.all(["runs", "functions", "symbols"].map(name => unpack(section.querySelector("script." + name)))).then(data => {
    const map = new CoverageMap(section, new Module(...data));
    listen(map);
    rememberPlace(map);
    return section.map = map;
  });
  return section.loading;
}

const maps = [...document.querySelectorAll("section.file")].filter(s => s.querySelector("script.runs"));

// followFragment shows the place that the page's address names.
async function followFragment() {
  const place = placeForm.exec(location.hash), section = place && document.getElementById(place[1]);
  if (!section || !maps.includes(section)) return;
  const map = await loadMap(section);
  goTo(map, place);
  map.remember();
  section.querySelector(".map").scrollIntoView({block: "nearest"});
}

// A click at a row is one at its address.
function followRows(section) {
  section.addEventListener("click", e => {
    const row = e.target.closest("tbody tr"), link = row && row.querySelector("a[href^='#file']");
    if (!link || getSelection().toString() || e.target.closest("a")) return;
    link.click();
  });
}

document.documentElement.classList.add("on");
for (const section of document.querySelectorAll("section.file")) {
  filterFindings(section);
  section.querySelectorAll("table.sorted").forEach(sortable);
  if (maps.includes(section)) followRows(section);
}
// Maps are made when they come into sight: a page may have many.
const sight = new IntersectionObserver(entries => {
  for (const e of entries) if (e.isIntersecting) { sight.unobserve(e.target); loadMap(e.target.closest("section")); }
}, {rootMargin: "400px"});
for (const section of maps) sight.observe(section.querySelector(".map"));
addEventListener("hashchange", followFragment);
addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });
followFragment().finally(() => { document.documentElement.dataset.ready = "yes"; });
