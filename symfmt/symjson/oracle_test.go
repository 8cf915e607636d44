package symjson

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// countLines is a jq program that counts the records of each kind in JSON Lines.
const countLines = `reduce inputs as $r ({};
  .[$r.kind] += 1
  | if $r.kind == "func" then .inline += ($r.inlines | length) | .line += ($r.lines | length)
    elif $r.kind == "stack_cfi" then .row += ($r.rows | length) else . end)
  | [.module, .info, .file, .inline_origin, .func, .inline, .line, .public, .stack_win, .stack_cfi, .row] | map(. // 0) | join(" ")`

// countDocument is the same for a document.
const countDocument = `[1, (.infos, .files, .inline_origins, .funcs | length), ([.funcs[].inlines | length] | add), ([.funcs[].lines | length] | add),
  (.publics, .stack_wins, .stack_cfis | length), ([.stack_cfis[].rows | length] | add)] | map(. // 0) | join(" ")`

// records counts the records of a symbol file by the words that lines begin with.
func records(text []byte) string {
	words := []string{"MODULE ", "INFO ", "FILE ", "INLINE_ORIGIN ", "FUNC ", "INLINE ", "", "PUBLIC ", "STACK WIN ", "STACK CFI INIT ", "STACK CFI "}
	counts := make([]int, len(words))
	const lineRecord = 6
next:
	for line := range strings.Lines(string(text)) {
		for i, word := range words {
			if i != lineRecord && strings.HasPrefix(line, word) {
				counts[i]++
				continue next
			}
		}
		counts[lineRecord]++
	}
	var out []string
	for _, n := range counts {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, " ")
}

// toText is a Python program that makes a symbol file from either form.
const toText = `
import base64, json, sys
def number(v): return "%x" % (int(v, 16) if isinstance(v, str) else v)
def text(o, key):
    return base64.b64decode(o[key + "_base64"]) if key + "_base64" in o else o[key].encode()
out = sys.stdout.buffer
def put(*fields):
    out.write(b" ".join(f if isinstance(f, bytes) else str(f).encode() for f in fields) + b"\n")
def put_record(kind, o):
    if kind == "module": put("MODULE", text(o, "os"), text(o, "arch"), text(o, "id"), text(o, "name"))
    elif kind == "info": put("INFO", text(o, "key"), *([text(o, "value")] if o["value"] else []))
    elif kind == "file": put("FILE", o["number"], text(o, "name"))
    elif kind == "inline_origin": put("INLINE_ORIGIN", o["number"], *([o["file"]] if "file" in o else []), text(o, "name"))
    elif kind == "func":
        put("FUNC", *(["m"] if o["multiple"] else []), number(o["rva"]), number(o["size"]), number(o["param_size"]), text(o, "name"))
        for i in o["inlines"]:
            put("INLINE", i["depth"], i["call_line"], *([] if i["call_file"] is None else [i["call_file"]]), i["origin"],
                *[number(n) for r in i["ranges"] for n in r])
        for rva, size, line, file in o["lines"]: put(number(rva), number(size), line, file)
    elif kind == "public": put("PUBLIC", *(["m"] if o["multiple"] else []), number(o["rva"]), number(o["param_size"]), text(o, "name"))
    elif kind == "stack_win":
        sizes = ["rva", "size", "prologue_size", "epilogue_size", "param_size", "saved_register_size", "local_size", "max_stack_size"]
        program = "program" in o
        put("STACK WIN", number(o["type"]), *[number(o[s]) for s in sizes], int(program), text(o, "program") if program else int(o["allocates_base_pointer"]))
    elif kind == "stack_cfi":
        put("STACK CFI INIT", number(o["rva"]), number(o["size"]), text(o, "init"))
        for row in o["rows"]: put("STACK CFI", number(row[0]), base64.b64decode(row[2]) if len(row) > 2 else row[1].encode())
    else: raise Exception(kind)
if sys.argv[1] == "lines":
    for line in sys.stdin.buffer:
        o = json.loads(line)
        put_record(o["kind"], o)
else:
    d = json.load(sys.stdin)
    put_record("module", d["module"])
    for key in ["infos", "files", "inline_origins", "funcs", "publics", "stack_wins", "stack_cfis"]:
        for o in d[key]: put_record(key[:-1], o)
`

func run(t *testing.T, stdin []byte, program string, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", filepath.Base(program), err, stderr.Bytes())
	}
	return stdout.Bytes()
}

// sample is the interval of compared symbol files in short runs: each takes six
// programs.
const sample = 24

// jq counts as many records as the symbol file has; Python's json turns it back
// into the symbol file, byte for byte.
func TestOracle(t *testing.T) {
	testenv.Oracle(t)
	jq, python := testenv.Tool(t, "jq"), testenv.Tool(t, "python3")
	n, lines := 0, 0
	compare := func(name string, data []byte) {
		result, err := symfmt.Read(context.Background(), bytes.NewReader(data), symfmt.ReadOptions{Tolerant: true})
		if err != nil {
			return // reported by TestRoundTripFiles
		}
		m := result.Module
		m = symtest.Module(t, breakpad(t, m)) // in canonical order
		want := breakpad(t, m)
		n, lines = n+1, lines+bytes.Count(want, []byte("\n"))
		jsonl, doc := write(t, m, Options{Lines: true, Names: true}), write(t, m, Options{Indent: true})
		if got := strings.TrimSpace(string(run(t, jsonl, jq, "-nr", countLines))); got != records(want) {
			t.Errorf("%s: jq counts %s in JSON Lines, want %s", name, got, records(want))
		}
		if got := strings.TrimSpace(string(run(t, doc, jq, "-r", countDocument))); got != records(want) {
			t.Errorf("%s: jq counts %s in the document, want %s", name, got, records(want))
		}
		if got := run(t, jsonl, python, "-c", toText, "lines"); !bytes.Equal(got, want) {
			t.Errorf("%s: Python's symbol file from JSON Lines differs", name)
		}
		if got := run(t, doc, python, "-c", toText, "document"); !bytes.Equal(got, want) {
			t.Errorf("%s: Python's symbol file from the document differs", name)
		}
		if again := run(t, jsonl, jq, "."); !mustRead(t, again).Equal(m) {
			t.Errorf("%s: JSON Lines written by jq give a different module", name)
		}
		if again := run(t, doc, jq, "-cS", "."); !mustRead(t, again).Equal(m) {
			t.Errorf("%s: the document written by jq gives a different module", name)
		}
	}
	i := 0
	symbolFiles(t, func(name string, data []byte) {
		if i++; i%sample == 0 || testenv.OracleFull() {
			compare(name, data)
		}
	})
	compare("numbers of 64 bits", []byte("MODULE Linux x86_64 0 x\nFILE 4294967295 f\nFUNC m ffffffffffffff00 ff 20000000000001 g\n"+
		"ffffffffffffff00 20000000000001 4294967295 4294967295\nSTACK CFI INIT ffffffffffffff00 ff .cfa: $rsp 8 +\nSTACK CFI ffffffffffffff01 .cfa: $rsp 16 +\n"))
	if n < 100/sample {
		t.Errorf("%d symbol files, want %d or more", n, 100/sample)
	}
	t.Logf("%d symbol files, %d records, in 2 forms", n, lines)
}

// The large file that SYMTOOL_BENCH_SYM names survives a round trip in each form,
// and jq and Python find the same in its JSON Lines.
func TestOracleLarge(t *testing.T) {
	testenv.Oracle(t)
	path := os.Getenv("SYMTOOL_BENCH_SYM")
	if path == "" {
		t.Skip("SYMTOOL_BENCH_SYM names no symbol file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := symtest.Module(t, data)
	want := breakpad(t, m)
	for _, f := range forms {
		got := mustRead(t, write(t, m, f.o))
		if !got.Equal(m) || !bytes.Equal(breakpad(t, got), want) {
			t.Errorf("%s: another module", f.name)
		}
	}
	jsonl := write(t, m, Options{Lines: true})
	if got := strings.TrimSpace(string(run(t, jsonl, testenv.Tool(t, "jq"), "-nr", countLines))); got != records(want) {
		t.Errorf("jq counts %s, want %s", got, records(want))
	}
	if got := run(t, jsonl, testenv.Tool(t, "python3"), "-c", toText, "lines"); !bytes.Equal(got, want) {
		t.Error("Python's symbol file differs")
	}
	t.Logf("%d bytes of text, %d of JSON Lines; records: %s", len(want), len(jsonl), records(want))
}
