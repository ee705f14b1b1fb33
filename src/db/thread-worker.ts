/**
 * A worker thread with a read connection, for statements that would block the main thread for too long: searches, and
 * files of derived data.
 */
import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SQLInputValue, StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { applySettings, connectionSettings } from './sqlite-connection.ts';
import type { ThreadOptions, ThreadReply, ThreadRequest, ThreadRow, ThreadStatement } from './thread-protocol.ts';

const maxCachedStatements = 100;

const options = workerData as ThreadOptions;
const port = parentPort!;
const database = new DatabaseSync(options.file, { readOnly: options.readOnly, timeout: 5_000 });
const statements = new Map<string, StatementSync>();

lowerPriority(options.niceness ?? 0);
applySettings(database, connectionSettings);
for (const [name, file] of Object.entries(options.attached ?? {}))
  database.exec(`ATTACH '${file.replaceAll("'", "''")}' AS ${name}`);
for (const sql of options.setUp) database.exec(sql);

/** Linux schedules threads individually, by thread id. On other systems all threads have equal priority. */
function lowerPriority(niceness: number): void {
  if (niceness === 0) return;
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.min(19, getPriority(thread) + niceness));
  } catch {
    // Without the priority, results are the same and pages are slightly slower.
  }
}

function prepare(sql: string): StatementSync {
  let statement = statements.get(sql);
  if (statement === undefined) {
    statement = database.prepare(sql);
    statement.setAllowUnknownNamedParameters(true);
    statements.set(sql, statement);
    if (statements.size > maxCachedStatements) statements.delete(statements.keys().next().value!);
  }
  return statement;
}

function run({ sql, parameters }: ThreadStatement): ThreadRow[] {
  const statement = prepare(sql);
  if (Array.isArray(parameters)) return statement.all(...(parameters as SQLInputValue[]));
  return statement.all(parameters as Record<string, SQLInputValue>);
}

function runAll(all: readonly ThreadStatement[]): ThreadRow[][] {
  if (all.length === 1) return [run(all[0]!)];
  database.exec(options.readOnly ? 'BEGIN' : 'BEGIN IMMEDIATE');
  try {
    const rows = all.map(run);
    database.exec('COMMIT');
    return rows;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function handle({ id, statements }: ThreadRequest): ThreadReply {
  try {
    return { id, rows: runAll(statements) };
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number };
    return { id, error: { message, errcode: errcode ?? 0 } };
  }
}

/** Transfers byte arrays of a reply to the main thread: only SQLite's copy of them was here. */
function bytesIn(reply: ThreadReply): ArrayBuffer[] {
  const found: ArrayBuffer[] = [];
  if (!('rows' in reply)) return found;
  for (const rows of reply.rows) {
    for (const row of rows) {
      for (const name in row) {
        const value = row[name];
        if (value instanceof Uint8Array) found.push(value.buffer as ArrayBuffer);
      }
    }
  }
  return found;
}

port.on('message', (request: ThreadRequest) => {
  const reply = handle(request);
  port.postMessage(reply, bytesIn(reply));
});
// No request has the number 0, which reports that the thread has started.
port.postMessage({ id: 0, rows: [] } satisfies ThreadReply);
