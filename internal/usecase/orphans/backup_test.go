package orphans

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

// shelf returns objects by their full names.
type shelf map[string]string

var errUnread = errors.New("the server is away")

func (s shelf) Get(_ context.Context, r lynq.APIResource, namespace, name string) (*unstructured.Unstructured, error) {
	text, there := s[lynq.Ref{Group: r.Group, Kind: r.Kind, Namespace: namespace, Name: name}.Full()]
	if !there {
		return nil, errUnread
	}
	o := &unstructured.Unstructured{}
	return o, yaml.Unmarshal([]byte(text), &o.Object)
}

// on returns orphans on the shelf, as Find lists them.
func on(t *testing.T, names ...string) []orphan.Orphan {
	t.Helper()
	var all []orphan.Orphan
	for _, name := range names {
		ref, err := lynq.ParseRef(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, orphan.Orphan{Ref: ref, UID: "u-1", Resource: lynq.APIResource{Group: ref.Group, Version: "v1", Kind: ref.Kind}})
	}
	return all
}

// files returns the files below a directory, with their contents.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o", path, mode)
		}
		text, err := os.ReadFile(path)
		name, relErr := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(text)
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const secretOnServer = `
apiVersion: v1
kind: Secret
metadata:
  name: acme
  namespace: shop
  uid: u-1
  resourceVersion: "42"
  generation: 3
  creationTimestamp: "2026-03-04T04:06:07Z"
  labels: {lynq.sh/orphaned: "true"}
  annotations: {lynq.sh/orphaned-from: crm/shop/acme-web/secret}
  finalizers: [example.com/keep]
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: x, uid: u-2}]
  managedFields: [{manager: lynq, operation: Apply}]
data: {password: Z29sZA==}
`

func TestBackup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "backup")
	s := shelf{
		"Secret/shop/acme": secretOnServer,
		"ClusterRole.rbac.authorization.k8s.io/system:acme": "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: 'system:acme', uid: u-1}, rules: []}",
		"PersistentVolumeClaim/shop/acme":                   "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: acme, uid: u-1}, spec: {volumeName: v}}",
		"Deployment.apps/shop/acme":                         "{apiVersion: apps/v1, kind: Deployment, metadata: {name: acme, namespace: shop, uid: u-1}, spec: {replicas: 2}, status: {replicas: 2}}",
	}
	orphans := on(t, "Secret/shop/acme", "ClusterRole.rbac.authorization.k8s.io/system:acme", "Deployment.apps/shop/acme", "PersistentVolumeClaim/shop/acme")
	if err := saveManifests(t.Context(), s, dir, orphans); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"shop/Secret_acme.yaml": `apiVersion: v1
data:
  password: Z29sZA==
kind: Secret
metadata:
  annotations:
    lynq.sh/orphaned-from: crm/shop/acme-web/secret
  finalizers:
  - example.com/keep
  labels:
    lynq.sh/orphaned: "true"
  name: acme
  namespace: shop
`,
		"_cluster/ClusterRole.rbac.authorization.k8s.io_system%3Aacme.yaml": `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: system:acme
rules: []
`,
		"shop/PersistentVolumeClaim_acme.yaml": `# spec.volumeName is the volume that this claim had. If that is gone, the claim
# waits for it in vain: take the line off, and it gets a new volume, an empty one.
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: acme
spec:
  volumeName: v
`,
		"shop/Deployment.apps_acme.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: acme
  namespace: shop
spec:
  replicas: 2
`,
	}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if l := orphans[0].Live; l == nil || l.ResourceVersion != "42" || l.UID != "u-1" || !l.Orphaned {
		t.Errorf("what was written is not what is deleted: %+v", l)
	}
	for _, folder := range []string{dir, filepath.Join(dir, "shop")} {
		t.Run(folder, func(t *testing.T) {
			if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v, %v", folder, info.Mode(), err)
			}
		})
	}

	// A second backup accepts the same files, but overwrites no others.
	if err := saveManifests(t.Context(), s, dir, orphans); err != nil {
		t.Errorf("the same a second time: %v", err)
	}
	s["Secret/shop/acme"] = strings.Replace(secretOnServer, "Z29sZA==", "c2lsdmVy", 1)
	err := saveManifests(t.Context(), s, dir, orphans)
	if err == nil || !strings.Contains(err.Error(), "Secret_acme.yaml exists already, with other content") {
		t.Errorf("another version: %v", err)
	}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestBackupFails(t *testing.T) {
	s := shelf{"Secret/shop/acme": secretOnServer}
	dir := t.TempDir()
	if err := saveManifests(t.Context(), s, dir, on(t, "Secret/shop/acme", "ConfigMap/shop/unread")); !errors.Is(err, errUnread) || !strings.Contains(err.Error(), "ConfigMap/shop/unread") {
		t.Errorf("what cannot be read: %v", err)
	}
	replaced := on(t, "Secret/shop/acme")
	replaced[0].UID = types.UID("another")
	if err := saveManifests(t.Context(), s, t.TempDir(), replaced); err == nil || !strings.Contains(err.Error(), "deleted and created again") {
		t.Errorf("another object: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := saveManifests(t.Context(), s, file, on(t, "Secret/shop/acme")); err == nil || !strings.Contains(err.Error(), "make a place for the backup") {
		t.Errorf("no directory: %v", err)
	}
	// A link can't lead out of the directory.
	outside := t.TempDir()
	linked := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(linked, "shop")); err != nil {
		t.Fatal(err)
	}
	if err := saveManifests(t.Context(), s, linked, on(t, "Secret/shop/acme")); err == nil {
		t.Error("a backup went through a link to somewhere else")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside are %v, %v", entries, err)
	}
}

// TestRestorable wants a manifest without the uids that tie an object to others.
func TestRestorable(t *testing.T) {
	for name, test := range map[string]struct{ ref, live, want string }{
		"a Job": {"Job.batch/shop/j", `
apiVersion: batch/v1
kind: Job
metadata: {name: j, labels: {app: j, controller-uid: u, batch.kubernetes.io/controller-uid: u, job-name: j}}
spec:
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}
  template:
    metadata: {labels: {app: j, controller-uid: u, job-name: j, batch.kubernetes.io/controller-uid: u, batch.kubernetes.io/job-name: j}}
`, `
apiVersion: batch/v1
kind: Job
metadata: {name: j, labels: {app: j}}
spec:
  template:
    metadata: {labels: {app: j}}
`},
		"a Job that finds its pods itself": {"Job.batch/shop/j", `
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {manualSelector: true, selector: {matchLabels: {app: j}}, template: {metadata: {labels: {app: j, job-name: j}}}}
`, `
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {manualSelector: true, selector: {matchLabels: {app: j}}, template: {metadata: {labels: {app: j, job-name: j}}}}
`},
		"a claim": {"PersistentVolumeClaim/shop/c", `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, annotations: {a: b, pv.kubernetes.io/bind-completed: "yes", pv.kubernetes.io/bound-by-controller: "yes"}}
spec: {volumeName: v}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, annotations: {a: b}}
spec: {volumeName: v}
`},
		"a volume": {"PersistentVolume/v", `
apiVersion: v1
kind: PersistentVolume
metadata: {name: v}
spec: {claimRef: {name: c, namespace: shop, uid: u, resourceVersion: "5"}}
`, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: v}
spec: {claimRef: {name: c, namespace: shop}}
`},
	} {
		t.Run(name, func(t *testing.T) {
			ref, err := lynq.ParseRef(test.ref)
			if err != nil {
				t.Fatal(err)
			}
			var live unstructured.Unstructured
			var want map[string]any
			if err := errors.Join(yaml.Unmarshal([]byte(test.live), &live.Object), yaml.Unmarshal([]byte(test.want), &want)); err != nil {
				t.Fatal(err)
			}
			before := live.DeepCopy().Object
			if diff := cmp.Diff(want, restorable(ref, &live)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, live.Object); diff != "" {
				t.Errorf("what was given has changed:\n%s", diff)
			}
		})
	}
}
