// Package apitest gives tests a real API of rows: an HTTPS server that calls itself
// crm.example.com and answers with files of a folder, and a proxy by which programs
// find it.
//
// A folder and a token flow in; answers flow out, each with an ETag. Both listen on
// loopback only, and end with the test.
package apitest
