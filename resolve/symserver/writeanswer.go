package symserver

import (
	"io"

	"github.com/symtool/symtool/resolve"
)

// writeV5 writes an answer of /symbolicate/v5.
func (a *answers) writeV5(w io.Writer) {
	b := []byte(`{"results": [`)
	for n, j := range a.jobs {
		b = comma(b, n)
		b = append(b, `{"stacks": [`...)
		begin := 0
		for i, end := range j.ends {
			b = append(comma(b, i), '[')
			for k := begin; k < end; k++ {
				b = a.appendFrame(comma(b, k-begin), j, n, k, k-begin)
				if len(b) > 32<<10 {
					_, _ = w.Write(b)
					b = b[:0]
				}
			}
			b = append(b, ']')
			begin = end
		}
		b = a.appendFound(append(b, `], "found_modules": `...), j)
		b = append(a.appendErrors(b, j), '}')
	}
	_, _ = w.Write(append(b, "]}\n"...))
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ", "...)
	}
	return b
}

// moduleText returns the name of a frame's module.
func (a *answers) moduleText(j *job, n, k int) string {
	f, known := j.frames[k], a.of[n][k]
	switch {
	case known.module != "":
		return known.module
	case f.module < 0 || j.modules[f.module].name == "":
		return "<unknown>"
	}
	return j.modules[f.module].name
}

// appendFrame appends frame number i of a stack.
func (a *answers) appendFrame(b []byte, j *job, n, k, i int) []byte {
	f, known := j.frames[k], &a.of[n][k]
	b = append(append(b, `{"frame": `...), itoa(i)...)
	b = quote(append(b, `, "module": `...), a.moduleText(j, n, k))
	b = append(append(append(b, `, "module_offset": "`...), f.text()...), '"')
	if known.frames == nil {
		return append(b, '}')
	}
	outer := len(known.frames) - 1
	b = quote(append(b, `, "function": `...), known.frames[outer].Function)
	b = append(append(append(b, `, "function_offset": "0x`...), hexOf(f.offset-known.start)...), '"')
	b = appendLine(b, &known.frames[outer])
	if outer > 0 {
		b = append(b, `, "inlines": [`...)
		for i := range known.frames[:outer] {
			b = quote(append(comma(b, i), `{"function": `...), known.frames[i].Function)
			b = append(appendLine(b, &known.frames[i]), '}')
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendLine appends file and line; without a file, a line is meaningless.
func appendLine(b []byte, f *resolve.Frame) []byte {
	if f.File == "" {
		return b
	}
	b = quote(append(b, `, "file": `...), f.File)
	if f.Line > 0 {
		b = append(append(b, `, "line": `...), itoa64(int64(f.Line))...)
	}
	return b
}

// foundText says whether there are symbols of a module: null if they were not looked for.
func (a *answers) foundText(m moduleName) string {
	found, looked := a.found[m]
	switch {
	case !looked:
		return "null"
	case found:
		return "true"
	}
	return "false"
}

func (a *answers) appendFound(b []byte, j *job) []byte {
	b = append(b, '{')
	seen := map[string]bool{}
	for _, m := range j.modules {
		if key := m.key(); !seen[key] {
			b = quote(comma(b, len(seen)), key)
			seen[key] = true
			b = append(append(b, ": "...), a.foundText(m)...)
		}
	}
	return append(b, '}')
}

// cutText returns the message for frames that have no answer because the names are too long.
func (a *answers) cutText() string {
	return "frames without an answer: the names of the answer to this request have at most " + itoa(a.limit) + " bytes"
}

// appendErrors appends the problems of a job's answers by module, as samply's server does, if
// there are any.
func (a *answers) appendErrors(b []byte, j *job) []byte {
	seen := map[string]bool{}
	for _, m := range j.modules {
		key := m.key()
		if !a.cut[m] || seen[key] {
			continue
		}
		if len(seen) == 0 {
			b = append(b, `, "module_errors": {`...)
		}
		b = quote(comma(b, len(seen)), key)
		b = quote(append(b, `: [{"name": "AnswerTooLong", "message": `...), a.cutText())
		b = append(b, "}]"...)
		seen[key] = true
	}
	if len(seen) > 0 {
		b = append(b, '}')
	}
	return b
}

// writeV4 writes an answer of /symbolicate/v4.
func (a *answers) writeV4(w io.Writer) {
	j := a.jobs[0]
	b := []byte(`{"symbolicatedStacks": [`)
	begin := 0
	for i, end := range j.ends {
		b = append(comma(b, i), '[')
		for k := begin; k < end; k++ {
			text := j.frames[k].text()
			if known := a.of[0][k].frames; known != nil {
				text = known[len(known)-1].Function
			}
			b = quote(comma(b, k-begin), text+" (in "+a.moduleText(j, 0, k)+")")
			if len(b) > 32<<10 {
				_, _ = w.Write(b)
				b = b[:0]
			}
		}
		b = append(b, ']')
		begin = end
	}
	b = append(b, `], "knownModules": [`...)
	for i, m := range j.modules {
		b = append(comma(b, i), a.foundText(m)...)
	}
	_, _ = w.Write(append(a.appendErrors(append(b, ']'), j), "}\n"...))
}
