import type { Readable } from 'node:stream';
import { unavailable } from '../kernel/index.ts';
import { isOid } from '../lfs/index.ts';
import type { LfsOperation, LfsPointer } from '../lfs/index.ts';
import type { HttpRemote, Remote } from '../git/index.ts';
import type { MirrorDeps } from './deps.ts';

const lfsType = 'application/vnd.git-lfs+json';
/** A hundred objects with long links and headers. */
const maxAnswerBytes = 2 * 1024 * 1024;
const withoutLfs = new Set([404, 405, 410, 501]);
const patience = { silenceMs: 60_000, headMs: 3_600_000 };

/** Source or target of an object: a URL with headers. */
interface Link {
  href: string;
  header: Record<string, string>;
}

/** A remote's response for one object. */
interface RemoteObject extends LfsPointer {
  link: Link | null;
  verify: Link | null;
  /** Why the remote refuses it. */
  error: string | null;
}

interface LfsRemote {
  /** Null if the remote has no LFS. */
  batch(operation: LfsOperation, objects: readonly LfsPointer[]): Promise<RemoteObject[] | null>;
  download(object: RemoteObject): Promise<Readable>;
  upload(object: RemoteObject, content: Readable): Promise<void>;
}

/**
 * A client for the LFS server of a remote (Git LFS Batch API): at `<address>.git/info/lfs`, with the credentials of the
 * mirror for that host only. A remote over ssh is asked for its LFS server in each step, because its credentials are
 * valid for minutes. Every method throws `remote_lfs_failed` and the errors of `outbound`: it does not follow links to
 * hosts that this server may not connect to.
 */
export function lfsRemote(
  { outbound, git }: Pick<MirrorDeps, 'outbound' | 'git'>,
  remote: Remote,
  signal: AbortSignal,
): LfsRemote {
  let credentials: Link = { href: '', header: {} };
  const headersFor = ({ href, header }: Link): Record<string, string> =>
    URL.parse(href)?.origin === URL.parse(credentials.href)?.origin ? { ...credentials.header, ...header } : header;

  return {
    async batch(operation, objects) {
      const server = 'ssh' in remote ? await git.remotes.lfsOf(remote, operation, { signal }) : endpointOf(remote);
      if (server === null) return null;
      credentials = server;
      const body = { operation, transfers: ['basic'], objects: objects.map(({ oid, bytes: size }) => ({ oid, size })) };
      const { status, body: answer } = await outbound.send({
        method: 'POST',
        url: `${server.href.replace(/\/+$/, '')}/objects/batch`,
        headers: { Accept: lfsType, 'Content-Type': lfsType, ...server.header },
        body: Buffer.from(JSON.stringify(body)),
        maxBytes: maxAnswerBytes,
      });
      if (withoutLfs.has(status)) return null;
      if (status !== 200) throw failed(`it answered ${status}`);
      return readBatch(operation, answer);
    },
    async download({ link }) {
      const { status, stream } = await outbound.open({
        method: 'GET',
        url: link!.href,
        headers: headersFor(link!),
        ...patience,
      });
      if (status === 200) return stream;
      stream.destroy();
      throw failed(`it answered ${status}`);
    },
    async upload({ link, verify, oid, bytes }, content) {
      const { status, stream } = await outbound.open({
        method: 'PUT',
        url: link!.href,
        headers: { 'Content-Type': 'application/octet-stream', ...headersFor(link!) },
        body: { bytes, stream: content },
        ...patience,
      });
      stream.destroy();
      if (status !== 200 && status !== 201) throw failed(`it answered ${status}`);
      if (verify === null) return;
      const verified = await outbound.send({
        method: 'POST',
        url: verify.href,
        headers: { Accept: lfsType, 'Content-Type': lfsType, ...headersFor(verify) },
        body: Buffer.from(JSON.stringify({ oid, size: bytes })),
        maxBytes: maxAnswerBytes,
      });
      if (verified.status !== 200) throw failed(`it answered ${verified.status}`);
    },
  };
}

function endpointOf({ url, username, secret }: HttpRemote): Link {
  return {
    href: `${url.href.replace(/\/+$/, '').replace(/\.git$/i, '')}.git/info/lfs`,
    header: secret === '' ? {} : { Authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}` },
  };
}

export const failed = (why: string) =>
  unavailable('remote_lfs_failed', `Git LFS files could not be transferred: ${why}.`);

function readBatch(operation: LfsOperation, answer: Buffer): RemoteObject[] {
  const { objects } = readObject(parse(answer));
  if (!Array.isArray(objects)) throw failed('its answer is not that of an LFS server');
  return objects.map(readObject).flatMap(({ oid, size, actions, error }) => {
    if (!isOid(oid) || typeof size !== 'number') return [];
    const links = readObject(actions);
    const { message } = readObject(error);
    return [
      {
        oid,
        bytes: size,
        link: readLink(links[operation]),
        verify: readLink(links['verify']),
        error: error == null ? null : String(message).slice(0, 200),
      },
    ];
  });
}

function parse(answer: Buffer): unknown {
  try {
    return JSON.parse(answer.toString('utf8'));
  } catch {
    return null;
  }
}

const readObject = (value: unknown): Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};

function readLink(value: unknown): Link | null {
  const { href, header } = readObject(value);
  if (typeof href !== 'string') return null;
  const fields = Object.entries(readObject(header)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { href, header: Object.fromEntries(fields) };
}
