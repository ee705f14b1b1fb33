// The request of a clone, and a client that discards the response, to measure only the server.
import { execFileSync } from 'node:child_process';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { encodePacket } from './packet.ts';

/** The request that `git clone` sends after the ref advertisement; `depth` for a shallow one. */
export function cloneRequest(repository: string, depth?: number): string {
  const refs = execFileSync('git', ['-C', repository, 'for-each-ref', '--format=%(objectname)'])
    .toString()
    .trim()
    .split('\n');
  return [
    encodePacket('command=fetch'),
    encodePacket('object-format=sha1'),
    '0001',
    encodePacket('ofs-delta'),
    encodePacket('no-progress'),
    ...(depth === undefined ? [] : [encodePacket(`deepen ${depth}`)]),
    ...[...new Set(refs)].map((id) => encodePacket(`want ${id}\n`)),
    encodePacket('done\n'),
    '0000',
  ].join('');
}

/** Sends the request and discards the response, to measure only the server. */
export function drain(url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = (url.startsWith('https:') ? requestTls : request)(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-git-upload-pack-request',
        'git-protocol': 'version=2',
        'content-length': Buffer.byteLength(body),
      },
    });
    call.on('error', reject).on('response', (response) => {
      let bytes = 0;
      if (response.statusCode !== 200) reject(new Error(`${url} answers ${response.statusCode}`));
      response
        .on('data', (chunk: Buffer) => (bytes += chunk.length))
        .on('end', () => resolve(bytes))
        .on('error', reject);
    });
    call.end(body);
  });
}

let moves = 0;

/** Moves a ref, which invalidates cached responses. */
export function moveRefs(repository: string): void {
  execFileSync('git', ['-C', repository, 'update-ref', `refs/bench/${moves++}`, 'HEAD']);
}
