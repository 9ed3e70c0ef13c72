package engine

// registerListeners does nothing: a browser accepts no connections.
func (e *host) registerListeners() {}

func (e *host) freeListeners() {}
