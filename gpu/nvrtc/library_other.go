//go:build !linux

package main

// api is empty where libnvrtc is not opened.
type api struct{}

func load(string) (*library, error) { return nil, missing() }

func (*api) run(program) (compiled, error) { return compiled{}, missing() }
