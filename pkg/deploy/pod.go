package deploy

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
)

// DefaultAddress is where a pod serves health and metrics that was told no other address.
const DefaultAddress = ":8080"

// PortOf is the port of an address that the kubelet can reach.
func PortOf(address string) (int, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, fmt.Errorf("%q is no address: write :PORT", address)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return 0, fmt.Errorf("%q cannot be reached from outside of the pod, and so its probes would fail: write :%s", address, port)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 1 || number > 65535 {
		return 0, fmt.Errorf("%q has no port that probes could ask: write :8080", address)
	}
	return number, nil
}

// releaseImage is where releases are.
const releaseImage = "ghcr.io/lynqctl/lynqctl"

// ImageOf is the image of a release: another one may have other flags, and need other
// rights.
func ImageOf(version string) (string, error) {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[a-z]+(\.\d+)*)?$`).MatchString(version) {
		return "", fmt.Errorf("this lynqctl (%s) is no release, of which there were an image: name one with --image", version)
	}
	return releaseImage + ":" + strings.TrimPrefix(version, "v"), nil
}
