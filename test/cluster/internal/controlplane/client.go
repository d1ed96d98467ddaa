package controlplane

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// client sends the few requests of a start to the API server.
type client struct {
	http          *http.Client
	server, token string
}

func newClient(server string, caCert []byte, token string) (*client, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(caCert) {
		return nil, errors.New("the authority's certificate is no PEM")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	return &client{http: &http.Client{Transport: transport}, server: server, token: token}, nil
}

// do sends one request and returns the body. It returns an error for a status outside of
// the 200s.
func (c *client) do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/yaml")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, bytes.TrimSpace(data))
	}
	return data, nil
}

// healthy returns nil once the API server has started.
func (c *client) healthy(ctx context.Context) error {
	_, err := c.do(ctx, http.MethodGet, "/readyz", nil)
	return err
}

// controlled returns nil once the controller manager works: it gives every namespace a
// service account.
func (c *client) controlled(ctx context.Context) error {
	_, err := c.do(ctx, http.MethodGet, "/api/v1/namespaces/default/serviceaccounts/default", nil)
	return err
}

// nodeReady returns nil once kwok has taken over the node.
func (c *client) nodeReady(ctx context.Context) error {
	data, err := c.do(ctx, http.MethodGet, "/api/v1/nodes/node", nil)
	if err != nil {
		return err
	}
	var node struct{ Status struct{ Phase string } }
	if err := json.Unmarshal(data, &node); err != nil {
		return err
	}
	if node.Status.Phase != "Running" {
		return errors.New("kwok has not made the node ready")
	}
	return nil
}

// createSeed creates the first objects of a cluster.
func (c *client) createSeed(ctx context.Context) error {
	for _, s := range seed() {
		manifest, err := manifests.ReadFile(s.file)
		if err != nil {
			return err
		}
		if _, err := c.do(ctx, http.MethodPost, s.path, manifest); err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
	}
	return nil
}
