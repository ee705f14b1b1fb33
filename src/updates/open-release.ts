import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { notFound, unavailable } from '../kernel/index.ts';
import { createOutbound } from '../outbound/index.ts';

/** The files of a release, at an address or in a folder. */
export interface ReleaseFiles {
  /** Where people find a file. */
  placeOf(name: string): string;
  /**
   * Throws `release_file_missing`, `answer_too_large`, and as `Outbound.send` does.
   * @param maxBytes of the file
   */
  read(name: string, maxBytes: number): Promise<Buffer>;
  close(): void;
}

const maxRedirects = 3;

/** @param from an address that begins with http:// or https://, or a folder */
export function openRelease(from: string, settings: { caFile: string | null }): ReleaseFiles {
  const base = /^https?:\/\//.test(from) ? URL.parse(from) : null;
  if (base === null) {
    return {
      placeOf: (name) => join(from, name),
      read: (name, maxBytes) => readFromFolder(join(from, name), maxBytes),
      close() {},
    };
  }
  // An administrator named this host; nothing secret is sent, and the signature decides about what arrives.
  const outbound = createOutbound({
    isAllowed: ({ host }) => host === base.host,
    devAllowInsecure: false,
    allowsPrivate: () => true,
    allowsHttp: () => base.protocol === 'http:',
    baseUrl: null,
    caFile: settings.caFile,
  });
  const placeOf = (name: string): string =>
    new URL(`${base.pathname.replace(/\/$/, '')}/${name}${base.search}`, base).href;

  async function read(name: string, maxBytes: number): Promise<Buffer> {
    let at = placeOf(name);
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      const { status, headers, body } = await outbound.send({ method: 'GET', url: at, headers: {}, maxBytes });
      if (status === 200) return body;
      if (status === 404 || status === 410) throw missing(at);
      if (status < 300 || status > 399) throw unavailable('peer_unreachable', `${at} answers ${status}.`);
      const next = URL.parse(headers.location ?? '', at);
      if (next?.origin !== base!.origin)
        throw unavailable(
          'peer_unreachable',
          `${at} leads to another server, ${next?.host ?? 'which it does not name'}.`,
        );
      at = next.href;
    }
    throw unavailable('peer_unreachable', `${placeOf(name)} leads from address to address.`);
  }
  return { placeOf, read, close: outbound.close };
}

async function readFromFolder(file: string, maxBytes: number): Promise<Buffer> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? missing(file) : error;
  });
  if (bytes.length > maxBytes) throw unavailable('answer_too_large', `${file} is larger than ${maxBytes} bytes.`);
  return bytes;
}

const missing = (place: string) => notFound('release_file_missing', `There is no ${place}.`);
