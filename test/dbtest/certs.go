package dbtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// certificates are files: two authorities, and of the first one a server's certificate for
// localhost, and a client's for a user. The expired certificate is like the client's.
type certificates struct{ ca, otherCA, cert, key, clientCert, clientKey, expiredCert, expiredKey string }

// certUser is the user whose certificate the servers want.
const certUser = "certuser"

func makeCertificates(dir string) (certificates, error) {
	files := certificates{
		ca: filepath.Join(dir, "ca.pem"), otherCA: filepath.Join(dir, "other-ca.pem"),
		cert: filepath.Join(dir, "server.pem"), key: filepath.Join(dir, "server.key"),
	}
	authority, authorityKey, err := makeAuthority(files.ca, "test authority")
	if err != nil {
		return files, err
	}
	if _, _, err := makeAuthority(files.otherCA, "other authority"); err != nil {
		return files, err
	}
	server := certificate("localhost", 2)
	server.DNSNames = []string{"localhost"}
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if err := sign(server, authority, authorityKey, files.cert, files.key); err != nil {
		return files, err
	}
	client := certificate(certUser, 3)
	client.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	files.clientCert, files.clientKey = filepath.Join(dir, "client.pem"), filepath.Join(dir, "client.key")
	if err := sign(client, authority, authorityKey, files.clientCert, files.clientKey); err != nil {
		return files, err
	}
	client.NotAfter = client.NotBefore.Add(time.Minute)
	files.expiredCert, files.expiredKey = filepath.Join(dir, "expired.pem"), filepath.Join(dir, "expired.key")
	return files, sign(client, authority, authorityKey, files.expiredCert, files.expiredKey)
}

// sign writes a certificate and its key to files.
func sign(template, authority *x509.Certificate, authorityKey *ecdsa.PrivateKey, certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(keyFile, "PRIVATE KEY", secret); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", signed)
}

// makeAuthority writes a self-signed certificate to path.
func makeAuthority(path, name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := certificate(name, 1)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	return template, key, writePEM(path, "CERTIFICATE", signed)
}

func certificate(name string, serial int64) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
	}
}

func writePEM(path, kind string, content []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600)
}
