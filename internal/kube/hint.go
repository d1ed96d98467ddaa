package kube

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Hint says what to do about an error that is about the way to the cluster, not
// about what was asked of it; "" for all others.
func Hint(err error) string {
	var way *wayError
	if errors.As(err, &way) {
		return way.hint
	}
	return ""
}

// wayError is an error on the way to the cluster, which says what to do.
type wayError struct {
	error
	hint string
}

// Unwrap gives the error.
func (e *wayError) Unwrap() error { return e.error }

// onTheWay makes one of an error that is about the way to the cluster.
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
		hint = "the cluster does not accept the token or certificate of the kubeconfig, which may have expired: log in again, or choose another --context"
	case errors.As(err, &unknown):
		hint = "the kubeconfig's certificate authority is not that of this server: name another --certificate-authority or --context"
	case errors.As(err, &name):
		hint = "the server's certificate is for another name: give that as --tls-server-name, if it is the right server"
	case errors.As(err, &alert):
		hint = "the server ended the TLS handshake: look at the client certificate of the kubeconfig"
	case errors.As(err, &lookup), utilnet.IsConnectionRefused(err):
		hint = "does the server that the kubeconfig names run, and is it the one that is meant? (--context chooses another)"
	default:
		return err
	}
	return &wayError{err, hint}
}
