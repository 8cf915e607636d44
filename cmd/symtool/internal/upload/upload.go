// Package upload implements symtool upload.
package upload

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/upload"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve/store"
)

const uploadDescription = `
FILE is a symbol file, compressed or not, or a store, all of whose files are
sent: NAME/ID/NAME.sym, with --vars also NAME/ID/NAME.vars. A file is read to
its end and checked before any of it is sent.

URL and --protocol say where files go, and how:
put sends each file with PUT to URL/NAME/ID/NAME.sym, which WebDAV and many
servers accept. The token is sent as Authorization: Bearer.
zip sends zips to URL with POST, as Mozilla's symbol server accepts them, with
the token as Auth-Token.
sym-upload-v1 and sym-upload-v2 are Breakpad's. For the second, URL is the
beginning of the API's addresses, and the token is its key.
s3://BUCKET/PREFIX is an S3-compatible bucket. Credentials come from AWS's
variables (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
AWS_PROFILE), its files, or the machine's role.

The token is in the variable SYMTOOL_UPLOAD_TOKEN or in --token-file, because
everyone on a machine can read command lines. It is sent only to the server of
URL. Proxies come from HTTP_PROXY, HTTPS_PROXY and NO_PROXY.

Files that the server already has are not sent: put compares sizes with HEAD; s3
compares size and checksum; sym-upload-v2 asks; the answer to a zip says it.
Failures with 408, 425, 429 or 5xx, and of the connection, are retried after a
second, two, four, up to a minute, or when Retry-After says. A file that fails
does not stop the others; after three in a row whose retries all failed, or 401,
the rest is not tried.

Examples:
  symtool upload https://symbols.example.com symbols
  symtool upload --protocol zip --token-file token URL app.sym
`

// tokenVar is the variable with the token.
const tokenVar = "SYMTOOL_UPLOAD_TOKEN"

// The limits of upload that hold without flags.
const (
	defaultZipSize = "400M"
	defaultRetries = 5
	defaultTimeout = "5m"
	maxRetries     = 100
)

// uploadFlagProtocols maps flags to the only protocols that have them.
var uploadFlagProtocols = map[string][]upload.Protocol{
	"field":      {upload.V1, upload.Zip},
	"gzip":       {upload.Put, upload.S3},
	"zip-size":   {upload.Zip},
	"endpoint":   {upload.S3},
	"region":     {upload.S3},
	"token-file": {upload.V1, upload.V2, upload.Put, upload.Zip},
	"force":      {upload.V2, upload.Put, upload.S3},
	"vars":       {upload.Put, upload.S3},
}

func protocolNames() (names []string) {
	for _, p := range upload.Protocols {
		if p != upload.S3 {
			names = append(names, string(p))
		}
	}
	return names
}

// Command returns the command symtool upload.
func Command(msgs *cli.Messages) *cli.Command {
	return &cli.Command{
		Name:        "upload",
		Usage:       "send symbol files to a symbol server or a bucket",
		UsageText:   "symtool upload [flags] URL FILE...",
		Description: uploadDescription,
		Flags:       uploadFlags(),
		Action: func(c *cli.Context) error {
			r, err := newUploadRun(c)
			if err != nil {
				return cli.Usagef("upload", "%v", err)
			}
			r.stdout, r.msgs = c.App.Writer, msgs
			return r.run(c.Context)
		},
	}
}

func uploadFlags() []cli.Flag {
	return []cli.Flag{
		cli.Words(&cli.StringFlag{Name: "protocol", Aliases: []string{"p"}, Usage: "send files by protocol `HOW`: put, zip, sym-upload-v1 or\nsym-upload-v2; not with s3: URLs"}, protocolNames()...),
		&cli.StringFlag{Name: "token-file", Usage: "read the token from the first line of `FILE` instead of\n" + tokenVar},
		&cli.StringFlag{Name: "header-file", Usage: "also send the headers in `FILE`, one a line (Name: value)"},
		&cli.StringSliceFlag{Name: "field", Usage: "sym-upload-v1, zip: also send the form field `NAME=VALUE`, such as\nversion=1.2"},
		&cli.BoolFlag{Name: "gzip", Usage: "put, s3: send files compressed, with Content-Encoding: gzip"},
		&cli.StringFlag{Name: "zip-size", Usage: "zip: make zips of up to `SIZE` bytes; K, M or G (powers of 1024) may\nfollow the number (default " + defaultZipSize + ")", Value: defaultZipSize},
		&cli.StringFlag{Name: "endpoint", Usage: "s3: use the server at `URL` instead of AWS_ENDPOINT_URL_S3,\nAWS_ENDPOINT_URL or Amazon's"},
		&cli.StringFlag{Name: "region", Usage: "s3: use `REGION` instead of AWS_REGION, AWS_DEFAULT_REGION or what\nthe server says"},
		&cli.StringFlag{Name: "list", Usage: "send only the modules in `LIST`, one a line: NAME/ID, NAME,ID, NAME\nID or a MODULE record; end with status 1 if no FILE has one of\nthem"},
		&cli.StringFlag{Name: "resume", Usage: "keep a list of the files that were sent in `FILE`, and do not send\nthem again"},
		&cli.BoolFlag{Name: "vars", Usage: "put, s3: also send NAME.vars, the variables of modules, of stores"},
		&cli.BoolFlag{Name: "force", Usage: "also send files that the server already has"},
		&cli.BoolFlag{Name: "damaged", Usage: "also send files that are cut off or have records that cannot be\nread"},
		&cli.BoolFlag{Name: "dry-run", Usage: "print what would be sent where, but send nothing and ask no server"},
		&cli.IntFlag{Name: "retries", Usage: fmt.Sprintf("retry up to `N` times, 0 to 100 (default %d)", defaultRetries), Value: defaultRetries},
		&cli.StringFlag{Name: "timeout", Usage: "abandon a request without progress for `TIME`, 30s or 5m; 0 for never\n(default " + defaultTimeout + ")", Value: defaultTimeout},
		cli.Words(&cli.StringFlag{Name: "format", Usage: "print the outcome as `FORM`: text (default) or json", Value: cli.FormatText}, cli.FormatText, cli.FormatJSON),
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the outcome of each file to `FILE`, - for standard output"},
		cli.JobsFlagOf("send `N` files at once, 1 to 1024 (default: as many as processors)"),
		cli.VerboseFlag(),
		&cli.BoolFlag{Name: "quiet", Usage: "print only errors"},
	}
}

// uploadRun is a call of upload, with its arguments checked.
type uploadRun struct {
	options upload.Options
	shown   string // URL, without secrets
	files   []string
	list    string
	resume  string
	output  string // or ""
	json    bool
	verbose bool
	quiet   bool
	vars    bool // send files of variables, too
	unsent  int  // files of variables that are not sent

	stdout io.Writer
	msgs   *cli.Messages
	status int
	wanted []store.Place // the list, in its order
}

func newUploadRun(c *cli.Context) (*uploadRun, error) {
	r := &uploadRun{
		list: c.String("list"), resume: c.String("resume"), output: c.String("output"), verbose: c.Bool("verbose"), quiet: c.Bool("quiet"), vars: c.Bool("vars"),
		options: upload.Options{
			Gzip: c.Bool("gzip"), Force: c.Bool("force"), Damaged: c.Bool("damaged"), DryRun: c.Bool("dry-run"),
			Retries: c.Int("retries"), Jobs: par.Jobs(c.Int("jobs")), UserAgent: version.Generator,
			Header: http.Header{},
		},
	}
	for _, check := range []func(*cli.Context) error{r.operands, r.checkFlags, r.checkValues, r.takeFields, r.takeSecrets, r.takeBucket} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *uploadRun) operands(c *cli.Context) error {
	args := c.Args().Slice()
	switch {
	case len(args) == 0:
		return errors.New("no URL")
	case len(args) == 1 && !isURL(args[0]):
		return fmt.Errorf("no URL before %s", args[0])
	case len(args) == 1:
		return errors.New("no FILE")
	case slices.Contains(args, ""):
		return errors.New("the name of a file is empty")
	case slices.Contains(args, "-"):
		return errors.New("standard input can be read only once, but files are read several times")
	}
	scheme, _, ok := strings.Cut(args[0], "://")
	switch {
	case ok && strings.EqualFold(scheme, "s3"):
		r.options.Protocol = upload.S3
		if c.IsSet("protocol") {
			return errors.New("--protocol is not for buckets (s3:)")
		}
	case !ok && slices.ContainsFunc(args, isURL):
		return fmt.Errorf("the first operand, %s, is not a URL: write the URL before the files", args[0])
	case !ok:
		return fmt.Errorf("the first operand, %s, is not a URL of the scheme http, https or s3", args[0])
	case scheme != "http" && scheme != "https":
		return errors.New("the first operand has a scheme that is not http, https or s3")
	case !c.IsSet("protocol"):
		return fmt.Errorf("no --protocol, want %s", strings.Join(protocolNames(), ", "))
	default:
		r.options.Protocol = upload.Protocol(c.String("protocol"))
	}
	r.options.URL, r.files = args[0], args[1:]
	return nil
}

// isURL reports whether an operand is a URL.
func isURL(operand string) bool { return strings.Contains(operand, "://") }

// checkFlags rejects flags of other protocols.
func (r *uploadRun) checkFlags(c *cli.Context) error {
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) {
			continue
		}
		if of := uploadFlagProtocols[name]; of != nil && !slices.Contains(of, r.options.Protocol) {
			return fmt.Errorf("--%s is not for %s", name, r.options.Protocol)
		}
		if s, ok := c.Value(name).(string); ok && s == "" {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	if r.verbose && r.quiet {
		return errors.New("--verbose and --quiet exclude each other")
	}
	return nil
}

func (r *uploadRun) checkValues(c *cli.Context) (err error) {
	r.json = c.String("format") == cli.FormatJSON
	if n := c.Int("retries"); n < 0 || n > maxRetries {
		return fmt.Errorf("--retries is %d, want 0 to %d", n, maxRetries)
	}
	if r.options.ZipSize, err = cli.ParseSize(c.String("zip-size")); err != nil || r.options.ZipSize == 0 {
		return fmt.Errorf("--zip-size is %q, want a number of bytes, or one with K, M or G", c.String("zip-size"))
	}
	if text := c.String("timeout"); text != "0" {
		if r.options.Timeout, err = time.ParseDuration(text); err != nil || r.options.Timeout < time.Second {
			return fmt.Errorf("--timeout is %q, want a second or more, such as 30s or 5m, or 0", text)
		}
	}
	if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" && r.options.Protocol == upload.Zip {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > 1<<40 {
			return fmt.Errorf("SOURCE_DATE_EPOCH is %q, want seconds since 1970", text)
		}
		r.options.ZipTime = time.Unix(n, 0)
	}
	return cli.NotInput(r.output, append([]string{r.list, r.resume}, r.files...)...)
}

// takeFields reads the form fields that accompany the file.
func (r *uploadRun) takeFields(c *cli.Context) error {
	for _, text := range c.StringSlice("field") {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return fmt.Errorf("--field is %q, want NAME=VALUE", text)
		}
		r.options.Fields = append(r.options.Fields, upload.Field{Name: name, Value: value})
	}
	return nil
}

// takeSecrets takes the token and the headers.
func (r *uploadRun) takeSecrets(c *cli.Context) error {
	if file := c.String("header-file"); file != "" {
		if err := readHeaders(file, r.options.Header); err != nil {
			return err
		}
		if r.options.Header.Get("Content-Type") != "" && r.options.Protocol != upload.Put && r.options.Protocol != upload.S3 {
			return fmt.Errorf("%s: Content-Type is set by the program for %s", file, r.options.Protocol)
		}
	}
	if r.options.Protocol == upload.S3 {
		return nil
	}
	from, token := tokenVar, os.Getenv(tokenVar)
	if file := c.String("token-file"); file != "" {
		text, err := readSmall(file)
		if err != nil {
			return err
		}
		from = file
		token, _, _ = strings.Cut(text, "\n")
		token = strings.TrimSpace(token)
		if token == "" {
			return fmt.Errorf("%s: no token in the first line", file)
		}
	}
	if !isPrintableASCII(token) {
		return fmt.Errorf("%s: the token has characters that headers cannot contain", from)
	}
	r.options.Token = token
	return nil
}

// takeBucket reads the flags of the bucket.
func (r *uploadRun) takeBucket(c *cli.Context) error {
	first := func(flag string, variables ...string) string {
		if c.IsSet(flag) {
			return c.String(flag)
		}
		for _, name := range variables {
			if v := os.Getenv(name); v != "" {
				return v
			}
		}
		return ""
	}
	if r.options.Protocol == upload.S3 {
		r.options.Endpoint = first("endpoint", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
		r.options.Region = first("region", "AWS_REGION", "AWS_DEFAULT_REGION")
		r.options.NoRole = os.Getenv("AWS_EC2_METADATA_DISABLED") == "true" && os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") == "" &&
			os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") == "" && os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") == ""
	}
	// Check all options together, without those that change per run.
	u, err := upload.New(r.options)
	if err != nil {
		return err
	}
	r.shown = u.Shown()
	return nil
}

// maxSmall is the maximum size in bytes of a file with a token or headers.
const maxSmall = 64 << 10

func readSmall(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", errors.New(cli.Named(name, err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err != nil {
		return "", errors.New(cli.Named(name, err))
	}
	if len(text) > maxSmall {
		return "", fmt.Errorf("%s: over %d bytes", name, maxSmall)
	}
	return string(text), nil
}

// readHeaders reads a file of headers. It does not print malformed lines, which may be secrets.
func readHeaders(name string, into http.Header) error {
	text, err := readSmall(name)
	if err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !ok || !isToken(key) || !isPrintableASCII(value) {
			return fmt.Errorf("%s: line %d: want Name: value", name, n)
		}
		key = http.CanonicalHeaderKey(key)
		if slices.Contains(ownHeaders, key) {
			return fmt.Errorf("%s: line %d: %s is set by the program", name, n, key)
		}
		into.Add(key, value)
	}
	return nil
}

// ownHeaders are headers that a request sets itself, and that cannot be overridden.
var ownHeaders = []string{"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Expect", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func isPrintableASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// isToken reports whether a text is the name of a header (RFC 9110, 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
