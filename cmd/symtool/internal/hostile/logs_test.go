package hostile

import (
	"bytes"
	"fmt"
	"strings"
)

// Places that logs may contain, and the file that they are in.
const (
	logELF    = "m.elf+0x1001"
	logMapped = "{{{module:0:m.elf:elf:00}}}\n{{{mmap:0x401000:0x1000:load:0:rx:0x0}}}\n"
	logEvent  = "x 1 [000] 1.0: PERF_RECORD_MMAP2 1/1: [%#x(%#x) @ 0 08:01 1 1]: r-xp /bin/%s\n"
	logIPS    = "{\"app_name\":\"x\",\"bug_type\":\"309\"}\n"
)

// logLines are lines that contain a piece n times.
var logLines = map[string]struct {
	n                   int
	before, piece, last string
}{
	"places":          {n: 20000, piece: logELF + " "},
	"unknown-modules": {n: 40000, piece: "a+0xa "},
	"offsets":         {n: 100000, piece: "+0x"},
	"parentheses":     {n: 200000, piece: "("},
	"brackets":        {n: 200000, piece: "["},
	"braces":          {n: 200000, piece: "{{{"},
	"backtraces":      {n: 20000, piece: "{{{bt:0:0x401156:pc"},
	"markup":          {n: 20000, piece: "{{{pc:0x401156}}}"},
	"gdb":             {n: 40000, piece: "#0 0x1 in "},
	"digits":          {n: 400000, before: "#0 0x", piece: "1"},
	"android":         {n: 20000, piece: "#00 pc 0000000000001136 "},
	"spaces":          {n: 400000, before: "#00 pc 1136", piece: " ", last: "x"},
	"folders":         {n: 200000, piece: "/a", last: "+0x10"},
	"kernel":          {n: 20000, piece: "[<ffffffff81000000>] "},
	"kernel-symbols":  {n: 20000, piece: "do_x+0x1/0x2 [mod] "},
	"kernel-modules":  {n: 80000, before: "Modules linked in: ", piece: "m ", last: "\n do_x+0x1/0x2 [m1]"},
	"build-ids":       {n: 20000, piece: "(" + logELF + ") (BuildId: "},
	"module-lists":    {n: 20000, piece: "Module a with build-id "},
	"functions":       {n: 200000, piece: "a(", last: "+0x1)"},
	"modules":         {n: 200000, piece: "a!", last: "b+0x1"},
	"scopes":          {n: 100000, before: "m.elf!", piece: "a::", last: "b+0x1"},
	"quotes":          {n: 40000, piece: "Binary file \""},
	"zeros":           {n: 400000, piece: "\x00"},
	"bytes":           {n: 80000, piece: "\xff\xfe+0x1"},
	"faults":          {n: 8000, piece: "x[1]: segfault at 0 ip 0000000000401156 sp 0000 error 4 in m.elf[400000+1000]"},
	"returns":         {n: 20000, piece: logELF + "\r"},
	"lines":           {n: 20000, piece: logELF + "\n"},
	"same-module":     {n: 20000, piece: "{{{module:0:m.elf:elf:00}}}\n"},
	"resets":          {n: 8000, piece: "{{{reset}}}\n" + logMapped + "{{{bt:0:0x401156}}}\n"},
	"ips-arrays":      {n: 100000, before: logIPS + "{\"threads\":", piece: "["},
	"ips-objects":     {n: 50000, before: logIPS, piece: "{\"a\":", last: "1"},
	"ips-keys":        {n: 50000, before: logIPS + "{", piece: "\"threads\":[],", last: "\"a\":1}"},
	"ips-behind-it":   {n: 100000, before: logIPS + "{\"usedImages\":[],\"threads\":[]}\n", piece: "x\n"},
	"ips-of-one-line": {n: 100000, before: "{\"app_name\":\"", piece: "xxxx", last: "\",\"bug_type\":\"309\"}\n{}"},
}

// logRecords are logs that list modules or mappings, followed by places in them.
var logRecords = map[string]struct {
	n             int
	mapped, place func(i, n int) string
}{
	"perf-over-each-other": {20000, func(i, n int) string { return fmt.Sprintf(logEvent, 0x400000+i, 2*n-i, "m.elf") },
		func(int, int) string { return "\t401156 crash+0x1 (/bin/m.elf)\n" }},
	"perf-processes": {2500, func(i, _ int) string {
		return strings.ReplaceAll(fmt.Sprintf(logEvent, 0x400000, 0x1000, "m.elf"), " 1/1:", fmt.Sprintf(" %d/%[1]d:", i))
	},
		func(i, _ int) string { return fmt.Sprintf("x %d 1.0: cycles:\n\t401156 crash+0x1 (/bin/m.elf)\n\n", i) }},
	"perf-names": {2500, func(i, _ int) string { return fmt.Sprintf(logEvent, 0x400000+0x1000*i, 0x1000, fmt.Sprint("m", i)) },
		func(i, _ int) string { return fmt.Sprintf("\t%x [unknown] (/bin/m%d)\n", 0x400100+0x1000*i, i) }},
	"markup-modules": {5000, func(i, n int) string {
		return fmt.Sprintf("{{{module:%d:m.elf:elf:00}}}\n{{{mmap:%#x:%#x:load:%d:rx:0x0}}}\n", i, 0x400000+i, 2*n-i, i)
	}, func(int, int) string { return "{{{pc:0x401156}}}\n" }},
	"coredump-modules": {2500, func(i, _ int) string { return fmt.Sprintf("Module m%d with build-id %040x\n", i, i) },
		func(i, _ int) string { return fmt.Sprintf("#0  0x000000401156 n/a (m%d + 0x1)\n", i) }},
	"images-over-each-other": {5000, func(i, n int) string {
		return "Binary Images:\n"[min(i, 1)*15:] + fmt.Sprintf("0x%x - 0x%x m%d <00000000-0000-0000-0000-%012x> /m%d\n", i, n*2-i, i, i, i)
	}, func(i, _ int) string { return fmt.Sprintf("%d m%d 0x0000000000001 0x1 + 5\n", i, i) }},
}

// ipsOf returns a macOS crash report with n images, and n frames of one thread.
func ipsOf(n int, image, frame func(i int) string) []byte {
	list := func(one func(i int) string) []byte {
		return bytes.TrimSuffix(repeat(n, func(i int) []byte { return []byte(one(i) + ",") }), []byte(","))
	}
	return fmt.Appendf(nil, "%s{\"usedImages\":[%s],\"threads\":[{\"frames\":[%s]}]}\n", logIPS, list(image), list(frame))
}

// hostileLogs returns logs in which resolve finds places, and lists of addresses.
func hostileLogs() (kinds []hostileKind) {
	elf := func(int) []byte { return elfOf() }
	add := func(name string, n int, log func(n int) []byte, commands ...string) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.log": log, "m.elf": elf}, commands: commands})
	}
	const filter = "resolve --filter --no-debuginfod --binaries m.elf < m.log"
	for name, l := range logLines {
		add(name, l.n, func(n int) []byte { return []byte(l.before + strings.Repeat(l.piece, n) + l.last + "\n") }, filter)
	}
	for name, r := range logRecords {
		add(name, r.n, func(n int) []byte {
			list := func(f func(i, n int) string) []byte { return repeat(n, func(i int) []byte { return []byte(f(i, n)) }) }
			return append(list(r.mapped), list(r.place)...)
		}, filter)
		if strings.HasPrefix(name, "images") {
			add(name+"-later", r.n, func(n int) []byte {
				list := func(f func(i, n int) string) []byte { return repeat(n, func(i int) []byte { return []byte(f(i, n)) }) }
				return append(list(r.place), list(r.mapped)...)
			}, filter)
		}
	}
	image := func(i int) string {
		return fmt.Sprintf(`{"uuid":"00000000-0000-0000-0000-%012x","base":%d,"size":100000,"name":"m%[2]d","path":"/m%[2]d","arch":"arm64"}`, i, i)
	}
	add("ips-images", 5000, func(n int) []byte {
		return ipsOf(n, image, func(i int) string { return fmt.Sprintf(`{"imageOffset":1,"imageIndex":%d}`, i) })
	}, filter)
	add("ips-images-that-are-missing", 5000, func(n int) []byte {
		return ipsOf(n, image, func(i int) string {
			return fmt.Sprintf(`{"imageOffset":%d,"imageIndex":%d}`, uint64(1)<<63+uint64(i), 1<<62)
		})
	}, filter)
	for name, line := range map[string]func(i int) string{
		"modules": func(i int) string { return fmt.Sprintf("m%d+1\n", i) },
		"quoted":  func(i int) string { return fmt.Sprintf("CODE \"m%d\" 0x1\n", i) },
	} {
		add("addresses-of-"+name, 20000, func(n int) []byte { return repeat(n, func(i int) []byte { return []byte(line(i)) }) },
			"resolve --no-debuginfod --binaries m.elf < m.log", "as llvm-symbolizer < m.log", "as addr2line -f -i -e m.elf < m.log")
	}
	mapped := func(name string, n int, address string, line func(i, n int) string) {
		add("mapped-"+name, n, func(n int) []byte { return []byte(strings.Repeat(address+"\n", n)) },
			"resolve --filter --no-debuginfod --binaries m.elf --maps maps < m.log")
		kinds[len(kinds)-1].files["maps"] = func(n int) []byte { return repeat(n, func(i int) []byte { return []byte(line(i, n)) }) }
	}
	mapped("over-each-other", 8000, "0x401156", func(i, n int) string {
		return fmt.Sprintf("%x-%x r-xp 00000000 08:01 1 /bin/m%d\n", 0x400000+i, 0x500000+4*n-i, i)
	})
	mapped("one-after-the-other", 8000, "401156", func(i, _ int) string {
		return fmt.Sprintf("%x-%x r-xp 00000000 08:01 1 /bin/m%d\n", 0x400000+16*i, 0x400010+16*i, i)
	})
	mapped("long-names", 400, "401156", func(i, _ int) string {
		return fmt.Sprintf("%x-%x r-xp 00000000 08:01 1 /bin/%s\n", 0x400000+16*i, 0x400010+16*i, strings.Repeat("x", 4000))
	})
	add("addresses-of-one-line", 2000000, func(n int) []byte { return []byte(strings.Repeat("1", n)) },
		"resolve --no-debuginfod --binaries m.elf < m.log", "as llvm-symbolizer < m.log", "as addr2line -f -i -e m.elf < m.log")
	return kinds
}
