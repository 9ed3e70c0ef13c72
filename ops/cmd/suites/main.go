// The suites command makes the committed logs of the suites that ran on a GPU, such as
// ops/optest/suites.h200.txt. Run it from the project's root.
//
//	go run ./ops/cmd/suites OUT            prints the suites of OUT/suite-*.log, which .ci/gpu writes
//	go run ./ops/cmd/suites --history LOG  writes into LOG the hashes of suites that name a commit
//
// With --history the hash of a rung is that of the PTX that the named commit has. It gives no
// hash to a rung that the commit has not, and it cannot show that the programs which ran were
// built from that commit without changes.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing/fstest"

	"warpbook/gpu"
	"warpbook/kernel/leaf/atomicfile"
	"warpbook/ops"
	"warpbook/ops/suites"
)

func main() {
	history := flag.Bool("history", false, "derive the hashes of a committed log from the commits that it names")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "suites: expected one folder of logs, or --history and one log")
		os.Exit(2)
	}
	do := printRun
	if *history {
		do = derive
	}
	if err := do(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func printRun(out string) error {
	logs, err := filepath.Glob(filepath.Join(out, "suite-*.log"))
	if err != nil || len(logs) == 0 {
		return fmt.Errorf("suites: %s has no suite-*.log, expected the OUT of .ci/gpu run", out)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return fmt.Errorf("suites: %w", err)
		}
		for _, s := range suites.FromTests(string(text)) {
			fmt.Print(s)
		}
	}
	return nil
}

// derive replaces the hashes of the suites of a log that name a commit.
func derive(log string) error {
	text, err := os.ReadFile(log)
	if err != nil {
		return fmt.Errorf("suites: %w", err)
	}
	preamble, all, err := suites.Read(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", log, err)
	}
	trees := map[string]fs.FS{}
	for i := range all {
		if s := &all[i]; s.Commit != "" {
			if s.PTX, err = at(s.Commit, s.Operator, trees); err != nil {
				return err
			}
		}
	}
	return atomicfile.Write(log, func(w io.Writer) error {
		fmt.Fprintf(w, "%s\n\n", preamble)
		for _, s := range all {
			fmt.Fprint(w, s)
		}
		return nil
	})
}

// at are today's rungs of an operator with the PTX of a commit, which a GPU of Hopper's
// picks. Rungs that the commit has not are left out.
func at(commit, operator string, trees map[string]fs.FS) (rungs []suites.Rung, err error) {
	o, err := ops.Find(operator)
	if err != nil {
		return nil, err
	}
	then, key := *o, commit+" "+o.Folder
	if trees[key] == nil {
		if trees[key], err = tree(commit, o.Folder); err != nil {
			return nil, err
		}
	}
	then.Files = trees[key]
	for _, v := range o.Variants {
		hash, err := then.CodeHash(v, suites.Hopper)
		if errors.Is(err, gpu.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if hash != "" {
			rungs = append(rungs, suites.Rung{Name: v.Name, Hash: hash})
		}
	}
	return rungs, nil
}

// tree are the files of a folder at a commit.
func tree(commit, folder string) (fs.FS, error) {
	archive, err := exec.Command("git", "archive", commit, folder).Output()
	if err != nil {
		return nil, fmt.Errorf("suites: git archive %s %s: %w, expected a checkout with its history", commit, folder, err)
	}
	files := fstest.MapFS{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("suites: git archive %s %s: %w", commit, folder, err)
		}
		if path.Dir(h.Name) != folder || h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("suites: git archive %s %s: %w", commit, folder, err)
		}
		files[path.Base(h.Name)] = &fstest.MapFile{Data: data}
	}
}
