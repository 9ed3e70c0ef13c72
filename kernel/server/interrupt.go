package server

// interrupt stops the cells that run, in all shells. Their errors abort those
// behind them.
func interrupt(c *call, _ none) (*none, error) {
	c.server.cells.Interrupt()
	return nil, nil
}
