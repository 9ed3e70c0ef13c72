package server

// interrupt stops the running cells of all shells. Their errors abort the cells queued
// after them.
func interrupt(c *call, _ none) (*none, error) {
	c.server.cells.Interrupt()
	return nil, nil
}
