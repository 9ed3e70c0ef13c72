package gpu

// Observer stands around the launches of a device: it is given a launch and
// what submits it. It may change what the launch is counted and checked for,
// and must call launch once or return an error of its own.
type Observer func(l Launch, launch func(Launch) error) error
