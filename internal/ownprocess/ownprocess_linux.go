package ownprocess

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
)

// Self names this process. It returns the zero value if it can't. podUID is the uid of the
// pod, if only this container of the pod knows it.
func Self(podUID string) lease.Process { return self("/proc", podUID) }

func self(proc, podUID string) lease.Process {
	host, err := hostDigest(proc)
	if err != nil {
		return lease.Process{}
	}
	pid := os.Getpid()
	s, err := statOf(proc, pid)
	if err != nil {
		return lease.Process{}
	}
	p := lease.Process{Host: host, PID: pid, Start: s.start}
	if pid == 1 && podUID != "" {
		p.Container = digest("pod", podUID)
	}
	return p
}

// errOther says that /proc shows the processes of another namespace.
var errOther = errors.New("/proc is not that of this process")

// hostDigest returns a digest of everything that gives a process's number and start time
// their meaning: the boot, and the namespaces of processes and clocks. It includes the
// host's name, which differs between copies of a virtual machine. A digest doesn't reveal
// these facts.
func hostDigest(proc string) (string, error) {
	own, err := os.Readlink(filepath.Join(proc, "self"))
	if err != nil {
		return "", err
	}
	if own != strconv.Itoa(os.Getpid()) {
		return "", errOther
	}
	boot, err := os.ReadFile(filepath.Join(proc, "sys/kernel/random/boot_id"))
	if err != nil {
		return "", err
	}
	processes, err := os.Readlink(filepath.Join(proc, "self/ns/pid"))
	if err != nil {
		return "", err
	}
	clocks, err := os.Readlink(filepath.Join(proc, "self/ns/time"))
	if err != nil && !errors.Is(err, os.ErrNotExist) { // older kernels have one clock
		return "", err
	}
	name, err := os.Hostname()
	if err != nil {
		return "", err
	}
	return digest("host", strings.TrimSpace(string(boot)), processes, clocks, name), nil
}

// digest returns 16 hex digits of a SHA-256.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Runs returns false only if no process of this host has this number and this start. The
// kernel also answers for processes that /proc hides from this user.
func Runs(pid int, start uint64) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	s, err := statOf("/proc", pid)
	return err != nil || s.start == start && !s.ended
}

// stat holds the needed fields of /proc/PID/stat.
type stat struct {
	start uint64
	ended bool // its parent hasn't asked for its exit code yet
}

func statOf(proc string, pid int) (stat, error) {
	text, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(text))
}

var errStat = errors.New("/proc/PID/stat is not as expected")

// parseStat parses the fields after the program's name, which may contain any text.
func parseStat(text string) (stat, error) {
	const state, threads, start = 0, 17, 19 // fields 3, 20 and 22 of proc_pid_stat(5)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= start {
		return stat{}, errStat
	}
	began, err := strconv.ParseUint(fields[start], 10, 64)
	if err != nil {
		return stat{}, err
	}
	// The first thread of a process may end before the others.
	ended := (fields[state] == "Z" || fields[state] == "X") && (fields[threads] == "0" || fields[threads] == "1")
	return stat{start: began, ended: ended}, nil
}
