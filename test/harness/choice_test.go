package harness_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/lynqctl/lynqctl/test/harness"
)

func TestChoose(t *testing.T) {
	tests := []struct {
		name           string
		env            map[string]string
		built, own     bool
		wantKubeconfig string
		wantShared     string
		wantRun        []string
		wantSkip       bool
	}{
		{name: "nothing at all", wantSkip: true},
		{name: "built", built: true, wantRun: []string{"run"}},
		{name: "assets", env: map[string]string{"KUBEBUILDER_ASSETS": "/x"}, wantRun: []string{"run"}},
		{name: "asked for", env: map[string]string{"LYNQCTL_TEST_CLUSTER": "1"}, wantRun: []string{"run", "-build"}},
		{name: "CI never skips", env: map[string]string{"CI": "true"}, wantRun: []string{"run", "-build"}},
		{name: "CI, built for another platform", env: map[string]string{"CI": "true"}, built: true, wantRun: []string{"run", "-build"}},
		{
			name:           "somebody else's cluster wins",
			env:            map[string]string{"LYNQCTL_TEST_KUBECONFIG": "/k", "CI": "true"},
			built:          true,
			wantKubeconfig: "/k",
		},
		{name: "shared", env: map[string]string{"LYNQCTL_TEST_SHARED": "/s", "CI": "true"}, built: true, wantShared: "/s"},
		{name: "not shared", env: map[string]string{"LYNQCTL_TEST_SHARED": "/s", "CI": "true"}, own: true, wantRun: []string{"run", "-build"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kubeconfig, shared, run, skip := harness.Choose(func(k string) string { return tt.env[k] }, tt.own, "/cache/dir", tt.built)
			if kubeconfig != tt.wantKubeconfig {
				t.Errorf("kubeconfig %q, want %q", kubeconfig, tt.wantKubeconfig)
			}
			if shared != tt.wantShared {
				t.Errorf("shared %q, want %q", shared, tt.wantShared)
			}
			if diff := cmp.Diff(tt.wantRun, run); diff != "" {
				t.Errorf("run (-want +got):\n%s", diff)
			}
			if (skip != "") != tt.wantSkip {
				t.Errorf("skip %q, want one: %v", skip, tt.wantSkip)
			}
			if tt.wantSkip && !strings.Contains(skip, "/cache/dir") {
				t.Errorf("the reason to skip does not say what is missing: %s", skip)
			}
		})
	}
}

func TestNamespaceName(t *testing.T) {
	for test, want := range map[string]string{
		"TestFoo":               "testfoo-abcdef",
		"TestFoo/with_a_case#1": "testfoo-with-a-case-1-abcdef",
		"Test" + strings.Repeat("LongName", 20) + "/x": "testlongnamelongnamelongnamelongnamelong-abcdef",
	} {
		t.Run(test, func(t *testing.T) {
			got := harness.NamespaceName(test, "ABCDEFGH")
			if got != want {
				t.Errorf("%s: %s, want %s", test, got, want)
			}
			if problems := validation.IsDNS1123Label(got); problems != nil {
				t.Errorf("%s is no name: %v", got, problems)
			}
		})
	}
}
