package binaries

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The names of the programs.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubectl           = "kubectl"
	Kwok              = "kwok"
)

// program is a program to build.
type program struct{ name, importPath string }

// programs returns all programs of a cluster. tools.go names the same packages.
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

// MissingError names programs that weren't found.
type MissingError struct {
	Names []string
	Dirs  []string // the searched directories
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("missing: %s (looked in %s; build them with: go -C test/cluster run . build)",
		strings.Join(e.Names, ", "), strings.Join(e.Dirs, ", "))
}

// CacheDir returns the directory for programs that were built for one go.sum:
// userCache/lynqctl/cluster/HASH. It exists only when it is complete. The test harness
// computes the same path.
func CacheDir(userCache string, goSum []byte) string {
	sum := sha256.Sum256(goSum)
	return filepath.Join(userCache, "lynqctl", "cluster", hex.EncodeToString(sum[:8]))
}

// Find looks for every program in dirs. The first directory with a program wins. Find
// returns a *MissingError if some programs are in none.
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

// find returns the first regular file with this name.
func find(name string, dirs []string) (string, bool) {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}
