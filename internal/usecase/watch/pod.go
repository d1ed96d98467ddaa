package watch

import (
	"fmt"
	"net"
	"strconv"
)

// podAddress is where a pod serves health and metrics that was told no other address.
const podAddress = ":8080"

// portOf is the port of an address that the kubelet can reach.
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
