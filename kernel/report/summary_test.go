package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"warpbook/kernel/fallbackfont"
	"warpbook/kernel/leaf/record"
	"warpbook/kernel/nbformat"
)

// timed is a record of times: of ours, of a library's and of a limit.
func timed(date, clock string, ours, theirs [3]float64) map[string]any {
	row := func(name, library string, t [3]float64) map[string]any {
		return map[string]any{"name": name, "verdict": record.Pass, "clock": clock, "library": library,
			"total": map[string]any{"median_ns": t[0], "low_ns": t[1], "high_ns": t[2]}}
	}
	return map[string]any{record.MIME: map[string]any{"kind": record.Figures, "title": "latency of sum: n = 5",
		"environment": map[string]any{"device": "a GPU", "date": date, "commit": "commit abc", "method": "events"},
		"rows":        []any{row("slow", "", [3]float64{9000, 9000, 9000}), row("fast", "", ours), row("lib", "lib 1", theirs), row("limit", record.NoLibrary, [3]float64{1, 1, 1})},
	}, "text/html": `<table><tr><td>fast</td></tr></table><details><summary><small>a GPU: method and environment</small></summary><small>method: events</small></details>`}
}

func summaryOf(t *testing.T, nb *nbformat.Notebook) (summary string, root *html.Node) {
	t.Helper()
	_, root = render(t, nb)
	for _, d := range find(root, atom.Div, "summary") {
		summary += strings.Join(strings.Fields(nodeText(d)), " ")
	}
	return summary, root
}

// A page opens with the best of ours beside the best library, the device, date and commit.
func TestSummary(t *testing.T) {
	for name, test := range map[string]struct {
		clock        string
		ours, theirs [3]float64
		want         string
	}{
		"apart":    {record.Time, [3]float64{2000, 1900, 2100}, [3]float64{3000, 2900, 3100}, "sum: n = 5: fast 2 us (1.9 – 2.1), the fastest library lib 3 us (2.9 – 3.1): 1.50 times as long (Environment 1)"},
		"overlap":  {record.Time, [3]float64{2000, 1900, 2950}, [3]float64{3000, 2900, 3100}, "the intervals overlap"},
		"emulated": {record.EmulatorTime, [3]float64{2000, 1900, 2100}, [3]float64{3000, 2900, 3100}, "Times are those of the emulation"},
	} {
		nb := &nbformat.Notebook{Name: "a.ipynb", Cells: []*nbformat.Cell{{Type: nbformat.Markdown, ID: "m", Source: "# Title\n\nFirst words"},
			{Type: nbformat.Code, ID: "c", Source: "x", Outputs: []*nbformat.Output{bundle(timed("2026-11-24T00:16:33Z", test.clock, test.ours, test.theirs))}}}}
		summary, root := summaryOf(t, nb)
		for _, want := range []string{test.want, "a GPU", "2026-11-24", "commitabc", "latency of sum"} {
			if !strings.Contains(summary, want) {
				t.Errorf("%s: %q is not in the summary %q", name, want, summary)
			}
		}
		if text := nodeText(root); strings.Index(text, "commitabc") > strings.Index(text, "First words") || len(find(root, atom.H1, "")) != 1 {
			t.Errorf("%s: the summary does not stand between the title and the prose", name)
		}
	}
	if summary, _ := summaryOf(t, &nbformat.Notebook{Name: "a.ipynb", Cells: []*nbformat.Cell{{Type: nbformat.Markdown, ID: "m", Source: "# Title"}}}); summary != "" {
		t.Errorf("a notebook without records has the summary %q", summary)
	}
}

// Without times of a GPU the result is the best rung by counters, of all tables of a title, and
// times are labelled. Times of a GPU are the result where there are some.
func TestCountedResult(t *testing.T) {
	counted := func(title string, rows ...map[string]any) map[string]any {
		return map[string]any{record.MIME: map[string]any{"kind": record.Counters, "title": "counters of " + title, "rows": rows}}
	}
	row := func(name, verdict string, sectors, wavefronts, instructions int) map[string]any {
		return map[string]any{"name": name, "verdict": verdict, "total": map[string]any{"WarpInstructions": instructions,
			"GlobalLoad": map[string]any{"Sectors": sectors - 10}, "GlobalStore": map[string]any{"Sectors": 10}, "SharedAtomic": map[string]any{"Wavefronts": wavefronts}}}
	}
	two := [3]float64{2000, 1900, 2100}
	for clock, want := range map[string]string{
		record.EmulatorTime: "sum: n = 5: third, the best of 4 rungs by counters: 12 345 sectors of global memory (the most: first, 20 000)",
		record.Time:         "sum: n = 5: fast 2 us",
	} {
		nb := &nbformat.Notebook{Name: "a.ipynb", Cells: []*nbformat.Cell{{Type: nbformat.Code, ID: "c", Source: "x", Outputs: []*nbformat.Output{
			bundle(counted("sum: n = 5", row("wrong", record.Fail, 11, 1, 1), row("first", record.Pass, 20000, 0, 9), row("second", record.Pass, 12345, 8, 1))),
			bundle(counted("sum: n = 5", row("third", record.Pass, 12345, 4, 9), row("fourth", record.Pass, 12345, 4, 10), row("first", record.Pass, 20000, 0, 9))),
			bundle(counted("alone: n = 5", row("only", record.Pass, 20, 0, 9))),
			bundle(counted("equal: n = 5", row("only this", record.Pass, 20, 0, 9), row("only that", record.Pass, 20, 0, 9))),
			bundle(timed("2026-11-24T00:16:33Z", clock, two, two)),
		}}}}
		summary, _ := summaryOf(t, nb)
		emulated := clock == record.EmulatorTime
		if !strings.Contains(summary, want) || strings.Contains(summary, "by counters") != emulated || strings.Contains(summary, "latency of sum: n = 5 (emulator time)") != emulated || strings.Contains(summary, "only") {
			t.Errorf("%s: the summary %q, expected %q", clock, summary, want)
		}
	}
}

// A table that is shown twice stands once, and so does an environment; a later date is a
// range. Tables of equal numbers and other titles are two.
func TestOnce(t *testing.T) {
	two := [3]float64{2000, 1900, 2100}
	other := timed("2026-11-24T00:00:03Z", record.Time, two, two)
	other["text/html"] = "<p><strong>other</strong></p>" + other["text/html"].(string)
	_, root := summaryOf(t, &nbformat.Notebook{Name: "a.ipynb", Cells: []*nbformat.Cell{{Type: nbformat.Code, ID: "c", Source: "x", Outputs: []*nbformat.Output{
		bundle(timed("2026-11-24T00:00:01Z", record.Time, two, two)), bundle(timed("2026-11-24T00:00:02Z", record.Time, two, two)), bundle(other),
		bundle(map[string]any{"image/svg+xml": "<svg/>"}), bundle(map[string]any{"image/svg+xml": "<svg/>"}),
	}}}})
	if n := len(find(root, atom.Table, "")); n != 2 {
		t.Errorf("%d tables, expected the first and that of another title", n)
	}
	text := nodeText(root)
	for part, want := range map[string]int{"Table 1 again": 1, "Figure 1 again": 1, "method and environment": 0, "2026-11-24T00:00:01Z – 2026-11-24T00:00:03Z": 1} {
		if got := strings.Count(text, part); got != want {
			t.Errorf("%q is %d times in the page, expected %d", part, got, want)
		}
	}
	if n := len(find(find(root, atom.Footer, "")[0], atom.Dl, "")); n != 1 {
		t.Errorf("%d environments, expected one", n)
	}
}

// The plot of a summary is that of a tagged cell: of main-plot-emulated where all times are
// those of the emulation, of main-plot elsewhere. Without a tagged plot it follows the first
// times of a GPU, and without those it is the first one.
func TestMainPlot(t *testing.T) {
	two := [3]float64{2000, 1900, 2100}
	for _, test := range []struct {
		clock string
		tags  string // cell=tag
		want  string
	}{
		{record.Time, "", "timed"},
		{record.EmulatorTime, "", "before"},
		{record.Time, "last=main-plot", "last"},
		{record.EmulatorTime, "last=main-plot", "last"},
		{record.Time, "last=main-plot before=main-plot-emulated", "last"},
		{record.EmulatorTime, "timed=main-plot last=main-plot-emulated", "last"},
		{record.Time, "last=main-plot-emulated", "timed"},
		{record.EmulatorTime, "timed=main-plot none=main-plot-emulated", "timed"},
	} {
		cell := func(id string, outputs ...*nbformat.Output) *nbformat.Cell {
			c := &nbformat.Cell{Type: nbformat.Code, ID: id, Source: "x", Outputs: outputs, Metadata: map[string]any{}}
			for _, pair := range strings.Fields(test.tags) {
				if of, tag, _ := strings.Cut(pair, "="); of == id {
					c.Metadata["tags"] = []any{tag}
				}
			}
			return c
		}
		plot := func() *nbformat.Output { return bundle(map[string]any{"image/svg+xml": "<svg/>"}) }
		_, root := summaryOf(t, &nbformat.Notebook{Name: "a.ipynb", Cells: []*nbformat.Cell{
			cell("before", plot()), cell("timed", bundle(timed("2026-11-24T00:00:01Z", test.clock, two, two)), plot()), cell("last", plot()), cell("none"),
		}})
		links := find(find(root, atom.Div, "summary")[0], atom.A, "")
		if got := attribute(links[len(links)-1], "href"); got != "#cell-"+test.want {
			t.Errorf("%s, tags %q: the plot of %s, expected cell %s", test.clock, test.tags, got, test.want)
		}
	}
}

// A later environment has what differs from the first.
func TestShortEnvironment(t *testing.T) {
	var records []record.Record
	for _, method := range []string{"warm", "flushed"} {
		records = append(records, record.Record{Environment: map[string]any{"device": "a GPU", "method": method}})
	}
	all := environments(records, &english)
	if len(all) != 2 || len(all[1].Settings) != 1 || all[1].Settings[0].Value != "flushed" || all[1].Like != "as Environment 1, but:" {
		t.Errorf("%+v, expected the method alone", all[1])
	}
	records = append(records, record.Record{Environment: map[string]any{"device": "another"}})
	if all = environments(records, &english); len(all[2].Settings) != 1 || all[2].Like != "" {
		t.Errorf("%+v lacks the method of the first: expected it whole", all[2])
	}
}

// A plot stands beside a summary at 440 by 400 pixels, that of a long ladder at 0.6 of its size.
func TestSizeOfMainPlot(t *testing.T) {
	for height, want := range map[int]string{238: `width="440" height="149"`, 600: `width="440" height="377"`, 1254: `width="420" height="752"`, 3000: `height="760"`} {
		o := bundle(map[string]any{"image/png": "iVBORw0KGgo="})
		o.Metadata = map[string]any{"image/png": map[string]any{"width": 700, "height": height}}
		if got := string(newProse(&nbformat.Notebook{}).smallPlot(o, "cell")); !strings.Contains(got, want) {
			t.Errorf("a plot of 700 x %d: %s, expected %s", height, got, want)
		}
	}
}

// The executed notebook of reduce prints on at most 30 pages.
func TestPagesOfCommittedNotebook(t *testing.T) {
	if _, none := fallbackfont.Find(); none != nil {
		t.Skipf("it needs a font with Chinese characters: %v", none)
	}
	nb, err := nbformat.Read(committed)
	if err != nil {
		t.Fatal(err)
	}
	var pdf bytes.Buffer
	if _, err := renderPDF(&pdf, nb, Origin{}); err != nil {
		t.Fatal(err)
	}
	if n := len(regexp.MustCompile(`/Type /Page\b`).FindAll(pdf.Bytes(), -1)); n > 30 {
		t.Errorf("%d pages, expected at most 30", n)
	}
}
