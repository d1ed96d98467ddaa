package e2e_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/test/doctest"
	"github.com/lynqctl/lynqctl/test/harness"
)

var updateDocs = flag.Bool("update", false, "write what the examples of the documentation print into its pages")

// TestDocsExamples wants every example of the documentation that needs a cluster to print
// what its page shows.
func TestDocsExamples(t *testing.T) {
	t.Parallel()
	kubectl := cluster.Cluster(t).Kubectl
	root, err := filepath.Abs(sourceTree)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := doctest.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{built.in(t), filepath.Dir(kubectl), os.Getenv("PATH")}, string(filepath.ListSeparator))
	hubs := 0
	doctest.RunAll(t, root, pages, *updateDocs, func(s *doctest.Session) (doctest.Place, bool) {
		if !s.Cluster {
			return doctest.Place{}, false
		}
		env := shortNamespace(t)
		kubeconfig, err := os.ReadFile(env.Kubeconfig)
		if err != nil {
			t.Fatal(err)
		}
		hubs++
		return doctest.Place{
			Dir:   t.TempDir(),
			Env:   []string{"PATH=" + path, "KUBECONFIG=" + env.Kubeconfig, "CLUSTER=" + string(kubeconfig)},
			Names: map[string]string{"shop": env.Namespace, "crm": fmt.Sprintf("h%02d", hubs)},
			Noise: ofOthers,
		}, true
	})
}

// shortNamespace creates a namespace with a name as long as the pages' "shop", so that
// columns have the same width.
func shortNamespace(t *testing.T) *harness.Env {
	t.Helper()
	for {
		if env, made := cluster.EnvNamed(t, fmt.Sprintf("s%03d", rand.IntN(1000))); made {
			return env
		}
	}
}

// ofOthers reports whether a line is about objects of other tests. A search for orphans
// reports all unreadable inventories, and the orphans of other hubs.
func ofOthers(line string) bool {
	const record = "warning: ConfigMap "
	return strings.HasPrefix(line, record) && !strings.HasPrefix(line, record+"shop/") ||
		strings.HasPrefix(line, "not adopted: orphans from hubs that aren't in your files") ||
		strings.Contains(line, "nothing renders them, and they don't say where they are from")
}
