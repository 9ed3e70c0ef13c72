package engine

// registerClients does nothing: a browser has no such calls.
func (e *host) registerClients() {}
