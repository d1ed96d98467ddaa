// Command clocked is lynqctl with a clock ahead of this machine's. Its first argument is
// the difference. Tests use it to let time pass, because lynqctl itself can't set a clock.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/lynqctl/lynqctl/internal/command"
)

func main() {
	const usage = "usage: clocked DURATION ARGUMENT... (such as 73h or -1h)"
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	ahead, err := time.ParseDuration(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	os.Args = append([]string{"lynqctl"}, os.Args[2:]...)
	os.Exit(command.ProcessAt(func() time.Time { return time.Now().Add(ahead) }))
}
