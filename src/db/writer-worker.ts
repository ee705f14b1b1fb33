/** The thread that owns the write connection. An fsync blocks its thread; here it blocks only the next write. */
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { applySettings, connectionSettings } from './sqlite-connection.ts';
import type { Setting } from './sqlite-connection.ts';
import type { WriterOptions, WriterReply, WriterRequest } from './writer-protocol.ts';

const maxCachedStatements = 300;

const options = workerData as WriterOptions;
const port = parentPort!;
const database = new DatabaseSync(options.file, { timeout: options.busyTimeoutMs });
const statements = new Map<string, StatementSync>();

/** Settings of the file or of writing; a read-only connection needs none of them. */
const writerSettings: readonly Setting[] = [
  ['journal_mode', 'WAL', 'wal'],
  ['synchronous', 'FULL', 2],
  ['journal_size_limit', '67108864', 67108864],
  ['wal_autocheckpoint', '1000', 1000],
  // In KiB. A push to ten thousand followers changes three megabytes; pages that do not fit are written twice.
  ['cache_size', '-8192', -8192],
];

applySettings(database, writerSettings);
applySettings(database, connectionSettings);

function prepare(sql: string): StatementSync {
  let statement = statements.get(sql);
  if (statement === undefined) {
    statement = database.prepare(sql);
    statements.set(sql, statement);
    if (statements.size > maxCachedStatements) statements.delete(statements.keys().next().value!);
  }
  return statement;
}

function handle(request: WriterRequest): WriterReply {
  try {
    if (request.kind === 'close') {
      statements.clear();
      database.close();
      return { id: request.id, rows: [] };
    }
    const statement = prepare(request.sql);
    const parameters = request.parameters as never[];
    if (statement.columns().length > 0) return { id: request.id, rows: statement.all(...parameters) };
    const result = statement.run(...parameters);
    return { id: request.id, changes: Number(result.changes), lastInsertRowid: Number(result.lastInsertRowid) };
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number };
    return { id: request.id, error: { message, errcode: errcode ?? 0 } };
  }
}

port.on('message', (request: WriterRequest) => {
  port.postMessage(handle(request));
  if (request.kind === 'close') port.close();
});
port.postMessage({ id: 0, rows: [] } satisfies WriterReply);
