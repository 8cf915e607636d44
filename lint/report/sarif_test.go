package report

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/finding"
)

// golden/lint/report/sarif-schema-2.1.0.json is the schema of OASIS (errata 01).
func sarifSchemaOf(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(filepath.Join(testenv.Root(t), "golden", "lint", "report", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// sarifVarieties returns results that produce every part of the document.
func sarifVarieties(t testing.TB) map[string]*Results {
	damaged := namesOnly(t, "cut.sym.gz", nameText, nil, 0)
	damaged.Damage = &bin.Error{File: "cut.sym.gz", Err: errors.New("gzip data: unexpected EOF")} // in the form of a Reader
	odd := []*finding.Report{}
	for _, name := range []string{"<stdin>", "a:b.sym", "../x/./y%20.sym", `C:\syms\a b.sym`, "/abs/\xff\x01?#.sym", "\u202e.sym", "."} {
		odd = append(odd, namesOnly(t, name, nameText, nil, 0), finding.Unreadable(name, errors.New("no")))
	}
	return map[string]*Results{
		"findings": goldenResults(t), "nothing": {}, "clean": {Reports: []*finding.Report{namesOnly(t, "a.sym", moduleLine, nil, 0)}},
		"joined": {Reports: manyReports(1, 9000, 10)}, "cut": {Reports: manyReports(6000, 3, 10)},
		"damaged": {Reports: []*finding.Report{damaged}}, "odd names": {Reports: odd},
	}
}

func TestSARIFIsOfTheSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	schema := sarifSchemaOf(t)
	for name, r := range sarifVarieties(t) {
		out := written(t, WriteSARIF, r)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if bytes.Contains(out, []byte(": -1")) || bytes.Contains(out, []byte(": null")) || len(v.(map[string]any)["runs"].([]any)) != 1 {
			t.Errorf("%s: values that are not set: %.2000s", name, out)
		}
		if doc, err := sarif.FromBytes(out, sarif.WithStrictValidation()); err != nil || doc.Schema != sarifSchema {
			t.Errorf("%s: the library reads %v", name, err)
		}
	}
	for name, change := range map[string]func(run, result map[string]any){
		"a level that is none": func(_, result map[string]any) { result["level"] = "fatal" },
		"another key":          func(_, result map[string]any) { result["more"] = 1 },
		"no tool":              func(run, _ map[string]any) { delete(run, "tool") },
		"no message":           func(_, result map[string]any) { delete(result, "message") },
		"a URI that is none": func(_, result map[string]any) {
			place := result["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)
			place["artifactLocation"].(map[string]any)["uri"] = "a b%zz"
		},
	} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(written(t, WriteSARIF, goldenResults(t))))
		if err != nil {
			t.Fatal(err)
		}
		run := v.(map[string]any)["runs"].([]any)[0].(map[string]any)
		if change(run, run["results"].([]any)[0].(map[string]any)); schema.Validate(v) == nil {
			t.Errorf("%s matches the schema", name)
		}
	}
}

// GitHub's requirements beyond the schema: see its "SARIF support for code scanning".
func TestSARIFIsForGitHub(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	for name, r := range sarifVarieties(t) {
		doc, err := sarif.FromBytes(written(t, WriteSARIF, r))
		if err != nil {
			t.Fatal(err)
		}
		run := doc.Runs[0]
		for _, rule := range run.Tool.Driver.Rules {
			if len(*rule.Name) > 255 || len(*rule.ShortDescription.Text) > 1024 || len(*rule.FullDescription.Text) > 1024 || *rule.Help.Text == "" ||
				len(rule.Properties.Tags) > 10 || rule.Properties.Properties["security-severity"] != nil {
				t.Errorf("%s: rule %s", name, *rule.ID)
			}
		}
		seen := map[string]bool{}
		for _, res := range run.Results {
			uri, hash := *res.Locations[0].PhysicalLocation.ArtifactLocation.URI, res.PartialFingerprints["primaryLocationLineHash"]
			if key := *res.RuleID + uri + hash; hash == "" || seen[key] && name != "odd names" {
				t.Errorf("%s: hash %q is there twice", name, hash)
			} else {
				seen[key] = true
			}
			if *res.RuleID != *run.Tool.Driver.Rules[res.RuleIndex].ID || *res.Locations[0].PhysicalLocation.Region.StartLine < 1 || *res.Message.Text == "" {
				t.Errorf("%s: result %s at %s", name, *res.RuleID, uri)
			}
		}
	}
}

func TestFileURI(t *testing.T) {
	for file, want := range map[string]string{
		"a.sym": "a.sym", "./a b.sym": "a%20b.sym", "x/../y/a.sym": "y/a.sym", "../a.sym": "../a.sym", "a:b.sym": "./a:b.sym",
		"/abs/a#1%.sym": "file:///abs/a%231%25.sym", `C:\syms\a.sym`: "file:///C:/syms/a.sym", "<stdin>": "%3Cstdin%3E",
		"caf\u00e9\xff\n.sym": "caf%C3%A9%FF%0A.sym",
	} {
		if got := fileURI(file); got != want {
			t.Errorf("%q is %s, want %s", file, got, want)
		}
	}
}
