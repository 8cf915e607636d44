package markup

import (
	"strconv"
	"strings"
)

// address parses a %p: 0x and hexadecimal digits, or zeros.
func (f *Filter) address(e *element, field int) (uint64, bool) {
	text := e.fields[field]
	if text != "" && strings.Trim(text, "0") == "" {
		return 0, true
	}
	if digits, ok := strings.CutPrefix(text, "0x"); ok && isHex(digits) {
		if v, err := strconv.ParseUint(digits, 16, 64); err == nil {
			return v, true
		}
	}
	f.problem(e, "its address is "+strconv.Quote(text))
	return 0, false
}

// number parses a %i: hexadecimal after 0x, octal after 0, or else decimal.
func (f *Filter) number(e *element, field int, what string) (uint64, bool) {
	text := e.fields[field]
	goOnly := strings.Contains(text, "_") || len(text) > 1 && strings.IndexByte("oObBX", text[1]) >= 0
	if v, err := strconv.ParseUint(text, 0, 64); err == nil && !goOnly {
		return v, true
	}
	f.problem(e, "its "+what+" is "+strconv.Quote(text))
	return 0, false
}

// where says what kind of address a place has.
type where bool

const (
	precise  where = false
	returned where = true // return address: the call is before it
)

// whereOf parses the field with the kind of address. Without the field, it
// returns without.
func (f *Filter) whereOf(e *element, field int, without where) (where, bool) {
	if len(e.fields) <= field {
		return without, true
	}
	switch e.fields[field] {
	case "ra":
		return returned, true
	case "pc":
		return precise, true
	}
	f.problem(e, "the kind of address is "+strconv.Quote(e.fields[field])+", want ra or pc")
	return precise, false
}

// mode parses the permissions of a mapping: r, w and x, in this order.
func (f *Filter) mode(e *element, field int) (string, bool) {
	text := strings.ToLower(e.fields[field])
	rest := text
	for _, one := range []string{"r", "w", "x"} {
		rest = strings.TrimPrefix(rest, one)
	}
	if rest != "" || text == "" {
		f.problem(e, "its mode is "+strconv.Quote(e.fields[field])+", want letters of rwx")
		return "", false
	}
	return text, true
}

// build parses a %x, the digits of a build-id.
func (f *Filter) build(e *element, field int) (string, bool) {
	digits := e.fields[field]
	if digits == "" || !isHex(digits) {
		f.problem(e, "its build-id is "+strconv.Quote(digits))
		return "", false
	}
	if len(digits)%2 != 0 {
		digits = "0" + digits
	}
	return strings.ToLower(digits), true
}

func isHex(text string) bool { return text != "" && strings.Trim(text, "0123456789abcdefABCDEF") == "" }
