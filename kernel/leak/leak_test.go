package leak

import (
	"strings"
	"testing"
)

func TestGoroutinesAreFound(t *testing.T) {
	quit := make(chan bool)
	go waiting(quit)
	<-quit
	if found := goroutines([]string{"nothing like this", "leak.waiting"}); len(found) != 1 || !strings.Contains(found[0], "leak_test.go") {
		t.Errorf("%q, expected the goroutine that waits", found)
	}
	quit <- true
	if found := goroutines([]string{"no function of this name"}); len(found) > 0 {
		t.Errorf("%q, expected none", found)
	}
}

func waiting(quit chan bool) {
	quit <- true
	<-quit
}
