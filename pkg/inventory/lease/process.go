package lease

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// Process names a process, for other processes that can tell whether it still runs.
type Process struct {
	// Host is a digest that only processes share that see the same processes by the same
	// numbers, and the same clock since the same boot; "" where that is not known.
	Host string
	PID  int
	// Start is when the process started, by the host's clock since its boot.
	Start uint64
	// Container is a digest that only the first processes of one container of one pod
	// share; "" for any other process.
	Container string
}

// Identity is a run's name for people, with its process.
func Identity(name string, p Process) string {
	switch {
	case p.Host == "":
		return name
	case p.Container == "":
		return fmt.Sprintf("%s [%s:%d:%d]", name, p.Host, p.PID, p.Start)
	}
	return fmt.Sprintf("%s [%s:%d:%d:%s]", name, p.Host, p.PID, p.Start, p.Container)
}

// identified matches what Identity makes. Only numbers of single processes match: 0 and
// those below stand for groups.
func identified() *regexp.Regexp {
	return regexp.MustCompile(`^(.*) \[([0-9a-f]{16}):([1-9][0-9]{0,9}):([0-9]{1,20})(?::([0-9a-f]{16}))?\]$`)
}

// parseIdentity takes an identity apart. One that has no process is a name alone.
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

// nameOf is the part of an identity that is for people, in one line: a neighbour may have
// written it.
func nameOf(identity string) string {
	name, _ := parseIdentity(identity)
	return phrase.OneLine(name)
}

// Ended tells whether the holder of a Lease has certainly ended, as self can know. runs
// gives false only for a process that certainly does not run. It is a pure function, but
// for runs.
//
// A holder on the same host runs no more where no process has its number and its start.
// The first process of a container runs no more where another first process of the same
// container runs: the kubelet starts a container again only after the earlier one has
// ended, and no other process of a pod is the first one of that container. All others
// may run.
//
// Whoever may write Leases may write any of this, and could as well remove the holder and the time of its last renewal: a
// forged identity takes a Lease from its holder no sooner than that does.
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
