package report

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// schemaPath returns the schema of the documents.
func schemaPath(t *testing.T) string {
	return filepath.Join(testenv.Root(t), "golden", "walk", "report", "schema.json")
}

func documentSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	s, err := c.Compile(schemaPath(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate checks a document, as it is written, against the schema, and that
// the keys of each object are in order.
func validate(t *testing.T, schema *jsonschema.Schema, doc *Document) {
	t.Helper()
	var line, pretty bytes.Buffer
	if err := doc.Write(&line, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := doc.Write(&pretty, WriteOptions{Indent: true}); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Error(err)
	}
	if n := bytes.IndexByte(line.Bytes(), '\n'); n != line.Len()-1 {
		t.Errorf("a line ends at %d of %d", n, line.Len())
	}
	for _, form := range []struct {
		indent string
		got    *bytes.Buffer
	}{{"", &line}, {"  ", &pretty}} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", form.indent)
		if err := enc.Encode(doc); err != nil || !bytes.Equal(text.EscapeJSON(want.Bytes()), form.got.Bytes()) {
			t.Errorf("encoding/json writes %d bytes (%v), Write %d", want.Len(), err, form.got.Len())
		}
	}
	inOrder(t, json.NewDecoder(&line))
}

// inOrder reads a value and checks the order of keys.
func inOrder(t *testing.T, dec *json.Decoder) {
	t.Helper()
	token, err := dec.Token()
	if err != nil {
		t.Fatal(err)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return
	}
	last := ""
	for dec.More() {
		if open == '{' {
			key, err := dec.Token()
			if err != nil {
				t.Fatal(err)
			}
			if name := key.(string); name <= last {
				t.Fatalf("key %q after %q", name, last)
			} else {
				last = name
			}
		}
		inOrder(t, dec)
	}
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
}

// Every document of the shared dumps matches the schema.
func TestDocumentsAreOfTheSchema(t *testing.T) {
	schema := documentSchema(t)
	dumps, frames := 0, 0
	for _, path := range walktest.SharedDumps(t) {
		sources := &walk.SymbolSet{}
		dir := filepath.Dir(path)
		if s, err := supplier.NewBinaries([]string{dir}, supplier.BinaryOptions{}); err == nil {
			sources.Binaries = s
		}
		r, err := walk.NewWalker(sources, walk.Config{}).Walk(context.Background(), walktest.Opened(t, path))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(dir)+"/"+filepath.Base(path), func(t *testing.T) {
			validate(t, schema, NewDocument(r, DocumentOptions{Dump: path, Version: "1", Registers: dumps%2 == 0, Verdict: map[string]int{}}))
		})
		for i := range r.Stacks {
			frames += len(r.Stacks[i].Frames)
		}
		dumps++
		sources.Close()
	}
	t.Logf("%d documents, %d frames", dumps, frames)
}

// A document with the values of variables, including those of inlined functions, matches the schema.
func TestVariablesAreOfTheSchema(t *testing.T) {
	r := walks.Dump(t, testenv.Input(t, "walk-sources.core.gz"), walks.BinarySources(t, testenv.Input(t, "walk-sources.elf")), walk.Config{})
	variables := NewVariables(r.Variables(context.Background()), VariableOptions{Locals: true})
	doc := NewDocument(r, DocumentOptions{Dump: "dump", Variables: variables})
	validate(t, documentSchema(t), doc)
	var text bytes.Buffer
	if err := doc.Write(&text, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kind":"param"`, `"members":[`, `"symtool":{"variables":[`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the document has no %s", want)
		}
	}
}

// A document that lacks a key, has an unknown key, or has an address that is not a string does not match
// the schema.
func TestSchemaRefuses(t *testing.T) {
	schema := documentSchema(t)
	for name, change := range map[string]func(doc map[string]any){
		"no status":        func(doc map[string]any) { delete(doc, "status") },
		"another key":      func(doc map[string]any) { doc["more"] = 1 },
		"a bare number":    func(doc map[string]any) { doc["crash_info"].(map[string]any)["address"] = 5.0 },
		"unpadded address": func(doc map[string]any) { doc["crash_info"].(map[string]any)["address"] = "0x5" },
		"another trust": func(doc map[string]any) {
			doc["crashing_thread"].(map[string]any)["frames"].([]any)[0].(map[string]any)["trust"] = "high"
		},
		"another number": func(doc map[string]any) { doc["symtool"].(map[string]any)["schema"] = 2.0 },
	} {
		doc := decoded(t, NewDocument(peerWalk(t, peerCases[0]), DocumentOptions{}))
		if err := schema.Validate(doc); err != nil {
			t.Fatal(err)
		}
		if change(doc); schema.Validate(doc) == nil {
			t.Errorf("%s matches the schema", name)
		}
	}
}

// schemaNode is the part of a schema that the test below follows.
type schemaNode struct {
	Ref   string `json:"$ref"`
	AnyOf []schemaNode
	OneOf []schemaNode
	Items *schemaNode
	Enum  []any

	Properties map[string]*schemaNode
	Defs       map[string]*schemaNode `json:"$defs"`
}

// find returns the node of a key, below references, alternatives and lists.
func (n *schemaNode) find(root *schemaNode, key string) *schemaNode {
	if name, ok := strings.CutPrefix(n.Ref, "#/$defs/"); ok {
		return root.Defs[name].find(root, key)
	}
	if n.Items != nil {
		return n.Items.find(root, key)
	}
	for _, list := range [][]schemaNode{n.AnyOf, n.OneOf} {
		for i := range list {
			if found := list[i].find(root, key); found != nil {
				return found
			}
		}
	}
	return n.Properties[key]
}

// peerKeys are all keys of json-schema.md of rust-minidump 0.26 except those
// below mac_crash_info, which is null.
var peerKeys = strings.Fields(`status pid crash_info.type crash_info.address crash_info.adjusted_address.kind
	crash_info.adjusted_address.address crash_info.adjusted_address.offset crash_info.instruction
	crash_info.memory_accesses.address crash_info.memory_accesses.size crash_info.memory_accesses.is_likely_guard_page
	crash_info.possible_bit_flips.address crash_info.possible_bit_flips.details.was_non_canonical
	crash_info.possible_bit_flips.details.is_null crash_info.possible_bit_flips.details.was_low
	crash_info.possible_bit_flips.details.poison_registers crash_info.possible_bit_flips.details.nearby_registers
	crash_info.possible_bit_flips.confidence crash_info.crashing_thread crash_info.assertion
	system_info.os system_info.os_ver system_info.cpu_arch system_info.cpu_info system_info.cpu_count
	system_info.cpu_microcode_version thread_count threads.thread_name threads.last_error_value threads.frame_count
	threads.frames.frame threads.frames.trust threads.frames.registers threads.frames.offset threads.frames.module
	threads.frames.module_offset threads.frames.unloaded_modules.module threads.frames.unloaded_modules.offsets
	threads.frames.inlines.function threads.frames.inlines.file threads.frames.inlines.line threads.frames.function
	threads.frames.function_offset threads.frames.file threads.frames.line threads.frames.missing_symbols
	crashing_thread.threads_index crashing_thread.thread_name crashing_thread.last_error_value crashing_thread.frame_count
	crashing_thread.frames.frame crashing_thread.frames.trust crashing_thread.frames.registers crashing_thread.frames.offset
	crashing_thread.frames.module crashing_thread.frames.module_offset crashing_thread.frames.unloaded_modules.module
	crashing_thread.frames.function crashing_thread.frames.function_offset crashing_thread.frames.file
	crashing_thread.frames.line crashing_thread.frames.missing_symbols main_module modules_contains_cert_info
	modules.base_addr modules.end_addr modules.debug_file modules.debug_id modules.filename modules.code_id modules.version
	modules.cert_subject modules.missing_symbols modules.loaded_symbols modules.corrupt_symbols modules.symbol_url
	unloaded_modules.base_addr unloaded_modules.end_addr unloaded_modules.code_id unloaded_modules.filename
	unloaded_modules.cert_subject lsb_release.id lsb_release.release lsb_release.codename lsb_release.description
	mac_crash_info mac_boot_args`)

// The schema has every key of rust-minidump's, and all names of our techniques, trusts and
// ends.
func TestSchemaHasAllKeys(t *testing.T) {
	data, err := os.ReadFile(schemaPath(t))
	if err != nil {
		t.Fatal(err)
	}
	root := &schemaNode{}
	if err := json.Unmarshal(data, root); err != nil {
		t.Fatal(err)
	}
	follow := func(path string) *schemaNode {
		n := root
		for key := range strings.SplitSeq(path, ".") {
			if n = n.find(root, key); n == nil {
				t.Errorf("no key %s", path)
				return &schemaNode{}
			}
		}
		return n
	}
	for _, path := range peerKeys {
		follow(path)
	}
	for path, names := range map[string][]string{
		"threads.frames.trust": namesTo(walk.TrustContext), "threads.frames.symtool.technique": namesTo(walk.ByScan),
		"threads.symtool.end": namesTo(walk.EndWriter),
	} {
		var enum []string
		for _, v := range follow(path).Enum {
			enum = append(enum, v.(string))
		}
		if !slices.Equal(enum, names) {
			t.Errorf("%s: %q, want %q", path, enum, names)
		}
	}
}

// namesTo returns the names of the values of a type up to the last of them.
func namesTo[T interface {
	~uint8
	String() string
}](last T) (names []string) {
	for v := T(0); v <= last; v++ {
		names = append(names, v.String())
	}
	return names
}
