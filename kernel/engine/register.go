package engine

import (
	"flag"
	"fmt"
	"runtime"

	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/rewrite"
)

// registerRuntime offers cells the runtime package and replaces the calls that would end
// or block the process.
func (e *host) registerRuntime() error {
	if err := e.files.Ctx.AddImportFile(rewrite.RuntimePath, rewrite.RuntimePath+".go", runtimeSource); err != nil {
		return fmt.Errorf("engine: register %s: %w", rewrite.RuntimePath, err)
	}
	if err := e.registerGeneric(); err != nil {
		return err
	}
	for name, f := range map[string]any{
		rewrite.RuntimePath + ".Intr":      &e.stop.Flag,
		rewrite.RuntimePath + ".Stop":      e.stop.Stop,
		rewrite.RuntimePath + ".Kill":      e.stop.Channel,
		rewrite.RuntimePath + ".Block":     e.stop.Block,
		rewrite.RuntimePath + ".Killed":    e.stop.Killed,
		rewrite.RuntimePath + ".Println":   func(a ...any) { e.printBuiltin(a, true) },
		rewrite.RuntimePath + ".Print":     func(a ...any) { e.printBuiltin(a, false) },
		rewrite.RuntimePath + ".GoStart":   e.goStart,
		rewrite.RuntimePath + ".GoRun":     e.goRun,
		rewrite.RuntimePath + ".GoEnd":     e.goEnd,
		rewrite.RuntimePath + ".Ended":     e.stop.Ended,
		rewrite.RuntimePath + ".Dropped":   e.dropped,
		rewrite.RuntimePath + ".Recovered": recovered,
		rewrite.RuntimePath + ".NotNil":    notNil,
		"runtime.Goexit":                   func() { panic(failure.Goexit{}) }, // the engine's own version skips deferred calls
		rewrite.RuntimePath + ".Magic":     e.magic,
		rewrite.RuntimePath + ".MagicRuns": e.magicRuns,
		rewrite.RuntimePath + ".Declared":  e.declared,
		rewrite.RuntimePath + ".Offsetof":  offsetof,
		"os.Exit":                          func(code int) { panic(failure.Exit(code)) },
		"syscall.Exit":                     func(code int) { panic(failure.Exit(code)) },
		"flag.NewFlagSet":                  newFlagSet,
		"time.Sleep":                       e.stop.Sleep,
		"runtime.LockOSThread":             func() { e.config.Lasting(); runtime.LockOSThread() },
	} {
		e.external(name, f)
	}
	flag.CommandLine.Init(flag.CommandLine.Name(), flag.PanicOnError)
	e.registerDebugger()
	e.registerPrints()
	e.registerFormats()
	e.registerLog()
	e.registerStructuredLog()
	e.registerWaits()
	e.registerFatal()
	e.registerListeners()
	e.registerReads()
	e.registerWrites()
	e.registerClients()
	e.registerEmbedded()
	return nil
}
