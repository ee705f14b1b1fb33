import { rich, t } from '../../translation/index.ts';
import { Readable } from 'node:stream';
import { embedded } from '../../embedded/index.ts';
import { notFound, unavailable } from '../../kernel/index.ts';
import type { TaskRow } from '../../ci/index.ts';
import { content } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import { viewLogRow } from './log-rows.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { runPathNumber, queryNumber } from '../../http/index.ts';
import type { RunsDeps } from './deps.ts';

async function taskOf({ found, params }: RepositoryContext, { ci }: RunsDeps): Promise<TaskRow> {
  const { task } = await ci.runs.findJob(found, runPathNumber(params.number), runPathNumber(params.job));
  if (task === null || task.logRemovedAt !== null) throw notFound('log_not_found', 'There is no log.');
  return task;
}

/** The whole log as a text file. Query: `raw`, to read it in the browser. */
export const downloadLog: Page<RepositoryContext, RunsDeps> = async (context, deps): Promise<Reply> => {
  const task = await taskOf(context, deps);
  const disposition = context.query.get('raw') === '1' ? 'inline' : 'attachment';
  return content('text/plain; charset=utf-8', Readable.from(deps.ci.logs.raw(task.id)), {
    headers: {
      'Content-Disposition': `${disposition}; filename="job-${runPathNumber(context.params.job)}.log"`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cache-Control': 'private, no-cache',
    },
  });
};

/** Updates for a page that is already shown. */
const live = { template: 'runs/log-rows' } as const;

const maxStreams = 500;
const maxStreamsOfSession = 5;
/** Anonymous clients may share an address. */
const maxStreamsOfAddress = 10;
const heartbeatMs = 15_000;
/** A connection with more unsent bytes is closed; the browser reconnects and continues from the last row. */
const maxUnsentBytes = 1024 * 1024;

/** Open streams, for each session, and for each address of anonymous clients (security I10). */
const open = new Map<string, number>();

/**
 * Rows of a growing log, as Server-Sent Events. Event `rows`: rows as HTML, the id is the number of rows that the
 * browser then has; `end`: the log is complete; `changed`: the run has changed, or may have changed before the
 * connection. After losing a connection, the browser sends its position in `Last-Event-ID`. The browser closes the
 * stream: after `end`, the runner still reports how the job ended.
 */
export const followJob: Page<RepositoryContext, RunsDeps> = async (context, deps): Promise<Reply> => {
  const task = await taskOf(context, deps);
  const { run } = await deps.ci.runs.findJob(
    context.found,
    runPathNumber(context.params.number),
    runPathNumber(context.params.job),
  );
  const showsTimes = context.query.get('times') === '1';
  const from = context.lastEventId ?? queryNumber(context.query, 'from') ?? 0;
  return stream(context, deps, (signal) =>
    merge(logEvents(deps, task.id, { from, showsTimes }, signal), runEvents(deps, run.id, signal)),
  );
};

/** The same for the page of a run, which shows no log. */
export const followRun: Page<RepositoryContext, RunsDeps> = async (context, deps): Promise<Reply> => {
  const { run } = await deps.ci.runs.find(context.found, runPathNumber(context.params.number));
  return stream(context, deps, (signal) => runEvents(deps, run.id, signal));
};

/** A client that loses read access, or signs out, is disconnected within this time (security E04). */
const pollMs = 4_000;

async function maySee(
  { viewer, session, sessionSecret, address, found }: RepositoryContext,
  { accounts, repositories }: RunsDeps,
): Promise<boolean> {
  const isSignedIn = session === null || (await accounts.viewerOfSession(sessionSecret ?? '', { address })) !== null;
  const { owner, name } = found.canonical;
  return (
    isSignedIn &&
    repositories.find(viewer, owner, name).then(
      () => true,
      () => false,
    )
  );
}

function stream(
  context: RepositoryContext,
  deps: RunsDeps,
  events: (signal: AbortSignal) => AsyncIterable<string>,
): Reply {
  const { session } = context;
  const who = session?.id ?? context.address;
  const most = session ? maxStreamsOfSession : maxStreamsOfAddress;
  const total = [...open.values()].reduce((sum, count) => sum + count, 0);
  if (total >= maxStreams || (open.get(who) ?? 0) >= most) {
    throw unavailable('too_many_streams', 'Too many live pages are open. Close one, or reload manually.', {
      retryAfterSeconds: 10,
    });
  }
  open.set(who, (open.get(who) ?? 0) + 1);
  const gone = new AbortController();
  const body = new Readable({ read() {}, highWaterMark: maxUnsentBytes });
  const heartbeat = setInterval(() => body.push(': still here\n\n'), heartbeatMs);
  const guard = setInterval(() => {
    void maySee(context, deps).then((may) => {
      if (!may) body.destroy();
    });
  }, pollMs);
  body.once('close', () => {
    clearInterval(heartbeat);
    clearInterval(guard);
    gone.abort();
    const left = (open.get(who) ?? 1) - 1;
    if (left === 0) open.delete(who);
    else open.set(who, left);
  });
  body.push('retry: 2000\n\n');
  void (async () => {
    for await (const event of events(gone.signal)) {
      if (!body.push(event)) return void body.destroy();
    }
    body.push(null);
  })().catch((error: unknown) => body.destroy(error as Error));
  return content('text/event-stream; charset=utf-8', body, {
    headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
  });
}

async function* logEvents(
  { ci }: RunsDeps,
  taskId: number,
  { from, showsTimes }: { from: number; showsTimes: boolean },
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const news of ci.logs.follow(taskId, from, signal)) {
    const rows = news.rows.map((row, at) => viewLogRow(row, news.from + at + 1));
    if (rows.length > 0) {
      const html = embedded.renderTemplate(live.template, { rows, times: showsTimes, t, rich }).replaceAll('\n', '');
      yield `event: rows\nid: ${news.from + rows.length}\ndata: ${html}\n\n`;
    }
    if (news.isComplete) yield 'event: end\ndata: \n\n';
  }
}

async function* runEvents({ ci }: RunsDeps, runId: number, signal: AbortSignal): AsyncGenerator<string> {
  const changed = 'event: changed\ndata: \n\n';
  // Changes between the page and its stream, or while a connection was lost.
  yield changed;
  while (!signal.aborted) {
    const waitedFrom = performance.now();
    await ci.runs.waitFor(runId, { signal, timeoutMs: heartbeatMs });
    if (performance.now() - waitedFrom < heartbeatMs) yield changed;
  }
}

/** Events of both, in order of arrival; ends with the last. */
async function* merge(...sources: readonly AsyncGenerator<string>[]): AsyncGenerator<string> {
  const next = (source: AsyncGenerator<string>) => source.next().then((result) => ({ source, result }));
  const waiting = new Map(sources.map((source) => [source, next(source)]));
  while (waiting.size > 0) {
    const { source, result } = await Promise.race(waiting.values());
    if (result.done === true) waiting.delete(source);
    else {
      yield result.value;
      waiting.set(source, next(source));
    }
  }
}
