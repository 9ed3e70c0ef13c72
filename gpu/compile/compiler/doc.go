// Package compiler starts the program gpu/nvrtc, and builds it into the user's
// cache when it is not there. It also knows where CUDA's toolkits and wheels
// lie. It looks at no source, which package compile does.
package compiler
