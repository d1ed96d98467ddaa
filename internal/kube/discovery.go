package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	apidiscovery "k8s.io/api/apidiscovery/v2"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// acceptDiscovery asks for all groups in one answer. Since Kubernetes 1.30, that is v2.
// v2beta1 has the same format.
const acceptDiscovery = contentProtobuf + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	acceptJSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	contentProtobuf + ";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," +
	acceptJSON + ";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," + acceptJSON

// kinds caches the kinds that the server serves.
type kinds struct {
	gate  chan struct{} // full while someone asks the server
	known *atomic.Pointer[catalog]
}

func newKinds() kinds {
	return kinds{gate: make(chan struct{}, 1), known: &atomic.Pointer[catalog]{}}
}

// Resource finds the resource of a kind, see apply.Cluster. It asks the server once, with
// two requests, and caches the answer. If an extension that serves the group doesn't
// answer, it returns a *lynq.GroupUnavailableError.
func (c *Client) Resource(ctx context.Context, group, version, kind string) (lynq.APIResource, error) {
	known := c.kinds.known.Load()
	if known == nil {
		var err error
		if known, err = c.discover(ctx, false); err != nil {
			return lynq.APIResource{}, err
		}
	}
	return known.find(group, version, kind)
}

// Listable returns every kind that can be listed, see apply.Cluster. If some extensions
// don't answer, it returns the kinds of all others. The error then wraps a
// *lynq.GroupUnavailableError for each.
func (c *Client) Listable(ctx context.Context) ([]lynq.APIResource, error) {
	known, err := c.discover(ctx, false)
	if err != nil {
		return nil, err
	}
	return known.listable()
}

// Capabilities returns the version of the server, and what it serves: versions as
// group/version, and kinds as group/version/Kind. With fresh, it asks the server even if
// another call has done so. An extension that doesn't answer is an error.
func (c *Client) Capabilities(ctx context.Context, fresh bool) (version string, apiVersions []string, err error) {
	known, err := c.discover(ctx, fresh)
	if err != nil {
		return "", nil, err
	}
	if apiVersions, err = known.apiVersions(); err != nil {
		return "", nil, err
	}
	r := &request{verb: "get", method: http.MethodGet, path: "/version", accept: acceptJSON}
	body, err := c.send(ctx, r)
	var told struct {
		GitVersion string `json:"gitVersion"`
	}
	if err == nil {
		err = json.Unmarshal(body, &told)
	}
	if err == nil && told.GitVersion == "" {
		err = errors.New("the answer has no gitVersion")
	}
	if err != nil {
		return "", nil, fmt.Errorf("ask the server for its version: %w", err)
	}
	return told.GitVersion, apiVersions, nil
}

// PrefetchKinds starts asking for the server's kinds while the caller does other work. It drops an
// error, because a later call asks again.
func (c *Client) PrefetchKinds(ctx context.Context) {
	go func() { _, _ = c.discover(ctx, false) }()
}

// Refresh asks the server again for its kinds. After an error, the earlier answer stays.
func (c *Client) Refresh(ctx context.Context) error {
	_, err := c.discover(ctx, true)
	return err
}

// discover reads the catalog. Unless fresh is set, a catalog that another call read
// meanwhile is enough.
func (c *Client) discover(ctx context.Context, fresh bool) (*catalog, error) {
	select {
	case c.kinds.gate <- struct{}{}:
		defer func() { <-c.kinds.gate }()
	case <-ctx.Done():
		return nil, fmt.Errorf("list the kinds that the server serves: %w", context.Cause(ctx))
	}
	if known := c.kinds.known.Load(); known != nil && !fresh {
		return known, nil
	}
	var core apidiscovery.APIGroupDiscoveryList
	done := make(chan error, 1)
	go func() { done <- c.readGroups(ctx, "/api", &core) }()
	var named apidiscovery.APIGroupDiscoveryList
	err := c.readGroups(ctx, "/apis", &named)
	if coreErr := <-done; coreErr != nil {
		err = coreErr
	}
	if err != nil {
		return nil, fmt.Errorf("list the kinds that the server serves: %w", err)
	}
	known := newCatalog(core.Items, named.Items)
	c.kinds.known.Store(known)
	return known, nil
}

func (c *Client) readGroups(ctx context.Context, path string, out *apidiscovery.APIGroupDiscoveryList) error {
	r := &request{verb: "get", method: http.MethodGet, path: path, accept: acceptDiscovery}
	body, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	if err := decode(body, out, "APIGroupDiscoveryList"); err != nil {
		return fmt.Errorf("%s: %w; Kubernetes 1.27 or newer is needed", r.text(), err)
	}
	return nil
}
