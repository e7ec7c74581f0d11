package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite" // also registers the driver
	lib "modernc.org/sqlite/lib"

	"optcheck/internal/input"
)

// Mode is the mode in which a store is opened.
type Mode int

// The modes.
const (
	Read   Mode = iota // the file must exist
	Write              // the file must exist
	Create             // the file is created if it does not exist
)

// Store is an open store. It is not safe for concurrent use; open it again instead, also in
// other processes.
type Store struct {
	path string
	db   *sql.DB
	c    *sql.Conn
	mode Mode
	made bool // by this Open: there was no file, or an empty one

	inTx  bool
	stmts map[string]*sql.Stmt
	busy  time.Duration // how long to wait for other writers
}

// Limits of values read from a file.
const (
	maxValue = 64 << 20 // bytes of one value
	maxBlob  = 64 << 20 // bytes of one blob, decompressed
)

// syncMode says how often SQLite waits for the disk: a power failure may lose the last
// transactions, but damages nothing. Tests wait less.
var syncMode = "NORMAL"

// busyLimit is how long a writer waits for others. An import is one transaction.
const busyLimit = 10 * time.Minute

// Open opens a store.
func Open(ctx context.Context, path string, mode Mode) (*Store, error) {
	s, err := open(ctx, path, mode)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, s.explain(err))
	}
	return s, nil
}

func open(ctx context.Context, path string, mode Mode) (s *Store, err error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && mode == Create:
	case err != nil:
		return nil, err
	case st.IsDir():
		return nil, errors.New("is a folder")
	case !st.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case st.Size() == 0 && mode != Create:
		return nil, fmt.Errorf("%w: the file is empty", ErrNoStore)
	}
	// SQLite reads and writes the files beside a database, wherever links lead.
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if st, err := os.Lstat(path + suffix); err == nil && !st.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file: remove it", path+suffix)
		}
	}
	s = &Store{path: path, mode: mode, made: err != nil || st.Size() == 0 && mode == Create, stmts: map[string]*sql.Stmt{}, busy: busyLimit}
	err = s.connect(ctx, "trusted_schema=OFF", "cell_size_check=ON", "temp_store=MEMORY", "cache_size=-32768", "synchronous="+syncMode)
	if err == nil {
		err = s.prepare(ctx)
	}
	if err != nil {
		if s.made {
			s.discard()
		}
		_ = s.close()
		return s, err
	}
	return s, nil
}

// connect opens the database without reading it.
func (s *Store) connect(ctx context.Context, pragmas ...string) error {
	abs, err := filepath.Abs(s.path)
	if err != nil {
		return err
	}
	q := url.Values{"_defensive": {"1"}, "_dqs": {"0"}, "_busy_timeout": {"2000"}, "_pragma": pragmas}
	switch s.mode {
	case Read:
		q.Set("mode", "ro")
		if _, err := os.Stat(abs + "-wal"); errors.Is(err, fs.ErrNotExist) && !writable(filepath.Dir(abs)) {
			q.Set("immutable", "1") // a log cannot be read without the files beside it
		}
	case Write:
		q.Set("mode", "rw")
	default:
		q.Set("mode", "rwc")
	}
	dsn := "file:" + (&url.URL{Path: abs}).EscapedPath() + "?" + q.Encode()
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return err
	}
	s.db = sql.OpenDB(connector)
	if s.c, err = s.db.Conn(ctx); err != nil {
		return err
	}
	_, err = sqlite.Limit(s.c, lib.SQLITE_LIMIT_LENGTH, maxValue)
	return err
}

// writable reports whether files can be created in a folder.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".optcheck-*")
	if err != nil {
		return false
	}
	f.Close()
	return os.Remove(f.Name()) == nil
}

// prepare checks that the database is a store, and makes it one if it is new.
func (s *Store) prepare(ctx context.Context) error {
	app, v, err := s.versions(ctx)
	if err != nil {
		return err
	}
	if app == 0 && v == 0 && s.mode == Create {
		if err := s.create(ctx); err != nil {
			return err
		}
		app, v = applicationID, version
	}
	switch {
	case app != applicationID:
		return fmt.Errorf("%w but another SQLite database", ErrNoStore)
	case v > version:
		return fmt.Errorf("%w: its schema is %d, this version knows up to %d", ErrNewer, v, version)
	case v < version:
		return fmt.Errorf("%w: its schema is %d, this version's %d; the program that wrote it can export it (optcheck store export)", ErrOlder,
			v, version)
	}
	if err := s.retry(ctx, func() error { return sameSchema(ctx, s.c) }); err != nil {
		return err
	}
	if s.mode == Read {
		return nil
	}
	return s.retry(ctx, func() error {
		// Only a transaction shows that a file cannot be written.
		_, err := s.c.ExecContext(ctx, "PRAGMA journal_mode=WAL; BEGIN IMMEDIATE; ROLLBACK")
		return err
	})
}

// versions reads the file's header. It reads both values in one transaction, since another
// process may create the store in between.
func (s *Store) versions(ctx context.Context) (app, v int, err error) {
	err = s.retry(ctx, func() error {
		if !s.inTx {
			if _, err := s.c.ExecContext(ctx, "BEGIN"); err != nil {
				return err
			}
			defer func() { _, _ = s.c.ExecContext(context.Background(), "ROLLBACK") }()
		}
		if err := s.c.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
			return err
		}
		return s.c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	})
	return app, v, err
}

// create creates the tables, in a transaction that checks again: another process may have been
// faster. The file is not yet in WAL mode, so that its header is right from the beginning.
func (s *Store) create(ctx context.Context) error {
	return s.update(ctx, func() error {
		app, _, err := s.versions(ctx)
		if err != nil || app == applicationID {
			return err
		}
		var n int
		if err := s.c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%w but another SQLite database", ErrNoStore)
		}
		return makeTables(ctx, s.c)
	})
}

// update runs f in a transaction that may write. Within another transaction it becomes part of
// that one.
func (s *Store) update(ctx context.Context, f func() error) error {
	if s.inTx {
		return f()
	}
	if s.mode == Read {
		return ErrReadOnly
	}
	err := s.retry(ctx, func() error {
		_, err := s.c.ExecContext(ctx, "BEGIN IMMEDIATE")
		return err
	})
	if err != nil {
		return err
	}
	s.inTx = true
	defer func() {
		s.inTx = false
		_, _ = s.c.ExecContext(context.Background(), "ROLLBACK") // of nothing, if all went well
	}()
	if err := f(); err != nil {
		return err
	}
	// Outside WAL mode, as when a store is created, it waits for readers.
	return s.retry(ctx, func() error {
		_, err := s.c.ExecContext(context.Background(), "COMMIT")
		return err
	})
}

// retry repeats f while another process's writing prevents it.
func (s *Store) retry(ctx context.Context, f func() error) error {
	begin := time.Now()
	for {
		err := f()
		if err == nil || !isBusy(err) || time.Since(begin) > s.busy {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// extended is SQLite's code of an error in full; code is its kind.
func extended(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

func code(err error) int { return extended(err) & 0xff }

func isBusy(err error) bool {
	c := code(err)
	return c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED
}

// explain translates an error of the database.
func (s *Store) explain(err error) error {
	what := map[int]error{lib.SQLITE_CORRUPT: ErrDamaged, lib.SQLITE_NOTADB: ErrNoStore, lib.SQLITE_FULL: ErrFull,
		lib.SQLITE_READONLY: ErrReadOnly, lib.SQLITE_CANTOPEN: ErrReadOnly, lib.SQLITE_BUSY: ErrBusy, lib.SQLITE_LOCKED: ErrBusy,
		lib.SQLITE_PERM: ErrReadOnly}[code(err)]
	if extended(err) == lib.SQLITE_IOERR_SHMSIZE { // of the file of shared memory
		what = ErrFull
	}
	switch {
	case what == nil:
		return err
	case what == ErrReadOnly && s != nil && s.mode == Read:
		return fmt.Errorf("cannot be read: %w", err)
	}
	return fmt.Errorf("%w (%w)", what, err)
}

// fail adds the store's name to an error.
func (s *Store) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store %s: %w", s.path, s.explain(err))
}

// stmt prepares a statement once.
func (s *Store) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if st := s.stmts[query]; st != nil {
		return st, nil
	}
	st, err := s.c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = st
	return st, nil
}

// exec runs a prepared statement.
func (s *Store) exec(query string, args ...any) (sql.Result, error) {
	st, err := s.stmt(context.Background(), query)
	if err != nil {
		return nil, err
	}
	return st.Exec(args...)
}

// row runs a prepared statement that returns at most one row; ok reports whether it did.
func (s *Store) row(query string, args []any, dest ...any) (ok bool, err error) {
	st, err := s.stmt(context.Background(), query)
	if err != nil {
		return false, err
	}
	err = st.QueryRow(args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// each runs a query and calls f for every row.
func (s *Store) each(ctx context.Context, query string, args []any, f func(scan func(...any) error) error) error {
	rows, err := s.c.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Path returns the name of the store's file.
func (s *Store) Path() string { return s.path }

// Close closes the store. The last process to close it leaves a single file.
func (s *Store) Close() error { return s.fail(s.close()) }

func (s *Store) close() error {
	var errs []error
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	s.stmts = map[string]*sql.Stmt{}
	if s.c != nil {
		errs = append(errs, s.c.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	s.c, s.db = nil, nil
	return errors.Join(errs...)
}

// End closes the store after work that ended with err, and returns that with what else went
// wrong. A store that was made for work that failed, and has no results, is removed.
func (s *Store) End(err error) error {
	if err != nil && s.made {
		s.discard()
	}
	return errors.Join(err, s.Close())
}

// discard removes the file of a store without results, unless somebody else has it open.
func (s *Store) discard() {
	ctx := context.Background()
	// In this mode a transaction shows that nobody else has the file, and where the disk is full there
	// is no need for a file of shared memory, nor for a journal of what has no content.
	pragmas := []string{"locking_mode=EXCLUSIVE"}
	if st, err := os.Stat(s.path); err == nil && st.Size() == 0 {
		pragmas = append(pragmas, "journal_mode=MEMORY")
	}
	if s.close() != nil || s.connect(ctx, pragmas...) != nil {
		return
	}
	if _, err := s.c.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		return
	}
	if st, err := os.Stat(s.path); err != nil {
		return
	} else if st.Size() > 0 {
		s.inTx = true
		defer func() { s.inTx = false }()
		info, err := s.Info(ctx)
		if err != nil || info.Cells+info.Histograms+info.Artefacts > 0 {
			return
		}
	}
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		os.Remove(s.path + suffix)
	}
}

// magic begins every SQLite file.
var magic = []byte("SQLite format 3\x00")

// Is reports whether a file is an SQLite database, by its first bytes.
func Is(path string) bool {
	f, err := input.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, magic)
}
