package lite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"warpbook/kernel/edited"
)

// leftOut matches the imports of the standard library's symbols that the program does
// without: 3 of 21 MB compressed. Cells that import one get an error that names it.
// They need a network, processes or files of a machine, or are tools for programs.
var leftOut = regexp.MustCompile(`ixgo/pkg/(archive/|crypto/|database/|debug/|encoding/(asn1|gob|pem|xml)"|expvar"|go/(build|constant|doc|importer|types|version)|html/template"|image/(color/palette|jpeg)"|index/|log/syslog"|mime|net|os/(exec|signal|user)"|plugin"|runtime/(cgo|coverage|pprof|trace)|testing)`)

// keptIn matches those of them that notebooks use.
var keptIn = regexp.MustCompile(`ixgo/pkg/(crypto/(md5|rand|sha1|sha256|sha512|subtle)|net/url)"`)

// standard is the file of the symbols, from the module's root.
const standard = "kernel/engine/symbols/std.go"

// Program builds the cells program for js/wasm from the module at root, into a file.
func Program(ctx context.Context, root, path string, progress io.Writer) error {
	work, err := os.MkdirTemp("", "warpbook-lite-")
	if err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	defer os.RemoveAll(work)
	if work, err = filepath.EvalSymlinks(work); err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	links := filepath.Join(work, "links")
	if err := os.Mkdir(links, 0o755); err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	overlay, err := fewerSymbols(root, links, work)
	if err != nil {
		return err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	fmt.Fprintln(progress, "warpbook: building the cells program for the browser (about 2 minutes on 2 cores the first time)")
	c, err := edited.Portable(ctx, root, links, "build", "-tags="+edited.Tags+",simd128", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-overlay="+overlay, "-o", path, "./kernel/cells")
	if err != nil {
		return err
	}
	c.Env = append(c.Env, "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("lite: go build ./kernel/cells for js/wasm: %w: %s", err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

// fewerSymbols writes an overlay that leaves packages out of the program, for a build in the
// folder links.
func fewerSymbols(root, links, work string) (overlay string, err error) {
	from := filepath.Join(links, standard)
	text, err := os.ReadFile(filepath.Join(root, standard))
	if err != nil {
		return "", fmt.Errorf("lite: %w", err)
	}
	var kept []string
	dropped := 0
	for line := range strings.Lines(string(text)) {
		if leftOut.MatchString(line) && !keptIn.MatchString(line) {
			dropped++
			continue
		}
		kept = append(kept, line)
	}
	if dropped == 0 {
		return "", fmt.Errorf("lite: %s: no import of %s, expected those that a browser does without", from, leftOut)
	}
	to := filepath.Join(work, "std.go")
	if err := os.WriteFile(to, []byte(strings.Join(kept, "")), 0o600); err != nil {
		return "", fmt.Errorf("lite: %w", err)
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {from: to}})
	if err != nil {
		return "", fmt.Errorf("lite: %w", err)
	}
	overlay = filepath.Join(work, "overlay.json")
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		return "", fmt.Errorf("lite: %w", err)
	}
	return overlay, nil
}

// Loader returns the path of wasm_exec.js of the toolchain that builds the program,
// which belongs to that toolchain's version.
func Loader(ctx context.Context, root string) (string, error) {
	c := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOVERSION")
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("lite: go env GOROOT: %w", err)
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if other := edited.Toolchain(version); other != version {
		return "", fmt.Errorf("lite: go %s: expected a toolchain that builds the cell engine itself: set GOTOOLCHAIN=%s", version, other)
	}
	path := filepath.Join(goroot, "lib", "wasm", "wasm_exec.js")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("lite: %w: expected it in the Go toolchain: install Go from go.dev, some packages of distributions lack it", err)
	}
	return path, nil
}
