package compile

import "strings"

// InGo is the Go code for the first piece of CUDA host code in a line: a launch with
// <<<>>>, or a call of the runtime, such as cudaMalloc; "" if the line has none.
func InGo(line string) string {
	s := scan(line)
	if m := triple().FindStringSubmatchIndex(s.code); m != nil {
		return "a launch is a call in Go: " + s.launch(m)
	}
	for _, c := range constructs {
		if c.hostOnly || !c.pattern().MatchString(s.code) {
			continue
		}
		if _, call, ok := strings.Cut(c.answer, ": in a Go cell: "); ok {
			return "in Go: " + call
		}
		return c.answer
	}
	return ""
}
