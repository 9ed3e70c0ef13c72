package wheel

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/leaf/release"
)

// files are the files of an archive by name, with the mode of each.
func files(t *testing.T, archive []byte) (texts map[string]string, modes map[string]os.FileMode) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	texts, modes = map[string]string{}, map[string]os.FileMode{}
	for _, f := range r.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		texts[f.Name], modes[f.Name] = string(text), f.Mode().Perm()
	}
	return texts, modes
}

// The record of a wheel has the hash and the size of each file, programs are executable,
// and the same files make the same wheel in any order.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	entries := []entry{{name: "b", text: []byte("text")}, {name: "a", path: path, run: true}}
	var first, second bytes.Buffer
	if err := write(&first, entries); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(entries)
	if err := write(&second, entries); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the order of the files changes the wheel")
	}
	texts, modes := files(t, first.Bytes())
	if modes["a"] != 0o755 || modes["b"] != 0o644 {
		t.Errorf("modes %v", modes)
	}
	var want strings.Builder
	for _, name := range []string{"a", "b"} {
		sum := sha256.Sum256([]byte(texts[name]))
		fmt.Fprintf(&want, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(texts[name]))
	}
	want.WriteString(info + "RECORD,,\n")
	if got := texts[info+"RECORD"]; got != want.String() {
		t.Errorf("record\n%s\nexpected\n%s", got, want.String())
	}
}

// The kernelspec of a wheel names its program by a path from its own folder.
func TestKernelspec(t *testing.T) {
	entries, err := kernel()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(entries, func(e entry) bool { return e.name == spec+"kernel.json" })
	var read struct {
		Argv []string          `json:"argv"`
		Env  map[string]string `json:"env"`
	}
	if i < 0 || len(entries) != 4 {
		t.Fatalf("%d files, expected kernel.json and three logos", len(entries))
	}
	if err := json.Unmarshal(entries[i].text, &read); err != nil {
		t.Fatal(err)
	}
	in := strings.Replace(read.Argv[0], "{resource_dir}", strings.TrimSuffix(spec, "/"), 1)
	if filepath.Clean(in) != program("warpbook-kernel") || len(read.Env) > 0 {
		t.Errorf("argv %q, env %v, expected the program %s", read.Argv, read.Env, program("warpbook-kernel"))
	}
}

// The wheel has every notebook and its PTX, and no results of executions.
func TestNotebooks(t *testing.T) {
	entries, err := notebooks("../../notebooks")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimPrefix(e.name, books))
		if strings.Contains(e.name, "results") {
			t.Errorf("%s is a result", e.name)
		}
	}
	for _, want := range []string{"01-reduce.ipynb", "12-write-your-own/step1.ptx", "14-puzzles.ipynb"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s", want)
		}
	}
}

// The compilers of the extra are those that README installs, and the wheel has the licences
// of all that its programs link.
func TestMetadata(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	about, err := metadata(t.Context(), "../..", "1f2e", platforms[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"warpbook", "Go", "github.com_goplus_ixgo_v", "github.com_go-zeromq_zmq4_v", "gorgonia.org_cu_v"} {
		if !slices.ContainsFunc(about, func(e entry) bool { return strings.HasPrefix(e.name, info+"licenses/"+part) && len(e.text) > 300 }) {
			t.Errorf("no licence of %s", part)
		}
	}
	if want := "Generator: warpbook " + release.Version + "+1f2e\n"; !strings.Contains(string(about[1].text), want) {
		t.Errorf("WHEEL is %s, expected %s", about[1].text, want)
	}
	for _, wheel := range nvrtc {
		if !strings.Contains(string(readme), wheel) {
			t.Errorf("README does not install %s", wheel)
		}
		if !strings.Contains(string(about[0].text), "Requires-Dist: "+wheel+"; ") {
			t.Errorf("the metadata does not require %s", wheel)
		}
	}
}

func TestFind(t *testing.T) {
	for _, p := range platforms {
		if got, err := Find(p.Name); err != nil || got != p || !strings.HasSuffix(p.File(), "-py3-none-"+p.Tag+".whl") {
			t.Errorf("%s: %v, %v", p.Name, got, err)
		}
		if got, err := Host(p.OS, p.Arch); err != nil || got != p {
			t.Errorf("%s/%s: %v, %v", p.OS, p.Arch, got, err)
		}
	}
	if _, err := Find("windows"); err == nil || !strings.Contains(err.Error(), "WSL2") {
		t.Errorf("windows: %v, expected the way by WSL2", err)
	}
	if _, err := Host("plan9", "amd64"); err == nil || !strings.Contains(err.Error(), "--platform") {
		t.Errorf("plan9: %v", err)
	}
}

// A program that needs a newer glibc than the wheel's tag promises is refused.
func TestNewerGlibcIsRefused(t *testing.T) {
	if _, err := elf.Open("/bin/sh"); err != nil {
		t.Skip("/bin/sh is no ELF file: ", err)
	}
	if err := runsOn([2]int{2, 0}, "/bin/sh"); err == nil || !strings.Contains(err.Error(), " of GLIBC_2.") || !strings.Contains(err.Error(), "expected at most 2.0") {
		t.Errorf("%v, expected the symbol that glibc 2.0 lacks", err)
	}
	if err := runsOn([2]int{3, 0}, "/bin/sh"); err != nil {
		t.Error(err)
	}
}
