import type { Viewer } from '../access/index.ts';
import { forbidden, invalid } from '../kernel/index.ts';
import { discardBody, openBody } from '../http/index.ts';
import { authenticate } from './authenticate.ts';
import { sendError, challengeAnonymous, uncached } from './errors.ts';
import type { GitExchange, GitHandler, GitHandlers } from './git-exchange.ts';
import type { GitHttpDeps } from './deps.ts';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createLfsHandler } from './lfs/lfs-handler.ts';

type Service = 'upload-pack' | 'receive-pack';

/** A fetch request is a list of object ids; no client needs this many. */
const maxFetchBytes = 64 * 1024 * 1024;

/** Time after which a client that transfers almost nothing loses its slot. */
const stallMs = 60_000;

/**
 * Git's smart HTTP protocol (gitprotocol-http): the ref advertisement, fetches, pushes. It is the only access: no plain
 * files, no cookies.
 */
export function createGitHandlers(deps: GitHttpDeps): GitHandlers {
  return {
    infoRefs: guarded(deps, async (exchange, signal) => {
      const { res, headers } = exchange;
      const service = readService(exchange);
      const viewer = await authenticate(deps, exchange);
      const opened = await open(deps, exchange, viewer, service).catch(async (error: unknown) => {
        const moved = await movedTo(deps, exchange, viewer);
        if (moved === null) throw error;
        return moved;
      });
      if (!('path' in opened)) return redirect(exchange, opened, service);
      const { path } = opened;
      const protocol = readProtocol(exchange, service);
      const refs = await deps.git.transfers.advertiseRefs({ path, service, protocol, signal });
      // Version 2 has no such greeting: its first line names the version.
      const greeting = protocol === 'version=2' ? nothing : greetings[service];
      res.writeHead(200, [...headers, ...advertised[service], 'Content-Length', String(greeting.length + refs.length)]);
      // In two writes: joining them would copy a long list for one line.
      if (greeting.length > 0) res.write(greeting);
      res.end(refs);
    }),

    uploadPack: guarded(deps, async (exchange, signal) => {
      const { req, res, state } = exchange;
      const viewer = await authenticate(deps, exchange);
      const { path } = await openAtAnyAddress(deps, exchange, viewer, 'upload-pack');
      const input = openGitBody(req, 'application/x-git-upload-pack-request', maxFetchBytes);
      begin(exchange, 'application/x-git-upload-pack-result');
      const { cutShort } = await deps.git.transfers.uploadPack({
        path,
        protocol: readProtocol(exchange, 'upload-pack'),
        input,
        output: res,
        takesBytesAtOnce: true,
        stateless: true,
        signal,
        client: viewer.kind === 'person' ? viewer.id : state.address,
        stallMs,
      });
      // A truncated response must not look complete.
      if (cutShort) res.destroy();
      res.end();
    }),

    receivePack: guarded(deps, async (exchange, signal) => {
      const { req, res } = exchange;
      const viewer = await authenticate(deps, exchange);
      const opened = await openAtAnyAddress(deps, exchange, viewer, 'receive-pack');
      // git's own limit bounds the pack.
      const input = openGitBody(req, 'application/x-git-receive-pack-request', Infinity);
      begin(exchange, 'application/x-git-receive-pack-result');
      const protocol = readProtocol(exchange, 'receive-pack');
      await deps.repositories.pushes.receive(opened, {
        viewer,
        via: 'http',
        origin: exchange.origin() || undefined,
        protocol,
        input,
        ownsInput: true,
        output: res,
        signal,
        stallMs,
      });
      res.end();
    }),

    lfs: createLfsHandler(deps),

    refuseMethod: (allowed) =>
      guarded(deps, async ({ res }) => {
        res.setHeader('Allow', allowed === 'GET' ? 'GET, HEAD' : allowed);
        throw invalid('method_not_taken', `This address accepts only ${allowed}.`);
      }),
  };
}

const nothing = Buffer.alloc(0);
const greeting = (service: Service): Buffer => {
  const line = `# service=git-${service}\n`;
  return Buffer.from(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`);
};

const greetings: Record<Service, Buffer> = {
  'upload-pack': greeting('upload-pack'),
  'receive-pack': greeting('receive-pack'),
};

/** Constant for each service. */
const advertised: Record<Service, readonly string[]> = {
  'upload-pack': [...Object.entries(uncached).flat(), 'Content-Type', 'application/x-git-upload-pack-advertisement'],
  'receive-pack': [...Object.entries(uncached).flat(), 'Content-Type', 'application/x-git-receive-pack-advertisement'],
};

/** Runs a handler with a signal that fires when the client disconnects, and turns errors into a response. */
function guarded(
  { logger }: GitHttpDeps,
  handle: (exchange: GitExchange, signal: AbortSignal) => Promise<void>,
): GitHandler {
  return async (exchange) => {
    const { req, res } = exchange;
    const gone = new AbortController();
    const onClose = () => {
      if (!res.writableFinished) gone.abort();
    };
    res.on('close', onClose);
    if (res.destroyed) onClose();
    // git may compute for minutes without output; stalls are detected elsewhere.
    req.socket.setTimeout(0);
    try {
      await handle(exchange, gone.signal);
    } catch (error) {
      await sendError(exchange, error, logger);
    }
    // Unread bytes block the next request on this connection.
    discardBody(req, restMs);
  };
}

/** Time that a client may continue sending a request after its response. */
const restMs = 5_000;

interface Address {
  owner: string;
  name: string;
}

const addressOf = ({ params: { owner, name } }: GitExchange): Address => ({ owner, name: name.replace(/\.git$/i, '') });

function open(
  { repositories }: GitHttpDeps,
  exchange: GitExchange,
  viewer: Viewer,
  service: Service,
  { owner, name } = addressOf(exchange),
) {
  const opening =
    service === 'upload-pack'
      ? repositories.openGitForRead(viewer, owner, name)
      : repositories.openGitForPush(viewer, owner, name);
  return opening.catch(challengeAnonymous(viewer));
}

/**
 * As `open`, but also finds a renamed or moved repository: some clients follow the redirect of the first request and
 * send the next one to the old URL again.
 */
function openAtAnyAddress(deps: GitHttpDeps, exchange: GitExchange, viewer: Viewer, service: Service) {
  return open(deps, exchange, viewer, service).catch(async (error: unknown) => {
    const moved = await movedTo(deps, exchange, viewer);
    if (moved === null) throw error;
    return open(deps, exchange, viewer, service, moved);
  });
}

/** The current location of a repository that once had this URL, for viewers who may see it there. */
function movedTo({ repositories }: GitHttpDeps, exchange: GitExchange, viewer: Viewer): Promise<Address | null> {
  const { owner, name } = addressOf(exchange);
  return repositories.findMovedGit(viewer, owner, name);
}

/** git follows a redirect of its first request with a message, and then stays at the new URL. */
function redirect({ res, headers }: GitExchange, { owner, name }: Address, service: Service): void {
  const to = `/git/${encodeURIComponent(owner)}/${encodeURIComponent(name)}.git/info/refs?service=git-${service}`;
  res.writeHead(301, [...headers, ...Object.entries(uncached).flat(), 'Location', to, 'Content-Length', '0']).end();
}

function readService({ querystring }: GitExchange): Service {
  const services = new URLSearchParams(querystring).getAll('service');
  if (services.length === 1 && services[0] === 'git-upload-pack') return 'upload-pack';
  if (services.length === 1 && services[0] === 'git-receive-pack') return 'receive-pack';
  // The same response as git's own http-backend.
  if (services.length === 1)
    throw forbidden('service_not_offered', 'This server offers git-upload-pack and git-receive-pack.');
  throw invalid('smart_http_only', 'This server speaks git’s smart HTTP protocol only.');
}

/** Pushes do not support version 2; as in git, a client that requests it gets the first version. */
function readProtocol({ req }: GitExchange, service: Service): string | null {
  const header = String(req.headers['git-protocol'] ?? '');
  const known = service === 'upload-pack' ? /^version=[012]$/ : /^version=[01]$/;
  return known.test(header) ? header : null;
}

/** Headers of the response, unless it becomes a refusal. */
function begin({ res, headers }: GitExchange, type: string): void {
  res.statusCode = 200;
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at]!, headers[at + 1]!);
  for (const [name, value] of Object.entries(uncached)) res.setHeader(name, value);
  res.setHeader('Content-Type', type);
}

/**
 * The body of a git request, inflated if the client compressed it, and bounded while it arrives. Throws
 * `unsupported_type`, `unsupported_encoding`, `body_too_large`. The stream fails with `body_too_large`, `bad_encoding`
 * and `request_cut_short`.
 *
 * @param type the only content type that the route accepts
 * @param maxBytes limit of the inflated body; `Infinity` if git limits it
 */
function openGitBody(request: IncomingMessage, type: string, maxBytes: number): Readable {
  if (request.headers['content-type'] !== type) {
    throw invalid('unsupported_type', `This address accepts only ${type}.`);
  }
  return openBody(request, {
    maxBytes,
    tooLarge: () => invalid('body_too_large', 'The request is too large.'),
    gzip: {
      names: ['gzip', 'x-gzip'],
      unsupported: () => invalid('unsupported_encoding', 'A request can only be compressed with gzip.'),
    },
    broken: (cause) =>
      isFromZlib(cause)
        ? invalid('bad_encoding', 'The request is not valid gzip.', { cause })
        : invalid('request_cut_short', 'The request ended too early.'),
  });
}

const isFromZlib = ({ code }: NodeJS.ErrnoException): boolean => code?.startsWith('Z_') === true;
