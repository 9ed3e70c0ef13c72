// Package leak fails tests that leave goroutines behind. Tests alone import it.
package leak

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines may take to end after the tests.
const patience = 5 * time.Second

// Main runs the tests of a package, and fails when all have passed and a
// goroutine is left whose stack has one of the words in it, such as the path of
// the package.
func Main(m *testing.M, words ...string) {
	code := m.Run()
	if code == 0 {
		code = check(words)
	}
	os.Exit(code)
}

func check(words []string) int {
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if left = goroutines(words); len(left) == 0 {
			return 0
		}
	}
	fmt.Fprintf(os.Stderr, "leak: %d goroutines are left after the tests:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
	return 1
}

// goroutines are the stacks, but for this one's, that have one of the words.
func goroutines(words []string) (found []string) {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for i, stack := range strings.Split(string(stacks), "\n\n") {
		for _, word := range words {
			if i > 0 && strings.Contains(stack, word) {
				found = append(found, stack)
				break
			}
		}
	}
	return found
}
