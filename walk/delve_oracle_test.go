package walk_test

import (
	"bufio"
	"context"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/eval"
	"github.com/symtool/symtool/walk/show"
)

// Values of Go, in all goroutines, are those that Delve shows: strings, slices, maps, what interfaces hold, closures,
// what pointers point to.
//
// Where we differ: Delve fills the optimized-out parts of a structure or a string with zeros, does not show variables
// for which it finds no location, and hides that a variable was moved to the heap.
func TestOracleDelve(t *testing.T) {
	testenv.Oracle(t)
	dlv := testenv.Tool(t, "dlv")
	for _, tt := range []struct {
		name  string
		flags []string
		least int // values that are equal
		full  bool
	}{
		{"depot", nil, 15, false}, {"shapes", []string{"-gcflags=all=-N -l"}, 24, false},
		{"depot", []string{"-gcflags=all=-N -l"}, 37, true}, {"shapes", nil, 9, true},
	} {
		if tt.full && !testenv.OracleFull() {
			continue // gdb takes long to write a core of a Go program
		}
		t.Run(strings.Join(append([]string{tt.name}, tt.flags...), " "), func(t *testing.T) {
			dir := t.TempDir()
			program, core := filepath.Join(dir, tt.name), filepath.Join(dir, "core")
			build := exec.Command("go", append(append([]string{"build", "-o", program}, tt.flags...), tt.name+".go")...)
			build.Dir = filepath.Join("testdata", "variables")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			oracle.CrashCore(t, core, program)
			c := delveComparison{t: t, count: map[string]int{}}
			c.open(program, core)
			c.compare(startDelve(t, dlv, program, core))
			t.Log(c.count)
			if c.count["equal"] < tt.least {
				t.Errorf("%d values equal, want %d", c.count["equal"], tt.least)
			}
		})
	}
}

// startDelve returns a connection to Delve, which has read a core.
func startDelve(t *testing.T, dlv, program, core string) *rpc.Client {
	t.Helper()
	cmd := exec.Command(dlv, "core", program, core, "--headless", "--api-version=2", "--check-go-version=false", "--listen=127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, ok := strings.Cut(strings.TrimSpace(line), "listening at: ")
	if !ok {
		t.Fatalf("Delve says %q: %v", line, err)
	}
	client, err := jsonrpc.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// delveFrameVars is a frame as Delve's API has it.
type delveFrameVars struct {
	Function *struct{ Name string }

	variables []delveVariable
}

// isOwn reports whether a function belongs to the program rather than a library.
func (f *delveFrameVars) isOwn() bool {
	return f.Function != nil && strings.HasPrefix(f.Function.Name, "main.")
}

// read reads the variables of a frame.
func (f *delveFrameVars) read(t *testing.T, client *rpc.Client, goroutine uint64, frame int) {
	t.Helper()
	in := map[string]any{"Scope": map[string]any{"GoroutineID": goroutine, "Frame": frame}, "Cfg": map[string]any{
		"FollowPointers": true, "MaxVariableRecurse": 10, "MaxStringLen": 4000, "MaxArrayValues": 1000, "MaxStructFields": -1,
	}}
	var out struct{ Args, Variables []delveVariable }
	for _, method := range []string{"RPCServer.ListFunctionArgs", "RPCServer.ListLocalVars"} {
		if err := client.Call(method, in, &out); err != nil {
			t.Errorf("%s: %v", f.Function.Name, err)
		}
	}
	f.variables = append(out.Args, out.Variables...)
}

// delveVariable is a variable or a part of one.
type delveVariable struct {
	Name, Type, Value, Unreadable string
	Addr, Base                    uint64
	Flags                         int
	Kind                          reflect.Kind
	Len                           int64
	Children                      []delveVariable
}

const delveShadowed = 1 << 1 // in Flags

// delveComparison compares the values of a core with Delve's.
type delveComparison struct {
	t       *testing.T
	result  *walk.Result
	vars    *walk.Variables
	printer *show.Printer
	count   map[string]int
}

// open walks the goroutines of a core.
func (c *delveComparison) open(program, core string) {
	c.t.Helper()
	binaries, err := supplier.NewBinaries([]string{program}, supplier.BinaryOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	opened, err := dumpfile.Open(c.t.Context(), core, dumpfile.Options{Core: elfcore.Options{Binaries: []string{program}}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { opened.Close() })
	c.result, err = walk.NewWalker(&walk.SymbolSet{Binaries: binaries}, walk.Config{Goroutines: walk.AllGoroutines}).Walk(c.t.Context(), opened.Dump)
	if err != nil {
		c.t.Fatal(err)
	}
	c.vars = c.result.Variables(context.Background())
	c.printer = show.New(show.Options{Length: 1000, Depth: 20, Symbol: func(addr uint64) string {
		if _, function, ok := strings.Cut(c.vars.Symbol(addr), "!"); ok {
			return function
		}
		return ""
	}})
}

// compare compares the frames of all goroutines.
func (c *delveComparison) compare(client *rpc.Client) {
	for stack := range c.result.Stacks {
		g := c.result.Stacks[stack].Goroutine
		if g == nil {
			continue
		}
		var out struct{ Locations []delveFrameVars }
		if err := client.Call("RPCServer.Stacktrace", map[string]any{"Id": g.ID, "Depth": 50}, &out); err != nil {
			c.t.Errorf("goroutine %d: %v", g.ID, err)
			continue
		}
		for i := range out.Locations {
			if out.Locations[i].isOwn() {
				out.Locations[i].read(c.t, client, g.ID, i)
			}
		}
		k := 0
		for i := range c.result.Stacks[stack].Frames {
			f, all := c.vars.Of(stack, i)
			for n := range all {
				if k < len(out.Locations) {
					c.frame(f, all[n], &out.Locations[k])
				}
				k++
			}
			if all == nil {
				k++
			}
		}
	}
}

// frame compares the variables of a function of the program.
func (c *delveComparison) frame(f *eval.Frame, ours []eval.Variable, want *delveFrameVars) {
	for _, v := range want.variables {
		if v.Flags&delveShadowed != 0 {
			continue
		}
		found := false
		for i := range ours {
			o := &ours[i]
			if found = o.Hidden == 0 && (o.Name == v.Name || o.Name == "&"+v.Name); found {
				c.variable(want.Function.Name, f, o, &v)
				break
			}
		}
		if !found {
			c.count["not listed"]++
			c.t.Errorf("%s: no %s", want.Function.Name, v.Name)
		}
	}
}

func (c *delveComparison) variable(function string, f *eval.Frame, o *eval.Variable, v *delveVariable) {
	ours := delveTarget.ReplaceAllString(c.printer.Text(f, o), "func <$1>")
	escaped := o.Name != v.Name
	var want string
	switch {
	case !o.Whole():
		c.count["partial or optimized out"]++
		return
	case v.Unreadable != "":
		c.count["unreadable"]++
		c.t.Logf("%s: %s: Delve cannot read it (%s), ours %s", function, v.Name, v.Unreadable, ours)
		return
	case escaped:
		p := delveVariable{Kind: reflect.Pointer, Children: []delveVariable{*v}}
		want = p.text(true, false)
	default:
		want = v.text(true, false)
	}
	shown, _, cut := strings.Cut(dropChannels(ours), "...") // fifty parts of a pointer's target are shown
	if shown != want && !(cut && strings.HasPrefix(want, shown)) {
		c.count["differs"]++
		c.t.Errorf("%s: %s %s:\n%s, Delve has\n%s", function, v.Type, v.Name, ours, want)
		return
	}
	c.count["equal"]++
}

// delveTarget matches a function value. Delve shows only its name.
var delveTarget = regexp.MustCompile(`0x[0-9a-f]+ <([^>]*)>`)

// dropChannels drops what channels point to: Delve shows their number of elements.
func dropChannels(s string) string {
	for {
		at := strings.Index(s, ": {qcount:")
		if at < 0 {
			return s
		}
		depth, end := 0, at
		for end < len(s) {
			switch s[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
			if end++; depth == 0 && s[end-1] == '}' {
				break
			}
		}
		s = s[:at] + s[end:]
	}
}

// delveNumber matches a constant in Delve's form: its name and its number.
var delveNumber = regexp.MustCompile(`^.* \((-?\d+)\)$`)

// text returns a value in our form. With follow, pointers to structures show their target, but not inside the target
// of another pointer.
func (v *delveVariable) text(follow, inTarget bool) string {
	if v.Unreadable != "" {
		return "<unreadable " + v.Unreadable + ">"
	}
	switch v.Kind {
	case reflect.String:
		return strconv.Quote(v.Value)
	case reflect.Slice, reflect.Array:
		return "[" + strings.Join(v.elements(inTarget), " ") + "]"
	case reflect.Struct:
		var parts []string
		for i := range v.Children {
			parts = append(parts, v.Children[i].Name+":"+v.Children[i].text(false, inTarget))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case reflect.Map:
		var parts []string
		for i := 0; i+1 < len(v.Children); i += 2 {
			parts = append(parts, v.Children[i].text(false, inTarget)+":"+v.Children[i+1].text(false, inTarget))
		}
		if v.Base == 0 && v.Len == 0 {
			return "nil"
		}
		return "map[" + strings.Join(parts, " ") + "]"
	case reflect.Interface:
		if len(v.Children) == 0 || v.Children[0].Kind == reflect.Invalid {
			return "nil"
		}
		return "(" + v.Children[0].Type + ") " + v.Children[0].text(true, inTarget)
	case reflect.Pointer, reflect.UnsafePointer:
		if len(v.Children) == 0 || v.Children[0].Addr == 0 {
			return "nil"
		}
		out := "0x" + strconv.FormatUint(v.Children[0].Addr, 16)
		if follow && !inTarget && v.Children[0].Kind == reflect.Struct {
			out += ": " + v.Children[0].text(false, true)
		}
		return out
	case reflect.Chan:
		if v.Base == 0 {
			return "nil"
		}
		return "0x" + strconv.FormatUint(v.Base, 16)
	case reflect.Func:
		if v.Value == "" {
			return "nil"
		}
		return "func <" + v.Value + ">"
	case reflect.Complex64, reflect.Complex128:
		if len(v.Children) == 2 {
			im := v.Children[1].Value
			if !strings.HasPrefix(im, "-") {
				im = "+" + im
			}
			return v.Children[0].Value + im + "i"
		}
	}
	return delveNumber.ReplaceAllString(v.Value, "$1")
}

// elements returns the elements of an array. Of more than three equal elements, only one is shown.
func (v *delveVariable) elements(inTarget bool) (parts []string) {
	for i := 0; i < len(v.Children); {
		text, n := v.Children[i].text(false, inTarget), 1
		for i+n < len(v.Children) && v.Children[i+n].text(false, inTarget) == text {
			n++
		}
		if n > 3 {
			text += " <" + strconv.Itoa(n) + " times>"
		} else {
			n = 1
		}
		parts = append(parts, text)
		i += n
	}
	return parts
}
