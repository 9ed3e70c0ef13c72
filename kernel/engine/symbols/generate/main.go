// The generate command writes the files by which cells can import compiled
// packages: for each package one file in kernel/engine/symbols with its exported
// objects as reflect values, and with their declarations and documentation,
// which reflection does not carry. For the standard library, whose objects come
// with the engine, it writes one file of documentation. Run it by
//
//	go generate ./kernel/engine
//
// after the API of an offered package has changed; a test fails while a file is out of
// date. Generic functions and types cannot be offered; it names those that it omits.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// offered are the packages besides the standard library.
var offered = []string{
	"log", // the engine's own are source, whose types are not those of net/http and testing/slogtest
	"log/slog",
	"gonum.org/v1/gonum/blas",
	"gonum.org/v1/gonum/blas/blas32",
	"gonum.org/v1/gonum/blas/blas64",
	"gonum.org/v1/gonum/floats",
	"gonum.org/v1/gonum/floats/scalar",
	"gonum.org/v1/gonum/lapack",
	"gonum.org/v1/gonum/lapack/lapack64",
	"gonum.org/v1/gonum/mat",
	"gonum.org/v1/gonum/optimize",
	"gonum.org/v1/gonum/stat",
	"gonum.org/v1/gonum/stat/distuv",
	"gonum.org/v1/plot",
	"gonum.org/v1/plot/font",
	"gonum.org/v1/plot/palette",
	"gonum.org/v1/plot/plotter",
	"gonum.org/v1/plot/plotutil",
	"gonum.org/v1/plot/text",
	"gonum.org/v1/plot/vg",
	"gonum.org/v1/plot/vg/draw",
	"warpbook/gpu",
	"warpbook/gpu/collective",
	"warpbook/gpu/compile",
	"warpbook/gpu/device",
	"warpbook/gpu/explain",
	"warpbook/gpu/format",
	"warpbook/kernel/display",
	"warpbook/ops",
	"warpbook/ops/bench",
	"warpbook/ops/concat",
	"warpbook/ops/conv1d",
	"warpbook/ops/conv2d",
	"warpbook/ops/copyif",
	"warpbook/ops/cute",
	"warpbook/ops/fused",
	"warpbook/ops/gelu",
	"warpbook/ops/gemm",
	"warpbook/ops/histogram",
	"warpbook/ops/lab",
	"warpbook/ops/structured",
	"warpbook/ops/ladder",
	"warpbook/ops/pool",
	"warpbook/ops/puzzles",
	"warpbook/ops/reduce",
	"warpbook/ops/results",
	"warpbook/ops/run",
	"warpbook/ops/scan",
	"warpbook/ops/softmax",
	"warpbook/ops/sort",
	"warpbook/ops/sparse",
	"warpbook/ops/transpose",
	"warpbook/ops/triangles",
	"warpbook/ops/vectoradd",
	"warpbook/ops/vectorcopy",
}

func main() {
	dir := flag.String("dir", ".", "folder to write to")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, skipped, err := generate(offered)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		fmt.Fprintln(os.Stderr, "left out:", s)
	}
	old, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return err
	}
	for _, path := range old {
		if _, ok := files[filepath.Base(path)]; !ok {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	if files[stdDocs], err = generateStdDocs(dir); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
