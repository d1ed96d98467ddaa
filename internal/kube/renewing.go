package kube

import (
	"io"
	"net/http"
	"reflect"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// renewEvery is the least time between two reads of the kubeconfig after refusals.
const renewEvery = 5 * time.Second

// renewing is a transport that reads the kubeconfig again when the server refuses the
// credentials. Another client may have replaced a token there. client-go reads only files
// again that the kubeconfig names, and what a plugin prints.
type renewing struct {
	// read returns the configuration that counts now.
	read func() (*rest.Config, error)
	// connect returns the transport of a configuration.
	connect func(*rest.Config) (http.RoundTripper, error)
	now     func() time.Time

	mu     sync.Mutex
	config *rest.Config
	next   http.RoundTripper
	readAt time.Time // zero before the first time
}

// RoundTrip implements http.RoundTripper. The server did nothing if it refused the
// credentials, so the request may be sent again.
func (r *renewing) RoundTrip(request *http.Request) (*http.Response, error) {
	used := r.current()
	response, err := used.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusUnauthorized || request.Body != nil && request.GetBody == nil {
		return response, err
	}
	next := r.renewed(used)
	if next == used {
		return response, nil
	}
	again := request.Clone(request.Context())
	if request.GetBody != nil {
		if again.Body, err = request.GetBody(); err != nil {
			return response, nil //nolint:nilerr // the refusal is the answer
		}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, largestRefusal)) // so that the connection serves again
	_ = response.Body.Close()
	return next.RoundTrip(again)
}

// largestRefusal limits what is read of a refusal.
const largestRefusal = 64 << 10

func (r *renewing) current() http.RoundTripper {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// renewed returns the transport to use instead of one that the server refused. It is the
// same if the kubeconfig has nothing new.
func (r *renewing) renewed(used http.RoundTripper) http.RoundTripper {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == used && (r.readAt.IsZero() || r.now().Sub(r.readAt) >= renewEvery) {
		r.renew()
	}
	return r.next
}

// renew reads the kubeconfig. A file that can't be read, or that names another server,
// changes nothing. The caller holds the lock.
func (r *renewing) renew() {
	r.readAt = r.now()
	config, err := r.read()
	if err != nil || config.Host != r.config.Host || sameUser(config, r.config) {
		return
	}
	if next, err := r.connect(config); err == nil {
		r.config, r.next = config, next
	}
}

// sameUser reports whether two configurations have the same credentials.
func sameUser(a, b *rest.Config) bool {
	type user struct {
		name, password, token, tokenFile, certFile, keyFile string
		cert, key                                           []byte
		exec, provider                                      any
	}
	of := func(c *rest.Config) user {
		return user{
			c.Username, c.Password, c.BearerToken, c.BearerTokenFile, c.CertFile, c.KeyFile, c.CertData, c.KeyData, c.ExecProvider, c.AuthProvider,
		}
	}
	return reflect.DeepEqual(of(a), of(b))
}

// Renew makes the client read the kubeconfig again, whether or not the server refuses its
// credentials.
func (c *Client) Renew() {
	c.user.mu.Lock()
	defer c.user.mu.Unlock()
	c.user.renew()
}
