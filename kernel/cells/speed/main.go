// The speed command prints the speed of cells, beside compiled Go and CPython:
//
//	go run ./kernel/cells/speed [-turns 3] [-rows loop,fib]
//	go run ./kernel/cells/speed -debugger
//
// Each row is one workload, written once in Go (workloads.go.txt, which a cell
// and a compiled program share) and once in Python (workloads.py). A figure is the
// processor time of the whole process, in seconds, the minimum of the repetitions; the
// sides take turns, and each turn is a process of its own. The results of all
// sides must be equal. The row of memory gives the peak of the process instead, in MB.
// Without python3 its columns are empty. A row in which compiled Go
// takes as long as CPython, as most maps do, cannot be faster in a cell.
//
// With -debugger the sides are a program without the debugger, a cell, the same with a
// debugger attached, and with breakpoints in each function that are never hit.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproc"
	"warpbook/kernel/cellproto"
)

//go:embed workloads.go.txt workloads.py debugger.go.txt
var sources embed.FS

// rows are the workloads in the order of the table.
var rows = []struct{ name, text string }{
	{"loop", "loop of 1e8 additions"},
	{"matmul", "product of 256 x 256, float64"},
	{"map", "1e6 inserts into a map"},
	{"words", "1e6 words counted in a map"},
	{"keyed", "4e5 counts in a map[any]int"},
	{"range", "1e6 elements of maps, by range"},
	{"fib", "fib(32), recursive"},
	{"sort", "sort.Slice of 1e6"},
	{"sorter", "sort.Sort of 2e5 structs (list.sort with a key)"},
	{"keys", "slices.SortFunc of 2e5 structs by two fields"},
	{"sum", "sum of 2^21 float32"},
	{"ints", "sort.Ints of 1e6"},
	{"append", "3e6 appends to []int"},
	{"top", "3e6 appends at top level"},
	{"boxes", "1e6 appends to []any"},
	{"methods", "1e6 calls of a pointer's method"},
	{"values", "1e6 calls of a struct's method"},
	{"moves", "1e6 methods that return a struct"},
	{"dynamic", "1e6 calls through an interface"},
	{"shapes", "1e6 calls with interfaces of 4 types"},
	{"switches", "1e6 type switches"},
	{"errors", "1e6 calls that return an error"},
	{"library", "1e6 calls of strconv.Itoa"},
	{"helpers", "1e6 calls of a function that calls strconv.Itoa"},
	{"lines", "words of 1e5 lines counted"},
	{"closures", "1e6 calls of a closure"},
	{"passes", "1e6 values from goroutine to goroutine"},
	{"buffered", "1e6 sends and receives, buffered"},
	{"selects", "2e5 values by a select of 2 channels"},
	{"locks", "3e5 calls with defer mu.Unlock()"},
	{"deferred", "3e5 calls with a deferred closure (try/finally)"},
	{"guards", "3e5 calls that defer recover (try/except)"},
	{"panics", "1e5 recovered panics (raise and except)"},
	{"memory", "8 cells: x = make of 240 MB (peak, MB)"},
	{"stencil", "stencil of 1024 x 1024, float64"},
	{"histogram", "histogram of 2^20 into 256"},
}

func main() {
	turns := flag.Int("turns", 3, "processes of each side; the minimum counts")
	only := flag.String("rows", "", "comma-separated rows; all if empty")
	under := flag.Bool("debugger", false, "compare cells with and without a debugger")
	flag.Parse()
	compare := run
	if *under {
		compare = debugger
	}
	if err := compare(*turns, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(turns int, only string) error {
	dir, err := os.MkdirTemp("", "speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sides, err := prepare(dir)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "row\tcell\tcompiled\tCPython\tcell/compiled\tcell/CPython\tcompiled/CPython\t")
	for _, r := range rows {
		if !chosen(r.name, only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "speed: %s\n", r.text)
		least, err := measure(sides, r.name, turns)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\t%s\t%.1f\t%s\t%s\t\n", r.text, least[0], least[1],
			column("%.4f", least[2]), least[0]/least[1], column("%.2f", least[0]/least[2]), column("%.2f", least[1]/least[2]))
	}
	return w.Flush()
}

// chosen reports whether a row is one of those that were asked for.
func chosen(name, only string) bool {
	return only == "" || strings.Contains(","+only+",", ","+name+",")
}

// column leaves the column of an absent python3 empty; its times are 0.
func column(format string, x float64) string {
	if x == 0 || x > 1e300 {
		return "-"
	}
	return fmt.Sprintf(format, x)
}

// side runs a row in a new process and returns the process's output.
type side struct {
	name string
	run  func(row string) (string, error)
}

// prepare builds the cells program and the compiled one in dir. Without python3 the
// Python side cannot run.
func prepare(dir string) ([]side, error) {
	text, err := sources.ReadFile("workloads.go.txt")
	if err != nil {
		return nil, err
	}
	script, err := sources.ReadFile("workloads.py")
	if err != nil {
		return nil, err
	}
	cells, err := cellbuild.Cells(context.Background(), os.Stderr)
	if err != nil {
		return nil, err
	}
	compiled, source, py := filepath.Join(dir, "workloads"), filepath.Join(dir, "workloads.go"), filepath.Join(dir, "workloads.py")
	if err := os.WriteFile(source, text, 0o666); err != nil {
		return nil, err
	}
	if err := os.WriteFile(py, script, 0o666); err != nil {
		return nil, err
	}
	if out, err := exec.Command("go", "build", "-o", compiled, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("speed: build the workloads: %w: %s", err, out)
	}
	sides := []side{
		{"cell", func(row string) (string, error) { return inCell(cells, string(text), row) }},
		{"compiled", func(row string) (string, error) { return output(compiled, row) }},
		{"CPython", nil},
	}
	if python, err := exec.LookPath("python3"); err == nil {
		sides[2].run = func(row string) (string, error) { return output(python, py, row) }
	}
	return sides, nil
}

func output(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	return string(out), err
}

// inCell runs a row in a session: one cell declares, the next one measures.
func inCell(program, text, row string) (string, error) {
	return inCellOf(cellproc.Config{Program: program}, text, row)
}

func inCellOf(config cellproc.Config, text, row string) (string, error) {
	s, err := cellproc.Start(config)
	if err != nil {
		return "", err
	}
	defer s.Close()
	return runRow(s, text, row)
}

func runRow(s *cellproc.Client, text, row string) (string, error) {
	var out strings.Builder
	sink := func(e cellproto.Event) {
		if e.Type == cellproto.Stream && e.Name == "stdout" {
			out.WriteString(e.Text)
		}
	}
	cells := []string{text, fmt.Sprintf("measure(%q)", row)}
	switch row {
	case "top":
		cells = []string{text, "begun := processor()\nfor i := 0; i < 3000000; i++ {\n\ttop = append(top, i)\n}\nfmt.Printf(\"%.6f %d\\n\", processor()-begun, len(top)+top[len(top)/2])"}
	case "memory":
		cells = append(slices.Repeat([]string{"large = make([]float64, 30_000_000)\ntouch()"}, 8), "peak()")
		cells = slices.Insert(cells, 0, text)
	}
	for i, code := range cells {
		done, err := s.Execute(context.Background(), code, i+1, sink)
		if err != nil {
			return "", err
		}
		if done.Error != nil {
			return "", fmt.Errorf("speed: cell: %w", done.Error)
		}
	}
	return out.String(), nil
}

// measure returns the least time of each side, and an error if their results
// differ.
func measure(sides []side, row string, turns int) ([]float64, error) {
	least := make([]float64, len(sides))
	expected, from := 0, ""
	for turn := range turns {
		for i, s := range sides {
			if s.run == nil {
				continue
			}
			text, err := s.run(row)
			if err != nil {
				return least, fmt.Errorf("speed: %s, %s: %w", row, s.name, err)
			}
			var seconds float64
			var result int
			if _, err := fmt.Sscan(text, &seconds, &result); err != nil {
				return least, fmt.Errorf("speed: %s, %s printed %q, expected seconds and a result", row, s.name, text)
			}
			if from == "" {
				expected, from = result, s.name
			}
			if result != expected {
				return least, fmt.Errorf("speed: %s: %s gives %d, %s gave %d", row, s.name, result, from, expected)
			}
			if turn == 0 || seconds < least[i] {
				least[i] = seconds
			}
		}
	}
	return least, nil
}
