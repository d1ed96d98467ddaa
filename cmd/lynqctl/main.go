// Command lynqctl turns database rows into Kubernetes objects, without an operator.
package main

import (
	"os"

	"github.com/lynqctl/lynqctl/internal/lynqctl"
)

func main() { os.Exit(lynqctl.Process()) }
