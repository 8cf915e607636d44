package fleet

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// manyTables returns tables with rows up to a page's limit; one of each has a hostile name.
func manyTables() *Tables {
	const name = `</script><img src=x onerror="window.hostile=1">`
	t := &Tables{Totals: Totals{Dumps: 5000, OK: 5000}}
	for i := range maxPageRows {
		crash := CrashRow{Signature: fmt.Sprintf("app::Worker<T>::step_%d", i), Reason: "SIGSEGV", Dumps: int64(maxPageRows - i), Example: fmt.Sprintf("d/%d.dmp", i)}
		row := NewModuleRow(Module{fmt.Sprintf("lib%d.so", i), "A0"}, Counts{Dumps: 1, Callers: Trusts{Scan: int64(i + 1)}, Example: Example{"d/1.dmp", 1}})
		if i == 7 {
			crash.Signature, row.Module = name, name
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
const [crashes, modules] = document.querySelectorAll("table.searched");
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
  await search("");
  crashes.tHead.querySelector("button").click();
  put("fewest", first(crashes));
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
	if err := manyTables().WriteHTML(&b, HTMLOptions{Generator: "x", Link: func(dump string) string { return dump }}); err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile(`script-src &#39;sha256-[^ "]*&#39;`).ReplaceAllString(b.String(), "script-src &#39;unsafe-inline&#39;")
	dom := testenv.DOM(t, strings.Replace(page, "</body>", "<script>"+summaryUser+"</script></body>", 1))
	m := regexp.MustCompile(`(?s)<pre id="seen">(.*?)</pre>`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("the scripts did not run:\n%.2000s", dom)
	}
	const want = `ready=yes
all=4,000 of 4,000 rows
found=1 of 4,000 rows: 7660.0%app::Worker<T>::step_1234SIGSEGVd/1234.dmp
hostile=2 of 4,000 rows undefined 0
fewest=10.0%app::Worker<T>::step_1999SIGSEGVd/1999.dmp
narrow=true`
	if got := html.UnescapeString(m[1]); got != want {
		t.Errorf("in the browser:\n%s\nwant:\n%s", got, want)
	}
}
