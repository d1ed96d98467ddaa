package faultproxy

import (
	"encoding/pem"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Server is a proxy that listens on a loopback port.
type Server struct {
	*Proxy
	// URL is the address that clients use in the place of the API server's.
	URL string

	http *httptest.Server
}

// Options say how a server speaks.
type Options struct {
	// HTTP1 has clients open one connection for each request at a time. A cut
	// then breaks a whole connection; with HTTP/2 it resets the one stream.
	HTTP1 bool
}

// Start runs a proxy to the API server of a kubeconfig's current context, and
// writes the kubeconfig for its clients to the file out: the same users and
// contexts at the proxy's address. A TLS connection ends at the proxy, so of
// users without a token only the current one is kept.
func Start(kubeconfig, out string, o Options) (*Server, error) {
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return nil, err
	}
	upstream, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kubeconfig, err)
	}
	transport, err := rest.TransportFor(upstream)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(upstream.Host)
	if err != nil {
		return nil, err
	}
	proxy := New(target, transport)
	server := httptest.NewUnstartedServer(proxy)
	server.EnableHTTP2 = !o.HTTP1
	server.StartTLS()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := clientcmd.WriteToFile(*redirect(config, server.URL, ca), out); err != nil {
		server.Close()
		return nil, err
	}
	return &Server{Proxy: proxy, URL: server.URL, http: server}, nil
}

// Disconnect ends all connections, with what is under way on them, and watches.
func (s *Server) Disconnect() { s.http.CloseClientConnections() }

// Close ends all connections and stops listening.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// redirect points the contexts of a configuration at another server. Contexts
// that a proxy cannot serve are left out: those of other clusters, and those
// of users whom it would have to impersonate.
func redirect(config *clientcmdapi.Config, server string, ca []byte) *clientcmdapi.Config {
	out := config.DeepCopy()
	current := config.Contexts[config.CurrentContext]
	out.Clusters = map[string]*clientcmdapi.Cluster{
		current.Cluster: {Server: server, CertificateAuthorityData: ca},
	}
	maps.DeleteFunc(out.Contexts, func(name string, c *clientcmdapi.Context) bool {
		user := config.AuthInfos[c.AuthInfo]
		passes := name == config.CurrentContext || user != nil && user.Token != ""
		return c.Cluster != current.Cluster || !passes
	})
	return out
}
