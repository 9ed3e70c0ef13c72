package cellbuild

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"warpbook/kernel/edited"
	"warpbook/kernel/leaf/lazyregexp"
)

// interval is the time between two lines of progress.
const interval = 5 * time.Second

// stopGrace is how long an interrupted go command may clean up.
const stopGrace = 5 * time.Second

// BuildError is a failed build.
type BuildError struct {
	Err    error
	Output string // the whole output of the go command
}

func (e *BuildError) Error() string {
	hint := ""
	if proxyTrouble().MatchString(e.Output) || proxyTrouble().MatchString(e.Err.Error()) {
		hint = ": the module proxy may be out of reach, set GOPROXY to one that is not"
	}
	return fmt.Sprintf("cellbuild: go build ./kernel/cells: %v%s", e.Err, hint)
}

func (e *BuildError) Unwrap() error { return e.Err }

// proxyTrouble matches the go command's messages for a module that it cannot get.
var proxyTrouble = lazyregexp.New(`toolchain not available|dial tcp|proxyconnect|no such host|connection refused|i/o timeout|TLS handshake|x509:|module lookup disabled|40[37] Forbidden|407 Proxy|50[234] `)

// build compiles the cells program to path, in a folder that the caller removes. It
// sets no -trimpath: with it, the build could not reuse the packages that `go run` and
// `go test` have compiled.
func build(ctx context.Context, at Location, path string, progress io.Writer) error {
	fmt.Fprintln(progress, "warpbook: building the cells program (once; about 2 minutes on 2 cores)")
	log := &buildLog{start: time.Now(), now: "reading the source"}
	stop := log.report(progress)
	err := runBuild(ctx, at, path, log)
	stop()
	if ctx.Err() != nil {
		return fmt.Errorf("cellbuild: go build: %w", ctx.Err())
	}
	if err != nil {
		return &BuildError{Err: err, Output: log.rest()}
	}
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	fmt.Fprintf(progress, "warpbook: cells program built in %v (%d MB)\n", log.elapsed(), size>>20)
	return nil
}

func runBuild(ctx context.Context, at Location, path string, log *buildLog) error {
	c, err := edited.Command(ctx, at.Root, "build", "-v", "-buildvcs=false", "-ldflags="+at.link, "-o", path, "./kernel/cells")
	if err != nil {
		return err
	}
	// An interrupted go command leaves its work files behind. They lie in the folder of
	// path, where the caller removes them. The go command's compilers must be
	// interrupted too.
	c.Env = append(c.Env, "CGO_ENABLED=0", "GOTMPDIR="+filepath.Dir(path))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGINT) }
	c.WaitDelay = stopGrace
	c.Stdout, c.Stderr = log, log
	err = c.Run()
	if ctx.Err() != nil && c.Process != nil {
		// Compilers ignore SIGINT where this process was started with it ignored, as by
		// nohup or in the background of a script.
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
	return err
}

// buildLog takes the output of `go build -v`: a line for each package that it
// compiles or module that it downloads, and its errors.
type buildLog struct {
	start time.Time

	mu       sync.Mutex // one goroutine copies the command's output, report runs in another
	line     []byte     // an incomplete line
	packages int
	now      string
	errors   bytes.Buffer
}

var packageLine = lazyregexp.New(`^[\w.~/-]+$`)

func (l *buildLog) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(data)
	for {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		l.line = append(l.line, line...)
		if !ended {
			return n, nil
		}
		l.endLine(string(l.line))
		l.line, data = l.line[:0], rest
	}
}

func (l *buildLog) endLine(line string) {
	module, downloads := strings.CutPrefix(line, "go: downloading ")
	switch {
	case downloads:
		l.now = "downloading " + module
	case packageLine().MatchString(line):
		l.packages++
		l.now = "compiling " + line
	default:
		l.errors.WriteString(line + "\n")
	}
}

// rest returns the lines that name neither a package nor a download.
func (l *buildLog) rest() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errors.String() + string(l.line)
}

func (l *buildLog) elapsed() time.Duration { return time.Since(l.start).Round(time.Second) }

// report writes a line of progress every interval until stop is called.
func (l *buildLog) report(progress io.Writer) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				l.mu.Lock()
				fmt.Fprintf(progress, "warpbook: cells program: %v, %d packages, %s\n", l.elapsed(), l.packages, l.now)
				l.mu.Unlock()
			}
		}
	}()
	return func() { close(quit); <-done }
}
