// Package apitest gives tests a real API of rows. It starts an HTTPS server that calls
// itself crm.example.com, and a proxy by which programs find it.
//
// A folder and a token flow in. The server answers with the files of the folder, each with
// an ETag. Server and proxy listen on loopback only, and end with the test.
package apitest
