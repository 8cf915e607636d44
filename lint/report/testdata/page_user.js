// What a reader of a page does, and what is seen then. The page is about two files;
// see hostilePage.
const seen = [], record = (what, value) => seen.push(what + "=" + value);
const section = document.querySelector("section.file"), q = s => section.querySelector(s), plot = q(".plot");
const frame = () => new Promise(resolve => setTimeout(resolve, 250));
const range = () => q(".range").textContent;
const head = () => q(".detail p").textContent;
const mouse = (type, share, more) => plot.dispatchEvent(new PointerEvent(type, {clientX: plot.getBoundingClientRect().left + plot.clientWidth * share, clientY: plot.getBoundingClientRect().top + 9, bubbles: true, cancelable: true, ...more}));
const click = share => { mouse("pointerdown", share); mouse("pointerup", share); };
const wheel = (share, deltaY, more) => plot.dispatchEvent(new WheelEvent("wheel", {deltaY, clientX: plot.getBoundingClientRect().left + plot.clientWidth * share, bubbles: true, cancelable: true, ...more}));
const key = name => plot.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
const ticks = () => [...q(".ticks").children].map(e => e.textContent).join(" ");
const size = () => q(".plot").dataset.drawn.match(/([\d,]+) byte/)[1].replace(",", "");

async function look() {
  record("picture", q("path.cfi").getAttribute("d").startsWith("M") && section.map !== undefined);
  record("whole", range());
  record("bands", [...section.querySelectorAll(".plot path")].filter(p => p.getAttribute("d")).length);

  // The wheel zooms, and what is under the pointer stays there.
  const place = () => section.map.at(plot.clientWidth / 4), before = place();
  record("wheel is taken", !wheel(0.25, -400));
  await frame();
  record("wheel zooms", size() < 16768 && Math.abs(place() - before) <= 16768 / plot.clientWidth);
  record("axis follows", ticks() !== "" && !ticks().startsWith("1000 "));
  const at = section.map.from;
  wheel(0.25, 200, {shiftKey: true});
  await frame();
  record("wheel with Shift moves", section.map.from > at);
  for (let i = 0; i < 20; i++) wheel(0.25, 400);
  await frame();
  record("wheel out ends at the whole", range());
  record("wheel at the whole is the page's", wheel(0.25, 400));

  q("button.in").click(); q("button.in").click();
  await frame();
  record("two halves", size());
  q("button.left").click();
  await frame();
  record("left", range());
  key("ArrowRight"); key("ArrowRight"); key("-"); key("+"); key("End");
  await frame();
  record("keys", range());
  key("Home");
  await frame();
  record("home", range());
  mouse("pointerdown", 0.8); mouse("pointermove", 0.3); mouse("pointerup", 0.3);
  await frame();
  record("dragged", range());
  key("0");
  await frame();
  record("reset", q("button.reset").disabled && q("button.out").disabled && range());
  mouse("pointerdown", 0.0); mouse("pointermove", 384 / 16768); mouse("pointerup", 384 / 16768);
  await frame();
  record("a part is chosen", range());
  record("labels", [...q(".names").children].map(e => e.textContent.slice(0, 9)).join());
  for (let i = 0; i < 30; i++) key("+");
  await frame();
  record("closest", size());
  key("0");
  await frame();

  // Places are seen and can be linked.
  mouse("pointermove", 0.9);
  record("under the pointer", q(".where").textContent);
  click(0.9);
  await frame();
  record("nothing missing", head());
  location.hash = "#file0:@1000-2080";
  await frame();
  record("fragment", range());
  click(200 / 384);
  record("gap", head());
  await frame();
  record("fragment follows", location.hash);
  record("hostile text", q(".detail tr.gap").cells[3].textContent.includes("<script>"));
  q("button.next").click();
  record("next", head());
  q("button.previous").click();
  record("previous", head());
  q(".detail a").click();
  await frame();
  record("link of a gap", range());
  location.hash = "#file0:2000-2040@2000-2080";
  await frame();
  record("linked", head() + "; " + range());
  record("chosen", q(".chosen").hidden + " " + Math.round(parseFloat(q(".chosen").style.width) * 128 / plot.clientWidth));
  location.hash = "#file0:ffffffffffffffff-fffffffffffffffff";
  await frame();
  record("beyond", head());
  location.hash = "#file0:<b>";
  await frame();
  record("no place", head());

  // Tables.
  const column = (table, i) => [...q(table).tBodies[0].rows].map(r => r.cells[i].textContent).join();
  record("worst", column("table.worst", 1));
  const heads = q("table.worst thead").querySelectorAll("button");
  heads[4].click(); record("by lines", q("table.worst").tHead.rows[0].cells[4].getAttribute("aria-sort") + " " + column("table.worst", 4));
  heads[1].click(); heads[1].click(); record("by address", column("table.worst", 1));
  q("table.worst").tBodies[0].rows[1].cells[0].click();
  await frame();
  record("row of a function", head());
  record("gaps", column("table.gaps", 0));
  q("table.gaps tbody a").click();
  await frame();
  record("row of a gap", head());
  const finding = [...q("table.findings").tBodies[0].rows].find(r => r.cells[4].textContent === "9000" || r.cells[4].textContent === "3000");
  finding.cells[3].click();
  await frame();
  record("row of a finding", head());
  const shown = () => [...q("table.findings tbody").rows].filter(r => !r.hidden && r.getClientRects().length).map(r => r.dataset.rule);
  const set = (control, value) => { q(control).value = value; q(control).dispatchEvent(new Event("input")); };
  record("all", shown().length === q("table.findings tbody").rows.length);
  set(".rule", "SYM101");
  record("one rule", [...new Set(shown())].join() + " " + q(".shown").textContent.startsWith(shown().length + " of "));
  set(".rule", ""); set(".severity", "note");
  record("severity", [...new Set([...q("table.findings tbody").rows].filter(r => !r.hidden).map(r => r.cells[2].textContent))].join());
  set(".severity", ""); set(".search", "SYM301");
  record("text", [...new Set(shown())].join());
  set(".search", "no such text");
  record("none", shown().length);

  // The second file has a map of its own, which is made when it is asked for.
  const second = document.querySelectorAll("section.file")[1];
  location.hash = "#file1:2000-2040";
  await frame(); await frame();
  record("second", second.map !== undefined && second.querySelector(".detail p").textContent);
  record("hostile", window.hostile === undefined && document.querySelectorAll("img").length === 0);
  record("ready", document.documentElement.dataset.ready);
}

addEventListener("load", async () => {
  // The first map comes with a frame that the browser draws.
  const maps = () => section.map !== undefined && range() !== "";
  try { await frame(); await frame(); for (let i = 0; i < 20 && !maps(); i++) await frame(); await look(); } catch (e) { record("error", e.stack); }
  const pre = document.createElement("pre");
  pre.id = "seen"; pre.textContent = seen.join("\n");
  document.body.append(pre);
});
