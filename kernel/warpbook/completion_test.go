//go:build !windows

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCompletion: bash completes commands, and the flags that a command's help lists.
func TestCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	p := newPlace(t)
	for line, want := range map[string]string{
		"warpbook re":                     "report",
		"warpbook run x.ipynb --dev":      "--device",
		"warpbook report x.ipynb --p":     "--pdf",
		"warpbook run notebooks/01-reduc": "", // a file
		"warpbook nope --":                "",
	} {
		words := strings.Fields(line)
		c := exec.Command(bash, "-c", `source <("$program" completion bash); COMP_WORDS=("$program" "${@:2}"); COMP_CWORD=$(($# - 1)); _warpbook; echo "${COMPREPLY[*]}"`, "bash")
		c.Args = append(c.Args, words...)
		c.Env = append(os.Environ(), "program="+p.path("warpbook"))
		out, err := c.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, %v, expected %q", line, got, err, want)
		}
	}
	p.warpbook("completion", "tcsh").refused(t, statusUsage, `completion: "tcsh", expected bash or zsh`)
}
