package watchcmd

import (
	"fmt"
	"net"
	"strconv"
)

// podAddress is the default address for health and metrics in a pod.
const podAddress = ":8080"

// portOf returns the port of an address. It returns an error if the kubelet can't reach the
// address.
func portOf(address string) (int, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, fmt.Errorf("%q is no address: write :PORT", address)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return 0, fmt.Errorf("%q can't be reached from outside of the pod, and so its probes would fail: write :%s", address, port)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number < 1 || number > 65535 {
		return 0, fmt.Errorf("%q has no port that probes could ask: write :8080", address)
	}
	return number, nil
}
