import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { silentLogger, systemClock, systemRandom } from '../../src/kernel/index.ts';
import { createS3Client } from '../../src/objects/s3/s3-client.ts';
import type { S3ClientDeps, S3Request } from '../../src/objects/s3/s3-client.ts';
import { createCredentials } from '../../src/objects/s3/read-credentials.ts';
import { isTransient, S3Failure } from '../../src/objects/s3/s3-failure.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.test('a changed file of credentials is read within a minute', async (t) => {
  const credentialsFile = path.join(temporaryFolder(t), 'key');
  let now = 1_000_000;
  const read = createCredentials({ accessKeyId: null, secretAccessKey: null, credentialsFile }, () => now);
  const idNow = async () => (await read()).accessKeyId;
  writeFileSync(credentialsFile, 'first\nsecret\n');
  t.equal(await idNow(), 'first');
  writeFileSync(credentialsFile, 'second\nsecret\n');
  now += 59_999;
  t.equal(await idNow(), 'first', 'it is kept for a minute');
  now += 1;
  t.equal(await idNow(), 'second');
});

t.test('failures that pass are told from those that stay', async (t) => {
  const cases: [status: number, code: string, isPassing: boolean][] = [
    [429, '', true],
    [408, '', true],
    [500, '', true],
    [503, '', true],
    [501, 'NotImplemented', false],
    [400, 'IncompleteBody', true],
    [400, 'InvalidRequest', false],
    [403, 'AccessDenied', false],
    [404, 'NoSuchBucket', false],
    [0, 'Unreachable', true],
    [0, 'NoCredentials', false],
  ];
  for (const [status, code, isPassing] of cases)
    t.equal(isTransient(new S3Failure(status, code, '')), isPassing, `${status} ${code}`);
});

t.test('a store that points to another origin gets its requests signed for itself alone', async (t) => {
  const requests: [origin: string, isSigned: boolean][] = [];
  const answer = { status: 0, headers: { location: 'https://other.example.org/forge/a' } };
  const client = createS3Client({
    settings: {
      endpoint: 'https://s3.example.org',
      bucket: 'forge',
      region: 'r',
      addressing: 'path',
      timeoutMs: 1_000,
      attempts: 1,
    },
    credentials: async () => ({ accessKeyId: 'key-id', secretAccessKey: 'secret', sessionToken: null }),
    outbound: {
      open: async ({ url, headers }: { url: string; headers: Record<string, string> }) => {
        requests.push([new URL(url).origin, /key-id/.test(JSON.stringify(headers))]);
        return { ...answer, stream: Readable.from([]) };
      },
    } as unknown as S3ClientDeps['outbound'],
    metrics: { observe: () => {}, retried: () => {} } as unknown as S3ClientDeps['metrics'],
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
  });
  const body = { bytes: 1, sha256: 'a'.repeat(64), open: () => Readable.from(['x']) };
  const asked: S3Request[] = [
    { verb: 'get', method: 'GET', name: 'a' },
    { verb: 'head', method: 'HEAD', name: 'a', understood: [404] },
    { verb: 'put', method: 'PUT', name: 'a', body },
    { verb: 'remove', method: 'DELETE', name: 'a', understood: [404] },
  ];
  for (answer.status of [301, 302, 303, 307, 308])
    for (const request of asked)
      for (const way of ['send', 'fetch'] as const) {
        const failed: unknown = await client[way](request).catch((error: unknown) => error);
        t.match(failed, { reason: 'object_store_unavailable' });
        t.strictSame(requests.splice(0), [['https://s3.example.org', true]], `${request.method} ${answer.status}`);
      }
});
