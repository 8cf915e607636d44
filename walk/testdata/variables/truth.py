# Prints what gdb says about the variables of all frames, in the form of a truth.json.
import json
import struct

import gdb

ELEMENTS = 100  # of an array whose bytes are read
NUMBERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR)


def put(out, at, data):
    for i, b in enumerate(data):
        if 0 <= at + i < len(out):
            out[at + i] = b


def leaves(v, out, at):
    """Writes the bytes of the scalars of a value, ".." where gdb has none, to out at an offset."""
    t = v.type.strip_typedefs().unqualified()
    code, size = t.code, t.sizeof
    if code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        for f in t.fields():
            if getattr(f, "bitpos", None) is not None and not f.bitsize:  # not static, nor a virtual base
                leaves(v[f], out, at + f.bitpos // 8)
    elif code == gdb.TYPE_CODE_ARRAY:
        first, last = t.range()
        step = t.target().sizeof
        for i in range(first, min(last, first + ELEMENTS - 1) + 1):
            leaves(v[i], out, at + (i - first) * step)
    elif v.is_optimized_out:
        put(out, at, [".."] * size)
    elif code == gdb.TYPE_CODE_FLT and size in (4, 8):
        put(out, at, ["%02x" % b for b in struct.pack("<f" if size == 4 else "<d", float(v))])
    elif code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF) or code in NUMBERS:
        n = int(v if code in NUMBERS else v.referenced_value().address)
        put(out, at, ["%02x" % b for b in (n % (1 << (8 * size))).to_bytes(size, "little")])


def variable(sym, frame, depth, shadow):
    """Returns a variable. Its status is gdb_error if none of its bytes is read here, such as those of a long double."""
    r = {"name": sym.name, "type": str(sym.type), "kind": "param" if sym.is_argument else "local", "depth": depth, "shadow": shadow}
    try:
        v = sym.value(frame)
        out = ["__"] * v.type.sizeof
        leaves(v, out, 0)
        if not out or any(b not in ("..", "__") for b in out):
            r.update(status="value", bytes="".join(out), size=len(out))
        elif v.is_optimized_out or ".." in out:
            r.update(status="optimized_out")
        else:
            r.update(status="gdb_error")
    except gdb.MemoryError:
        r.update(status="unavailable")
    except (gdb.error, RuntimeError, OverflowError, ValueError):
        r.update(status="gdb_error")
    return r


def variables(frame):
    try:
        block = frame.block()
    except RuntimeError:  # no debug information
        return []
    found, seen, depth = [], {}, 0
    while block is not None and not block.is_global and not block.is_static:
        symbols = [s for s in block if s.is_variable or s.is_argument]
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
