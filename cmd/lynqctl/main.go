// Command lynqctl turns database rows into Kubernetes objects, without an operator.
package main

import (
	"os"

	"github.com/lynqctl/lynqctl/internal/command"
)

func main() { os.Exit(command.Process()) }
