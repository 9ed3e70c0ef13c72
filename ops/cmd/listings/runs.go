package main

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpbook/gpu/compile/listings"
)

// run is a program with listings in it.
type run struct {
	name    string // of its file, without the ending
	as      string // what the program adds, for the table; "" for a listing as it is
	right   *regexp.Regexp
	shows   *regexp.Regexp // the value of a wrong run
	text    string         // the source
	of      []string       // names of its listings
	mends   []string       // what was changed in the listings, and why
	checked bool           // look for races, too
}

//go:embed runs headers others.txt
var files embed.FS

// readRuns are the programs of the folder runs, with the listings in their places.
func readRuns(all []listings.Listing) (list []run, err error) {
	entries, err := fs.ReadDir(files, "runs")
	if err != nil {
		return nil, err
	}
	driver, err := files.ReadFile("headers/driver.h")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := files.ReadFile("runs/" + e.Name())
		if err != nil {
			return nil, err
		}
		r := &reading{run: run{name: strings.TrimSuffix(e.Name(), ".cu"), right: defaultRight, shows: defaultShows}, all: all, driver: string(driver)}
		for number, line := range strings.Split(string(text), "\n") {
			if err := r.line(number+1, line); err != nil {
				return nil, fmt.Errorf("listings: runs/%s:%d: %w", e.Name(), number+1, err)
			}
		}
		if err := r.end(); err != nil {
			return nil, fmt.Errorf("listings: runs/%s: %w", e.Name(), err)
		}
		list = append(list, r.run)
	}
	return list, nil
}

var (
	defaultRight = regexp.MustCompile(`(?m)^right$`)
	defaultShows = regexp.MustCompile(`(?m)^wrong: (.*)$`)
)

// reading reads a file of the folder runs. Its lines are those of the program, but for
//
//	//! as WORDS               what the program adds to its listings
//	//! right REGEXP           the output of a right run
//	//! shows REGEXP           the value of a wrong one
//	//! races                  look for races, too
//	//! mend NAME "old" "new" why
//	//@ driver                 the functions of headers/driver.h
//	//@ NAME                   a listing
//	//@ NAME FIRST-LAST        lines of it
type reading struct {
	run
	all     []listings.Listing
	driver  string
	changes []*change
	out     strings.Builder
}

// change mends a listing.
type change struct {
	listing, from, to string
	done              bool
}

func (r *reading) line(number int, line string) error {
	if words, ok := strings.CutPrefix(line, "//! "); ok {
		r.out.WriteString("\n")
		return r.directive(words)
	}
	words, ok := strings.CutPrefix(line, "//@ ")
	if !ok {
		fmt.Fprintln(&r.out, line)
		return nil
	}
	if words == "driver" {
		fmt.Fprintf(&r.out, "#line 1 \"driver.h\"\n%s", r.driver)
	} else if err := r.listing(words); err != nil {
		return err
	}
	fmt.Fprintf(&r.out, "#line %d %q\n", number+1, r.name+".cu")
	return nil
}

func (r *reading) directive(words string) (err error) {
	kind, rest, _ := strings.Cut(words, " ")
	switch kind {
	case "as":
		r.as = rest
	case "right":
		r.right, err = regexp.Compile("(?m)" + rest)
	case "shows":
		r.shows, err = regexp.Compile("(?m)" + rest)
	case "races":
		r.checked = true
	case "mend":
		err = r.mend(rest)
	default:
		err = fmt.Errorf("no directive %q", kind)
	}
	return err
}

// mend reads NAME "old" "new" why.
func (r *reading) mend(text string) error {
	name, rest, _ := strings.Cut(text, " ")
	var parts [2]string
	for i := range parts {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return fmt.Errorf("%w: expected NAME \"old\" \"new\" why", err)
		}
		if parts[i], err = strconv.Unquote(quoted); err != nil {
			return err
		}
		rest = strings.TrimPrefix(rest[len(quoted):], " ")
	}
	if rest == "" {
		return fmt.Errorf("a change of %s without a reason", name)
	}
	r.changes = append(r.changes, &change{listing: name, from: parts[0], to: parts[1]})
	r.mends = append(r.mends, fmt.Sprintf("%s: %q is %q: %s", name, parts[0], parts[1], rest))
	return nil
}

// listing writes a listing, or lines of it, under the note's own lines.
func (r *reading) listing(words string) error {
	name, lines, part := strings.Cut(words, " ")
	i := slices.IndexFunc(r.all, func(l listings.Listing) bool { return l.Name() == name })
	if i < 0 {
		return fmt.Errorf("no listing %s", name)
	}
	text, first := r.all[i].Source, 1
	for _, c := range r.changes {
		if c.listing == name && strings.Contains(text, c.from) {
			text, c.done = strings.ReplaceAll(text, c.from, c.to), true
		}
	}
	if part {
		var last int
		if _, err := fmt.Sscanf(lines, "%d-%d", &first, &last); err != nil {
			return fmt.Errorf("%q: expected FIRST-LAST: %w", lines, err)
		}
		all := strings.SplitAfter(text, "\n")
		if first < 1 || last > len(all) || first > last {
			return fmt.Errorf("%q: the listing has %d lines", lines, len(all))
		}
		text = strings.Join(all[first-1:last], "")
	}
	fmt.Fprintf(&r.out, "#line %d %q\n%s", r.all[i].Line+first, "note"+r.all[i].Note, text)
	if !slices.Contains(r.of, name) {
		r.of = append(r.of, name)
	}
	return nil
}

func (r *reading) end() error {
	for _, c := range r.changes {
		if !c.done {
			return fmt.Errorf("%s has no %q", c.listing, c.from)
		}
	}
	if len(r.of) == 0 {
		return fmt.Errorf("no listing")
	}
	r.text = r.out.String()
	return nil
}

// readOthers says of each listing that no run has what it is.
func readOthers() (map[string]string, error) {
	text, err := files.ReadFile("others.txt")
	if err != nil {
		return nil, err
	}
	others := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, is, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			return nil, fmt.Errorf("listings: others.txt: %q: expected NAME WORDS", line)
		}
		others[name] = is
	}
	return others, nil
}
