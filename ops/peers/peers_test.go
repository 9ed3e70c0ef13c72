package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"warpbook/gpu"
)

// Two operators with a program and a script each.
var (
	sums     = Set{"sums", []string{"sum.cu", "sum.py"}, fstest.MapFS{"peers/sum.cu": {}, "peers/sum.py": {}}}
	products = Set{"products", []string{"product.cu", "product.py"}, fstest.MapFS{"peers/product.cu": {}, "peers/product.py": {}}}
)

// tools puts scripts in the place of nvcc and python3, and nothing else on the
// path but the shell.
func tools(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	t.Setenv("CUDA_HOME", dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
}

// nvcc makes a program that prints a figure with its arguments.
const nvcc = `while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\nwhile read line; do echo no figure\necho {\\"kind\\": \\"figure\\", \\"name\\": \\"cub\\", \\"median_ns\\": 29500, \\"note\\": \\"$* on $CUDA_VISIBLE_DEVICES\\"}\necho\ndone\n' > "$2"
chmod +x "$2"
`

func TestRun(t *testing.T) {
	tools(t, map[string]string{"nvcc": nvcc, "python3": "echo ModuleNotFoundError: no torch >&2; exit 1\n"})
	figures, notes, err := Run(context.Background(), sums, [][]int{{1000, 2}, {7}}, Options{Only: []string{"cub", "torch"}, Method: "graph", Repeats: 7, Flushed: true, GPU: "GPU-1", Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := "--operator sums --turns 1 --size 1000,2 --size 7 --l2 flushed --seed 3 --only cub,torch --method graph --repeats 7 on GPU-1"
	if len(figures) != 2 || figures[0].Name != "cub" || figures[0].MedianNS != 29500 || figures[0].Note != want {
		t.Errorf("%+v, expected a figure for each size, of a program run with %s", figures, want)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "sum.py: exit status 1: ModuleNotFoundError: no torch") {
		t.Errorf("notes %q, expected one, on torch", notes)
	}
}

// A file of calls that lost is run where figures are named.
func TestTriedPeers(t *testing.T) {
	tools(t, map[string]string{"python3": `read line; echo "{\"kind\": \"figure\", \"name\": \"lost\"}"; echo` + "\n"})
	set := Set{"sums", []string{"sum_tried.py"}, fstest.MapFS{"peers/sum_tried.py": {}}}
	for _, c := range []struct {
		only []string
		runs int
	}{{nil, 0}, {[]string{"lost"}, 1}, {[]string{every}, 1}} {
		figures, notes, err := Run(context.Background(), set, [][]int{{2}}, Options{Only: c.only})
		if err != nil || len(notes) > 0 || len(figures) != c.runs {
			t.Errorf("only %q: %+v, %q, %v, expected %d figures", c.only, figures, notes, err, c.runs)
		}
	}
}

// One script knows every product; an argument names the product.
func TestOperators(t *testing.T) {
	tools(t, map[string]string{"nvcc": nvcc, "python3": `read line; echo "{\"kind\": \"figure\", \"name\": \"torch\", \"note\": \"$*\"}"; echo` + "\n"})
	for _, operator := range []string{"products", "products_of_16_bits"} {
		figures, notes, err := Run(context.Background(), Set{operator, products.Programs[1:], products.Files}, [][]int{{2, 3, 4}}, Options{})
		figures = slices.DeleteFunc(figures, func(f Figure) bool { return f.Name == "cub" }) // of a program that was compiled
		if err != nil || len(notes) > 0 || len(figures) != 1 || !strings.Contains(figures[0].Note, "product.py --operator "+operator+" --turns 1 --size 2,3,4 ") {
			t.Errorf("%s: %+v, %q, %v, expected one figure, of product.py", operator, figures, notes, err)
		}
	}
}

// If no peer can run, the notes name the missing programs.
func TestMissingPrograms(t *testing.T) {
	tools(t, nil)
	t.Setenv("PATH", t.TempDir())
	figures, notes, err := Run(context.Background(), sums, [][]int{{10}}, Options{})
	wanted := []string{"no nvcc: set CUDA_HOME", "no python3"}
	if err != nil || len(figures) != 0 || len(notes) != len(wanted) {
		t.Fatalf("%v, %q, %v, expected a note for each peer", figures, notes, err)
	}
	for i, words := range wanted {
		if !strings.Contains(notes[i], words) && !strings.Contains(notes[i], "/usr/local/cuda") {
			t.Errorf("%q, expected it to say %q", notes[i], words)
		}
	}
	if _, notes, _ := Run(context.Background(), Set{Operator: "no operator"}, [][]int{{10}}, Options{}); notes != nil {
		t.Errorf("notes %q of an operator without peers", notes)
	}
}

// Each turn returns the peers' times of that turn. The notes name a peer that ends
// before the last turn, and the others continue.
func TestTurns(t *testing.T) {
	count := `i=0; while read line; do i=$((i+1)); echo "{\"kind\": \"figure\", \"name\": \"turn $i of $$\"}"; echo; `
	tools(t, map[string]string{
		"nvcc":    "while [ \"$1\" != -o ]; do shift; done\nprintf '%s' '#!/bin/sh\n" + count + "done' > \"$2\"; chmod +x \"$2\"\n",
		"python3": count + "[ $i = 2 ] && { echo the driver is gone >&2; exit 3; }; done\n",
	})
	s, err := Start(context.Background(), products, [][]int{{1, 1, 1}, {2, 2, 2}}, 2, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for turn, many := range []int{2, 2, 1, 1} {
		figures, err := s.Turn()
		if err != nil || len(figures) != many {
			t.Fatalf("turn %d: %+v, %v, expected %d figures", turn+1, figures, err, many)
		}
		for _, f := range figures {
			if !strings.HasPrefix(f.Name, fmt.Sprintf("turn %d of ", turn+1)) {
				t.Errorf("turn %d: figure of %q", turn+1, f.Name)
			}
		}
	}
	if len(s.Notes) != 1 || s.Notes[0] != "product.py: exit status 3: the driver is gone" {
		t.Errorf("notes %q, expected one, on product.py", s.Notes)
	}
}

// An interrupt ends a peer that does not end, and the processes that it has started.
func TestInterrupt(t *testing.T) {
	tools(t, map[string]string{"nvcc": "sleep 3600\n", "python3": "exit 1\n"})
	ended := make(chan struct{})
	defer close(ended)
	go func() { // an interrupt that comes before the run ends nothing
		for {
			select {
			case <-ended:
				return
			case <-time.After(200 * time.Millisecond):
				Interrupt()
			}
		}
	}()
	start := time.Now()
	_, _, err := Run(context.Background(), sums, [][]int{{10}}, Options{})
	if took := time.Since(start); !errors.Is(err, gpu.ErrInterrupted) || took > time.Minute {
		t.Errorf("%v after %v, expected %v", err, took, gpu.ErrInterrupted)
	}
	if len(running.cancel) != 0 {
		t.Errorf("%d runs are remembered", len(running.cancel))
	}
}

// A program is compiled once for the flags that nvcc takes from the environment, and again
// for others, such as those that name newer headers.
func TestFlags(t *testing.T) {
	tools(t, map[string]string{"nvcc": `while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\nwhile read line; do echo {\"kind\": \"figure\", \"name\": \"cub\", \"library\": \"'"$NVCC_PREPEND_FLAGS$NVCC_APPEND_FLAGS"'\"}; echo; done\n' > "$2"
chmod +x "$2"
echo compiled >> "$HOME/log"
`})
	for _, flags := range [][2]string{{"", ""}, {"-Inewest", ""}, {"", "-Inewest"}, {"-Inewest", ""}, {"-Iother", ""}, {"", ""}} {
		t.Setenv("NVCC_PREPEND_FLAGS", flags[0])
		t.Setenv("NVCC_APPEND_FLAGS", flags[1])
		set := Set{"sums", sums.Programs[:1], sums.Files}
		figures, notes, err := Run(context.Background(), set, [][]int{{10}}, Options{})
		if err != nil || len(notes) > 0 || len(figures) != 1 || figures[0].Library != flags[0]+flags[1] {
			t.Errorf("flags %q: %+v, %q, %v, expected a program that was compiled with them", flags, figures, notes, err)
		}
	}
	log, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), "log"))
	if compiled := strings.Count(string(log), "compiled"); err != nil || compiled != 4 {
		t.Errorf("%d compilations, %v, expected 4, one for each set of flags", compiled, err)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"warning: {\n":                         "",
		`{"kind": "figure", "size": "a"}`:      "line",
		`{"kind": "figure", "median_ns": 1e9`:  "line",
		`{"kind": "figure", "median_ns": NaN}`: "line",
	} {
		if _, err := parse([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected an error that says %q", text, err, want)
		}
	}
}

// A program of the caller's is named by its file and what follows it.
func TestNameOfAProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{"mine.py", "data.bin"} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"python3 mine.py": "mine", "python3 -u mine.py --block 256": "mine --block 256", "./mine": "mine", "python3 -m mymodule": "mymodule",
		"python3 mine.py data.bin": "mine data.bin", "python3 gone.py": "gone",
	} {
		if got := nameOf(strings.Fields(line)); got != want {
			t.Errorf("%s: %q, expected %q", line, got, want)
		}
	}
}
