//go:build !windows

package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed completion.bash
var completionScript string

// completionCommand prints a script for bash, which zsh reads, too. The script asks the
// help of a command for its flags, so that it is never older than the program.
func completionCommand(args []string) error {
	others, err := parse(newFlags("completion"), args, 1)
	if err != nil {
		return err
	}
	before := ""
	switch others[0] {
	case "bash":
	case "zsh":
		before = "autoload -U +X bashcompinit && bashcompinit\n"
	default:
		return usageError{fmt.Errorf("completion: %q, expected bash or zsh", others[0])}
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	fmt.Print(before, strings.ReplaceAll(completionScript, "COMMANDS", strings.Join(names, " ")))
	return nil
}
