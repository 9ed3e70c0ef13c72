// The listings command runs the CUDA listings of the founding notes as they are printed, on
// the emulator, and prints a line for each: right, wrong with the value, the fault with the
// note's line, or what the listing is if it is no program.
//
//	go run ./ops/cmd/listings                  all listings
//	go run ./ops/cmd/listings 000:99 004:297   these
//	go run ./ops/cmd/listings -mends           what was changed in the listings before they ran
//
// A file of the folder runs is a program with listings in it: a listing with main as it is, a
// kernel with a main of ours, which has data and the result that is right. others.txt says
// what the other listings are; verdicts.txt is the table that the command prints, for a test.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"warpbook/gpu/compile/listings"
)

func main() {
	mends := flag.Bool("mends", false, "print what was changed in the listings")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := print(ctx, os.Stdout, flag.Args(), *mends); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// print prints the table of some listings, of all for none.
func print(ctx context.Context, out io.Writer, names []string, mends bool) error {
	_, all := listings.All()
	runs, err := readRuns(all)
	if err != nil {
		return err
	}
	others, err := readOthers()
	if err != nil {
		return err
	}
	for _, n := range names {
		if !slices.ContainsFunc(all, func(l listings.Listing) bool { return l.Name() == n }) {
			return fmt.Errorf("listings: no listing %s, expected a note and a line such as %s", n, all[0].Name())
		}
	}
	if mends {
		for _, r := range runs {
			for _, m := range r.mends {
				fmt.Fprintln(out, m)
			}
		}
		return nil
	}
	verdicts := map[string]string{} // by run
	for _, l := range all {
		if len(names) > 0 && !slices.Contains(names, l.Name()) {
			continue
		}
		lines, err := row(ctx, l.Name(), runs, others, verdicts)
		if err != nil {
			return err
		}
		fmt.Fprint(out, lines)
	}
	return nil
}

// row are the lines of the table for a listing.
func row(ctx context.Context, name string, runs []run, others map[string]string, verdicts map[string]string) (string, error) {
	var b strings.Builder
	for _, r := range runs {
		if !slices.Contains(r.of, name) {
			continue
		}
		if _, known := verdicts[r.name]; !known {
			v, err := r.verdict(ctx)
			if err != nil {
				return "", err
			}
			verdicts[r.name] = v
		}
		fmt.Fprintf(&b, "%s  %s%s\n", name, verdicts[r.name], r.notes())
	}
	switch {
	case b.Len() == 0 && others[name] == "":
		return "", fmt.Errorf("listings: %s is in no run and not in others.txt", name)
	case b.Len() == 0:
		return fmt.Sprintf("%s  no program: %s\n", name, others[name]), nil
	case others[name] != "":
		return "", fmt.Errorf("listings: %s is in a run and in others.txt", name)
	}
	return b.String(), nil
}
