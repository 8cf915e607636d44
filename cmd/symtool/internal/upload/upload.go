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

// tokenVar is the environment variable that has the token.
const tokenVar = "SYMTOOL_UPLOAD_TOKEN"

// The default limits of upload.
const (
	defaultZipSize = 400 << 20
	defaultRetries = 5
	defaultTimeout = 5 * time.Minute
	maxRetries     = 100
)

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
	r := &uploadRun{msgs: msgs, options: upload.Options{
		Retries: defaultRetries, ZipSize: defaultZipSize, Timeout: defaultTimeout, UserAgent: version.Generator, Header: http.Header{},
	}}
	return &cli.Command{
		Name:        "upload",
		Usage:       "send symbol files to a symbol server or a bucket",
		UsageText:   "symtool upload [flags] URL FILE...",
		Description: uploadDescription,
		Flags:       r.flags(),
		Action: func(c *cli.Context) error {
			r.stdout = c.App.Writer
			if err := r.finish(c.Args().Slice()); err != nil {
				return cli.Usagef("upload", "%v", err)
			}
			return r.run(c.Context)
		},
	}
}

// uploadRun is a call of upload.
type uploadRun struct {
	options  upload.Options
	protocol string // of --protocol
	tokens   string // of --token-file
	headers  string // of --header-file
	shown    string // URL, without secrets
	files    []string
	list     string
	resume   string
	output   string // or ""
	json     bool
	verbose  bool
	quiet    bool
	vars     bool // also send files of variables
	unsent   int  // number of files of variables that are not sent

	stdout io.Writer
	msgs   *cli.Messages
	status int
	wanted []store.Place // the modules of the list, in order
}

// flags returns the flags of the command. Their values go to r.
func (r *uploadRun) flags() []cli.Flag {
	o := &r.options
	return []cli.Flag{
		cli.Words(cli.Text("protocol,p", "send files by protocol `HOW`: put, zip, sym-upload-v1 or\nsym-upload-v2; not with s3: URLs", &r.protocol), protocolNames()...),
		cli.Text("token-file", "read the token from the first line of `FILE` instead of\n"+tokenVar, &r.tokens, r.only(upload.V1, upload.V2, upload.Put, upload.Zip)),
		cli.Text("header-file", "also send the headers in `FILE`, one a line (Name: value)", &r.headers),
		cli.Where(cli.ParsedAll("field", "sym-upload-v1, zip: also send the form field `NAME=VALUE`, such as\nversion=1.2", &o.Fields, parseField), r.only(upload.V1, upload.Zip)),
		cli.Switch("gzip", "put, s3: send files compressed, with Content-Encoding: gzip", &o.Gzip, r.only(upload.Put, upload.S3)),
		cli.Where(cli.SizeFlag("zip-size", "zip: make zips of up to `SIZE` bytes; K, M or G (powers of 1024) may\nfollow the number (default 400M)", &o.ZipSize, "a number of bytes, or one with K, M or G"), r.only(upload.Zip)),
		cli.Text("endpoint", "s3: use the server at `URL` instead of AWS_ENDPOINT_URL_S3,\nAWS_ENDPOINT_URL or Amazon's", &o.Endpoint, r.only(upload.S3)),
		cli.Text("region", "s3: use `REGION` instead of AWS_REGION, AWS_DEFAULT_REGION or what\nthe server says", &o.Region, r.only(upload.S3)),
		cli.Text("list", "send only the modules in `LIST`, one a line: NAME/ID, NAME,ID, NAME\nID or a MODULE record; end with status 1 if no FILE has one of\nthem", &r.list),
		cli.Text("resume", "keep a list of the files that were sent in `FILE`, and do not send\nthem again", &r.resume),
		cli.Switch("vars", "put, s3: also send NAME.vars, the variables of modules, of stores", &r.vars, r.only(upload.Put, upload.S3)),
		cli.Switch("force", "also send files that the server already has", &o.Force, r.only(upload.V2, upload.Put, upload.S3)),
		cli.Switch("damaged", "also send files that are cut off or have records that cannot be\nread", &o.Damaged),
		cli.Switch("dry-run", "print what would be sent where, but send nothing and ask no server", &o.DryRun),
		cli.Number("retries", fmt.Sprintf("retry up to `N` times, 0 to 100 (default %d)", o.Retries), &o.Retries, cli.Between(0, maxRetries)),
		cli.Parsed("timeout", "abandon a request without progress for `TIME`, 30s or 5m; 0 for never\n(default 5m)", &o.Timeout, "a second or more, such as 30s or 5m, or 0", parseTimeout),
		cli.OneOf("format", "print the outcome as `FORM`: text (default) or json", &r.json, cli.TextOrJSON),
		cli.Text("output,o", "write the outcome of each file to `FILE`, - for standard output", &r.output),
		cli.JobsFlagOf("send `N` files at once, 1 to 1024 (default: as many as processors)", &o.Jobs),
		cli.VerboseFlag(&r.verbose),
		cli.QuietFlag(&r.quiet),
	}
}

// only returns a condition that requires one of protocols. A call without a protocol fails with
// an error of its own.
func (r *uploadRun) only(protocols ...upload.Protocol) cli.Condition {
	return func(c *cli.Context, flag string) error {
		protocol := upload.Protocol(r.protocol)
		if isBucket(c.Args().First()) {
			protocol = upload.S3
		}
		if protocol == "" || slices.Contains(protocols, protocol) {
			return nil
		}
		return fmt.Errorf("--%s is not for %s", flag, protocol)
	}
}

// parseField reads a form field that accompanies the file.
func parseField(text string) (upload.Field, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return upload.Field{}, cli.Want("NAME=VALUE")
	}
	return upload.Field{Name: name, Value: value}, nil
}

// parseTimeout parses a duration; 0 means no timeout.
func parseTimeout(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= time.Second || text == "0"
}

// finish completes a call whose flags are set.
func (r *uploadRun) finish(args []string) error {
	r.options.Jobs = par.Jobs(r.options.Jobs)
	for _, check := range []func() error{func() error { return r.operands(args) }, r.takeTime, r.takeSecrets, r.takeBucket} {
		if err := check(); err != nil {
			return err
		}
	}
	return cli.NotInput(r.output, append([]string{r.list, r.resume}, r.files...)...)
}

func (r *uploadRun) operands(args []string) error {
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
	r.options.Protocol = upload.Protocol(r.protocol)
	switch {
	case isBucket(args[0]):
		r.options.Protocol = upload.S3
		if r.protocol != "" {
			return errors.New("--protocol is not for buckets (s3:)")
		}
	case !ok && slices.ContainsFunc(args, isURL):
		return fmt.Errorf("the first operand, %s, is not a URL: write the URL before the files", args[0])
	case !ok:
		return fmt.Errorf("the first operand, %s, is not a URL of the scheme http, https or s3", args[0])
	case scheme != "http" && scheme != "https":
		return errors.New("the first operand has a scheme that is not http, https or s3")
	case r.protocol == "":
		return fmt.Errorf("no --protocol, want %s", strings.Join(protocolNames(), ", "))
	}
	r.options.URL, r.files = args[0], args[1:]
	return nil
}

// isBucket reports whether an operand is a bucket's URL.
func isBucket(operand string) bool {
	scheme, _, ok := strings.Cut(operand, "://")
	return ok && strings.EqualFold(scheme, "s3")
}

// isURL reports whether an operand is a URL.
func isURL(operand string) bool { return strings.Contains(operand, "://") }

// takeTime reads the time of the files in zips from the environment.
func (r *uploadRun) takeTime() error {
	if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" && r.options.Protocol == upload.Zip {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > 1<<40 {
			return fmt.Errorf("SOURCE_DATE_EPOCH is %q, want seconds since 1970", text)
		}
		r.options.ZipTime = time.Unix(n, 0)
	}
	return nil
}

// takeSecrets reads the token and the headers.
func (r *uploadRun) takeSecrets() error {
	if file := r.headers; file != "" {
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
	if file := r.tokens; file != "" {
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

// takeBucket reads the flags for the bucket.
func (r *uploadRun) takeBucket() error {
	first := func(value string, variables ...string) string {
		if value != "" {
			return value
		}
		for _, name := range variables {
			if v := os.Getenv(name); v != "" {
				return v
			}
		}
		return ""
	}
	if r.options.Protocol == upload.S3 {
		r.options.Endpoint = first(r.options.Endpoint, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
		r.options.Region = first(r.options.Region, "AWS_REGION", "AWS_DEFAULT_REGION")
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

// maxSmall is the maximum size in bytes of a file that has a token or headers.
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

// readHeaders reads a file of headers. Its errors do not contain malformed lines, which may be
// secrets.
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

// ownHeaders lists headers that a request sets itself and that cannot be overridden.
var ownHeaders = []string{"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Expect", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func isPrintableASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// isToken reports whether s can be the name of a header (RFC 9110, 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
