package e2e_test

import (
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// hostileText is a text that a row, a neighbour or a server may write for a terminal to act
// on.
const hostileText = "\x1b[2J\x1b]0;title\a\u009b31m\u202e\u2066\u200b\u2028\x7f\rx"

// TestHostileAtTerminal wants no text of others to reach a terminal unescaped, from any
// command. Only colours and redraws may.
func TestHostileAtTerminal(t *testing.T) {
	t.Parallel()
	s := newShop(t, shopInputs, 3, faultproxy.Options{})
	s.apply(t, "--wait=false").want(t, 0)
	hostileNeighbour(t, s)
	database := hostileDatabase(t)
	lease := func(args ...string) []string { return append(args, "--lock-timeout=10ms", "-v", "0") }
	s.rows["t001"] = `"` + hostileText + `"`
	s.writeRows(t)
	for _, c := range []struct {
		args  []string
		shows bool // the hostile text, in a printable form
	}{
		{[]string{"status"}, false},
		{[]string{"status", "-v", "9"}, true},
		{[]string{"status", "node", "t000-app"}, true},
		{[]string{"inventory", "list"}, false},
		{[]string{"inventory", "show", "t000-app"}, true},
		{[]string{"inventory", "show", "t000-app", "-o", "json"}, true},
		{[]string{"inventory", "show", "t000-app", "-o", "yaml"}, true},
		{[]string{"inventory", "show", "t000-app", "-o", "name"}, true},
		{[]string{"inventory", "show", "t000-app", "-o", "jsonpath={.resources[*].apiVersion}{.resources[*].id}"}, true},
		{[]string{"inventory", "verify"}, true},
		{[]string{"inventory", "rebuild", "--dry-run=client"}, true},
		{[]string{"delete", "node", "t000-app", "--dry-run=client"}, false},
		{[]string{"orphans", "list", "-o", "wide"}, true},
		{[]string{"orphans", "prune", "--all", "--dry-run=client"}, false},
		{[]string{"orphans", "adopt", "--all", "-f", s.dir, "--dry-run=client"}, false},
		{[]string{"render", "-f", s.dir}, true},
		{[]string{"diff", "-f", s.dir}, true},
		{[]string{"diff", "-f", s.dir, "-q"}, true}, // another program shows it
		{[]string{"apply", "-f", s.dir, "--dry-run=client"}, false},
		{lease("apply", "-f", s.dir), true},
		{lease("delete", "node", "t000-app", "--yes"), true},
		{[]string{"render", "-f", s.dir, "--source", database}, true},
		{[]string{"status", "--" + hostileText}, true},
		{[]string{hostileText}, true},
	} {
		var more []string
		if slices.Contains(c.args, "-q") {
			more = []string{"KUBECTL_EXTERNAL_DIFF=diff -ur"}
		}
		x := s.screen(t, more, c.args...)
		<-x.done
		shown := x.stderr.String()
		ours := regexp.MustCompile("\x1b\\[(1;31|[0-9]{1,2})?m|\r\x1b\\[[0-9]*A\x1b\\[J|\r+\n").ReplaceAllString(shown, "\n")
		for _, r := range ours {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) {
				t.Errorf("%q shows %q in %q", c.args, r, shown)
				break
			}
		}
		if c.shows && !strings.Contains(shown, "202e") {
			t.Errorf("%q: what is hostile is not shown at all: %q", c.args, shown)
		}
	}
}

// hostileNeighbour writes where anyone with access to a namespace can: an inventory, the
// annotations of an orphan, a Lease.
func hostileNeighbour(t *testing.T, s *shop) {
	t.Helper()
	var inventory struct{ Data map[string]string }
	if err := json.Unmarshal([]byte(s.Kubectl(t, "", "get", "configmap", "lynqnode-t000-app", "-n", s.Namespace, "-o", "json")), &inventory); err != nil {
		t.Fatal(err)
	}
	entry, err := json.Marshal(map[string]string{"key": "ConfigMap/" + s.Namespace + "/" + hostileText + "@" + hostileText, "uid": "u", "digest": hostileText, "creation": "WhenNeeded", "deletion": "Delete", "conflict": "Stuck", "patch": "apply"})
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.TrimSuffix(strings.TrimSpace(inventory.Data["resources"]), "]")
	patch := func(value any, args ...string) {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		s.Kubectl(t, "", append([]string{"patch", "-n", s.Namespace, "--type=merge", "-p", string(text)}, args...)...)
	}
	patch(map[string]any{"data": map[string]string{"resources": strings.TrimSpace(entries) + ",\n" + string(entry) + "\n]"}}, "configmap", "lynqnode-t000-app")
	patch(map[string]any{"spec": map[string]any{"holderIdentity": hostileText, "leaseDurationSeconds": 3600, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")}}, "lease", "lynqctl-"+s.hub())
	createAll(t, s.Env, prunedKinds()["ConfigMap"], s.Namespace, 1, func(int) *unstructured.Unstructured {
		o := newObject("v1", "ConfigMap", "orphan")
		o.SetLabels(map[string]string{wellknown.LabelOrphaned: "true"})
		o.SetAnnotations(map[string]string{wellknown.AnnotationOrphanedReason: hostileText, wellknown.AnnotationOrphanedFrom: hostileText, wellknown.AnnotationOrphanedAt: hostileText})
		return o
	})
}

// hostileDatabase returns the URL of a server that starts with a MySQL error.
func hostileDatabase(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			answer := "\xff\x10\x04#08004" + hostileText + "\nerror: forged"
			_, _ = conn.Write([]byte{byte(len(answer)), 0, 0, 0})
			_, _ = conn.Write([]byte(answer))
			_ = conn.Close()
		}
	}()
	return fmt.Sprintf("mysql://reader@%s/crm?table=tenants", listener.Addr())
}
