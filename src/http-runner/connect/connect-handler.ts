import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RunnerRow } from '../../ci/index.ts';
import { discardBody, externalOrigin } from '../../http/index.ts';
import type { createClientReader } from '../../http/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import { toRpcError } from '../rpc-errors.ts';
import { decodeBinary, encodeBinary } from '../messages/binary.ts';
import { decodeJson, encodeJson } from '../messages/json.ts';
import { LogDecoder } from '../messages/log-decoder.ts';
import { procedures } from '../messages/message-types.ts';
import type { Procedure } from '../messages/message-types.ts';
import type { UpdateLogRequest } from '../messages/runner-messages.ts';
import type { Call, RunnerService } from '../runner-service.ts';
import { BodyBudget } from './body-budget.ts';
import { messageChunks, readMessage } from './read-message.ts';

/** Prefix that runners add to every path. */
const prefix = '/api/actions';

const maxMessageBytes = 4 * 1024 * 1024;
/** After an outage a runner sends its whole backlog in one message, and would repeat a rejected one forever. */
const maxLogBytes = 160 * 1024 * 1024;
/** JSON cannot be parsed as it arrives; runners do not use it. */
const maxJsonLogBytes = 16 * 1024 * 1024;
const compressFromBytes = 1024;
/**
 * Time in seconds that an idle connection stays open: runners return every few seconds, and do not resend a lost POST.
 */
const keepAliveSeconds = 100;

const compress = promisify(gzip);

export interface ConnectHandler {
  /** Handles one request; never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface ConnectOptions {
  service: RunnerService;
  logger: Logger;
  /** Reads the headers of trusted proxies. */
  readClient: ReturnType<typeof createClientReader>;
}

/**
 * Connect, unary: a message in the body of a POST, the response in the body of the response (connectrpc.com, "Protocol
 * Reference"). Uses Node's own server, because nothing that web pages need applies here: cookies, redirects, HTML, form
 * parsing.
 */
export function createConnectHandler({ service, logger, readClient }: ConnectOptions): ConnectHandler {
  const budget = new BodyBudget();
  return {
    async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
      keepConnection(response);
      const path = (request.url ?? '').split('?', 1)[0]!;
      const procedure = procedures.get(path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path);
      if (procedure === undefined)
        return plain(response, 404, { code: 'unimplemented', message: 'There is no such procedure.' });
      if (request.method !== 'POST')
        return plain(
          response,
          405,
          { code: 'unimplemented', message: 'Procedures are called with POST.' },
          { Allow: 'POST' },
        );
      const form = formOf(request);
      if (form === null)
        return plain(
          response,
          415,
          { code: 'unimplemented', message: 'Send application/proto or application/json.' },
          { 'Accept-Post': 'application/proto, application/json' },
        );
      const gone = watchForLeaving(response);
      try {
        const reply = await run({ service, budget, readClient }, procedure, form, request, gone.signal);
        await send(request, response, procedure, form, reply);
        if (gone.signal.aborted) await service.undelivered(procedure.name, reply);
      } catch (error) {
        const { code, message } = toRpcError(error, logger, procedure.path);
        plain(response, code.http, { code: code.name, message });
      }
    },
  };
}

type Form = 'proto' | 'json';

function formOf(request: IncomingMessage): Form | null {
  const [, form] = /^application\/(proto|json)(?: *;.*)?$/i.exec(request.headers['content-type'] ?? '') ?? [];
  return form === undefined ? null : (form.toLowerCase() as Form);
}

/** Authenticates the call before it reads the message, so that messages of unknown clients are never read. */
async function run(
  { service, budget, readClient }: Omit<ConnectOptions, 'logger'> & { budget: BodyBudget },
  procedure: Procedure,
  form: Form,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<object> {
  const call = readCall(request, readClient, signal);
  const runner = await service.authenticate(procedure.name, call);
  if (procedure.name === 'UpdateLog') return updateLog(service, runner!, form, request, budget, procedure);
  const body = await readMessage(request, maxMessageBytes, budget);
  const message =
    form === 'proto'
      ? decodeBinary<object>(procedure.request, body)
      : decodeJson<object>(procedure.request, textOf(body));
  return service.respond(procedure.name, runner, call, message);
}

async function updateLog(
  service: RunnerService,
  runner: RunnerRow,
  form: Form,
  request: IncomingMessage,
  budget: BodyBudget,
  procedure: Procedure,
): Promise<object> {
  const rows = service.newLogRows();
  try {
    if (form === 'json') {
      const message = decodeJson<UpdateLogRequest>(
        procedure.request,
        textOf(await readMessage(request, maxJsonLogBytes, budget)),
      );
      for (const { time, content } of message.rows) if (rows.add(time, content)) await rows.flush();
      return await service.updateLog(runner, { ...message, rows });
    }
    const decoder = new LogDecoder(rows);
    for await (const chunk of messageChunks(request, maxLogBytes)) await decoder.push(chunk);
    return await service.updateLog(runner, decoder.finish());
  } finally {
    await rows.discard();
  }
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw invalid('malformed_message', 'The message is not UTF-8.', { cause });
  }
}

const maxTimeoutMs = 2_147_483_647;

function readCall(request: IncomingMessage, readClient: ConnectOptions['readClient'], signal: AbortSignal): Call {
  const header = (name: string): string | null => {
    const value = request.headers[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const version = header('connect-protocol-version');
  if (version !== null && version !== '1')
    throw invalid('malformed_message', `Version ${version.slice(0, 20)} of Connect is not known.`);
  const timeout = header('connect-timeout-ms');
  if (timeout !== null && !/^\d{1,10}$/.test(timeout))
    throw invalid('malformed_message', 'Connect-Timeout-Ms has one to ten digits.');
  return {
    uuid: header('x-runner-uuid') ?? '',
    token: header('x-runner-token') ?? '',
    requestKey: header('x-runner-request-key')?.slice(0, 255) ?? null,
    deadlineMs: timeout === null ? null : Math.min(Number(timeout), maxTimeoutMs),
    origin: originOf(request, readClient),
    signal,
  };
}

/** Origin at which the runner reaches this server, according to a trusted proxy or the request. */
function originOf({ socket, headers }: IncomingMessage, readClient: ConnectOptions['readClient']): string | null {
  const { forwardedHost, forwardedProto } = readClient(socket.remoteAddress ?? '', headers);
  const verdict = externalOrigin({ host: forwardedHost ?? headers.host, forwardedProto, baseUrl: null });
  return verdict.kind === 'known' ? verdict.origin : null;
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { name, response: type }: Procedure,
  form: Form,
  reply: object,
): Promise<void> {
  let body = form === 'proto' ? encodeBinary(type, reply) : Buffer.from(encodeJson(type, reply));
  const headers: Record<string, string> = { 'Content-Type': `application/${form}`, 'Cache-Control': 'no-store' };
  // Runners pass this on to jobs.
  if (name === 'Declare') headers['X-Gitea-Actions-Capabilities'] = 'cancelling, job-summary';
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (takesGzip && body.length >= compressFromBytes) {
    body = await compress(body);
    headers['Content-Encoding'] = 'gzip';
  }
  await end(response, 200, headers, body);
}

/** An error in Connect's format, which is JSON regardless of the request format. */
function plain(
  response: ServerResponse,
  status: number,
  error: { code: string; message: string },
  headers: Record<string, string> = {},
): void {
  void end(
    response,
    status,
    { ...headers, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
    Buffer.from(JSON.stringify(error)),
  );
}

/** Resolves once the response is being sent or the client has disconnected. */
function end(response: ServerResponse, status: number, headers: Record<string, string>, body: Buffer): Promise<void> {
  if (response.destroyed || response.headersSent) return Promise.resolve();
  const { req } = response;
  // An unread body would block the next request on this connection.
  if (!req.complete) {
    response.setHeader('Connection', 'close');
    discardBody(req, discardMs);
  }
  return new Promise((resolve) => {
    response.once('close', resolve);
    response.once('finish', resolve);
    response.writeHead(status, { ...headers, 'Content-Length': String(body.length) });
    response.end(body);
  });
}

const discardMs = 5_000;

/** Connections of web clients close after a few idle seconds; those of runners must stay open. */
function keepConnection(response: ServerResponse): void {
  if (response.getHeader('Connection') === 'close') return;
  response.setHeader('Connection', 'keep-alive');
  response.setHeader('Keep-Alive', `timeout=${keepAliveSeconds}`);
  // The response no longer has its socket once it has ended.
  const { socket } = response.req;
  // Runs after Node's own listener, which sets the shorter timeout.
  response.once('finish', () => socket.setTimeout((keepAliveSeconds + 1) * 1000));
}

function watchForLeaving(response: ServerResponse): { signal: AbortSignal } {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return { signal: gone.signal };
}
