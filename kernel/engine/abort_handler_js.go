//go:build edited

package engine

import "errors"

// abortHandler is no panic of a cell in a browser: its program is without net/http, which
// would add 1.9 MB to the 20 that a browser loads.
var abortHandler = errors.New("abort an HTTP handler")
