// Command floor runs the floor as a process of its own:
//
//	floor csv|sqlite PATH > manifests.yaml
package main

import (
	"fmt"
	"os"

	"github.com/lynqctl/lynqctl/test/bench/floor"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: floor csv|sqlite PATH")
		os.Exit(2)
	}
	if err := floor.Run(os.Args[1], os.Args[2], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
