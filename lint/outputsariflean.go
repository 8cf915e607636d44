package lint

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// writeLean writes a document without what the library writes of values that are
// not set. -1 stands for "not set" in the schema, but GitHub wants the numbers of
// places to be 0 or more; lists are empty by default.
func writeLean(w io.Writer, doc *sarif.Report) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return err
	}
	lean(v)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(v)
}

// lean takes values away that are not set. Bags of properties are left alone, for
// only what somebody put there is in them.
func lean(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			lean(item)
		}
	case map[string]any:
		for key, item := range v {
			if key != "properties" {
				lean(item)
			}
			if unset(key, item) {
				delete(v, key)
			}
		}
	}
}

func unset(key string, v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case json.Number:
		return v == "-1"
	case []any:
		return len(v) == 0 && key != "results" && key != "rules" // which GitHub wants
	case map[string]any:
		return len(v) == 0 && key == "properties"
	}
	return false
}
