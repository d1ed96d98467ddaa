package deploy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/lynqctl/lynqctl/pkg/deploy"
)

// options are valid ones, with all that there is.
func options() deploy.Options {
	return deploy.Options{
		Namespace: "shop", Name: "lynqctl", Image: "registry.example:5000/lynqctl:1.2.3",
		Inputs:     []deploy.File{{Name: "forms/hub.yaml", Text: "kind: LynqHub\n"}},
		Tombstones: []deploy.File{{Name: "t.yaml", Text: "kind: Service\n"}},
		Args:       []string{"--max-delete=10%"}, Password: deploy.SecretKey{Name: "db", Key: "password"},
		Roles: "# Roles.\n---\nkind: Role\n", Notes: []string{"One.\nTwo: 3"},
	}
}

func watch() *deploy.Watch { return &deploy.Watch{Options: options(), Replicas: 2, Port: 9090} }

// objects are the documents that are printed, by kind.
func objects(t *testing.T, o interface{ Manifests() (string, error) }) map[string][]map[string]any {
	t.Helper()
	text, err := o.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]map[string]any{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(document+"\n"), &object); err != nil {
			t.Fatalf("%v:\n%s", err, document)
		}
		if kind, ok := object["kind"].(string); ok {
			all[kind] = append(all[kind], object)
		}
	}
	return all
}

// at is a value within an object.
func at(object any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			m, _ := object.(map[string]any)
			object = m[key]
		case int:
			list, _ := object.([]any)
			if key >= len(list) {
				return nil
			}
			object = list[key]
		}
	}
	return object
}

// What is printed is what was given, the same each time.
func TestManifests(t *testing.T) {
	t.Parallel()
	first, err := watch().Manifests()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := watch().Manifests(); again != first {
		t.Error("two times are not the same")
	}
	if !strings.Contains(first, "\n#\n# One.\n# Two: 3\n") {
		t.Error("no note")
	}
	all := objects(t, watch())
	for kind, n := range map[string]int{"ServiceAccount": 1, "Role": 1, "ConfigMap": 2, "Deployment": 1, "PodDisruptionBudget": 1} {
		if len(all[kind]) != n {
			t.Errorf("%s: %d", kind, len(all[kind]))
		}
	}
	d := all["Deployment"][0]
	pod := at(d, "spec", "template", "spec")
	for _, c := range []struct {
		got, want any
	}{
		{at(d, "metadata", "labels", "app.kubernetes.io/version"), "1.2.3"},
		{at(pod, "containers", 0, "image"), "registry.example:5000/lynqctl:1.2.3"},
		{at(pod, "containers", 0, "args"), []any{"watch", "--filename=/inputs", "--tombstones=/tombstones", "--max-delete=10%"}},
		{at(pod, "containers", 0, "ports", 0, "containerPort"), float64(9090)},
		{at(pod, "containers", 0, "env", 1, "valueFrom", "fieldRef", "fieldPath"), "metadata.uid"},
		{at(pod, "containers", 0, "env", 2, "valueFrom", "secretKeyRef"), map[string]any{"name": "db", "key": "password"}},
		{at(pod, "volumes", 0, "configMap", "name"), at(all["ConfigMap"][0], "metadata", "name")},
		{at(pod, "volumes", 1, "configMap", "name"), at(all["ConfigMap"][1], "metadata", "name")},
		{at(all["ConfigMap"][0], "data"), map[string]any{"hub.yaml": "kind: LynqHub\n"}},
		{at(d, "spec", "selector"), at(all["PodDisruptionBudget"][0], "spec", "selector")},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// One replica has no budget, which would protect nothing, and what is not given is not
// there.
func TestOneReplica(t *testing.T) {
	t.Parallel()
	o := watch()
	o.Replicas, o.Tombstones, o.Password = 1, nil, deploy.SecretKey{}
	all := objects(t, o)
	if len(all["PodDisruptionBudget"]) > 0 || len(all["ConfigMap"]) != 1 {
		t.Errorf("%d budgets, %d ConfigMaps", len(all["PodDisruptionBudget"]), len(all["ConfigMap"]))
	}
	pod := at(all["Deployment"][0], "spec", "template", "spec")
	if env := at(pod, "containers", 0, "env", 2); env != nil || at(pod, "topologySpreadConstraints") != nil {
		t.Errorf("there is %v", env)
	}
}

// Other inputs are another pod, since watch reads them when it starts; other options than
// inputs leave the digest alone.
func TestDigest(t *testing.T) {
	t.Parallel()
	digest := func(change func(*deploy.Watch)) any {
		o := watch()
		change(o)
		return at(objects(t, o)["Deployment"][0], "spec", "template", "metadata", "annotations", "checksum/inputs")
	}
	same := digest(func(*deploy.Watch) {})
	for name, change := range map[string]func(*deploy.Watch){
		"an input":    func(o *deploy.Watch) { o.Inputs[0].Text += "#" },
		"a tombstone": func(o *deploy.Watch) { o.Tombstones[0].Text += "#" },
		"one more":    func(o *deploy.Watch) { o.Inputs = append(o.Inputs, deploy.File{Name: "b", Text: ""}) },
	} {
		if digest(change) == same {
			t.Errorf("%s does not count", name)
		}
	}
	if digest(func(o *deploy.Watch) { o.Replicas = 3 }) != same {
		t.Error("the number of replicas counts")
	}
}

// Texts of all kinds come back from YAML as they were, and names are such as ConfigMaps
// and directories of inputs take, each its own.
func TestFiles(t *testing.T) {
	t.Parallel()
	o := watch()
	texts := []string{
		"a: b\n", "no end", "  leading: space\n", "\n\nblank\n\n", "tab:\t1\n", "cr: 1\r\n", "control: \x01\n", "---\na: \"{{ .uid }}\"\n...\n",
		"trailing: space   \n", "", "very: " + strings.Repeat("long ", 60) + "\n", "emoji: 😀\n", "'quoted': \"\\n\"\n", "# comment\n", "|\n", "x: $(HOME)\n",
	}
	names := []string{
		"forms/a.yaml", "forms/b/a.yaml", "other/b/a.yaml", "forms_b_a.yaml", "stdin", "/dev/fd/63", ".hidden.yaml", "kustomization.yaml", "with space.json",
		"ümlaut.yml", strings.Repeat("long", 100) + ".yaml", "", "..", "a.yaml", `C:\forms\a.yaml`, "x.txt",
	}
	o.Inputs = nil
	for i := range texts {
		o.Inputs = append(o.Inputs, deploy.File{Name: names[i], Text: texts[i]})
	}
	data, _ := at(objects(t, o)["ConfigMap"][0], "data").(map[string]any)
	var got []string
	for key, value := range data {
		text, _ := value.(string)
		got = append(got, text)
		if len(key) > 253 || strings.HasPrefix(key, ".") || strings.HasPrefix(key, "kustomization.") || strings.Trim(key, "-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" ||
			!slices.ContainsFunc([]string{".yaml", ".yml", ".json"}, func(end string) bool { return strings.HasSuffix(key, end) }) {
			t.Errorf("key %q", key)
		}
	}
	slices.Sort(got)
	slices.Sort(texts)
	if diff := cmp.Diff(texts, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if data["a.yaml"] != "a: b\n" || data["forms_b_a.yaml"] == nil || data["forms_b_a-2.yaml"] == nil {
		t.Errorf("keys are not as they should be: %q", data)
	}
}

// What Kubernetes would not take is refused with what to do.
func TestRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*deploy.Watch){
		`namespace "A" isn't valid`:   func(o *deploy.Watch) { o.Namespace = "A" },
		`can't have the name "a.b"`:   func(o *deploy.Watch) { o.Name = "a.b" },
		"at most 52":                  func(o *deploy.Watch) { o.Name = strings.Repeat("a", 53) },
		`image "a b" isn't valid`:     func(o *deploy.Watch) { o.Image = "a b" },
		"at least 1 replica":          func(o *deploy.Watch) { o.Replicas = 0 },
		"a ConfigMap holds 1048576":   func(o *deploy.Watch) { o.Inputs[0].Text = strings.Repeat("a", 1<<20+1) },
		"forms/hub.yaml is not UTF-8": func(o *deploy.Watch) { o.Inputs[0].Text = "\xff\xfe" },
		"pods would find forms/hub.yaml and base/a.yaml at the same path hub.yaml": func(o *deploy.Watch) {
			o.Inputs = append(o.Inputs, deploy.File{Name: "base/a.yaml", Path: "hub.yaml"})
		},
		"tombstones: t.yaml is not UTF-": func(o *deploy.Watch) { o.Tombstones[0].Text = "\xff" },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()

			o := watch()
			change(o)
			if _, err := o.Manifests(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want one with %s", err, want)
			}
		})
	}
	o := watch()
	o.Inputs[0].Text = strings.Repeat("a", 1<<20)
	if _, err := o.Manifests(); err != nil {
		t.Errorf("as much as a ConfigMap holds: %v", err)
	}
}

// The kubelet replaces $(NAME) in arguments, and $$, and is kept from it.
func TestArguments(t *testing.T) {
	t.Parallel()
	o := watch()
	o.Tombstones, o.Args = nil, []string{"--source=$(HOME)", "--node=$$a$"}
	if diff := cmp.Diff([]string{"watch", "--filename=/inputs", "--source=$$(HOME)", "--node=$$$$a$$"}, o.Arguments()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for image, want := range map[string]string{
		"a": "", "a:1": "1", "r:5000/a": "", "a:1@sha256:00": "1", "a@sha256:00": "", "a:" + strings.Repeat("1", 64): "", "a:v1.2-rc.1": "v1.2-rc.1",
	} {
		o.Image = image
		if got := o.Version(); got != want {
			t.Errorf("%s: version %q, want %q", image, got, want)
		}
	}
}
