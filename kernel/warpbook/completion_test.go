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
	p.warpbook("completion", "tcsh").refused(t, statusUsage, `completion: "tcsh", expected bash, zsh or fish`)
}

// TestCompletionInFish: fish shows commands, flags with their help, and files.
func TestCompletionInFish(t *testing.T) {
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Skip("there is no fish here")
	}
	p := newPlace(t)
	p.write("01-reduce.ipynb", "{}")
	for line, want := range map[string]string{
		"re":                 "report",
		"run x.ipynb --dev":  "--device\trun on the device NAME, such as emu, ",
		"report x.ipynb --p": "--pdf\twrite a PDF",
		"run 01-red":         "01-reduce.ipynb",
		"nope --":            "",
	} {
		c := exec.Command(fish, "--no-config", "-c", `$program completion fish | source; complete -C "$program $line"`)
		c.Dir, c.Env = p.dir, append(os.Environ(), "HOME="+p.dir, "program="+p.path("warpbook"), "line="+line)
		out, err := c.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || !strings.HasPrefix(got, want) || want == "" && got != "" || strings.Contains(got, "\n") {
			t.Errorf("%s: %q, %v, expected a line that begins with %q", line, got, err, want)
		}
	}
}

// TestCompletionInZsh: zsh takes the functions of bash's script for the command, also where
// its own completion was not begun.
func TestCompletionInZsh(t *testing.T) {
	zsh, err := exec.LookPath("zsh")
	if err != nil {
		t.Skip("there is no zsh here")
	}
	p := newPlace(t)
	c := exec.Command(zsh, "-fc", `source <($program completion zsh) && print -r -- $_comps[warpbook]`)
	c.Dir, c.Env = p.dir, append(os.Environ(), "HOME="+p.dir, "program="+p.path("warpbook"))
	out, err := c.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "_bash_complete -o default -F _warpbook" {
		t.Errorf("%q, %v, expected the function of the command", got, err)
	}
}
