package symjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// show prints what was kept: names of FILEs, FUNCs with their records, rows.
func show(m *symfmt.Module) string {
	var b strings.Builder
	b.WriteString(m.Name)
	for _, f := range m.Files {
		b.WriteString(" " + f.Name)
	}
	for i := range m.Funcs {
		inlines, lines := m.Funcs[i].Body.Counts()
		fmt.Fprintf(&b, " %s/%d/%d", m.Funcs[i].Name, inlines, lines)
	}
	for _, c := range m.CFI.Blocks {
		fmt.Fprintf(&b, " %x:%d", c.RVA, c.Count)
	}
	return b.String()
}

const (
	module   = `{"kind":"module","format":"symtool-symbols","version":1,"os":"o","arch":"a","id":"1","name":"M"}` + "\n"
	fileA    = `{"kind":"file","number":0,"name":"a"}` + "\n"
	fileB    = `{"kind":"file","number":1,"name":"b"}` + "\n"
	funcF    = `{"kind":"func","rva":1,"size":2,"name":"f","inlines":[],"lines":[[1,2,3,0]]}` + "\n"
	document = `{"format":"symtool-symbols","version":1,"module":{"os":"o","arch":"a","id":"1","name":"M"}`
)

// Damage costs the part around it.
func TestReadDamage(t *testing.T) {
	for _, c := range []struct {
		name, data, kept string
		problems         []string
	}{
		{"not JSON in a line", module + fileA + "garbage\n" + fileB, "M a b",
			[]string{"x:3:1: .: not JSON: invalid character 'g' at start of value (lost: record)"}},
		{"a line cut off", module + fileA + `{"kind":"func","rva":1,"size":2,"name":"g","lines":[[1,2` + "\n" + funcF, "M a f/0/1",
			[]string{"x:3:57: .lines[0]: the record ends in the middle (lost: record of the kind func)"}},
		{"a first line cut off", module[:60] + "\n" + fileA + fileB, " a b",
			[]string{"x:1:61: .os: the record ends in the middle (lost: record of the kind module)"}},
		{"the file cut off", module + funcF + funcF[:30], "M f/0/1",
			[]string{"x:3:31: .size: the record ends in the middle (lost: record of the kind func)"}},
		{"bytes in the middle", module + strings.Replace(fileA, `"a"`, "\"\xff\"", 1) + fileB, "M b",
			[]string{"x:2:35: .name: not JSON: invalid UTF-8 (lost: record of the kind file)"}},
		{"no module", fileA + fileB, " a b", []string{"x:2:38: .: no module in the file"}},
		{"two modules", module + fileA + module + fileB, "M a b", []string{"x:3:97: .: a second module (lost: record of the kind module)"}},
		{"a module that says nothing", `{"kind":"module","os":"o","arch":"a","id":"1","name":"M"}` + "\n", "M",
			[]string{`x:1:58: .: no "format" in the file, want "symtool-symbols"`}},
		{"a module without a version", `{"kind":"module","format":"symtool-symbols","os":"o","arch":"a","id":"1","name":"M"}` + "\n", "M",
			[]string{`x:1:85: .: no "version" in the file: read as version 1`}},
		{"a version that was none", strings.Replace(module, `"version":1`, `"version":0`, 1) + fileA, " a",
			[]string{`x:1:56: .version: found 0, want a version from 1 to 1 (lost: record of the kind module)`}},
		{"unknown kind", module + `{"kind":"checksum","md5":"x"}` + "\n" + fileA, "M a",
			[]string{`x:2:2: .: unknown kind "checksum": want one of [module info file inline_origin func public stack_win stack_cfi var] (lost: record)`}},
		{"no kind", module + `{"number":1,"name":"x"}` + "\n" + fileA, "M a", []string{`x:2:24: .: "kind" is missing (lost: record)`}},
		{"no object", module + "[1]\n7\n" + fileA, "M a",
			[]string{"x:2:4: .: found a list, want an object (lost: record)", "x:3:2: .: found 7, want an object (lost: record)"}},
		{"a field twice", module + `{"kind":"file","number":1,"number":2,"name":"x"}` + "\n" + fileA, "M a",
			[]string{`x:2:37: .number: the field occurs twice (lost: record of the kind file)`}},
		{"a kind twice", module + `{"kind":"file","kind":"file","number":2,"name":"x"}` + "\n" + fileA, "M a",
			[]string{`x:2:29: .kind: the field occurs twice (lost: record of the kind file)`}},
		{"unknown fields", module + strings.Repeat(`{"kind":"file","number":1,"name":"x","md5":"y"}`+"\n", 3) + `{"kind":"info","key":"k","value":"v","md5":""}`, "M x x x",
			[]string{"x:2:47: .md5: unknown field, which version 1 of the format does not have (3 times) (lost: the field)",
				"x:5:46: .md5: unknown field, which version 1 of the format does not have (lost: the field)"}},
		{"an unknown field with control characters", module + `{"kind":"file","number":1,"name":"x","\u001b\u202e":"y"}` + "\n", "M x",
			[]string{`x:2:56: .["\x1b\u202e"]: unknown field, which version 1 of the format does not have (lost: the field)`}},
		{"a value with control characters", module + `{"kind":"file","number":"` + "\u202e" + `","name":"x"}` + "\n", "M",
			[]string{`x:2:30: .number: found "\u202e", want a number of 0 or more (lost: record of the kind file)`}},
		{"bytes of another string", module + `{"kind":"file","number":1,"name":"x","name_base64":"eQ=="}` + "\n", "M y",
			[]string{`x:2:59: .: the bytes "y" differ from the string "x" beside them: the bytes count`}},
		{"a record over lines", module + "{\n  \"kind\": \"file\",\n  \"number\": 1.5,\n  \"name\": \"x\"\n}\n" + fileA, "M a",
			[]string{`x:4:16: .number: found 1.5, want a number of 0 or more, or "0x" and hexadecimal digits (lost: record of the kind file)`}},
		{"rows of a lost block", module + `{"kind":"stack_cfi","rva":1,"size":9,"rows":[[1,"a"],[2,"b"]]}` + "\n" + `{"kind":"stack_cfi","rva":16,"size":9,"init":"i","rows":[[17,"c"]]}` + "\n", "M 10:1",
			[]string{`x:2:63: .: "init" is missing (lost: record of the kind stack_cfi)`}},
		{"a FUNC behind a lost one", module + `{"kind":"func","rva":1,"lines":[[1,2,3,0]],"name":"g"}` + "\n" + `{"kind":"func","rva":1,"size":2,"name":"h"}` + "\n", "M h/0/0",
			[]string{`x:2:55: .: "size" is missing (lost: record of the kind func)`}},

		{"a document cut off", document + `,"files":[{"number":0,"name":"a"},` + "\n" + `{"number":1,"na`, "M a",
			[]string{"x:2:16: .files[1]: the document ends in the middle (lost: the rest of the document)"}},
		{"not JSON in a document", document + `,"files":[{"number":0,"name":"a"},` + "\n" + `{number:1}],"funcs":[]}`, "M a",
			[]string{"x:2:4: .files[1]: not JSON: invalid character 'm' in literal null (expecting 'l') (lost: the rest of the document)"}},
		{"a bad record", document + `,"files":[{"number":0,"name":"a"},7,` + "\n" + `{"number":1,"name":"b"}]}`, "M a b",
			[]string{"x:1:126: .files[1]: found 7, want an object (lost: record of the kind file)"}},
		{"a bad module", `{"format":"symtool-symbols","version":1,"module":{"os":7,"arch":"a","id":"1","name":"M"},"files":[{"number":0,"name":"a"}]}`, " a",
			[]string{"x:1:57: .module.os: found 7, want a string (lost: the module)"}},
		{"a bad list", document + `,"files":{"number":0},"funcs":[{"rva":1,"size":2,"name":"f"}]}`, "M f/0/0",
			[]string{"x:1:112: .files: found an object, want a list (lost: the files)"}},
		{"a list twice", document + `,"files":[],"files":[{"number":0,"name":"a"}]}`, "M",
			[]string{`x:1:136: .files: "files" occurs twice: the second is ignored (lost: the files)`}},
		{"unknown list", document + `,"checksums":[{"a":[1]}]}`, "M",
			[]string{`x:1:115: .checksums: unknown field, which version 1 of the format does not have (lost: the field)`}},
		{"no module in a document", `{"format":"symtool-symbols","version":1,"files":[{"number":0,"name":"a"}]}`, " a", []string{"x:1:75: .: no module in the file"}},
		{"something behind a document", document + "}\n7", "M", []string{"x:1:92: .: unexpected data after the document (lost: what follows it)"}},
		{"text after a document", document + "}\nx", "M", []string{"x:2:1: .: not JSON: invalid character 'x' at start of value (lost: what follows it)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, problems, err := read(strings.NewReader(c.data), int64(len(c.data)), ReadOptions{File: "x"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range problems {
				got = append(got, p.String())
			}
			if strings.Join(got, "\n") != strings.Join(c.problems, "\n") {
				t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.problems, "\n"))
			}
			if s := show(m); s != c.kept {
				t.Errorf("kept %q, want %q", s, c.kept)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"empty", "", "x:1:1: the file is empty"},
		{"blank", " \n\t\n", "x:1:1: the file is empty"},
		{"a symbol file", "MODULE Linux x86_64 0 x\n", `x:1:1: not JSON: the file begins with "MODULE Linux x86_64 0 x\n"`},
		{"control characters", "\x1b[31m\xff\u202e", `x:1:1: not JSON: the file begins with "\x1b[31m\xff\u202e"`},
		{"a list", "[{}]", "x:1:1: found a list, want an object: one document, or one record after another, as jq -c writes them"},
		{"other JSON", `{"a":1}`, `x:1:1: no object with a "kind" (JSON Lines) or a "module" (document): not a symtool symbol file in JSON`},
		{"other kinds", `{"kind":"Pod","metadata":{}}`, `x:1:2: .: unknown kind "Pod": want one of [module info file inline_origin func public stack_win stack_cfi var]`},
		{"another format", `{"format":"sarif","files":[]}`, `x:1:18: .format: found "sarif", want "symtool-symbols"`},
		{"later lines", strings.Replace(module, `"version":1`, `"version":2`, 1) + fileA, "x:1:56: .version: version 2 of the format, want at most 1: a newer symtool wrote it"},
		{"a later document", `{"format":"symtool-symbols","version":2,"tables":[]}`, "x:1:40: .version: version 2 of the format, want at most 1: a newer symtool wrote it"},
		{"version at the end", `{"files":[{"number":0,"name":"a"}],"version":3}`, "x:1:47: .version: version 3 of the format, want at most 1: a newer symtool wrote it"},
		{"nothing in it", `{"format":"symtool-symbols","version":1,"files":[]}`, "x:1:1: no record of symtool-symbols"},
		{"nothing usable", `{"kind":"file"}`, `x:1:16: .: "number" is missing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, problems, err := read(strings.NewReader(c.data), int64(len(c.data)), ReadOptions{File: "x"})
			if m != nil || problems != nil || err == nil || err.Error() != c.want {
				t.Errorf("%v, %v, %v\nwant %s", m, problems, err, c.want)
			}
		})
	}
}

// A limited number of problems is kept, and the others are counted.
func TestReadManyProblems(t *testing.T) {
	data := module + strings.Repeat("{\"kind\":\"file\"}\n", 50)
	_, problems, err := read(strings.NewReader(data), int64(len(data)), ReadOptions{File: "x", MaxProblems: 5})
	if err != nil || len(problems) != 6 || problems[5].String() != "x:6:1: 45 more problems" {
		t.Error(problems, err)
	}
	var fields strings.Builder
	for i := range 2 * maxNotes {
		fmt.Fprintf(&fields, `,"f%d":0`, i)
	}
	data = module + `{"kind":"file","number":0,"name":"a"` + fields.String() + "}\n"
	_, problems, err = read(strings.NewReader(data), int64(len(data)), ReadOptions{File: "x"})
	if err != nil || len(problems) != maxNotes+1 || problems[maxNotes].String() != "x:2:1: 100 more problems" {
		t.Error(problems, err)
	}
}

var errDisk = errors.New("disk on fire")

// failing fails from an offset on.
type failing struct {
	data []byte
	at   int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.at {
		return 0, errDisk
	}
	return copy(p, f.data[off:f.at]), nil
}

func TestReadFailing(t *testing.T) {
	big := append([]byte(module), bytes.Repeat([]byte(funcF), 20000)...)
	doc := append([]byte(document+`,"infos":[`), bytes.Repeat([]byte(`{"key":"a","value":"b"},`+"\n"), 50000)...)
	for _, data := range [][]byte{big, doc} {
		for _, at := range []int64{0, 10, headSize - 1, headSize + 5, int64(len(data)) - 1} {
			_, _, err := read(failing{data, at}, int64(len(data)), ReadOptions{File: "x"})
			if !errors.Is(err, errDisk) || !strings.HasPrefix(err.Error(), "x:") || !strings.Contains(err.Error(), "read error") {
				t.Errorf("at %d: %v", at, err)
			}
		}
	}
	var packed bytes.Buffer
	packed.WriteString("\x1f\x8b broken")
	if _, _, err := read(bytes.NewReader(packed.Bytes()), int64(packed.Len()), ReadOptions{File: "x"}); err == nil {
		t.Error("damaged gzip is read")
	}
}

// A line that is too long is skipped without being held in memory.
func TestReadLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 256 MB")
	}
	long := int64(maxRecord + 1000)
	r := &stretched{head: module + `{"kind":"file","number":7,"name":"`, tail: "\"}\n" + fileA, size: long}
	size := int64(len(r.head)+len(r.tail)) + long
	m, problems, err := read(r, size, ReadOptions{File: "x"})
	if err != nil || show(m) != "M a" || len(problems) != 1 || problems[0].String() != "x:2:1: 268436493 bytes, want at most 268435456 (lost: record)" {
		t.Error(problems, err)
	}
}

// stretched is head, size times 'x', and tail.
type stretched struct {
	head, tail string
	size       int64
}

func (s *stretched) ReadAt(p []byte, off int64) (int, error) {
	for i := range p {
		at := off + int64(i)
		switch n := int64(len(s.head)); {
		case at < n:
			p[i] = s.head[at]
		case at < n+s.size:
			p[i] = 'x'
		case at < n+s.size+int64(len(s.tail)):
			p[i] = s.tail[at-n-s.size]
		default:
			return i, io.EOF
		}
	}
	return len(p), nil
}

type limited struct{ left int }

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) / 2, nil }

func TestWriteFailing(t *testing.T) {
	m := example()
	m.Name = "a\x1b"
	for range 20000 {
		m.Publics = append(m.Publics, m.Publics[0])
	}
	for _, f := range forms {
		for _, left := range []int{0, bufferSize + bufferSlack} {
			err := Write(&limited{left}, m, f.o)
			if !errors.Is(err, errDisk) || !strings.HasPrefix(err.Error(), `symbols of a\x1b: write after `) {
				t.Errorf("%s, %d: %v", f.name, left, err)
			}
		}
		if err := Write(short{}, m, f.o); !errors.Is(err, io.ErrShortWrite) {
			t.Error(err)
		}
	}
}

// read calls Read and returns the parts of its result.
func read(r io.ReaderAt, size int64, o ReadOptions) (*symfmt.Module, []symfmt.Problem, error) {
	result, err := Read(context.Background(), r, size, o)
	if err != nil {
		return nil, nil, err
	}
	return result.Module, result.Problems, nil
}

func TestReadCancelled(t *testing.T) {
	const text = `{"kind":"module"}`
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, strings.NewReader(text), int64(len(text)), ReadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
