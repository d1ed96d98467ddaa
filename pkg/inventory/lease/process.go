package lease

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Process identifies a process, so that others can find out whether it still runs.
type Process struct {
	// Host is a digest that processes share if they see the same process numbers and the
	// same boot. It is "" if unknown.
	Host string
	PID  int
	// Start is when the process started, by the host's clock since boot.
	Start uint64
	// Container is a digest that only the first processes of one pod's container share. It
	// is "" for other processes.
	Container string
}

// Identity joins a run's name with its process.
func Identity(name string, p Process) string {
	switch {
	case p.Host == "":
		return name
	case p.Container == "":
		return fmt.Sprintf("%s [%s:%d:%d]", name, p.Host, p.PID, p.Start)
	}
	return fmt.Sprintf("%s [%s:%d:%d:%s]", name, p.Host, p.PID, p.Start, p.Container)
}

// identified matches the result of Identity. It accepts only numbers of single processes,
// because 0 and less mean groups.
func identified() *regexp.Regexp {
	return regexp.MustCompile(`^(.*) \[([0-9a-f]{16}):([1-9][0-9]{0,9}):([0-9]{1,20})(?::([0-9a-f]{16}))?\]$`)
}

// parseIdentity splits an identity. An identity without a process is only a name.
func parseIdentity(identity string) (name string, p Process) {
	m := identified().FindStringSubmatch(identity)
	if m == nil {
		return identity, Process{}
	}
	pid, err := strconv.ParseInt(m[3], 10, 32)
	if err != nil {
		return identity, Process{}
	}
	start, err := strconv.ParseUint(m[4], 10, 64)
	if err != nil {
		return identity, Process{}
	}
	return m[1], Process{Host: m[2], PID: int(pid), Start: start, Container: m[5]}
}

// NameOf returns the part of an identity for people, in one line, because anybody may have
// written it.
func NameOf(identity string) string {
	name, _ := parseIdentity(identity)
	return phrase.OneLine(name)
}

// Ended reports whether the holder of a Lease has certainly ended, as far as self can
// know. runs must return false only for a process that certainly doesn't run. It is a pure
// function, except for runs.
//
// A holder on the same host has ended if no process has its number and start. A
// container's first process has ended if another first process of that container runs. The
// kubelet starts a container again only after the earlier process ended, and each
// container has only one first process. Any other holder may still run.
//
// Anybody who may write Leases can forge this. But they could also remove the holder and
// its renewal, which takes the Lease just as fast.
func Ended(holder string, self Process, runs func(pid int, start uint64) bool) bool {
	_, p := parseIdentity(holder)
	switch {
	case p.Host == "" || self.Host == "":
		return false
	case p.Host == self.Host:
		return !runs(p.PID, p.Start)
	}
	return p.Container != "" && p.Container == self.Container
}
