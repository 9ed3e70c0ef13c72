//go:build !windows

package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed completion.bash
var completionBash string

//go:embed completion.fish
var completionFish string

// completionCommand prints a script for fish or for bash, which zsh reads, too. A script asks the
// help of a command for its flags, so that it is never older than the program.
func completionCommand(args []string) error {
	others, err := parse(newFlags("completion"), args, 1)
	if err != nil {
		return err
	}
	script := completionBash
	switch others[0] {
	case "bash":
	case "zsh":
		script = "(( $+functions[compdef] )) || { autoload -U compinit && compinit }\nautoload -U +X bashcompinit && bashcompinit\n" + script
	case "fish":
		script = completionFish
	default:
		return usageError{fmt.Errorf("completion: %q, expected bash, zsh or fish", others[0])}
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	fmt.Print(strings.ReplaceAll(script, "COMMANDS", strings.Join(names, " ")))
	return nil
}
