//go:build !windows

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"warpbook/kernel/leaf/spelling"
)

// newFlags makes the flags of a command. Errors are returned, not printed.
func newFlags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}

// parse accepts flags before, between and after n other arguments, which it returns.
// For a request for help it returns flag.ErrHelp.
func parse(f *flag.FlagSet, args []string, n int) ([]string, error) {
	others, err := parseAny(f, args)
	if err == nil && len(others) != n {
		return nil, usageError{fmt.Errorf("%s: %d arguments beside flags, expected %d, see warpbook %[1]s --help", f.Name(), len(others), n)}
	}
	return others, err
}

// parseAny is parse for any number of other arguments.
func parseAny(f *flag.FlagSet, args []string) ([]string, error) {
	var others []string
	for {
		err := f.Parse(args)
		if err == flag.ErrHelp {
			commandHelp(os.Stdout, f)
			return nil, err
		}
		if err != nil {
			return nil, usageError{fmt.Errorf("%s: %w%s, see warpbook %[1]s --help", f.Name(), err, meant(f, err))}
		}
		if f.NArg() == 0 {
			break
		}
		others, args = append(others, f.Arg(0)), f.Args()[1:]
	}
	return others, nil
}

// meant proposes a flag where an error of Parse is about one that is not there.
func meant(f *flag.FlagSet, err error) string {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	var known []string
	f.VisitAll(func(flag *flag.Flag) { known = append(known, flag.Name) })
	if near := nearest(name, known); unknown && near != "" {
		return " (did you mean --" + near + "?)"
	}
	return ""
}

// nearest returns the name that begins with a half-typed one, or that differs in two letters
// at most, and "" if there is none.
func nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if name != "" && strings.HasPrefix(k, name) {
			return k
		}
		if d := spelling.Distance(name, k); d < least && d < len(k)-1 {
			best, least = k, d
		}
	}
	return best
}

// count adds a flag whose value is a whole number of 0 or more.
func count(f *flag.FlagSet, into *int, name, usage string) {
	f.Func(name, usage, func(text string) error {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return errors.New("expected a whole number of 0 or more")
		}
		*into = int(n)
		return nil
	})
}

func commandHelp(w io.Writer, f *flag.FlagSet) {
	table, flags := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), ""
	f.VisitAll(func(flag *flag.Flag) {
		flagHelp(table, flag)
		flags = " [FLAGS]"
	})
	for _, c := range commands() {
		if c.name == f.Name() {
			fmt.Fprintf(w, "warpbook %s: %s\n\nusage: warpbook %s%s\n", c.name, c.summary, strings.TrimSpace(c.name+" "+c.args), flags)
			fmt.Fprintf(w, "example: %s\n\n", c.example)
		}
	}
	table.Flush()
}

func flagHelp(w io.Writer, f *flag.Flag) {
	value, usage := flag.UnquoteUsage(f)
	name := strings.TrimSpace("--" + f.Name + " " + value)
	if f.DefValue != "" && f.DefValue != "false" {
		usage += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(w, "  %s\t%s\n", name, usage)
}
