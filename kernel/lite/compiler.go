package lite

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// The npm package with the clang that runs in a browser, and the hash that the registry
// has of it.
const (
	clangPackage = "@yowasp/clang@22.0.0-git20542-10"
	clangHash    = "sha512-V31/z9GrJECKeACTDUyvg2llbEUiFi3bxtL5HSg7H/6sydSxdI/AoVAD9F5ozrfLjotWl0B9rghR87m+DUM/zg=="
)

// compiler puts the compiler of CUDA C++ beside the cells program: clang, and the program
// that makes PTX of its intermediate code.
func (s *site) compiler() error {
	fmt.Fprintln(s.progress, "warpbook: adding the compiler of CUDA C++ for the browser")
	unpacked := filepath.Join(s.work, "compiler.wasm")
	c := exec.CommandContext(s.ctx, "go", "build", "-tags=tab", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", unpacked, "./gpu/clang/tab")
	c.Dir, c.Env = s.root, append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("lite: go build ./gpu/clang/tab for js/wasm: %w: %s", err, bytes.TrimSpace(out))
	}
	program, err := os.ReadFile(unpacked)
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	if err := writePacked(s.path("program", "compiler.wasm.gz"), program); err != nil {
		return err
	}
	file, err := s.fetchClang()
	if err != nil {
		return err
	}
	return s.unpackClang(file)
}

// fetchClang downloads the package with npm and checks its hash.
func (s *site) fetchClang() (file string, err error) {
	dir := filepath.Join(s.work, "clang")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("lite: site: %w", err)
	}
	if err := s.run(dir, "npm", "pack", "--silent", clangPackage); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("lite: site: npm pack %s: %d files, expected one", clangPackage, len(files))
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return "", fmt.Errorf("lite: site: %w", err)
	}
	sum := sha512.Sum512(text)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != clangHash {
		return "", fmt.Errorf("lite: site: %s has the hash %s, expected %s: the registry has another file", clangPackage, got, clangHash)
	}
	return files[0], nil
}

// unpackClang writes the parts of the package that compile: its loader as it is, the
// programs compressed. Headers and libraries for WebAssembly are left out.
func (s *site) unpackClang(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("lite: site: %w", err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("lite: site: %s: %w", clangPackage, err)
	}
	for archive := tar.NewReader(packed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lite: site: %s: %w", clangPackage, err)
		}
		name := path.Base(header.Name)
		script, program := name == "bundle.js", strings.HasSuffix(name, ".wasm")
		if !script && !program && name != "README.md" {
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return fmt.Errorf("lite: site: %s: %w", clangPackage, err)
		}
		to := s.path("program", "clang", name)
		if program {
			err = writePacked(to+".gz", text)
		} else {
			err = write(to, text)
		}
		if err != nil {
			return err
		}
	}
}

// writePacked writes a file compressed.
func writePacked(path string, text []byte) error {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("lite: %w", err)
	}
	return write(path, b.Bytes())
}
