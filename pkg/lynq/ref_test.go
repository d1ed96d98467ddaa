package lynq_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestParseRef(t *testing.T) {
	for text, want := range map[string]lynq.Ref{
		"ConfigMap/shop/web":                                              {Kind: "ConfigMap", Namespace: "shop", Name: "web"},
		"Deployment.apps/shop/web":                                        {Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		"Ingress.networking.k8s.io/shop/web":                              {Group: "networking.k8s.io", Kind: "Ingress", Namespace: "shop", Name: "web"},
		"Namespace/acme":                                                  {Kind: "Namespace", Name: "acme"},
		"ClusterRole.rbac.authorization.k8s.io/system:a:B":                {Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:a:B"},
		"CustomResourceDefinition.apiextensions.k8s.io/plans.example.com": {Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "plans.example.com"},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := lynq.ParseRef(text)
			if err != nil || got != want {
				t.Errorf("%s is read as %+v, %v; want %+v", text, got, err, want)
			}
			if got.Full() != text {
				t.Errorf("%s is written as %s", text, got.Full())
			}
		})
	}
}

func TestParseRefRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"":                          "it has no '/' (write KIND",
		"web":                       "it has no '/' (write KIND",
		"a/b/c/d":                   "it has more than two '/' (write KIND",
		"/shop/web":                 "the kind is missing",
		".apps/shop/web":            "the kind is missing",
		"Config Map/shop/web":       `"Config Map" is not a kind`,
		"Deployment./shop/web":      `"" is not an API group`,
		"Deployment.Apps/shop/web":  `"Apps" is not an API group`,
		"ConfigMap//web":            "the namespace is missing",
		"ConfigMap/Shop/web":        `"Shop" is not a namespace`,
		"ConfigMap/shop/":           "the name is missing",
		"Namespace/":                "the name is missing",
		"Namespace/..":              `".." is not a valid name of an object`,
		"ConfigMap/shop/web 2":      `"web 2" is not a valid name`,
		"ConfigMap/shop/a%2fb":      `"a%2fb" is not a valid name`,
		"ConfigMap/shop/web\x1b[2J": `is not a valid name`,
	} {
		t.Run(text, func(t *testing.T) {
			got, err := lynq.ParseRef(text)
			var refused *lynq.RefError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), why) || got != (lynq.Ref{}) {
				t.Errorf("%q is read as %+v, %v; want an error that says %q", text, got, err, why)
			}
			if err != nil && strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("%q: the error has a control character", text)
			}
		})
	}
}
