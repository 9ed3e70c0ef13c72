//go:build edited && !js

package engine

import "net/http"

// abortHandler is the panic by which a handler of HTTP closes its connection silently.
var abortHandler = http.ErrAbortHandler
