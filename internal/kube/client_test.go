package kube_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/harness"
	"github.com/lynqctl/lynqctl/test/harness/faultproxy"
)

// through is a client whose requests go through a proxy.
type through struct {
	*harness.Env
	*kube.Client
	proxy  *faultproxy.Server
	pauses []time.Duration // that the client would have made
}

// newThrough returns a client that doesn't pause between tries.
func newThrough(t *testing.T, o faultproxy.Options) *through {
	t.Helper()
	env, proxy := cluster.Env(t).Proxy(t, o)
	c := &through{Env: env, proxy: proxy}
	c.Client = c.with(newClient(t, env.Kubeconfig))
	return c
}

// with returns a client that notes pauses instead of making them.
func (c *through) with(client *kube.Client) *kube.Client {
	return client.WithSleep(func(_ context.Context, d time.Duration) error {
		c.pauses = append(c.pauses, d)
		return nil
	})
}

func newClient(t *testing.T, kubeconfig string) *kube.Client {
	t.Helper()
	client, err := kube.Access{Kubeconfig: kubeconfig}.Client(kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// requests counts the requests of a verb and a resource since the last rules.
func (c *through) requests(verb, resource string) int {
	return faultproxy.Count(c.proxy.Records())[faultproxy.Key{Verb: verb, Resource: resource}]
}

// rules replaces all rules, and forgets the requests so far.
func (c *through) rules(rules ...faultproxy.Rule) {
	c.proxy.SetRules(rules...)
	c.proxy.Reset()
	c.pauses = nil
}

var (
	configMaps  = lynq.APIResource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	secrets     = lynq.APIResource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true}
	namespaces  = lynq.APIResource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
	deployments = lynq.APIResource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true}
)

// configMap returns a write of a ConfigMap with a label.
func (c *through) configMap(verb write.Verb, name, value string) write.Request {
	return write.Request{Verb: verb, Namespace: c.Namespace, Name: name, Body: jsonOf(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"app": "a"}},
		"data":     map[string]any{"key": value},
	})}
}

func jsonOf(content any) []byte {
	body, err := json.Marshal(content)
	if err != nil {
		panic(err) //nolint:forbidigo // what tests write can be marshalled
	}
	return body
}
