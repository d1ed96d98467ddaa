package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// secretInputs has a form that shows secret columns in every possible place: a ConfigMap,
// an annotation, a label and an environment variable, unchanged and in other forms.
const secretInputs = `apiVersion: operator.lynq.sh/v1
kind: LynqHub
metadata: {name: HUB}
spec:
  source: {type: csv, csv: {path: rows.csv}}
  valueMappings: {uid: id, activate: active}
  extraValueMappings: {pw: pw, pin: pin, settings: settings, plan: plan}
  secretColumns: [pw, pin, settings]
---
apiVersion: operator.lynq.sh/v1
kind: LynqForm
metadata: {name: app}
spec:
  hubId: HUB
  secrets:
    - id: keys
      nameTemplate: "{{ .uid }}-keys"
      spec: {apiVersion: v1, kind: Secret, stringData: {pw: "{{ .pw }}", pin: "{{ .pin }}"}}
  configMaps:
    - id: leak
      nameTemplate: "{{ .uid }}-leak"
      labelsTemplate: {pw: "{{ .pw }}"}
      annotationsTemplate: {example.com/pw: "is {{ .pw }}"}
      spec:
        apiVersion: v1
        kind: ConfigMap
        data:
          plan: "{{ .plan }}"
          dsn: "user:{{ .pw }}@db"
          encoded: '{{ printf "pw=%s" .pw | b64enc }}'
          pin: "{{ .pin }}"
          key: "{{ (fromJson .settings).key }}"
    - id: bolt
      nameTemplate: "{{ .uid }}-bolt"
      deletionPolicy: Retain
      spec: {apiVersion: v1, kind: ConfigMap, data: {pw: "{{ .pw }}"}}
    - id: broken
      nameTemplate: "{{ .uid }}-broken"
      includeWhen: '{{ eq .uid "broken" }}'
      spec: {apiVersion: v1, kind: ConfigMap, data: {number: "{{ .pw | int }}", f: "{{ .settings | fail }}"}}
  services:
    - id: refused
      nameTemplate: "{{ .uid }}-refused"
      includeWhen: '{{ eq .uid "refused" }}'
      spec: {apiVersion: v1, kind: Service, spec: {type: "{{ .pw }}", externalName: "{{ .pin }}", ports: [{port: 80}]}}
  deployments:
    - id: server
      nameTemplate: "{{ .uid }}-server"
      spec:
        apiVersion: apps/v1
        kind: Deployment
        spec:
          replicas: 0
          selector: {matchLabels: {app: "{{ .uid }}"}}
          template:
            metadata: {labels: {app: "{{ .uid }}"}}
            spec:
              containers:
                - {name: server, image: example.com/server, args: ["{{ .pin }}"], env: [{name: PW, value: "{{ .pw }}"}]}
`

// secretValues returns the values of secret columns, before and after the change. The short
// ones have three bytes.
func secretValues() []string {
	return []string{"cAnAry-Pa55", "Zq\u00a7", "jsOn-cAnAry", "rOtated-Pa55", "Xv\u00a7", "jsOn-rOtated"}
}

const (
	secretRows  = "id,active,pw,pin,settings,plan\nacme,1,cAnAry-Pa55,Zq\u00a7,\"{\"\"key\"\":\"\"jsOn-cAnAry\"\"}\",gold\nbeta,1,cAnAry-Pa55,Zq\u00a7,\"{\"\"key\"\":\"\"jsOn-cAnAry\"\"}\",free\n"
	rotatedRows = "id,active,pw,pin,settings,plan\nacme,1,rOtated-Pa55,Xv\u00a7,\"{\"\"key\"\":\"\"jsOn-rOtated\"\"}\",gold\nbeta,1,cAnAry-Pa55,Zq\u00a7,\"{\"\"key\"\":\"\"jsOn-cAnAry\"\"}\",free\n"
	brokenRows  = rotatedRows + "broken,1,cAnAry-Pa55,Zq\u00a7,\"{\"\"key\"\":\"\"jsOn-cAnAry\"\"}\",free\nrefused,1,cAnAry-Pa55,Zq\u00a7,\"{\"\"key\"\":\"\"jsOn-cAnAry\"\"}\",free\n"
)

// leaked returns a secret value that a text contains, also in base64, or "".
func leaked(text string) string {
	for _, v := range secretValues() {
		if strings.Contains(text, v) {
			return v
		}
		if quoted, err := json.Marshal(v); err == nil && strings.Contains(text, string(quoted)) {
			return v
		}
		for shift := range 3 {
			encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
			if core := encoded[(shift*8+5)/6 : (shift+len(v))*8/6]; len(core) > 6 && strings.Contains(text, core) {
				return v + " as " + core
			}
		}
	}
	return ""
}

// secretive runs commands for rows with secret columns, and checks what they show.
type secretive struct {
	*shop
	environment []string
	ran         []string // the command lines
}

// run runs a command, and checks what it shows.
func (s *secretive) run(t *testing.T, code int, args ...string) {
	t.Helper()
	s.begin(t, args...).ends(t, code)
}

// watched runs lynqctl watch until it has logged a text and written a key of the hub record,
// and stops it.
func (s *secretive) watched(t *testing.T, text, key string, flags ...string) {
	t.Helper()
	r := s.begin(t, append([]string{"watch", "-f", s.dir, "--log-format=json", "-v=9"}, flags...)...)
	r.said(t, text)
	eventually(t, func() []string {
		record := s.Kubectl(t, "", "get", "configmap", inventory.HubName(s.hub()), "-o", "jsonpath={.data}")
		if strings.Contains(record, key) {
			return nil
		}
		return []string{key + " is missing in " + record}
	})
	r.signal(t, syscall.SIGTERM)
	r.ends(t, 130)
}

// whisper is a run that may not tell secrets.
type whisper struct {
	*running
	args []string
}

// begin starts a command.
func (s *secretive) begin(t *testing.T, args ...string) *whisper {
	t.Helper()
	s.ran = append(s.ran, strings.Join(args, " ")+" ")
	return &whisper{running: s.startIn(t, s.environment, args...), args: args}
}

// ends waits until a run has ended, and wants an exit code. Only manifests on stdout may
// show a value.
func (r *whisper) ends(t *testing.T, code int) {
	t.Helper()
	args := r.args
	<-r.done
	if r.code != code {
		t.Errorf("%q: exit code %d, want %d:\n%s", args, r.code, code, r.stderr.String())
	}
	if v := leaked(r.stderr.String()); v != "" {
		t.Errorf("%q: stderr shows %s:\n%s", args, v, r.stderr.String())
	}
	if v := leaked(r.stdout.String()); v != "" && args[0] != "render" {
		t.Errorf("%q: stdout shows %s:\n%s", args, v, r.stdout.String())
	}
}

// look runs a command that has inputs.
func (s *secretive) look(t *testing.T, code int, args ...string) {
	t.Helper()
	s.run(t, code, append(args, "-f", s.dir)...)
}

// TestSecretColumns runs every command on a fleet whose rows have secrets: in a healthy
// state, after a change, and with bad rows. Only manifests may show a value.
func TestSecretColumns(t *testing.T) {
	t.Parallel()
	s := &secretive{shop: newShopIn(t, cluster.Env(t), secretInputs, 0, faultproxy.Options{})}
	s.write(t, "rows.csv", secretRows)
	s.firstApply(t)
	s.rotates(t)
	s.loses(t)
	s.breaks(t)
	s.holds(t)
	s.recovers(t)
	s.untold(t)
	s.unwritten(t)
	s.complete(t)
}

// firstApply runs the commands before there is a node, and the first apply.
func (s *secretive) firstApply(t *testing.T) {
	t.Helper()
	s.run(t, 0, "version")
	s.run(t, 0, "completion", "bash")
	s.look(t, 0, "validate", "--rows")
	s.look(t, 2, "validate", "--strict")
	s.look(t, 2, "apply", "--strict")
	s.look(t, 0, "graph")
	s.look(t, 0, "rbac")
	s.look(t, 0, "shard", "--shards=2", "--image=example.com/lynqctl", "--source=csv:/data/rows.csv")
	s.look(t, 0, "render")
	s.look(t, 0, "render", "--check")
	s.look(t, 0, "apply", "--dry-run=client", "-o", "yaml")
	s.look(t, 0, "apply", "--dry-run=server", "-o", "json", "-v=9")
	s.look(t, 1, "diff", "-v=9")
	s.look(t, 0, "apply", "--record-values=plain", "-o", "json", "-v=9", "--metrics-file", filepath.Join(s.dir, "metrics.prom"), "--metrics-per-node")
	s.untold(t)
}

// rotates changes the secrets of a row, and applies that with a plan file.
func (s *secretive) rotates(t *testing.T) {
	t.Helper()
	plan := filepath.Join(s.dir, "plan.json")
	for _, rows := range []string{secretRows, rotatedRows} {
		s.write(t, "rows.csv", rows)
		code := 1
		if rows == secretRows {
			code = 0
		}
		for _, format := range []string{"diff", "json", "markdown", "html", "name"} {
			s.look(t, code, "diff", "-o", format)
			s.look(t, 0, "plan", "--out", plan, "-o", format)
		}
	}
	s.environment = []string{"KUBECTL_EXTERNAL_DIFF=diff -ur"}
	s.look(t, 1, "diff")
	s.environment = nil
	s.look(t, 0, "apply", "--plan", plan, "-v=8")
	s.look(t, 3, "apply", "--plan", plan, "-v=8")
	s.Kubectl(t, "", "set", "env", "-n", s.Namespace, "deployment/acme-server", "PW=mine", "OTHER=rOtated-Pa55")
	s.look(t, 1, "diff", "--node", "acme-app", "-o", "json")
	s.run(t, 1, "inventory", "verify", "-v=9")
	s.run(t, 1, "inventory", "verify", "-o", "json")
}

// loses looks at a form that loses a resource, a row that disappears, and another row whose
// node is retained.
func (s *secretive) loses(t *testing.T) {
	t.Helper()
	whole, err := os.ReadFile(filepath.Join(s.dir, "inputs.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(whole), "    - id: leak\n")
	_, after, _ := strings.Cut(rest, "    - id: bolt\n")
	s.write(t, "inputs.yaml", before+"    - id: bolt\n"+after)
	s.write(t, "rows.csv", strings.Replace(rotatedRows, "beta,1", "beta,0", 1))
	s.look(t, 1, "diff", "--max-delete=100%")
	s.look(t, 1, "diff", "--max-delete=100%", "-o", "json")
	s.write(t, "inputs.yaml", string(whole))
}

// breaks applies rows that fail to render, or that the server refuses.
func (s *secretive) breaks(t *testing.T) {
	t.Helper()
	s.write(t, "rows.csv", brokenRows)
	s.look(t, 1, "validate", "--rows")
	s.look(t, 1, "render")
	s.look(t, 2, "diff")
	s.look(t, 2, "diff", "-o", "json")
	s.look(t, 1, "apply", "--dry-run=client", "-o", "wide")
	s.look(t, 1, "apply", "--dry-run=server")
	s.look(t, 1, "apply", "-o", "json", "-v=9")
	s.look(t, 1, "apply")
	s.watched(t, `"failedNodes":2`, "lastRun")
	s.untold(t)
	for _, args := range [][]string{
		{"status"}, {"status", "-v=9"}, {"status", "-o", "html"}, {"status", "-o", "json"}, {"status", "node", "refused-app"}, {"status", "node", "refused-app", "-o", "json"},
		{"status", "form", "app", "-o", "json"}, {"status", "hub", s.hub(), "-o", "yaml"},
	} {
		s.run(t, 1, args...)
	}
}

// holds has a watch hold the deletion of a node, and approves it.
func (s *secretive) holds(t *testing.T) {
	t.Helper()
	s.write(t, "rows.csv", strings.Replace(rotatedRows, "beta,1", "beta,0", 1)+"refused,0,cAnAry-Pa55,Zq\u00a7,x,free\n")
	s.watched(t, "deletions are held (max-delete)", "heldDeletions", "--max-delete=0")
	s.run(t, 0, "watch", "approve", s.hub(), "--yes", "-v=9")
	s.untold(t)
	s.write(t, "rows.csv", brokenRows)
	s.look(t, 1, "apply", "-q") // the hub has the rows again, and holds nothing
}

// recovers runs the commands that delete and repair.
func (s *secretive) recovers(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"inventory", "list", "-o", "wide"}, {"inventory", "show", "acme-app", "-o", "yaml", "-v=9"}, {"inventory", "show", "refused-app"},
		{"wait", "node", "acme-app", "-v=9"}, {"suspend", "node", "acme-app", "--reason", "a look", "-v=9"}, {"resume", "node", "acme-app", "-v=9"}, {"explain", "form.spec"},
		{"delete", "form", "app", "--hub", s.hub(), "--dry-run=client", "-o", "json", "--out", filepath.Join(s.dir, "form.json")},
		{"delete", "node", "beta-app", "--dry-run=server", "-v=9"}, {"delete", "node", "beta-app", "--yes", "-v=9"},
		{"orphans", "list", "-o", "json", "-v=9"}, {"orphans", "prune", "--all", "--dry-run=client"},
		{"delete", "hub", s.hub(), "--dry-run=client", "-o", "yaml"}, {"finalize", "--dry-run=client"},
		{"init", "--source", "csv:" + filepath.Join(s.dir, "rows.csv"), "--output-dir", filepath.Join(s.dir, "made")},
	} {
		s.run(t, 0, args...)
	}
	s.run(t, 2, "adopt-operator", "--dry-run=client", "-v=9") // this cluster has no operator
	s.run(t, 2, "reconcile", s.hub(), "-v=9")                 // no watch runs
	s.Kubectl(t, "", "delete", "configmap", "lynqnode-acme-app", "--wait=false")
	s.run(t, 0, "inventory", "restore", "acme-app", "-v=9")
	s.write(t, "rows.csv", secretRows)
	s.look(t, 0, "orphans", "adopt", "--all", "-v=9")
	s.look(t, 0, "inventory", "rebuild", "--dry-run=client")
	tree := filepath.Join(s.dir, "tree")
	s.look(t, 3, "render", "--output-dir", tree)
	s.look(t, 0, "render", "--output-dir", tree, "--plain-secrets", "-o", "markdown")
	s.write(t, "rows.csv", rotatedRows)
	s.look(t, 0, "render", "--output-dir", tree, "--plain-secrets", "-o", "json", "--dry-run")
	s.look(t, 0, "render", "--output-dir", tree, "--plain-secrets", "-o", "html", "--dry-run")
	s.look(t, 0, "render", "--output-dir", tree, "--plain-secrets", "--expand", "--dry-run")
	s.look(t, 0, "render", "--output-dir", tree, "--plain-secrets", "-o", "trailers")
	s.run(t, 0, "history", "-o", "json")
	last, err := s.lastRun(t)
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, 0, "history", "show", last)
	s.run(t, 0, "history", "show", last, "-o", "yaml", "-v=9")
}

// lastRun returns the name of the newest run in the hub's history.
func (s *secretive) lastRun(t *testing.T) (string, error) {
	t.Helper()
	r := s.start(t, "history", "-o", "name")
	<-r.done
	name, _, found := strings.Cut(r.stdout.String(), "\n")
	if !found {
		return "", errors.New("the history has no run: " + r.stderr.String())
	}
	return name, nil
}

// complete wants each command of the reference among those that ran.
func (s *secretive) complete(t *testing.T) {
	t.Helper()
	reference, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^ *- <a id="[a-z-]+"></a>\[(.+)\]\(`).FindAllStringSubmatch(string(reference), -1)
	if len(commands) == 0 {
		t.Error("the reference has no command")
	}
	for _, c := range commands {
		if !slices.ContainsFunc(s.ran, func(line string) bool { return strings.HasPrefix(line, c[1]+" ") }) {
			t.Errorf("lynqctl %s didn't run", c[1])
		}
	}
}

// untold reads what lynqctl and the API server store for others. No record, Lease or event
// may contain a value of a secret column.
func (s *shop) untold(t *testing.T) {
	t.Helper()
	for _, kind := range []schema.GroupVersionResource{{Version: "v1", Resource: "configmaps"}, {Version: "v1", Resource: "events"}, leaseKind()} {
		o := metav1.ListOptions{}
		if kind.Resource == "configmaps" {
			o.LabelSelector = "lynq.sh/record"
		}
		list, err := s.Dynamic.Resource(kind).Namespace(s.Namespace).List(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			text, err := list.Items[i].MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if v := leaked(string(text)); v != "" {
				t.Errorf("%s %s shows %s: %s", kind.Resource, list.Items[i].GetName(), v, text)
			}
		}
	}
}

// unwritten reads the files that lynqctl wrote. Only manifests may contain a value.
func (s *shop) unwritten(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "rows.csv" {
			return err
		}
		text, err := os.ReadFile(path)
		manifest := strings.Contains(path, string(filepath.Separator)+"tree"+string(filepath.Separator)) && strings.Contains(string(text), "\nkind: ")
		if v := leaked(string(text)); v != "" && !manifest {
			err = errors.Join(err, errors.New(path+" shows "+v))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
