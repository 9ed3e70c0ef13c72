// Package compiler runs the program gpu/nvrtc on a Request, and builds it into
// the user's cache when it is missing. It also finds CUDA's toolkits and wheels.
// Package compile calls it. It examines no CUDA source and imports no device.
package compiler
