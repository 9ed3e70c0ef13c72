package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"warpbook/gpu/clang"
)

// quickOperators are those whose files compile, and whose rungs are checked, in seconds.
var quickOperators = []string{"reduce", "transpose", "copy", "copy_if", "histogram_u8", "vectoradd", "vectorcopy", "concat", "softmax", "scan", "maxpool"}

// TestOperator: the rungs of an operator that the seed chooses pass as clang compiles them,
// with its own back end or with package llvm, which the seed chooses too.
func TestOperator(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s: run pip install --target DIR ziglang==%s, and set it to DIR", clang.FolderVariable, clang.Version)
	}
	t.Chdir("../../..")
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("WARPBOOK_SEED"), 10, 64); err == nil {
		seed = n
	}
	random := rand.New(rand.NewPCG(seed, 0))
	name, own := quickOperators[random.IntN(len(quickOperators))], random.IntN(2) == 0
	t.Logf("%s, own back end: %v, seed %d", name, own, seed)
	operators, err := named([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	folder := filepath.Join(t.TempDir(), "new")
	files, passed, err := try(&out, operators, trial{ctx: t.Context(), seed: seed, own: own, write: folder})
	if err != nil || files == 0 || passed != files {
		t.Errorf("%v, %d of %d files pass:\n%s", err, passed, files, out.String())
	}
	written, _ := filepath.Glob(filepath.Join(folder, "*.sm_*.ptx"))
	if len(written) < files {
		t.Errorf("%q: fewer than %d files of PTX", written, files)
	}
}

// TestNoOperator: an unknown name is an error.
func TestNoOperator(t *testing.T) {
	if _, err := named([]string{"reduce", "nosuch"}); err == nil || err.Error() != "clang: no operator nosuch" {
		t.Errorf("%v, expected the name", err)
	}
}
