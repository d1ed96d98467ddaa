package fields

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/test/sites"
)

// TestIgnoreFields creates an object by server-side apply and lets others change it. Then
// it applies the object with other values and ignored paths.
func TestIgnoreFields(t *testing.T) {
	s := newSite(t)
	all := manifests(t, s.Widgets())
	all["Secret"] = sites.Parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {password: first, other: a}}")
	type edit struct {
		patch       string
		subresource []string
	}
	tests := []struct {
		name, kind string
		theirs     []edit // strategic merge patches, or merge patches for Widgets
		change     func(map[string]any) map[string]any
		paths      []string
		carried    bool
		want       map[string]string   // the keys are kubectl's JSONPath
		owners     map[string][]string // see harness.FieldOwners
	}{
		{
			name: "replicas of an autoscaler", kind: "Deployment",
			theirs: []edit{{`{"spec":{"replicas":5}}`, []string{"scale"}}},
			change: func(m map[string]any) map[string]any {
				return sites.With(sites.With(m, int64(3), "spec", "replicas"), "x", "metadata", "labels", "new")
			},
			paths:  []string{"$.spec.replicas"},
			want:   map[string]string{".spec.replicas": "5", ".metadata.labels.new": "x"},
			owners: map[string][]string{".spec.replicas": {"theirs Update/scale"}},
		},
		{
			name: "replicas that nobody else wrote", kind: "Deployment",
			change:  func(m map[string]any) map[string]any { return sites.With(m, int64(3), "spec", "replicas") },
			paths:   []string{"$.spec.replicas"},
			carried: true,
			want:    map[string]string{".spec.replicas": "2"},
		},
		{
			name: "ours, and no longer in the form", kind: "Deployment",
			change:  func(m map[string]any) map[string]any { return sites.With(m, nil, "spec", "replicas") },
			paths:   []string{"$.spec.replicas"},
			carried: true,
			want:    map[string]string{".spec.replicas": "2"},
		},
		{
			name: "nothing matches", kind: "Deployment",
			change: func(m map[string]any) map[string]any { return sites.With(m, int64(3), "spec", "replicas") },
			paths:  []string{"$.spec.nothing", "$.spec.template.spec.containers[7].image", "$.a[?(@.b == 1)].c", "$['x']"},
			want:   map[string]string{".spec.replicas": "3"},
		},
		{
			name: "an image, by index, in another order beside a sidecar", kind: "Deployment",
			theirs: []edit{{`{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"sidecar"},{"name":"side"},{"name":"app"}],"containers":[{"name":"sidecar","image":"s"},{"name":"app","image":"theirs"}]}}}}`, nil}},
			change: func(m map[string]any) map[string]any {
				return sites.WithContainer(sites.WithContainer(m, 0, "image", "app:2"), 1, "image", "side:2")
			},
			paths: []string{"$.spec.template.spec.containers[0].image"},
			want: map[string]string{
				`.spec.template.spec.containers[?(@.name=="app")].image`:     "theirs",
				`.spec.template.spec.containers[?(@.name=="side")].image`:    "side:2",
				`.spec.template.spec.containers[?(@.name=="sidecar")].image`: "s",
			},
			owners: map[string][]string{".spec.template.spec.containers[name=app].image": {"theirs Update"}, ".spec.template.spec.containers[name=side].image": {"lynq Apply"}},
		},
		{
			name: "images, wherever they are", kind: "Deployment",
			theirs: []edit{{`{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"theirs"}]}}}}`, nil}},
			change: func(m map[string]any) map[string]any {
				m = sites.WithContainer(sites.WithContainer(m, 0, "image", "app:2"), 1, "image", "side:2")
				return withContainers(m, append(sites.ContainersOf(m), map[string]any{"name": "new", "image": "new:1"})...)
			},
			paths:   []string{"$..containers[*].image"},
			carried: true,
			want: map[string]string{
				`.spec.template.spec.containers[?(@.name=="app")].image`:  "theirs",
				`.spec.template.spec.containers[?(@.name=="side")].image`: "side:1",
				`.spec.template.spec.containers[?(@.name=="new")].image`:  "new:1",
			},
		},
		{
			name: "a variable, by its name", kind: "Deployment",
			theirs: []edit{{`{"spec":{"template":{"spec":{"containers":[{"name":"app","env":[{"name":"A","value":"theirs"},{"name":"C","value":"c"}]}]}}}}`, nil}},
			change: func(m map[string]any) map[string]any {
				return sites.WithContainer(m, 0, "env", []any{map[string]any{"name": "B", "value": "new"}, map[string]any{"name": "A", "value": "new"}})
			},
			paths: []string{"$.spec.template.spec.containers[?(@.name == 'app')].env[?(@.name == 'A')].value"},
			want: map[string]string{
				`.spec.template.spec.containers[0].env[?(@.name=="A")].value`: "theirs",
				`.spec.template.spec.containers[0].env[?(@.name=="B")].value`: "new",
				`.spec.template.spec.containers[0].env[?(@.name=="C")].value`: "c",
			},
		},
		{
			name: "an item with a key by default", kind: "Service",
			theirs: []edit{{`{"spec":{"ports":[{"port":80,"targetPort":8080}]}}`, nil}},
			change: func(m map[string]any) map[string]any {
				m = runtime.DeepCopyJSON(m)
				ports, _, _ := unstructured.NestedSlice(m, "spec", "ports")
				sites.SetIn(ports[0], "targetPort", int64(9090))
				sites.SetIn(ports[2], "targetPort", "tcp")
				return sites.With(m, ports, "spec", "ports")
			},
			paths: []string{"$.spec.ports[0].targetPort"},
			want: map[string]string{
				`.spec.ports[?(@.name=="http")].targetPort`:    "8080",
				`.spec.ports[?(@.name=="dns-tcp")].targetPort`: "tcp",
			},
		},
		{
			name: "keys in quotes, and a whole map", kind: "ConfigMap",
			theirs: []edit{{`{"data":{"colour":"theirs","theirs":"x"},"metadata":{"annotations":{"example.com/a":"theirs"}}}`, nil}},
			change: func(m map[string]any) map[string]any {
				m = sites.With(m, "new", "data", "colour")
				m = sites.With(m, "new", "data", "size")
				return sites.With(m, map[string]any{"example.com/a": "new", "example.com/b": "new", wellknown.AnnotationResourceID: "id"}, "metadata", "annotations")
			},
			paths:   []string{"$.data['colour']", "$['metadata']['annotations']", "$.metadata.labels"},
			carried: false,
			want: map[string]string{
				".data.colour": "theirs", ".data.size": "new", ".data.theirs": "x",
				`.metadata.annotations.example\.com/a`: "theirs", `.metadata.annotations.example\.com/b`: "",
				`.metadata.annotations.lynq\.sh/resource-id`: "id",
			},
		},
		{
			name: "a map all of whose fields are theirs or ours", kind: "ConfigMap",
			theirs: []edit{{`{"data":{"colour":"theirs","size":null,"theirs":"x"}}`, nil}},
			change: func(m map[string]any) map[string]any {
				return sites.With(m, map[string]any{"colour": "new", "size": "new"}, "data")
			},
			paths: []string{"$.data", "$.data.colour"},
			want:  map[string]string{".data.colour": "theirs", ".data.size": "", ".data.theirs": "x"},
		},
		{
			name: "in what is owned as a whole", kind: "Ingress",
			theirs:  []edit{{`{"spec":{"rules":[{"host":"theirs.example.com","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"web","port":{"number":80}}}}]}}]}}`, nil}},
			change:  func(m map[string]any) map[string]any { return sites.With(m, "other", "spec", "ingressClassName") },
			paths:   []string{"$.spec.rules[0].host"},
			carried: true,
			want:    map[string]string{".spec.rules[0].host": "theirs.example.com", ".spec.ingressClassName": "other"},
		},
		{
			name: "fields and items of a custom resource", kind: "Widget",
			theirs: []edit{{`{"spec":{"tags":["x","theirs"],"parts":[{"name":"b","sub":{"deep":[9]}},{"name":"a","colour":"theirs"}],"more":1}}`, nil}},
			change: func(m map[string]any) map[string]any {
				return sites.With(sites.With(m, []any{map[string]any{"name": "a", "colour": "new", "size": int64(1)}, map[string]any{"name": "b", "sub": map[string]any{"deep": []any{int64(5)}}}}, "spec", "parts"), []any{"x", "y"}, "spec", "tags")
			},
			paths:   []string{"$.spec.parts[*].colour", "$.spec.parts[1].sub.deep[0]", "$.spec.tags[?(@ == 'y')]", "$.spec.more"},
			carried: true,
			want: map[string]string{
				`.spec.parts[?(@.name=="a")].colour`: "theirs", `.spec.parts[?(@.name=="a")].size`: "1",
				`.spec.parts[?(@.name=="b")].sub.deep[0]`: "9", ".spec.more": "1", ".spec.tags": `["x","theirs"]`,
			},
		},
		{
			name: "an item that only lynq has", kind: "Widget",
			change: func(m map[string]any) map[string]any {
				return sites.With(m, []any{map[string]any{"name": "a", "colour": "new"}}, "spec", "parts")
			},
			paths:   []string{"$.spec.parts[?(@.name == 'b')]", "$.spec.parts[0].name"},
			carried: true,
			want:    map[string]string{`.spec.parts[?(@.name=="a")].colour`: "new", `.spec.parts[?(@.name=="b")].sub.deep[0]`: "1"},
		},
		{
			name: "an item that is theirs", kind: "Deployment",
			theirs: []edit{{`{"spec":{"template":{"spec":{"containers":[{"name":"theirs","image":"t"}]}}}}`, nil}},
			change: func(m map[string]any) map[string]any {
				return withContainers(m, append(sites.ContainersOf(m), map[string]any{"name": "theirs", "image": "new"}, map[string]any{"name": "none", "image": "new"})...)
			},
			paths: []string{"$.spec.template.spec.containers[?(@.name == 'theirs')]", "$.spec.template.spec.containers[?(@.name == 'none')]"},
			want: map[string]string{
				`.spec.template.spec.containers[?(@.name=="theirs")].image`: "t",
				`.spec.template.spec.containers[?(@.name=="none")].image`:   "",
			},
			owners: map[string][]string{".spec.template.spec.containers[name=theirs]": {"theirs Update"}},
		},
		{
			name: "keys of an item", kind: "Deployment",
			theirs: []edit{{`{"spec":{"template":{"spec":{"containers":[{"name":"theirs","image":"t"}]}}}}`, nil}},
			change: func(m map[string]any) map[string]any {
				return withContainers(m, append(sites.ContainersOf(m), map[string]any{"name": "theirs", "image": "t", "command": []any{"c"}})...)
			},
			paths: []string{"$.spec.template.spec.containers[*].name"},
			want:  map[string]string{`.spec.template.spec.containers[?(@.name=="theirs")].command`: `["c"]`},
		},
		{
			name: "in a map that is theirs as a whole", kind: "Deployment",
			theirs: []edit{{`{"spec":{"template":{"spec":{"nodeSelector":{"a":"1","b":"2"}}}}}`, nil}},
			change: func(m map[string]any) map[string]any {
				return sites.With(m, map[string]any{"a": "1"}, "spec", "template", "spec", "nodeSelector")
			},
			paths:   []string{"$.spec.template.spec.nodeSelector.b"},
			carried: true,
			want:    map[string]string{".spec.template.spec.nodeSelector": `{"a":"1","b":"2"}`},
		},
		{
			name: "a place in a place", kind: "Deployment",
			theirs: []edit{{`{"spec":{"template":{"spec":{"nodeSelector":{"a":"1","b":"2"}}}}}`, nil}},
			change: func(m map[string]any) map[string]any {
				return sites.With(m, map[string]any{"a": "new"}, "spec", "template", "spec", "nodeSelector")
			},
			paths:  []string{"$.spec.template.spec.nodeSelector", "$.spec.template.spec.nodeSelector.a"},
			want:   map[string]string{".spec.template.spec.nodeSelector": `{"a":"1","b":"2"}`},
			owners: map[string][]string{".spec.template.spec.nodeSelector": {"theirs Update"}},
		},
		{
			name: "a secret's text", kind: "Secret",
			theirs: []edit{{`{"stringData":{"password":"theirs"}}`, nil}},
			change: func(m map[string]any) map[string]any {
				return sites.With(sites.With(m, "new", "stringData", "password"), "new", "stringData", "other")
			},
			paths:   []string{"$.stringData.password"},
			carried: false,
			want:    map[string]string{".data.password": "dGhlaXJz", ".data.other": "bmV3"},
		},
		{
			name: "what says which object it is", kind: "ConfigMap",
			change: func(m map[string]any) map[string]any {
				return sites.With(m, "hub2", "metadata", "labels", wellknown.LabelHub)
			},
			paths: []string{"$.metadata.labels[*]", "$.metadata['name','namespace']", "$['apiVersion','kind']"},
			want:  map[string]string{`.metadata.labels.lynq\.sh/hub`: "hub2"},
		},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := strings.ToLower(tt.kind) + "-" + string(rune('a'+i))
			first := sites.With(all[tt.kind], name, "metadata", "name")
			s.Apply("lynq", FoldSecret(sites.With(first, "hub", "metadata", "labels", wellknown.LabelHub)))
			for _, e := range tt.theirs {
				kind := types.StrategicMergePatchType
				if tt.kind == "Widget" {
					kind = types.MergePatchType
				}
				s.Patch("theirs", first, kind, e.patch, e.subresource...)
			}
			desired := tt.change(first)
			if sites.Field(&unstructured.Unstructured{Object: desired}, "metadata", "labels", wellknown.LabelHub) == nil {
				desired = sites.With(desired, "hub", "metadata", "labels", wellknown.LabelHub)
			}
			kept := runtime.DeepCopyJSON(desired)
			body, carried, err := Ignore(desired, s.Get(first), tt.paths)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(kept, desired); diff != "" {
				t.Errorf("the manifest itself was changed: %s", diff)
			}
			if carried != tt.carried {
				t.Errorf("carried %v: %s", carried, sites.Encode(t, body))
			}
			if _, err := s.TryApply("lynq", body, false); err != nil {
				t.Errorf("%v\n%s", err, sites.Encode(t, body))
				return
			}
			for path, want := range tt.want {
				s.Equal(t, strings.ToLower(tt.kind)+refGroup(first)+"/"+name, path, want)
			}
			for path, want := range tt.owners {
				s.Owners(t, strings.ToLower(tt.kind)+refGroup(first)+"/"+name, path, want...)
			}
			// A second apply changes nothing.
			again, _, err := Ignore(desired, s.Get(first), tt.paths)
			if err != nil {
				t.Fatal(err)
			}
			before := settled(s.Get(first))
			if diff := cmp.Diff(before, settled(s.Must(s.TryApply("lynq", again, false)))); diff != "" {
				t.Errorf("a second apply changed it: %s", diff)
			}
		})
	}
}

func refGroup(m map[string]any) string {
	apiVersion, _ := m["apiVersion"].(string)
	group, _ := lynq.SplitAPIVersion(apiVersion)
	if group == "" {
		return ""
	}
	return "." + group
}

func withContainers(m map[string]any, containers ...any) map[string]any {
	return sites.With(m, runtime.DeepCopyJSONValue(containers), "spec", "template", "spec", "containers")
}

// TestIgnoreFieldsHoldsForOneVersion checks that lynqctl doesn't overwrite a write in
// between.
func TestIgnoreFieldsHoldsForOneVersion(t *testing.T) {
	s := newSite(t)
	web := sites.Parse(t, sites.WebDeployment)
	s.Apply("lynq", web)
	live := s.Get(web)
	body, carried, err := Ignore(web, live, []string{"$.spec.replicas"})
	if err != nil || !carried {
		t.Fatal(carried, err)
	}
	s.Patch("hpa", web, types.MergePatchType, `{"spec":{"replicas":5}}`, "scale")
	_, err = s.TryApply("lynq", sites.With(body, live.GetResourceVersion(), "metadata", "resourceVersion"), true)
	if !apierrors.IsConflict(err) {
		t.Error(err)
	}
	s.Equal(t, "deployment/web", ".spec.replicas", "5")
}

// TestIgnoreFieldsLeavesOwners checks that ignored fields belong to their current or next
// manager, even with server-side apply.
func TestIgnoreFieldsLeavesOwners(t *testing.T) {
	s := newSite(t)
	web := sites.Parse(t, sites.WebDeployment)
	scaled := func(m map[string]any, replicas int64) map[string]any {
		return sites.With(onlyIdentity(m), replicas, "spec", "replicas")
	}
	for name, tt := range map[string]struct {
		first  map[string]any
		others func(m map[string]any)
		want   string
		owners []string
	}{
		"ours":    {web, func(map[string]any) {}, "2", []string{"lynq Apply"}},
		"of-both": {web, func(m map[string]any) { s.Apply("autoscaler", scaled(m, 2)) }, "2", []string{"autoscaler Apply"}},
		"nobodys": {sites.With(web, nil, "spec", "replicas"), func(map[string]any) {}, "1", nil},
		"gone": {web, func(m map[string]any) {
			// The server's default counts as theirs.
			s.Patch("somebody", m, types.JSONPatchType, `[{"op":"remove","path":"/spec/replicas"}]`)
		}, "1", []string{"somebody Update"}},
	} {
		t.Run(name, func(t *testing.T) {
			first := sites.With(tt.first, name, "metadata", "name")
			s.Apply("lynq", first)
			tt.others(first)
			body, carried, err := Ignore(sites.With(first, int64(7), "spec", "replicas"), s.Get(first), []string{"$.spec.replicas"})
			if err != nil || carried != (name == "ours") {
				t.Fatalf("carried %t: %v", carried, err)
			}
			s.Apply("lynq", body)
			ref := "deployment/" + sites.NameIn(first)
			s.Equal(t, ref, ".spec.replicas", tt.want)
			s.Owners(t, ref, ".spec.replicas", tt.owners...)
			if name == "nobodys" {
				s.Apply("autoscaler", scaled(first, 5)) // no conflict
				s.Owners(t, ref, ".spec.replicas", "autoscaler Apply")
			}
		})
	}
}

// TestCarryIgnored tests the strategies merge and replace.
func TestCarryIgnored(t *testing.T) {
	s := newSite(t)
	all := manifests(t, s.Widgets())
	// While it is paused, its controller writes no revision annotation. That one would be
	// foreign, and change with the template.
	web := sites.With(all["Deployment"], true, "spec", "paused")
	s.Create("lynq", web)
	s.Patch("hpa", web, types.MergePatchType, `{"spec":{"replicas":5}}`, "scale")
	s.Patch("theirs", web, types.StrategicMergePatchType, `{"metadata":{"annotations":{"theirs":"x"}},"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"sidecar"},{"name":"side"},{"name":"app"}],"containers":[{"name":"sidecar","image":"s"},{"name":"side","image":"theirs"}]}}}}`)
	desired := withContainers(web, append(sites.ContainersOf(web), map[string]any{"name": "new", "image": "new:1"})...)
	// Locations in items that only one side has don't change.
	paths := []string{"$.spec.replicas", "$.metadata.annotations[*]", "$.spec.template.spec.containers[*].image", "$.spec.minReadySeconds"}
	body, err := CarryIgnored(sites.With(desired, int64(3), "spec", "minReadySeconds"), s.Get(web), paths)
	if err != nil {
		t.Fatal(err)
	}
	s.replace(body)
	for path, want := range map[string]string{
		".spec.replicas": "5", ".metadata.annotations.theirs": "x", ".spec.minReadySeconds": "",
		".spec.template.spec.containers[*].name": "app side new", ".spec.template.spec.containers[*].image": "app:1 theirs new:1",
	} {
		s.Equal(t, "deployment/web", path, want)
	}
	body, err = CarryIgnored(desired, s.Get(web), paths)
	if err != nil {
		t.Fatal(err)
	}
	s.unchanged("Deployment", body, lynq.PatchReplace)
	s.unchanged("Deployment", body, lynq.PatchMerge)

	widget := all["Widget"]
	s.Create("lynq", widget)
	s.Patch("theirs", widget, types.MergePatchType, `{"spec":{"tags":["z"],"free":{"list":[{"a":7}]}}}`)
	body, err = CarryIgnored(widget, s.Get(widget), []string{"$.spec.tags", "$.spec.free.list[*].a", "$.spec.parts[?(@.name == 'b')]"})
	if err != nil {
		t.Fatal(err)
	}
	spec := &unstructured.Unstructured{Object: body}
	if diff := cmp.Diff([]any{"z"}, sites.Field(spec, "spec", "tags")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{map[string]any{"a": int64(7)}, map[string]any{"b": int64(2)}}, sites.Field(spec, "spec", "free", "list")); diff != "" {
		t.Error(diff)
	}
}

func TestIgnoreBadPath(t *testing.T) {
	live := &unstructured.Unstructured{Object: sites.Parse(t, sites.Settings)}
	if _, _, err := Ignore(live.Object, live, []string{"$.["}); err == nil {
		t.Error("no JSONPath is taken for one")
	}
	if _, err := CarryIgnored(live.Object, live, []string{"$.["}); err == nil {
		t.Error("no JSONPath is taken for one")
	}
}

// TestPair checks that names identify items of lists without managers, and positions do if
// there are no names.
func TestPair(t *testing.T) {
	tests := []struct {
		name, want, live string
		pairs            []int
	}{
		{"names", `[{"name":"b"},{"name":"c"}]`, `[{"name":"a"},{"name":"b"}]`, []int{1, -1}},
		{"a name twice", `[{"name":"b"},{"name":"b"}]`, `[{"name":"a"},{"name":"b"}]`, []int{0, 1}},
		{"places", `["x","y","z"]`, `["y","x"]`, []int{0, 1, -1}},
		{"none", `[]`, `["y"]`, []int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var want, live []any
			if err := unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if err := unmarshal([]byte(tt.live), &live); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.pairs, pair(want, live, nil)); diff != "" {
				t.Errorf("%s", diff)
			}
		})
	}
}

func TestFoldSecret(t *testing.T) {
	got := FoldSecret(sites.Parse(t, `{apiVersion: v1, kind: Secret, data: {a: "YW\nJj", b: bad!, c: ZA==}, stringData: {c: new, d: d}}`))
	want := sites.Parse(t, `{apiVersion: v1, kind: Secret, data: {a: YWJj, b: bad!, c: bmV3, d: ZA==}}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A value that isn't text isn't lost, because the server refuses it.
	got = FoldSecret(sites.Parse(t, `{apiVersion: v1, kind: Secret, stringData: {a: 5, b: c}}`))
	want = sites.Parse(t, `{apiVersion: v1, kind: Secret, data: {b: Yw==}, stringData: {a: 5}}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	config := sites.Parse(t, "{apiVersion: v1, kind: ConfigMap, stringData: {a: b}}")
	if diff := cmp.Diff(runtime.DeepCopyJSON(config), FoldSecret(config)); diff != "" {
		t.Error(diff)
	}
}
