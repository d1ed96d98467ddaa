package binaries

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The programs by name.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubectl           = "kubectl"
	Kwok              = "kwok"
)

// program is one thing to build.
type program struct{ name, importPath string }

// programs lists all that a cluster needs; tools.go names the same packages.
func programs() []program {
	return []program{
		{Etcd, "go.etcd.io/etcd/server/v3"},
		{APIServer, "k8s.io/kubernetes/cmd/kube-apiserver"},
		{ControllerManager, "k8s.io/kubernetes/cmd/kube-controller-manager"},
		{Scheduler, "k8s.io/kubernetes/cmd/kube-scheduler"},
		{Kubectl, "k8s.io/kubernetes/cmd/kubectl"},
		{Kwok, "sigs.k8s.io/kwok/cmd/kwok"},
	}
}

// Set maps the name of each program to its path.
type Set map[string]string

// MissingError says which programs are nowhere to be found.
type MissingError struct {
	Names []string
	Dirs  []string // where they were looked for
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("missing: %s (looked in %s; build them with: go -C test/cluster run . build)",
		strings.Join(e.Names, ", "), strings.Join(e.Dirs, ", "))
}

// CacheDir is where the programs built for one go.sum are kept:
// userCache/lynqctl/cluster/HASH. The directory exists only when complete.
// The test harness computes the same path.
func CacheDir(userCache string, goSum []byte) string {
	sum := sha256.Sum256(goSum)
	return filepath.Join(userCache, "lynqctl", "cluster", hex.EncodeToString(sum[:8]))
}

// Find looks for every program in dirs, the first that has it wins. The error
// is a *MissingError where some are in none of them.
func Find(dirs ...string) (Set, error) {
	set := Set{}
	var missing []string
	for _, p := range programs() {
		path, ok := find(p.name, dirs)
		if !ok {
			missing = append(missing, p.name)
			continue
		}
		set[p.name] = path
	}
	if missing != nil {
		return nil, &MissingError{Names: missing, Dirs: dirs}
	}
	return set, nil
}

// find returns the first regular file of that name.
func find(name string, dirs []string) (string, bool) {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}
