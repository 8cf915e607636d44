// listen lets a reader move in a map: by wheel, pointer, buttons and keys.
function listen(map) {
  const {plot, q} = map;
  const buttons = {
    in: () => map.zoom(0.5), out: () => map.zoom(2), left: () => map.move(-0.25), right: () => map.move(0.25),
    reset: () => map.reset(), previous: () => map.toGap(-1), next: () => map.toGap(1),
  };
  for (const name in buttons) q("button." + name).addEventListener("click", buttons[name]);
  const keys = {
    "+": buttons.in, "=": buttons.in, "-": buttons.out, "0": buttons.reset, ArrowLeft: buttons.left, ArrowRight: buttons.right,
    Home: () => map.move(-Infinity), End: () => map.move(Infinity), n: buttons.next, p: buttons.previous, Escape: () => map.unchoose(),
  };
  keys.Home = () => map.view(0, map.to - map.from);
  keys.End = () => map.view(map.module.end - (map.to - map.from), map.module.end);
  plot.tabIndex = 0;
  plot.setAttribute("role", "application");
  plot.setAttribute("aria-label", "Coverage map. Arrow keys move, plus and minus zoom, 0 shows the whole module, n and p go to the next and the previous gap.");
  plot.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(keys, e.key)) return;
    e.preventDefault();
    keys[e.key]();
  });
  const pixel = e => e.clientX - plot.getBoundingClientRect().left;
  plot.addEventListener("pointermove", e => { q(".where").textContent = map.placeText(Math.min(map.at(pixel(e)), map.module.end - 1)); });
  plot.addEventListener("wheel", e => onWheel(map, e, pixel(e)), {passive: false});
  plot.addEventListener("pointerdown", e => { if (e.button === 0) drag(map, e, pixel); });
  plot.addEventListener("dblclick", e => map.zoom(0.25, map.at(pixel(e))));
  listenOverview(map);
}

// A page that scrolls past a map goes on scrolling.
let scrolled = -Infinity;
addEventListener("scroll", () => { scrolled = performance.now(); }, {passive: true});

function onWheel(map, e, x) {
  const scale = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1, dx = e.deltaX * scale, dy = e.deltaY * scale;
  const quiet = 250;
  if (!e.ctrlKey && performance.now() - scrolled < quiet) return;
  if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) {
    e.preventDefault();
    map.move((dx || dy) / map.width);
    return;
  }
  if (dy > 0 && map.whole && !e.ctrlKey) return;
  e.preventDefault();
  map.zoom(Math.exp(Math.max(-200, Math.min(200, dy)) * (e.ctrlKey ? 0.01 : 0.0025)), map.at(x));
}

// drag moves the map; with Shift, or where there is nothing to move, it chooses a
// part to zoom to. Without a way it is a click.
function drag(map, start, pixel) {
  const x0 = pixel(start), {from, to} = map, box = map.q(".drag"), leastWay = 4;
  const choosing = start.shiftKey || map.whole;
  let moved = false;
  const part = e => {
    const x = Math.max(0, Math.min(map.width, pixel(e)));
    return {from: map.at(Math.min(x, x0)), to: map.at(Math.max(x, x0))};
  };
  const onMove = e => {
    moved = moved || Math.abs(pixel(e) - x0) >= leastWay;
    if (!moved) return;
    if (choosing) return map.mark(box, part(e));
    const by = (x0 - pixel(e)) * map.scale;
    map.view(from + by, to + by);
  };
  const stop = e => {
    removeEventListener("pointermove", onMove);
    removeEventListener("pointerup", stop);
    removeEventListener("pointercancel", stop);
    box.hidden = true;
    if (e.type === "pointercancel") return;
    if (!moved) map.chooseAt(x0);
    else if (choosing) map.view(part(e).from, part(e).to);
  };
  addEventListener("pointermove", onMove);
  addEventListener("pointerup", stop);
  addEventListener("pointercancel", stop);
}

// In the overview the part that is shown is put to where the pointer is.
function listenOverview(map) {
  const overview = map.q(".overview");
  const put = e => {
    const box = overview.getBoundingClientRect(), size = map.to - map.from;
    const middle = (e.clientX - box.left) / box.width * map.module.end;
    map.view(middle - size / 2, middle + size / 2);
  };
  overview.addEventListener("pointerdown", e => {
    if (e.button !== 0) return;
    put(e);
    const stop = () => { removeEventListener("pointermove", put); removeEventListener("pointerup", stop); removeEventListener("pointercancel", stop); };
    addEventListener("pointermove", put);
    addEventListener("pointerup", stop);
    addEventListener("pointercancel", stop);
  });
}

// A place in the fragment of the page's address: #file0:1080-10c0 is a part,
// #file0:1080 an address, #file0:1080-10c0@1000-2000 a part in a view of the map,
// #file0:@1000-2000 a view with nothing chosen.
const placeForm = /^#(file\d+):(?:([0-9a-f]{1,16})(?:-([0-9a-f]{1,17}))?)?(?:@([0-9a-f]{1,16})-([0-9a-f]{1,17}))?$/;

function fragmentOf(map) {
  const m = map.module, part = (from, to) => hex(m.address(Math.round(from))) + "-" + hex(m.endAddress(Math.round(to)));
  const chosen = map.chosen ? part(map.chosen.from, map.chosen.to) : "", view = map.whole ? "" : "@" + part(map.from, map.to);
  return "#" + map.id + (chosen || view ? ":" + chosen + view : "");
}

// rememberPlace keeps the fragment up to date; not at each step of a movement, which
// browsers refuse.
function rememberPlace(map) {
  let timer = 0;
  map.changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, "", fragmentOf(map)), 150);
  };
  map.remember = () => { clearTimeout(timer); history.replaceState(null, "", fragmentOf(map)); };
}

// goTo shows the place of a fragment.
function goTo(map, [, , from, to, viewFrom, viewTo]) {
  const m = map.module, address = text => BigInt("0x" + text), place = text => m.place(address(text));
  const end = (text, least) => Math.max(least, address(text) === 0n ? 0 : Math.min(m.end, m.place(address(text) - 1n) + 1));
  if (from === undefined) {
    map.unchoose();
    map.reset();
  } else if (!m.holds(address(from))) {
    map.view(place(from) - 128, place(from) + 128);
    map.unchoose();
    map.q(".detail").replaceChildren(element("p", hex(address(from)) + " is not on the map: nothing is there."));
  } else {
    map.show(place(from), to === undefined ? place(from) + 1 : end(to, place(from) + 1));
  }
  if (viewFrom !== undefined) map.view(place(viewFrom), end(viewTo, place(viewFrom)));
}
