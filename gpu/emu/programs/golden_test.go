package programs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/gob"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The golden file has a line for each program: its name, a tab, the checksum of
// its text and one of each row of results. A line without a tab is a comment: it names
// the GPU of the lines behind it. Results of approximate programs are kept whole.
const (
	goldenFile      = "testdata/h200.golden"
	approximateFile = "testdata/approximate.h200.gz"
)

// results is a decoded line of the golden file.
type results struct {
	text uint32
	rows []uint32
}

func readGolden(t *testing.T) map[string]*results {
	t.Helper()
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string]*results{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		name, sums, ok := strings.Cut(s.Text(), "\t")
		if !ok {
			continue // a comment
		}
		r := &results{}
		for i, x := range strings.Fields(sums) {
			v, err := strconv.ParseUint(x, 16, 32)
			if err != nil {
				t.Fatalf("%s: %s: %v", goldenFile, name, err)
			}
			if i == 0 {
				r.text = uint32(v)
			} else {
				r.rows = append(r.rows, uint32(v))
			}
		}
		golden[name] = r
	}
	return golden
}

func writeGolden(t *testing.T, head string, lines []string) {
	t.Helper()
	text := head + "\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(goldenFile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// readResults reads whole results, by the name of the program.
func readResults(t *testing.T, name string) map[string][]uint64 {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]uint64
	if err := gob.NewDecoder(z).Decode(&all); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return all
}

func writeResults(t *testing.T, name string, all map[string][]uint64) {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // errs on an unknown level only
	if err := gob.NewEncoder(z).Encode(all); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// approximate is the results of the approximate programs.
func approximate(all map[string][]uint64) map[string][]uint64 {
	some := map[string][]uint64{}
	for _, p := range All() {
		if p.Approximate {
			some[p.Name] = all[p.Name]
		}
	}
	return some
}
