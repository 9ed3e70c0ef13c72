//go:build !windows

package main

import (
	"os"
	"strings"
	"testing"

	"warpbook/kernel/cellproc/fakecells"
	"warpbook/kernel/kernelspec"
)

// program is a script with an answer to --version; "" for one from before the question.
func (p *place) program(name, answer string) string {
	p.t.Helper()
	p.write(name, "#!/bin/sh\n[ -z '"+answer+"' ] || echo '"+answer+"'\n")
	if err := os.Chmod(p.path(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	return p.path(name)
}

// TestBuildsOfOneVersion: doctor tells two builds of one version apart, and names the
// remedy of each kind of installation.
func TestBuildsOfOneVersion(t *testing.T) {
	for _, test := range []struct{ kernel, cells, own, state, want string }{
		{"0.1.0+a", "0.1.0+a", "0.1.0+a", ok, "(0.1.0+a)"},
		{"0.1.0+a", "0.1.0+a", "0.1.0", ok, "(0.1.0+a)"},
		{"0.1.0+a", "0.1.0+b", "0.1.0+a", missing, "the kernel is of warpbook 0.1.0+a, its cells program of 0.1.0+b: install it again with: "},
		{"0.1.0+a", "0.1.0+a", "0.1.0+b", note, "the kernel is of warpbook 0.1.0+a, this command of 0.1.0+b: make them equal with: "},
		{"", "", "0.1.0+b", note, "the kernel is of warpbook an earlier version, this command of 0.1.0+b: "},
	} {
		p := newPlace(t)
		kernel, cells := p.program("share/warpbook/bin/warpbook-kernel", test.kernel), p.program("share/warpbook/bin/cells", test.cells)
		for remedy, spec := range map[string]kernelspec.Spec{
			"go run ./install":                    kernelspec.New(kernel, cells),
			"pip install --force-reinstall WHEEL": kernelspec.New(kernel, ""),
		} {
			place := kernelspec.InPrefix(p.dir)
			if err := spec.Write(place.Spec); err != nil {
				t.Fatal(err)
			}
			f := kernelFindings(test.own, []kernelspec.Place{place})
			if len(f) != 1 || f[0].state != test.state || !strings.Contains(f[0].text, test.want) || (test.state != ok) != strings.HasSuffix(f[0].text, remedy) {
				t.Errorf("%+v: %+v, expected %s with %q and %q", test, f, test.state, test.want, remedy)
			}
		}
	}
}

// TestCommandOfAnotherBuild: the command does not run cells on a program of another build
// that was installed with it, and doctor says so.
func TestCommandOfAnotherBuild(t *testing.T) {
	p := newPlace(t)
	t.Setenv(fakecells.VersionEnv, "99.1.0+a")
	if o := p.warpbook("doctor"); !strings.Contains(o.stdout, "cells (named by WARPBOOK_CELLS) is of warpbook 99.1.0+a, this command of ") {
		t.Errorf("%+v", o)
	}
	p.notebook("n.ipynb", "# title", "out hello")
	if o := p.warpbook("run", "n.ipynb"); o.status != statusFailed || !strings.Contains(o.stdout+o.stderr, "is of warpbook 99.1.0+a, this process of ") {
		t.Errorf("%+v", o)
	}
}
