//go:build linux

package program

import (
	"fmt"
	"os"
	"slices"

	"warpbook/gpu/program/wire"
	"warpbook/kernel/leaf/lazyregexp"
)

// This file is about kernels that poll memory which the host writes while they run. Such a kernel
// is right as long as the host can write: until its only thread waits for the device.

// hostWrites reports whether the program may write memory of both sides while a launch runs.
// Goroutines of the launch call it; the server's waits for them.
func (s *server) hostWrites() bool {
	if !slices.ContainsFunc(s.memory.list, func(a allocation) bool { return a.heap != 0 }) {
		return false
	}
	return !s.channel.Blocked() || threadsOf(s.report.pid) > 1
}

// threadsOf is the number of threads of a process, 0 if it has ended.
func threadsOf(pid int) int {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0
	}
	return len(list)
}

// whileItHangs says for what the host waits, and what the device has not begun, when a launch of
// a stream never ends: the memory that it polls may be for that to change.
func (s *server) whileItHangs(stream uint64) (text string) {
	pending := s.channel.Pending()
	for _, m := range pending {
		if in, work := streamOf(m); work && in != stream && in != wire.NoStream {
			text += "; work of another stream has not begun, because here one piece of work runs at a time, and a GPU may begin it: if the kernel polls memory which that work writes, give that work before the launch"
			break
		}
	}
	if len(s.memory.shared) > 0 {
		text += "; what the host writes to __managed__ variables reaches a kernel only before its launch here: poll memory of cudaMallocManaged or cudaHostAlloc"
	}
	if len(pending) == 0 || !s.channel.Blocked() {
		return text
	}
	last := pending[len(pending)-1]
	place := s.report.place(last.Here)
	switch {
	case last.Op == wire.End:
		return text + "; the host waits at the end of the program"
	case place == "":
		return text + "; the host waits in a call behind the launch"
	case waitsOnGPU().MatchString(s.report.lineAt(place)):
		return text + "; the host waits at " + place
	}
	return text + "; the host waits at " + place + ", and a GPU may let it go on: here each call that needs an answer waits for the launches before it; make the call before the launch"
}

// waitsOnGPU are the calls for whose end a host waits on a GPU, too.
var waitsOnGPU = lazyregexp.New(`cuda(Device|Stream|Event|Thread)Synchronize\b|cudaMem(cpy|set)\w*[^c]\(|cudaMem(cpy|set)\(|cudaFree(Host|Array)?\(|cudaDeviceReset\b`)

// streamOf is the stream of a piece of work.
func streamOf(m wire.Message) (stream uint64, work bool) {
	switch m.Op {
	case wire.Launch:
		return m.Value(5), true
	case wire.Upload:
		return m.Value(2), true
	case wire.Copy, wire.Set:
		return m.Value(3), true
	}
	return 0, false
}
