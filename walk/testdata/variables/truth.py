# Prints what gdb says about the variables of all frames, in the form of a truth.json.
import json
import re

import gdb

ELEMENTS = 100  # of an array that are read
MEMBERS = 300  # of a variable that are listed
NUMBERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR)
CONSTANTS = (gdb.SYMBOL_LOC_CONST, gdb.SYMBOL_LOC_CONST_BYTES)  # which are no variables for gdb
REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)


def put(out, at, data):
    for i, b in enumerate(data):
        if 0 <= at + i < len(out):
            out[at + i] = b


def number(n, size):
    return ["%02x" % b for b in (n % (1 << (8 * size))).to_bytes(size, "little")]


def scalar(v, t):
    """Returns the bytes of a scalar, or None if gdb does not show them."""
    if v.is_optimized_out:
        return [".."] * t.sizeof
    if t.code in NUMBERS:
        return number(int(v), t.sizeof)
    if t.code in REFERENCES:
        to = v.referenced_value().address  # none of what is in no memory
        return None if to is None else number(int(to), t.sizeof)
    if t.code == gdb.TYPE_CODE_FLT:
        bits = re.fullmatch("0x([0-9a-f]+)", v.format_string(format="z"))
        return number(int(bits[1], 16), t.sizeof) if bits else None
    return None


def leaves(v, out, at, path, members):
    """Writes the bytes of the scalars of a value to out at an offset, and lists them."""
    t = v.type.strip_typedefs().unqualified()
    if t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        for f in t.fields():
            if getattr(f, "bitpos", None) is None or f.artificial and not f.name:  # static, or a virtual base
                continue
            name = path + ("." if path else "") + ("::" + f.type.name if f.is_base_class else f.name or "<anonymous>")
            if f.bitsize:
                if not v[f].is_optimized_out:
                    size = f.type.sizeof
                    members.append({
                        "path": name, "offset": at + f.bitpos // 8, "bit_offset": 8 * at + f.bitpos, "bit_size": f.bitsize,
                        "status": "value", "bytes": "".join(number(int(v[f]), size)),
                    })
            else:
                leaves(v[f], out, at + f.bitpos // 8, name, members)
    elif t.code == gdb.TYPE_CODE_ARRAY:
        first, last = t.range()
        if not t.sizeof:  # a bound is optimized out: gdb's range has one element
            return
        step = t.target().sizeof
        for i in range(first, min(last, first + ELEMENTS - 1) + 1):
            leaves(v[i], out, at + (i - first) * step, "%s[%d]" % (path, i), members)
    else:
        data = scalar(v, t)
        if data:
            put(out, at, data)
        if data and path and ".." not in data and len(members) < MEMBERS:
            members.append({"path": path, "offset": at, "status": "value", "bytes": "".join(data)})


def variable(sym, frame, depth, shadow):
    """Returns a variable. Its status is gdb_error if none of its bytes is read here, such as those of a complex number."""
    r = {"name": sym.name, "type": str(sym.type), "kind": "param" if sym.is_argument else "local", "depth": depth, "shadow": shadow}
    if sym.addr_class == gdb.SYMBOL_LOC_OPTIMIZED_OUT:  # of some types gdb then reads a discriminant at 0
        r.update(status="optimized_out")
        return r
    try:
        v = sym.value(frame)
        out, members = ["__"] * v.type.sizeof, []
        leaves(v, out, 0, "", members)
        if v.type.code not in REFERENCES and v.address is not None and ".." not in out and len(out) < 1 << 20:
            out = ["%02x" % ord(b) for b in gdb.selected_inferior().read_memory(int(v.address), v.type.sizeof)]
        if not out or any(b not in ("..", "__") for b in out):
            r.update(status="value", bytes="".join(out), size=len(out), members=members)
        elif v.is_optimized_out or ".." in out:
            r.update(status="optimized_out")
        else:
            r.update(status="gdb_error")
    except gdb.MemoryError:
        r.update(status="unavailable")
    except (gdb.error, RuntimeError, OverflowError, ValueError) as e:
        r.update(status="gdb_error", error=str(e))
    return r


def variables(frame):
    try:
        block = frame.block()
    except RuntimeError:  # no debug information
        return []
    found, seen, depth = [], {}, 0
    while block is not None and not block.is_global and not block.is_static:
        symbols = [s for s in block if s.is_variable or s.is_argument or s.addr_class in CONSTANTS]
        found += [variable(s, frame, depth, seen.get(s.name, 0)) for s in symbols]
        for s in symbols:
            seen[s.name] = seen.get(s.name, 0) + 1
        if block.function is not None:
            break
        block, depth = block.superblock, depth + 1
    return found


threads = []
crashed = gdb.selected_thread()  # comes first
for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: (t.num != crashed.num, t.num)):
    thread.switch()
    frames, f = [], gdb.newest_frame()
    # Behind an address without a name and a library gdb goes on by guessing, as from Go's mcall, which has left its stack.
    while f is not None and (f.name() or gdb.solib_name(f.pc())):
        frames.append({
            "function": f.name() or "", "pc": hex(f.pc()), "inline": f.type() == gdb.INLINE_FRAME,
            "tailcall": f.type() == gdb.TAILCALL_FRAME, "variables": variables(f),
        })
        f = f.older()
    threads.append({"id": thread.ptid[1], "frames": frames})
print("TRUTH " + json.dumps({"threads": threads}))
