package kube

import (
	"context"
	"time"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// WithPageSize returns a client that lists n objects per page.
func (c *Client) WithPageSize(n int64) *Client {
	out := *c
	out.pageSize = n
	return &out
}

// WithSleep returns a client that waits with sleep, without jitter.
func (c *Client) WithSleep(sleep func(context.Context, time.Duration) error) *Client {
	out := *c
	out.patience = retrier{now: time.Now, sleep: sleep, jitter: func() float64 { return 0.5 }}
	return &out
}

// Find looks for a kind in a server's answer.
func Find(answer []apidiscovery.APIGroupDiscovery, group, version, kind string) (lynq.APIResource, error) {
	return newCatalog(answer).find(group, version, kind)
}

// APIVersions returns all versions and kinds in a server's answer.
func APIVersions(answer []apidiscovery.APIGroupDiscovery) ([]string, error) {
	return newCatalog(answer).apiVersions()
}

// MaxTries is the number of tries of a request.
const MaxTries = maxTries

// Pause and Passing are the rules for retries.
var (
	Pause   = pause
	Passing = passing
)

// Try retries f as a client does, without a pause.
func Try(ctx context.Context, f func() error) error { return TryAt(ctx, time.Now, f) }

// TryAt is Try with a clock.
func TryAt(ctx context.Context, now func() time.Time, f func() error) error {
	p := retrier{now: now, sleep: func(context.Context, time.Duration) error { return nil }, jitter: func() float64 { return 0.5 }}
	return p.try(ctx, f)
}

// PodNamespace is podNamespace.
func PodNamespace(getenv func(string) string, read func(string) ([]byte, error)) string {
	return podNamespace(getenv, read)
}

// Asked is asked.
func Asked(a Access, config *rest.Config) *rest.Config { return a.asked(config) }

// APIVerb is apiVerb.
var APIVerb = apiVerb

// DeleteObject is delete, which tests call without a permit.
func (c *Client) DeleteObject(ctx context.Context, r lynq.APIResource, namespace, name string, o metav1.DeleteOptions) (gone bool, err error) {
	return c.delete(ctx, r, namespace, name, o)
}

// Later lets a client read the kubeconfig again after the next refusal.
func Later(c *Client) { c.user.readAt = time.Time{} }
