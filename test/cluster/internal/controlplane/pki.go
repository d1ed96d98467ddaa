package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"time"
)

// certificateLife is longer than any test or trial.
const certificateLife = 30 * 24 * time.Hour

// pki has the API server's certificates and keys, and its authority's certificate, as PEM.
type pki struct {
	caCert, serverCert, serverKey, serviceAccountKey []byte
}

// newPKI makes an authority that signs one certificate, and forgets the authority's key.
func newPKI(now time.Time) (pki, error) {
	caKey, caErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	serverKey, serverErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	accountKey, accountErr := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err := errors.Join(caErr, serverErr, accountErr); err != nil {
		return pki{}, err
	}
	ca := newTemplate(1, "lynqctl test cluster", now)
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature

	server := newTemplate(2, "kube-apiserver", now)
	server.KeyUsage = x509.KeyUsageDigitalSignature
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.DNSNames = []string{"localhost", "kubernetes.default.svc"}
	server.IPAddresses = []net.IP{net.ParseIP(loopback)}

	caDER, caErr := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	serverDER, serverErr := x509.CreateCertificate(rand.Reader, server, ca, serverKey.Public(), caKey)
	serverPEM, serverKeyErr := keyPEM(serverKey)
	accountPEM, accountErr := keyPEM(accountKey)
	return pki{
		caCert:            certPEM(caDER),
		serverCert:        certPEM(serverDER),
		serverKey:         serverPEM,
		serviceAccountKey: accountPEM,
	}, errors.Join(caErr, serverErr, serverKeyErr, accountErr)
}

func newTemplate(serial int64, name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // clocks differ
		NotAfter:     now.Add(certificateLife),
	}
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}
