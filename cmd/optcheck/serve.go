package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"optcheck/audit/store"
	"optcheck/event"
	"optcheck/known"
	"optcheck/report/serve"
)

// serveFlags are the flags of the serve command.
type serveFlags struct {
	addr   string
	hosts  []string
	remote bool
	every  time.Duration
	editor bool
	sel    selection
	tables tableFlags
}

func newServeCmd(env *environment) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [FILE…]",
		Short: "Show results in a browser, also while they come, and try tests and programs there",
		Long: `Answer a browser with the pages of optcheck report --html, made on demand: filters,
lists and comparisons of releases also work without JavaScript, and there is no
limit to the number of cells but memory. FILE is a store, which is followed while
audits write to it, or are event streams, which are read once and shown as one whole
(see optcheck report).

` + selectionHelp + `

On the page "Try it" a litmus test, PTX or CUDA C++ can be typed, or picked from
examples, and compiled by the compilers of this machine. It shows the machine code
beside the source, the verdict and executions. A memory model can be asked about a test
there, too. A link can hold the text. Without FILE there is only this page. It is there
on loopback addresses only; --editor=false leaves it out.

It only reads. It listens on the loopback address unless --remote is given, and
answers only requests that call it by the address they came to, by localhost, or
by a name of --host. There is no password: whoever reaches the address may read.

The same as JSON:

  /api/summary?FILTER             counts by class, by place and by value of the filter
  /api/cells?FILTER               cells; offset= and limit= (at most 1000) choose a part
  /api/findings?FILTER            findings, the worst first; likewise
  /api/findings/ID                one, with its verdict and where it occurs
  /api/changes?left=A&right=B     what differs between two releases
  /api/version                    a number that grows with the results

FILTER is class=, rule=, release=, target=, level=, layout=, preset= (each as often
as wanted), race= (race-free, race-unknown or data-race: findings by what the language says
of the test itself), known=known or known=new, and q=words.`,
		Example: `  optcheck serve
  optcheck serve campaign.db
  optcheck serve cuda-11.8.jsonl cuda-12.4.jsonl --addr 127.0.0.1:0
  optcheck serve campaign.db --addr 0.0.0.0:7777 --remote --host gpubox.example.org
  curl 'http://localhost:7777/api/cells?class=miscompiled&target=sm_90'`,
		RunE: func(cmd *cobra.Command, args []string) error { return runServe(cmd.Context(), env, &f, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.addr, "addr", "127.0.0.1:7777", "where to listen; port 0 is any free one")
	fl.BoolVar(&f.remote, "remote", false, "listen on an address that other machines reach: whoever reaches it may read")
	fl.StringSliceVar(&f.hosts, "host", nil, "further names that requests may call this server by")
	fl.BoolVar(&f.editor, "editor", true, "a page to try tests and programs, on loopback addresses")
	fl.DurationVar(&f.every, "refresh", 2*time.Second, "how often to look whether a store has grown")
	selectFlags(cmd, &f.sel)
	fl.StringVar(&f.tables.deps, "deps", "", "also a page of the dependencies that survive, from this file (optcheck deps --json)")
	fl.StringVar(&f.tables.mapping, "mapping", "", "also a page of mapping tables, from this file (optcheck mapping --json)")
	knownFlags(cmd)
	return cmd
}

// listen opens the address, if it is a loopback one or the user wants others.
func (f *serveFlags) listen(ctx context.Context) (net.Listener, error) {
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return nil, fmt.Errorf("--addr %q: want HOST:PORT, such as 127.0.0.1:7777", f.addr)
	}
	if !f.remote {
		if host == "localhost" {
			host = "127.0.0.1"
		}
		if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
			return nil, fmt.Errorf("--addr %s may be reached by other machines; --remote says that this is wanted", f.addr)
		}
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", f.addr)
}

func runServe(ctx context.Context, env *environment, f *serveFlags, files []string) (err error) {
	if err := f.sel.check(); err != nil {
		return err
	}
	if f.every < 100*time.Millisecond {
		return fmt.Errorf("--refresh %v: at least 100ms", f.every)
	}
	list, _, err := knownList(env)
	if err != nil {
		return err
	}
	extra, err := f.tables.pages()
	if err != nil {
		return err
	}
	l, err := f.listen(ctx) // first: reading may take long
	if err != nil {
		return err
	}
	defer l.Close()
	o := serve.Options{Finding: findingHooks(list), Extra: extra, Hosts: f.hosts, Every: f.every,
		Foot: "Served by optcheck " + version() + ".", Log: log.New(env.stderr, "optcheck: ", 0)}
	if len(files) > 0 {
		src, closeSource, err := f.source(ctx, env, files, list)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeSource()) }()
		o.Source = src
	}
	if f.editor && loopback(l.Addr()) {
		if o.Bench, err = newWorkbench(ctx, env, list, o.Source == nil); err != nil {
			return err
		}
	}
	if o.Source == nil && o.Bench == nil {
		return errors.New("nothing to serve: name a store or event streams; tests can be tried on a loopback address only, without --editor=false")
	}
	s, err := serve.New(ctx, o)
	if err != nil {
		return err
	}
	env.tell("http://%s/ (Ctrl-C ends)", l.Addr())
	return s.Serve(ctx, l)
}

// loopback reports whether only this machine reaches an address.
func loopback(a net.Addr) bool {
	at, err := netip.ParseAddrPort(a.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// source opens what is to be served.
func (f *serveFlags) source(ctx context.Context, env *environment, files []string, list *known.List) (serve.Source, func() error, error) {
	nothing := func() error { return nil }
	file, err := storeAmong(files)
	if err != nil {
		return nil, nil, err
	}
	if file == "" {
		set, err := readSet(env, files, &f.sel, list)
		return &setSource{set}, nothing, err
	}
	s, err := storeAt(ctx, file, store.Read)
	if err != nil {
		return nil, nil, err
	}
	return &chosen{&storeSource{s: s, view: store.View{Setting: f.sel.setting}, list: list}, &f.sel}, s.Close, nil
}

// setSource is a set that does not change.
type setSource struct{ set *event.Set }

// Next returns the set once.
func (s *setSource) Next(context.Context) (*event.Set, error) {
	set := s.set
	s.set = nil
	return set, nil
}

// storeSource follows a store.
type storeSource struct {
	s    *store.Store
	view store.View
	list *known.List
	live *store.Live
}

// Next returns the set if the store has changed.
func (s *storeSource) Next(ctx context.Context) (*event.Set, error) {
	if s.live == nil {
		live, err := s.s.Follow(ctx, s.view)
		if err != nil {
			return nil, err
		}
		s.live = live
		return s.set(), nil
	}
	before, problems, stats, runs := s.live.Seq, len(s.live.Problems), s.live.Stats, len(s.live.Histograms)
	_, reloaded, err := s.live.Refresh(ctx)
	if err != nil {
		return nil, err
	}
	if !reloaded && before == s.live.Seq && problems == len(s.live.Problems) && stats == s.live.Stats && runs == len(s.live.Histograms) {
		return nil, nil
	}
	return s.set(), nil
}

// set is what the store holds now, with known findings marked: the store does
// not keep what a list says.
func (s *storeSource) set() *event.Set { return s.list.MarkSet(s.live.Set) }
