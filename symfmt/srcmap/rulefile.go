package srcmap

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/pattern"
)

// maxRuleFile is the maximum size of a file of rules in bytes. Mozilla's
// files list some thousand generated files by name.
const maxRuleFile = 64 << 20

// ReadRules reads a file of rules in one of two forms:
//
//   - a rule on each line, as read by ParseRule; empty lines and those that begin
//     with # are ignored;
//   - JSON as mozilla/dump_syms reads it with --mapping-file: "variables", and
//     "mappings" with "source" (the expression), "destination" (the template) and
//     "files" (optional: the paths that the rule applies to). As in dump_syms, rules
//     with files precede those without, and vars precede the file's variables.
//
// Unlike in Mozilla's files, a brace in a destination always encloses a name
// or is doubled. file is used in errors.
func ReadRules(r io.Reader, file string, vars map[string]string) ([]Rule, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRuleFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxRuleFile:
		return nil, &bin.Error{File: file, Msg: fmt.Sprintf("more than %d bytes: not a list of rules", maxRuleFile)}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var rules []Rule
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		rules, err = mozillaRules(data, file, vars)
	} else {
		rules, err = textRules(string(data), file, vars)
	}
	if err == nil && len(rules) == 0 {
		err = fmt.Errorf("%s: no rule: want REGEX=TEMPLATE on each line, or the JSON of Mozilla's --mapping-file", file)
	}
	return rules, err
}

func textRules(text, file string, vars map[string]string) (rules []Rule, err error) {
	var patterns pattern.Compiler
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		r, err := parseRule(&patterns, line, vars)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// mozillaFile is the JSON of --mapping-file.
type mozillaFile struct {
	Variables map[string]string `json:"variables"`
	Mappings  []struct {
		Source      string   `json:"source"`
		Destination string   `json:"destination"`
		Files       []string `json:"files"`
	} `json:"mappings"`
}

func mozillaRules(data []byte, file string, vars map[string]string) ([]Rule, error) {
	var doc mozillaFile
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, jsonError(file, data, err)
	}
	all := map[string]string{}
	for name, value := range doc.Variables {
		if err := CheckVar(name, value); err != nil {
			return nil, fmt.Errorf("%s: variables: %w", file, err)
		}
		all[name] = value
	}
	maps.Copy(all, vars)
	var patterns pattern.Compiler
	var listed, others []Rule
	for i, m := range doc.Mappings {
		if m.Source == "" || m.Destination == "" {
			return nil, fmt.Errorf("%s: mappings[%d]: want a source and a destination", file, i)
		}
		r, err := newRule(&patterns, m.Source, m.Destination, all)
		if err != nil {
			return nil, fmt.Errorf("%s: mappings[%d]: %w", file, i, err)
		}
		if len(m.Files) == 0 {
			others = append(others, r)
			continue
		}
		r.files = make(map[string]bool, len(m.Files))
		for _, name := range m.Files {
			r.files[name] = true
		}
		listed = append(listed, r)
	}
	return append(listed, others...), nil
}

// jsonError adds the position in data to an error of encoding/json.
func jsonError(file string, data []byte, err error) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at := uint64(syntax.Offset) // bytes read, including the bad one, unless the error is at the end
		if at > 0 && !cutShort(data) {
			at--
		}
		return &bin.Error{File: file, Offset: at, Msg: "not JSON: " + syntax.Error()}
	case errors.As(err, &wrong):
		return &bin.Error{File: file, Offset: uint64(wrong.Offset),
			Msg: fmt.Sprintf("%s is a %s, want what Mozilla's --mapping-file has", cmp.Or(wrong.Field, "the document"), wrong.Value)}
	}
	return fmt.Errorf("%s: %w", file, err)
}

// cutShort reports whether JSON ends inside a value.
func cutShort(data []byte) bool {
	return errors.Is(json.NewDecoder(bytes.NewReader(data)).Decode(new(json.RawMessage)), io.ErrUnexpectedEOF)
}
