package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"warpbook/kernel/leaf/record"
	"warpbook/kernel/messages"
	"warpbook/kernel/nbformat"
)

// summary opens a page: what was measured, on which device, when, by which commit, the
// result, and the main plot.
type summary struct {
	Lines []line
	Plot  template.HTML
}

// line is a line of a summary.
type line struct {
	Name   string
	Values []linked
}

// linked is a text, and the environment that says more, or nil.
type linked struct {
	Text string
	Of   *environment
}

// mostNamed is how many measurements or results a summary names.
const mostNamed = 5

// summaryOf summarises the records of a notebook; nothing for one without records.
func (p *prose) summaryOf(nb *nbformat.Notebook, records []record.Record) (s summary) {
	in := p.phrases
	addLinked := func(name string, values []linked) {
		if len(values) > mostNamed {
			values = append(slices.Clone(values[:mostNamed]), linked{Text: fmt.Sprintf(in.more, len(values)-mostNamed)})
		}
		if len(values) > 0 {
			s.Lines = append(s.Lines, line{name, values})
		}
	}
	add := func(name string, texts []string) {
		var values []linked
		for _, text := range texts {
			values = append(values, linked{Text: text})
		}
		addLinked(name, values)
	}
	addLinked(in.result, p.resultsOf(records))
	add(in.measured, p.titlesOf(records, nb.Language()))
	devices := values(records, "device")
	for i, device := range devices {
		devices[i] = messages.In(nb.Language(), device)
	}
	add(in.device, devices)
	if dates := values(records, "date"); len(dates) > 0 {
		first, last := day(slices.Min(dates)), day(slices.Max(dates))
		if last != first {
			first += " – " + last
		}
		add(in.date, []string{first})
	}
	commits := values(records, "commit")
	for i, commit := range commits {
		commits[i] = strings.TrimPrefix(commit, "commit ") // the line has this name
	}
	add(in.commit, commits)
	s.Plot = p.mainPlot(nb)
	return s
}

// titlesOf are the titles of the records, of times first, with the clock of an emulation.
func (p *prose) titlesOf(records []record.Record, language string) (titles []string) {
	for _, timed := range []bool{true, false} {
		for _, r := range records {
			title := messages.In(language, r.Title)
			if slices.ContainsFunc(r.Rows, func(row record.Row) bool { return row.Clock == record.EmulatorTime }) {
				title = fmt.Sprintf(p.phrases.emulatorTime, title)
			}
			if r.Title != "" && (r.Kind == record.Figures) == timed && !slices.Contains(titles, title) {
				titles = append(titles, title)
			}
		}
	}
	return titles
}

// values are the distinct texts of a setting of the records.
func values(records []record.Record, name string) (all []string) {
	for _, r := range records {
		if text, ok := r.Environment[name].(string); ok && text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// day is the date of a time as RFC 3339 has it.
func day(date string) string { return date[:min(len(date), len("2006-01-02"))] }

// resultsOf says of each measurement which of our rungs is the fastest, beside the fastest
// library. Times of an emulation are no result; without others the counters are.
func (p *prose) resultsOf(records []record.Record) (all []linked) {
	emulated := false
	for _, r := range records {
		best := map[bool]*record.Row{} // by whether it is a library's
		for i, row := range r.Rows {
			emulated = emulated || row.Clock == record.EmulatorTime
			if r.Kind != record.Figures || row.Clock != record.Time || row.Total == nil || row.Verdict == nil || *row.Verdict != record.Pass || row.Library == record.NoLibrary {
				continue
			}
			if b := best[row.Library != ""]; b == nil || row.Total.MedianNS < b.Total.MedianNS {
				best[row.Library != ""] = &r.Rows[i]
			}
		}
		if text := p.result(r.Title, best[false], best[true]); text != "" {
			if v := (linked{text, p.environmentOfRecord(r)}); !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, c := range countedOf(records) {
		all = append(all, linked{p.countedResult(c), p.environmentOfRecord(c.first)})
	}
	if len(all) > 0 {
		all = append(all, linked{Text: p.phrases.byCounters})
	}
	if emulated {
		all = append(all, linked{Text: p.phrases.emulated})
	}
	return all
}

func (p *prose) result(title string, ours, theirs *record.Row) string {
	if ours == nil {
		return ""
	}
	text := subjectOf(title) + ": " + timeOf(ours)
	switch {
	case theirs == nil:
		return text
	case ours.Total.HighNS >= theirs.Total.LowNS && theirs.Total.HighNS >= ours.Total.LowNS:
		return text + fmt.Sprintf(p.phrases.overlap, timeOf(theirs))
	}
	return text + fmt.Sprintf(p.phrases.beside, timeOf(theirs), theirs.Total.MedianNS/ours.Total.MedianNS)
}

// countedResult names the best rung by counters, beside the most sectors.
func (p *prose) countedResult(c counted) string {
	best, worst := c.best(), c.worst()
	text := fmt.Sprintf(p.phrases.counted, subjectOf(c.first.Title), best.Name, len(c.rungs), spaced(best.Total.Sectors()))
	if most := worst.Total.Sectors(); most > best.Total.Sectors() {
		text += fmt.Sprintf(p.phrases.most, worst.Name, spaced(most))
	}
	return text
}

// subjectOf is the operator and size of a title such as "latency of reduce: n = 5".
func subjectOf(title string) string {
	_, of, _ := strings.Cut(title, " of ")
	return cmp.Or(of, title)
}

func timeOf(r *record.Row) string {
	us := func(ns float64) string { return fmt.Sprintf("%.4g", ns/1e3) }
	return fmt.Sprintf("%s %s us (%s – %s)", r.Name, us(r.Total.MedianNS), us(r.Total.LowNS), us(r.Total.HighNS))
}

// A summary's plot measures at most mostPlotWidth by mostPlotHeight CSS pixels. That of a long
// ladder is taller, up to tallestPlot, because its letters of 12 pixels cannot be read at less
// than leastPlotScale of their size.
const (
	mostPlotWidth  = 440
	mostPlotHeight = 400
	leastPlotScale = 0.6
	tallestPlot    = 760
)

// mainPlot is the first plot of the cell that the notebook names by a tag: main-plot-emulated
// where no time is a GPU's, else main-plot. Without such a plot it is the first one at or
// after the first times of a GPU, and without those the first one.
func (p *prose) mainPlot(nb *nbformat.Notebook) template.HTML {
	plots, timed := p.plotsOf(nb)
	tags := []string{nbformat.TagMainPlot}
	if timed < 0 {
		tags = []string{nbformat.TagMainPlotEmulated, nbformat.TagMainPlot}
	}
	for _, tag := range tags {
		for _, plot := range plots {
			if plot.cell.HasTag(tag) {
				return p.smallPlot(plot.output, plot.cell.ID)
			}
		}
	}
	if len(plots) == 0 {
		return ""
	}
	first := plots[0]
	if timed >= 0 && timed < len(plots) {
		first = plots[timed]
	}
	return p.smallPlot(first.output, first.cell.ID)
}

// plot is an output with a picture, and its cell.
type plot struct {
	cell   *nbformat.Cell
	output *nbformat.Output
}

// plotsOf returns the plots of a notebook, and the number of plots before the first times of a
// GPU, -1 without such times.
func (p *prose) plotsOf(nb *nbformat.Notebook) (plots []plot, timed int) {
	timed = -1
	onGPU := func(row record.Row) bool { return row.Clock == record.Time }
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			if r, err := record.Parse(o.Data[record.MIME]); timed < 0 && err == nil && r.Kind == record.Figures && slices.ContainsFunc(r.Rows, onGPU) {
				timed = len(plots)
			}
			if _, uri := p.picture(o.Data); uri != "" {
				plots = append(plots, plot{c, o})
			}
		}
	}
	return plots, timed
}

// smallPlot is a plot that leads to its cell.
func (p *prose) smallPlot(o *nbformat.Output, cell string) template.HTML {
	mime, uri := p.picture(o.Data)
	plain, _ := o.Data["text/plain"].(string)
	line, _, _ := strings.Cut(strings.TrimSpace(plain), "\n")
	size := ""
	if width, height := pictureSize(o.Metadata, mime); width > 0 && height > 0 {
		scale := min(1, float64(mostPlotWidth)/float64(width), max(float64(mostPlotHeight)/float64(height), min(leastPlotScale, float64(tallestPlot)/float64(height))))
		width, height = int(scale*float64(width)), int(scale*float64(height))
		size = fmt.Sprintf(` width="%d" height="%d"`, width, height)
	}
	return template.HTML(fmt.Sprintf(`<figure><a href="#cell-%s"><img src="%s" alt="%s"%s></a></figure>`,
		template.HTMLEscapeString(cell), uri, template.HTMLEscapeString(altText(line, p.phrases)), size))
}
