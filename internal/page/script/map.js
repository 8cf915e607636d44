const hex = address => address.toString(16);

const rowHeight = 44, bandHeight = 40, leastHas = 1, leastLacks = 9, leastBytes = 16;
const bands = ["func", "nofunc", "lines", "nolines", "cfi", "nocfi"];

// CoverageMap draws a part of a module.
class CoverageMap {
  constructor(section, module) {
    const q = this.q = s => section.querySelector(s);
    this.id = section.id;
    this.module = module;
    this.plot = q(".plot");
    this.svg = q(".plot svg");
    this.paths = this.svg.querySelectorAll("path");
    this.from = 0;
    this.to = module.end;
    this.chosen = null; // {from, to}
    this.changed = () => {};
    const overview = q(".overview");
    overview.prepend(this.svg.cloneNode(true));
    overview.firstChild.setAttribute("aria-hidden", "true");
    overview.hidden = false;
    new ResizeObserver(() => this.refresh()).observe(this.plot);
    this.draw();
  }

  get width() { return Math.max(1, this.plot.clientWidth); }
  get scale() { return (this.to - this.from) / this.width; } // bytes of a pixel
  get whole() { return this.from <= 0 && this.to >= this.module.end; }
  at(x) { return this.from + x * this.scale; }
  x(at) { return (at - this.from) / this.scale; }

  // view shows a part, moved into the axis.
  view(from, to) {
    const size = Math.min(this.module.end, Math.max(to - from, leastBytes));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(0, middle - size / 2), this.module.end - size);
    this.to = this.from + size;
    this.changed();
    this.refresh();
  }

  // zoom makes the part larger by a factor; the place stays where it is.
  zoom(factor, place = (this.from + this.to) / 2) {
    const size = Math.min(this.module.end, Math.max((this.to - this.from) * factor, leastBytes));
    const share = (place - this.from) / (this.to - this.from);
    this.view(place - share * size, place - share * size + size);
  }

  move(share) {
    const by = (this.to - this.from) * share;
    this.view(this.from + by, this.to + by);
  }

  reset() { this.view(0, this.module.end); }

  // choose marks a part and lists its gaps.
  choose(from, to) {
    this.chosen = {from: Math.max(0, from), to: Math.min(this.module.end, Math.max(to, from))};
    this.changed();
    this.refresh();
    this.listGaps();
  }

  unchoose() {
    if (this.chosen) this.q(".detail").replaceChildren();
    this.chosen = null;
    this.changed();
    this.refresh();
  }

  // chooseAt chooses what is at a pixel: the only gap there, or all that is under the
  // pointer, or the function.
  chooseAt(x) {
    const m = this.module, near = 3, from = Math.max(0, this.at(x - near)), to = Math.min(m.end, this.at(x + near));
    const exact = m.gapsIn(this.at(x), this.at(x) + Number.EPSILON * this.at(x));
    const gaps = exact.length === 1 && (m.runEnd[exact[0]] - m.runAt[exact[0]]) / this.scale >= near ? exact : m.gapsIn(from, to);
    if (gaps.length === 1) return this.choose(m.runAt[gaps[0]], m.runEnd[gaps[0]]);
    const f = m.functionAt(this.at(x));
    if (!gaps.length && f >= 0 && !m.isPublic(f) && m.funcEnd[f] - m.funcAt[f] > to - from) return this.choose(m.funcAt[f], m.funcEnd[f]);
    this.choose(Math.floor(from), Math.ceil(to));
  }

  // show chooses a part and makes it be seen with some of what is around it.
  show(from, to) {
    const size = to - from, around = Math.max(4 * size, 256), middle = (from + to) / 2;
    this.view(middle - around / 2, middle + around / 2);
    this.choose(from, to);
  }

  // toGap goes to the next gap, or the one before.
  toGap(direction) {
    const m = this.module;
    const i = direction > 0 ? m.firstGapEndingAfter(this.chosen ? this.chosen.to : this.from) :
      m.firstGapEndingAfter(this.chosen ? this.chosen.from : this.to) - 1;
    if (i < 0 || i >= m.gaps.length) return;
    const from = m.runAt[m.gaps[i]], to = m.runEnd[m.gaps[i]];
    if ((to - from) / this.scale < 3) return this.show(from, to);
    if (from < this.from || to > this.to) {
      const size = Math.max(this.to - this.from, to - from);
      this.view((from + to - size) / 2, (from + to + size) / 2);
    }
    this.choose(from, to);
  }

  refresh() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    const width = Math.round(this.width);
    if (!this.module.end) return;
    this.svg.setAttribute("shape-rendering", "crispEdges");
    this.svg.setAttribute("viewBox", "0 0 " + width + " " + 3 * rowHeight);
    bands.forEach((name, i) => this.paths[i].setAttribute("d", this.path(name, width, (i >> 1) * rowHeight + bandHeight, i % 2 ? leastLacks : leastHas)));
    this.axis();
    this.labels();
    this.mark(this.q(".chosen"), this.chosen);
    const end = this.module.end, window = this.q(".window");
    window.style.left = 100 * this.from / end + "%";
    window.style.width = 100 * (this.to - this.from) / end + "%";
    this.q(".range").textContent = this.partText(this.from, this.to);
    this.q(".in").disabled = this.to - this.from <= leastBytes;
    this.q(".out").disabled = this.q(".reset").disabled = this.whole;
    this.q(".left").disabled = this.from <= 0;
    this.q(".right").disabled = this.to >= end;
    this.plot.dataset.drawn = this.partText(this.from, this.to);
  }

  // path is the outline of a band: of each run, if they have room, or a pixel a column.
  path(name, width, ground, least) {
    const m = this.module, wide = 4;
    const first = Math.max(0, lastNotAfter(m.runAt, this.from)), last = lastNotAfter(m.runAt, this.to);
    return last - first < width / wide ? this.runsPath(name, first, last, ground) : this.columnsPath(name, width, ground, least);
  }

  runsPath(name, first, last, ground) {
    const m = this.module, d = [], measure = measures[name];
    for (let i = first; i <= last; i++) {
      if (!measure(m.has[i])) continue;
      const from = Math.max(0, this.x(m.runAt[i])), to = Math.min(this.width, Math.max(this.x(m.runEnd[i]), from + 1));
      if (to > from) d.push("M", from.toFixed(2), " ", ground, "V", ground - bandHeight, "H", to.toFixed(2), "V", ground, "z");
    }
    return d.join("");
  }

  columnsPath(name, width, ground, least) {
    const m = this.module, d = [];
    let last = 0, before = m.sum(name, this.from);
    for (let x = 0; x <= width; x++) {
      let h = 0;
      if (x < width) {
        const after = m.sum(name, this.at(x + 1)), share = (after - before) / this.scale;
        before = after;
        if (share > 0) h = Math.max(least, Math.min(bandHeight, Math.floor(share * bandHeight + 1e-6)));
      }
      if (h === last) continue;
      if (!last) d.push("M", x, " ", ground, "V", ground - h);
      else if (!h) d.push("H", x, "V", ground, "z");
      else d.push("H", x, "V", ground - h);
      last = h;
    }
    return d.join("");
  }

  // axis writes round addresses, and draws a line where addresses are left out.
  axis() {
    const m = this.module, list = [], least = 150 * this.scale;
    let step = 1, cuts = "";
    while (step < least) step *= 2;
    for (let i = Math.max(0, lastNotAfter(m.pieceAt, this.from)); i < m.bases.length && m.pieceAt[i] < this.to; i++) {
      const at = m.pieceAt[i], end = at + m.sizes[i], first = (step - Number(m.bases[i] % BigInt(step))) % step;
      if (at >= this.from) list.push(at);
      if (i > 0 && at >= this.from) cuts += "M" + this.x(at) + " 0V" + 3 * rowHeight;
      let place = at + first;
      if (place < this.from) place += Math.ceil((this.from - place) / step) * step;
      for (; place < Math.min(end, this.to); place += step) list.push(place);
    }
    this.paths[bands.length].setAttribute("d", cuts);
    const room = 9 * hex(m.address(m.end)).length, ticks = [];
    let free = 0;
    for (const place of list) {
      const x = this.x(place);
      if (x < free || x + room > this.width) continue;
      const tick = element("span", hex(m.address(place)));
      tick.style.left = x + "px";
      ticks.push(tick);
      free = x + room;
    }
    this.q(".ticks").replaceChildren(...ticks);
  }

  // labels writes the names of functions that have room.
  labels() {
    const m = this.module, room = 36, list = [], maxLooked = 4000;
    let i = Math.max(0, lastNotAfter(m.funcAt, this.from) - 8), free = 0;
    for (const end = i + maxLooked; i < Math.min(m.functions, end) && m.funcAt[i] < this.to; i++) {
      const left = Math.max(0, this.x(m.funcAt[i])), right = Math.min(this.width, this.x(m.labelEnd(i)));
      if (right - left < room || left < free) continue;
      const label = element("span", m.names[i] || "");
      label.style.left = left + "px";
      label.style.width = right - left + "px";
      free = right - 1;
      list.push(label);
    }
    this.q(".names").replaceChildren(...list);
  }

  mark(box, part) {
    box.hidden = !part || part.to < this.from || part.from > this.to;
    if (box.hidden) return;
    const left = Math.max(0, this.x(part.from)), right = Math.min(this.width, this.x(part.to));
    box.style.left = left + "px";
    box.style.width = Math.max(3, right - left) + "px";
  }

  // partText is a part in whole bytes; those that the axis leaves out do not count.
  partText(from, to) {
    const m = this.module, first = Math.round(from), end = Math.round(to);
    return hex(m.address(first)) + " to " + hex(m.endAddress(end)) + ", " + count(end - first, "byte");
  }

  // functionText is what is known of the function at a place.
  functionText(x) {
    const m = this.module, f = m.functionAt(x);
    if (f < 0) return "";
    const into = Math.floor(x) - m.funcAt[f];
    return m.nameOf(f) + (into ? " + 0x" + into.toString(16) : "") + " (line " + m.funcLine[f] + ")";
  }

  // placeText is what is known of a place.
  placeText(x) {
    const m = this.module, i = lastNotAfter(m.runAt, x);
    if (i < 0) return "";
    const has = [[FUNC, "FUNC"], [LINES, "lines"], [CFI, "CFI"]].filter(([bit]) => m.has[i] & bit).map(([, name]) => name);
    const state = lacks(m.has[i]) || has.join(", ") || "nothing";
    return [hex(m.address(x)), state, this.functionText(x)].filter(Boolean).join("  \u00b7  ");
  }

  // listGaps writes what is missing in the chosen part.
  listGaps() {
    const m = this.module, {from, to} = this.chosen, gaps = m.gapsIn(from, to), maxShown = 50;
    const head = element("p", this.partText(from, to) + ": " + (gaps.length ? count(gaps.length, "gap") : "nothing is missing"));
    const inside = element("p", this.functionText(from), "mono");
    this.q(".detail").replaceChildren(head, inside);
    if (!gaps.length) return;
    const table = document.createElement("table");
    for (const i of gaps.slice(0, maxShown)) {
      const row = table.insertRow(), f = m.functionAt(m.runAt[i]);
      row.className = "gap";
      const start = hex(m.address(m.runAt[i])), end = hex(m.endAddress(m.runEnd[i]));
      const link = element("a", start + " to " + end);
      link.href = "#" + this.id + ":" + start + "-" + end;
      const place = element("td", "", "mono");
      place.append(link);
      row.append(place, element("td", count(m.runEnd[i] - m.runAt[i], "byte"), "n"), element("td", lacks(m.has[i])), element("td", f < 0 || m.isPublic(f) && m.funcAt[f] < m.runAt[i] ? "" : m.nameOf(f)));
    }
    this.q(".detail").append(table);
    if (gaps.length > maxShown) this.q(".detail").append(element("p", "and " + count(gaps.length - maxShown, "more gap")));
  }
}
