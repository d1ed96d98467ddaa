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
	// URL is the address that clients use instead of the API server's.
	URL string

	http *httptest.Server
}

// Options are the options of a Server.
type Options struct {
	// HTTP1 makes clients open one connection for each parallel request. A cut then breaks
	// a whole connection. With HTTP/2, it only resets one stream.
	HTTP1 bool
}

// Start starts a proxy to the API server of a kubeconfig's current context. It writes a
// kubeconfig with the proxy's address to the file out, with the same users and contexts.
// TLS connections end at the proxy, so it keeps only the current one of the users without a
// token.
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

// Disconnect ends all connections with their requests and watches.
func (s *Server) Disconnect() { s.http.CloseClientConnections() }

// Close ends all connections and stops listening.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// redirect points the contexts of a configuration at another server. It drops contexts that
// a proxy can't serve: those of other clusters, and those of users that it would have to
// impersonate.
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
