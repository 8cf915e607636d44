package sframe

import (
	"fmt"
	"slices"
)

// Profile is a reader whose requirements a section is checked against.
type Profile uint8

// The profiles.
const (
	Spec     Profile = iota // the specification of the section's version
	Binutils                // libsframe, ld and objdump of binutils 2.47
	Kernel                  // the reader for version 3 proposed for Linux
)

var profileNames = [...]string{Spec: "spec", Binutils: "binutils", Kernel: "kernel"}

// String returns the profile's name, as [ParseProfile] accepts it.
func (p Profile) String() string { return profileNames[p] }

// ParseProfile returns the profile with the given name. It reports false for an unknown
// name.
func ParseProfile(name string) (p Profile, ok bool) {
	i := slices.Index(profileNames[:], name)
	return Profile(max(i, 0)), i >= 0
}

// Severity is the severity of a finding.
type Severity uint8

// The severities.
const (
	SeverityNote    Severity = iota + 1 // has no consequences for the profile's reader
	SeverityWarning                     // the reader accepts the section, but gets wrong rules, or none, for some code
	SeverityError                       // not allowed by the profile: its reader rejects the section, crashes, or gets all rules wrong
)

// String returns the severity in lower case.
func (s Severity) String() string {
	switch s {
	case SeverityNote:
		return "note"
	case SeverityWarning:
		return "warning"
	case SeverityError:
		return "error"
	}
	return "none"
}

// Finding is a violation found by a rule.
type Finding struct {
	Offset   uint64 // offset in the section
	Severity Severity
	Rule     string // short name
	Msg      string
	Ref      string // reference to the requirement that is violated
}

// String returns offset, severity, message, rule and reference.
func (f Finding) String() string {
	return fmt.Sprintf("%#x: %s: %s [%s] (%s)", f.Offset, f.Severity, f.Msg, f.Rule, f.Ref)
}

// Context is what a check may use in addition to the section's bytes. Rules that need a
// field that is nil report nothing.
type Context struct {
	Section func(addr uint64) string // returns the name of the ELF section at an address, or ""
	Code    func(lo, hi uint64) bool // reports whether [lo, hi) is in an executable section
	Object  bool                     // the section belongs to a relocatable object
}

// rule is one check. Exactly one of its functions is set.
type rule struct {
	id  string
	in  levels
	ref string

	section func(*checker)
	header  func(*checker, *Header)
	fde     func(*checker, *visit)
	row     func(*checker, *visit)  // visit.rows is at the row
	parts   func(*checker, *Header) // called after the header's functions
}

// levels has a letter for each profile, in order: N, W or E for the severity,
// or - if the rule does not apply.
type levels string

func (l levels) at(p Profile) Severity {
	switch l[p] {
	case 'N':
		return SeverityNote
	case 'W':
		return SeverityWarning
	case 'E':
		return SeverityError
	}
	return 0
}

// References of rules.
const (
	refSpec     = "SFrame specification, "
	refV3       = "SFrame V3 specification, "
	refBinutils = "binutils, "
	refKernel   = "Linux, proposed reader of SFrame V3"
)

// rules lists all rules, grouped by what they examine.
var rules = slices.Concat(sectionRules, headerRules, fdeRules, rowRules, flexRules)

// Check returns the findings for the profile's reader, in order of offset. It names known
// mistakes of producers. ctx is what is known about the binary; its zero value means that
// nothing is.
func (s *Section) Check(p Profile, ctx Context) []Finding {
	c := checker{s: s, p: p, ctx: ctx, shared: s.shared()}
	c.choose()
	for _, r := range c.section {
		c.at = r
		r.section(&c)
	}
	for i := range s.Headers {
		c.checkHeader(&s.Headers[i])
	}
	return c.findings()
}
