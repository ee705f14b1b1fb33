import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { runControlCommand } from '../../control/index.ts';
import { waitAtMost } from '../../kernel/index.ts';
import { networkErrorMessage } from '../../outbound/index.ts';
import { problem, warning } from '../check-result.ts';
import type { GroupReport, CheckResult } from '../check-result.ts';
import { remedies } from './proxy-settings.ts';
import { dayMs } from '../deps.ts';

/** An event that the server saw; see `src/http/probe.ts`. */
interface Seen {
  kind: 'ready' | 'head' | 'body begins' | 'body' | 'stream';
  url?: string;
  host?: string | null;
  peer?: string;
  address?: string;
  forwardedProto?: string | null;
  forwardedHost?: string | null;
  isForwarded?: boolean;
  bytes?: number;
  sha256?: string;
  /** Whether the start of a streamed request arrived before the rest was sent. */
  wasSeen?: boolean;
}

/** Pushes are large, and sent chunked without a known length. */
const bodyBytes = 64 * 1024 * 1024;
const chunkBytes = 256 * 1024;
const responseTimeoutMs = 20_000;
const beginsMs = 5_000;
const certificateMs = 14 * dayMs;

/**
 * Sends requests to the server's public URL like a browser, git and other servers, and compares them with what the
 * server received, which reveals changes by a proxy.
 * @param url the public URL, without a path
 * @param dataDir of the server that should respond there
 */
export async function checkAddress(
  url: URL,
  { dataDir, baseUrl, ca, now }: { dataDir: string; baseUrl: string | null; ca?: string[]; now: number },
): Promise<GroupReport> {
  const token = randomBytes(16).toString('hex');
  const path = (place: string, rest = ''): string => `${place}/hearth-probe/${token}${rest}`;
  const waiting: ((seen: Seen) => void)[] = [];
  const events: Seen[] = [];
  const words = probeTokens();
  let rest = '';
  const talk = runControlCommand(
    dataDir,
    { command: 'address.probe', parameters: { token } },
    {
      input: words.stream,
      output(chunk) {
        const lines = (rest + chunk.toString('utf8')).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const seen = JSON.parse(line) as Seen;
          events.push(seen);
          for (const notify of waiting.splice(0)) notify(seen);
        }
      },
      writeError: () => {},
    },
  );
  /** The first event of a kind since `from`; null if none arrives in time. */
  const event = async (kind: Seen['kind'], from: number, ms: number): Promise<Seen | null> => {
    const until = performance.now() + ms;
    for (;;) {
      const found = events.slice(from).find((each) => each.kind === kind);
      if (found !== undefined || performance.now() >= until) return found ?? null;
      await waitAtMost(new Promise<Seen>((resolve) => waiting.push(resolve)), 100);
    }
  };

  const findings: CheckResult[] = [];
  try {
    await Promise.race([event('ready', 0, responseTimeoutMs), talk]);
    const first = await send(url, path('', '/a%2Fb//c'), { ca }).catch((error: Error) => error);
    if (first instanceof Error) {
      const words = networkErrorMessage(first);
      const remedy = /certificate/.test(words)
        ? remedies.untrusted
        : /TLS/.test(words)
          ? remedies.noTls
          : 'is the proxy running, and does the host name resolve to this machine?';
      findings.push(problem('address.unreachable', `${url.origin} cannot be reached: ${words}.`, { remedy }));
      return report(url, findings);
    }
    // They use different connections: the response may arrive before the event of its request.
    const head = await event('head', 0, 1_000);
    if (head === null) {
      const wall = isWall(first.status)
        ? remedies.loginWall
        : 'does the host name resolve to this machine, and does the proxy forward to the port of http.listen?';
      findings.push(
        problem('address.elsewhere', `${url.origin} responds with ${first.status}, but it is not this server.`, {
          remedy: wall,
        }),
      );
      return report(url, findings);
    }
    findings.push(...readHead(url, head, path('', '/a%2Fb//c')), ...certificate(first, now));
    if (baseUrl !== null && new URL(baseUrl).origin !== url.origin) {
      findings.push(
        warning('address.base_url', `The configured base URL ${baseUrl} differs from ${url.origin}.`, {
          remedy: `set base_url (SERVICE_BASE_URL) to ${url.origin}`,
        }),
      );
    }
    for (const place of ['/ap', '/.well-known', '/git']) {
      const from = events.length;
      const { status } = await send(url, path(place), { ca, body: ['{"type":"Follow"}'] });
      const body = await event('body', from, 1_000);
      if (body === null)
        findings.push(
          problem(
            'address.wall',
            `${place}/… gets the response ${status} before reaching this server: other servers and git never get here.`,
            { remedy: remedies.loginWall },
          ),
        );
      else if (body.sha256 !== sha256('{"type":"Follow"}'))
        findings.push(
          problem(
            'address.body_changed',
            `The proxy changes request bodies below ${place}: signatures of other servers are no longer valid.`,
            { remedy: remedies.bodyChanged },
          ),
        );
    }
    findings.push(...(await largeBody()), ...(await stream()));
  } finally {
    words.end();
    await talk.catch(() => {});
  }
  return report(url, findings);

  async function largeBody(): Promise<CheckResult[]> {
    const from = events.length;
    const chunk = Buffer.alloc(chunkBytes, 'hearth');
    let begins: Seen | null = null;
    async function* chunks(): AsyncGenerator<Buffer> {
      yield chunk;
      begins = await event('body begins', from, beginsMs);
      for (let sent = chunkBytes; sent < bodyBytes; sent += chunkBytes) yield chunk;
    }
    const { status } = await send(url, path('/git', '/large'), { ca, body: chunks() }).catch((error: Error) => ({
      status: error.message,
    }));
    const body = await event('body', from, status === 200 ? responseTimeoutMs : 500);
    if (body?.bytes !== bodyBytes) {
      return [
        problem(
          'address.body_too_large',
          `A push of 64 MiB does not get through: ${status === 413 ? 'the proxy responds with 413' : `the response is ${status}`}.`,
          { remedy: remedies.bodyTooLarge },
        ),
      ];
    }
    return begins === null
      ? [
          warning('address.requests_buffered', 'The proxy buffers pushes before it forwards them.', {
            remedy: remedies.requestsBuffered,
          }),
        ]
      : [];
  }

  async function stream(): Promise<CheckResult[]> {
    const from = events.length;
    await send(url, path('', '/stream'), { ca, onData: () => words.send('seen') });
    const isDirect = (await event('stream', from, responseTimeoutMs))?.wasSeen === true;
    return isDirect
      ? []
      : [
          warning(
            'address.answers_buffered',
            'The proxy buffers responses: live logs and the progress of clones are delayed.',
            { remedy: remedies.responsesBuffered },
          ),
        ];
  }
}

const report = (url: URL, findings: CheckResult[]): GroupReport => ({
  area: 'address',
  findings,
  summary: `requests and responses of ${url.origin} are unchanged`,
});
const isWall = (status: number): boolean => status === 401 || status === 403 || (status >= 300 && status < 400);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const loopback = /^(?:::ffff:)?127\.|^::1$/;

function readHead(
  url: URL,
  { host, forwardedHost, forwardedProto, isForwarded, peer = '', address = '', url: arrived }: Seen,
  sent: string,
): CheckResult[] {
  const findings: CheckResult[] = [];
  if (isForwarded && peer.replace('::ffff:', '') === address && !loopback.test(peer)) {
    findings.push(
      problem('address.untrusted_proxy', `A proxy at ${address} forwards requests, but is not trusted.`, {
        remedy: `in hearth.toml: [proxy] trusted = ["${address}"]   (SERVICE_PROXY_TRUSTED)`,
      }),
    );
  } else if (url.protocol === 'https:' && forwardedProto !== 'https') {
    findings.push(
      problem(
        'address.scheme',
        `The proxy reports ${forwardedProto ?? 'no protocol'} although the address is https: cookies and links are wrong.`,
        { remedy: remedies.scheme },
      ),
    );
  } else if (!isForwarded && loopback.test(peer) && !/^(?:localhost|127\.|\[::1\])/.test(url.hostname)) {
    findings.push(
      warning('address.clients', 'The proxy does not forward client addresses: limits apply to all clients together.', {
        remedy: remedies.clients,
      }),
    );
  }
  if ((forwardedHost ?? host) !== url.host)
    findings.push(
      problem('address.host', `The proxy sends the host ${host} instead of ${url.host}.`, {
        remedy: remedies.host,
      }),
    );
  if (arrived !== sent)
    findings.push(
      problem(
        'address.path_changed',
        'The proxy rewrites URLs (it decodes an encoded slash, or merges two slashes): signatures of other servers and unusual file names fail.',
        { remedy: remedies.path },
      ),
    );
  return findings;
}

/** Some certificates are valid for only hours or days, and are renewed when a third of that remains. */
function certificate({ validFrom, validUntil }: HttpResponse, now: number): CheckResult[] {
  if (
    validFrom === null ||
    validUntil === null ||
    validUntil - now > Math.min(certificateMs, (validUntil - validFrom) / 4)
  )
    return [];
  return [
    warning(
      'address.certificate',
      `The certificate is only valid until ${new Date(validUntil).toISOString().slice(0, 10)}.`,
      { remedy: 'renew it: run certbot renew, or check the log of Caddy or Traefik' },
    ),
  ];
}

interface HttpResponse {
  status: number;
  /** Validity of the certificate, in epoch milliseconds. */
  validFrom: number | null;
  validUntil: number | null;
}

interface SendOptions {
  ca: string[] | undefined;
  body?: Iterable<string> | AsyncIterable<Buffer>;
  onData?: () => void;
}

/** One request on its own connection; does not follow redirects. */
function send(url: URL, path: string, { ca, body, onData }: SendOptions): Promise<HttpResponse> {
  const isSecure = url.protocol === 'https:';
  const options: RequestOptions & { ca?: string[] } = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    path,
    method: body === undefined ? 'GET' : 'POST',
    agent: false,
    timeout: responseTimeoutMs,
    headers: {
      host: url.host,
      ...(body === undefined ? {} : { 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' }),
    },
    ...(ca === undefined ? {} : { ca }),
  };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(options, (response: IncomingMessage) => {
      const socket = response.socket as TLSSocket;
      const { valid_from: from, valid_to: until } = isSecure ? socket.getPeerCertificate() : {};
      const epochMs = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));
      response.on('data', () => onData?.());
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, validFrom: epochMs(from), validUntil: epochMs(until) }),
      );
      response.on('error', reject);
    });
    request
      .on('error', reject)
      .on('timeout', () => request.destroy(new Error(`no answer within ${responseTimeoutMs / 1_000} s`)));
    void write(request, body).catch((error: Error) => request.destroy(error));
  });
}

async function write(request: ReturnType<typeof httpRequest>, body: SendOptions['body']): Promise<void> {
  for await (const chunk of body ?? []) {
    if (request.destroyed) return;
    if (!request.write(chunk)) await drained(request);
  }
  request.end();
}

function drained(request: ReturnType<typeof httpRequest>): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      request.off('drain', go).off('close', go);
      resolve();
    };
    request.on('drain', go).on('close', go);
  });
}

/** A request body whose chunks are sent on demand. */
function probeTokens() {
  const left: (string | null)[] = [];
  let wake: () => void = () => {};
  return {
    stream: (async function* () {
      for (;;) {
        const word = left.shift();
        if (word === null) return;
        if (word !== undefined) yield word;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    })(),
    send(word: string): void {
      left.push(word);
      wake();
    },
    end(): void {
      left.push(null);
      wake();
    },
  };
}
