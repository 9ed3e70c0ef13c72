package magic

var reset = &Magic{
	Name: "reset", Line: true, Alone: true,
	Short: "Forget all variables, functions, types and imports of cells.",
	Long:  "Goroutines that cells started go on. It stands alone in its cell.",
	Run: func(c *Call) error {
		c.Session.Reset()
		return nil
	},
}
