// What a run of the axis has, and what may be asked of runs.
const FUNC = 1, LINES = 2, CFI = 4;
const measures = {
  func: has => has & FUNC,
  nofunc: has => has & CFI && !(has & FUNC),
  lines: has => has & LINES,
  nolines: has => has & FUNC && !(has & LINES),
  cfi: has => has & CFI,
  nocfi: has => has & FUNC && !(has & CFI),
};

// lacks says what a run lacks.
function lacks(has) {
  switch (has) {
    case FUNC: return "no CFI, no lines";
    case FUNC | LINES: return "no CFI";
    case FUNC | CFI: return "no lines";
    case CFI: case CFI | LINES: return "no FUNC";
  }
  return "";
}

// unpack reads the text of a script element that holds data.
async function unpack(element) {
  const text = atob(element.textContent.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Numbers reads LEB128.
class Numbers {
  constructor(bytes) { this.bytes = bytes; this.next = 0; }

  number() {
    let value = 0, scale = 1, b;
    do {
      b = this.bytes[this.next++];
      value += (b & 127) * scale;
      scale *= 128;
    } while (b & 128);
    return value;
  }

  signed() {
    const n = this.number();
    return n % 2 ? -(n + 1) / 2 : n / 2;
  }

  address() {
    let value = 0n, shift = 0n, b;
    do {
      b = this.bytes[this.next++];
      value |= BigInt(b & 127) << shift;
      shift += 7n;
    } while (b & 128);
    return value;
  }
}

// lastNotAfter is the last place of a sorted list that is not behind x, -1 without.
function lastNotAfter(list, x) {
  let from = 0, to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (list[middle] <= x) from = middle + 1; else to = middle;
  }
  return from - 1;
}

// Module is what the page knows of a module. A place is a number of bytes from the
// beginning of the axis; addresses are BigInt.
class Module {
  constructor(runs, functions, names) {
    this.readRuns(new Numbers(runs));
    this.readFunctions(new Numbers(functions));
    this.names = new TextDecoder().decode(names).split("\n");
  }

  readRuns(r) {
    const pieces = r.number();
    this.bases = Array.from({length: pieces}, () => r.address());
    this.sizes = Array.from({length: pieces}, () => r.number());
    this.pieceAt = [];
    this.end = 0;
    for (const size of this.sizes) { this.pieceAt.push(this.end); this.end += size; }
    const n = r.number();
    this.runAt = new Float64Array(n);
    this.runEnd = new Float64Array(n);
    for (let i = 0, at = 0; i < n; i++) {
      this.runAt[i] = at;
      at += r.number();
      this.runEnd[i] = at;
    }
    this.has = r.bytes.subarray(r.next, r.next + n);
    this.gaps = [];
    this.sums = {};
    for (const name in measures) {
      const measure = measures[name], sums = this.sums[name] = new Float64Array(n + 1);
      for (let i = 0; i < n; i++) sums[i + 1] = sums[i] + (measure(this.has[i]) ? this.runEnd[i] - this.runAt[i] : 0);
    }
    for (let i = 0; i < n; i++) if (lacks(this.has[i])) this.gaps.push(i);
  }

  readFunctions(r) {
    const n = this.functions = r.number();
    this.funcAt = new Float64Array(n);
    this.funcEnd = new Float64Array(n);
    this.funcLine = new Float64Array(n);
    const behind = Float64Array.from({length: n}, () => r.signed());
    for (let i = 0, end = 0; i < n; i++) {
      this.funcAt[i] = end + behind[i];
      end = this.funcEnd[i] = this.funcAt[i] + r.number();
    }
    for (let i = 0, line = 0; i < n; i++) this.funcLine[i] = line += r.signed();
  }

  // bytes is how much of a part of the axis is what a measure asks for.
  bytes(name, from, to) { return Math.max(0, this.sum(name, to) - this.sum(name, from)); }

  sum(name, x) {
    const i = lastNotAfter(this.runAt, x);
    if (i < 0) return 0;
    const inside = measures[name](this.has[i]) ? Math.min(x, this.runEnd[i]) - this.runAt[i] : 0;
    return this.sums[name][i] + inside;
  }

  // address is that of a place.
  address(x) {
    const i = Math.max(0, lastNotAfter(this.pieceAt, x));
    if (!this.bases.length) return 0n;
    return this.bases[i] + BigInt(Math.floor(Math.min(x - this.pieceAt[i], this.sizes[i])));
  }

  // endAddress is that behind the last byte of a part: not that of the next piece.
  endAddress(x) { return x > 0 ? this.address(Math.ceil(x) - 1) + 1n : this.address(x); }

  // place is that of an address; of one that is not on the axis, the next that is.
  place(address) {
    for (let i = 0; i < this.bases.length; i++) {
      if (address < this.bases[i]) return this.pieceAt[i];
      const inside = Number(address - this.bases[i]);
      if (inside <= this.sizes[i]) return this.pieceAt[i] + inside;
    }
    return this.end;
  }

  // holds reports whether an address is on the axis.
  holds(address) { return this.bases.some((base, i) => address >= base && Number(address - base) < this.sizes[i]); }

  // functionAt is the number of the function at a place, or of the public symbol
  // before it, -1 without one.
  functionAt(x) {
    const last = lastNotAfter(this.funcAt, x), maxBack = 64;
    if (last >= 0 && this.isPublic(last)) return last;
    for (let i = last; i >= 0 && i > last - maxBack; i--) if (this.funcEnd[i] > x) return i;
    return -1;
  }

  isPublic(i) { return this.funcEnd[i] === this.funcAt[i]; }

  // labelEnd is where what has this name ends: a public symbol at the next one.
  labelEnd(i) {
    if (!this.isPublic(i)) return this.funcEnd[i];
    return i + 1 < this.functions ? this.funcAt[i + 1] : this.end;
  }

  nameOf(i) { return (this.isPublic(i) ? "PUBLIC " : "") + (this.names[i] || "(name left out)"); }

  // gapsIn are the runs that lack something in a part of the axis.
  gapsIn(from, to) {
    const list = [];
    for (let i = this.firstGapEndingAfter(from); i < this.gaps.length && this.runAt[this.gaps[i]] < to; i++) list.push(this.gaps[i]);
    return list;
  }

  firstGapEndingAfter(x) {
    let from = 0, to = this.gaps.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.runEnd[this.gaps[middle]] <= x) from = middle + 1; else to = middle;
    }
    return from;
  }
}
