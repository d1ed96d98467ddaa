package apply

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/manifest"
)

// answers is a server. It returns its Secret and errors for the next writes, and keeps each
// request.
type answers struct {
	write.Cluster
	secret  *unstructured.Unstructured
	missing error // the answer to reads, may be nil
	fails   []error
	sent    []write.Request
	deleted []decide.Permit
}

func (*answers) Resource(_ context.Context, group, version, kind string) (lynq.APIResource, error) {
	return lynq.APIResource{Group: group, Version: version, Kind: kind, Namespaced: true}, nil
}

func (a *answers) Get(_ context.Context, _ lynq.APIResource, _, name string) (*unstructured.Unstructured, error) {
	switch {
	case a.missing != nil:
		return nil, a.missing
	case a.secret == nil || a.secret.GetName() != name:
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	return a.secret.DeepCopy(), nil
}

func (a *answers) Write(_ context.Context, _ lynq.APIResource, w write.Request) (*metav1.PartialObjectMetadata, error) {
	a.sent = append(a.sent, w)
	if len(a.fails) > 0 {
		err := a.fails[0]
		a.fails = a.fails[1:]
		return nil, err
	}
	return &metav1.PartialObjectMetadata{}, nil
}

func (a *answers) Delete(_ context.Context, _ lynq.APIResource, permit decide.Permit, _ write.Deletion) (bool, error) {
	a.deleted = append(a.deleted, permit)
	return true, nil
}

// data returns the Secret's data after the last write, decoded, as "digest=text".
func (a *answers) data(t *testing.T) string {
	t.Helper()
	var s struct{ Data map[string]string }
	if err := json.Unmarshal(a.sent[len(a.sent)-1].Body, &s); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, digest := range slices.Sorted(maps.Keys(s.Data)) {
		text, err := base64.StdEncoding.DecodeString(s.Data[digest])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, digest+"="+string(text))
	}
	return strings.Join(all, " ")
}

// scene returns the manifests of node ns/acme-web. Its inventory names some digests.
func scene(names ...string) (*Manifests, *answers) {
	a := &answers{}
	m := &Manifests{Cluster: a, Ctx: context.Background(), Node: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "ns", Name: "acme-web"}, Inventory: &inventory.Inventory{UID: "inv"}}
	m.Inventory.Node = lynq.NodeID{Namespace: "ns", Name: "acme-web"}
	for _, digest := range names {
		m.Inventory.Hooks = append(m.Inventory.Hooks, inventory.Entry{Digest: digest})
	}
	return m, a
}

// has gives the server the Secret with these texts. Each text is its own digest.
func (a *answers) has(m *Manifests, texts ...string) {
	a.secret = m.newSecret()
	a.secret.SetUID("u1")
	a.secret.SetResourceVersion("7")
	data := map[string]any{}
	for _, text := range texts {
		data[text] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	a.secret.Object["data"] = data
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Manifests, *answers)
		want   int
		err    string
	}{
		"none":         {func(*Manifests, *answers) {}, 0, ""},
		"two":          {func(m *Manifests, a *answers) { a.has(m, "x", "y") }, 2, ""},
		"another's":    {func(m *Manifests, a *answers) { a.has(m); a.secret.SetLabels(nil) }, 0, "so lynqctl didn't write it"},
		"torn":         {func(m *Manifests, a *answers) { a.has(m); a.secret.Object["data"] = map[string]any{"x": "%"} }, 0, "data.x is not base64"},
		"not readable": {func(_ *Manifests, a *answers) { a.missing = errors.New("denied") }, 0, "denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, a := scene()
			tt.change(m, a)
			got, err := m.Read()
			if len(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		})
	}
}

// TestWrite checks that Write keeps the manifests that the inventory names and adds those
// of the form. It removes all others, and writes again after another client's change.
func TestWrite(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "secrets"}
	moved := apierrors.NewConflict(resource, "s", errors.New("moved"))
	said := plan.Object{Ref: lynq.Ref{Kind: "Job", Namespace: "ns", Name: "bye"}, Digest: "new", Policy: &lynq.Policy{}, Body: manifest.Body(`{}`)}
	text, err := said.HookManifest()
	if err != nil {
		t.Fatal(err)
	}
	m, a := scene("kept")
	a.has(m, "kept", "dropped")
	a.fails = []error{moved, moved}
	if err := m.Write([]plan.Object{said}); err != nil || len(a.sent) != 3 {
		t.Fatalf("%v, after %d writes", err, len(a.sent))
	}
	if got, want := a.data(t), "kept=kept new="+string(text); got != want {
		t.Errorf("it has %s, want %s", got, want)
	}
	if last := a.sent[2]; last.Verb != write.Update || !last.Owners.Covers("inv") {
		t.Errorf("it was sent by verb %d, and the inventory may own it: %t", last.Verb, last.Owners.Covers("inv"))
	}

	m, a = scene()
	if err := m.Write([]plan.Object{said}); err != nil || a.sent[0].Verb != write.Create {
		t.Errorf("where there is none: %v, verb %d", err, a.sent[0].Verb)
	}
	m, a = scene()
	a.fails = []error{errors.New("denied")}
	if err := m.Write([]plan.Object{said}); err == nil || len(a.sent) != 1 {
		t.Errorf("an error that stays: %v, after %d writes", err, len(a.sent))
	}
	if m, a := scene(); m.Write(nil) != nil || len(a.sent) != 0 {
		t.Error("a node without hooks has a Secret")
	}
}

// TestDrop checks that lynqctl deletes the Secret with the last manifest that the inventory
// names.
func TestDrop(t *testing.T) {
	t.Parallel()
	m, a := scene("kept")
	a.has(m, "kept", "dropped")
	if err := m.Drop(); err != nil || len(a.deleted) != 0 || a.data(t) != "kept=kept" {
		t.Errorf("one stays: %v, deleted %v", err, a.deleted)
	}
	m, a = scene()
	a.has(m, "dropped")
	if err := m.Drop(); err != nil || len(a.sent) != 0 || len(a.deleted) != 1 || a.deleted[0].UID() != "u1" || a.deleted[0].Version() != "7" {
		t.Errorf("none stays: %v, deleted %v", err, a.deleted)
	}
	m, a = scene("kept")
	a.has(m) // somebody emptied it, and the inventory still names a hook in it
	if err := m.Drop(); err == nil || len(a.deleted) != 0 {
		t.Errorf("a Secret that the inventory names was deleted: %v", a.deleted)
	}
	if m, _ := scene(); m.Drop() != nil {
		t.Error("there is none, and it is an error")
	}
}

// TestReown checks that the inventory owns the Secret, or nothing does.
func TestReown(t *testing.T) {
	t.Parallel()
	for _, owned := range []bool{true, false} {
		m, a := scene("kept")
		a.has(m, "kept")
		if err := m.Reown(owned); err != nil || len(a.sent) != 1 {
			t.Fatalf("%v, after %d writes", err, len(a.sent))
		}
		var s metav1.PartialObjectMetadata
		if err := json.Unmarshal(a.sent[0].Body, &s); err != nil {
			t.Fatal(err)
		}
		if got := len(s.OwnerReferences) == 1 && s.OwnerReferences[0].UID == types.UID("inv"); got != owned {
			t.Errorf("owned is to be %t: %v", owned, s.OwnerReferences)
		}
	}
	if m, a := scene(); m.Reown(true) != nil || len(a.sent) != 0 {
		t.Error("a node without hooks has its Secret written")
	}
}

// TestReownLagging checks that a Secret which a read lacks counts as absent only after a dry
// run of its creation. Otherwise the garbage collector would delete it with the inventory, or
// it would stay without an owner when its node is deleted.
func TestReownLagging(t *testing.T) {
	t.Parallel()
	exists := apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, "lynqhooks-acme-web")
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "lynqhooks-acme-web", errors.New("no"))
	for name, tt := range map[string]struct {
		answer error
		behind bool
		fails  bool
	}{
		"the server has none":     {},
		"the server has it":       {answer: exists, behind: true, fails: true},
		"the account may not ask": {answer: forbidden, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, owned := range []bool{true, false} {
				m, a := scene("kept")
				if tt.answer != nil {
					a.fails = []error{tt.answer}
				}
				err := m.Reown(owned)
				behind, ok := errors.AsType[*decide.BehindError](err)
				if ok != tt.behind || (err != nil) != tt.fails {
					t.Errorf("owned %t: %v", owned, err)
				}
				if ok && (len(behind.Objects) != 1 || behind.Objects[0] != lynq.Ref{Kind: "Secret", Namespace: "ns", Name: "lynqhooks-acme-web"} || behind.Inventory.Name != "lynqnode-acme-web") {
					t.Errorf("owned %t: it names %+v", owned, behind)
				}
				if len(a.sent) != 1 || a.sent[0].Verb != write.Create || !a.sent[0].DryRun {
					t.Errorf("owned %t: it sent %+v", owned, a.sent)
				}
			}
		})
	}
}

// TestCheckAccount checks that a hook which only a record names needs an existing
// ServiceAccount.
func TestCheckAccount(t *testing.T) {
	t.Parallel()
	me := plan.NewOwner(lynq.NodeKey{Namespace: "ns", Name: "acme-web"}, lynq.HubKey{Name: "crm"}, nil)
	job := &plan.Object{Ref: lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "bye"}, Body: manifest.Body(`{"spec":{"template":{"spec":{"serviceAccountName":"cleaner"}}}}`)}
	for name, tt := range map[string]struct {
		exists  string
		missing error
		want    string
	}{
		"it exists":       {"cleaner", nil, ""},
		"it does not":     {"", nil, "namespace ns has no ServiceAccount cleaner"},
		"another one":     {"default", nil, "has no ServiceAccount cleaner"},
		"nobody can tell": {"", errors.New("denied"), "read ServiceAccount ns/cleaner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, a := scene()
			a.has(m)
			a.secret.SetName(tt.exists)
			a.missing = tt.missing
			err := m.checkAccount(&plan.Plan{}, me, job)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestObject checks that a manifest other than the recorded one doesn't run.
func TestObject(t *testing.T) {
	t.Parallel()
	me := plan.NewOwner(lynq.NodeKey{Namespace: "ns", Name: "acme-web"}, lynq.HubKey{Name: "crm"}, nil)
	e := &inventory.Entry{Ref: lynq.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "bye"}, ID: "bye", Digest: inventory.HookDigest([]byte("a"))}
	for name, tt := range map[string]struct {
		recorded map[string][]byte
		want     string
	}{
		"not there": {nil, "it doesn't exist"},
		"changed":   {map[string][]byte{e.Digest: []byte("b")}, "somebody changed it"},
		"torn":      {map[string][]byte{e.Digest: []byte("a")}, "it can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := scene()
			if _, err := m.Object(&plan.Plan{}, me, e, tt.recorded); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestInNamespace checks that an error has a fix if the namespace of a hook is its cause.
func TestInNamespace(t *testing.T) {
	t.Parallel()
	me := plan.NewOwner(lynq.NodeKey{Namespace: "ns", Name: "acme-web"}, lynq.HubKey{Name: "crm"}, nil)
	ref := lynq.Ref{Group: "batch", Kind: "Job", Namespace: "tenant", Name: "bye"}
	other := errors.New("denied")
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"terminating": {&write.NamespaceError{Namespace: "tenant", Terminating: true}, "namespace tenant is terminating: lynqctl can't run the node's hooks in it"},
		"gone":        {&write.NamespaceError{Namespace: "tenant"}, "namespace tenant does not exist"},
		"other":       {other, "denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := InNamespace(ref, me, tt.err); !strings.Contains(err.Error(), tt.want) || errors.Is(tt.err, other) && !errors.Is(err, other) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
