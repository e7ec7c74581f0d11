package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// applicationID marks the files ("optc").
const applicationID = 0x6f707463

// migrations bring a database from version i to i+1. They are never changed,
// only added to.
var migrations = []string{`
-- epoch counts the changes that took something away: what a reader or a writer
-- remembers of row numbers holds as long as it stays the same.
CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES('epoch', 0);

-- setting is what decides a cell beside its test and its place.
CREATE TABLE setting(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, data TEXT NOT NULL);

CREATE TABLE run(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, setting INTEGER NOT NULL, config TEXT NOT NULL,
  started INTEGER NOT NULL, seen INTEGER NOT NULL, cells INTEGER NOT NULL, events INTEGER NOT NULL);

CREATE TABLE toolchain(id INTEGER PRIMARY KEY, name TEXT NOT NULL, build TEXT NOT NULL, max_ptx TEXT NOT NULL,
  UNIQUE(name, build, max_ptx));

-- about is what the event of the test says beside hash, name and text.
CREATE TABLE test(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, about TEXT NOT NULL, text BLOB NOT NULL,
  UNIQUE(hash, name));

-- col is a column of the matrix.
CREATE TABLE col(id INTEGER PRIMARY KEY, setting INTEGER NOT NULL, toolchain INTEGER NOT NULL, target TEXT NOT NULL,
  level TEXT NOT NULL, layout TEXT NOT NULL, UNIQUE(setting, toolchain, target, level, layout));

-- body is a result without the hash of its code.
CREATE TABLE body(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, class TEXT NOT NULL, data BLOB NOT NULL);

-- code is the hash of the machine code: a number if it has 16 hexadecimal digits.
CREATE TABLE cell(seq INTEGER PRIMARY KEY, col INTEGER NOT NULL, test INTEGER NOT NULL, body INTEGER NOT NULL, code,
  run INTEGER NOT NULL, UNIQUE(col, test));

CREATE TABLE listing(id INTEGER PRIMARY KEY, code TEXT NOT NULL, hash BLOB NOT NULL, data BLOB NOT NULL, UNIQUE(code, hash));

-- event holds what else a run told, in its order: n is the number of the event
-- among them, pos the number of the run's cells before it. Tests with
-- neighbouring numbers are one row.
CREATE TABLE event(run INTEGER NOT NULL, n INTEGER NOT NULL, pos INTEGER NOT NULL, kind INTEGER NOT NULL,
  ref INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB, PRIMARY KEY(run, n)) WITHOUT ROWID;

CREATE TABLE artefact(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL,
  data BLOB NOT NULL, UNIQUE(hash, kind));
-- machine names the machine code of a cell's thread, source what it was compiled from.
CREATE TABLE machine(code TEXT NOT NULL, thread INTEGER NOT NULL, artefact INTEGER NOT NULL, PRIMARY KEY(code, thread)) WITHOUT ROWID;
CREATE TABLE source(test INTEGER NOT NULL, col INTEGER NOT NULL, thread INTEGER NOT NULL, artefact INTEGER NOT NULL,
  PRIMARY KEY(test, col, thread)) WITHOUT ROWID;
-- label names other artefacts.
CREATE TABLE label(name TEXT PRIMARY KEY, artefact INTEGER NOT NULL) WITHOUT ROWID;
`, `
-- Rows get checksums. Tables are made anew, so that a program that knows nothing of
-- checksums cannot add to them.
CREATE TABLE run2(id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, setting INTEGER NOT NULL, config TEXT NOT NULL,
  started INTEGER NOT NULL, seen INTEGER NOT NULL, cells INTEGER NOT NULL, events INTEGER NOT NULL, sum INTEGER NOT NULL);
INSERT INTO run2(id, uid, setting, config, started, seen, cells, events, sum) SELECT id, uid, setting, config, started, seen, cells, events, optcheck_sum('run', uid, setting, config, started, seen, cells, events) FROM run ORDER BY id;
DROP TABLE run;
ALTER TABLE run2 RENAME TO run;

CREATE TABLE toolchain2(id INTEGER PRIMARY KEY, name TEXT NOT NULL, build TEXT NOT NULL, max_ptx TEXT NOT NULL, sum INTEGER NOT NULL,
  UNIQUE(name, build, max_ptx));
INSERT INTO toolchain2(id, name, build, max_ptx, sum) SELECT id, name, build, max_ptx, optcheck_sum('toolchain', name, build, max_ptx) FROM toolchain ORDER BY id;
DROP TABLE toolchain;
ALTER TABLE toolchain2 RENAME TO toolchain;

CREATE TABLE test2(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, about TEXT NOT NULL, text BLOB NOT NULL, sum INTEGER NOT NULL,
  UNIQUE(hash, name));
INSERT INTO test2(id, hash, name, about, text, sum) SELECT id, hash, name, about, text, optcheck_sum('test', hash, name, about, text) FROM test ORDER BY id;
DROP TABLE test;
ALTER TABLE test2 RENAME TO test;

CREATE TABLE col2(id INTEGER PRIMARY KEY, setting INTEGER NOT NULL, toolchain INTEGER NOT NULL, target TEXT NOT NULL,
  level TEXT NOT NULL, layout TEXT NOT NULL, sum INTEGER NOT NULL, UNIQUE(setting, toolchain, target, level, layout));
INSERT INTO col2(id, setting, toolchain, target, level, layout, sum) SELECT id, setting, toolchain, target, level, layout, optcheck_sum('col', setting, toolchain, target, level, layout) FROM col ORDER BY id;
DROP TABLE col;
ALTER TABLE col2 RENAME TO col;

CREATE TABLE cell2(seq INTEGER PRIMARY KEY, col INTEGER NOT NULL, test INTEGER NOT NULL, body INTEGER NOT NULL, code,
  run INTEGER NOT NULL, sum INTEGER NOT NULL, UNIQUE(col, test));
INSERT INTO cell2(seq, col, test, body, code, run, sum) SELECT seq, col, test, body, code, run, optcheck_sum('cell', col, test, body, code, run) FROM cell ORDER BY seq;
DROP TABLE cell;
ALTER TABLE cell2 RENAME TO cell;

CREATE TABLE event2(run INTEGER NOT NULL, n INTEGER NOT NULL, pos INTEGER NOT NULL, kind INTEGER NOT NULL,
  ref INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB, sum INTEGER NOT NULL, PRIMARY KEY(run, n)) WITHOUT ROWID;
INSERT INTO event2(run, n, pos, kind, ref, count, data, sum) SELECT run, n, pos, kind, ref, count, data, optcheck_sum('event', run, n, pos, kind, ref, count, data) FROM event ORDER BY run, n;
DROP TABLE event;
ALTER TABLE event2 RENAME TO event;

CREATE TABLE artefact2(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL,
  data BLOB NOT NULL, sum INTEGER NOT NULL, UNIQUE(hash, kind));
INSERT INTO artefact2(id, kind, hash, size, data, sum) SELECT id, kind, hash, size, data, optcheck_sum('artefact', kind, hash, size) FROM artefact ORDER BY id;
DROP TABLE artefact;
ALTER TABLE artefact2 RENAME TO artefact;

CREATE TABLE machine2(code TEXT NOT NULL, thread INTEGER NOT NULL, artefact INTEGER NOT NULL, sum INTEGER NOT NULL,
  PRIMARY KEY(code, thread)) WITHOUT ROWID;
INSERT INTO machine2(code, thread, artefact, sum) SELECT code, thread, artefact, optcheck_sum('machine', code, thread, artefact) FROM machine ORDER BY code, thread;
DROP TABLE machine;
ALTER TABLE machine2 RENAME TO machine;

CREATE TABLE source2(test INTEGER NOT NULL, col INTEGER NOT NULL, thread INTEGER NOT NULL, artefact INTEGER NOT NULL,
  sum INTEGER NOT NULL, PRIMARY KEY(test, col, thread)) WITHOUT ROWID;
INSERT INTO source2(test, col, thread, artefact, sum) SELECT test, col, thread, artefact, optcheck_sum('source', test, col, thread, artefact) FROM source ORDER BY test, col, thread;
DROP TABLE source;
ALTER TABLE source2 RENAME TO source;

CREATE TABLE label2(name TEXT PRIMARY KEY, artefact INTEGER NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO label2(name, artefact, sum) SELECT name, artefact, optcheck_sum('label', name, artefact) FROM label ORDER BY name;
DROP TABLE label;
ALTER TABLE label2 RENAME TO label;
`}

// Version is the version of the schema.
var version = len(migrations)

// migrate brings the database from one version to another inside a transaction.
func migrate(ctx context.Context, c *sql.Conn, from, to int) error {
	for v := from; v < to; v++ {
		if _, err := c.ExecContext(ctx, migrations[v]); err != nil {
			return err
		}
	}
	_, err := c.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", applicationID, to))
	return err
}

// object is an entry of a database's schema.
type object struct{ kind, name, sql string }

func objects(ctx context.Context, c *sql.Conn) ([]object, error) {
	rows, err := c.QueryContext(ctx, "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name LIMIT 1000")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []object
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.sql); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, rows.Err()
}

// sameSchema checks that a database has exactly the tables of a version: no trigger
// or view of somebody else runs in our name.
func sameSchema(ctx context.Context, c *sql.Conn, v int) error {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	m, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := migrate(ctx, m, 0, v); err != nil {
		return err
	}
	want, err := objects(ctx, m)
	if err != nil {
		return err
	}
	got, err := objects(ctx, c)
	if err != nil {
		return err
	}
	has := map[object]bool{}
	for _, o := range got {
		has[o] = true
	}
	for _, o := range want {
		if !has[o] {
			return fmt.Errorf("%w: the %s %s is not as this version makes it", ErrDamaged, o.kind, o.name)
		}
		delete(has, o)
	}
	for o := range has {
		return fmt.Errorf("%w: the %s %s does not belong there", ErrDamaged, o.kind, o.name)
	}
	return nil
}

// Errors of stores, to be told apart by errors.Is.
var (
	ErrNoStore  = errors.New("no store of optcheck")
	ErrNewer    = errors.New("the store is of a newer version of optcheck")
	ErrOlder    = errors.New("the store is of an older version of optcheck")
	ErrDamaged  = errors.New("the store is damaged")
	ErrFull     = errors.New("no space left for the store; what was stored before is intact")
	ErrReadOnly = errors.New("the store cannot be written")
	ErrBusy     = errors.New("the store is in use by another process")
	ErrConflict = errors.New("conflicting results")
)

// errDamaged is an ErrDamaged with details.
func errDamaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}
