//go:build linux

package program

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// input gives a program the lines that Ask returns, when it waits for one: programs that read
// nothing ask nothing. The system shows what a process waits for; where it does not, the
// program reads an empty file.
type input struct {
	ask  func() (string, error)
	from *os.File // for the program
	to   *os.File
}

func newInput(ask func() (string, error)) (*input, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	return &input{ask, from, to}, nil
}

// watchEvery is the time between two looks at what the program waits for.
const watchEvery = 20 * time.Millisecond

// serve asks for lines until the program ends, or until there are no more: then it reads the
// end of the file.
func (i *input) serve(pid int, ended <-chan struct{}) {
	defer i.to.Close()
	looked := time.NewTicker(watchEvery)
	defer looked.Stop()
	for waits := 0; ; {
		select {
		case <-ended:
			return
		case <-looked.C:
		}
		waiting, shown := i.waits(pid)
		if !shown {
			return
		}
		if waits++; !waiting {
			waits = 0
		}
		if waits < 2 { // it may be about to return with a line
			continue
		}
		line, err := i.ask()
		if err != nil {
			return
		}
		if _, err := i.to.WriteString(line + "\n"); err != nil {
			return // it has ended
		}
		waits = 0
	}
}

// waitingRead is how the system shows a thread that waits in read of descriptor 0, and in
// readv, by which the program's library reads for the program.
var waitingRead = map[string][2]string{"amd64": {"0 0x0 ", "19 0x0 "}, "arm64": {"63 0x0 ", "65 0x0 "}}[runtime.GOARCH]

// waits reports whether a thread of the program waits for standard input, and whether the
// system shows what any of its threads waits for.
func (i *input) waits(pid int) (waiting, shown bool) {
	if n, err := unix.IoctlGetInt(int(i.to.Fd()), unix.TIOCINQ); err != nil || n > 0 {
		return false, true
	}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid)) // errs on a malformed pattern only
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		shown = true
		for _, reads := range waitingRead {
			if strings.HasPrefix(string(text), reads) {
				return true, true
			}
		}
	}
	return false, shown
}
