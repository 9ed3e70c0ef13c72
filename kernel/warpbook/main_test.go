//go:build !windows

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile"
	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/cellbuild"
	"warpbook/kernel/cellproc/fakecells"
	"warpbook/kernel/leaf/buildcache"
	"warpbook/kernel/leaf/release"
)

// asCommand names an environment variable that makes this binary warpbook: a sweep
// starts its own executable, which has the name of the test.
const asCommand = "WARPBOOK_TEST_COMMAND"

// TestMain runs this binary as warpbook or as its cells program, by the name under
// which it is started.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	switch {
	case name == "cells":
		fakecells.Main()
	case name == "warpbook", os.Getenv(asCommand) != "":
		main()
	}
	os.Exit(m.Run())
}

// place is a folder with a warpbook that drives a fake cells program.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t, dir}
	for _, name := range []string{"warpbook", "cells"} {
		if err := os.Symlink(self, p.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.dir, name) }

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// names lists a folder without warpbook's own list; a missing folder is empty.
func (p *place) names(dir string) string {
	entries, err := os.ReadDir(p.path(dir))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != listName {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}

// command prepares warpbook in the place. Without its setting the race detector makes
// each process sleep for 1 s at its end.
func (p *place) command(args ...string) *exec.Cmd {
	c := exec.Command(p.path("warpbook"), args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), cellbuild.Env+"="+p.path("cells"), "XDG_DATA_HOME="+p.path("data"), "GORACE=atexit_sleep_ms=0", asCommand+"=1")
	return c
}

// outcome is the result of a warpbook process.
type outcome struct {
	status         int
	stdout, stderr string
}

func (p *place) warpbook(args ...string) outcome {
	p.t.Helper()
	return p.finish(p.command(args...))
}

func (p *place) finish(c *exec.Cmd) outcome {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		p.t.Fatal(err)
	}
	if s := c.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		p.t.Errorf("%v ended by %v", c.Args, s.Signal())
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// refused checks that a command failed with one line that contains want.
func (o outcome) refused(t *testing.T, status int, want string) {
	t.Helper()
	if o.status != status || strings.Count(o.stderr, "\n") != 1 ||
		!strings.HasPrefix(o.stderr, "warpbook: ") || !strings.Contains(o.stderr, want) {
		t.Errorf("status %d, stderr %q, expected %d and one line with %q", o.status, o.stderr, status, want)
	}
}

func TestHelp(t *testing.T) {
	p := newPlace(t)
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"--help"}, []string{"run NOTEBOOK", "report NOTEBOOK", "doctor"}},
		{[]string{"help"}, []string{"usage: warpbook COMMAND"}},
		{[]string{"run", "--help"}, []string{"usage: warpbook run NOTEBOOK", "--out DIR", "(default report)", "--set NAME=VALUE", "--device NAME", "--timeout TIME", "--quiet"}},
		{[]string{"run", "x.ipynb", "-h"}, []string{"usage: warpbook run NOTEBOOK"}},
		{[]string{"report", "--help"}, []string{"usage: warpbook report NOTEBOOK", "--out DIR"}},
		{[]string{"doctor", "--help"}, []string{"usage: warpbook doctor"}},
	} {
		o := p.warpbook(test.args...)
		if o.status != 0 || o.stderr != "" {
			t.Errorf("%v: status %d, stderr %q", test.args, o.status, o.stderr)
		}
		for _, want := range test.want {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("%v: no %q in\n%s", test.args, want, o.stdout)
			}
		}
	}
}

func TestUsageErrors(t *testing.T) {
	p := newPlace(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"fly"}, `unknown command "fly", expected one of run, report, cuda, compare, sweep, history, notebooks, completion, doctor`},
		{[]string{"serve", "kernel.json"}, "go run ./install"},
		{[]string{"--fly"}, `unknown command "--fly"`},
		{[]string{"rep"}, `unknown command "rep", did you mean report? expected one of run, `},
		{[]string{"sweeep", "a"}, `unknown command "sweeep", did you mean sweep? `},
		{[]string{"run", "a", "--ou"}, "not defined: -ou (did you mean --out?), see warpbook run --help"},
		{[]string{"run", "a", "--devcie", "emu"}, "not defined: -devcie (did you mean --device?), see warpbook run --help"},
		{[]string{"run"}, "run: 0 arguments beside flags, expected 1"},
		{[]string{"run", "a", "--quiet", "b"}, "run: 2 arguments beside flags, expected 1"},
		{[]string{"run", "a", "--fly"}, "not defined: -fly, see warpbook run --help"},
		{[]string{"run", "a", "--set", "x"}, "expected NAME=VALUE"},
		{[]string{"run", "a", "--timeout", "soon"}, `invalid value "soon" for flag -timeout: expected a time such as 90s`},
		{[]string{"run", "a", "--timeout", "-5s"}, "expected a time such as 90s"},
		{[]string{"run", "a", "--set", "n=1", "--set", "n=2"}, "n is set twice, expected once"},
		{[]string{"history", "--limit", "-3"}, "expected a whole number of 0 or more"},
		{[]string{"history", "list", "3"}, "history list: 1 arguments, expected none"},
		{[]string{"sweep", "a", "--set", "n=1,1"}, "value 1 of n is given twice"},
		{[]string{"sweep", "a", "--set", "n=1,2", "--point", "-4"}, "expected a whole number of 0 or more"},
		{[]string{"sweep", "a", "--set", "n=1,2", "--time", "30:00"}, "--time and --concurrency need --engine slurm"},
		{[]string{"sweep", "a", "--set", "n=1,2", "--devices", "cuda:0,,cuda:1"}, "a name is empty, expected names such as cuda:0,cuda:1"},
		{[]string{"doctor", "x"}, "doctor: 1 arguments beside flags, expected 0"},
	} {
		p.warpbook(test.args...).refused(t, statusUsage, test.want)
	}
	if o := p.warpbook(); o.status != statusUsage || !strings.Contains(o.stderr, "usage: warpbook COMMAND") {
		t.Errorf("without a command: %+v", o)
	}
}

// TestLinksNoEngine keeps the entry point small: go run builds it before the first
// message to the user.
func TestLinksNoEngine(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "warpbook/kernel/cellproc\n") {
		t.Fatalf("go list printed %q, expected this command's packages", out)
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		for _, heavy := range []string{"github.com/goplus/", "gonum.org/", "net/http"} {
			if strings.HasPrefix(line, heavy) {
				t.Errorf("warpbook links %s", line)
			}
		}
	}
}

func TestDoctor(t *testing.T) {
	p := newPlace(t)
	o := p.warpbook("doctor")
	if o.status != 0 || !strings.Contains(o.stdout, p.path("cells")+" (named by WARPBOOK_CELLS, "+release.Name()+")") {
		t.Errorf("%+v", o)
	}
	c := p.command("doctor")
	c.Env = append(c.Env, cellbuild.Env+"=", "XDG_CACHE_HOME="+p.path("cache"))
	o = p.finish(c)
	for _, want := range []string{"missing  cells program  not built yet", "ok       source", "device", "GPU", "Jupyter"} {
		if o.status != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("status %d, no %q in\n%s", o.status, want, o.stdout)
		}
	}
	if got := p.names("cache"); got != "" {
		t.Errorf("doctor made %q", got)
	}
}

// TestDoctorFindsDamage: doctor reports a truncated program as damaged.
func TestDoctorFindsDamage(t *testing.T) {
	p := newPlace(t)
	t.Setenv("XDG_CACHE_HOME", p.path("cache"))
	path := p.path("cache/warpbook/cells-x")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := buildcache.Put(path, func(fresh string) error { return os.WriteFile(fresh, []byte("#!/bin/sh\n"), 0o755) }); err != nil {
		t.Fatal(err)
	}
	state := func() finding {
		for _, f := range cellsFindings("", cellbuild.Location{Path: path, Root: "/", Go: "go1"}, nil) {
			if f.what == "cells program" {
				return f
			}
		}
		return finding{}
	}
	if f := state(); f.state != ok {
		t.Errorf("%+v", f)
	}
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	if f := state(); f.state == ok || !strings.Contains(f.text, "cells-x: damaged: 3 bytes, expected 10: the next run builds it again") {
		t.Errorf("%+v", f)
	}
}

// The nvrtc program reports whether NVRTC is installed; here a script prints its
// messages, and no clang is there. One command gives a compiler to a machine without any.
func TestCompilerFindings(t *testing.T) {
	p := newPlace(t)
	t.Setenv(compiler.Variable, p.path("nvrtc"))
	t.Setenv(clang.FolderVariable, t.TempDir())
	remedy := finding{note, "%%cuda", compile.Remedy(t.Context()) + offline}
	if f := cudaFindings(compiler.Path()); len(f) != 2 || f[0].state != note || !strings.Contains(f[0].text, "not tried yet") || f[1] != remedy {
		t.Errorf("%+v", f)
	}
	for reply, want := range map[string][]finding{
		`{"Release": "12.0", "PTX": "x"}`:                                   {{ok, "%%cuda", "NVRTC 12.0"}},
		`{"Missing": true, "Error": "libnvrtc not found: run pip install"}`: {{note, "%%cuda", "libnvrtc not found: run pip install"}, remedy},
	} {
		p.write("nvrtc", "#!/bin/sh\ncat > /dev/null\necho '"+reply+"'\n")
		if err := os.Chmod(p.path("nvrtc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if f := cudaFindings(compiler.Path()); !slices.Equal(f, want) {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}

func TestGPUFinding(t *testing.T) {
	p := newPlace(t)
	if f := gpuFinding(false, false, p.path("none")); f.state != note || !strings.Contains(f.text, "no NVIDIA GPU") {
		t.Errorf("%+v", f)
	}
	if f := gpuFinding(true, false, p.path("none")); f.state != missing || !strings.Contains(f.text, "go run ./install") {
		t.Errorf("%+v", f)
	}
	p.write("version", "NVRM version: NVIDIA UNIX  580.1\nGCC\n")
	if f := gpuFinding(true, true, p.path("version")); f.state != ok || !strings.Contains(f.text, "NVIDIA UNIX 580.1)") {
		t.Errorf("%+v", f)
	}
}
