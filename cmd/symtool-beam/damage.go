package main

import "github.com/symtool/symtool/walk/fleet"

// Damage is a dump that could be read only in part, or not at all.
type Damage struct {
	At     int64  // place among the dumps, from 1
	Dump   string // name
	Failed bool   // it could not be read
	Errors []string
}

// plain returns a text from a dump in a form that every runner's coders accept: as in JSON, each
// byte that is not UTF-8 becomes U+FFFD.
func plain(s string) string { return string([]rune(s)) }

// maxErrors is the maximum number of errors in a dump's row: a hostile dump may have one for each
// record.
const maxErrors = 100

// damageOf returns what is wrong with a dump; ok is false if nothing is wrong.
func damageOf(w *fleet.Walked, at int64) (d Damage, ok bool) {
	d = Damage{At: at, Dump: plain(w.Path)}
	if w.Err != nil {
		d.Failed, d.Errors = true, []string{plain(w.Err.Error())}
		return d, true
	}
	for _, p := range w.Dump.Problems[:min(len(w.Dump.Problems), maxErrors)] {
		d.Errors = append(d.Errors, plain(p.String()))
	}
	return d, len(d.Errors) > 0
}
