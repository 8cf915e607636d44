package lint

import (
	"bytes"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/testenv"
)

// hostileName would be markup, script or the end of either.
const hostileName = "</script><script>window.hostile=1</script><img src=x onerror=\"window.hostile=1\">'\"&`\x00\x1b[31m\xff\u202e\u2028{{.}}"

// hostilePage is the page about a file with such names everywhere.
func hostilePage(t testing.TB) string {
	t.Helper()
	m, r := mapText(t, "FILE 0 "+hostileName+"\nMODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 "+hostileName+"\n"+
		"FUNC 1000 100 0 "+hostileName+"\n1000 80 1 0\nFUNC 2000 80 0 plain\n2040 40 1 0\nSTACK CFI INIT 2000 80 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nFUNC zz 0 0 "+hostileName+"\n")
	r.File = hostileName
	for i := range r.Findings {
		r.Findings[i].Message += hostileName
		r.Findings[i].Function = hostileName
	}
	var page strings.Builder
	second := *r
	results := &Results{Version: "test", Reports: []*Report{r, &second}}
	if err := WriteHTML(&page, results, map[*Report]*Map{r: m}); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// Names of files are text, whatever they are, and the page loads nothing.
func TestHTMLHostile(t *testing.T) {
	page := hostilePage(t)
	for _, bad := range []string{"<script>window", "<img", "</script><script>w", "\x00", "src=\"", "http://", "https://", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d scripts, want the chart and the program", n)
	}
	if !utf8.ValidString(page) {
		t.Error("the page is not UTF-8")
	}
	if !strings.Contains(page, "&lt;/script&gt;") || !strings.Contains(page, `\u003c/script\u003e`) {
		t.Error("the name is not there as text")
	}
}

// dumpDOM loads a page in Chromium, and returns the document after its scripts.
func dumpDOM(t *testing.T, page string) string {
	t.Helper()
	browser := testenv.Tool(t, "chromium")
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(), "--virtual-time-budget=5000", "--dump-dom", "file://"+file)
	cmd.Stderr = &stderr
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, stderr.String())
	}
	return string(dom)
}

// userScript does what a reader of the page does, and writes down what it sees.
const userScript = `<script>
const told = [], tell = (what, value) => told.push(what + "=" + value);
window.addEventListener("load", () => {
  const section = document.querySelector("section.file"), q = s => section.querySelector(s);
  const canvas = q("canvas"), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const colors = new Set();
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] == 255) colors.add(pixels.slice(i, i + 3).join());
  tell("colors", colors.size >= 4);
  tell("drawn", canvas.dataset.drawn);
  const rect = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new MouseEvent("click", {clientX: rect.left + rect.width * 0.9, clientY: rect.top + 9, bubbles: true}));
  tell("full", q(".detail p").textContent);
  canvas.dispatchEvent(new MouseEvent("click", {clientX: rect.left + rect.width * 0.6, clientY: rect.top + 9, bubbles: true}));
  tell("gaps", [...q(".detail").querySelectorAll("tr.gap")].map(r => r.cells[0].textContent + " " + r.cells[2].textContent).join("; "));
  tell("hostile text", q(".detail tr.gap").cells[3].textContent.includes("<script>"));
  canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft"}));
  tell("previous", q(".detail p").textContent);
  q(".next").click();
  tell("next", q(".detail p").textContent);
  const worst = () => [...q("table.worst tbody").rows].map(r => r.cells[1].textContent).join();
  tell("worst", worst());
  const heads = q("table.worst thead").querySelectorAll("button");
  heads[0].click(); tell("by name", q("table.worst").tHead.rows[0].cells[0].getAttribute("aria-sort") + " " + worst());
  heads[1].click(); heads[1].click(); tell("by address", worst());
  const shown = () => [...q("table.findings tbody").rows].filter(r => !r.hidden && r.getClientRects().length).map(r => r.dataset.rule);
  const rule = q(".rule");
  tell("all", shown().length == q("table.findings tbody").rows.length);
  rule.value = "SYM101"; rule.dispatchEvent(new Event("input"));
  tell("one rule", [...new Set(shown())].join());
  tell("shown", q(".shown").textContent.startsWith(shown().length + " of "));
  q(".search").value = "no such text"; q(".search").dispatchEvent(new Event("input"));
  tell("none", shown().length);
  tell("hostile", window.hostile === undefined);
  tell("ready", document.documentElement.dataset.ready);
  const pre = document.createElement("pre");
  pre.id = "told"; pre.textContent = told.join("\n");
  document.body.append(pre);
});
</script></body>`

// The page is loaded, clicked at and sorted in a browser.
func TestOracleHTML(t *testing.T) {
	testenv.Oracle(t)
	page := hostilePage(t)
	dom := dumpDOM(t, strings.Replace(page, "</body>", userScript, 1))
	m := regexp.MustCompile(`(?s)<pre id="told">(.*?)</pre>`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("the scripts did not run:\n%.3000s", dom)
	}
	const want = `colors=true
drawn=384
full=2059 to 205a: nothing is missing
gaps=1000 to 1100 no CFI; 1080 to 1100 no lines
hostile text=true
previous=1080 to 1081: 2 gaps
next=2000 to 2001: 1 gap
worst=1000,2000
by name=descending 2000,1000
by address=1000,2000
all=true
one rule=SYM101
shown=true
none=0
hostile=true
ready=yes`
	if got := html.UnescapeString(m[1]); got != want {
		t.Errorf("in the browser:\n%s\nwant:\n%s", got, want)
	}
}
