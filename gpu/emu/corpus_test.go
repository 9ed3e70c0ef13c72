package emu

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/ptxfile"
)

// notYet are the entries of compilers' output that are rejected, by the word that the
// error names.
var notYet = map[string]string{
	"constructs": "%envreg3",
}

// TestCorpus lowers every entry of the PTX in the repository: each is ready to run,
// except the known ones, which are rejected by name. Without WARPBOOK_LONG, the seed
// chooses a quarter of the operators' files.
func TestCorpus(t *testing.T) {
	if repeated { // vectors make no difference to lowering
		return
	}
	files, err := filepath.Glob("../../ops/*/*.ptx.zst")
	if err != nil {
		t.Fatal(err)
	}
	data, err := filepath.Glob("../ptx/testdata/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 4 || len(data) == 0 {
		t.Fatalf("%d files of operators and %d of package ptx, expected some of both", len(files), len(data))
	}
	if os.Getenv("WARPBOOK_LONG") == "" {
		seed := uint64(time.Now().UnixNano())
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		t.Logf("%d of %d files of operators, seed %d", len(files)/4, len(files), seed)
		files = files[:len(files)/4]
	}
	files = append(files, data...)
	for _, f := range files {
		text, err := ptxfile.ReadFile(strings.TrimSuffix(f, ptxfile.Extension))
		if err != nil {
			t.Fatal(err)
		}
		d, err := Open("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load(filepath.Base(f), text)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range m.Entries() {
			_, err := m.Entry(name)
			word := cmp.Or(notYet[name], notYet[filepath.Base(f)+" "+name])
			known := word != ""
			switch {
			case err == nil && !known:
			case err == nil:
				t.Errorf("%s is ready, expected it refused for %s", name, word)
			case !known || !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), word):
				t.Error(name, err)
			}
		}
	}
}
