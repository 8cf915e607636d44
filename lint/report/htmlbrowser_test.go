package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

var programHash = regexp.MustCompile(`&#39;sha256-[^ "]*&#39;`)

// withScript inserts a script after a text of the page, and extends the page's policy, which
// otherwise forbids it.
func withScript(t *testing.T, page, place, script string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(script))
	n := 0
	page = programHash.ReplaceAllStringFunc(page, func(s string) string {
		n++
		return s + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	})
	if n != 1 {
		t.Fatalf("%d hashes in the policy", n)
	}
	return strings.Replace(page, place, place+"<script>"+script+"</script>", 1)
}

// framesScript is for a browser that only dumps the document and draws no frames.
const framesScript = "window.requestAnimationFrame = f => setTimeout(f, 16)"

//go:embed testdata/page_user.js
var userScript string

func userPage(t *testing.T, page string) string {
	t.Helper()
	return withScript(t, withScript(t, page, "<body>", framesScript), "\n</script>", userScript)
}

// The page is loaded, zoomed, panned, clicked and sorted in a browser.
func TestOracleHTML(t *testing.T) {
	testenv.Oracle(t)
	page, seen := userPage(t, hostilePage(t)), ""
	// The page's clock runs while a busy machine is still drawing the first frame, and without that
	// frame there is no map. In that case the test tries again.
	for range 5 {
		dom := testenv.DOM(t, page)
		m := regexp.MustCompile(`(?s)<pre id="seen">(.*?)</pre>`).FindStringSubmatch(dom)
		if m == nil {
			t.Fatalf("the scripts did not run:\n%.3000s", dom)
		}
		if seen = html.UnescapeString(m[1]); !strings.HasPrefix(seen, "picture=false") {
			break
		}
	}
	const want = `picture=true
whole=1000 to c000, 16,768 bytes
bands=6
wheel is taken=true
wheel zooms=true
axis follows=true
wheel with Shift moves=true
wheel out ends at the whole=1000 to c000, 16,768 bytes
wheel at the whole is the page's=true
two halves=4192
left=92f8 to a358, 4,192 bytes
keys=afa0 to c000, 4,192 bytes
home=1000 to 8ee0, 4,192 bytes
dragged=86b0 to 9710, 4,192 bytes
reset=1000 to c000, 16,768 bytes
a part is chosen=1000 to 2080, 384 bytes
labels=</script>,plain
closest=16
under the pointer=b973  ·  FUNC, lines, CFI  ·  long + 0x3973 (line 7)
nothing missing=8000 to c000, 16,384 bytes: nothing is missing
fragment=1000 to 2080, 384 bytes
gap=1080 to 1100, 128 bytes: 1 gap
fragment follows=#file0:1080-1100@1000-2080
hostile text=true
next=2000 to 2040, 64 bytes: 1 gap
previous=1080 to 1100, 128 bytes: 1 gap
link of a gap=1000 to 8080, 512 bytes
linked=2000 to 2040, 64 bytes: 1 gap; 2000 to 2080, 128 bytes
chosen=false 64
beyond=ffffffffffffffff is not on the map: nothing is there.
no place=ffffffffffffffff is not on the map: nothing is there.
worst=1000,2000
by lines=descending 128 (50.00 %),64 (50.00 %)
by address=1000,2000
row of a function=2000 to 2080, 128 bytes: 1 gap
gaps=1000,1080,2000
row of a gap=1000 to 1080, 128 bytes: 1 gap
row of a finding=3000 is not on the map: nothing is there.
all=true
one rule=SYM101 true
severity=note
text=SYM301
none=0
second=2000 to 2040, 64 bytes: 1 gap
hostile=true
ready=yes`
	if seen != want {
		t.Errorf("in the browser:\n%s\nwant:\n%s", seen, want)
	}
}

// A foreign script does not run, and without scripts the page shows the picture and the
// tables, but no controls.
func TestOracleHTMLWithoutScript(t *testing.T) {
	testenv.Oracle(t)
	page := strings.Replace(hostilePage(t), "</body>", "<script>document.documentElement.dataset.ready = 'hostile'</script></body>", 1)
	if dom := testenv.DOM(t, page); !strings.Contains(dom, `data-ready="yes"`) {
		t.Error("the page's script did not run, or another did")
	}
	// Headless Chromium prints nothing if scripts are switched off, so the policy blocks them.
	dom := testenv.DOM(t, programHash.ReplaceAllString(page, "'none'"))
	if strings.Contains(dom, "data-ready") || strings.Contains(dom, `class="on"`) {
		t.Fatal("a script ran")
	}
	for _, want := range []string{`class="overview" hidden`, `<path class="cfi" d="M`, `left:0.00%">1000</span>`, `<a href="#file0:1080-1100">`, "2000</a>"} {
		if !strings.Contains(dom, want) {
			t.Errorf("without scripts, %s is missing", want)
		}
	}
	if !regexp.MustCompile(`html:not\(\.on\) \.scripted \{ display: none; \}`).MatchString(dom) {
		t.Error("controls are visible")
	}
}
