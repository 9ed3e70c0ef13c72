// Go runs a go command with the edited engine (package edited):
//
//	go run ./kernel/edited/go test ./kernel/engine
//	go run ./kernel/edited/go vet ./kernel/...
//	go run ./kernel/edited/go build -o cells ./kernel/cells
//
// Its own verb types checks packages for a platform without compiling them:
//
//	GOOS=darwin GOARCH=arm64 go run ./kernel/edited/go types ./...
//	go run ./kernel/edited/go types -unedited ./kernel/engine/symbols
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"warpbook/kernel/edited"
)

func main() {
	if len(os.Args) < 2 {
		fail(errors.New("edited/go: no go command: expected one such as test ./kernel/engine"))
	}
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		fail(fmt.Errorf("edited/go: go env GOMOD: %w", err))
	}
	root := filepath.Dir(strings.TrimSpace(string(mod)))
	if os.Args[1] == "types" {
		if err := checkTypes(context.Background(), root, os.Args[2:]...); err != nil {
			fail(err)
		}
		return
	}
	c, err := edited.Command(context.Background(), root, os.Args[1], os.Args[2:]...)
	if err != nil {
		fail(err)
	}
	c.Dir, c.Stdin, c.Stdout, c.Stderr = "", os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			os.Exit(exit.ExitCode())
		}
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
