//go:build windows

package main

import "warpbook/kernel/leaf/wsl"

func main() { wsl.Refuse("bench") }
