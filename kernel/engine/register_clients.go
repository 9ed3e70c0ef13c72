//go:build !js

package engine

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/rpc"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"warpbook/kernel/engine/stop"
	"warpbook/kernel/leaf/processes"
)

// registerClients makes an interrupt end the calls that wait for another program: requests,
// connections that begin, look-ups of names, and commands with a context.
func (e *host) registerClients() {
	dial := func(d *net.Dialer, network, address string) (net.Conn, error) {
		return d.DialContext(e.stop.Context(), network, address)
	}
	for name, f := range map[string]any{
		"net.Dial": func(network, address string) (net.Conn, error) { return dial(&net.Dialer{}, network, address) },
		"net.DialTimeout": func(network, address string, timeout time.Duration) (net.Conn, error) {
			return dial(&net.Dialer{Timeout: timeout}, network, address)
		},
		"(*net.Dialer).Dial": dial,
		"crypto/tls.Dial":    e.dialTLS,
		"net.LookupAddr":     func(addr string) ([]string, error) { return net.DefaultResolver.LookupAddr(e.stop.Context(), addr) },
		"net.LookupCNAME":    func(host string) (string, error) { return net.DefaultResolver.LookupCNAME(e.stop.Context(), host) },
		"net.LookupHost":     func(host string) ([]string, error) { return net.DefaultResolver.LookupHost(e.stop.Context(), host) },
		"net.LookupIP":       e.lookupIP,
		"net.LookupMX":       func(name string) ([]*net.MX, error) { return net.DefaultResolver.LookupMX(e.stop.Context(), name) },
		"net.LookupNS":       func(name string) ([]*net.NS, error) { return net.DefaultResolver.LookupNS(e.stop.Context(), name) },
		"net.LookupTXT":      func(name string) ([]string, error) { return net.DefaultResolver.LookupTXT(e.stop.Context(), name) },

		"(*net/http.Client).Do":           e.do,
		"(*net/http.Transport).RoundTrip": e.roundTrip,
		"net/http.Get":                    func(url string) (*http.Response, error) { return e.request(http.DefaultClient, "GET", url, "", nil) },
		"net/http.Head":                   func(url string) (*http.Response, error) { return e.request(http.DefaultClient, "HEAD", url, "", nil) },
		"net/http.Post": func(url, kind string, body io.Reader) (*http.Response, error) {
			return e.post(http.DefaultClient, url, kind, body)
		},
		"net/http.PostForm": func(url string, data url.Values) (*http.Response, error) {
			return e.postForm(http.DefaultClient, url, data)
		},
		"(*net/http.Client).Get":      func(c *http.Client, url string) (*http.Response, error) { return e.request(c, "GET", url, "", nil) },
		"(*net/http.Client).Head":     func(c *http.Client, url string) (*http.Response, error) { return e.request(c, "HEAD", url, "", nil) },
		"(*net/http.Client).Post":     e.post,
		"(*net/http.Client).PostForm": e.postForm,

		"(*net/rpc.Client).Call": e.callRPC,
		"os/exec.CommandContext": e.commandContext,
	} {
		e.external(name, f)
	}
}

func (e *host) dialTLS(network, address string, c *tls.Config) (*tls.Conn, error) {
	conn, err := (&tls.Dialer{Config: c}).DialContext(e.stop.Context(), network, address)
	if err != nil {
		return nil, err
	}
	return conn.(*tls.Conn), nil
}

func (e *host) lookupIP(host string) (list []net.IP, err error) {
	addrs, err := net.DefaultResolver.LookupIPAddr(e.stop.Context(), host)
	for _, a := range addrs {
		list = append(list, a.IP)
	}
	return list, err
}

// request is a method of a client that sends a request.
func (e *host) request(c *http.Client, method, url, kind string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequest(method, url, body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return e.do(c, r)
}

func (e *host) post(c *http.Client, url, kind string, body io.Reader) (*http.Response, error) {
	if body != nil {
		body = e.reader(body)
	}
	return e.request(c, "POST", url, kind, body)
}

func (e *host) postForm(c *http.Client, url string, data url.Values) (*http.Response, error) {
	return e.request(c, "POST", url, "application/x-www-form-urlencoded", strings.NewReader(data.Encode()))
}

// do is c.Do.
func (e *host) do(c *http.Client, r *http.Request) (*http.Response, error) {
	return e.stoppable(r, c.Do)
}

func (e *host) roundTrip(t *http.Transport, r *http.Request) (*http.Response, error) {
	return e.stoppable(r, t.RoundTrip)
}

// stoppable sends a request that a stop ends until the answer comes. The answer stays: reads
// of its body end at a stop without a loss of data.
func (e *host) stoppable(r *http.Request, send func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	//lint:ignore SA1019 cells may set it
	if r == nil || r.Cancel != nil {
		return send(r)
	}
	stopped, answered := make(chan struct{}), make(chan struct{})
	defer close(answered)
	kill := e.stop.Channel()
	go func() {
		select {
		case <-kill:
			close(stopped)
		case <-answered:
		}
	}()
	sent := until(r, stopped)
	answer, err := send(sent)
	if answer == nil {
		return nil, err
	}
	if answer.Request == sent {
		answer.Request = r
	}
	if _, writes := answer.Body.(io.Writer); !writes && answer.Body != http.NoBody {
		answer.Body = e.body(answer.Body)
	}
	return answer, err
}

// until is a request that ends when a channel closes.
func until(r *http.Request, stopped <-chan struct{}) *http.Request {
	if r.Context().Done() == nil {
		return r.WithContext(stop.Until(r.Context(), stopped))
	}
	sent := *r
	//lint:ignore SA1019 a context would have to end when the answer has been read
	sent.Cancel = stopped
	return &sent
}

// callRPC is c.Call.
func (e *host) callRPC(c *rpc.Client, method string, args, reply any) error {
	call := c.Go(method, args, reply, make(chan *rpc.Call, 1))
	select {
	case <-call.Done:
		return call.Error
	case <-e.stop.Channel():
		e.stop.Killed()
		return nil
	}
}

// commandContext is exec.CommandContext. The command ends with its context or at a stop.
func (e *host) commandContext(ctx context.Context, name string, arg ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, arg...)
	if ctx.Done() == nil {
		c = exec.CommandContext(e.stop.Context(), name, arg...)
		c.Cancel = func() error { return processes.KillTree(c.Process.Pid) }
	}
	return c
}
