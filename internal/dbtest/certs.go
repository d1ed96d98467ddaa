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

// certificates are files: two authorities, and a server's certificate for localhost from
// the first one.
type certificates struct{ ca, otherCA, cert, key string }

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
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return files, err
	}
	template := certificate("localhost", 2)
	template.DNSNames = []string{"localhost"}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	signed, err := x509.CreateCertificate(rand.Reader, template, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return files, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return files, err
	}
	if err := writePEM(files.key, "PRIVATE KEY", secret); err != nil {
		return files, err
	}
	return files, writePEM(files.cert, "CERTIFICATE", signed)
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
