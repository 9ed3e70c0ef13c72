// Package debug speaks the Debug Adapter Protocol as Jupyter front ends use it: it
// answers the requests of a client, keeps breakpoints and references, and announces
// stops. Its main type is Session; the cells program makes one.
//
// It knows neither Go cells nor CUDA kernels. What can be stopped is a Debuggee: it says
// at which lines a source stops, calls Session.Reach where it comes to one with a
// breakpoint, and shows frames and variables as trees. The package must not import the
// engine, gpu or ops.
package debug
