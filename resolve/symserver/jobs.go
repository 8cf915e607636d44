package symserver

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits of a request that have no flag. Eliot also has a limit of 10
// jobs.
const (
	maxJobs    = 10
	maxStacks  = 10_000 // in all jobs
	maxModules = 10_000 // in all jobs

	maxModuleText = 1 << 10 // bytes of a name or an id, as each frame's answer has the name
)

// job has stacks of one process.
type job struct {
	modules []moduleName
	frames  []frame
	ends    []int // of each stack, as an index in frames

	hasModules, hasStacks bool
}

// moduleName is a module as a client names it.
type moduleName struct{ name, id string }

func (m moduleName) key() string { return m.name + "/" + m.id }

// frame is an address of a module.
type frame struct {
	module int32  // -1 for none
	none   bool   // the offset is -1
	offset uint64 // from the start of the module
}

// text returns the offset in the form of answers.
func (f frame) text() string {
	if f.none {
		return "-0x1"
	}
	return "0x" + hexOf(f.offset)
}

// badRequest is an error in what a client sent.
type badRequest struct{ msg string }

func (e *badRequest) Error() string { return e.msg }

func bad(format string, args ...any) error { return &badRequest{fmt.Sprintf(format, args...)} }

// jobReader reads a request. It keeps nothing that is not needed, and nothing beyond the limits.
type jobReader struct {
	d         *jsontext.Decoder
	maxFrames int
	frames    int
	stacks    int
	modules   int
}

// readJobs reads the body of a request: {"jobs": [job...]} or, with single, one job.
func readJobs(r io.Reader, single bool, maxFrames int) (jobs []*job, err error) {
	in := &jobReader{d: jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true)), maxFrames: maxFrames}
	jobs, err = in.read(single)
	if err == nil {
		err = in.end()
	}
	var syntax *jsontext.SyntacticError
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return jobs, nil
	case errors.As(err, &tooLarge):
		return nil, err
	case errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, bad("Payload is not valid JSON: offset %d: %s", in.d.InputOffset(), reason(err))
	}
	return nil, err
}

// reason returns what is wrong with JSON, without the place.
func reason(err error) string {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && syntax.Err != nil {
		return syntax.Err.Error()
	}
	return "unexpected end"
}

func (in *jobReader) end() error {
	_, err := in.d.ReadToken()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		err = bad("Payload is not valid JSON: offset %d: there is data after it", in.d.InputOffset())
	}
	return err
}

func (in *jobReader) read(single bool) (jobs []*job, err error) {
	if in.d.PeekKind() != '{' {
		return nil, in.wrong("payload must be an object")
	}
	whole := &job{}
	many := false
	err = in.members(func(name string) error {
		if name == "jobs" && !single {
			many = true
			jobs, err = in.list()
			return err
		}
		return in.member(whole, 0, name)
	})
	if err != nil || many {
		return jobs, err
	}
	return []*job{whole}, whole.check(0)
}

// wrong returns an error about the next value, or its syntax error.
func (in *jobReader) wrong(format string, args ...any) error {
	if in.d.PeekKind() == 0 {
		_, err := in.d.ReadToken()
		return err
	}
	return bad(format, args...)
}

// members calls take for each member of an object, which must read the value.
func (in *jobReader) members(take func(name string) error) error {
	if _, err := in.d.ReadToken(); err != nil {
		return err
	}
	for in.d.PeekKind() != '}' {
		name, err := in.d.ReadToken()
		if err != nil {
			return err
		}
		if err := take(name.String()); err != nil {
			return err
		}
	}
	_, err := in.d.ReadToken()
	return err
}

// elements calls take for each element of an array, which must read the value.
func (in *jobReader) elements(take func(i int) error) error {
	if _, err := in.d.ReadToken(); err != nil {
		return err
	}
	for i := 0; in.d.PeekKind() != ']'; i++ {
		if in.d.PeekKind() == 0 {
			_, err := in.d.ReadToken()
			return err
		}
		if err := take(i); err != nil {
			return err
		}
	}
	_, err := in.d.ReadToken()
	return err
}

func (in *jobReader) list() (jobs []*job, err error) {
	if in.d.PeekKind() != '[' {
		return nil, in.wrong("jobs must be a list")
	}
	jobs = []*job{}
	err = in.elements(func(i int) error {
		if i >= maxJobs {
			return bad("please limit number of jobs in a single request to <= %d", maxJobs)
		}
		if in.d.PeekKind() != '{' {
			return in.wrong("job %d is invalid", i)
		}
		j := &job{}
		jobs = append(jobs, j)
		if err := in.members(func(name string) error { return in.member(j, i, name) }); err != nil {
			return err
		}
		return j.check(i)
	})
	return jobs, err
}

// member reads a member of job i.
func (in *jobReader) member(j *job, i int, name string) error {
	switch name {
	case "stacks":
		j.hasStacks = true
		return in.readStacks(j, i)
	case "memoryMap":
		j.hasModules = true
		return in.readModules(j, i)
	}
	return in.d.SkipValue()
}

// check checks what concerns a whole job.
func (j *job) check(i int) error {
	switch {
	case !j.hasStacks:
		return bad("job %d is invalid: no stacks specified", i)
	case !j.hasModules:
		return bad("job %d is invalid: no memoryMap specified", i)
	case len(j.ends) == 0:
		return bad("job %d has invalid stacks: no stacks specified", i)
	}
	begin := 0
	for stack, end := range j.ends {
		for n, f := range j.frames[begin:end] {
			if int(f.module) >= len(j.modules) {
				return bad("job %d has invalid stacks: stack %d frame %d has a module_index that isn't in modules", i, stack, n)
			}
		}
		begin = end
	}
	return nil
}

func (in *jobReader) readModules(j *job, job int) error {
	if in.d.PeekKind() != '[' {
		return in.wrong("job %d has invalid modules: modules must be a list", job)
	}
	j.modules = nil
	return in.elements(func(i int) error {
		if in.modules++; in.modules > maxModules {
			return bad("please limit number of modules in a single request to <= %d", maxModules)
		}
		if in.d.PeekKind() != '[' {
			return in.wrong("job %d has invalid modules: module index %d does not have a debug_filename and debug_id", job, i)
		}
		var m moduleName
		n := 0
		err := in.elements(func(k int) error {
			n++
			what := [...]string{"debug_filename", "debug_id"}[min(k, 1)]
			if k > 1 {
				return in.wrong("job %d has invalid modules: module index %d does not have a debug_filename and debug_id", job, i)
			}
			if in.d.PeekKind() != '"' {
				return in.wrong("job %d has invalid modules: module index %d has an invalid %s", job, i, what)
			}
			t, err := in.d.ReadToken()
			if err == nil && len(t.String()) > maxModuleText {
				return bad("job %d has invalid modules: module index %d has an invalid %s: over %d bytes", job, i, what, maxModuleText)
			}
			if k == 0 {
				m.name = t.String()
			} else if m.id = t.String(); err == nil && strings.Trim(m.id, "0123456789abcdefABCDEF") != "" {
				return bad("job %d has invalid modules: module index %d has an invalid debug_id", job, i)
			}
			return err
		})
		if err == nil && n != 2 {
			err = bad("job %d has invalid modules: module index %d does not have a debug_filename and debug_id", job, i)
		}
		j.modules = append(j.modules, m)
		return err
	})
}

func (in *jobReader) readStacks(j *job, job int) error {
	if in.d.PeekKind() != '[' {
		return in.wrong("job %d has invalid stacks: stacks must be a list of lists", job)
	}
	j.frames, j.ends = nil, nil
	return in.elements(func(i int) error {
		if in.stacks++; in.stacks > maxStacks {
			return bad("please limit number of stacks in a single request to <= %d", maxStacks)
		}
		if in.d.PeekKind() != '[' {
			return in.wrong("job %d has invalid stacks: stack %d is not a list", job, i)
		}
		err := in.elements(func(k int) error {
			if in.frames++; in.frames > in.maxFrames {
				return bad("please limit number of frames in a single request to <= %d", in.maxFrames)
			}
			f, err := in.readFrame(fmt.Sprintf("job %d has invalid stacks: stack %d frame %d", job, i, k))
			j.frames = append(j.frames, f)
			return err
		})
		j.ends = append(j.ends, len(j.frames))
		return err
	})
}

// readFrame reads [module_index, module_offset].
func (in *jobReader) readFrame(what string) (f frame, err error) {
	if in.d.PeekKind() != '[' {
		return f, in.wrong("%s is not a list of two items", what)
	}
	n := 0
	err = in.elements(func(k int) error {
		if n++; k > 1 {
			return in.wrong("%s is not a list of two items", what)
		}
		field := [...]string{"module_index", "module_offset"}[k]
		if in.d.PeekKind() != '0' {
			return in.wrong("%s has an invalid %s", what, field)
		}
		t, err := in.d.ReadToken()
		if err != nil {
			return err
		}
		if k == 0 {
			v, err := strconv.ParseInt(t.String(), 10, 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				return bad("%s has an invalid module_index", what)
			}
			if v < -1 || v > math.MaxInt32 {
				return bad("%s has a module_index that isn't in modules", what)
			}
			f.module = int32(v)
			return nil
		}
		if text := t.String(); text == "-1" {
			f.none = true
		} else if f.offset, err = strconv.ParseUint(strings.Replace(text, "-0", "0", 1), 10, 64); err != nil {
			return bad("%s has an invalid module_offset", what)
		}
		return nil
	})
	if err == nil && n != 2 {
		err = bad("%s is not a list of two items", what)
	}
	return f, err
}
