package gitops

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
)

// TestFate checks that each target keeps and deletes the objects of which the guards believe
// it. Their own libraries decide. For plain manifests, both must keep an object.
func TestFate(t *testing.T) {
	t.Parallel()
	options := []string{
		"", "Prune=false", "Prune=true", "Delete=false", "Prune=false,Delete=false", "Delete=false, Prune=false", "Prune=true,Prune=false",
		"Prune=false,Prune=true", "Delete=confirm", "Delete=false,Delete=confirm", "prune=false", "Prune=False", "Prune = false", "Prune=false,", " Prune=false",
		"Prune=confirm", "Prune=confirm,Prune=false", "Replace=true,Prune=false",
	}
	prunes := []string{"", "disabled", "Disabled", "enabled", " disabled"}
	kinds := [][2]string{{"v1", "ConfigMap"}, {"apiextensions.k8s.io/v1", "CustomResourceDefinition"}}
	kept := 0
	for _, c := range append(columns(), column{"plain", ""}) {
		for _, kind := range kinds {
			for _, option := range options {
				for _, prune := range prunes {
					annotations := map[string]string{}
					if option != "" {
						annotations["argocd.argoproj.io/sync-options"] = option
					}
					if prune != "" {
						annotations[fluxGroup+"/prune"] = prune
					}
					o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind[0], "kind": kind[1], "metadata": map[string]any{"name": "a"}}}
					o.SetAnnotations(annotations)
					text, err := o.MarshalJSON()
					if err != nil {
						t.Fatal(err)
					}
					doc, err := yaml.Parse(string(text))
					if err != nil {
						t.Fatal(err)
					}
					fate := policy.DeletionOf(doc, policy.Target(c.target), c.apps != "").Kept()
					dropped, gone := keptBy(c, o)
					if c.target == "plain" {
						argo, _ := keptBy(column{"argo", ""}, o)
						flux, _ := keptBy(column{"flux", ""}, o)
						dropped, gone = argo && flux, argo && flux
					}
					if fate.WhenDropped != dropped || fate.WhenNodeGoes != gone {
						t.Errorf("%v, %s %v: the guards believe that it is kept (%v), and the target keeps it: %v, %v", c, kind[1], annotations, fate, dropped, gone)
					}
					if dropped {
						kept++
					}
				}
			}
		}
	}
	if kept < 100 {
		t.Errorf("only %d objects are kept", kept)
	}
}
