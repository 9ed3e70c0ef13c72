package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// binary is the compiled test of a package with all its mutants.
type binary struct {
	file, folder string
	mutants      []mutant
	tests        []test
}

// test is one test of a package, and the mutants that it reaches.
type test struct {
	name    string
	took    time.Duration
	reaches map[int]bool
}

// build compiles the tests of a target with its mutants.
func build(root, scratch string, t target) (*binary, error) {
	texts, mutants, err := load(root, t)
	if err != nil {
		return nil, err
	}
	base := filepath.Join(scratch, strings.ReplaceAll(t.folder, "/", "_"))
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range texts {
		to := base + "_" + filepath.Base(path)
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return nil, err
		}
		overlay.Replace[path] = to
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(base+".json", list, 0o600); err != nil {
		return nil, err
	}
	tests := t.folder
	if t.tests != "" {
		tests = t.tests
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", base+".json", "-o", base+".test", "./"+tests)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s with its mutants: %w\n%s", t.folder, err, out)
	}
	return &binary{file: base + ".test", folder: filepath.Join(root, tests), mutants: mutants}, nil
}

// run runs tests, with a mutant or with 0, and reports whether all pass. A test that hangs
// does not pass.
func (b *binary) run(id int, reached string, limit time.Duration, names ...string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.file, "-test.failfast", "-test.short", "-test.run", "^("+strings.Join(names, "|")+")$")
	cmd.Dir = b.folder
	cmd.Env = append(os.Environ(), "WARPBOOK_MUTANT="+strconv.Itoa(id), "WARPBOOK_MUTANTS_REACHED="+reached)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &exit) || ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay):
		if id == 0 {
			return false, fmt.Errorf("%s fails without a mutant:\n%s", strings.Join(names, ", "), out)
		}
		return false, nil
	}
	return false, err
}

// reach runs each test alone, without a mutant, and notes which mutants it reaches.
// A test that fails sees no mutant: it is left out, and fails where tests are run.
func (b *binary) reach(scratch string) error {
	cmd := exec.Command(b.file, "-test.list", ".")
	cmd.Dir = b.folder
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(name, "Benchmark") {
			b.tests = append(b.tests, test{name: name, reaches: map[int]bool{}})
		}
	}
	parallel(len(b.tests), func(i int) {
		t := &b.tests[i]
		file := filepath.Join(scratch, filepath.Base(b.file)+"."+t.name)
		start := time.Now()
		if _, err := b.run(0, file, 10*time.Minute, t.name); err != nil {
			fmt.Fprintln(os.Stderr, "mutants: a test is left out:", err)
			return
		}
		t.took = time.Since(start)
		lines, _ := os.ReadFile(file) // absent: it reaches none
		for line := range strings.FieldsSeq(string(lines)) {
			id, _ := strconv.Atoi(line)
			t.reaches[id] = true
		}
	})
	slices.SortFunc(b.tests, func(x, y test) int { return int(x.took - y.took) })
	return nil
}

// killed reports whether a test fails with the mutant. The three fastest tests run first.
func (b *binary) killed(m mutant) (bool, error) {
	var names []string
	limit := 20 * time.Second
	for _, t := range b.tests {
		if t.reaches[m.id] {
			names = append(names, t.name)
			limit += 10 * t.took
		}
	}
	for _, part := range [][]string{names[:min(3, len(names))], names[min(3, len(names)):]} {
		if len(part) == 0 {
			continue
		}
		if pass, err := b.run(m.id, "", limit, part...); err != nil || !pass {
			return !pass, err
		}
	}
	return false, nil
}

// parallel calls do with 0 to n-1, two at a time.
func parallel(n int, do func(int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range 2 {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}
