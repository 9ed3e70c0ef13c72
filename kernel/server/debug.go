package server

import "errors"

func debug(*call, none) (*none, error) {
	return nil, errors.New("server: debug_request: this kernel has no debugger, as its kernel_info says")
}
