package lint

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// The keys of a configuration, and of a suppression in it.
const (
	configKeys   = "select, ignore, min-cfi, min-lines, severity or suppress"
	suppressKeys = "rule, file, function, message, reason or expires"
)

// What the values are to be, for people.
const (
	wantText         = "a text in quotes"
	wantTexts        = "a list of texts"
	wantNumber       = "a number"
	wantDate         = "a date without quotes, 2027-01-31"
	wantSeverity     = "a table, [severity]"
	wantSuppressions = "suppress is a list of tables: want [[suppress]]"
)

// configText is what the file says, without any check but of types.
type configText struct {
	Select, Ignore   []string
	MinCFI, MinLines *float64
	Severity         map[string]string
	Suppress         []suppressText
}

type suppressText struct {
	Rule, File, Function, Message, Reason string
	Expires                               string // 2027-01-31, or empty
}

// configParser reads a configuration by go-toml's parser. What the library has for
// this, decoding into a struct, finds types and methods at run time: the program
// would have 170 KB more, and messages in Go's words.
type configParser struct {
	toml  unstable.Parser
	text  configText
	lines map[string]int // of keys: "select", "severity.SYM601", "suppress.0", "suppress.0.rule"

	table string          // what keys are in: "", "severity" or "suppress"
	made  map[string]form // how severity and suppress came to be
	place int             // offset of the value at hand
}

// form is how a table was written: TOML wants each in one way.
type form uint8

const (
	byDots   form = 1 + iota // severity.SYM601 = "note"
	inBraces                 // severity = {SYM601 = "note"}, suppress = [{...}]
	byHead                   // [severity], [[suppress]]
)

// parseConfig reads the text of a configuration. Its errors have no file.
func parseConfig(data []byte) (*configText, map[string]int, *ConfigError) {
	p := configParser{lines: map[string]int{}, made: map[string]form{}}
	p.text.Severity = map[string]string{}
	p.toml.Reset(data)
	for p.toml.NextExpression() {
		if err := p.expression(p.toml.Expression()); err != nil {
			return nil, nil, err
		}
	}
	var wrong *unstable.ParserError
	if err := p.toml.Error(); errors.As(err, &wrong) {
		return nil, nil, p.fail(int(p.toml.Range(wrong.Highlight).Offset), "%s", wrong.Message)
	} else if err != nil {
		return nil, nil, &ConfigError{Msg: err.Error()}
	}
	return &p.text, p.lines, nil
}

// fail is an error at an offset.
func (p *configParser) fail(offset int, format string, args ...any) *ConfigError {
	at := p.toml.Shape(unstable.Range{Offset: uint32(offset)}).Start
	return &ConfigError{Line: at.Line, Col: at.Column, Msg: fmt.Sprintf(format, args...)}
}

// expression takes a line: the head of a table, or a key and its value.
func (p *configParser) expression(e *unstable.Node) *ConfigError {
	key, at, end := keyOf(e)
	switch e.Kind {
	case unstable.Table, unstable.ArrayTable:
		return p.head(key, at, e.Kind == unstable.ArrayTable)
	case unstable.KeyValue:
		p.place = valueAt(p.toml.Data(), end)
		how := byDots
		if p.table != "" {
			key, how = append([]string{p.table}, key...), byHead
		}
		return p.set(key, at, e.Value(), how)
	}
	return nil
}

// keyOf is a key, where it begins, and where its last part ends.
func keyOf(e *unstable.Node) (key []string, at, end int) {
	for it := e.Key(); it.Next(); {
		n := it.Node()
		if len(key) == 0 {
			at = int(n.Raw.Offset)
		}
		key = append(key, string(n.Data))
		end = int(n.Raw.Offset + n.Raw.Length)
	}
	return key, at, end
}

// valueAt is the offset of the value of a key that ends at end.
func valueAt(data []byte, end int) int {
	rest := bytes.TrimLeft(data[end:], " \t")
	rest = bytes.TrimLeft(bytes.TrimPrefix(rest, []byte("=")), " \t")
	return len(data) - len(rest)
}

// head begins a table.
func (p *configParser) head(key []string, at int, list bool) *ConfigError {
	name := key[0]
	switch {
	case len(key) > 1 && name == "suppress":
		return p.fail(at, "unknown key %q: want %s", strings.Join(key, "."), suppressKeys)
	case len(key) > 1 || name != "severity" && name != "suppress":
		return p.unknown(key, at)
	case name == "severity" && list:
		return p.fail(at, "severity is of type list of tables, want %s", wantSeverity)
	case name == "suppress" && !list:
		return p.fail(at, wantSuppressions)
	case p.made[name] != 0 && !(list && p.made[name] == byHead):
		return p.twice(name, at)
	}
	p.table, p.made[name] = name, byHead
	if list {
		p.suppression(at)
	}
	return nil
}

// unknown tells whether a key of the file itself is there, but as something else.
func (p *configParser) unknown(key []string, at int) *ConfigError {
	want := map[string]string{"select": wantTexts, "ignore": wantTexts, "min-cfi": wantNumber, "min-lines": wantNumber, "severity": wantText}[key[0]]
	if want == "" {
		return p.fail(at, "unknown key %q: want %s", strings.Join(key, "."), configKeys)
	}
	name := key[0]
	if name == "severity" && len(key) > 1 {
		name += "." + key[1]
	}
	return p.fail(at, "%s is of type table, want %s", name, want)
}

func (p *configParser) twice(name string, at int) *ConfigError {
	return p.fail(at, "%s is there twice", name)
}

// suppression begins another.
func (p *configParser) suppression(at int) {
	p.lines[fmt.Sprintf("suppress.%d", len(p.text.Suppress))] = p.line(at)
	p.text.Suppress = append(p.text.Suppress, suppressText{})
}

func (p *configParser) line(at int) int {
	return p.toml.Shape(unstable.Range{Offset: uint32(at)}).Start.Line
}

// set takes a value for a key of the file.
func (p *configParser) set(key []string, at int, v *unstable.Node, how form) *ConfigError {
	switch key[0] {
	case "severity":
		return p.setSeverity(key, at, v, how)
	case "suppress":
		return p.setSuppress(key, at, v, how)
	}
	if len(key) > 1 {
		return p.unknown(key, at)
	}
	if err := p.once(key[0], key[0], at); err != nil {
		return err
	}
	var err *ConfigError
	switch key[0] {
	case "select":
		p.text.Select, err = p.texts("select", v)
	case "ignore":
		p.text.Ignore, err = p.texts("ignore", v)
	case "min-cfi":
		p.text.MinCFI, err = p.number("min-cfi", v)
	case "min-lines":
		p.text.MinLines, err = p.number("min-lines", v)
	default:
		return p.unknown(key, at)
	}
	return err
}

// once notes the line of a key that may be there once; name is that for people.
func (p *configParser) once(key, name string, at int) *ConfigError {
	if p.lines[key] != 0 {
		return p.twice(name, at)
	}
	p.lines[key] = p.line(at)
	return nil
}

func (p *configParser) setSeverity(key []string, at int, v *unstable.Node, how form) *ConfigError {
	if made := p.made["severity"]; how != byHead && made != 0 && (made != how || len(key) == 1) {
		return p.twice("severity", at)
	}
	if len(key) == 1 {
		if v.Kind != unstable.InlineTable {
			return p.wrongType("severity", v, wantSeverity)
		}
		p.made["severity"] = inBraces
		p.lines["severity"] = p.line(at)
		return p.children("severity", v)
	}
	if how == byDots {
		p.made["severity"] = byDots
	}
	if len(key) > 2 {
		return p.unknown(key, at)
	}
	name := "severity." + key[1]
	if err := p.once(name, name, at); err != nil {
		return err
	}
	text, err := p.string(name, v)
	p.text.Severity[key[1]] = text
	return err
}

// children sets the keys of an inline table.
func (p *configParser) children(name string, table *unstable.Node) *ConfigError {
	for it := table.Children(); it.Next(); {
		n := it.Node()
		if n.Kind != unstable.KeyValue {
			continue
		}
		key, at, end := keyOf(n)
		p.place = valueAt(p.toml.Data(), end)
		if err := p.set(append([]string{name}, key...), at, n.Value(), inBraces); err != nil {
			return err
		}
	}
	return nil
}

func (p *configParser) setSuppress(key []string, at int, v *unstable.Node, how form) *ConfigError {
	if len(key) == 1 {
		return p.suppressList(at, v)
	}
	if how == byDots {
		return p.fail(at, wantSuppressions)
	}
	i := len(p.text.Suppress) - 1
	s := &p.text.Suppress[i]
	texts := map[string]*string{"rule": &s.Rule, "file": &s.File, "function": &s.Function, "message": &s.Message, "reason": &s.Reason}
	if len(key) > 2 || texts[key[1]] == nil && key[1] != "expires" {
		return p.fail(at, "unknown key %q: want %s", strings.Join(key, "."), suppressKeys)
	}
	name := "suppress." + key[1]
	if err := p.once(fmt.Sprintf("suppress.%d.%s", i, key[1]), name, at); err != nil {
		return err
	}
	var err *ConfigError
	if key[1] == "expires" {
		s.Expires, err = p.date(name, v)
	} else {
		*texts[key[1]], err = p.string(name, v)
	}
	return err
}

// suppressList takes suppress = [{rule = "..."}].
func (p *configParser) suppressList(at int, v *unstable.Node) *ConfigError {
	if p.made["suppress"] != 0 {
		return p.twice("suppress", at)
	}
	p.made["suppress"] = inBraces
	if v.Kind != unstable.Array {
		return p.fail(p.offset(v), wantSuppressions)
	}
	for it := v.Children(); it.Next(); {
		n := it.Node()
		if n.Kind == unstable.Comment {
			continue
		}
		if n.Kind != unstable.InlineTable {
			return p.fail(p.offset(n), wantSuppressions)
		}
		p.suppression(p.offset(n))
		if err := p.children("suppress", n); err != nil {
			return err
		}
	}
	return nil
}

// kindNames are the types of values as TOML calls them.
var kindNames = map[unstable.Kind]string{
	unstable.Array: "array", unstable.InlineTable: "table", unstable.String: "string", unstable.Bool: "boolean", unstable.Float: "float", unstable.Integer: "integer",
	unstable.LocalDate: "date", unstable.LocalTime: "time", unstable.LocalDateTime: "date and time", unstable.DateTime: "date and time",
}

// offset is where a value begins: the library does not tell of all.
func (p *configParser) offset(v *unstable.Node) int {
	if v.Raw.Length > 0 {
		return int(v.Raw.Offset)
	}
	return p.place
}

func (p *configParser) wrongType(name string, v *unstable.Node, want string) *ConfigError {
	return p.fail(p.offset(v), "%s is of type %s, want %s", name, kindNames[v.Kind], want)
}

func (p *configParser) string(name string, v *unstable.Node) (string, *ConfigError) {
	if v.Kind != unstable.String {
		return "", p.wrongType(name, v, wantText)
	}
	return string(v.Data), nil
}

func (p *configParser) texts(name string, v *unstable.Node) ([]string, *ConfigError) {
	if v.Kind != unstable.Array {
		return nil, p.wrongType(name, v, wantTexts)
	}
	texts := []string{}
	for it := v.Children(); it.Next(); {
		if it.Node().Kind == unstable.Comment {
			continue
		}
		text, err := p.string(name, it.Node())
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// tomlNumber is what TOML has for numbers, but for integers of other bases: nobody
// means those for percent.
var tomlNumber = regexp.MustCompile(`^[+-]?(inf|nan|(0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][+-]?[0-9](_?[0-9])*)?)$`)

func (p *configParser) number(name string, v *unstable.Node) (*float64, *ConfigError) {
	if v.Kind != unstable.Integer && v.Kind != unstable.Float {
		return nil, p.wrongType(name, v, wantNumber)
	}
	text := string(v.Data)
	digits := strings.ReplaceAll(text, "_", "")
	if strings.HasSuffix(text, "nan") {
		digits = "nan" // which strconv wants without a sign
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !tomlNumber.MatchString(text) {
		return nil, p.fail(p.offset(v), "%s is %s, want %s of decimal digits", name, text, wantNumber)
	}
	return &n, nil
}

func (p *configParser) date(name string, v *unstable.Node) (string, *ConfigError) {
	if v.Kind != unstable.LocalDate && v.Kind != unstable.String {
		return "", p.wrongType(name, v, wantDate)
	}
	if _, err := time.Parse(time.DateOnly, string(v.Data)); err != nil {
		return "", p.fail(p.offset(v), "%s is %s: there is no such day: want %s", name, v.Data, wantDate)
	}
	return string(v.Data), nil
}
