package hostile

import (
	"fmt"
	"strings"
)

// hostileConfigs returns files that configure commands, and lists that commands
// read.
func hostileConfigs() (kinds []hostileKind) {
	small := func(int) []byte { return []byte(symLinux + symFile + "FUNC 1000 10 0 f\n1000 10 1 0\n") }
	add := func(name string, n int, data func(n int) string, commands ...string) {
		kinds = append(kinds, hostileKind{name: name, n: n, commands: commands, files: hostileFiles{
			"in":    func(n int) []byte { return []byte(data(n)) },
			"m.sym": small, "m.elf": func(int) []byte { return elfOf() }, "m.dmp": smallDump,
		}})
	}
	lines := func(format string) func(n int) string {
		return func(n int) string {
			return string(repeat(n, func(i int) []byte { return []byte(strings.ReplaceAll(format, "#", fmt.Sprint(i))) }))
		}
	}
	nested := func(before, open, inner, shut string) func(n int) string {
		return func(n int) string { return before + strings.Repeat(open, n) + inner + strings.Repeat(shut, n) }
	}
	more := func(name string, data func(n int) string) { // adds another file to the last kind
		kinds[len(kinds)-1].files[name] = func(n int) []byte { return []byte(data(n)) }
	}
	const lint = "lint --config in m.sym"
	add("toml-arrays", 50000, nested("select = ", "[", "", "]"), lint)
	add("toml-keys", 20000, nested("a", ".a", " = 1\n", ""), lint)
	add("toml-inline", 20000, nested("severity = ", "{a = ", "1", "}"), lint)
	add("toml-tables", 500, lines("[a#"+strings.Repeat(".a", 250)+"]\n"), lint)
	add("toml-suppressions", 2000, lines("[[suppress]]\nrule = \"SYM101\"\nfile = \"**/*a*a*a*a*b#\"\nreason = \"x\"\n"), lint)
	add("toml-globs", 2000, func(n int) string {
		return "[[suppress]]\nrule = \"SYM101\"\nfile = \"" + strings.Repeat("**/", n) + "x\"\nreason = \"x\"\n[[suppress]]\nfunction = \"" + strings.Repeat("*a", n) + "\"\nreason = \"x\"\n"
	}, lint)
	add("baseline", 50000, lines("{\"x\":#}\n"), "lint --baseline in m.sym")
	const since = "dump --store out --since-index in m.elf"
	add("index", 50000, lines("a/0000000000000000000000000000#\n"), since)
	add("index-nested", 100000, nested("{\"modules\":", "[", "", "]"), since)
	const missing = "store ls --missing in store"
	add("missing", 10000, lines("m#/000000000000000000000000000000#\n"), "store add store m.sym", missing)
	add("missing-folders", 200000, nested("", "a/", "000000000000000000000000000000001\n", ""), "store add store m.sym", missing)
	const mapped = "dump -o out.sym --map-file in m.elf"
	add("map-rules", 2000, lines("(.*)a(.*)#=x{1}\n"), mapped)
	add("map-rules-with-counts", 200, lines("(.*)a{1,900}(.*)#=x{1}\n"), mapped)
	add("manifest", 50000, func(n int) string { return "5\n" + lines("1\x1fa#\x1f/b#\n")(n) }, "dump -o out.sym --map a=b --map-manifest in,/x m.elf")
	add("map-nested", 100000, nested("{\"a\":", "[", "", "]"), mapped)
	add("signature-rules", 2000, lines("skip (a*)*b#\n"), "walk --summary --signature-rules in m.dmp")
	add("walk-nested", 100000, nested("{\"threads\":", "[", "", "]"), "walk --compare in in")
	add("walk-objects", 100000, nested("", "{\"a\":", "1", "}"), "walk --compare in in")
	add("walk-frames", 5000, func(n int) string {
		frames := lines("{\"frame\":#,\"module\":\"m\",\"offset\":\"0x1\",\"function\":\"f#\",\"trust\":\"cfi\"},")(n)
		return "{\"status\":\"OK\",\"threads\":[{\"frames\":[" + strings.TrimSuffix(frames, ",") + "]}]}"
	}, "walk --compare in in")
	add("walk-threads", 5000, func(n int) string {
		threads := lines("{\"thread_id\":#,\"frames\":[{\"frame\":0,\"function\":\"f#\"}]},")(n)
		return "{\"status\":\"OK\",\"threads\":[" + strings.TrimSuffix(threads, ",") + "]}"
	}, "walk --compare in in")
	const ( // two walks that differ: by their functions, and by the order of threads
		walked   = "{\"status\":\"OK\",\"threads\":["
		compared = "walk --compare in other"
	)
	frames := func(function func(i int) int) func(n int) string {
		return func(n int) string {
			var w strings.Builder
			for i := range n {
				fmt.Fprintf(&w, ",{\"frame\":%d,\"module\":\"m\",\"offset\":\"0x1\",\"function\":\"f%d\",\"trust\":\"cfi\"}", i, function(i))
			}
			return walked + "{\"frames\":[" + w.String()[1:] + "]}]}"
		}
	}
	threads := func(id func(i, n int) int) func(n int) string {
		return func(n int) string {
			var w strings.Builder
			for i := range n {
				fmt.Fprintf(&w, ",{\"thread_id\":%d,\"frames\":[{\"frame\":0,\"function\":\"f%d\"}]}", id(i, n), i)
			}
			return walked + w.String()[1:] + "]}"
		}
	}
	add("walk-other-frames", 5000, frames(func(i int) int { return i }), compared, "walk --compare --format json in other")
	more("other", frames(func(i int) int { return -i % 97 }))
	add("walk-other-threads", 5000, threads(func(i, _ int) int { return i }), compared, "walk --compare --format json in other")
	more("other", threads(func(i, n int) int { return n - i }))
	add("walk-digits", 200000, nested("{\"pid\":", "9", ",\"threads\":[]}", ""), "walk --compare in in")
	add("walk-escapes", 100000, nested("{\"status\":\"", "\\ud800", "\"}", ""), "walk --compare in in")
	convert := []string{"convert --from json --to breakpad -o out.sym in", "doctor in"}
	const module = "{\"module\":{\"os\":\"Linux\",\"arch\":\"x86_64\",\"id\":\"" + smallDumpID + "\",\"name\":\"m\"},"
	add("json-nested", 100000, nested("{\"module\":", "[", "", "]"), convert...)
	add("json-unknown", 50000, func(n int) string { return module + lines("\"x#\":1,")(n) + "\"y\":1}" }, convert...)
	add("json-digits", 100000, nested(module+"\"functions\":[{\"address\":", "1", "}]}", ""), convert...)
	return kinds
}
