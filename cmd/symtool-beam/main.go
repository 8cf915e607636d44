// Command symtool-beam walks the stacks of any number of crash dumps as an Apache
// Beam pipeline: on this machine, or on Flink, Spark or Dataflow. It writes the lines
// of symtool walk --format jsonl, and tables of how each module's frames were found.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3" // s3://; gs:// and local files come with beamx
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/symtool/symtool/internal/bin"
)

// Exit statuses, with symtool's numbers.
const (
	statusOK     = 0
	statusUsage  = 2
	statusInput  = 3
	statusOutput = 4
)

func main() {
	var f flags
	f.register(flag.CommandLine)
	flag.Usage = func() { f.usage(flag.CommandLine) }
	flag.Parse()
	quiet(f.verbose)
	beam.Init() // in a worker, this does not return
	status, err := f.run(context.Background(), flag.Args(), os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "symtool-beam: %v\n", err)
	}
	os.Exit(status)
}

func (f *flags) usage(set *flag.FlagSet) {
	w := set.Output()
	fmt.Fprint(w, "Usage: symtool-beam [flags] --output FOLDER --symbols PATH DUMP...\n\n",
		"DUMP is a minidump or an ELF core, a folder, a pattern, or a file of gs:// or s3://.\n\nFlags:\n")
	for _, name := range f.names {
		x := set.Lookup(name)
		value, text := flag.UnquoteUsage(x)
		if x.DefValue != "" && x.DefValue != "0" && x.DefValue != "false" {
			text += " (default " + x.DefValue + ")"
		}
		fmt.Fprintf(w, "  %-22s %s\n", "--"+name+" "+value, text)
	}
	fmt.Fprint(w, "\nThe other flags are those of Beam's runners, as --runner, --endpoint and\n--environment_type: see README.md.\n")
}

// run makes the pipeline and runs it.
func (f *flags) run(ctx context.Context, operands []string, stdin io.Reader, stdout io.Writer) (int, error) {
	if err := f.check(); err != nil {
		return statusUsage, err
	}
	if len(operands)+len(f.lists) == 0 {
		return statusUsage, fmt.Errorf("no DUMP and no --list")
	}
	names, err := findInputs(ctx, operands, f.lists, stdin)
	if err != nil {
		return statusInput, err
	}
	if len(names) == 0 {
		return statusInput, fmt.Errorf("--list names no dump")
	}
	if err := f.checkPlaces(); err != nil {
		return statusInput, err
	}
	if err := checkEmpty(ctx, f.output); err != nil {
		return statusOutput, err
	}
	shards, err := writeManifest(ctx, f.output, names, f.shardSize)
	if err != nil {
		return statusOutput, fmt.Errorf("%s: %w", f.output, err)
	}
	p, s := beam.NewPipelineWithRoot()
	build(s, f.config, f.output, shards)
	result, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return statusInput, err
	}
	if f.verbose && result != nil {
		writeMetrics(os.Stderr, result.Metrics())
	}
	if *jobopts.Async {
		return statusOK, nil
	}
	return f.end(ctx, stdout)
}

// checkEmpty returns an error if a folder contains files: lines of another run would mix with
// ours.
func checkEmpty(ctx context.Context, dir string) error {
	var files []string
	var err error
	if isRemote(dir) {
		files, err = listRemote(ctx, join(dir, "*"))
	} else {
		var entries []os.DirEntry
		if entries, err = os.ReadDir(dir); os.IsNotExist(err) {
			return nil
		}
		for _, e := range entries {
			files = append(files, e.Name())
		}
	}
	if err == nil && len(files) > 0 {
		err = fmt.Errorf("there are files in it, such as %s: want an empty folder", files[0])
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, bin.WithoutPath(err))
	}
	return nil
}

// checkPlaces looks for the symbols before the job starts, if its workers are in this process.
func (f *flags) checkPlaces() error {
	switch strings.ToLower(strings.TrimSuffix(*runners.Runner, "Runner")) {
	case "", "prism", "direct":
	default:
		return nil
	}
	sources, err := f.config.sources(nil)
	if err != nil {
		return err
	}
	return sources.Close()
}

// end prints the results of the pipeline.
func (f *flags) end(ctx context.Context, stdout io.Writer) (int, error) {
	in, err := openRead(ctx, join(f.output, summaryFile))
	if err != nil {
		return statusOutput, fmt.Errorf("the job is done, but its summary cannot be read here: %w", err)
	}
	defer in.Close()
	var s totals
	if err := json.NewDecoder(in).Decode(&s); err != nil {
		return statusOutput, fmt.Errorf("%s: %w", join(f.output, summaryFile), err)
	}
	report, err := openRead(ctx, join(f.output, "report.txt"))
	if err != nil {
		return statusOutput, err
	}
	defer report.Close()
	if _, err := io.Copy(stdout, report); err != nil {
		return statusOutput, err
	}
	if s.Damaged+s.Failed > 0 {
		return statusInput, nil
	}
	return statusOK, nil
}
