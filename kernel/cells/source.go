//go:build cells

package main

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// sourceTime is how long the go command may take to find a source.
const sourceTime = 2 * time.Second

// sourceOf returns the source of a declaration of a compiled package by the go command,
// or "" where there is no such command or source.
func sourceOf(path, name string) string {
	if path == "" || name == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), sourceTime)
	defer cancel()
	text, err := exec.CommandContext(ctx, "go", "doc", "-src", path+"."+name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
