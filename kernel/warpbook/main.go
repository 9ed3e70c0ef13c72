//go:build !windows

// Command warpbook executes and renders Go notebooks of GPU operator
// experiments.
//
//	warpbook run NOTEBOOK     execute a notebook from clean, write its report
//	warpbook report NOTEBOOK  render a notebook as HTML, PDF, Markdown or CSV
//	warpbook cuda FILE.cu...  compile a CUDA program and run it on an emulated GPU
//	warpbook compare A B...   tell which times of two runs differ
//	warpbook sweep NOTEBOOK   execute a notebook at many points of its parameters
//	warpbook history          list, show, plot or export the runs of this user
//	warpbook notebooks DIR    copy the notebooks into a folder
//	warpbook doctor           show which parts are installed and which are missing
//	warpbook completion bash  print a script that completes commands and flags
//	warpbook --version        name the commit, the Go version and the platform
//
// It never runs a notebook's code itself: the cells program does. warpbook builds that
// program at first use and drives it through package cellproc. So it links no cell
// engine and no plotting, and builds in seconds. It must import neither.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"warpbook/kernel/leaf/console"
)

// command is a subcommand. Its run returns nil, or why the exit status is not 0.
type command struct {
	name    string
	args    string // the arguments after the flags, for the help
	summary string
	example string
	run     func(args []string) error
}

func commands() []command {
	return []command{
		{"run", "NOTEBOOK", "execute a notebook from clean, and write its report", "warpbook run notebooks/01-reduce.ipynb --out report --set n=100000", runCommand},
		{"report", "NOTEBOOK", "render a notebook as HTML, PDF, Markdown or CSV, without executing it", "warpbook report report/01-reduce.ipynb --pdf", reportCommand},
		{"cuda", "FILE.cu...", "compile a CUDA program and run it on an emulated GPU", "warpbook cuda reduce.cu -- 1000000", cudaCommand},
		{"compare", "A B...", "tell which times differ between runs, and whether verdicts changed", "warpbook compare before/01-reduce.json report/01-reduce.json --html changes.html", compareCommand},
		{"sweep", "NOTEBOOK", "execute a notebook at every combination of --set values, into one report", "warpbook sweep notebooks/01-reduce.ipynb --set n=1e5,1e6,1e7", sweepCommand},
		{"history", "[VERB]", "list the kept runs; show ID, plot ROW, export FILE.csv|FOLDER", "warpbook history export runs.csv", historyCommand},
		{"notebooks", "DIR", "copy the notebooks into a folder", "warpbook notebooks notebooks", notebooksCommand},
		{"completion", "SHELL", "print the script with which bash, zsh or fish completes commands and flags", "source <(warpbook completion bash)", completionCommand},
		{"doctor", "", "show which parts are installed and which are missing", "warpbook doctor", doctorCommand},
	}
}

// The exit statuses; a signal is 128 and its number.
const (
	statusFailed = 1 // bad input, a failed cell, a row that did not pass
	statusUsage  = 2
)

// usageError is an invalid command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }

// signalError is the error of a run that a signal ended.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return "stopped by a signal: " + e.signal.String() }

func main() { os.Exit(dispatch(os.Args[1:])) }

func dispatch(args []string) int {
	if len(args) == 0 {
		help(os.Stderr)
		return statusUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		help(os.Stdout)
		return 0
	case "version", "-version", "--version":
		fmt.Println(versionLine())
		return 0
	case "serve": // in a kernel.json that somebody wrote by hand
		return status(usageError{errors.New("serve: the kernel is the program warpbook-kernel now, register it with: go run ./install")})
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return status(c.run(args[1:]))
		}
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	proposal := ""
	if near := nearest(args[0], names); near != "" {
		proposal = "did you mean " + near + "? "
	}
	return status(usageError{fmt.Errorf("unknown command %q, %sexpected one of %s", args[0], proposal, strings.Join(names, ", "))})
}

// status writes the error to stderr, in one line if it has one reason.
func status(err error) int {
	var usage usageError
	var stopped signalError
	var exit exitError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &exit):
		if exit.Signal != "" {
			fmt.Fprintln(os.Stderr, "warpbook:", err)
		}
		return exit.Status
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "warpbook:", err)
		return statusUsage
	case errors.As(err, &stopped):
		last := console.New(os.Stderr, 0)
		fmt.Fprintln(last, "warpbook:", err)
		last.Flush(console.After(nil, blockedGrace)) // a signal ends the process, even if the output is not read
		return 128 + int(stopped.signal)
	}
	fmt.Fprintln(os.Stderr, "warpbook:", err)
	return statusFailed
}

func help(w io.Writer) {
	fmt.Fprint(w, "warpbook: Go notebooks for GPU operator experiments\n\nusage: warpbook COMMAND [ARGUMENTS]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-21s %s\n", c.name+" "+c.args, c.summary)
	}
	fmt.Fprint(w, "\nstart with: warpbook run notebooks/01-reduce.ipynb\nwarpbook COMMAND --help lists the flags of a command; warpbook --version names the commit.\n")
}
