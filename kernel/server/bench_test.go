package server

import "testing"

// BenchmarkCell measures the server's part of a trivial cell: sockets, signatures and
// five messages, without a cells program.
func BenchmarkCell(b *testing.B) {
	c := start(b).connect()
	code := cell("value 1")
	b.ReportAllocs()
	for b.Loop() {
		id := c.send("shell", "execute_request", code)
		c.reply("shell", id)
		c.published(id)
	}
}
