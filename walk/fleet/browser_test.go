package fleet

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/verify"
)

// manyTables returns tables with more rows than a page has room for; one of each has a hostile name, and
// all verdicts.
func manyTables() *Tables {
	const name = `</script><img src=x onerror="window.hostile=1">`
	t := &Tables{Totals: Totals{Dumps: 5000, OK: 5000}}
	for i := range maxPageRows + 1 {
		crash := CrashRow{Signature: fmt.Sprintf("app::Worker<T>::step_%d", i), Reason: "SIGSEGV", Dumps: int64(maxPageRows + 1 - i), Example: fmt.Sprintf("d/%d.dmp", i)}
		row := NewModuleRow(Module{fmt.Sprintf("lib%d.so", i), "A0"}, Counts{Dumps: 1, Callers: Trusts{Scan: int64(i + 1)}, Example: Example{"d/1.dmp", 1}})
		if i == 7 {
			crash.Signature, crash.Example, row.Module = name, "javascript:"+name+"\u202e?#", name
			t.Verify = &verify.TallyDocument{Findings: []verify.TallyRow{{Kind: "missing-symbols", Module: name, Dumps: 1, Example: name, Text: name}}, Conclusion: name}
		}
		t.Crashes, t.Modules = append(t.Crashes, crash), append(t.Modules, row)
	}
	return t
}

// summaryUser searches and sorts as a person would, and reports what is displayed.
const summaryUser = `
const seen = [], put = (what, text) => seen.push(what + "=" + text);
const shown = () => document.getElementById("shown").textContent;
const first = table => [...table.tBodies[0].rows].find(r => !r.hidden).textContent.replace(/\s+/g, " ").trim();
const [crashes, modules] = document.querySelectorAll("table");
const search = async text => {
  const box = document.getElementById("text");
  box.value = text;
  box.dispatchEvent(new Event("input"));
  await new Promise(done => setTimeout(done, 300));
};
(async () => {
  put("ready", document.documentElement.dataset.ready);
  put("all", shown());
  await search("step_1234");
  put("found", shown() + ": " + first(crashes));
  await search("onerror");
  put("hostile", shown() + " " + window.hostile + " " + document.images.length);
  put("link", crashes.querySelector("a").getAttribute("href"));
  put("name", crashes.querySelector("a").textContent);
  await search("");
  crashes.tHead.querySelector("button").click();
  put("fewest", first(crashes));
  put("rows", [...document.querySelectorAll("table")].map(t => t.tBodies[0].rows.length));
  put("more", [...document.querySelectorAll(".scroll + p")].map(p => p.textContent));
  put("left", document.body.textContent.match(/no room for \d+ more/));
  put("verdict", document.getElementById("verdict").textContent);
  dispatchEvent(new KeyboardEvent("keydown", {key: "/"}));
  put("narrow", document.documentElement.scrollWidth <= innerWidth);
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = seen.join("\n");
  document.body.append(out);
})();`

// The page of a summary is searched and sorted in a browser, and hostile names run nothing.
func TestOracleHTML(t *testing.T) {
	testenv.Oracle(t)
	var b strings.Builder
	if err := manyTables().WriteHTML(&b, HTMLOptions{Generator: "x", Root: "../a b"}); err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile(`script-src &#39;sha256-[^ "]*&#39;`).ReplaceAllString(b.String(), "script-src &#39;unsafe-inline&#39;")
	dom := testenv.DOM(t, strings.Replace(page, "</body>", "<script>"+summaryUser+"</script></body>", 1))
	m := regexp.MustCompile(`(?s)<pre id="seen">(.*?)</pre>`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("the scripts did not run:\n%.2000s", dom)
	}
	const want = `ready=yes
all=20,001 of 20,001 rows
found=1 of 20,001 rows: 87670.0%app::Worker<T>::step_1234SIGSEGVd/1234.dmp
hostile=3 of 20,001 rows undefined 0
link=./../a%20b/javascript%3A%3C/script%3E%3Cimg%20src%3Dx%20onerror%3D%22window.hostile%3D1%22%3E%E2%80%AE%3F%23
name=javascript:</script><img src=x onerror="window.hostile=1">\u202e?#
fewest=20.0%app::Worker<T>::step_9999SIGSEGVd/9999.dmp
rows=2000,2000,1
more=8,000 more: search for them, or sort by another column.,8,000 more: search for them, or sort by another column.,
left=no room for 2 more
verdict=symbols to blame: 50015001 of 50015001 callers guessed, 0 ends too early, 0 frames without a function, in 5000 dumps; 0% of it by lib0.so A0, which has no symbols</script><img src=x onerror="window.hostile=1">
narrow=true`
	if got := html.UnescapeString(m[1]); got != want {
		t.Errorf("in the browser:\n%s\nwant:\n%s", got, want)
	}
}
