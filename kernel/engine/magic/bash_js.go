package magic

var bash = &Magic{
	Name: "bash", Cell: true,
	Short: "Not in a browser: it has no processes.",
	Run: func(c *Call) error {
		return c.Errorf(0, "a browser has no processes: install the kernel to run scripts")
	},
}
