package main

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/lynqctl/lynqctl/pkg/engine"
)

func registerTimeout(flags *pflag.FlagSet, timeout *time.Duration) {
	flags.DurationVar(timeout, "timeout", 0, "give up after this time (0: never)")
}

func checkTimeout(timeout time.Duration) error {
	if timeout < 0 {
		return engine.BadUsage(errors.New("--timeout cannot be negative"))
	}
	return nil
}
