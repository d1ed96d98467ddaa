package kube

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Hint says what to do about an error in the connection to the cluster, or returns "" for
// others.
func Hint(err error) string {
	var way *wayError
	if errors.As(err, &way) {
		return way.hint
	}
	return ""
}

// wayError is an error in the connection to the cluster, with a hint.
type wayError struct {
	error
	hint string
}

// Unwrap returns the error.
func (e *wayError) Unwrap() error { return e.error }

// onTheWay returns a wayError if an error is about the connection to the cluster.
func onTheWay(err error) error {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		alert   tls.AlertError
		lookup  *net.DNSError
	)
	var hint string
	switch {
	case apierrors.IsUnauthorized(err):
		hint = "the cluster doesn't accept the token or certificate of your kubeconfig. It may have expired: log in again, or choose another --context"
	case errors.As(err, &unknown):
		hint = "the certificate authority in your kubeconfig didn't sign this server's certificate: pass another --certificate-authority or --context"
	case errors.As(err, &name):
		hint = "the server's certificate is for another name: if the server is right, pass that name as --tls-server-name"
	case errors.As(err, &alert):
		hint = "the server ended the TLS handshake: check the client certificate in your kubeconfig"
	case errors.As(err, &lookup), utilnet.IsConnectionRefused(err):
		hint = "check that the cluster is running, and that you use the right context (--context)"
	default:
		return err
	}
	return &wayError{err, hint}
}
