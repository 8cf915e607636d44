#!/usr/bin/env python3
"""Counts the modules of symtool walk's JSON Lines, as modules.csv has them.

It knows the lines only: a frame's module is the one whose base is the frame's
address less its offset.
"""
import collections, csv, json, re, sys

OTHER = re.compile(r"not used: (it|the file) has|(: build-id| id) \S+, want |: no folder \S+; there is [^n]")
TRUSTS = ["context", "cfi", "code", "cfi_scan", "frame_pointer", "scan"]


def trust_of(frame):
    """How a frame was found: rules derived from instructions have a column of their own."""
    return "code" if frame["symtool"]["technique"] == "code" else frame["trust"]


def key_of(frame, modules):
    if frame["module_offset"] is None:
        return None
    base = int(frame["offset"], 16) - int(frame["module_offset"], 16)
    at = modules.get(base)
    if at is None or len(at) != 1:
        sys.exit(f"module of a frame: {at}")
    return at[0]


def name_of(module):
    return (module["filename"] or "", module["debug_id"] or "") if module else ("", "")


def main():
    table = collections.defaultdict(collections.Counter)
    example, summary = {}, collections.Counter(schema=1)
    for line in sys.stdin:
        d = json.loads(line)
        summary["dumps"] += 1
        if d["status"] != "OK":
            summary["failed"] += 1
            continue
        summary["damaged" if d["symtool"]["problems"] else "ok"] += 1
        modules = collections.defaultdict(list)
        for m in d["modules"]:
            modules[int(m["base_addr"], 16)].append(m)
        seen, guessed, flags = set(), set(), collections.defaultdict(set)
        for t in d["threads"]:
            frames = t["frames"]
            summary["threads"] += 1
            summary["unclean"] += not t["symtool"]["clean"]
            for i, f in enumerate(frames):
                m = key_of(f, modules)
                k = name_of(m)
                seen.add(k)
                row = table[k]
                row["frames"] += 1
                summary["frames"] += 1
                row[trust_of(f)] += 1
                summary[trust_of(f)] += 1
                if m:
                    if m["missing_symbols"]:
                        flags[k].add("missing_symbols")
                    if m["corrupt_symbols"]:
                        flags[k].add("corrupt_symbols")
                    if any(OTHER.search(x) for x in m["symtool"]["tried"]):
                        flags[k].add("other_id")
                if i + 1 < len(frames):
                    trust = trust_of(frames[i + 1])
                    row["callers"] += 1
                    row["callers_" + trust] += 1
                    if trust in ("frame_pointer", "scan"):
                        guessed.add(k)
                elif not t["symtool"]["clean"]:
                    row["ends"] += 1
        for k in seen:
            table[k]["dumps"] += 1
            for flag in flags[k]:
                table[k][flag] += 1
        for k in guessed:
            example.setdefault(k, d["symtool"]["dump"])
    columns = ["dumps", "missing_symbols", "other_id", "corrupt_symbols", "frames", *TRUSTS,
               "callers", "callers_frame_pointer", "callers_scan", "ends"]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["module", "debug_id", *columns, "lacks_cfi", "example"])
    lacking = 0
    for k in sorted(table, key=lambda k: (k[0].encode(), k[1].encode())):
        row = table[k]
        bad = row["callers_frame_pointer"] + row["callers_scan"]
        lacking += bad > 0
        share = bad * 10000 // row["callers"] if row["callers"] else 0
        out.writerow([*k, *(row[c] for c in columns), f"{share // 10000}.{share % 10000:04d}", example.get(k, "")])
    summary["modules"], summary["lacking"] = len(table), lacking
    names = ["schema", "dumps", "ok", "damaged", "failed", "threads", "unclean", "modules", "lacking", "frames", *TRUSTS]
    print(json.dumps({n: summary[n] for n in names}, separators=(",", ":")))


main()
