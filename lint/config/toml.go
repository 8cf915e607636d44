package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/symtool/symtool/internal/closest"
)

// fileText is a configuration as written; only its types have been checked.
type fileText struct {
	Preset   string            `toml:"preset"`
	Select   []string          `toml:"select"`
	Ignore   []string          `toml:"ignore"`
	MinCFI   *float64          `toml:"min-cfi"`
	MinLines *float64          `toml:"min-lines"`
	Severity map[string]string `toml:"severity"`
	Suppress []suppressText    `toml:"suppress"`
}

type suppressText struct {
	Rule     string          `toml:"rule"`
	File     string          `toml:"file"`
	Function string          `toml:"function"`
	Message  string          `toml:"message"`
	Reason   string          `toml:"reason"`
	Expires  *toml.LocalDate `toml:"expires"`
}

// The keys of a configuration, and of a suppression in it.
const (
	fileKeys     = "preset, select, ignore, min-cfi, min-lines, severity or suppress"
	suppressKeys = "rule, file, function, message, reason or expires"
)

// wanted describes the expected values of a configuration's keys. Keys without an entry, such as severity.SYM601 or
// suppress.rule, have strings.
var wanted = map[string]string{
	"select": "a list of strings", "ignore": "a list of strings", "min-cfi": "a number", "min-lines": "a number",
	"severity": "a table, [severity], of strings", "suppress": "tables, [[suppress]], of strings",
	"suppress.expires": "a date without quotes, 2027-01-31",
}

// parse decodes a configuration. Its errors lack the name of the file.
func parse(data []byte) (*fileText, *Error) {
	data = upToUnknown(data)
	text := &fileText{}
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(text)
	if err == nil {
		return text, nil
	}
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		e := &unknown.Errors[0]
		keys, word := fileKeys, e.Key()[0]
		if word == "suppress" {
			keys, word = suppressKeys, e.Key()[len(e.Key())-1]
		}
		return nil, errorAt(e, fmt.Sprintf("unknown key %q: want %s%s", strings.Join(e.Key(), "."), keys, meant(word, keys)))
	}
	// Malformed TOML fails to decode into any type. Otherwise a value has the wrong type, and the decoder's message
	// would name Go's types.
	var wrong *toml.DecodeError
	if err := toml.Unmarshal(data, new(map[string]any)); errors.As(err, &wrong) {
		return nil, errorAt(wrong, wrong.Error())
	}
	if !errors.As(err, &wrong) {
		return nil, &Error{Msg: err.Error()}
	}
	key := strings.Join(wrong.Key(), ".")
	want, ok := wanted[key]
	if !ok {
		want = "a string in quotes"
	}
	return nil, errorAt(wrong, fmt.Sprintf("%s: want %s", key, want))
}

// upToUnknown returns the configuration up to and including its first unknown key and that key's value. The decoder
// makes an error for each unknown key, and counts the lines before it each time: a megabyte of them took seconds.
func upToUnknown(data []byte) []byte {
	var p unstable.Parser
	p.Reset(data)
	table, found := "", false
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			continue
		}
		key := e.Key()
		if !key.Next() {
			continue
		}
		if first := key.Node(); found {
			at := int(first.Raw.Offset)
			return data[:bytes.LastIndexByte(data[:at], '\n')+1]
		} else if e.Kind != unstable.KeyValue {
			table = string(first.Data)
			found = !known(fileKeys, table) || !key.IsLast() && table != "severity"
		} else if table == "" {
			found = !known(fileKeys, string(first.Data))
		} else {
			found = table == "suppress" && !known(suppressKeys, string(first.Data))
		}
	}
	return data
}

// known reports whether a word is one of the keys.
func known(keys, word string) bool {
	return slices.Contains(strings.FieldsFunc(keys, func(r rune) bool { return r == ',' || r == ' ' }), word) && word != "or"
}

// meant returns the part of a message that suggests the key that word may stand for.
func meant(word, keys string) string {
	return closest.Meant(word, strings.FieldsFunc(keys, func(r rune) bool { return r == ',' || r == ' ' }))
}

func errorAt(e *toml.DecodeError, msg string) *Error {
	line, col := e.Position()
	return &Error{Line: line, Col: col, Msg: msg}
}

// keyLines returns the lines of keys: "select", "severity.SYM601", "suppress.0", "suppress.0.rule". Keys in inline
// tables have no entry.
func keyLines(data []byte) map[string]int {
	lines, table, suppressions := map[string]int{}, "", 0
	var p unstable.Parser
	p.Reset(data)
	line := lineCounter{data: data, line: 1}
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			continue
		}
		var key []string
		at := -1
		for it := e.Key(); it.Next(); {
			key = append(key, string(it.Node().Data))
			if at < 0 {
				at = line.of(int(it.Node().Raw.Offset))
			}
		}
		name := strings.Join(key, ".")
		switch {
		case e.Kind != unstable.KeyValue && name == "suppress":
			table = fmt.Sprintf("suppress.%d", suppressions)
			name = table
			suppressions++
		case e.Kind != unstable.KeyValue:
			table = name
		case table != "":
			name = table + "." + name
		}
		lines[name] = at
	}
	return lines
}

// lineCounter returns the lines of offsets that are requested in ascending order. The parser's own count begins at the
// start of the file each time.
type lineCounter struct {
	data         []byte
	offset, line int
}

func (c *lineCounter) of(offset int) int {
	if offset > c.offset {
		c.line += bytes.Count(c.data[c.offset:offset], []byte{'\n'})
		c.offset = offset
	}
	return c.line
}
