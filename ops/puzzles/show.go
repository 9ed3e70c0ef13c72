package puzzles

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"warpbook/gpu"
	"warpbook/gpu/trace"
)

// Title is the verdict in a line.
func (v *Verdict) Title() string {
	if v.Result == Pass {
		return fmt.Sprintf("%s: %s with %d sets of inputs", v.Puzzle.Name, Pass, seeds)
	}
	return fmt.Sprintf("%s: %s: %s", v.Puzzle.Name, v.Result, v.Reason)
}

// Table is the score, with a column for each count that the answer or the solution has.
func (v *Verdict) Table() (columns []string, rows [][]string) {
	columns, rows = []string{"score"}, [][]string{{"yours"}, {"solution"}}
	for _, name := range counts {
		if yours, ours := v.Score.count(name), v.Ours.count(name); yours != 0 || ours != 0 {
			columns = append(columns, name)
			rows[0], rows[1] = append(rows[0], fmt.Sprint(yours)), append(rows[1], fmt.Sprint(ours))
		}
	}
	return columns, rows
}

// Notes stand below the table.
func (v *Verdict) Notes() (notes []string) {
	for _, l := range v.Puzzle.Limits {
		bound := fmt.Sprintf("at most %d", l.Most)
		if l.Least > 0 {
			bound = fmt.Sprintf("at least %d", l.Least)
		}
		notes = append(notes, fmt.Sprintf("limit: %s %s: %s", bound, l.Count, l.Why))
	}
	if v.Score.more {
		notes = append(notes, fmt.Sprintf("the counts by threads are those of the first %d accesses", trace.Most))
	}
	return append(notes, "reads and writes are counted by thread, sectors of 32 bytes and conflicts by request; all by the emulator")
}

// Parts are the score and, where something was accessed, the drawing.
func (v *Verdict) Parts() []any {
	parts := []any{v}
	if d := v.Drawing(); d != nil {
		parts = append(parts, d)
	}
	return parts
}

// String is the title.
func (v *Verdict) String() string { return v.Title() }

// Drawing is a picture of the accesses: a row a thread, a column an element.
type Drawing struct {
	title   string
	columns []string
	rows    []string
	text    [][]string
	level   [][]int
	notes   []string
	needs   bool // a row is an output, not a thread
}

// Levels of a drawing.
const (
	levelRead = 1 + iota
	levelWrite
	levelBoth
)

const (
	mostRows    = 48
	mostColumns = 96
)

// Drawing is nil where nothing was accessed, and where the arrays have more elements than
// a picture.
func (v *Verdict) Drawing() *Drawing {
	d := &Drawing{title: fmt.Sprintf("%s: which thread reads and writes which element", v.Puzzle.Name)}
	starts, shared := d.addColumns(v)
	if len(d.columns) > mostColumns {
		return nil
	}
	outside := d.addRows(v, starts)
	if len(d.rows) == 0 || len(d.rows) > mostRows {
		return nil
	}
	if outside > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%d accesses of no array are not drawn", outside))
	}
	if shared {
		d.notes = append(d.notes, "s: words of shared memory from its start")
	}
	return d
}

// addColumns makes a column for each element of the arrays and for each accessed word of
// shared memory, with an empty one between. It returns the first column of each array,
// and at the end that of shared memory, if a thread accesses it.
func (d *Drawing) addColumns(v *Verdict) (starts []int, shared bool) {
	add := func(name string, n int) {
		if len(starts) > 0 {
			d.columns = append(d.columns, "")
		}
		starts = append(starts, len(d.columns))
		for k := range n {
			d.columns = append(d.columns, fmt.Sprintf("%s%d", name, k))
		}
	}
	for _, a := range v.Puzzle.arrays() {
		add(a.Name, a.Len())
	}
	words := 0
	for _, e := range v.events {
		if e.Shared {
			words = max(words, int(e.Address)/4+1)
		}
	}
	if words > 0 {
		add("s", words)
	}
	return starts, words > 0
}

// addRows makes a row for each thread that accesses memory, or for each block if there
// are many threads, and marks its accesses. It returns the number of accesses outside of
// all columns.
func (d *Drawing) addRows(v *Verdict, starts []int) (outside int) {
	byBlock := v.Puzzle.Grid.Size()*v.Puzzle.Block.Size() > mostRows
	rows := map[string]int{}
	for _, e := range v.events {
		if e.Bytes == 0 {
			continue
		}
		name := name(e.Block, v.Puzzle.Grid, "block ")
		if !byBlock {
			name = strings.TrimSpace(threadName(e, v.Puzzle))
		}
		row, known := rows[name]
		if !known {
			row = len(d.rows)
			rows[name] = row
			d.rows = append(d.rows, name)
			d.text = append(d.text, make([]string, len(d.columns)))
			d.level = append(d.level, make([]int, len(d.columns)))
		}
		for b := 0; b < e.Bytes; b += 4 {
			column := -1
			if e.Shared {
				column = starts[len(starts)-1] + (int(e.Address)+b)/4
			} else if array, i, ok := v.find(e.Address + uint64(b)); ok {
				column = starts[array] + i
			}
			if column < 0 || column >= len(d.columns) {
				outside++
				continue
			}
			d.mark(row, column, e.Kind)
		}
	}
	return outside
}

// mark adds an access to a cell.
func (d *Drawing) mark(row, column int, k trace.Kind) {
	now := levelRead
	if k != trace.Load {
		now = levelWrite
	}
	if before := d.level[row][column]; before != 0 && before != now || k == trace.Atomic {
		now = levelBoth
	}
	d.level[row][column] = now
	d.text[row][column] = [...]string{"", "r", "w", "rw"}[now]
}

// name is a place in a shape without the directions in which the shape is one.
func name(at, shape gpu.Dim, prefix string) string {
	switch shape = shape.Full(); {
	case shape.Z > 1:
		return fmt.Sprintf("%s%d,%d,%d", prefix, at.X, at.Y, at.Z)
	case shape.Y > 1:
		return fmt.Sprintf("%s%d,%d", prefix, at.X, at.Y)
	}
	return fmt.Sprintf("%s%d", prefix, at.X)
}

func threadName(e trace.Event, p *Puzzle) string {
	thread := name(e.Thread, p.Block, "thread ")
	if p.Grid.Size() == 1 {
		return thread
	}
	return name(e.Block, p.Grid, "block ") + " " + thread
}

// Title stands above the picture.
func (d *Drawing) Title() string { return d.title }

// Axes name the columns and the rows.
func (d *Drawing) Axes() (columns, rows string) {
	if d.needs {
		return "element of an input", "output"
	}
	return "element", "thread"
}

// Cells are the picture.
func (d *Drawing) Cells() (columns, rows []string, text [][]string, level [][]int) {
	return d.columns, d.rows, d.text, d.level
}

// Legend names the levels from 1 on.
func (d *Drawing) Legend() []string {
	if d.needs {
		return []string{"needed"}
	}
	return []string{"read", "written", "read and written"}
}

// Notes stand below the picture.
func (d *Drawing) Notes() []string { return d.notes }

// Task is a puzzle as a notebook shows it.
type Task struct {
	puzzle *Puzzle
	wanted *Drawing
}

// Task shows a puzzle: the launch, the arrays, hints that unfold, and which inputs each
// element of the output needs.
func (c *Course) Task(name string) (*Task, error) {
	p, err := Find(name)
	if err != nil {
		return nil, err
	}
	return &Task{p, p.needs(c.seed)}, nil
}

// needs draws which inputs each element of the output needs: those whose change changes
// it. It is nil where there are more than a picture holds.
func (p *Puzzle) needs(seed uint64) *Drawing {
	if p.Out.Len() > mostRows {
		return nil
	}
	d := &Drawing{title: p.Name + ": which inputs each output needs", needs: true}
	in := p.inputs(seed)
	before := p.Want(in)
	for i := range before {
		d.rows = append(d.rows, p.Out.Name+index(p.Out.Shape, i))
		d.text, d.level = append(d.text, nil), append(d.level, nil)
	}
	add := func(column string, changed func(i int) bool) {
		d.columns = append(d.columns, column)
		for i := range before {
			text, level := "", 0
			if changed(i) {
				text, level = "x", levelRead
			}
			d.text[i], d.level[i] = append(d.text[i], text), append(d.level[i], level)
		}
	}
	for a, array := range p.In {
		if a > 0 {
			add("", func(int) bool { return false })
		}
		for k := range in[a] {
			old := in[a][k]
			in[a][k] = old + 1
			after := p.Want(in)
			in[a][k] = old
			add(fmt.Sprintf("%s%d", array.Name, k), func(i int) bool { return after[i] != before[i] })
		}
	}
	if len(d.columns) > mostColumns {
		return nil
	}
	return d
}

// Parts are the task and the picture of its outputs.
func (t *Task) Parts() []any {
	if t.wanted == nil {
		return []any{t}
	}
	return []any{t, t.wanted}
}

// MIMEBundle shows the task.
func (t *Task) MIMEBundle() (data, metadata map[string]any) {
	p := t.puzzle
	var text, page strings.Builder
	fmt.Fprintf(&text, "%s\n\n%s\ngrid %v, block %v\n", p.Task, p.Declaration(), p.Grid.Full(), p.Block.Full())
	fmt.Fprintf(&page, "<p>%s</p><pre>%s\ngrid %v, block %v</pre>", html.EscapeString(p.Task), html.EscapeString(p.Declaration()), p.Grid.Full(), p.Block.Full())
	var arrays []string
	for _, a := range p.arrays() {
		arrays = append(arrays, a.String())
	}
	fmt.Fprintf(&text, "arrays: %s\n", strings.Join(arrays, ", "))
	fmt.Fprintf(&page, "<p>Arrays: <code>%s</code>.", html.EscapeString(strings.Join(arrays, ", ")))
	for i, s := range p.Scalars {
		fmt.Fprintf(&text, "%s = %d\n", s.Name, s.Value)
		page.WriteString([]string{" With ", ", "}[min(i, 1)])
		fmt.Fprintf(&page, "<code>%s</code> = %d", s.Name, s.Value)
	}
	if len(p.Scalars) > 0 {
		page.WriteByte('.')
	}
	page.WriteString("</p>")
	for i, h := range p.Hints {
		fmt.Fprintf(&page, "<details><summary>Hint %d of %d</summary><p>%s</p></details>", i+1, len(p.Hints), html.EscapeString(h))
	}
	fmt.Fprintf(&text, "hints: %d, the first by course.Hint(%q, 1)\n", len(p.Hints), p.Name)
	return map[string]any{"text/plain": text.String(), "text/html": page.String()}, nil
}

// Hint is a hint of a puzzle by its number, from 1.
func (c *Course) Hint(name string, number int) (string, error) {
	p, err := Find(name)
	if err != nil {
		return "", err
	}
	if number < 1 || number > len(p.Hints) {
		return "", fmt.Errorf("puzzles: %s: no hint %d: expected 1 to %d", name, number, len(p.Hints))
	}
	return p.Hints[number-1], nil
}

// Solution is a committed solution, checked.
type Solution struct {
	Verdict *Verdict // of the committed solution
	CUDA    string
	Triton  string   // "" for puzzles that are none of Triton's
	Made    *Verdict // of the PTX that Triton made, or nil
}

// Solution checks the committed solution. It unfolds to the code and the score.
func (c *Course) Solution(name string) (*Solution, error) {
	p, err := Find(name)
	if err != nil {
		return nil, err
	}
	s := &Solution{}
	if s.Verdict, err = c.check(p, p.solution()); err != nil {
		return nil, err
	}
	s.Verdict.Ours = s.Verdict.Score
	file := "solutions.cu"
	if p.Triton {
		file = "triton.cu"
	}
	if s.CUDA = function(read(file), p.Kernel()); s.CUDA == "" {
		return nil, fmt.Errorf("puzzles: %s: no function %s", file, p.Kernel())
	}
	if !p.Triton {
		return s, nil
	}
	if s.Triton = pythonFunction(read("triton/puzzles.py"), p.Kernel()); s.Triton == "" {
		return nil, fmt.Errorf("puzzles: triton/puzzles.py: no function %s", p.Kernel())
	}
	made, err := p.tritonProgram()
	if err != nil {
		return nil, err
	}
	if s.Made, err = c.check(p, made); err != nil {
		return nil, err
	}
	s.Made.Ours = s.Verdict.Score
	return s, nil
}

// function is a kernel of CUDA C++ with the comment above it, behind the device functions
// that it calls.
func function(source, name string) string {
	m := regexp.MustCompile(`(?ms)^(?://[^\n]*\n)*extern "C" __global__ void ` + regexp.QuoteMeta(name) + `\(.*?^}\n`).FindString(source)
	kernel := strings.ReplaceAll(strings.TrimSpace(m), `extern "C" `, "")
	var text strings.Builder
	for _, helper := range regexp.MustCompile(`(?ms)^__device__ \w+ (\w+)\(.*?^}\n\n`).FindAllStringSubmatch(source, -1) {
		if strings.Contains(kernel, helper[1]+"(") {
			text.WriteString(helper[0])
		}
	}
	return text.String() + kernel
}

// pythonFunction is a function with its decorator.
func pythonFunction(source, name string) string {
	m := regexp.MustCompile(`(?ms)^@triton\.jit\ndef ` + regexp.QuoteMeta(name) + `\(.*?(?:\n\n\n|\z)`).FindString(source)
	return strings.TrimSpace(m)
}

// MIMEBundle shows the solution folded.
func (s *Solution) MIMEBundle() (data, metadata map[string]any) {
	var text, page strings.Builder
	fold := func(title, code string, v *Verdict) {
		fmt.Fprintf(&text, "%s\n\n%s\n\n", title, code)
		fmt.Fprintf(&page, "<details><summary>%s: %s</summary><pre>%s</pre>", title, v.Result, html.EscapeString(code))
		if v.Reason != "" {
			fmt.Fprintf(&page, "<p>%s</p>", html.EscapeString(v.Reason))
		}
		columns, rows := v.Table()
		page.WriteString("<table><tr>")
		for _, c := range columns[1:] {
			fmt.Fprintf(&page, "<th>%s</th>", c)
		}
		page.WriteString("</tr><tr>")
		for _, n := range rows[0][1:] {
			fmt.Fprintf(&page, "<td>%s</td>", n)
		}
		page.WriteString("</tr></table>")
		if d := v.Drawing(); d != nil {
			fmt.Fprintf(&page, "<pre>%s</pre>", html.EscapeString(d.String()))
		}
		page.WriteString("</details>")
	}
	fold("Solution in CUDA", s.CUDA, s.Verdict)
	if s.Made != nil {
		fold("Solution in Triton", s.Triton, s.Made)
	}
	// As text the solution would not fold: a reader of text asks for it.
	return map[string]any{"text/plain": "solution: " + s.Verdict.Title(), "text/html": page.String()}, nil
}

// Summary is a row for each puzzle that was checked.
type Summary struct{ rows [][]string }

// Summary is the state of the course.
func (c *Course) Summary() *Summary {
	s := &Summary{}
	for _, p := range all {
		result := "not tried"
		reads, ours := "", ""
		if v := c.scores[p.Name]; v != nil {
			result, reads, ours = v.Result, fmt.Sprint(v.Score.GlobalReads), fmt.Sprint(v.Ours.GlobalReads)
		}
		s.rows = append(s.rows, []string{p.Name, result, reads, ours})
	}
	return s
}

// Table has a row a puzzle.
func (s *Summary) Table() (columns []string, rows [][]string) {
	return []string{"puzzle", "result", "your global reads", "the solution's"}, s.rows
}

// String is the picture as text.
func (d *Drawing) String() string {
	var b strings.Builder
	wide := 0
	for _, r := range d.rows {
		wide = max(wide, len(r))
	}
	fmt.Fprintf(&b, "%*s ", -wide, "")
	array := ""
	skip := 0
	for _, c := range d.columns { // the name of an array at its first element
		name := strings.TrimRight(c, "0123456789")
		switch {
		case skip > 0:
			skip--
		case name != "" && name != array:
			b.WriteString(name)
			skip = len(name) - 1
		default:
			b.WriteByte(' ')
		}
		array = name
	}
	for i, r := range d.rows {
		fmt.Fprintf(&b, "\n%*s ", -wide, r)
		for k, c := range d.columns {
			letter := ".rwb"[d.level[i][k]]
			if c == "" { // between two arrays
				letter = ' '
			}
			b.WriteByte(letter)
		}
	}
	return b.String() + "\nr read, w written, b both"
}
