package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"warpbook/gpu/compile"
	"warpbook/gpu/program"
)

// verdict builds and runs a program, and judges its output.
func (r *run) verdict(ctx context.Context) (string, error) {
	dir, err := writeHeaders()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	p, err := program.Build(ctx, []program.Source{{Name: r.name + ".cu", Text: r.text, Folder: dir}}, program.Options{Std: "c++17"}, os.Stderr)
	if wrong := (*compile.Error)(nil); errors.As(err, &wrong) {
		return "does not compile: " + wrong.Diagnostics[0].Text, nil
	}
	if err != nil {
		return "", err
	}
	var out, errs bytes.Buffer
	err = p.Run(ctx, program.Settings{Sanitize: r.checked, Sequential: true}, program.Streams{Out: &out, Err: &errs})
	exit := (*program.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		return "", err
	}
	return r.judge(out.String(), errs.String(), exit), nil
}

// writeHeaders writes the headers that listings name into a folder.
func writeHeaders() (string, error) {
	dir, err := os.MkdirTemp("", "listings")
	if err != nil {
		return "", err
	}
	entries, err := fs.ReadDir(files, "headers")
	for _, e := range entries {
		text, wrong := files.ReadFile("headers/" + e.Name())
		if wrong == nil {
			wrong = os.WriteFile(filepath.Join(dir, e.Name()), text, 0o666)
		}
		err = errors.Join(err, wrong)
	}
	if err != nil {
		os.RemoveAll(dir)
	}
	return dir, err
}

// judge is the verdict on a run: a fault, or else what the program printed, with the first
// of what was reported and ended nothing.
func (r *run) judge(out, errs string, exit *program.ExitError) string {
	var reported string
	for line := range strings.Lines(errs) {
		line = short(strings.TrimSpace(line))
		kind, rest, _ := strings.Cut(line, ": ")
		switch kind {
		case "warning", "note":
			if reported == "" {
				reported = ", and " + rest
			}
		case "advice":
		default:
			return "fault: " + line
		}
	}
	switch m := r.shows.FindStringSubmatch(out); {
	case r.right.MatchString(out):
		return "right" + reported
	case m != nil:
		return "wrong: " + m[1] + reported
	case exit != nil:
		return "fault: " + exit.Error() + reported
	}
	return fmt.Sprintf("wrong: it prints %.60q%s", out, reported)
}

var (
	report = regexp.MustCompile(`^((?:warning|note): )?.* at (\S+:\d+) \([^)]*\): (.*)$`)
	detail = regexp.MustCompile(`(?:[:;,] (?:and |before it|block |thread |lane |argument |let |launched)|: (?:lane|thread)).*`)
	varies = regexp.MustCompile(`(?:block|thread) \([\d,]+\)|lanes? \d+|0x[0-9a-f]+`)
	which  = regexp.MustCompile(`(hazard on) byte \d+ of`) // of the first block that reports it
)

// short is a report as place, kind and fact: without the threads, which depend on their
// order, and the remedy.
func short(line string) string {
	m := report.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	return m[1] + m[2] + ": " + varies.ReplaceAllString(which.ReplaceAllString(detail.ReplaceAllString(m[3], ""), "$1"), "...")
}

// notes says what a run adds to its listings, and how much of them it changes.
func (r *run) notes() string {
	var list []string
	if r.as != "" {
		list = append(list, r.as)
	}
	if n := len(r.mends); n > 0 {
		list = append(list, fmt.Sprintf("mended: %d", n))
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, "; ") + ")"
}
